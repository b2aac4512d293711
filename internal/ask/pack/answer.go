package pack

import (
	"context"
	"fmt"

	"headroom/internal/core/capacity"
)

// Answer answers a question about a batch. After each packing it calls tell with the number done and the total, 0 if
// that is unknown.
func Answer(ctx context.Context, q capacity.PackingQuestion, pack Packer, tell func(done, total int64)) (a capacity.PackingAnswer, err error) {
	done, total := int64(0), int64(1)
	one := func(ctx context.Context, p capacity.PackingProblem) (capacity.Packing, error) {
		packing, err := pack(ctx, p)
		if err == nil {
			done++
			tell(done, total)
		}
		return packing, err
	}
	switch {
	case q.Compare:
		total = int64(len(compared(q.Batch)))
		a.Compared, err = Compare(ctx, q.Batch, one)
	case q.BySeconds != 0:
		total = 0
		var machines capacity.MachinesAnswer
		machines, err = FewestMachines(ctx, q.Batch, q.BySeconds, one)
		a.Machines = &machines
	case q.OneMore:
		total = 2
		more := q.Batch
		if more.Machines.Count++; more.Machines.VMs() > capacity.MaxPackedVMs {
			return a, &capacity.InputError{Findings: []capacity.Finding{{Pointer: "/machines/count", Code: "range",
				Detail: fmt.Sprintf("There is no machine more to ask for: with one, the machines carry %d VMs, and batches are packed onto %d at most.", more.Machines.VMs(), capacity.MaxPackedVMs)}}}
		}
		var now, then capacity.Packing
		if now, err = one(ctx, q.Batch); err == nil {
			then, err = one(ctx, more)
		}
		a.Packing, a.OneMore = &now, &then
	default:
		var packing capacity.Packing
		packing, err = one(ctx, q.Batch)
		a.Packing = &packing
	}
	if err != nil {
		return capacity.PackingAnswer{}, err
	}
	if len(q.Sources) > 0 {
		a.Batch, a.Sources = &q.Batch, q.Sources
	}
	return a, nil
}
