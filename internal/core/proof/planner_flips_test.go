package proof

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// finds returns the whole jobs of a class in the linear program if a VM is worth so much to it and a job takes gamma.
func (b *planner) finds(i int, worth, gamma float64, onDemand bool) float64 {
	vms := 0.0
	for _, s := range b.order {
		if b.perPeriod(s) < worth && (onDemand || s < len(b.p.Supply.Contracts)) {
			vms += b.count(s)
		}
	}
	for j, k := range b.kinds {
		if j == i || !k.possible || k.gamma == 0 {
			continue
		}
		vms -= k.gamma * k.in.Jobs.Min
		if k.in.Penalty.Float()/k.gamma > worth {
			vms -= k.gamma * (k.in.Jobs.Max - k.in.Jobs.Min)
		}
	}
	jobs := b.kinds[i].in.Jobs
	return math.Floor(min(jobs.Max, max(jobs.Min, vms/gamma)) + 1e-9)
}

// flips tries every kink for the nearest at which a class's jobs change, and halves intervals of deadlines.
func (b *planner) flips(i int, relaxed float64) (f capacity.Flips) {
	k := b.kinds[i]
	jobs, penalty, now := k.in.Jobs, k.in.Penalty.Float(), math.Floor(relaxed+1e-9)
	if k.possible && math.Floor(jobs.Max) <= math.Floor(jobs.Min) {
		return f
	}
	if k.possible && k.gamma == 0 {
		f.Penalty = new(money.Round(0))
		return f
	}
	if k.in.VMsPerJob == nil && penalty > 0 {
		f.DeadlineSeconds = b.deadlineFlip(k, i, now)
	}
	if !k.possible {
		return f
	}
	own := penalty / k.gamma
	kinks := []float64{}
	for _, s := range b.order {
		kinks = append(kinks, b.perPeriod(s))
	}
	for j, k := range b.kinds {
		if j != i && k.possible && k.gamma > 0 {
			kinks = append(kinks, k.in.Penalty.Float()/k.gamma)
		}
	}
	slices.SortFunc(kinks, func(x, y float64) int { return cmp.Compare(math.Abs(x-own), math.Abs(y-own)) })
	for _, x := range kinks {
		hair := 1e-9 * (x + 1e-9)
		below, above := b.finds(i, x-hair, k.gamma, true), b.finds(i, x+hair, k.gamma, true)
		if x > own+hair && above != now || x < own-hair && below != now || math.Abs(x-own) <= hair && (above != now || below != now) {
			f.Penalty = new(money.Round(x * k.gamma))
			break
		}
	}
	with, without := b.served(i, true), b.served(i, false)
	if with != without && penalty > 0 {
		f.OnDemandPrice = new(money.Round(own * 3600 / float64(b.p.PeriodSeconds)))
	}
	return f
}

func (b *planner) deadlineFlip(k kind, i int, now float64) *float64 {
	at := func(deadline float64) float64 {
		d := k
		if d.slack = deadline - k.plan[2]; d.slack <= 0 {
			return math.Floor(k.in.Jobs.Min)
		}
		x, y := d.perJob(b.p.Options)
		gamma := x/float64(k.in.SlotsPerVM.Map) + y/float64(k.in.SlotsPerVM.Reduce)
		return b.finds(i, k.in.Penalty.Float()/gamma, gamma, true)
	}
	own, nearest := k.in.DeadlineSeconds, (*float64)(nil)
	for _, end := range []float64{max(0, k.plan[2]), capacity.MaxSeconds} {
		if at(end) == now {
			continue
		}
		same, other := own, end
		for range 200 {
			if middle := (same + other) / 2; at(middle) == now {
				same = middle
			} else {
				other = middle
			}
		}
		if nearest == nil || math.Abs(other-own) < math.Abs(*nearest-own) {
			nearest = &other
		}
	}
	return nearest
}

// served returns the whole jobs of a class if VMs on demand cost less than it is worth, or more.
func (b *planner) served(i int, onDemand bool) float64 {
	k, rent := b.kinds[i], b.p.Supply.OnDemand.Price
	defer func() { b.p.Supply.OnDemand.Price = rent }()
	if b.p.Supply.OnDemand.Price = money.Round(0); !onDemand {
		b.p.Supply.OnDemand.Price = money.Round(1e9)
	}
	return b.finds(i, k.in.Penalty.Float()/k.gamma, k.gamma, onDemand)
}
