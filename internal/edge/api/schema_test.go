package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/edge/api/rules"
)

// This is the check that the generated rules must agree with: kin-openapi checks values against the schemas, and the
// sentences about violations are written here a second time.

// checkSchema is checkBody by the schema itself.
func checkSchema(text []byte, schema *openapi3.Schema) error {
	if err := strict.CheckSyntax(text); err != nil {
		return malformedBody(err)
	}
	value, err := generic(text)
	if err != nil {
		return err
	}
	if matchesSchema(schema, value) {
		return nil
	}
	if findings := violations(schema, value, true); len(findings) > 0 {
		return refusal{malformed.aboutBody(findings)}
	}
	return refusal{malformed.problem("The body is not as it is described at /docs.")}
}

// formats accepts times and dates as Go reads them later.
var formats = openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
	"date-time": openapi3.NewCallbackValidator(rules.ReadableTime),
})

// matchesSchema is the cheap check.
func matchesSchema(schema *openapi3.Schema, value any) bool {
	return schema.VisitJSON(value, formats, openapi3.FailFast()) == nil
}

// violations returns a value's violations: all of them, up to MaxFindings, or the first.
func violations(schema *openapi3.Schema, value any, all bool) []fault.Finding {
	options := []openapi3.SchemaValidationOption{formats}
	if all {
		options = append(options, openapi3.MultiErrors())
	}
	v := violation{options: options}
	v.collect("", schema.VisitJSON(value, options...))
	if len(v.findings) > fault.MaxFindings {
		v.findings = append(v.findings[:fault.MaxFindings-1], fault.Finding{Code: "more", Detail: "And more than these; mend these first."})
	}
	return v.findings
}

type violation struct {
	options  []openapi3.SchemaValidationOption
	findings []fault.Finding
}

func (v *violation) add(f fault.Finding) {
	if !slices.ContainsFunc(v.findings, func(g fault.Finding) bool { return g.Pointer == f.Pointer }) {
		v.findings = append(v.findings, f) // of one member the first fault is enough
	}
}

// collect turns kin-openapi's errors into findings; base is the pointer to the value.
func (v *violation) collect(base string, err error) {
	if len(v.findings) > fault.MaxFindings {
		return
	}
	switch e := err.(type) { // errors.As would look into the alternatives of oneOf
	case openapi3.MultiError:
		for _, one := range e {
			v.collect(base, one)
		}
	case *openapi3.SchemaError:
		pointer := base
		for _, name := range e.JSONPointer() {
			pointer += "/" + escapePointer(name)
		}
		switch {
		case e.SchemaField == "anyOf" && e.Schema.AnyOf[0].Value.AdditionalProperties.Schema != nil:
			v.ofForm(pointer, e)
		case e.SchemaField == "anyOf":
			v.missingOf(pointer, e)
		case e.SchemaField == "oneOf" && e.Schema.Discriminator == nil, e.SchemaField == "properties":
			v.add(v.special(pointer, e))
		default:
			code, detail, hint := describeViolation(e, pointer)
			v.add(fault.Finding{Pointer: pointer, Code: code, Detail: detail, Hint: hint})
		}
	}
}

// special handles violations that concern another place than the error's, or depend on the value.
func (v *violation) special(pointer string, e *openapi3.SchemaError) fault.Finding {
	if e.SchemaField == "oneOf" {
		if f := amountFault(e.Schema, e.Value, pointer); f != nil {
			return *f
		}
		return fault.Finding{Pointer: pointer, Code: "type", Detail: "Here a decimal such as \"0.10\" is needed, as a string or a number."}
	}
	name := strings.TrimSuffix(strings.TrimPrefix(e.Reason, "property "), " is unsupported")
	if unquoted, err := strconv.Unquote(name); err == nil {
		name = unquoted
	}
	f := fault.Finding{Pointer: pointer + "/" + escapePointer(name), Code: "unknown_member", Detail: fmt.Sprintf("There is no member %.60q here.", name)}
	known := slices.Sorted(maps.Keys(e.Schema.Properties))
	if best := fault.Nearest(name, known); best != "" {
		f.Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best)}
	}
	return f
}

// missingOf handles an object that lacks members of each of its possible forms. It reports the missing members of the
// form with most members present, of several the last. It checks the other members as well.
func (v *violation) missingOf(pointer string, e *openapi3.SchemaError) {
	object, _ := e.Value.(map[string]any)
	var form *openapi3.Schema
	var missing []string
	most := 0
	for _, ref := range e.Schema.AnyOf {
		lacks := slices.DeleteFunc(slices.Clone(ref.Value.Required), func(name string) bool { _, given := object[name]; return given })
		if given := len(ref.Value.Required) - len(lacks); len(lacks) > 0 && given >= most {
			form, missing, most = ref.Value, lacks, given
		}
	}
	for _, name := range missing {
		v.add(fault.Finding{Pointer: pointer + "/" + name, Code: "missing", Detail: fmt.Sprintf("The member %q is missing; %s needs it.", name, form.Title)})
	}
	rest := *e.Schema
	rest.AnyOf = nil
	v.collect(pointer, rest.VisitJSON(e.Value, v.options...))
}

