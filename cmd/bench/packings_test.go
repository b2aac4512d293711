package main

import (
	"math"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/perf"
)

// Packings of CP-SAT are added up anew. So are Headroom's own here, and one that does not fit has no length.
func TestPackingsAreAddedUpAnew(t *testing.T) {
	p := largeBatch(6, 12, 1)
	a, err := pack.Pack(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for i, j := range p.Jobs {
		place[j.Name] = i
	}
	jobs, special := make([]placedJob, len(p.Jobs)), 0
	for k, phase := range a.Phases {
		for _, j := range phase.Jobs {
			jobs[place[j.Job]] = placedJob{Phase: k, VMs: j.VMs, Special: j.Role != perf.PlainRole}
			if j.Role != perf.PlainRole {
				special++
			}
		}
	}
	if got := lengthOf(p, jobs); math.Abs(got-a.BusySeconds) > 1e-9*got || special == 0 {
		t.Errorf("it takes %g s, want %g, with %d jobs as hosts and guests", got, a.BusySeconds, special)
	}
	for name, spoil := range map[string]func(){
		"too few VMs":   func() { jobs[0].VMs = 1 },
		"a missing job": func() { jobs = jobs[1:] },
		"everything there": func() {
			for i := range jobs {
				jobs[i].Phase, jobs[i].VMs = 0, 9
			}
		},
	} {
		kept := append([]placedJob{}, jobs...)
		if spoil(); !math.IsInf(lengthOf(p, jobs), 1) {
			t.Errorf("%s is taken for a packing", name)
		}
		jobs = kept
	}
}

func TestPackingsBesideTheSwarm(t *testing.T) {
	var out, progress strings.Builder
	if err := run(t.Context(), []string{"-only", "packing", "-packings", "2", "-batches", "0"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "\n2 random batches of 5 to 12 jobs: the swarm's packings are ") || !strings.Contains(out.String(), "CPU milliseconds: exact ") {
		t.Errorf("got %q", out.String())
	}
	if err := run(t.Context(), []string{"-packings", "-1"}, &out, &progress); err == nil {
		t.Error("a negative number of packings is taken")
	}
}
