package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

// many returns the number of tries: more in long runs.
func many(few, lots int) int {
	if os.Getenv("HEADROOM_LONG") == "1" {
		return lots
	}
	return few
}

// The bodies of solve, bounds and forecasts are read by capacity, not checked against the schema that describes them.
// Both must refuse the same, as far as a schema can express it.
func TestBothReadersGiveTheSameVerdict(t *testing.T) {
	t.Parallel()
	doc := contract(t)
	files, err := filepath.Glob("../../../openapi/examples/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return slices.Contains([]string{"batch.json", "pool.json", "share-plan.json"}, filepath.Base(file))
	})
	forecasts := filepath.Join(t.TempDir(), "forecasts.json")
	if err := os.WriteFile(forecasts, []byte(`{"rows":[{"class":"a","hour":"2026-03-01T22:00:00Z","jobs":12},{"class":"b","hour":"2026-03-01T23:00:00+01:00","jobs":0.5}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	fleet := filepath.Join(t.TempDir(), "fleet.json")
	if err := os.WriteFile(fleet, []byte(fleetProblem), 0o600); err != nil {
		t.Fatal(err)
	}
	files = append(files, forecasts, fleet, fleet, fleet)
	byHand := monthsReaders(t)
	for _, file := range slices.Sorted(maps.Keys(byHand)) {
		files = append(files, file, file)
	}
	random := rand.New(rand.NewPCG(20260301, 7))
	refused, accepted := 0, 0
	for i := range many(1200, 20_000) {
		file := files[i%len(files)]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schema := doc.Components.Schemas["Problem"].Value
		read := func(text []byte) error { _, err := capacity.ReadProblem(text, capacity.DefaultLimits()); return err }
		if strings.HasSuffix(file, "/year-with-offers.json") {
			schema = doc.Components.Schemas["PurchaseRequest"].Value
			read = func(text []byte) error { _, err := horizon.ReadPurchase(text, capacity.DefaultLimits()); return err }
		}
		if strings.HasSuffix(file, "/day-with-windows.json") {
			schema = doc.Components.Schemas["ScheduleRequest"].Value
			read = func(text []byte) error { _, err := timetable.Read(text, capacity.DefaultLimits()); return err }
		}
		if strings.Contains(file, "/bounds-") {
			schema = doc.Components.Schemas["BoundsQuestion"].Value
			read = func(text []byte) error { _, err := perf.ReadBounds(text); return err }
		}
		if file == forecasts {
			schema = doc.Components.Schemas["ForecastRows"].Value
			read = func(text []byte) error {
				rows, err := inputs.ReadForecasts(text)
				if err == nil {
					err = inputs.ValidateForecasts(rows)
				}
				return err
			}
		}
		if reader, known := byHand[file]; known {
			schema, read = doc.Components.Schemas[reader.schema].Value, reader.read
		}
		value, err := generic(text)
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(3) {
			value = mutate(random, value)
		}
		if text, err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
		if random.IntN(8) == 0 {
			text = damage(random, text)
		}
		bySchema := checkSchema(text, schema)
		byReader := read(text)
		if byReader == nil {
			accepted++
		} else {
			refused++
		}
		if bySchema != nil && byReader == nil && !strings.Contains(file, "/bounds-") { // perf checks the figures of bounds
			t.Fatalf("%s mutated to\n%s\nis refused by the schema and accepted by the reader: %v", file, text, bySchema)
		}
		if input := (*fault.InputError)(nil); errors.As(byReader, &input) && bySchema == nil {
			for _, f := range input.Findings {
				if sayable(f) {
					t.Fatalf("%s mutated to\n%s\nis accepted by the schema and refused by the reader: %v", file, text, byReader)
				}
			}
		}
	}
	if refused < 50 || accepted < 50 {
		t.Errorf("%d bodies were refused and %d accepted; both should be frequent", refused, accepted)
	}
}

// handReader holds the reader of a body, and the schema that describes it.
type handReader struct {
	schema string
	read   func(text []byte) error
}

// monthsReaders returns bodies about months, in files, and their readers.
func monthsReaders(t *testing.T) map[string]handReader {
	timely := strings.Replace(smallProblem, `"vms_per_job":1,`, `"vms_per_job":1,"deadline_s":3600,`, 1)
	const (
		offers = `[{"name":"year","price":"0.04","upfront":"400.00","term_years":1,"billing":"always","max":200},{"name":"day","price":0.1,"from":"2026-03-02T00:00:00Z","term_hours":24,"max":5}]`
		months = `{"problem":` + smallProblem + `,"contracts":[{"name":"old","vms":3,"price":"0.10","billing":"used","upfront":"12","from":"2026-03-01T00:00:00Z","until":"2026-03-03T00:00:00Z"}],
			"periods":[{"start":"2026-03-01T00:00:00Z","hours":8,"jobs":[1],"on_demand_price":"0.20"},{"start":"2026-03-01T08:00:00Z","seconds":1800},{"start":"2026-03-01T08:30:00Z","hours":4,"jobs":[0]}],"detail":"classes"`
		span = `"from":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z"`
	)
	arrivals := `{"problem":` + timely + `,"earlier":[{"start":"2026-02-28T23:00:00Z","hours":1,"arrivals":[2]}],
		"periods":[{"start":"2026-03-01T00:00:00Z","hours":8,"arrivals":[1]},{"start":"2026-03-01T08:00:00Z","hours":4,"arrivals":[0.5]}]`
	typed := strings.Replace(fleetProblem, `"currency"`, `"period_s":3600,"currency"`, 1)
	interference := handReader{"InterferenceRequest", func(text []byte) error { _, err := sim.ReadInterference(text); return err }}
	readers := map[string]handReader{}
	all := []struct {
		text string
		handReader
	}{
		{months + `}`, handReader{"HorizonRequest", func(text []byte) error { _, err := horizon.ReadHorizon(text, capacity.DefaultLimits()); return err }}},
		{`{"problem":` + typed + `,"periods":[{"start":"2026-03-01T00:00:00Z","hours":8,"jobs":[1,2,3],"prices":{"x":{"on_demand":"0.20","spot":"0.1"}}}]}`, handReader{"HorizonRequest", func(text []byte) error { _, err := horizon.ReadHorizon(text, capacity.DefaultLimits()); return err }}},
		{months + `,"offers":` + offers + `,"assume":"flat","factors":[0.5,1.5]}`, handReader{"PurchaseRequest", func(text []byte) error { _, err := horizon.ReadPurchase(text, capacity.DefaultLimits()); return err }}},
		{arrivals + `}`, handReader{"HorizonRequest", func(text []byte) error { _, err := horizon.ReadHorizon(text, capacity.DefaultLimits()); return err }}},
		{arrivals + `,"offers":` + offers + `,"assume":"flat"}`, handReader{"PurchaseRequest", func(text []byte) error { _, err := horizon.ReadPurchase(text, capacity.DefaultLimits()); return err }}},
		{`{` + span + `,"detail":"summary"}`, handReader{"ClusterHorizonRequest", func(text []byte) error { _, err := horizon.ReadClusterHorizon(text); return err }}},
		{`{` + span + `,"vm_type":"small","offers":` + offers + `,"factors":[1],"gap":0.01,"leave_out":["spot"]}`, handReader{"ClusterPurchaseRequest", func(text []byte) error { _, err := horizon.ReadClusterPurchase(text); return err }}},
		{`{` + span + `,"named":["a","b"]}`, handReader{"ClusterPurchaseRequest", func(text []byte) error { _, err := horizon.ReadClusterPurchase(text); return err }}},
		{`{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},"policies":[{"kind":"fair","slice_ms":10},{"kind":"anti_starvation","window_ms":1000,"floor_ms":50}],"host":{"cgroup":"/sys/fs/cgroup/a","ceiling_cores":2,"interactive_weight":50},"requests":1000,"seed":3}`, interference},
		{`{"interactive":{"per_second":3,"service":{"kind":"samples","samples_ms":[1,2.5]}}}`, interference},
		{`{"data_nodes":{"count":4,"cap_mb_s":60,"readers":[{"name":"terasort","read_mb_s":50,"normed":1.6},{"name":"pi","read_mb_s":0}]}}`, interference},
	}
	rules := map[string]handReader{
		"decideSlot":          {"DecideRequest", func(text []byte) error { _, err := dispatch.ReadDecide(text); return err }},
		"judgePromise":        {"JudgeRequest", func(text []byte) error { _, err := dispatch.ReadJudge(text); return err }},
		"learnLessons":        {"LearnRequest", func(text []byte) error { _, err := dispatch.ReadLearn(text); return err }},
		"classifyTasks":       {"ClassifyRequest", func(text []byte) error { _, err := dispatch.ReadClassify(text); return err }},
		"fitMeasurements":     {"FitRequest", func(text []byte) error { _, err := perf.ReadFit(text); return err }},
		"calibrateExecutions": {"CalibrateRequest", func(text []byte) error { _, err := perf.ReadCalibration(text); return err }},
	}
	for _, operation := range slices.Sorted(maps.Keys(rules)) {
		all = append(all, struct {
			text string
			handReader
		}{ruleQuestions[operation], rules[operation]})
	}
	for i, r := range all {
		if err := r.read([]byte(r.text)); err != nil {
			t.Fatalf("%s: %v", r.text, err)
		}
		file := filepath.Join(t.TempDir(), fmt.Sprintf("months-%d.json", i))
		if err := os.WriteFile(file, []byte(r.text), 0o600); err != nil {
			t.Fatal(err)
		}
		readers[file] = r.handReader
	}
	return readers
}

// A document with any one of its values replaced by one of another kind is read or refused. No reader computes with what
// it could not read.
func TestSpoiltBodiesAreReadOrRefused(t *testing.T) {
	t.Parallel()
	for file, reader := range monthsReaders(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		document, err := generic(text)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		var spoil func(put func(any), value any)
		spoil = func(put func(any), value any) {
			for _, other := range []any{"x", json.Number("5"), json.Number("-1.5"), nil, true, []any{}, []any{nil}, map[string]any{}} {
				put(other)
				spoilt, err := json.Marshal(document)
				if err != nil {
					t.Fatal(err)
				}
				if reader.read(spoilt) != nil {
					refused++
				}
			}
			put(value)
			switch value := value.(type) {
			case map[string]any:
				for name := range value {
					spoil(func(x any) { value[name] = x }, value[name])
				}
			case []any:
				for i := range value {
					spoil(func(x any) { value[i] = x }, value[i])
				}
			}
		}
		spoil(func(x any) { document = x }, document)
		if refused < 10 {
			t.Errorf("%s: only %d spoilt documents are refused", reader.schema, refused)
		}
	}
}

// fleetProblem has several VM types and all their members.
const fleetProblem = `{"currency":"USD","supply":{"vm_types":[
	{"name":"small","contracts":[{"name":"three-year","vms":30,"price":"0.10","billing":"always"}],"on_demand":{"price":"0.20","quota":100}},
	{"name":"x","contracts":[{"name":"one-year","vms":10,"price":0.18}],"on_demand":{"price":"0.38","quota":null},"spot":{"price":"0.12","max_share":0.5}}]},
	"classes":[
	{"name":"etl","demand":{"map_work_s":4500,"reduce_work_s":1200,"fixed_s":60},"deadline_s":2700,"slots_per_vm":{"small":{"map":2,"reduce":2},"x":{"map":4,"reduce":3}},"speed":{"x":1.25},"jobs":{"min":9,"max":10},"penalty":"5.00"},
	{"name":"report","vms_per_job":"1.5","speed":{"small":0},"jobs":{"min":0,"max":4},"penalty":"2"},
	{"name":"plain","vms_per_job":1.5,"slots_per_vm":{"map":1,"reduce":4},"jobs":{"min":0,"max":4},"penalty":2}],
	"budget":{"vm_cost":"40.00","total":null}}`

// Forms that chance hardly finds: exactly these are refused by both, or by neither.
func TestBothReadersKnowTheFormsOfASupply(t *testing.T) {
	t.Parallel()
	schema := contract(t).Components.Schemas["Problem"].Value
	for _, c := range []struct {
		old, new string
		fine     bool
	}{
		{`{}`, `{}`, true},
		{`"supply":{`, `"supply":{"on_demand":{"price":1},`, false},
		{`"supply":{`, `"supply":{"contracts":[],`, false},
		{`"supply":{`, `"supply":{"spot":{"price":1,"max_share":0},`, false},
		{`"max_share":0.5`, `"max_share":1`, true},
		{`"max_share":0.5`, `"max_share":1.1`, false},
		{`"speed":{"x":1.25}`, `"speed":{"x":-0.1}`, false},
		{`"speed":{"x":1.25}`, `"speed":{"x":1000.1}`, false},
		{`"speed":{"x":1.25}`, `"speed":{}`, true},
		{`"slots_per_vm":{"map":1,"reduce":4}`, `"slots_per_vm":{}`, false},
		{`"slots_per_vm":{"map":1,"reduce":4}`, `"slots_per_vm":{"map":1,"x":{"map":1,"reduce":1}}`, false},
		{`"slots_per_vm":{"map":1,"reduce":4}`, `"slots_per_vm":{"x":{"map":1,"reduce":1},"map":1}`, false},
		{`"budget":{"vm_cost":"40.00","total":null}`, `"budget":{}`, true},
		{`"budget":{"vm_cost":"40.00","total":null}`, `"budget":{"vm_cost":-1}`, false},
	} {
		text := []byte(strings.Replace(fleetProblem, c.old, c.new, 1))
		_, byReader := capacity.ReadProblem(text, capacity.DefaultLimits())
		if bySchema := checkSchema(text, schema); (bySchema == nil) != c.fine || (byReader == nil) != c.fine {
			t.Errorf("%s: the schema says %v, the reader %v; want fine: %v", c.new, bySchema, byReader, c.fine)
		}
	}
}

// sayable reports whether a schema could have found the reader's fault: nothing that depends on another member, on
// the decimal places of a number, or on letters.
func sayable(f fault.Finding) bool {
	switch f.Code {
	case "syntax", "unknown_member", "duplicate_member", "type", "null", "not_finite", "choice", "time":
		return true
	case "not_here":
		return !strings.HasSuffix(f.Pointer, "/calibration") // which only classes with a profile have
	case "missing":
		dependent := []string{"/deadline_s", "/slots_per_vm", "/term_years", "/hours", "/arrivals", "/assume"}
		return !slices.ContainsFunc(dependent, func(end string) bool { return strings.HasSuffix(f.Pointer, end) }) &&
			!strings.Contains(f.Detail, "A measurement of the kind") // on which its members depend
	case "range":
		// amounts may be strings, whose size no pattern bounds
		// nor is there a word for a speed of 0 or from 0.001
		return !slices.ContainsFunc([]string{"/vms_per_job", "/deadline_s", "/map", "/reduce", "/price", "/penalty", "/vm_cost", "/total", "_price", "/spot", "/on_demand", "/upfront", "/start", "/from", "/until", "/jobs", "/arrivals", "/periods", "/assume"}, func(end string) bool { return strings.HasSuffix(f.Pointer, end) }) &&
			!strings.Contains(f.Detail, "or 0 where") && !strings.Contains(f.Detail, "give a whole one") // whole in one kind of measurement
	}
	return false
}

// mutate changes something somewhere in a JSON value, every place being as likely.
func mutate(random *rand.Rand, value any) any {
	root := value
	places := []func(){func() { root = strange(random, value) }}
	var walk func(any)
	walk = func(value any) {
		switch x := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				places = append(places, func() { x[name] = strange(random, x[name]) }, func() { delete(x, name) })
				walk(x[name])
			}
			other := []string{"jbos", "", "classes", "price", "a/b~c", strings.Repeat("x", 300), "x", "small", "spot", "vm_types", "on_demand", "speed", "budget", "map"}[random.IntN(14)]
			places = append(places, func() { x[other] = strange(random, nil) })
		case []any:
			for i := range x {
				places = append(places, func() { x[i] = strange(random, x[i]) })
				walk(x[i])
			}
		}
	}
	walk(value)
	places[random.IntN(len(places))]()
	return root
}

