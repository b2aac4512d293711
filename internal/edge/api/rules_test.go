package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// described is an operation whose body the rules check, with the schema that they were made from.
type described struct {
	*operation
	media *openapi3.MediaType
}

func describedBodies(t testing.TB) (all []described) {
	doc := contract(t)
	for _, o := range contractOperations(t) {
		if o.Body != nil {
			all = append(all, described{o, doc.Paths.Value(o.Path).GetOperation(o.Method).RequestBody.Value.Content["application/json"]})
		}
	}
	return all
}

// refusedAs returns what a client is told about a body: the problem document as JSON, or "" if the body is fine.
func refusedAs(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	refused, ok := err.(refusal)
	if !ok {
		t.Fatalf("refused with %v, which is no problem document", err)
	}
	text, err := json.Marshal(refused.problem)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// odd returns a value for a place with this schema that is wrong in one of the ways that the schema can tell.
func odd(random *rand.Rand, s *openapi3.Schema) any {
	long := func(n uint64) string { return strings.Repeat("ä", int(n)) }
	var values []any
	for _, limit := range []*float64{s.Min, s.Max} {
		if limit != nil {
			for _, d := range []float64{-1, -0.5, -1e-9, 0, 1e-9, 0.5, 1} {
				values = append(values, *limit+d)
			}
		}
	}
	for _, text := range extremesOf(s, false) {
		values = append(values, json.RawMessage(text))
	}
	if s.MaxLength != nil && *s.MaxLength < 10_000 {
		values = append(values, long(*s.MaxLength), long(*s.MaxLength+1), strings.Repeat("\U0001F600", int(*s.MaxLength)))
	}
	if s.MaxItems != nil && *s.MaxItems < 2000 && s.Items != nil {
		item := sample(random, s.Items.Value, 0)
		values = append(values, slices.Repeat([]any{item}, int(*s.MaxItems)+1), slices.Repeat([]any{item}, int(s.MinItems)))
	}
	if s.MaxProps != nil && *s.MaxProps < 100 {
		object := map[string]any{}
		for i := range *s.MaxProps + 1 {
			object[fmt.Sprint("x", i)] = json.Number("1")
		}
		values = append(values, object)
	}
	for _, word := range s.Enum {
		text := fmt.Sprint(word)
		values = append(values, strings.ToUpper(text), text+"s", text[:len(text)-1], text)
	}
	if s.Format == "date-time" {
		values = append(values, "2026-03-01", "2026-02-30T00:00:00Z", "2026-03-01T22:00:00+24:00", "0001-01-01T00:00:00Z", "2026-03-01t22:00:00z", "2026-03-01T22:00:00+01:00")
	}
	values = append(values, nil, true, "", "\u2028", "é\u202e", "x\u0007", []any{}, map[string]any{}, json.RawMessage("1e400"), json.RawMessage("1e308"), json.RawMessage("-0"), json.RawMessage("9223372036854775808"))
	return values[random.IntN(len(values))]
}

// placesOf lists the members of a schema, those of forms and of free names among them.
func placesOf(s *openapi3.Schema, at []step, above []*openapi3.Schema) (places []leaf) {
	if slices.Contains(above, s) || len(at) > 9 {
		return nil
	}
	above = append(slices.Clone(above), s)
	places = append(places, leaf{slices.Clone(at), s})
	for _, part := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		places = append(places, placesOf(part.Value, at, above)...)
	}
	for name, member := range s.Properties {
		places = append(places, placesOf(member.Value, append(slices.Clone(at), step{s, name}), above)...)
	}
	if s.Items != nil {
		places = append(places, placesOf(s.Items.Value, append(slices.Clone(at), step{s, ""}), above)...)
	}
	if of := s.AdditionalProperties.Schema; of != nil {
		places = append(places, placesOf(of.Value, append(slices.Clone(at), step{s, "nightly"}), above)...)
	}
	slices.SortStableFunc(places, func(a, b leaf) int { return strings.Compare(fmt.Sprint(names(a.at)), fmt.Sprint(names(b.at))) })
	return places
}

func names(at []step) (names []string) {
	for _, s := range at {
		names = append(names, s.name)
	}
	return names
}