// ofForm handles an object of either named objects or, by the last form, plain members: it reports the violations of
// the form that the object seems to have.
func (v *violation) ofForm(pointer string, e *openapi3.SchemaError) {
	form := e.Schema.AnyOf[len(e.Schema.AnyOf)-1].Value
	object, _ := e.Value.(map[string]any)
	for _, member := range object {
		if _, named := member.(map[string]any); named {
			form = e.Schema.AnyOf[0].Value
			break
		}
	}
	v.collect(pointer, form.VisitJSON(e.Value, v.options...))
}

// describeViolation returns the sentence about a violation of one value's schema.
func describeViolation(e *openapi3.SchemaError, pointer string) (code, detail string, hint *fault.Hint) {
	s := e.Schema
	nearest := func(value any) *fault.Hint {
		return &fault.Hint{Detail: fmt.Sprintf("The nearest is %v.", value), Pointer: pointer, Value: value}
	}
	switch e.SchemaField {
	case "required":
		path := e.JSONPointer()
		return "missing", fmt.Sprintf("The member %q is missing; it is needed here.", path[len(path)-1]), nil
	case "type":
		if s.Type.Is(openapi3.TypeInteger) && isNumber(e.Value) {
			return "not_whole", fmt.Sprintf("%s is not a whole number.", shown(e.Value)), nil
		}
		return "type", fmt.Sprintf("Here %s is needed, not %s.", wanted(s), given(e.Value)), nil
	case "nullable":
		return "null", fmt.Sprintf("Here %s is needed, not null; leave the member out where it has no value.", wanted(s)), nil
	case "enum":
		words := make([]string, len(s.Enum))
		for i, w := range s.Enum {
			words[i] = fmt.Sprint(w)
		}
		switch e.Value.(type) {
		case map[string]any, []any:
			return "type", fmt.Sprintf("Here one of the words %s is needed, not %s.", strings.Join(words, ", "), given(e.Value)), nil
		case nil:
			return "null", fmt.Sprintf("Here one of the words %s is needed, not null; leave the member out where it has no value.", strings.Join(words, ", ")), nil
		}
		detail = fmt.Sprintf("%s is none of the words that can stand here: %s.", shown(e.Value), strings.Join(words, ", "))
		if best := fault.Nearest(fmt.Sprint(e.Value), words); best != "" {
			hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Pointer: pointer, Value: best}
		}
		return "choice", detail, hint
	case "minimum", "maximum":
		low, high := s.Min != nil, s.Max != nil
		bound := s.Min
		if e.SchemaField == "maximum" {
			bound = s.Max
		}
		switch {
		case low && high:
			detail = fmt.Sprintf("%s is out of range; it must be from %s to %s.", shown(e.Value), plainNumber(*s.Min), plainNumber(*s.Max))
		case low:
			detail = fmt.Sprintf("%s is too small; it must be at least %s.", shown(e.Value), plainNumber(*s.Min))
		default:
			detail = fmt.Sprintf("%s is too large; it can be %s at most.", shown(e.Value), plainNumber(*s.Max))
		}
		return "range", detail, nearest(json.Number(plainNumber(*bound)))
	case "exclusiveMinimum":
		return "range", fmt.Sprintf("%s is too small; it must be more than %s.", shown(e.Value), plainNumber(*s.Min)), nil
	case "minLength":
		if s.MinLength == 1 {
			return "text", "The text is empty; give one.", nil
		}
		return "text", fmt.Sprintf("The text %s is too short; it has at least %d characters.", shown(e.Value), s.MinLength), nil
	case "maxLength":
		return "too_long", fmt.Sprintf("The text is too long; it can have %d characters at most.", *s.MaxLength), nil
	case "minItems":
		return "missing", fmt.Sprintf("The list is too short; give at least %d.", s.MinItems), nil
	case "maxItems":
		return "too_many", fmt.Sprintf("The list is too long; it can have %d at most.", *s.MaxItems), nil
	case "pattern":
		return "text", fmt.Sprintf("%s cannot stand here. %s", shown(e.Value), rule(s)), nil
	case "format":
		if s.Format == "date-time" {
			return "time", fmt.Sprintf("%s is no time; give one such as \"2026-03-01T22:00:00Z\".", shown(e.Value)), nil
		}
		return "range", fmt.Sprintf("%s is too large for a whole number.", shown(e.Value)), nil
	case "discriminator":
		words := slices.Sorted(maps.Keys(s.Discriminator.Mapping))
		return "choice", fmt.Sprintf("The member %q must be one of %s.", s.Discriminator.PropertyName, strings.Join(words, ", ")), nil
	}
	return "type", "The value is not what can stand here; /docs describes it.", nil
}

