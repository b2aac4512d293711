package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/perf"
)

// batches draws workloads of 5 to 12 jobs on up to 16 machines, with extra VMs on most of them.
func batches(count int) (all []pack.PackingProblem) {
	random := rand.New(rand.NewPCG(31, 32))
	for len(all) < count {
		p := pack.PackingProblem{Options: pack.DefaultPackingOptions()}
		p.Machines = pack.Machines{Count: 2 + int64(random.IntN(15)), Disks: 1 + int64(random.IntN(4)), Penalty: 1}
		if random.IntN(4) > 0 {
			p.Machines.HostsPerExtra = 1 + int64(random.IntN(int(p.Machines.Disks)))
			p.Machines.Penalty = 1 + math.Round(50*random.Float64())/100
		}
		for i := range 5 + random.IntN(8) {
			p.Jobs = append(p.Jobs, pack.BatchJob{
				Name: fmt.Sprintf("job %d", i+1), Count: 1, Role: []perf.JobRole{perf.PlainRole, perf.HostRole, perf.GuestRole}[random.IntN(3)],
				MinVMs: 1 + int64(random.IntN(int(1+p.Machines.VMs()/2))), Model: &perf.PowerModel{A: math.Exp(3 + 6*random.Float64()), B: -1.3 * random.Float64()},
			})
		}
		p.Options.Seed, p.Options.Placement = uint64(len(all)), false
		all = append(all, p)
	}
	return all
}

// comparePackings packs random workloads exactly and by the paper's swarm of 1,500 particles and 200 flights. It
// prints the swarm's extra length and the times of both.
func comparePackings(ctx context.Context, count int, out, progress io.Writer) error {
	if count == 0 {
		return nil
	}
	fmt.Fprintf(progress, "%d packings beside the swarm's\n", count)
	var longer []float64
	var took [2][]time.Duration
	slower := 0
	for i, p := range batches(count) {
		var busy [2]float64
		for k, algorithm := range []pack.PackingAlgorithm{pack.PackMulti, pack.PackSwarm} {
			p.Options.Algorithm = algorithm
			before, err := ownCPU()
			if err != nil {
				return err
			}
			a, err := pack.Pack(ctx, p, nil)
			if err != nil {
				return fmt.Errorf("pack workload %d by %s: %w", i, algorithm, err)
			}
			after, err := ownCPU()
			if err != nil {
				return err
			}
			if algorithm == pack.PackMulti && a.Status != pack.PackingOptimal {
				return fmt.Errorf("the packing of workload %d is not proved", i)
			}
			busy[k], took[k] = a.BusySeconds, append(took[k], after-before)
		}
		if busy[1] < busy[0]*(1-proofNoise) {
			return errors.New("the swarm found a shorter packing than the shortest")
		}
		if took[0][i] > took[1][i] {
			slower++
		}
		longer = append(longer, 100*(busy[1]/busy[0]-1))
	}
	slices.Sort(longer)
	for k := range took {
		slices.Sort(took[k])
	}
	last := count - 1
	_, err := fmt.Fprintf(out, "\n%d random batches of 5 to 12 jobs: the swarm's packings are %.1f %% longer in the median, %.1f %% at worst, never shorter.\n"+
		"CPU milliseconds: exact %s in the median, %s at worst; swarm %s and %s. The exact method was slower on %d.\n",
		count, longer[count/2], longer[last], ms(took[0][count/2]), ms(took[0][last]), ms(took[1][count/2]), ms(took[1][last]), slower)
	return err
}