// strange returns a value that may be wrong, more often than not of the type of the one it replaces.
func strange(random *rand.Rand, old any) any {
	numbers := []any{
		json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("2.5"), json.Number("10.0"), json.Number("1e3"), json.Number("1001"),
		json.Number("1e7"), json.Number("10000001"), json.Number("1e9"), json.Number("1000000001"), json.Number("1e15"), json.Number("123456789012345678901234567890"), json.Number("1e-20"), json.Number("-1e8"),
	}
	texts := []any{"", "x", "small", "USD", "usd", "0.10", "-1", "1,5", "NaN", "exact", "relaxed", "phase", "1e3", "1000000001", "0.1234567891", strings.Repeat("y", 200), strings.Repeat("y", 201), "=1+1", "é\u202e"}
	if random.IntN(3) > 0 {
		switch old.(type) {
		case json.Number:
			return numbers[random.IntN(len(numbers))]
		case string:
			return texts[random.IntN(len(texts))]
		}
	}
	others := []any{nil, true, false, []any{}, map[string]any{}, []any{json.Number("1")}, map[string]any{"min": json.Number("1"), "max": json.Number("2")},
		map[string]any{"price": "0.10"}, map[string]any{"map": json.Number("1"), "reduce": json.Number("2")}, map[string]any{"x": map[string]any{"map": json.Number("1"), "reduce": json.Number("2")}}}
	all := slices.Concat(numbers, texts, others)
	return all[random.IntN(len(all))]
}

