package api

import (
	"math"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/sim"
)

const smallInterference = `{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},"requests":2000}`

func TestInterferenceIsEstimated(t *testing.T) {
	t.Parallel()
	s := newService(t)
	planner := s.key("p", auth.Planner, nil)
	var a sim.InterferenceAnswer
	s.ask(planner, "POST", "/v1/interference/estimate", `{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},
		"policies":[{"kind":"background"},{"kind":"nonpreemptive"},{"kind":"fair"},{"kind":"anti_starvation","window_ms":1000,"floor_ms":50}],"host":{"cgroup":"/sys/fs/cgroup/night","ceiling_cores":2}}`).want(t, 200).into(t, &a)
	q, err := sim.ReadInterference([]byte(`{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},"policies":[{"kind":"background"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	same, err := sim.EstimateInterference(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if *a.Policies[0].Response != *same.Policies[0].Response || math.Abs(a.Use-0.6) > 1e-12 {
		t.Errorf("the service says %+v, the simulator %+v", a.Policies[0].Response, same.Policies[0].Response)
	}
	if got := *a.Policies[1].Theory.MeanMs; math.Abs(got-20) > 1e-9 { // half of the slice of 30 ms that is the default
		t.Errorf("nonpreemptive: %g ms in theory, want 20", got)
	}
	if fair := a.Policies[2]; !fair.Unstable || fair.Response != nil || fair.Warnings[0].Code != "unstable" {
		t.Errorf("fair: %+v", fair)
	}
	if got := a.Policies[3].Hints.Commands; !slices.Equal(got, []string{"echo '0' > /sys/fs/cgroup/night/cpu.idle", "echo '5' > /sys/fs/cgroup/night/cpu.weight", "echo '200000 100000' > /sys/fs/cgroup/night/cpu.max"}) {
		t.Errorf("commands %q", got)
	}
	// A question may be about data nodes alone: 60 MB/s are 7 tasks of 50/4/1.6 MB/s, and any number of tasks that
	// read nothing.
	var served sim.InterferenceAnswer
	s.ask(planner, "POST", "/v1/interference/estimate", `{"data_nodes":{"count":4,"cap_mb_s":60,"readers":[{"name":"terasort","read_mb_s":50,"normed":1.6},{"name":"pi","read_mb_s":0},{"name":"scan","read_mb_s":400}]}}`).want(t, 200).into(t, &served)
	if d := served.DataNodes; d == nil || len(served.Policies) != 0 || d.Readers[0].MBPerSecond != 7.8125 || *d.Readers[0].SaturatedAt != 7 || d.Readers[1].SaturatedAt != nil || *d.Readers[2].SaturatedAt != 0 || len(d.Warnings) != 1 {
		t.Errorf("got %+v", served.DataNodes)
	}
	s.ask(s.key("v", auth.Viewer, nil), "POST", "/v1/interference/estimate", smallInterference).want(t, 403)
	for body, says := range map[string]string{
		`{}`:                             "Nothing is asked",
		`{"policies":[{"kind":"fair"}]}`: "Nothing is asked",
		`{"data_nodes":{"cap_mb_s":0,"readers":[{"name":"a","read_mb_s":1}]}}`:                                                                      "/data_nodes/cap_mb_s",
		`{"data_nodes":{"cap_mb_s":1,"readers":[]}}`:                                                                                                "/data_nodes/readers",
		`{"data_nodes":{"cap_mb_s":1,"count":0,"readers":[{"name":"a","read_mb_s":1}]}}`:                                                            "/data_nodes/count",
		`{"data_nodes":{"cap_mb_s":1,"readers":[{"name":"a","read_mb_s":1e-300}]}}`:                                                                 "/data_nodes/readers/0/read_mb_s",
		`{"data_nodes":{"cap_mb_s":1,"readers":[{"name":"a","read_mb_s":1,"normed":0.5}]}}`:                                                         "/data_nodes/readers/0/normed",
		`{"interactive":{},"data_nodes":{"cap_mb_s":1,"readers":[{"name":"a","read_mb_s":1}]}}`:                                                     "/interactive",
		`{"interactive":{"per_second":0,"service":{"kind":"exponential","mean_ms":2}}}`:                                                             "/interactive/per_second",
		`{"interactive":{"per_second":1,"service":{"kind":"exponential"}}}`:                                                                         "/interactive/service/mean_ms",
		`{"interactive":{"per_second":1,"service":{"kind":"samples"}}}`:                                                                             "/interactive/service/samples_ms",
		`{"interactive":{"per_second":1,"service":{"kind":"constant","mean_ms":1}},"policies":[{"kind":"anti_starvation"}]}`:                        "/policies/0/window_ms",
		`{"interactive":{"per_second":1,"service":{"kind":"constant","mean_ms":1}},"policies":[{"kind":"background","slice_ms":3}]}`:                "/policies/0/slice_ms",
		`{"interactive":{"per_second":1,"service":{"kind":"constant","mean_ms":1}},"requests":10000000}`:                                            "/requests",
		`{"interactive":{"per_second":1,"service":{"kind":"constant","mean_ms":1}},"host":{"cgroup":"/a/../b; rm x"}}`:                              "/host/cgroup",
		`{"interactive":{"per_second":1,"service":{"kind":"constant","mean_ms":1}},"policies":[{"kind":"fair"},{"kind":"fare"}],"host":{"ceil":1}}`: "/policies/1/kind",
	} {
		p := s.ask(planner, "POST", "/v1/interference/estimate", body)
		if p.StatusCode != 400 && p.StatusCode != 422 || !strings.Contains(string(p.text), says) {
			t.Errorf("%s: %d %s", body, p.StatusCode, p.text)
		}
	}
}
