package api

import (
	"math"
	"slices"
	"strings"
	"testing"

	"headroom/internal/auth"
	"headroom/internal/capacity"
	"headroom/internal/sim"
)

const smallInterference = `{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},"requests":2000}`

func TestInterferenceIsEstimated(t *testing.T) {
	t.Parallel()
	s := newService(t)
	planner := s.key("p", auth.Planner, nil)
	var a sim.InterferenceAnswer
	s.ask(planner, "POST", "/v1/interference/estimate", `{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},
		"policies":[{"kind":"background"},{"kind":"nonpreemptive"},{"kind":"fair"},{"kind":"anti_starvation","window_ms":1000,"floor_ms":50}],"host":{"cgroup":"/sys/fs/cgroup/night","ceiling_cores":2}}`).want(t, 200).into(t, &a)
	q, err := capacity.ReadInterference([]byte(`{"interactive":{"per_second":300,"service":{"kind":"exponential","mean_ms":2}},"policies":[{"kind":"background"}]}`))
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
	s.ask(s.key("v", auth.Viewer, nil), "POST", "/v1/interference/estimate", smallInterference).want(t, 403)
	for body, says := range map[string]string{
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
