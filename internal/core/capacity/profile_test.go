package capacity

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// chained is the problem of docs/reference/problem.md with a chain of stages, or whatever else stands for the profile.
func chained(t *testing.T, profile string) (Problem, error) {
	t.Helper()
	text := nightly(t)
	from := strings.Index(text, `{"map_tasks"`)
	until := from + strings.Index(text[from:], "}") + 1
	return ReadProblem([]byte(text[:from]+profile+text[until:]), DefaultLimits())
}

const threeStages = `{"stages": [{"name": "scan", "tasks": 200, "avg_s": 6.5, "max_s": 21}, {"tasks": 64, "avg_s": 12, "max_s": 30.25}, {"name": "write", "tasks": 1, "avg_s": 4, "max_s": 4}], "overhead_s": 11}`

func TestAProfileOfStages(t *testing.T) {
	p, err := chained(t, threeStages)
	if err != nil {
		t.Fatal(err)
	}
	want := Profile{OverheadSeconds: 11, Stages: []Stage{{"scan", 200, 6.5, 21}, {"", 64, 12, 30.25}, {"write", 1, 4, 4}}}
	if diff := equal(Problem{Classes: []Class{{Profile: &want}}}, Problem{Classes: []Class{{Profile: p.Classes[0].Profile}}}); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(p.Classes[0].Profile)
	if err != nil || string(text) != strings.ReplaceAll(strings.ReplaceAll(threeStages, ": ", ":"), ", ", ",") {
		t.Errorf("it is written %s (%v)", text, err)
	}
	var again Profile
	if err := json.Unmarshal(text, &again); err != nil || len(again.Findings("")) > 0 {
		t.Errorf("%v, %v", err, again.Findings(""))
	}
}

