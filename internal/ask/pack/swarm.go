package pack

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
)

// The paper's particle swarm, as a baseline. A particle is a matrix of VMs by phase and job, and two flags a job. It
// flies through infeasible places and remembers feasible ones (Hu and Eberhart). A job runs in the phase with its
// largest number. That is kinder than the paper's model, where a job in two phases runs twice.
const (
	particles  = 1500
	iterations = 200
	attraction = 1.49445
	// maxSwarming bounds the jobs of a particle, whose matrix is their square.
	maxSwarming = 60
)

// packSwarm packs by the swarm.
func (b *batch) packSwarm(ctx context.Context, o PackingOptions) (Packing, error) {
	if n := b.size(); n > maxSwarming {
		return Packing{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/options/algorithm", Code: "too_many",
			Detail: fmt.Sprintf("The swarm is there for comparison and packs %d jobs at most, not %d.", maxSwarming, n),
			Hint:   &fault.Hint{Detail: `Take "multi", which is shorter as well.`, Pointer: "/options/algorithm", Value: PackMulti}}}}
	}
	all, err := b.swarm(ctx, o.Seed)
	if err != nil {
		return Packing{}, err
	}
	var phases []phase
	for _, members := range all {
		phases = append(phases, b.phase(members))
	}
	proved := b.order(phases)
	answer := b.assemble(o, phases, b.weakBound())
	answer.Deadlines = b.deadlines(phases, proved, "The order of these phases.")
	return answer, nil
}

// swarm returns the best packing that the particles find before the time ends.
func (b *batch) swarm(ctx context.Context, seed uint64) ([][]member, error) {
	var jobs []int
	for i := range b.kinds {
		jobs = append(jobs, slices.Repeat([]int{i}, b.kinds[i].count)...)
	}
	f := flight{batch: b, jobs: jobs, r: rand.New(rand.NewPCG(seed, particles)), phases: make([][]member, len(jobs))}
	dimensions := len(jobs)*len(jobs) + 2*len(jobs)
	type particle struct {
		at, velocity, best []float64
		time               float64
	}
	swarm := make([]particle, particles)
	var leader []float64
	shortest := math.Inf(1)
	for i := range swarm {
		p := &swarm[i]
		p.at = f.start(dimensions)
		p.velocity, p.best = make([]float64, dimensions), slices.Clone(p.at)
		p.time = f.time(p.at)
		if p.time < shortest {
			shortest, leader = p.time, slices.Clone(p.at)
		}
	}
	for range iterations {
		switch err := capacity.Pause(ctx); {
		case err == context.Canceled:
			return nil, context.Cause(ctx)
		case err != nil:
			return f.read(leader), nil
		}
		for i := range swarm {
			p := &swarm[i]
			inertia := 0.5 + f.r.Float64()/2
			for d, x := range p.at {
				v := inertia*p.velocity[d] + attraction*f.r.Float64()*(p.best[d]-x) + attraction*f.r.Float64()*(leader[d]-x)
				p.velocity[d] = v
				p.at[d] = min(max(0, x+v), f.highest(d))
			}
			if t := f.time(p.at); t < p.time {
				p.time = t
				copy(p.best, p.at)
				if t < shortest {
					shortest = t
					copy(leader, p.at)
				}
			}
		}
	}
	return f.read(leader), nil
}

// flight evaluates particles.
type flight struct {
	*batch
	jobs   []int
	r      *rand.Rand
	phases [][]member
}

// highest returns the largest value of a dimension.
func (f *flight) highest(d int) float64 {
	if d < len(f.jobs)*len(f.jobs) {
		return float64(f.vms)
	}
	return 1
}

// start returns a random feasible place: every job in a phase that has room for it, and the remaining VMs shared out.
func (f *flight) start(dimensions int) []float64 {
	n := len(f.jobs)
	at := make([]float64, dimensions)
	left := make([]int, n)
	in := make([]int, n)
	for i := range left {
		left[i] = f.vms
	}
	for _, j := range f.r.Perm(n) {
		lowest := f.kinds[f.jobs[j]].minVMs
		in[j] = f.r.IntN(n)
		for left[in[j]] < lowest {
			in[j] = (in[j] + 1) % n
		}
		left[in[j]] -= lowest
		at[in[j]*n+j] = float64(lowest)
	}
	for _, j := range f.r.Perm(n) {
		more := f.r.IntN(left[in[j]] + 1)
		at[in[j]*n+j] += float64(more)
		left[in[j]] -= more
	}
	plain := slices.Clone(at)
	for d := n * n; d < dimensions; d++ {
		at[d] = f.r.Float64()
	}
	if math.IsInf(f.time(at), 1) {
		return plain
	}
	return at
}

// read returns the phases of a place; those without jobs are left out.
func (f *flight) read(at []float64) (phases [][]member) {
	f.decode(at)
	for _, p := range f.phases {
		if len(p) > 0 {
			phases = append(phases, slices.Clone(p))
		}
	}
	return phases
}

func (f *flight) decode(at []float64) {
	n := len(f.jobs)
	for i := range f.phases {
		f.phases[i] = f.phases[i][:0]
	}
	for j, kind := range f.jobs {
		phase := 0
		for i := range n {
			if at[i*n+j] > at[phase*n+j] {
				phase = i
			}
		}
		m := member{kind: kind, role: perf.PlainRole, vms: int(math.Round(at[phase*n+j]))}
		switch role := f.kinds[kind].role; {
		case role == perf.HostRole && at[n*n+j] > 0.5, role == perf.GuestRole && at[n*n+n+j] > 0.5:
			m.role = role
		}
		f.phases[phase] = append(f.phases[phase], m)
	}
}

// time returns the duration of a place; infinite if it is infeasible.
func (f *flight) time(at []float64) (total float64) {
	f.decode(at)
	for _, phase := range f.phases {
		var plain, hosts, extras int
		longest := 0.0
		for _, m := range phase {
			switch m.role {
			case perf.PlainRole:
				plain += m.vms
			case perf.HostRole:
				hosts += m.vms
			default:
				extras += m.vms
			}
			if m.vms < f.kinds[m.kind].minVMs || m.vms > f.vms {
				return math.Inf(1)
			}
			longest = max(longest, f.seconds(m))
		}
		if plain+hosts > f.vms || extras > 0 && (extras > (f.machines-ceilDiv(plain, f.disks))*f.perMachine || f.hostsPerExtra*extras > hosts) {
			return math.Inf(1)
		}
		total += longest
	}
	return total
}
