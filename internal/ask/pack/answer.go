package pack

import (
	"context"
	"fmt"

	"example.org/headroom/internal/core/fault"
)

// Answer answers a question about a batch. After each packing it calls tell with the number done and the total, 0 if
// that is unknown.
func Answer(ctx context.Context, q PackingQuestion, pack Packer, tell func(done, total int64)) (a PackingAnswer, err error) {
	done, total := int64(0), int64(1)
	one := func(ctx context.Context, p PackingProblem) (Packing, error) {
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
		var machines MachinesAnswer
		machines, err = fewestMachines(ctx, q.Batch, q.BySeconds, one)
		a.Machines = &machines
	case q.OneMore:
		total = 2
		more := q.Batch
		if more.Machines.Count++; more.Machines.VMs() > MaxPackedVMs {
			return a, &fault.InputError{Findings: []fault.Finding{{Pointer: "/machines/count", Code: "range",
				Detail: fmt.Sprintf("There is no machine more to ask for: with one, the machines carry %d VMs, and batches are packed onto %d at most.", more.Machines.VMs(), MaxPackedVMs)}}}
		}
		var now, then Packing
		if now, err = one(ctx, q.Batch); err == nil {
			then, err = one(ctx, more)
		}
		a.Packing, a.OneMore = &now, &then
	default:
		var packing Packing
		packing, err = one(ctx, q.Batch)
		a.Packing = &packing
	}
	if err != nil {
		return PackingAnswer{}, err
	}
	if len(q.Sources) > 0 {
		a.Batch, a.Sources = &q.Batch, q.Sources
	}
	return a, nil
}
