package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"headroom/internal/core/fault"
)

// Read reads and checks an input. Its errors are *capacity.InputError: invalid JSON by line and column, and unknown,
// repeated or ill-typed members by pointer.
func Read(data []byte) (Input, error) {
	in, err := Decode(data)
	if err == nil {
		err = Validate(in)
	}
	return in, err
}

// Decode is Read without checking the values.
func Decode(data []byte) (in Input, err error) {
	err = decode(data, &in)
	return in, err
}

// DecodePolicy reads a policy alone.
func DecodePolicy(data []byte) (p Policy, err error) {
	err = decode(data, &p)
	return p, err
}

func decode(data []byte, into any) error {
	r := reader{json: json.NewDecoder(bytes.NewReader(data))}
	r.json.UseNumber()
	err := r.value(reflect.ValueOf(into).Elem(), "")
	if err == nil {
		if _, more := r.json.Token(); more != io.EOF {
			r.add("", "syntax", "Something follows after the end of the object; give one alone.")
		}
	} else {
		line, column := position(data, int(r.json.InputOffset()))
		f := fault.Finding{Code: "syntax", Detail: fmt.Sprintf("This is not JSON: %v.", err), Line: line, Column: column}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			f.Detail = "The text ends before its last bracket; it seems to be cut off."
		}
		r.findings = []fault.Finding{f}
	}
	if len(r.findings) > 0 {
		return fault.Refusal(r.findings, 0)
	}
	return nil
}

// position returns the line and column of an offset, from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// reader walks JSON along the Go types of its target.
type reader struct {
	json     *json.Decoder
	findings []fault.Finding
}

func (r *reader) add(at, code, format string, values ...any) {
	r.findings = append(r.findings, fault.Finding{Pointer: at, Code: code, Detail: fmt.Sprintf(format, values...)})
}

// value reads the next value. It returns errors of the JSON itself.
func (r *reader) value(v reflect.Value, at string) error {
	token, err := r.json.Token()
	if err != nil {
		return err
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	var wanted string
	switch v.Kind() {
	case reflect.Struct:
		if token == json.Delim('{') {
			return r.members(at, func(name string) (reflect.Value, func()) { return member(v, name), nil })
		}
		wanted = "an object"
	case reflect.Map:
		if token == json.Delim('{') {
			v.Set(reflect.MakeMap(v.Type()))
			return r.members(at, func(name string) (reflect.Value, func()) {
				element := reflect.New(v.Type().Elem()).Elem()
				return element, func() { v.SetMapIndex(reflect.ValueOf(name), element) }
			})
		}
		wanted = "an object"
	case reflect.Slice:
		if token == json.Delim('[') {
			return r.elements(v, at)
		}
		wanted = "a list"
	case reflect.String:
		if s, is := token.(string); is {
			v.SetString(s)
			return nil
		}
		wanted = "a word in quotes"
	case reflect.Bool:
		if b, is := token.(bool); is {
			v.SetBool(b)
			return nil
		}
		wanted = "true or false"
	default:
		if n, is := token.(json.Number); is && setNumber(v, n) {
			return nil
		}
		wanted = "a number"
		if v.Kind() != reflect.Float64 {
			wanted = "a whole number"
		}
	}
	r.add(at, "type", "%s stands here; give %s.", found(token), wanted)
	return r.skip(token)
}

// found names the kind of value that a token begins.
func found(token json.Token) string {
	switch x := token.(type) {
	case json.Delim:
		if x == '{' {
			return "An object"
		}
		return "A list"
	case string:
		return "A text"
	case json.Number:
		return "The number " + clip(x.String())
	case nil:
		return "null"
	default:
		return fmt.Sprint(x)
	}
}

func setNumber(v reflect.Value, n json.Number) bool {
	switch v.Kind() {
	case reflect.Float64:
		x, err := strconv.ParseFloat(n.String(), 64)
		v.SetFloat(x)
		return err == nil
	case reflect.Uint64:
		x, err := strconv.ParseUint(n.String(), 10, 64)
		v.SetUint(x)
		return err == nil
	default:
		x, err := strconv.ParseInt(n.String(), 10, 64)
		v.SetInt(x)
		return err == nil
	}
}

func (r *reader) members(at string, of func(name string) (reflect.Value, func())) error {
	seen := map[string]bool{}
	for r.json.More() {
		token, err := r.json.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		here := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(clip(name))
		v, done := of(name)
		switch {
		case seen[name]:
			r.add(here, "duplicate_member", "The member %q is there twice; keep one.", clip(name))
		case !v.IsValid():
			r.add(here, "unknown_member", "There is no member %q here.", clip(name))
		default:
			seen[name] = true
			if err := r.value(v, here); err != nil {
				return err
			}
			if done != nil {
				done()
			}
			continue
		}
		if token, err = r.json.Token(); err != nil {
			return err
		}
		if err := r.skip(token); err != nil {
			return err
		}
	}
	_, err := r.json.Token()
	return err
}

func (r *reader) elements(v reflect.Value, at string) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i := 0; r.json.More(); i++ {
		element := reflect.New(v.Type().Elem()).Elem()
		if err := r.value(element, at+"/"+strconv.Itoa(i)); err != nil {
			return err
		}
		v.Set(reflect.Append(v, element))
	}
	_, err := r.json.Token()
	return err
}

// skip passes over the rest of the value that a token begins.
func (r *reader) skip(token json.Token) error {
	depth := 0
	for {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if token, err = r.json.Token(); err != nil {
			return err
		}
	}
}

// member returns the field of a JSON name, in embedded structs too, or an invalid value.
func member(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			if m := member(v.Field(i), name); m.IsValid() {
				return m
			}
		case tag == name:
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// clip shortens a user's text.
func clip(text string) string {
	const limit = 80
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
