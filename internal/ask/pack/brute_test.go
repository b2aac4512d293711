package pack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/perf"
)

// brute returns the smallest total over every partition into phases, every role of every job and every way to put VMs
// on machines, each machine by itself.
func brute(b *batch) float64 {
	var jobs []int
	for i := range b.kinds {
		jobs = append(jobs, slices.Repeat([]int{i}, b.kinds[i].count)...)
	}
	best := make([]float64, 1<<len(jobs))
	for set := 1; set < len(best); set++ {
		best[set] = math.Inf(1)
		for sub := set; sub > 0; sub = (sub - 1) & set {
			var in []int
			for i, kind := range jobs {
				if sub>>i&1 == 1 {
					in = append(in, kind)
				}
			}
			if rest := best[set&^sub]; rest < best[set] {
				best[set] = min(best[set], rest+brutePhase(b, in))
			}
		}
	}
	return best[len(best)-1]
}

// brutePhase returns the shortest time of a phase.
func brutePhase(b *batch, jobs []int) float64 {
	best := math.Inf(1)
	roles := make([]perf.JobRole, len(jobs))
	var assign func(i int)
	assign = func(i int) {
		if i == len(jobs) {
			best = min(best, bruteRoles(b, jobs, roles))
			return
		}
		for _, role := range []perf.JobRole{perf.PlainRole, b.kinds[jobs[i]].role} {
			roles[i] = role
			assign(i + 1)
			if b.kinds[jobs[i]].role == perf.PlainRole {
				return
			}
		}
	}
	assign(0)
	return best
}

func bruteRoles(b *batch, jobs []int, roles []perf.JobRole) float64 {
	type vector [8]int
	var machine []vector // what one machine can carry
	var fill func(i, disks int, v vector, extras bool)
	fill = func(i, disks int, v vector, extras bool) {
		if i == len(jobs) {
			hosts, guests := 0, 0
			for j := range jobs {
				switch roles[j] {
				case perf.HostRole:
					hosts += v[j]
				case perf.GuestRole:
					guests += v[j]
				case perf.PlainRole:
					if extras && v[j] > 0 {
						return
					}
				}
			}
			if guests == 0 || extras && b.hostsPerExtra > 0 && guests <= hosts/b.hostsPerExtra {
				machine = append(machine, v)
			}
			return
		}
		limit := disks
		if roles[i] == perf.GuestRole {
			if limit = 0; extras {
				limit = b.perMachine
			}
		}
		for n := 0; n <= limit; n++ {
			w := v
			w[i] = n
			if left := disks - n; roles[i] != perf.GuestRole {
				fill(i+1, left, w, extras)
			} else {
				fill(i+1, disks, w, extras)
			}
		}
	}
	fill(0, b.disks, vector{}, false)
	if b.perMachine > 0 {
		fill(0, b.disks, vector{}, true)
	}
	all := map[vector]bool{{}: true}
	for range b.machines {
		next := map[vector]bool{}
		for v := range all {
			for _, m := range machine {
				w := v
				for j := range jobs {
					w[j] += m[j]
				}
				next[w] = true
			}
		}
		all = next
	}
	best := math.Inf(1)
	for v := range all {
		longest := 0.0
		for j, kind := range jobs {
			t := math.Inf(1)
			if v[j] > 0 {
				t = b.kinds[kind].times[v[j]]
			}
			if roles[j] != perf.PlainRole {
				t *= b.penalty
			}
			longest = max(longest, t)
		}
		best = min(best, longest)
	}
	return best
}

func packed(t *testing.T, p PackingProblem, algorithm PackingAlgorithm) Packing {
	t.Helper()
	p.Options.Algorithm = algorithm
	a, err := Pack(t.Context(), p, nil)
	if err != nil {
		t.Fatalf("%v\n%+v", err, p)
	}
	if wrong := Recheck(p, a); len(wrong) > 0 {
		t.Fatalf("%s: %v\n%+v", algorithm, wrong, p)
	}
	return a
}

func TestPackingsAreTheShortestOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	tested, roles := 0, 0
	for tested < 300 {
		p := draw(r, tiny)
		b, err := ready(p)
		if err != nil {
			continue // measured on more VMs than exist
		}
		tested++
		a := packed(t, p, PackMulti)
		if want := brute(b); math.Abs(a.BusySeconds-want) > 1e-9*want || a.Status != PackingOptimal {
			t.Fatalf("got %g s (%s), want %g s: %+v", a.BusySeconds, a.Status, want, p)
		}
		for _, phase := range a.Phases {
			if slices.ContainsFunc(phase.Jobs, func(j PhaseJob) bool { return j.Role == perf.GuestRole }) {
				roles++
			}
		}
	}
	if roles < 10 {
		t.Errorf("only %d phases have extra VMs", roles)
	}
}

// More freedom never takes longer, and a pair takes as long as the exact method finds for two jobs.
func TestFreedomNeverCosts(t *testing.T) {
	cases := 1000
	if wholeSamples {
		cases = 10_000
	}
	r := rand.New(rand.NewPCG(13, 14))
	overcommitted := 0
	for range cases {
		p := draw(r, small)
		b, err := ready(p)
		if err != nil {
			continue
		}
		multi, pair, sequential := packed(t, p, PackMulti), packed(t, p, PackPair), packed(t, p, PackSequential)
		const rounding = 1 + 1e-9
		if multi.BusySeconds > pair.BusySeconds*rounding || pair.BusySeconds > sequential.BusySeconds*rounding {
			t.Fatalf("multi takes %g s, pairs %g s, one after the other %g s: %+v", multi.BusySeconds, pair.BusySeconds, sequential.BusySeconds, p)
		}
		f := newFitter(b, newLadder(t.Context(), b))
		for i := range b.kinds {
			for j := range i {
				alone := b.kinds[i].alone() + b.kinds[j].alone()
				want := alone
				if rung := f.shortest(contents{{j, 1}, {i, 1}}, 0); rung < f.never() {
					want = min(alone, f.times[rung])
				}
				if got := b.pair(j, i); math.Abs(got.seconds-want) > 1e-9*want {
					t.Fatalf("the pair takes %g s, exactly %g s: %+v", got.seconds, want, p)
				}
			}
		}
		for _, phase := range multi.Phases {
			for _, m := range phase.Placement {
				overcommitted += len(m.Extras)
			}
		}
	}
	if overcommitted < 100 {
		t.Errorf("only %d extra VMs were placed", overcommitted)
	}
}

// sixteen returns a batch of the size that is promised an exact packing, half hosts and half guests.
func sixteen(machines int64, jobs int, seed uint64) PackingProblem {
	r := rand.New(rand.NewPCG(seed, seed))
	p := PackingProblem{
		Machines: Machines{Count: machines, Disks: 4, HostsPerExtra: 2, Penalty: 1.15}, Options: DefaultPackingOptions(),
	}
	for i := range jobs {
		role := perf.HostRole
		if i%2 == 1 {
			role = perf.GuestRole
		}
		p.Jobs = append(p.Jobs, BatchJob{
			Name: string(rune('a'+i/26)) + string(rune('a'+i%26)), Count: 1, Role: role, MinVMs: 2 + int64(r.IntN(8)),
			Model: &perf.PowerModel{A: 500 + 5000*r.Float64(), B: -0.5 - 0.5*r.Float64()},
		})
	}
	return p
}

func BenchmarkSixteenJobs(b *testing.B) {
	for _, c := range []struct {
		name     string
		machines int64
	}{{"11 machines", 11}, {"50 machines", 50}} {
		b.Run(c.name, func(b *testing.B) {
			seed := uint64(0)
			for b.Loop() {
				seed++
				if _, err := Pack(context.Background(), sixteen(c.machines, 16, seed), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
