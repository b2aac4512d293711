package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// tiedProblem draws a problem in which many plans cost nearly the same: jobs are worth nearly the
// same per VM, which lies between two prices.
func tiedProblem(r *rand.Rand) capacity.Problem {
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
	p.Options.Gap = []float64{0, 1e-6, 0.005, 0.02, 0.1}[r.IntN(5)]
	low, middle, high := 10+r.Int64N(10), 25+r.Int64N(10), 40+r.Int64N(10)
	p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(high, -2)}
	p.Supply.Contracts = []capacity.Contract{{Name: "reserved", VMs: 3 + r.Int64N(25), Price: money.Amount{Decimal: decimal.New(low, -2)}, Billing: capacity.BilledUsed}}
	for i := range 2 + r.IntN(3) {
		gamma := decimal.New(1+r.Int64N(40), -1)
		c := capacity.Class{Name: string(rune('a' + i)), VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: float64(1 + r.IntN(6))}}
		c.Penalty = money.Amount{Decimal: gamma.Mul(decimal.New(middle, -2))}
		if r.IntN(4) == 0 {
			c.Penalty = money.Amount{Decimal: c.Penalty.Add(decimal.New(r.Int64N(3), -2))}
		}
		if r.IntN(4) == 0 {
			c.Jobs.Min = float64(r.IntN(int(c.Jobs.Max) + 1))
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

// nearTo is a plan as the previous one of the next.
func nearTo(pl capacity.Plan) *capacity.Near {
	n := &capacity.Near{VMs: pl.VMs.Total, Jobs: make(map[string]float64)}
	for _, c := range pl.Classes {
		n.Jobs[c.Name] = c.Admitted
	}
	return n
}

// distanceTo returns the distance of a plan from the previous one.
func distanceTo(n *capacity.Near, pl capacity.Plan) away {
	a := away{vms: math.Abs(pl.VMs.Total - n.VMs)}
	for _, c := range pl.Classes {
		a.jobs += math.Abs(c.Admitted - n.Jobs[c.Name])
	}
	return a
}

// A plan near the previous one stays within the gap, is never farther from it than the plan one
// would get otherwise, and is mostly the nearest there is.
func TestNearThePreviousPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 1))
	asked, room, nearest, calmer := 0, 0, 0, 0
	for trial := range plantest.Trials(250, 50_000) {
		p := tiedProblem(r)
		plain := answered(t, p)
		if plain.Status != capacity.Optimal {
			t.Fatalf("trial %d: %s\n%s", trial, plain.Status, plantest.Text(p))
		}
		// The previous plan is of a market that has changed a little, or any.
		before := plantest.Copied(p)
		before.Supply.Contracts[0].VMs = max(0, before.Supply.Contracts[0].VMs+r.Int64N(7)-3)
		previous := nearTo(answered(t, before))
		if r.IntN(3) == 0 {
			previous.VMs = float64(r.IntN(40))
			for i := range p.Classes {
				c := &p.Classes[i]
				previous.Jobs[c.Name] = c.Jobs.Min + float64(r.IntN(int(c.Jobs.Max-c.Jobs.Min)+1))
			}
		}
		p.Options.Near = previous
		pl := answered(t, p)
		asked++

		b := plantest.NewBrute(p)
		want, _, _ := b.Best()
		got := plantest.Millionths(pl.Objective.Decimal)
		if distance := float64(got-want) / math.Abs(float64(got)); got != want && !(distance <= p.Options.Gap+1e-9) || pl.Status != capacity.Optimal {
			t.Fatalf("trial %d: %s plan is %g from optimal, want at most %g\n%s", trial, pl.Status, distance, p.Options.Gap, plantest.Text(p))
		}
		if bound := pl.Proof.Bound.Float(); bound > float64(want)/1e6+1e-9 {
			t.Fatalf("trial %d: the bound %s is above the optimum, %d millionths\n%s", trial, pl.Proof.Bound, want, plantest.Text(p))
		}
		at, plainAt := distanceTo(previous, pl), distanceTo(previous, plain)
		if plainAt.less(at) {
			t.Fatalf("trial %d: %+v away from the previous plan, without asking %+v\n%s", trial, at, plainAt, plantest.Text(p))
		}
		if at.less(plainAt) {
			calmer++
		}
		// What is nearest among the plans within the same limit.
		bound := plain.Proof.Bound.Float()
		best := plainAt
		b.Each(func(objective, vms int64, jobs []int64) {
			if cost := float64(objective) / 1e6; cost > plain.Objective.Float() && cost-bound > p.Options.Gap*math.Abs(cost) {
				return
			}
			a := away{vms: math.Abs(float64(vms) - previous.VMs)}
			for i, h := range jobs {
				a.jobs += math.Abs(float64(h) - previous.Jobs[p.Classes[i].Name])
			}
			if a.less(best) {
				best = a
			}
		})
		if best.less(plainAt) {
			room++
			if !best.less(at) {
				nearest++
			}
		}

		// Asked again with itself as the previous plan nothing moves.
		p.Options.Near = nearTo(pl)
		again := answered(t, p)
		if moved := distanceTo(p.Options.Near, again); moved != (away{}) {
			t.Fatalf("trial %d: the plan moves by %+v although nothing has changed\n%s", trial, moved, plantest.Text(p))
		}
	}
	t.Logf("of %d plans %d could be nearer than without asking; %d were, %d of them the nearest there is", asked, room, calmer, nearest)
	if room < asked/20 || calmer < room*90/100 || nearest < room*90/100 {
		t.Errorf("of %d plans %d could be nearer than without asking; %d were, %d of them the nearest there is", asked, room, calmer, nearest)
	}
}

