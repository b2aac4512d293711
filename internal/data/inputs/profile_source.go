package inputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// maxSource is the maximum number of bytes of a profile version's source.
const maxSource = 64 << 10

// checkSource refuses sources that the database would not return unchanged. It stores numbers with all their digits,
// and no text with a NUL.
func (p ProfileVersion) checkSource(k *strict.Checker) {
	switch {
	case p.Source == nil:
	case len(p.Source) > maxSource:
		k.Refuse("source", "too_large", "The source has %d bytes; at most %d are kept.", len(p.Source), maxSource)
	case bytes.IndexByte(bytes.TrimSpace(p.Source), '{') != 0:
		k.Refuse("source", "type", "The source is no JSON object; give one, or leave it out.")
	default:
		if fault := sourceFault(p.Source); fault != "" {
			k.Refuse("source", "type", "The source cannot be kept: %s", fault)
		}
	}
}

// sourceFault explains why a source cannot be stored; it returns "" if it can.
func sourceFault(source json.RawMessage) string {
	value, err := readSource(source)
	if err != nil {
		return "it is no JSON."
	}
	wrong := ""
	var look func(value any, depth int)
	look = func(value any, depth int) {
		switch x := value.(type) {
		case string:
			if strings.ContainsRune(x, 0) {
				wrong = "a text in it has a NUL character."
			}
		case json.Number:
			if d, err := decimal.NewFromString(string(x)); err != nil || d.Exponent() < -sourceDigits || d.NumDigits()+int(d.Exponent()) > sourceDigits {
				wrong = "the number " + fault.Clip(string(x)) + " in it is too large or has too many decimal places; write it as a text."
			}
		case []any:
			for _, item := range x {
				look(item, depth+1)
			}
		case map[string]any:
			for name, item := range x {
				look(name, depth)
				look(item, depth+1)
			}
		}
		if depth > strict.MaxNesting {
			wrong = "its values are nested too deeply."
		}
	}
	look(value, 0)
	return wrong
}

// sourceDigits is the maximum number of digits before and after the point of a number in a source. A few bytes such
// as 1e99999 would be many in the database.
const sourceDigits = 30

func readSource(source json.RawMessage) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	if err = d.Decode(&value); err == nil && d.More() {
		err = errors.New("more than one value")
	}
	return value, err
}

// CanonicalSource returns the same bytes for all sources of the same meaning: members in order, numbers without
// exponents and trailing zeros.
func CanonicalSource(source json.RawMessage) json.RawMessage {
	value, err := readSource(source)
	if err != nil {
		return source
	}
	var plain func(value any) any
	plain = func(value any) any {
		switch x := value.(type) {
		case json.Number:
			if d, err := decimal.NewFromString(string(x)); err == nil && d.Exponent() < sourceDigits {
				return json.Number(d.String())
			}
		case []any:
			for i := range x {
				x[i] = plain(x[i])
			}
		case map[string]any:
			for name := range x {
				x[name] = plain(x[name])
			}
		}
		return value
	}
	text, err := json.Marshal(plain(value))
	if err != nil {
		return source
	}
	return text
}

// Says reports whether two versions have the same content.
func (p ProfileVersion) Says(q ProfileVersion) bool {
	return p.Note == q.Note && reflect.DeepEqual(p.Profile, q.Profile) && bytes.Equal(CanonicalSource(p.Source), CanonicalSource(q.Source))
}