func TestProfilesOfStagesAreRefused(t *testing.T) {
	stage := func(members string) string {
		return `{"stages": [{"tasks": 4, "avg_s": 2, "max_s": 3}, {` + members + `}]}`
	}
	long := strings.Repeat(`{"tasks": 1, "avg_s": 1, "max_s": 1},`, MaxStages)
	for _, c := range []struct{ name, profile, pointer, code, says string }{
		{"none", `{"stages": []}`, "/stages", "missing", "no stage"},
		{"no list", `{"stages": {}}`, "/stages", "type", "array"},
		{"null", `{"stages": null}`, "/stages", "null", "not null"},
		{"too many", `{"stages": [` + long + `{"tasks": 1, "avg_s": 1, "max_s": 1}]}`, "/stages", "too_many", "10001"},
		{"both ways", `{"map_tasks": 300, "reduce_tasks": 0, "map_avg_s": 30, "map_max_s": 60, "stages": [{"tasks": 4, "avg_s": 2, "max_s": 3}]}`, "/stages", "one_of", `"map_tasks"`},
		{"no maps besides", `{"map_tasks": 0, "stages": [{"tasks": 4, "avg_s": 2, "max_s": 3}]}`, "/stages", "one_of", `"map_tasks"`},
		{"a shuffle besides", `{"shuffle_max_s": 2, "stages": [{"tasks": 4, "avg_s": 2, "max_s": 3}]}`, "/stages", "one_of", `"shuffle_max_s"`},
		{"no such member", stage(`"tasks": 4, "avg_s": 2, "max_s": 3, "mean_s": 2`), "/stages/1/mean_s", "unknown_member", "no member"},
		{"no tasks given", stage(`"avg_s": 2, "max_s": 3`), "/stages/1/tasks", "missing", "a stage needs it"},
		{"no mean", stage(`"tasks": 4, "max_s": 3`), "/stages/1/avg_s", "missing", "a stage needs it"},
		{"no tasks", stage(`"tasks": 0, "avg_s": 2, "max_s": 3`), "/stages/1/tasks", "range", "from 1 to"},
		{"too many tasks", stage(`"tasks": 10000001, "avg_s": 2, "max_s": 3`), "/stages/1/tasks", "range", "10000000"},
		{"half a task", stage(`"tasks": 1.5, "avg_s": 2, "max_s": 3`), "/stages/1/tasks", "not_whole", "1.5"},
		{"negative", stage(`"tasks": 4, "avg_s": -2, "max_s": 3`), "/stages/1/avg_s", "range", "cannot be negative"},
		{"longest shorter than the mean", stage(`"tasks": 4, "avg_s": 2, "max_s": 1`), "/stages/1/max_s", "premise", "Set it to 2 at least"},
		{"longest longer than all", stage(`"tasks": 4, "avg_s": 2, "max_s": 9`), "/stages/1/avg_s", "premise", "The mean must be 2.25 at least"},
		{"one task of two lengths", stage(`"tasks": 1, "avg_s": 2, "max_s": 3`), "/stages/1/max_s", "premise", "With one task"},
		{"no name", stage(`"name": 7, "tasks": 4, "avg_s": 2, "max_s": 3`), "/stages/1/name", "type", "string"},
		{"a name with a NUL", stage(`"name": "a\u0000b", "tasks": 4, "avg_s": 2, "max_s": 3`), "/stages/1/name", "text", "U+0000"},
		{"overhead", `{"stages": [{"tasks": 4, "avg_s": 2, "max_s": 3}], "overhead_s": -1}`, "/overhead_s", "range", "cannot be negative"},
		{"a chain that is misspelt", `{"stage": [], "map_tasks": 1, "reduce_tasks": 0, "map_avg_s": 1, "map_max_s": 1}`, "/stage", "unknown_member", `Did you mean "stages"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := chained(t, c.profile)
			got := findings(t, err)
			if len(got) != 1 || got[0].Pointer != "/classes/0/profile"+c.pointer || got[0].Code != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, want %s at %s saying %q", got, c.code, c.pointer, c.says)
			}
		})
	}
}

func TestCalibrationsAreRefused(t *testing.T) {
	valid := nightly(t)
	const at = `"deadline_s": 2700`
	for _, c := range []struct{ name, members, pointer, code, says string }{
		{"no bound", `"calibration": {"factor": 1.2}`, "/calibration/bound", "missing", "a calibration needs it"},
		{"no factor", `"calibration": {"bound": "lower"}`, "/calibration/factor", "missing", "a calibration needs it"},
		{"of itself", `"calibration": {"bound": "calibrated", "factor": 1}`, "/calibration/bound", "choice", "lower, average, upper"},
		{"nothing", `"calibration": {"bound": "lower", "factor": 0}`, "/calibration/factor", "range", "from 0.001 to 1000"},
		{"negative", `"calibration": {"bound": "lower", "factor": -1}`, "/calibration/factor", "range", "from 0.001 to 1000"},
		{"absurd", `"calibration": {"bound": "upper", "factor": 1001}`, "/calibration/factor", "range", "from 0.001 to 1000"},
		{"no number", `"calibration": {"bound": "upper", "factor": "1"}`, "/calibration/factor", "type", "not a string"},
		{"null", `"calibration": null`, "/calibration", "null", "not null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadProblem([]byte(strings.Replace(valid, at, at+", "+c.members, 1)), DefaultLimits())
			got := findings(t, err)
			if len(got) != 1 || got[0].Pointer != "/classes/0"+c.pointer || got[0].Code != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, want %s at %s saying %q", got, c.code, c.pointer, c.says)
			}
		})
	}
	_, err := ReadProblem([]byte(`{"currency":"USD","supply":{"on_demand":{"price":1}},"classes":[
		{"name":"x","vms_per_job":1.5,"calibration":{"bound":"upper","factor":1},"jobs":{"min":0,"max":1},"penalty":1}]}`), DefaultLimits())
	if got := findings(t, err); len(got) != 1 || got[0].Pointer != "/classes/0/calibration" || got[0].Code != "not_here" {
		t.Errorf("a calibration without a profile: %+v", got)
	}
}

// On a type that is twice as fast every stage takes half its time, and the start-up what it took.
func TestStagesOnAFasterType(t *testing.T) {
	p, err := chained(t, threeStages)
	if err != nil {
		t.Fatal(err)
	}
	class := p.Classes[0]
	class.Speed = Speed{"fast": 2}
	on := class.OnType("fast").Profile
	if on.OverheadSeconds != 11 || on.Stages[0] != (Stage{"scan", 200, 3.25, 10.5}) || on.Stages[2] != (Stage{"write", 1, 2, 2}) {
		t.Errorf("got %+v", on)
	}
	if class.Profile.Stages[0].AvgSeconds != 6.5 {
		t.Error("the class itself has changed")
	}
}

// Profiles of maps and reduces are written as they have always been: hashes of inputs rest on it.
func TestProfilesOfMapsAndReducesAreWrittenAsBefore(t *testing.T) {
	p := Profile{MapTasks: 300, MapAvgSeconds: 30, MapMaxSeconds: 60.5}
	const want = `{"map_tasks":300,"reduce_tasks":0,"map_avg_s":30,"map_max_s":60.5,"first_shuffle_avg_s":0,"first_shuffle_max_s":0,"shuffle_avg_s":0,"shuffle_max_s":0,"reduce_avg_s":0,"reduce_max_s":0,"overhead_s":0}`
	if text, err := json.Marshal(p); err != nil || string(text) != want {
		t.Errorf("got %s (%v)", text, err)
	}
	type plain Profile // without the method
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		var p Profile
		fill(t, r, reflect.ValueOf(&p).Elem())
		p.Stages = nil
		if text, err := json.Marshal(p); err != nil || string(text) != standard(t, plain(p)) {
			t.Fatalf("got %s (%v), want %s", text, err, standard(t, plain(p)))
		}
	}
	if text, err := json.Marshal(Class{Name: "a", Profile: &p, Jobs: JobRange{Min: 0, Max: 1}}); err != nil || string(text) != `{"name":"a","profile":`+want+`,"jobs":{"min":0,"max":1},"penalty":"0.00"}` {
		t.Errorf("got %s (%v)", text, err)
	}
}
