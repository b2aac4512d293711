package sim

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// everyMember is the JSON of an input that has every member.
const everyMember = `{
  "slots": {"map": 64, "reduce": 64},
  "policy": {"kind": "capacity", "lending": "class", "reduces_after": 0.5},
  "classes": [
    {"name": "etl", "deadline_s": 900, "weight": 2, "slots": {"map": 40, "reduce": 30}, "jobs": 10,
      "profile": {"map_tasks": 100, "map_avg_s": 20, "map_max_s": 40, "reduce_tasks": 20, "reduce_avg_s": 10, "reduce_max_s": 15,
        "first_shuffle_avg_s": 4, "first_shuffle_max_s": 6, "shuffle_avg_s": 8, "shuffle_max_s": 12, "overhead_s": 3},
      "load": {"kind": "closed", "users": 10, "think_s": 60, "think": "constant"},
      "tasks": {"kind": "lognormal", "spread": 0.7, "slow": 0.01, "slow_by": 4, "map_s": [10, 20, 30], "first_shuffle_s": [4], "shuffle_s": [8], "reduce_s": [10]}},
    {"name": "chain", "jobs": 2, "profile": {"overhead_s": 1, "stages": [{"tasks": 4, "avg_s": 5, "max_s": 9}]},
      "load": {"kind": "poisson", "per_hour": 10}, "tasks": {"stage_s": [[4, 6]]}},
    {"name": "ad hoc", "profile": {"map_tasks": 4, "map_avg_s": 5, "map_max_s": 9, "reduce_tasks": 0}, "load": {"kind": "trace", "at_s": [10, 20]}},
    {"name": "night", "profile": {"map_tasks": 4, "map_avg_s": 5, "map_max_s": 9, "reduce_tasks": 0}, "load": {"kind": "batch", "jobs": 3, "at_s": [60]}}
  ],
  "horizon_s": 20000, "warm_up_s": 100, "seed": 1, "replications": 3, "limits": {"events": 1000000, "jobs": 1000}
}`

// everyMemberOnNodes is the JSON of an input that has every member of mixed nodes.
const everyMemberOnNodes = `{
  "nodes": [
    {"type": "new", "count": 2, "slots": {"map": 3, "reduce": 2}, "cores": 4, "compute_units": 5, "speed": 1.5},
    {"type": "old", "count": 3, "slots": {"map": 2, "reduce": 1}, "background": {"kind": "constant", "residual": [0.5, 0.25, 1]}},
    {"type": "day", "count": 1, "slots": {"map": 2, "reduce": 1}, "background": {"kind": "steps", "steps": [{"at_s": 10, "residual": 0}, {"at_s": 60, "residual": 0.75}], "repeat_s": 100}},
    {"type": "any", "count": 2, "slots": {"map": 2, "reduce": 1}, "background": {"kind": "uniform", "low": 0.2, "high": 0.9, "every_s": 50}}
  ],
  "policy": {"kind": "fair"}, "data_nodes": {"count": 2, "cap_mb_s": 30}, "heartbeat_s": 3, "known": "given",
  "classes": [
    {"name": "etl", "deadline_s": 900, "weight": 2, "slots": {"map": 4, "reduce": 3}, "rates": {"new": 3, "old": 0.5}, "read_mb_s": 8, "cpu_load": 0.5, "min_share": 0.2,
      "profile": {"map_tasks": 10, "map_avg_s": 20, "map_max_s": 40, "reduce_tasks": 4, "reduce_avg_s": 10, "reduce_max_s": 15,
        "first_shuffle_avg_s": 4, "first_shuffle_max_s": 6, "shuffle_avg_s": 8, "shuffle_max_s": 12, "overhead_s": 3},
      "load": {"kind": "closed", "users": 3, "think_s": 60}, "tasks": {"noise": {"dedicated": 0.03, "loaded": 0.25}}},
    {"name": "curve", "profile": {"map_tasks": 4, "map_avg_s": 5, "map_max_s": 9, "reduce_tasks": 1}, "load": {"kind": "poisson", "per_hour": 20},
      "task_time": {"a": 12, "b": -0.5, "c": 40, "d": -6, "least_residual": 0.1, "most_residual": 0.9}, "deadlines": {"low_s": 100, "high_s": 200}},
    {"name": "ad hoc", "profile": {"map_tasks": 4, "map_avg_s": 5, "map_max_s": 9, "reduce_tasks": 0}, "load": {"kind": "trace", "at_s": [10, 20]}, "deadlines": {"each_s": [10, 300]}},
    {"name": "night", "profile": {"map_tasks": 4, "map_avg_s": 5, "map_max_s": 9, "reduce_tasks": 0}, "load": {"kind": "batch", "jobs": 3, "at_s": [60]}, "deadlines": {"at_s": 150}}
  ],
  "horizon_s": 4000, "warm_up_s": 100, "seed": 1, "replications": 3, "limits": {"events": 1000000, "jobs": 1000}
}`

// The readable members of an input, and the members of an answer.
func TestTheShapeOfInputAndAnswer(t *testing.T) {
	shapeOf(t, everyMember, map[string][]string{
		"":                                {"classes", "events", "pools", "replications", "seed", "simulated_s", "stopped", "unstable", "warnings"},
		"pools/0":                         {"offered", "pool", "slots", "use", "waiting"},
		"classes/0":                       {"bounds", "counted", "deadline", "ended", "from_first_slot_s", "in_system", "name", "per_hour", "place_from_first_slot", "place_from_submission", "response_s", "slots", "submitted", "unfinished", "wait_s"},
		"classes/0/response_s":            {"deviation", "half_width", "max", "mean", "min", "p50", "p90", "p95", "p99"},
		"classes/0/deadline":              {"deadline_s", "met", "missed", "unfinished_late"},
		"classes/0/bounds":                {"average_s", "lower_s", "premise_ok", "upper_s"},
		"classes/0/place_from_submission": {"above_upper", "average_to_upper", "below_lower", "lower_to_average"},
		"classes/0/slots":                 {"map", "reduce", "waiting"},
		"classes/0/in_system":             {"half_width", "mean"},
	})
	shapeOf(t, everyMemberOnNodes, map[string][]string{
		"":                   {"classes", "events", "nodes", "pools", "replications", "seed", "simulated_s", "stopped", "unstable", "warnings"},
		"nodes":              {"below_one", "data_nodes", "share_sum", "types"},
		"nodes/types/0":      {"nodes", "residual", "slots", "tasks", "type", "use"},
		"nodes/data_nodes":   {"mb_s", "most_mb_s", "over_cap"},
		"classes/0/on_nodes": {"below_part", "last_end_s", "rejected", "share", "task_s"},
	})
}

func read(t *testing.T, input string) (in Input) {
	d := json.NewDecoder(strings.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		t.Fatal(err)
	}
	return in
}

func shapeOf(t *testing.T, input string, shape map[string][]string) {
	b, err := json.Marshal(simulate(t, read(t, input)))
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatal(err)
	}
	for at, want := range shape {
		var here any = answer
		for _, step := range strings.FieldsFunc(at, func(r rune) bool { return r == '/' }) {
			switch x := here.(type) {
			case map[string]any:
				here = x[step]
			case []any:
				here = x[0]
			}
		}
		var got []string
		for name := range here.(map[string]any) {
			got = append(got, name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("members of %q: got %q, want %q", at, got, want)
		}
	}
}