// Near is advice: previous jobs of a class that was not there, or beyond what is wanted now, do no harm.
func TestNearAPlanThatIsNoLongerPossible(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 1))
	for trial := range plantest.Trials(60, 5000) {
		p := tiedProblem(r)
		plain := answered(t, p)
		p.Options.Near = &capacity.Near{VMs: 1e6, Jobs: map[string]float64{p.Classes[0].Name: 1e6}}
		pl := answered(t, p)
		for i, c := range pl.Classes {
			if c.Admitted < p.Classes[i].Jobs.Min || c.Admitted > p.Classes[i].Jobs.Max {
				t.Fatalf("trial %d: class %s has %g jobs\n%s", trial, c.Name, c.Admitted, plantest.Text(p))
			}
		}
		if above := pl.Objective.Float() - plain.Proof.Bound.Float(); above > (p.Options.Gap+1e-9)*math.Abs(plain.Objective.Float())+1e-9 {
			t.Fatalf("trial %d: %g above the bound, want at most the gap %g\n%s", trial, above, p.Options.Gap, plantest.Text(p))
		}
	}
}

// Of plans whose jobs are worth just what their VMs cost, the previous one stays: none of them is better. A cluster once fell
// from 9 VMs to none, because such sums are a float's last place apart.
func TestTiesAtNothingStay(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	tied := 0
	for trials := plantest.Trials(150, 5000); tied < trials; {
		p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
		p.Options.Integrality, p.Options.Engine = []capacity.Integrality{capacity.Integer, capacity.Executable}[r.IntN(2)], capacity.EngineExact
		p.Options.Gap = []float64{0, 1e-6, 0.005}[r.IntN(3)]
		price, tenths := decimal.New(1+r.Int64N(999), -3), int64(1)
		if p.Options.Integrality == capacity.Executable {
			tenths = 10 // whole VMs a job
		}
		p.Supply.OnDemand.Price = money.Amount{Decimal: price}
		for i := range 1 + r.IntN(3) {
			vms := decimal.New(tenths*(1+r.Int64N(40/tenths)), -1)
			p.Classes = append(p.Classes, capacity.Class{Name: string(rune('a' + i)), VMsPerJob: &vms, Jobs: capacity.JobRange{Max: float64(1 + r.IntN(8))},
				Penalty: money.Amount{Decimal: vms.Mul(price)}})
		}
		if plain := answered(t, p); !plain.Objective.IsZero() {
			continue
		}
		var ties []*capacity.Near
		plantest.NewBrute(p).Each(func(objective, vms int64, jobs []int64) {
			if objective == 0 {
				near := &capacity.Near{VMs: float64(vms), Jobs: map[string]float64{}}
				for i, c := range p.Classes {
					near.Jobs[c.Name] = float64(jobs[i])
				}
				ties = append(ties, near)
			}
		})
		tied++
		p.Options.Near = ties[r.IntN(len(ties))]
		if pl := answered(t, p); distanceTo(p.Options.Near, pl) != (away{}) || !pl.Objective.IsZero() || pl.Status != capacity.Optimal {
			t.Errorf("%+v away from the previous plan, one of %d ties: %s, %s\n%s", distanceTo(p.Options.Near, pl), len(ties), pl.Status, pl.Objective, plantest.Text(p))
		}
	}
}

// Where the objective is 0, plans of many VMs and of few cost the same. The nearest is found, also among more plans than are
// looked at one by one.
func TestNearAmongManyTies(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	tied, room := 0, 0
	for tied < plantest.Trials(60, 2000) {
		p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
		p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
		price := 10 + r.Int64N(40)
		p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(price, -2)}
		for i := range 5 + r.IntN(2) {
			gamma := decimal.New([]int64{5, 7, 10, 13, 15, 20, 25, 30}[r.IntN(8)], -1)
			p.Classes = append(p.Classes, capacity.Class{Name: string(rune('a' + i)), VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: float64(1 + r.IntN(8))},
				Penalty: money.Amount{Decimal: gamma.Mul(decimal.New(price-r.Int64N(4)/3*(1+r.Int64N(3)), -2))}})
		}
		plain := answered(t, p)
		if !plain.Objective.IsZero() {
			continue
		}
		tied++
		previous, seen := nearTo(plain), 0
		b := plantest.NewBrute(p)
		b.Each(func(objective, vms int64, jobs []int64) { // one of the ties, each as likely
			if objective != 0 {
				return
			}
			if seen++; r.IntN(seen) == 0 {
				previous.VMs = float64(vms)
				for i, h := range jobs {
					previous.Jobs[p.Classes[i].Name] = float64(h)
				}
			}
		})
		if (distanceTo(previous, plain) != away{}) {
			room++
		}
		p.Options.Near = previous
		if pl := answered(t, p); (distanceTo(previous, pl) != away{}) {
			t.Errorf("the plan is %+v away from one that costs as much\n%s", distanceTo(previous, pl), plantest.Text(p))
		}
	}
	if room < tied/2 {
		t.Errorf("only %d of %d plans were not near without asking", room, tied)
	}
}
