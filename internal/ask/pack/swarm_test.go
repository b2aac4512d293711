package pack

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The exact method is never longer than the paper's swarm with all its particles, and is faster.
func TestTheSwarmIsNeverShorter(t *testing.T) {
	cases := 4
	if wholeSamples {
		cases = 100
	}
	r := rand.New(rand.NewPCG(31, 32))
	var longer []float64
	var exact, swarm time.Duration
	slower := 0
	for len(longer) < cases {
		p := draw(r, sizes{16, 4, 12, 1})
		if _, err := ready(p); err != nil || len(p.Jobs) < 5 {
			continue
		}
		p.Options.Seed = uint64(len(longer))
		began := time.Now()
		multi := packed(t, p, PackMulti)
		took := time.Since(began)
		began = time.Now()
		pso := packed(t, p, PackSwarm)
		tookSwarm := time.Since(began)
		exact, swarm = exact+took, swarm+tookSwarm
		if took > tookSwarm {
			slower++
		}
		if multi.BusySeconds > pso.BusySeconds*(1+1e-9) {
			t.Fatalf("exactly it takes %g s, the swarm %g s: %+v", multi.BusySeconds, pso.BusySeconds, p)
		}
		longer = append(longer, 100*(pso.BusySeconds/multi.BusySeconds-1))
	}
	slices.Sort(longer)
	t.Logf("the swarm is %.1f %% longer in the median, %.1f %% at worst; exact %v, swarm %v for %d batches, exact slower in %d",
		longer[cases/2], longer[cases-1], exact.Round(time.Millisecond), swarm.Round(time.Millisecond), cases, slower)
	if exact > swarm {
		t.Errorf("the exact method takes %v, the swarm %v", exact, swarm)
	}
}

func TestTheSwarmFliesTheSameWay(t *testing.T) {
	p := sixteen(5, 5, 3)
	p.Options.Placement = false
	first, second := packed(t, p, PackSwarm), packed(t, p, PackSwarm)
	if first.BusySeconds != second.BusySeconds {
		t.Errorf("got %g s and %g s with one seed", first.BusySeconds, second.BusySeconds)
	}
}
