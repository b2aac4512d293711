package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Extreme values of each type, for every member and parameter of the contract.
var (
	extremeIntegers = []string{"2147483648", "9007199254740993", "9223372036854775807"}
	extremeNumbers  = []string{"5e-324", "1e-308", "1.7976931348623157e308", "-5e-324"}
	extremeTimes    = []string{"2026-03-01T22:00:00-24:00", "2026-03-01T22:00:00+24:00", "2026-03-01T22:00:00-23:59", "2026-03-01T22:00:00+23:59", "2026-03-01T22:00:00-00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"}
)

// extremesOf returns the extremes of a schema's type. Text in an address may stand for a number.
func extremesOf(s *openapi3.Schema, inAddress bool) (values []string) {
	switch {
	case s.Type.Is("integer"):
		return extremeIntegers
	case s.Type.Is("number"):
		return extremeNumbers
	case s.Format == "date-time":
		for _, t := range extremeTimes {
			values = append(values, fmt.Sprintf("%q", t))
		}
	case s.Type.Is("string") && s.Format == "" && len(s.Enum) == 0 && inAddress:
		for _, n := range extremeIntegers {
			values = append(values, fmt.Sprintf("%q", n))
		}
	case s.Type.Is("string") && strings.Contains(s.Pattern, `\d`) || strings.Contains(s.Pattern, "[0-9]"): // amounts are text, too
		for _, n := range []string{"9007199254740993", "0.000000001", "99999999999999999999.999999999"} {
			values = append(values, fmt.Sprintf("%q", n))
		}
	}
	return values
}

// step leads from a value of a schema to a member; "" is the first of a list.
type step struct {
	of   *openapi3.Schema
	name string
}

func (s step) below() *openapi3.Schema {
	switch {
	case s.name == "":
		return s.of.Items.Value
	case s.of.Properties[s.name] != nil:
		return s.of.Properties[s.name].Value
	}
	return s.of.AdditionalProperties.Schema.Value
}

// leaf is a member of a body.
type leaf struct {
	at     []step
	schema *openapi3.Schema
}

// put sets a member of a value, and creates missing levels above it.
func put(random *rand.Rand, value any, at []step, to any) any {
	if len(at) == 0 {
		return to
	}
	next := at[0]
	if next.name == "" {
		list, _ := value.([]any)
		if len(list) == 0 {
			list = []any{sample(random, next.below(), 0)}
		}
		list = slices.Clone(list)
		list[0] = put(random, list[0], at[1:], to)
		return list
	}
	object, is := value.(map[string]any)
	if !is {
		object, _ = sample(random, next.of, 0).(map[string]any)
	}
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	object[next.name] = put(random, object[next.name], at[1:], to)
	return object
}

// exampleOf returns the contract's example of a body, or one made from its schema.
func exampleOf(random *rand.Rand, m *openapi3.MediaType) any {
	example := m.Example
	for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
		example = m.Examples[name].Value.Value
		break
	}
	if example == nil {
		example = m.Schema.Value.Example
	}
	if example == nil {
		example = sample(random, m.Schema.Value, 0)
	}
	text, _ := json.Marshal(example)
	var value any
	_ = json.Unmarshal(text, &value)
	return value
}
