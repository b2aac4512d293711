package schedule

import (
	"math"
	"os"
	"slices"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/lp/worker"
)

// offering adds one or two offers to a tiny problem, each in some of its steps.
func offering(s *study.Stream, p *Problem) {
	for range s.Whole(1, 2) {
		o := Offer{Max: s.Whole(1, 3), From: int(s.Whole(0, int64(len(p.Supply)-1))), Until: len(p.Supply)}
		o.Until = int(s.Whole(int64(o.From), int64(len(p.Supply))))
		if o.Fixed = float64(s.Whole(0, 5)); s.Whole(0, 1) == 0 {
			o.Price = float64(s.Whole(0, 5))
		}
		p.Offers = append(p.Offers, o)
	}
}

// with returns a problem in which so many VMs of each offer are bought, and what they cost in any case.
func with(p Problem, bought []int64) (Problem, float64) {
	fixed := 0.0
	p.Supply = slices.Clone(p.Supply)
	for i, o := range p.Offers {
		fixed += o.Fixed * float64(bought[i])
		for t := o.From; t < o.Until; t++ {
			p.Supply[t] = append(slices.Clone(p.Supply[t]), Tier{bought[i], o.Price})
			sortTiers(p.Supply[t])
		}
	}
	p.Offers = nil
	return p, fixed
}

// Of tiny problems no purchase with any plan costs less than the bound of the offers, whoever proposes prices.
func TestNoPurchaseIsBelowTheBound(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	s := &study.Stream{State: 77}
	cases, tight, bought, loose := 60, 0, 0, 0.0
	if os.Getenv("HEADROOM_LONG") != "" {
		cases = 600
	}
	for n := range cases {
		p := tiny(s, 1)
		offering(s, &p)
		best, most := math.Inf(1), make([]int64, len(p.Offers))
		for {
			q, fixed := with(p, most)
			best = min(best, cheapestOfAll(&q)+fixed)
			i := 0
			for ; i < len(most); i++ {
				if most[i]++; most[i] <= p.Offers[i].Max {
					break
				}
				most[i] = 0
			}
			if i == len(most) {
				break
			}
		}
		alone := p.Propose(t.Context(), nil, Options{})
		x := p.Propose(t.Context(), pool, Options{})
		for who, bound := range map[string]float64{"own prices": alone.Bound, "an engine's": x.Bound} {
			if bound > best+1e-9 {
				t.Errorf("case %d: the bound of %s is %g, and a purchase costs %g: %+v", n, who, bound, best, p)
			}
		}
		if alone.Bought != nil || len(x.Bought) != len(p.Offers) {
			t.Errorf("case %d: without an engine %v are bought, and with one %v", n, alone.Bought, x.Bought)
		}
		for i, vms := range x.Bought {
			if vms < -1e-6 || vms > float64(p.Offers[i].Max)+1e-6 {
				t.Errorf("case %d: %g VMs are bought of %+v", n, vms, p.Offers[i])
			}
			if vms > 0.5 {
				bought++
			}
		}
		if best-x.Bound < 1e-6 {
			tight++
		}
		loose += (best - x.Bound) / max(1, best)
	}
	t.Logf("of %d problems with offers the bound is reached in %d, and is %.1f %% below the best purchase on average; %d offers are bought", cases, tight, 100*loose/float64(cases), bought)
	if tight < cases/10 || bought < cases/10 {
		t.Errorf("the bound is reached in %d of %d problems, and %d offers are bought", tight, cases, bought)
	}
}

// A proposal in whole numbers costs little more than the bound of any purchase, in five days of fifteen classes.
func TestProposalsOfDays(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	p := drawn(study.DrawCluster(3, 120, 15, 150, 12))
	dear := 0.0
	for _, tiers := range p.Supply {
		dear += tiers[len(tiers)-1].Price
	}
	p.Offers = []Offer{{Max: 500, Fixed: 0.6 * dear, Until: len(p.Supply)}, {Max: 500, Fixed: 0.1 * dear, Price: 0.06, Until: len(p.Supply)}}
	none := Solve(t.Context(), p, pool, Options{LPSeconds: 30})
	x := p.Propose(t.Context(), pool, Options{LPSeconds: 30})
	vms := make([]int64, len(x.Bought))
	for i, n := range x.Bought {
		vms[i] = int64(math.Round(n))
	}
	q, fixed := with(p, vms)
	plan := Solve(t.Context(), q, pool, Options{LPSeconds: 30})
	gap := (plan.Cost() + fixed - x.Bound) / x.Bound
	t.Logf("%v are bought: %.0f, at least %.0f for any purchase (%.2f %%), and %.0f without one", x.Bought, plan.Cost()+fixed, x.Bound, 100*gap, none.Cost())
	if gap > 0.01 || plan.Cost()+fixed > none.Cost()*0.99 {
		t.Errorf("the purchase costs %g, its bound is %g, and nothing bought costs %g", plan.Cost()+fixed, x.Bound, none.Cost())
	}
}
