// Package fault says what is wrong: the kinds of errors a caller can act on, and findings with place, code and hint.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is one of the six kinds of error that a caller can act on. Every other error is ours to mend. A Kind is itself
// an error, so errors.Is(err, fault.Invalid) checks for it.
type Kind string

// The six kinds.
const (
	Invalid    Kind = "invalid"    // the input breaks a rule; the findings name it and a remedy
	NotFound   Kind = "not found"  // the thing named does not exist
	Conflict   Kind = "conflict"   // somebody else changed it first
	Forbidden  Kind = "forbidden"  // the caller may not
	Infeasible Kind = "infeasible" // no plan meets the demands; the conflicts give the reasons
	Busy       Kind = "busy"       // try again later: queue full, or no solver for a model that needs one
)

func (k Kind) Error() string { return string(k) }

// Hint is a cure that a button can apply: put Value at Pointer.
type Hint struct {
	Detail  string `json:"detail"`
	Pointer string `json:"pointer,omitempty"`
	Value   any    `json:"value,omitempty"`
}

// Finding is one fault of an input.
type Finding struct {
	Pointer string `json:"pointer"`        // JSON pointer (RFC 6901) to the member; "" is the whole document
	Detail  string `json:"detail"`         // the fault, as a sentence
	Code    string `json:"code"`           // stable word for programs: unknown_member, missing, range, ...
	Line    int    `json:"line,omitempty"` // if the text cannot be read at all; 0 if the pointer gives the place
	Column  int    `json:"column,omitempty"`
	Hint    *Hint  `json:"hint,omitempty"`
}

// InputError lists all findings about one input (up to MaxFindings). It is of kind Invalid.
type InputError struct {
	Findings []Finding
}

// MaxFindings bounds the findings that one InputError lists: nobody mends more at a time.
const MaxFindings = 50

// Refusal returns findings as one error of kind Invalid, or nil if there are none. Of more than MaxFindings, counting
// the unlisted ones, the last gives the number of the rest.
func Refusal(findings []Finding, unlisted int) error {
	if len(findings) == 0 {
		return nil
	}
	if more := len(findings) + unlisted - MaxFindings; more > 0 {
		last := Finding{Code: "more", Detail: fmt.Sprintf("And %d more; mend these first.", more+1)}
		findings = append(findings[:MaxFindings-1:MaxFindings-1], last)
	}
	return &InputError{findings}
}

// Error formats the findings, one a line, the pointer first.
func (e *InputError) Error() string {
	var b strings.Builder
	for i, f := range e.Findings {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch {
		case f.Line > 0:
			fmt.Fprintf(&b, "line %d, column %d: ", f.Line, f.Column)
		case f.Pointer != "":
			b.WriteString(f.Pointer + ": ")
		}
		b.WriteString(f.Detail)
		if f.Hint != nil {
			b.WriteString(" " + f.Hint.Detail)
		}
	}
	return b.String()
}

// Is makes an InputError an error of kind Invalid.
func (e *InputError) Is(target error) bool { return target == Invalid }

// At returns an error with one finding, which has no hint.
func At(pointer, code, detail string) error {
	return &InputError{Findings: []Finding{{Pointer: pointer, Code: code, Detail: detail}}}
}

// Findings returns the findings of an InputError, or nil for any other error.
func Findings(err error) []Finding {
	var input *InputError
	if errors.As(err, &input) {
		return input.Findings
	}
	return nil
}

// TooManyError refuses a caller who asks for more than a caller may have.
type TooManyError struct {
	Detail     string
	RetryAfter time.Duration
}

func (e *TooManyError) Error() string { return e.Detail }

func (e *TooManyError) Is(kind error) bool { return kind == error(Busy) }
