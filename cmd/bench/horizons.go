package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/schedule"
)

// Schedules of jobs that may wait some hours are planned by Headroom, and by peers as a program in whole numbers. Headroom
// counts its work; the peers have a limit.

// horizonSizes are hours, classes, and VMs on average.
var horizonSizes = []struct {
	hours, classes int
	vms            float64
}{{24, 6, 40}, {48, 10, 100}, {72, 16, 200}}

const (
	horizonLimit = 5 * time.Second
	horizonDue   = 6 // hours until an execution has ended
)

var horizonPeers = []string{"cbc", "highs"}

func (b *beside) horizons(ctx context.Context, seeds int) (*contest, error) {
	t := &contest{solvers: b.solvers(horizonPeers), group: "size", measured: "that plan's cost",
		about: fmt.Sprintf("Drawn schedules whose executions end within %d hours, with a limit of %s", horizonDue, horizonLimit)}
	for _, size := range horizonSizes {
		group := fmt.Sprintf("%d classes, %d h", size.classes, size.hours)
		for seed := 1; seed <= seeds; seed++ {
			fmt.Fprintf(b.progress, "schedule, %s, seed %d\n", group, seed)
			c := study.DrawCluster(uint64(seed), size.hours, 2*size.classes, size.vms, horizonDue)
			if err := b.horizon(ctx, t, group, horizonOf(c), len(c.Prices)); err != nil {
				return nil, fmt.Errorf("schedule, %s, seed %d: %w", group, seed, err)
			}
		}
	}
	return t, nil
}

// horizon plans one schedule by everyone.
func (b *beside) horizon(ctx context.Context, t *contest, group string, p schedule.Problem, steps int) error {
	var pl schedule.Plan
	took, err := within(ctx, horizonLimit, func(ctx context.Context) error {
		pl = schedule.Solve(ctx, p, b.pool, schedule.Options{})
		return nil
	})
	if err != nil {
		return err
	}
	theirs, err := b.ask(ctx, p.Program(steps), horizonLimit, horizonPeers)
	if err != nil {
		return err
	}
	return t.addCosts(group, append([]found{{cost: pl.Cost(), bound: pl.Bound, took: took}}, theirs...))
}

// horizonOf returns the classes of a cluster that may wait, on one type of VMs. Runs take whole hours, on fewer VMs the
// longer they are.
func horizonOf(c study.Cluster) schedule.Problem {
	const unit = 12 // parts of a VM: one to four slots are whole ones
	p := schedule.Problem{Unit: unit}
	for h, price := range c.Prices {
		tiers := []schedule.Tier{{VMs: min(c.Quota, schedule.Unlimited), Price: price}}
		for _, t := range c.Contracts {
			switch {
			case h < t.From || h >= t.Until:
			case t.Always: // paid for in any case
				tiers = append(tiers, schedule.Tier{VMs: t.VMs})
			default:
				tiers = append(tiers, schedule.Tier{VMs: t.VMs, Price: t.Price})
			}
		}
		slices.SortStableFunc(tiers, func(a, b schedule.Tier) int { return cmp.Compare(a.Price, b.Price) })
		p.Supply = append(p.Supply, tiers)
	}
	for _, a := range c.Classes {
		if a.Due == 0 {
			continue
		}
		class := schedule.Class{First: 1, Window: int(a.Due / 3600), Penalty: a.Penalty, Arrivals: a.Arrivals}
		for hours := 1; hours < class.Window; hours++ {
			slots, ok := schedule.SlotsFor(a.Demand, true, a.Demand.ReduceWorkSeconds > 0, a.Slots, float64(3600*hours))
			parts := slots.Map*unit/a.Slots.Map + slots.Reduce*unit/a.Slots.Reduce
			if last := len(class.Runs) - 1; ok && (last < 0 || parts < class.Runs[last].Load[0]) {
				class.Runs = append(class.Runs, schedule.Run{Load: slices.Repeat([]int64{parts}, hours)})
			}
		}
		p.Classes = append(p.Classes, class)
	}
	return p
}
