package prices

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// place is a position in a sheet: a line and column of a CSV, or a pointer into a JSON file and the byte where its
// value begins.
type place struct {
	line, column int
	pointer      string
	offset       int64
}

// within returns the place of a member below a JSON place; in a CSV, the place itself.
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

// faults holds the first findings about a sheet, and the number of further ones.
type faults struct {
	first []fault.Finding
	more  int
}

// add records a fault. The sentence says what is wrong and what to change.
func (f *faults) add(at place, code, sentence string, values ...any) {
	f.hint(at, code, nil, sentence, values...)
}

func (f *faults) hint(at place, code string, hint *fault.Hint, sentence string, values ...any) {
	if len(f.first) == fault.MaxFindings-1 { // the last one gives the number of further ones
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

// total returns the number of faults so far.
func (f *faults) total() int { return len(f.first) + f.more }

// err returns all faults as one error of kind Invalid; nil if there are none.
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

// refusal returns an error of a single finding, for faults that end the reading.
func refusal(at place, code, sentence string, values ...any) error {
	var f faults
	f.add(at, code, sentence, values...)
	return f.err()
}

// didYouMean returns a correction of a mistaken name, or nil if no name is near.
func didYouMean(name string, known []string) *fault.Hint {
	if best := fault.Nearest(name, known); best != "" {
		return &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Value: best}
	}
	return nil
}

// clip shortens foreign text for a sentence.
func clip(s string) string {
	const limit = 80
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// isName reports whether a name can be shown and stored.
func isName(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= strict.MaxNameLength && strings.IndexFunc(s, unicode.IsControl) < 0 && strings.TrimSpace(s) == s
}
