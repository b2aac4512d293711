package prices

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"headroom/internal/core/fault"
	"headroom/internal/core/strict"
)

// place is where something stands: a line and column of a CSV, or a pointer into a JSON file and the
// byte where its value begins.
type place struct {
	line, column int
	pointer      string
	offset       int64
}

// within is the place of something named below a JSON place; in a CSV, the place itself.
func (p place) within(names ...string) place {
	if p.pointer != "" {
		for _, name := range names {
			p.pointer += "/" + pointerEscapes.Replace(clip(name))
		}
	}
	return p
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (p place) String() string {
	if p.pointer != "" {
		return fmt.Sprintf("%s (byte %d)", p.pointer, p.offset)
	}
	return fmt.Sprintf("line %d", p.line)
}

// faults are the findings about a sheet: the first of them, and how many more there are.
type faults struct {
	first []fault.Finding
	more  int
}

// add notes a fault. The sentence says what is wrong and what to change.
func (f *faults) add(at place, code, sentence string, values ...any) {
	f.hint(at, code, nil, sentence, values...)
}

func (f *faults) hint(at place, code string, hint *fault.Hint, sentence string, values ...any) {
	if len(f.first) == fault.MaxFindings-1 { // the last says how many more
		f.more++
		return
	}
	detail := fmt.Sprintf(sentence, values...)
	if at.pointer != "" {
		detail = fmt.Sprintf("(byte %d) %s", at.offset, detail)
	}
	f.first = append(f.first, fault.Finding{Pointer: at.pointer, Line: at.line, Column: at.column, Code: code, Detail: detail, Hint: hint})
}

func (f *faults) any() bool { return len(f.first) > 0 }

// said is how many faults there are by now.
func (f *faults) said() int { return len(f.first) + f.more }

// err is all faults as one error of kind Invalid; nil if there are none.
func (f *faults) err() error {
	if !f.any() {
		return nil
	}
	findings := f.first
	if f.more > 0 {
		findings = append(findings, fault.Finding{Code: "more", Detail: fmt.Sprintf("And %d more; mend these first.", f.more)})
	}
	return &fault.InputError{Findings: findings}
}

// refusal is an error of a single finding, for what makes reading on senseless.
func refusal(at place, code, sentence string, values ...any) error {
	var f faults
	f.add(at, code, sentence, values...)
	return f.err()
}

// didYouMean is the cure for a mistaken name; nil where none is near.
func didYouMean(name string, known []string) *fault.Hint {
	if best := fault.Nearest(name, known); best != "" {
		return &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Value: best}
	}
	return nil
}

// clip shortens what came from outside to what a sentence can hold.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// isName says that a name can be shown and kept.
func isName(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= strict.MaxNameLength && strings.IndexFunc(s, unicode.IsControl) < 0 && strings.TrimSpace(s) == s
}