// rule describes a schema's pattern, for people.
func rule(s *openapi3.Schema) string {
	if s.Description != "" {
		return s.Description
	}
	return "It must look like " + s.Pattern + "."
}

func wanted(s *openapi3.Schema) string {
	switch {
	case s.Type.Is(openapi3.TypeObject):
		return "an object"
	case s.Type.Is(openapi3.TypeArray):
		return "an array"
	case s.Type.Is(openapi3.TypeInteger):
		return "a whole number"
	case s.Type.Is(openapi3.TypeNumber):
		return "a number"
	case s.Type.Is(openapi3.TypeBoolean):
		return "true or false"
	case s.Format == "date-time":
		return "a time as a string"
	}
	return "a string"
}

func given(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

func isNumber(value any) bool {
	switch value.(type) {
	case json.Number, float64, int64:
		return true
	}
	return false
}

// shown returns a value for a sentence.
func shown(value any) string {
	switch x := value.(type) {
	case string:
		return fmt.Sprintf("%.60q", x)
	case float64:
		return plainNumber(x)
	}
	return fmt.Sprintf("%.60s", fmt.Sprint(value))
}

func plainNumber(x float64) string {
	if size := math.Abs(x); x != 0 && size < 1e-6 || size >= 1e21 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(name string) string { return pointerEscapes.Replace(fmt.Sprintf("%.200s", name)) }

// amountFault returns the fault of a decimal that may be a string or a number, or nil.
func amountFault(s *openapi3.Schema, value any, pointer string) *fault.Finding {
	var text string
	switch x := value.(type) {
	case string:
		text = x
	case json.Number:
		text = x.String()
	default:
		return &fault.Finding{Pointer: pointer, Code: "type", Detail: fmt.Sprintf("Here a decimal such as \"0.10\" is needed, as a string or a number, not %s.", given(value))}
	}
	_, err := money.Parse(text)
	switch {
	case err != nil:
		f := &fault.Finding{Pointer: pointer, Code: "type", Detail: err.Error() + "."}
		if point := strings.Replace(strings.TrimSpace(text), ",", ".", 1); point != text {
			if _, err := money.Parse(point); err == nil {
				f.Hint = &fault.Hint{Detail: fmt.Sprintf("Write %q.", point), Pointer: pointer, Value: point}
			}
		}
		return f
	case text[0] == '-': // -0 as well
		return &fault.Finding{Pointer: pointer, Code: "range", Detail: fmt.Sprintf("%.60s cannot be negative.", text)}
	case !matchesSchema(s, value):
		return &fault.Finding{Pointer: pointer, Code: "range", Detail: fmt.Sprintf("%.60s is too large or too long.", text)}
	}
	return nil
}

// unreadable finds values that fit the schema but still cannot be read.
func unreadable(found []fault.Finding, s *openapi3.Schema, value any, pointer string) []fault.Finding {
	for _, part := range slices.Concat(s.AllOf, s.AnyOf) {
		for _, f := range unreadable(nil, part.Value, value, pointer) {
			if !slices.ContainsFunc(found, func(g fault.Finding) bool { return g.Pointer == f.Pointer }) {
				found = append(found, f)
			}
		}
	}
	switch x := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			p := s.Properties[name]
			if p == nil {
				p = s.AdditionalProperties.Schema
			}
			if p != nil {
				found = unreadable(found, p.Value, x[name], pointer+"/"+escapePointer(name))
			}
		}
	case []any:
		if s.Items != nil {
			for i := range x {
				found = unreadable(found, s.Items.Value, x[i], pointer+"/"+strconv.Itoa(i))
			}
		}
	case json.Number:
		told := slices.ContainsFunc(found, func(g fault.Finding) bool { return g.Pointer == pointer }) // by another form of the body
		if _, err := x.Int64(); err != nil && s.Type.Is(openapi3.TypeInteger) && !told {
			f := fault.Finding{Pointer: pointer, Code: "not_whole", Detail: fmt.Sprintf("%.60s is not written as a whole number.", x)}
			if n, err := x.Float64(); err == nil && n > -1<<53 && n < 1<<53 {
				f.Hint = &fault.Hint{Detail: fmt.Sprintf("Write %d.", int64(n)), Pointer: pointer, Value: int64(n)}
			}
			return append(found, f)
		}
	}
	if len(s.OneOf) > 0 && (value != nil || !s.Nullable) {
		if f := amountFault(s, value, pointer); f != nil {
			return append(found, *f)
		}
	}
	return found
}
