package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/slots/sim"
)

// reads gives a reader of bodies the common form of this test.
func reads[T any](read func([]byte) (T, error)) func([]byte) error {
	return func(text []byte) error { _, err := read(text); return err }
}

func limited[T any](read func([]byte, capacity.Limits) (T, error)) func([]byte) error {
	return func(text []byte) error { _, err := read(text, capacity.DefaultLimits()); return err }
}

// readers lists the readers of bodies that have no target of their own.
var readers = []struct {
	name string
	read func([]byte) error
	seed string
}{
	{"bounds", reads(perf.ReadBounds), `{"kind":"shared_phase","tasks":10,"mean_s":1,"max_s":2,"slots":3,"share":0.5,"jobs":2}`},
	{"policy", reads(dispatch.ReadPolicy), `{"kind":"learned","classifier":"bayes","rules":[]}`},
	{"forecasts", reads(inputs.ReadForecasts), `{"rows":[{"class":"a","hour":"2026-03-01T22:00:00Z","jobs":12}]}`},
	{"heartbeat", reads(live.ReadHeartbeat), `{"seq":1,"boot":"b","at":"2026-03-01T22:00:00Z","tasks":[{"assignment":1,"state":"running"}],"load":{"cpu_percent":5}}`},
	{"interference", reads(sim.ReadInterference), `{"cores":2,"rate_per_s":10,"service_ms":3}`},
	{"decide", func(text []byte) error { _, err := dispatch.ReadDecide(text); return err }, `{"jobs":[{"name":"a","maps":{"total":2}}],"slot":{},"running":[{"job":"a"}],"history":{"knowledge":{"kind":"naive_bayes","counts":{"outcomes":[0,0]}}}}`},
	{"judge", reads(dispatch.ReadJudge), `{"nodes":[{"name":"n","slots":{"map":2}}],"job":{"name":"a","deadline_s":9,"maps":{"total":2}}}`},
	{"learn", func(text []byte) error { _, err := dispatch.ReadLearn(text); return err }, `{"lessons":[{"usage":{"cpu":2},"good":true},{"then":{"load1":2}}]}`},
	{"classify", func(text []byte) error { _, err := dispatch.ReadClassify(text); return err }, `{"cases":[{"name":"a","numbers":{"gpu":1}}]}`},
	{"learned", reads(dispatch.ReadLearned), `{"knowledge":{"kind":"perceptron","counts":{"outcomes":[1,2],"weights":[0.5]}}}`},
	{"fit", func(text []byte) error { _, err := perf.ReadFit(text); return err }, `{"measurements":[{"job":"a","kind":"power","vms":2,"seconds":9}]}`},
	{"calibrate", func(text []byte) error { _, err := perf.ReadCalibration(text); return err }, `{"profile":{"map_tasks":9,"reduce_tasks":0,"map_avg_s":1,"map_max_s":2},"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":9,"map_slots":2}]}`},
	{"measured tasks", reads(trial.ReadMeasuredTasks), `{"a":{"map":[1,2,3],"reduce":[4]}}`},
	{"what if", limited(whatif.ReadWhatIf), `{"problem":{},"scenarios":[{"changes":[{"what":"deadline","class":"a","factor":0.9}]}]}`},
	{"what if of a cluster", reads(whatif.ReadClusterWhatIf), `{"at":"2026-03-01T22:00:00Z","scenarios":[{"saved":"a"}]}`},
	{"sweep", limited(whatif.ReadSweep), `{"problem":{},"parameter":{"what":"deadline","class":"a"},"from":1,"to":2,"steps":3}`},
	{"sweep of a cluster", reads(whatif.ReadClusterSweep), `{"parameter":{"what":"deadline","class":"a"},"values":[1,2]}`},
	{"simulation", limited(trial.ReadSimulation), `{"problem":{},"replications":3,"seed":1}`},
	{"simulation of a cluster", reads(trial.ReadClusterSimulation), `{"replications":3}`},
	{"targets", limited(trial.ReadTarget), `{"problem":{},"options":{"executions":300,"seed":1}}`},
	{"targets of a cluster", reads(trial.ReadClusterTarget), `{"options":{"lending":"class"}}`},
	{"question", limited(goal.ReadQuestion), `{"problem":{},"kind":"deadline","class":"a"}`},
	{"question of a cluster", reads(goal.ReadClusterQuestion), `{"kind":"budget","amount":"3.50"}`},
	{"horizon", func(text []byte) error { _, err := horizon.ReadHorizon(text, capacity.DefaultLimits()); return err }, `{"problem":{},"from":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z"}`},
	{"horizon of a cluster", reads(horizon.ReadClusterHorizon), `{"scenario":{"saved":"busy"},"from":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z"}`},
	{"purchase", func(text []byte) error { _, err := horizon.ReadPurchase(text, capacity.DefaultLimits()); return err }, `{"problem":{},"offers":[{"name":"a","price":"1"}]}`},
	{"purchase of a cluster", reads(horizon.ReadClusterPurchase), `{"offers":["a"]}`},
	{"pool course", limited(pool.ReadPoolCourse), `{"currency":"USD","rounds":[]}`},
	{"shares", limited(pool.ReadSharePlan), `{"slots":[],"jobs":[]}`},
	{"batch of classes", limited(pack.ReadClassBatch), `{"classes":[{"class":"a","jobs":3}]}`},
}

