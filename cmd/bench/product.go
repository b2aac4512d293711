package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
	"unicode/utf8"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/sim"
)

// figure is a measured figure of the product, with its goal.
type figure struct {
	what, goal, reached string
	missed              bool
}

// measureProduct measures the simulator and the packer in this process, and the program as a server, and prints a table.
func measureProduct(ctx context.Context, headroom, dir string, out, progress io.Writer) error {
	var all []figure
	for _, measure := range []func(context.Context) ([]figure, error){
		simulations,
		sixteenJobs,
		func(ctx context.Context) ([]figure, error) { return service(ctx, headroom, dir) },
	} {
		found, err := measure(ctx)
		if err != nil {
			return err
		}
		for _, f := range found {
			fmt.Fprintf(progress, "%s: %s\n", f.what, f.reached)
		}
		all = append(all, found...)
	}
	widths := [3]int{}
	for _, f := range all {
		for i, text := range [3]string{f.what, f.reached, f.goal} {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	if _, err := fmt.Fprintln(out, "\nThe product, on this machine in this run:"); err != nil {
		return err
	}
	for _, f := range all {
		verdict := ""
		switch {
		case f.goal == "":
		case f.missed:
			verdict = ": missed"
		default:
			verdict = ": reached"
		}
		pad := func(i int, text string) string { return fmt.Sprintf("%-*s", widths[i], text) }
		if _, err := fmt.Fprintf(out, "%s  %s  %s%s\n", pad(0, f.what), pad(1, f.reached), f.goal, verdict); err != nil {
			return err
		}
	}
	return nil
}

// middle returns the median.
func middle[T ~int64 | ~float64](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return perf.Median(all)
}

// cluster128 has three classes of the size of the paper's Table 2 that keep 128 cores busy.
func cluster128(tasks sim.TaskKind, horizon float64) sim.Input {
	in := sim.Input{Slots: sim.Slots{Map: 64, Reduce: 64}, HorizonSeconds: horizon, Seed: 1}
	for i := range 3 {
		in.Classes = append(in.Classes, sim.Class{
			Name: fmt.Sprintf("class %d", i), DeadlineSeconds: 900, Load: sim.Load{Kind: sim.Closed, Users: 5, ThinkSeconds: 30},
			Profile: capacity.Profile{
				MapTasks: 385, MapAvgSeconds: 34, MapMaxSeconds: 68,
				ReduceTasks: 48, FirstShuffleAvgSeconds: 10, FirstShuffleMaxSeconds: 20, ShuffleAvgSeconds: 45, ShuffleMaxSeconds: 90,
				ReduceAvgSeconds: 22, ReduceMaxSeconds: 45,
			},
		})
		in.Classes[i].Tasks.Kind = tasks
	}
	return in
}

// simulations measures the simulator on one thread.
func simulations(ctx context.Context) (found []figure, err error) {
	for _, tasks := range []sim.TaskKind{sim.Constant, sim.Lognormal} {
		var rates []float64
		for range 5 {
			in := cluster128(tasks, 1e9)
			in.Limits.Events = 1_000_000
			s, err := sim.New(in)
			if err != nil {
				return nil, fmt.Errorf("simulate: %w", err)
			}
			runtime.GC()
			before, err := ownCPU()
			if err != nil {
				return nil, err
			}
			if err := s.Work(ctx); err != nil {
				return nil, fmt.Errorf("simulate: %w", err)
			}
			after, err := ownCPU()
			if err != nil {
				return nil, err
			}
			rates = append(rates, float64(s.Report().Events)/(after-before).Seconds()/1e6)
		}
		rate := middle(rates)
		found = append(found, figure{fmt.Sprintf("simulator, %s task times", tasks), "≥ 3 million events per second of CPU", fmt.Sprintf("%.1f million", rate), rate < 3})
	}
	var took []time.Duration
	for range 9 {
		before, err := ownCPU()
		if err != nil {
			return nil, err
		}
		if _, err := sim.Run(ctx, cluster128("", 3600), 1); err != nil {
			return nil, fmt.Errorf("simulate an hour: %w", err)
		}
		after, err := ownCPU()
		if err != nil {
			return nil, err
		}
		took = append(took, after-before)
	}
	hour := middle(took)
	return append(found, figure{"an hour of 128 cores, simulated", "≤ 50 ms of CPU", ms(hour) + " ms", hour > 50*time.Millisecond}), nil
}

// sixteenJobs packs batches of 16 jobs exactly and by the paper's swarm.
func sixteenJobs(ctx context.Context) ([]figure, error) {
	random := rand.New(rand.NewPCG(16, 16))
	var worst time.Duration
	shorter := 0
	const batches = 20
	for range batches {
		p := pack.PackingProblem{
			Machines: pack.Machines{Count: 11 + int64(random.IntN(40)), Disks: 4, HostsPerExtra: 2, Penalty: 1.15}, Options: pack.DefaultPackingOptions(),
		}
		for i := range 16 {
			p.Jobs = append(p.Jobs, pack.BatchJob{
				Name: fmt.Sprintf("job %d", i+1), Count: 1, Role: []perf.JobRole{perf.HostRole, perf.GuestRole}[i%2], MinVMs: 2 + int64(random.IntN(8)),
				Model: &perf.PowerModel{A: 500 + 5000*random.Float64(), B: -0.5 - 0.5*random.Float64()},
			})
		}
		var busy [2]float64
		for k, algorithm := range []pack.PackingAlgorithm{pack.PackMulti, pack.PackSwarm} {
			p.Options.Algorithm = algorithm
			before, err := ownCPU()
			if err != nil {
				return nil, err
			}
			a, err := pack.Pack(ctx, p, nil)
			if err != nil {
				return nil, fmt.Errorf("pack 16 jobs by %s: %w", algorithm, err)
			}
			if algorithm == pack.PackMulti {
				after, err := ownCPU()
				if err != nil {
					return nil, err
				}
				worst = max(worst, after-before)
				if a.Status != pack.PackingOptimal {
					worst = math.MaxInt64
				}
			}
			busy[k] = a.BusySeconds
		}
		if busy[1] < busy[0]*(1-proofNoise) {
			shorter++
		}
	}
	reached := fmt.Sprintf("%s ms at worst, the swarm's shorter in %d of %d", ms(worst), shorter, batches)
	return []figure{{"packing of 16 jobs, exact", "≤ 1 s of CPU, never longer than the swarm's", reached, worst > time.Second || shorter > 0}}, nil
}
