package plan

import (
	"math"

	"headroom/internal/core/plan/integer"
)

// nearest is a plan within the gap that is nearer to the previous one, by VMs first and by jobs then: of
// the plans one or two changes away, again and again.
func (s *fleetSearch) nearest(best *fleetPlan) *fleetPlan {
	limit := max(best.cost, s.within(s.bound, s.paid)) + integer.GapNoise*s.all // a tie may be a float's last place above
	if s.Budget != nil && s.Budget.Total != nil {
		most := s.Budget.Total.Float() - s.paid - s.wanted()
		if limit = min(limit, most-1e-12*math.Abs(most)); best.cost > limit {
			return best
		}
	}
	at := s.away(best)
	for range roundsMost {
		next := best
		for i := range best.jobs {
			for _, v := range s.on[i] {
				for _, by := range [2]int64{1, -1} {
					jobs := cloneMixes(best.jobs)
					jobs[i][v] += by
					if jobs[i][v] < 0 || !s.allows(i, jobs[i]) {
						continue
					}
					if p := s.evaluate(jobs); p != nil && p.cost <= limit {
						if here := s.away(p); here.less(at) {
							next, at = p, here
						}
					}
				}
			}
		}
		if next == best {
			break
		}
		best = next
	}
	return best
}

func cloneMixes(jobs [][]int64) [][]int64 {
	c := make([][]int64, len(jobs))
	for i := range jobs {
		c[i] = append([]int64(nil), jobs[i]...)
	}
	return c
}

// allows says that a class may have so many jobs in all.
func (f *fleet) allows(i int, mix []int64) bool {
	total := int64(0)
	for _, h := range mix {
		total += h
	}
	return total >= f.low[i] && total <= f.high[i]
}

func (f *fleet) away(p *fleetPlan) (a away) {
	vms := 0.0
	for _, n := range p.vms {
		vms += float64(n)
	}
	a.vms = math.Abs(vms - f.Options.Near.VMs)
	for i, mix := range p.jobs {
		total := 0.0
		for _, h := range mix {
			total += float64(h)
		}
		if before, known := f.Options.Near.Jobs[f.classes[i].Name]; known {
			a.jobs += math.Abs(total - before)
		}
	}
	return a
}
