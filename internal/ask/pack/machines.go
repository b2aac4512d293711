package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// Packer packs a batch; it is Pack with a solver, and with a time for each batch.
type Packer func(context.Context, PackingProblem) (Packing, error)

// compared returns the algorithms for Compare, that of the slowest packing first; the swarm is left out if the batch
// is too large for it.
func compared(p PackingProblem) []PackingAlgorithm {
	jobs := int64(0)
	for _, j := range p.Jobs {
		jobs += j.Count
	}
	if jobs > maxSwarming {
		return []PackingAlgorithm{PackSequential, PackPair, PackMulti}
	}
	return []PackingAlgorithm{PackSequential, PackPair, PackSwarm, PackMulti}
}

// Compare packs a batch by every algorithm.
func Compare(ctx context.Context, p PackingProblem, pack Packer) (all []Packing, err error) {
	for _, a := range compared(p) {
		p.Options.Algorithm = a
		packing, err := pack(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, packing)
	}
	// The lower bound holds for the swarm as well.
	if multi, swarm := all[len(all)-1], &all[len(all)-2]; swarm.Algorithm == PackSwarm && swarm.BusySeconds > 0 {
		swarm.LowerBoundSeconds = max(swarm.LowerBoundSeconds, min(multi.LowerBoundSeconds, swarm.BusySeconds))
		swarm.Gap = (swarm.BusySeconds - swarm.LowerBoundSeconds) / swarm.BusySeconds
		if swarm.Gap <= provedGap {
			swarm.Gap, swarm.Status = 0, PackingOptimal
		}
	}
	return all, nil
}

// fewestMachines returns the fewest machines on which a batch ends within by seconds, and its packing there.
//
// More machines never lengthen the shortest packing, because a packing on some machines also fits on more. So the
// sufficient numbers are all those from one on. Fewer are proved insufficient if the lower bound on one machine less
// exceeds by. If packings are not proved shortest, the answer need not be either, and says so.
func fewestMachines(ctx context.Context, p PackingProblem, by float64, pack Packer) (MachinesAnswer, error) {
	if !(by > 0 && by <= capacity.MaxSeconds) {
		return MachinesAnswer{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/by_s", Code: "range",
			Detail: fmt.Sprintf("The batch cannot be done by %g seconds; give more than 0 and at most %g.", by, capacity.MaxSeconds)}}}
	}
	answer := MachinesAnswer{BySeconds: by, Tried: []TriedMachines{}}
	placement := p.Options.Placement
	p.Options.Placement = false
	var failed error
	tried := map[int]Packing{}
	done := func(machines int) bool {
		if failed != nil {
			return true
		}
		p.Machines.Count = int64(machines)
		packing, err := pack(ctx, p)
		if err != nil {
			failed = err
			return true
		}
		tried[machines] = packing
		answer.Tried = append(answer.Tried, TriedMachines{
			Machines: int64(machines), EndSeconds: packing.EndSeconds, LowerBoundSeconds: packing.LowerBoundSeconds})
		return packing.EndSeconds <= by*(1+same)
	}
	smallest, highest, err := span(p)
	if err != nil {
		return MachinesAnswer{}, err
	}
	machines := lowest(smallest, highest+1, done)
	if failed != nil {
		return MachinesAnswer{}, failed
	}
	slices.SortFunc(answer.Tried, func(a, b TriedMachines) int { return cmp.Compare(a.Machines, b.Machines) })
	if machines > highest {
		end := answer.Tried[len(answer.Tried)-1]
		return MachinesAnswer{}, fmt.Errorf("even %d machines, the most that batches are packed onto, take %.6g s and not %.6g s: %w", end.Machines, end.EndSeconds, by, fault.Infeasible)
	}
	answer.Machines, answer.Proved = int64(machines), machines == smallest
	if fewer, is := tried[machines-1]; is && fewer.LowerBoundSeconds > by {
		answer.Proved = true
	}
	p.Machines.Count, p.Options.Placement = int64(machines), placement
	answer.Packing = tried[machines]
	if placement {
		answer.Packing, err = pack(ctx, p)
	}
	return answer, err
}

// span returns the fewest machines that fit every job, and the most that are allowed.
func span(p PackingProblem) (lowest, limit int, err error) {
	limit = int(MaxPackedVMs / max(1, p.Machines.Disks)) // wrong disks are refused below
	p.Machines.Count = int64(max(1, limit))
	if err := p.Validate(); err != nil {
		return 0, 0, err
	}
	needs := int64(1)
	var findings []fault.Finding
	for i, j := range p.Jobs {
		packed, _, err := model(j, p.Options)
		var wrong *fault.InputError
		if errors.As(err, &wrong) {
			findings = append(findings, below(fmt.Sprintf("/jobs/%d/measurements", i), wrong)...)
			continue
		}
		needs = max(needs, packed.MinVMs)
	}
	if len(findings) > 0 {
		return 0, 0, &fault.InputError{Findings: findings}
	}
	return ceilDiv(int(needs), int(p.Machines.Disks)), limit, nil
}
