package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/perf"
)

// Batches beyond the exact method are packed by Headroom and by CP-SAT in the same time.

var batchSizes = []struct {
	jobs     int
	machines int64
}{{40, 50}, {200, 100}}

const batchLimit = 10 * time.Second

//go:embed packing.py
var packingProgram string

// cpSAT names the peer that packs.
const cpSAT = "cp-sat"

func (b *beside) batches(ctx context.Context, seeds int) (*contest, error) {
	t := &contest{solvers: b.solvers([]string{cpSAT}), group: "size", measured: "its length",
		about: fmt.Sprintf("Drawn batches of jobs, packed within %s. CP-SAT may use as many phases as Headroom's packing has, and a quarter more; its bound holds for these", batchLimit)}
	for _, size := range batchSizes {
		group := fmt.Sprintf("%d jobs, %d machines", size.jobs, size.machines)
		for seed := 1; seed <= seeds; seed++ {
			fmt.Fprintf(b.progress, "batch, %s, seed %d\n", group, seed)
			if err := b.batch(ctx, t, group, largeBatch(size.machines, size.jobs, uint64(seed)), batchLimit); err != nil {
				return nil, fmt.Errorf("batch, %s, seed %d: %w", group, seed, err)
			}
		}
	}
	return t, nil
}

// largeBatch draws jobs of which every other one may host extra VMs, and the others may run on them.
func largeBatch(machines int64, jobs int, seed uint64) pack.PackingProblem {
	random := rand.New(rand.NewPCG(seed, 40))
	p := pack.PackingProblem{Machines: pack.Machines{Count: machines, Disks: 4, HostsPerExtra: 2, Penalty: 1.15}, Options: pack.DefaultPackingOptions()}
	for i := range jobs {
		p.Jobs = append(p.Jobs, pack.BatchJob{
			Name: fmt.Sprintf("job %d", i+1), Count: 1, Role: []perf.JobRole{perf.HostRole, perf.GuestRole}[i%2], MinVMs: 2 + int64(random.IntN(8)),
			Model: &perf.PowerModel{A: 500 + 5000*random.Float64(), B: -0.5 - 0.5*random.Float64()},
		})
	}
	p.Options.Placement = false
	return p
}

// batch packs one batch by both.
func (b *beside) batch(ctx context.Context, t *contest, group string, p pack.PackingProblem, limit time.Duration) error {
	var mine pack.Packing
	took, err := within(ctx, limit, func(ctx context.Context) (err error) {
		mine, err = pack.Pack(ctx, p, b.pool)
		return err
	})
	if err != nil {
		return err
	}
	round := []found{{cost: mine.BusySeconds, bound: mine.LowerBoundSeconds, took: took}}
	if len(t.solvers) > 1 {
		theirs, err := b.packByCPSAT(ctx, p, len(mine.Phases)+(len(mine.Phases)+3)/4, limit)
		if err != nil {
			return fmt.Errorf("%s: %w", cpSAT, err)
		}
		round = append(round, theirs)
	}
	return t.addCosts(group, round)
}

// cpJob is a job for CP-SAT: its times from its fewest VMs on.
type cpJob struct {
	Role    perf.JobRole `json:"role"`
	MinVMs  int64        `json:"min_vms"`
	Seconds []float64    `json:"seconds"`
}

// placedJob names the place of a job in CP-SAT's packing.
type placedJob struct {
	Phase   int   `json:"phase"`
	VMs     int64 `json:"vms"`
	Special bool  `json:"special"` // in its role
}

func (b *beside) packByCPSAT(ctx context.Context, p pack.PackingProblem, phases int, limit time.Duration) (found, error) {
	jobs := make([]cpJob, len(p.Jobs))
	for i, j := range p.Jobs {
		jobs[i] = cpJob{Role: j.Role, MinVMs: j.MinVMs}
		for n := j.MinVMs; n <= p.Machines.VMs(); n++ {
			jobs[i].Seconds = append(jobs[i].Seconds, secondsOn(j, n))
		}
	}
	text, err := json.Marshal(map[string]any{"jobs": jobs, "vms": p.Machines.VMs(), "machines": p.Machines.Count, "disks": p.Machines.Disks,
		"extras": p.Machines.Disks / p.Machines.HostsPerExtra, "penalty": p.Machines.Penalty, "phases": phases, "limit_s": limit.Seconds()})
	if err != nil {
		return found{}, err
	}
	file := filepath.Join(filepath.Dir(b.file), "batch.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return found{}, err
	}
	output, cpu, err := runPeer(ctx, question{limit: limit}, b.python, "-c", packingProgram, file)
	none := found{cost: math.Inf(1), bound: math.NaN(), took: cpu}
	if err != nil {
		_, err = ended(cpu, err)
		return none, err
	}
	var reply struct {
		Jobs    []placedJob `json:"jobs"`
		Bound   float64     `json:"bound"`
		Seconds float64     `json:"cpu_s"`
	}
	if err := json.Unmarshal(output, &reply); err != nil {
		return found{}, fmt.Errorf("read the answer: %w", err)
	}
	none.bound, none.took = reply.Bound, time.Duration(reply.Seconds*float64(time.Second))
	none.cost = lengthOf(p, reply.Jobs)
	return none, nil
}

// secondsOn returns the time of a job on so many VMs.
func secondsOn(j pack.BatchJob, vms int64) float64 {
	return j.Model.A * math.Pow(float64(vms), j.Model.B)
}

// lengthOf returns the length of all phases together; infinite where jobs are missing, or do not fit.
func lengthOf(p pack.PackingProblem, jobs []placedJob) (sum float64) {
	type phase struct {
		plain, hosts, guests int64
		seconds              float64
	}
	if len(jobs) != len(p.Jobs) {
		return math.Inf(1)
	}
	last := slices.MaxFunc(jobs, func(a, b placedJob) int { return cmp.Compare(a.Phase, b.Phase) }).Phase
	phases := make([]phase, last+1)
	for i, j := range jobs {
		k := &phases[j.Phase]
		of, seconds := &k.plain, secondsOn(p.Jobs[i], j.VMs)
		if j.Special {
			seconds *= p.Machines.Penalty
			if of = &k.guests; p.Jobs[i].Role == perf.HostRole {
				of = &k.hosts
			}
		}
		if *of += j.VMs; j.VMs < p.Jobs[i].MinVMs || j.Special && p.Jobs[i].Role == perf.PlainRole {
			return math.Inf(1)
		}
		k.seconds = max(k.seconds, seconds)
	}
	for _, k := range phases {
		full := (k.plain + p.Machines.Disks - 1) / p.Machines.Disks
		extras := (p.Machines.Count - full) * (p.Machines.Disks / p.Machines.HostsPerExtra)
		if k.plain+k.hosts > p.Machines.VMs() || k.guests > extras || k.guests > 0 && k.hosts == 0 {
			return math.Inf(1)
		}
		sum += k.seconds
	}
	return sum
}
