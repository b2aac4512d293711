package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
)

var scalability = Experiment{
	Name:   "scalability",
	About:  "how long it takes to plan many classes",
	Source: capacityPaper + ", section 5.3",
	Claim:  "The integer program of 20 to 1,000 classes is solved in less than 0.08 s on average and in less than 0.5 s always.",
	Method: "7 numbers of classes from 20 to 1,000, 5 instances of Table 2 each; penalties by the paper's rule, which refuses nothing, and spread so that admission has to choose (mixed). " +
		"Each is solved by CBC and by Headroom's own method, which proves its plan without a solver. Times are elapsed, the shortest of three runs, one at a time, because whatever else the machine does only adds to them.",
	NeedsSolver: true,
	run:         runScalability,
}

const (
	claimedMeanSeconds, claimedMostSeconds = 0.08, 0.5
	timedRuns                              = 3
	// sameCost is the relative difference allowed between the costs of two optima: twice the requested gap.
	sameCost = 2e-6
)

func runScalability(ctx context.Context, b *bench) error {
	sizes := points(b, []int{20, 50, 100, 200, 400, 700, 1000}, []int{20, 200, 1000})
	instances := b.instances(5, 2)
	b.ran("7 numbers", counted(len(sizes), "number"))
	b.ran("5 instances", counted(instances, "instance"))
	names := []string{"table2", "mixed"}
	b.total = len(sizes) * instances * len(names)
	b.Columns = []string{"family", "classes", "instances", "cbc_mean_seconds", "cbc_most_seconds", "ours_mean_seconds", "ours_most_seconds", "cost_difference_most"}
	if err := b.warmUp(ctx); err != nil {
		return err
	}
	for _, name := range names {
		var cbc, ours []float64
		apart := 0.0
		b.drawn = 0
		for _, n := range sizes {
			from, apartHere := len(cbc), 0.0
			for range instances {
				in, err := study.Generate(name, n, b.nextSeed())
				if err != nil {
					return err
				}
				r, err := b.race(ctx, in)
				if err != nil {
					return err
				}
				cbc, ours, apartHere = append(cbc, r.cbc), append(ours, r.ours), max(apartHere, r.apart)
				b.step()
			}
			apart = max(apart, apartHere)
			b.row(name, n, instances, mean(cbc[from:]), quantile(cbc[from:], 1), mean(ours[from:]), quantile(ours[from:], 1), apartHere)
		}
		for _, who := range []struct {
			name  string
			times []float64
		}{{"CBC", cbc}, {"Headroom", ours}} {
			p := printed{name: "mean-time", says: "20 to 1,000 classes are planned in less than 0.08 s on average.", least: -noLimit, most: claimedMeanSeconds, apart: true,
				protocol: "Instances of Table 2, solved by CPLEX on the paper's machine.", ours: "Instances of Table 2, solved by CBC on this machine.",
				departs: "Times of another solver on another machine say nothing of the paper's."}
			average := b.within(fmt.Sprintf("%s, %s: mean time", name, who.name), "< 0.08 s", mean(who.times), "s", 0, noLimit)
			judged := name == "table2" && who.name == "CBC"
			if judged {
				b.judge(average, p)
			}
			longest := b.within(fmt.Sprintf("%s, %s: longest time", name, who.name), "< 0.5 s", quantile(who.times, 1), "s", 0, noLimit)
			if judged {
				p.name, p.says, p.most = "longest-time", "20 to 1,000 classes are always planned in less than 0.5 s.", claimedMostSeconds
				b.judge(longest, p)
			}
		}
		b.within(name+": Headroom's mean time as a part of CBC's in the same run", "", mean(ours)/mean(cbc), "", 0, 1)
		b.within(name+": largest relative difference of cost", "", apart, "", 0, sameCost)
	}
	b.note("table2 has the paper's rule for penalties, 10 times what a job costs on demand: nothing is ever worth refusing, so these instances do not exercise admission. mixed does.")
	b.note("Times depend on the machine and on what else it does, so that they have no band. What else it does slows both methods in the same run: the band is that of their ratio.")
	return nil
}

// race holds the times of both for an instance, in seconds, and the relative difference of their costs.
type race struct{ cbc, ours, apart float64 }

func (b *bench) race(ctx context.Context, in study.Instance) (race, error) {
	program, problem := in.Program(), in.Problem()
	problem.Options.Engine = capacity.EngineExact
	var r race
	var jobs, cbcJobs []int64
	var err error
	r.ours, err = b.timed(func() error {
		pl, err := b.solved(ctx, problem)
		if err != nil {
			return err
		}
		jobs = jobs[:0]
		for _, c := range pl.Classes {
			jobs = append(jobs, int64(math.Round(c.Admitted)))
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	r.cbc, err = b.timed(func() error {
		cbcJobs, err = b.ask(ctx, in, program, problem.Options.Gap)
		return err
	})
	if err != nil {
		return r, err
	}
	ours, cbc := in.Objective(jobs), in.Objective(cbcJobs)
	r.apart = math.Abs(ours-cbc) / max(1, math.Abs(ours))
	return r, nil
}

// ask lets CBC solve an instance.
func (b *bench) ask(ctx context.Context, in study.Instance, program *lp.Program, gap float64) ([]int64, error) {
	s, err := b.Solver.Solve(ctx, program, lp.Options{Gap: gap})
	if err != nil {
		return nil, err
	}
	if s.Status != lp.Optimal {
		return nil, fmt.Errorf("CBC ends %s, seed %d, %d classes as %s: %w", in.Family, in.Seed, len(in.Gamma), s.Status, errNotProved)
	}
	var jobs []int64
	for _, x := range s.X[len(in.Supply):] {
		jobs = append(jobs, int64(math.Round(x)))
	}
	return jobs, nil
}

// timed returns the shortest time of a few runs, in seconds.
func (b *bench) timed(do func() error) (float64, error) {
	var times []float64
	for range timedRuns {
		began := b.Clock()
		if err := do(); err != nil {
			return 0, err
		}
		times = append(times, b.Clock().Sub(began).Seconds())
	}
	return slices.Min(times), nil
}

// warmUp starts the solver's process before anything is timed.
func (b *bench) warmUp(ctx context.Context) error {
	in, err := study.Generate("mixed", 20, b.Seed)
	if err == nil {
		_, err = b.race(ctx, in)
	}
	return err
}