// Every body is read, or refused in sentences that name the place. No reader accepts a body that CheckSyntax refuses,
// because another program could read it differently.
func FuzzReaders(f *testing.F) {
	for i, r := range readers {
		f.Add(uint8(i), []byte(r.seed))
		f.Add(uint8(i), []byte(nightly(f)))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		r := readers[int(which)%len(readers)]
		err := r.read(text)
		if err != nil {
			var input *fault.InputError
			if !errors.As(err, &input) || len(input.Findings) == 0 {
				t.Fatalf("%s: refused with %v, want an InputError", r.name, err)
			}
			for _, finding := range input.Findings {
				if finding.Code == "" || finding.Detail == "" {
					t.Errorf("%s: the finding %+v says nothing", r.name, finding)
				}
			}
			return
		}
		if err := strict.CheckSyntax(text); err != nil {
			t.Errorf("%s: is read and has faults of syntax: %v", r.name, err)
		}
	})
}

// stores gives a stored type the common form of this test: a value that was read is written, and reads again as the
// same.
func stores[T any](t *testing.T, text []byte) {
	var value, again T
	if json.Unmarshal(text, &value) != nil {
		return
	}
	if checked, ok := any(value).(interface{ Validate() error }); ok && checked.Validate() != nil {
		return
	}
	written, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%T is read and cannot be written: %v", value, err)
	}
	if err := json.Unmarshal(written, &again); err != nil {
		t.Fatalf("%T: its own writing is refused: %v\n%s", value, err, written)
	}
	if second, _ := json.Marshal(again); !bytes.Equal(written, second) {
		t.Errorf("%T is written as\n%s\nand then as\n%s", value, written, second)
	}
}

var stored = []func(*testing.T, []byte){
	stores[inputs.Cluster], stores[inputs.VMType], stores[inputs.PricePeriod], stores[inputs.SignedContract], stores[inputs.StandingOffer], stores[inputs.PlannedClass], stores[inputs.ProfileVersion],
	stores[live.LiveSettings], stores[live.LiveNode], stores[live.LiveJobRequest], stores[live.FeatureValue], stores[reporting.ReportSchedule], stores[pool.PoolSettings], stores[pool.PoolMachine],
	stores[hooks.Webhook], stores[fetch.AllowedHost], stores[capacity.SlotsPerVM], stores[money.Amount], stores[whatif.Scenario], stores[dispatch.PolicyConfig],
}

func FuzzStored(f *testing.F) {
	for i := range stored {
		for _, seed := range []string{
			`{"name":"a","quota":3,"price":"1.50","vm_type":"b","from":"2020-01-01T00:00:00Z","until":null,"jobs":{"min":1,"max":2},"penalty":1,"vms":3,"url":"https://a.example/x","events":["plan.changed"]}`,
			`{"kind":"monthly","format":"pdf","day":1}`, `"12.50"`, `{"map":2,"reduce":2}`, `{"small":{"map":2,"reduce":1}}`, `3`, `true`, `"x"`, `{"kind":"fifo"}`,
		} {
			f.Add(uint8(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) { stored[int(which)%len(stored)](t, text) })
}

// Amounts, addresses and weeks are texts that people type.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{"0.10", "1e9", "-0", "12,5", "https://a.example:8443/x?y", "https://127.1/", "http://[::ffff:1.2.3.4]/", "https://a@b", "mon-fri 8-18: 40; sat 8-12: 20; else 5", "day,0,1\nmon,1,2", "10.0.0.0/8", "xn--a.example"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := money.Parse(text); err == nil {
			if again, err := money.Parse(m.String()); err != nil || !again.Equal(m.Decimal) {
				t.Errorf("%q is the amount %s, which is read as %s, %v", text, m, again, err)
			}
		}
		if target, fault := fetch.ParseTarget(text); fault == "" {
			again, fault := fetch.ParseTarget(target.URL)
			if fault != "" || again != target {
				t.Errorf("%q is the address %+v, which is read as %+v, %q", text, target, again, fault)
			}
		}
		if week, err := inputs.ParseWeek(text); err == nil && slices.ContainsFunc(week[:], func(x float64) bool { return !(x >= 0 && x <= capacity.MaxJobs) }) {
			t.Errorf("%q is the week %v", text, week)
		}
		_ = fetch.AllowedHost{Host: text, Networks: []string{text}}.Validate()
	})
}

func TestEveryExampleIsRead(t *testing.T) {
	files, err := filepath.Glob("../openapi/examples/*.json")
	if err != nil || len(files) < 9 {
		t.Fatalf("found %d examples (%v), want at least 9", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch name := filepath.Base(file); {
		case strings.HasPrefix(name, "bounds-"):
			_, err = perf.ReadBounds(data)
		case name == "year-with-offers.json":
			_, err = horizon.ReadPurchase(data, capacity.DefaultLimits())
		case name == "day-with-windows.json":
			_, err = timetable.Read(data, capacity.DefaultLimits())
		case name == "batch.json":
			_, err = pack.ReadPacking(data, capacity.DefaultLimits())
		case name == "pool.json":
			_, err = pool.ReadPool(data, capacity.DefaultLimits())
		case name == "share-plan.json":
			_, err = pool.ReadSharePlan(data, capacity.DefaultLimits())
		default:
			_, err = capacity.ReadProblem(data, capacity.DefaultLimits())
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func nightly(f *testing.F) string {
	text, err := os.ReadFile("../openapi/examples/nightly-etl.json")
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}