// bodies draws a body of an operation: an example of the contract, broken in some places.
func (d described) draw(random *rand.Rand, places []leaf) []byte {
	value := exampleOf(random, d.media)
	if random.IntN(3) == 0 {
		value = sample(random, d.media.Schema.Value, 0)
	}
	for range random.IntN(4) {
		if place := places[random.IntN(len(places))]; random.IntN(3) > 0 {
			value = put(random, value, place.at, odd(random, place.schema))
		} else {
			text, _ := json.Marshal(value)
			plain, _ := generic(text)
			value = mutate(random, plain)
		}
	}
	text, err := json.Marshal(value)
	if err == nil && random.IntN(12) == 0 {
		text = damage(random, append(text, ' '))
	}
	return text
}

// The rules that are generated from openapi.yaml accept and refuse what its schemas do, in the same words.
func TestRulesGiveTheVerdictsOfTheSchemas(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20260301, 11))
	all := describedBodies(t)
	places := make([][]leaf, len(all))
	for i, d := range all {
		places[i] = placesOf(d.media.Schema.Value, nil, nil)
	}
	bad, good := 0, 0
	for i := 0; bad < many(10_000, 200_000); i++ {
		d := all[i%len(all)]
		text := d.draw(random, places[i%len(all)])
		if len(text) > smallBody {
			continue
		}
		bySchema, byRules := refusedAs(t, checkSchema(text, d.media.Schema.Value)), refusedAs(t, checkBody(text, d.Body))
		if bySchema != byRules {
			t.Fatalf("%s:\n%.2000s\nis answered by the schema with\n%s\nand by the rules with\n%s", d.ID, text, bySchema, byRules)
		}
		if byRules != "" {
			bad++
			continue
		}
		good++
		if value, err := generic(text); err == nil {
			want := unreadable(nil, d.media.Schema.Value, value, "")
			if got := d.Body.Unreadable(value); len(want) < 50 && !reflect.DeepEqual(got, want) {
				t.Fatalf("%s:\n%s\ncannot be read: by the schema %+v, by the rules %+v", d.ID, text, want, got)
			}
		}
	}
	t.Logf("%d bodies of %d operations were refused alike, %d accepted", bad, len(all), good)
	if good < bad/10 {
		t.Errorf("only %d bodies were fine; the examples are broken too often", good)
	}
}

// Parameters are answered like bodies.
func TestRulesGiveTheVerdictsOfParameters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20260301, 12))
	for _, o := range contractOperations(t) {
		op := contract(t).Paths.Value(o.Path)
		for i, ref := range slices.Concat(op.Parameters, op.GetOperation(o.Method).Parameters) {
			schema, shape := ref.Value.Schema.Value, o.Parameters[i].Shape
			if schema.Items != nil {
				schema, shape = schema.Items.Value, shape.Items
			}
			said := *schema
			if said.Pattern != "" {
				said.Description = ref.Value.Description
			}
			for range 20 {
				text, _ := json.Marshal(odd(random, schema))
				value, err := generic(text)
				if number, is := value.(json.Number); is {
					value, err = number.Float64()
				}
				if err != nil { // no number that an address may hold
					continue
				}
				var want, got rulesFinding
				if found := violations(&said, value, true); len(found) > 0 {
					want = rulesFinding{found[0].Code, found[0].Detail}
				}
				if found := shape.Check(value); len(found) > 0 {
					got = rulesFinding{found[0].Code, found[0].Detail}
				}
				if got != want {
					t.Errorf("%s: %s of the parameter %s: by the schema %v, by the rules %v", o.ID, text, ref.Value.Name, want, got)
				}
			}
		}
	}
}

type rulesFinding struct{ code, detail string }

// BenchmarkCheck compares the rules with the check against the schema that they replace.
func BenchmarkCheck(b *testing.B) {
	class := someClass
	document := `{"cluster":{"name":"night"},"classes":[` + strings.Repeat(class+",", 999) + class + `]}`
	var of described
	for _, d := range describedBodies(b) {
		if d.ID == "applyDocument" {
			of = d
		}
	}
	value, err := generic([]byte(document))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("schema", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !matchesSchema(of.media.Schema.Value, value) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("rules", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if found := of.Body.Check(value); found != nil {
				b.Fatal(found)
			}
		}
	})
}
