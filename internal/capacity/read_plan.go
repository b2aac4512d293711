package capacity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadPlan reads a plan as Headroom writes it, strictly. It says nothing about whether the plan is a
// good one, or one at all (see package proof).
func ReadPlan(data []byte) (Plan, error) {
	if p, ok := readPlan(data); ok {
		return p, nil
	}
	return decodePlan(data)
}

// decodePlan reads any JSON that encoding/json takes for a plan, and says what is wrong with what it does not.
func decodePlan(data []byte) (Plan, error) {
	r := reader{data: data}
	if r.start(); r.failure != nil {
		return Plan{}, &InputError{[]Finding{*r.failure}}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var p Plan
	if err := decoder.Decode(&p); err != nil {
		return Plan{}, planError(data, int(decoder.InputOffset()), err)
	}
	r.at = int(decoder.InputOffset())
	if r.end(); r.failure != nil {
		return Plan{}, &InputError{[]Finding{*r.failure}}
	}
	return p, nil
}

// planError turns what encoding/json says into a finding with a line or a pointer.
func planError(data []byte, at int, err error) error {
	f := Finding{Code: "syntax"}
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
		f.Detail = fmt.Sprintf("The plan is not JSON: %s.", syntax)
	case errors.Is(err, io.ErrUnexpectedEOF):
		at = len(data)
		f.Detail = "The plan ends before its last bracket; it seems to be cut off."
	case errors.As(err, &wrongType):
		at = int(wrongType.Offset)
		f.Code = "type"
		f.Pointer = "/" + strings.ReplaceAll(wrongType.Field, ".", "/")
		f.Detail = fmt.Sprintf("The member %q of a plan cannot be a JSON %s.", wrongType.Field, wrongType.Value)
	default:
		f.Code = "type"
		f.Detail = fmt.Sprintf("The plan cannot be read: %s.", strings.TrimPrefix(err.Error(), "json: "))
	}
	f.Line, f.Column = position(data, min(at, len(data)))
	return &InputError{[]Finding{f}}
}
