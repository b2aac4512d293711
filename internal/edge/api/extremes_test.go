package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

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

// leavesOf returns all members of a schema that have extremes.
func leavesOf(s *openapi3.Schema, at []step, above []*openapi3.Schema) (leaves []leaf) {
	if slices.Contains(above, s) || len(at) > 9 || s.ReadOnly {
		return nil
	}
	above = append(slices.Clone(above), s)
	if len(extremesOf(s, false)) > 0 {
		leaves = append(leaves, leaf{slices.Clone(at), s})
	}
	for _, part := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		leaves = append(leaves, leavesOf(part.Value, at, above)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		leaves = append(leaves, leavesOf(s.Properties[name].Value, append(slices.Clone(at), step{s, name}), above)...)
	}
	if s.Items != nil {
		leaves = append(leaves, leavesOf(s.Items.Value, append(slices.Clone(at), step{s, ""}), above)...)
	}
	if of := s.AdditionalProperties.Schema; of != nil {
		leaves = append(leaves, leavesOf(of.Value, append(slices.Clone(at), step{s, "nightly"}), above)...)
	}
	return leaves
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

// extremeRequests returns requests of an operation in which one thing is an extreme.
func extremeRequests(method, path string, item *openapi3.PathItem, op *openapi3.Operation) (all []sent) {
	random := rand.New(rand.NewPCG(4, 4))
	known := map[string]string{"cluster": "night", "name": "small", "id": "x", "node": "n", "job": "1", "plan": "1", "version": "1", "kind": "invalid", "file": "style.css", "from": "1", "to": "1"}
	parameters := slices.Concat(item.Parameters, op.Parameters)
	at := func(odd *openapi3.Parameter, value string) sent {
		r, to, query := sent{method: method, headers: map[string]string{}}, path, url.Values{}
		for _, ref := range parameters {
			p := ref.Value
			text := known[p.Name]
			if text == "" {
				text = strings.Trim(fmt.Sprint(sample(random, p.Schema.Value, 0)), `"`)
			}
			if p == odd {
				text = strings.Trim(value, `"`)
			}
			switch {
			case p.In == "path":
				to = strings.ReplaceAll(to, "{"+p.Name+"}", url.PathEscape(text))
			case p.In == "query" && (p.Required || p == odd):
				query.Set(p.Name, text)
			}
		}
		if r.path = to; len(query) > 0 {
			r.path += "?" + query.Encode()
		}
		return r
	}
	var example any
	var schema *openapi3.Schema
	body := func(value any) []byte {
		text, _ := json.Marshal(value)
		return text
	}
	if op.RequestBody != nil {
		media := op.RequestBody.Value.Content["application/json"]
		if media != nil {
			schema, example = media.Schema.Value, exampleOf(random, media)
		}
	}
	for _, ref := range parameters {
		p := ref.Value
		if p.In != "path" && p.In != "query" || p.Name == "cluster" {
			continue
		}
		for _, value := range extremesOf(p.Schema.Value, true) {
			r := at(p, value)
			if schema != nil {
				r.body = body(example)
			}
			all = append(all, r)
		}
	}
	if schema == nil {
		return all
	}
	for _, l := range leavesOf(schema, nil, nil) {
		for _, value := range extremesOf(l.schema, false) {
			r := at(nil, "")
			r.body = body(put(random, example, l.at, json.RawMessage(value)))
			all = append(all, r)
		}
	}
	return all
}

// Extreme values of every integer, number and time of the contract are answered, and never as a mistake of the server.
func TestExtremeValues(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	var all []sent
	each(s.doc, func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
		if method != "DELETE" || strings.Contains(path, "forecasts") { // things that others need stay
			all = append(all, extremeRequests(method, path, item, op)...)
		}
	})
	var mu sync.Mutex
	statuses := map[int]int{}
	var workers sync.WaitGroup
	const atOnce = 4
	for worker := range atOnce {
		workers.Go(func() {
			for i := worker; i < len(all); i += atOnce {
				a, ok := s.deliver(all[i])
				if !ok {
					continue
				}
				s.judge(all[i], a)
				mu.Lock()
				statuses[a.StatusCode]++
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	t.Logf("%d requests: %v", len(all), statuses)
	if statuses[200] < len(all)/20 || statuses[422] < len(all)/20 {
		t.Errorf("too few of %d requests were good enough to be worked on: %v", len(all), statuses)
	}
}
