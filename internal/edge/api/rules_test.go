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

// Desks rely on the rules for these: they check no such thing themselves.
func TestRulesRefuseForTheDesks(t *testing.T) {
	t.Parallel()
	const (
		webhook  = `{"name":"pager","url":"https://hooks.example.com/a","events":["plan.changed"],"clusters":null}`
		schedule = `{"name":"n","every":"week","covers":"behind","format":"csv","keep":3}`
		host     = `{"host":"a.example","port":443,"networks":[]}`
		settings = `{"policy":{"kind":"fifo"},"slots":"shared","admission":"open","heartbeat_s":5,"node_timeout_s":600,"shares":[{"class":"a","weight":1,"min":0}]}`
		node     = `{"type":"a","cores":4,"slots":{"map":2,"reduce":1},"compute_units":0}`
		job      = `{"name":"j","maps":3,"reduces":0,"weight":1,"slowstart":1,"usage":{"map":{"cpu":3}},"local":[{"task":0,"nodes":["a"]}]}`
		place    = `{"class":"a","holder":"h","ttl_s":60,"deadline_s":5,"maps":1}`
		pool     = `{"hours":2,"rounds":2,"measured_hours":3,"types":[{"name":"a"}],"jobs":[{"name":"j","work":1,"submissions":1,"leaves_gb":1}]}`
		machines = `{"machines":[{"type":"a","count":1,"as":"core"}]}`
	)
	bodies := map[string]described{}
	for _, d := range describedBodies(t) {
		bodies[d.ID] = d
	}
	for _, c := range []struct{ operation, good, old, new, at string }{
		{"replaceWebhook", webhook, `["plan.changed"]`, `[]`, "/events"},
		{"replaceWebhook", webhook, `["plan.changed"]`, `["plan.changed","plan.chanegd"]`, "/events/1"},
		{"replaceWebhook", webhook, `["plan.changed"]`, `["ping"]`, "/events/0"},
		{"replaceWebhook", webhook, `null`, `[]`, "/clusters"},
		{"createReportSchedule", schedule, `"week"`, `"hour"`, "/every"},
		{"createReportSchedule", schedule, `"behind"`, `""`, "/covers"},
		{"createReportSchedule", schedule, `"csv"`, `"pdf"`, "/format"},
		{"createReportSchedule", schedule, `"keep"`, `"hour":24,"keep"`, "/hour"},
		{"createReportSchedule", schedule, `3`, `0`, "/keep"},
		{"createAllowedHost", host, `443`, `70000`, "/port"},
		{"createAllowedHost", host, `[]`, `["10.0.0.0/16"` + strings.Repeat(`,"10.0.0.0/16"`, 50) + `]`, "/networks"},
		{"replaceLiveSettings", settings, `"shared"`, `"some"`, "/slots"},
		{"replaceLiveSettings", settings, `"open"`, `"closed"`, "/admission"},
		{"replaceLiveSettings", settings, `5,`, `0.01,`, "/heartbeat_s"},
		{"replaceLiveSettings", settings, `600`, `90000`, "/node_timeout_s"},
		{"replaceLiveSettings", settings, `"min":0`, `"min":-1`, "/shares/0/min"},
		{"replaceLiveSettings", settings, `"weight":1`, `"weight":1e7`, "/shares/0/weight"},
		{"putLiveNode", node, `4`, `0`, "/cores"},
		{"putLiveNode", node, `"map":2`, `"map":501`, "/slots/map"},
		{"putLiveNode", node, `"compute_units":0`, `"compute_units":-1`, "/compute_units"},
		{"createLiveJob", job, `"maps":3`, `"maps":100001`, "/maps"},
		{"createLiveJob", job, `"weight":1`, `"weight":0`, "/weight"},
		{"createLiveJob", job, `"slowstart":1`, `"slowstart":1.1`, "/slowstart"},
		{"createLiveJob", job, `"slowstart":1`, `"max_attempts":101`, "/max_attempts"},
		{"createLiveJob", job, `"cpu":3`, `"cpu":11`, "/usage/map/cpu"},
		{"createLiveJob", job, `["a"]`, `["a","b","c","d","e","f","g","h","i","j","k"]`, "/local/0/nodes"},
		{"createAdmission", place, `60`, `5`, "/ttl_s"},
		{"createAdmission", place, `"deadline_s":5`, `"deadline_s":0`, "/deadline_s"},
		{"createAdmission", place, `"maps":1`, `"maps":10000001`, "/maps"},
		{"createAdmission", place, `"h"`, `"` + strings.Repeat("h", 201) + `"`, "/holder"},
		{"holdDriver", `{"holder":"a","ttl_s":60}`, `60`, `3601`, "/ttl_s"},
		{"holdDriver", `{"holder":"a","ttl_s":60}`, `"a"`, `"ä"`, "/holder"},
		{"keepAdmission", `{"ttl_s":60,"maps":1}`, `60`, `3601`, "/ttl_s"},
		{"keepAdmission", `{"ttl_s":60,"maps":1}`, `1`, `-1`, "/maps"},
		{"dryRunPolicy", `{"policy":{"kind":"fifo"},"window_s":60}`, `60`, `0`, "/window_s"},
		{"replacePoolSettings", pool, `"rounds":2`, `"rounds":25`, "/rounds"},
		{"replacePoolSettings", pool, `"measured_hours":3`, `"measured_hours":0`, "/measured_hours"},
		{"replacePoolSettings", pool, `"submissions":1`, `"submissions":-1`, "/jobs/0/submissions"},
		{"replacePoolSettings", pool, `"leaves_gb":1`, `"leaves_gb":1e13`, "/jobs/0/leaves_gb"},
		{"replacePoolMachines", machines, `"core"`, `"spare"`, "/machines/0/as"},
		{"replacePoolMachines", machines, `"count":1`, `"count":100001`, "/machines/0/count"},
		{"addStorageSamples", `{"samples":[{"data_gb":1}]}`, `{"data_gb":1}`, ``, "/samples"},
	} {
		if err := checkBody([]byte(c.good), bodies[c.operation].Body); err != nil {
			t.Fatalf("%s: %s: %v", c.operation, c.good, err)
		}
		text := strings.Replace(c.good, c.old, c.new, 1)
		refused, ok := checkBody([]byte(text), bodies[c.operation].Body).(refusal)
		if !ok || len(refused.problem.Errors) != 1 || *refused.problem.Errors[0].Pointer != c.at {
			t.Errorf("%s: %.300s is answered with %+v, want one fault at %s", c.operation, text, refused.problem.Errors, c.at)
		}
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