// damage turns JSON into text that no writer of JSON would write.
func damage(random *rand.Rand, text []byte) []byte {
	s := string(text)
	at := func(mark string) int { // of one occurrence
		n := strings.Count(s, mark)
		if n == 0 {
			return -1
		}
		i := -1
		for range 1 + random.IntN(n) {
			i += 1 + strings.Index(s[i+1:], mark)
		}
		return i
	}
	replace := func(mark, with string) string {
		if i := at(mark); i >= 0 {
			return s[:i] + with + s[i+len(mark):]
		}
		return s
	}
	switch random.IntN(12) {
	case 0:
		return []byte(replace("{", `{"currency":"USD","currency":"USD",`))
	case 1:
		return []byte(replace(":", ":NaN,"))
	case 2:
		return []byte(replace(`:1`, ":1e309,\"z\":1"))
	case 3:
		return []byte(replace("}", ",}"))
	case 4:
		return []byte(s + fmt.Sprint(random.IntN(9)))
	case 5:
		return text[:random.IntN(len(text))]
	case 6:
		return []byte(replace(`"`, "\"\xff"))
	case 7:
		return []byte(replace(`"`, "\"\x00"))
	case 8:
		return []byte(replace(":", ":"+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`,"z":`))
	case 9:
		return []byte(replace(`"`, "'"))
	case 10:
		return []byte("\xef\xbb\xbf" + s)
	}
	return []byte(replace(":", ":-Infinity,\"z\":"))
}
