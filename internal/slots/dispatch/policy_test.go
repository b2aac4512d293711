package dispatch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/fault"
)

func TestReadPolicyFillsAndRefuses(t *testing.T) {
	for _, test := range []struct {
		name, document string
		filled         string // with the defaults; "" if refused
		findings       []string
	}{
		{"an order has no members", `{"kind":"fifo"}`, `{"kind":"fifo"}`, nil},
		{"progress share", `{"kind":"progress-share","max_skips":7}`, `{"kind":"progress-share","affinity_threshold":0.5,"max_skips":7}`, nil},
		{"max progress", `{"kind":"max-progress","late":"demote","io_cap_mb_s":80}`,
			`{"kind":"max-progress","mode":"default","time_factor":1.35,"whole_tasks":false,"least_residual":0.05,"io_cap_mb_s":80,"late":"demote"}`, nil},
		{"max progress as published", `{"kind":"max-progress","mode":"paper"}`,
			`{"kind":"max-progress","mode":"paper","time_factor":1,"whole_tasks":false,"least_residual":0.05,"late":"keep"}`, nil},
		{"learned", `{"kind":"learned","target":2,"utilities":[{"kind":"map_before_reduce"},{"kind":"constant"}]}`,
			`{"kind":"learned","classifier":"naive_bayes","target":2,"rules":[{"metric":"load1","limit":2,"per":"cpu"}],` +
				`"utilities":[{"kind":"map_before_reduce","slow_start":1},{"kind":"constant","value":1}],"tasks_per_heartbeat":1,"evaluation_delay_heartbeats":12,"probe_when_idle":true}`, nil},
		{"rules of its own", `{"kind":"learned","rules":[{"metric":"cpu_pct","limit":90}],"features":[{"name":"rack","words":["a","b"]},{"name":"gpu","edges":[0.5,0.9]}]}`,
			`{"kind":"learned","classifier":"naive_bayes","target":1,"rules":[{"metric":"cpu_pct","limit":90,"per":"node"}],"utilities":[{"kind":"fifo"}],` +
				`"features":[{"name":"rack","words":["a","b"]},{"name":"gpu","edges":[0.5,0.9]}],"tasks_per_heartbeat":1,"evaluation_delay_heartbeats":12,"probe_when_idle":true}`, nil},

		{"nothing", `{}`, "", []string{"/kind"}},
		{"unknown", `{"kind":"max_progress"}`, "", []string{"/kind"}},
		{"a member of another", `{"kind":"fifo","late":"keep","target":1}`, "", []string{"/late", "/target"}},
		{"thresholds of 0 let everything pass", `{"kind":"progress-share","affinity_threshold":0,"max_skips":0}`, "", []string{"/affinity_threshold", "/max_skips"}},
		{"out of range", `{"kind":"max-progress","mode":"fast","time_factor":0.5,"least_residual":2,"io_cap_mb_s":-1,"late":"drop"}`, "",
			[]string{"/mode", "/time_factor", "/least_residual", "/io_cap_mb_s", "/late"}},
		{"of a list", `{"kind":"learned","rules":[{"metric":"heat","limit":-1,"per":"rack"},{"limit":1}],"utilities":[{"kind":"fifo","value":1,"slow_start":1}]}`, "",
			[]string{"/rules/0/metric", "/rules/0/limit", "/rules/0/per", "/rules/1/metric", "/utilities/0/value", "/utilities/0/slow_start"}},
		{"features", `{"kind":"learned","features":[{"name":"a"},{"name":"a","edges":[2,1]},{"name":"b","words":["x","x"]}]}`, "",
			[]string{"/features/0", "/features/1/name", "/features/1/edges", "/features/2/words"}},
		{"not numbers", `{"kind":"learned","target":"1","tasks_per_heartbeat":1.5,"probe_when_idle":1}`, "",
			[]string{"/target", "/tasks_per_heartbeat", "/probe_when_idle"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := ReadPolicy([]byte(test.document))
			if test.filled != "" {
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(p.Filled())
				if err != nil || string(got) != test.filled {
					t.Errorf("got %s, %v\nwant %s", got, err, test.filled)
				}
				if err := p.Filled().Validate(""); err != nil {
					t.Errorf("its own defaults are refused: %v", err)
				}
				return
			}
			var input *fault.InputError
			if !errors.As(err, &input) {
				t.Fatalf("got %v, want findings", err)
			}
			pointers := map[string]bool{}
			for _, f := range input.Findings {
				pointers[f.Pointer] = true
				if !strings.HasSuffix(f.Detail, ".") {
					t.Errorf("%q is no sentence", f.Detail)
				}
			}
			want := map[string]bool{}
			for _, p := range test.findings {
				want[p] = true
			}
			if diff := cmp.Diff(want, pointers); diff != "" {
				t.Errorf("pointers (-want +got):\n%s%v", diff, err)
			}
		})
	}
}
