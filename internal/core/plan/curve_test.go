package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"headroom/internal/core/capacity"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
	"headroom/internal/core/money"
	"headroom/internal/core/plan/integer"
	"headroom/internal/test/plantest"
)

// clpCost is the whole cost of the linear program at a number of the parameter, as Clp finds it; false
// where Clp says that there is no plan. At a budget of NaN it is what the promised jobs cost. Counts of contracts need not be whole.
func clpCost(t *testing.T, solver lp.Solver, p capacity.Problem, v capacity.Vary, number float64) (float64, bool) {
	t.Helper()
	p.Options.Integrality = capacity.Relaxed
	var m *model
	var err error
	contract := 0.0
	if v.What == capacity.ChangeContract || v.What == capacity.ChangeBudget {
		p.Budget = nil
		m, err = newModel(&p)
	} else {
		changed, applied := capacity.Scenario{Changes: []capacity.ScenarioChange{v.Change(money.Round(number))}}.Apply(p)
		if applied != nil {
			t.Fatal(applied)
		}
		m, err = newModel(&changed)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.classes {
		if m.classes[i].impossible && m.classes[i].Jobs.Min > 0 {
			return 0, false
		}
	}
	var program lp.Program
	rows := []lp.Entry{{Row: program.Row(math.Inf(-1), 0), Coefficient: -1}}
	budget := v.What == capacity.ChangeBudget && !math.IsNaN(number)
	if budget {
		program.Row(math.Inf(-1), number-m.committed())
	}
	constant := m.committed()
	for k, tier := range m.tiers {
		vms := float64(tier.VMs)
		if at := m.source[k]; v.What == capacity.ChangeContract && at != onDemand && m.Supply.Contracts[at].Name == v.Contract {
			c := m.Supply.Contracts[at]
			vms = number
			if v.By != capacity.ByValue {
				vms *= float64(c.VMs)
			}
			if c.Billing == capacity.BilledAlways {
				contract = c.Price.Float() * m.hours * (vms - float64(c.VMs))
			}
		}
		if tier.VMs >= integer.Unlimited {
			vms = math.Inf(1)
		}
		entries := rows
		if budget {
			entries = []lp.Entry{rows[0], {Row: 1, Coefficient: tier.Price}}
		}
		program.Column(tier.Price, 0, vms, false, entries...)
	}
	for i := range m.classes {
		c := &m.classes[i]
		if math.IsNaN(number) { // the promised jobs alone
			program.Column(0, c.low, c.low, false, lp.Entry{Row: 0, Coefficient: c.gamma})
			continue
		}
		program.Column(-c.penalty, c.low, c.high, false, lp.Entry{Row: 0, Coefficient: c.gamma})
		constant += c.penalty * c.Jobs.Max
	}
	answer, err := solver.Solve(t.Context(), &program, lp.Options{})
	if err != nil {
		t.Logf("Clp gave no answer to %+v at %g: %v", v, number, err)
		return math.NaN(), true
	}
	return answer.Objective + constant + contract, answer.Status == lp.Optimal
}

// height is the cost that a curve's straight lines have at a number.
func height(c Curve, number float64) float64 {
	for k := 1; k < len(c.Points); k++ {
		a, b := c.Points[k-1], c.Points[k]
		if number <= b.At {
			return a.Cost.Float() + (b.Cost.Float()-a.Cost.Float())*(number-a.At)/(b.At-a.At)
		}
	}
	return c.Points[len(c.Points)-1].Cost.Float()
}

func drawCurve(r *rand.Rand, p *capacity.Problem) (v capacity.Vary) {
	number := func(x float64) *money.Amount { m := money.Round(x); return &m }
	class := &p.Classes[r.IntN(len(p.Classes))]
	kind := r.IntN(6)
	if kind == 0 && len(p.Supply.Contracts) == 0 {
		kind = 1
	}
	if kind == 5 && !slices.ContainsFunc(p.Classes, func(c capacity.Class) bool { return c.DeadlineSeconds > 0 }) {
		kind = 2
	}
	v = capacity.Vary{Steps: 5, By: capacity.ByFactor, From: number(0), To: number(3)}
	switch kind {
	case 0:
		c := p.Supply.Contracts[r.IntN(len(p.Supply.Contracts))]
		v.What, v.Contract = capacity.ChangeContract, c.Name
		if r.IntN(2) == 0 {
			v.By, v.To = capacity.ByValue, number(float64(3*c.VMs+50))
		}
	case 1:
		v.What, v.From = capacity.ChangePrice, number(0.1)
	case 2:
		v.What = capacity.ChangePenalty
	case 3:
		v.What, v.Class = capacity.ChangePenalty, class.Name
	case 4:
		v.What, v.By = capacity.ChangeBudget, capacity.ByValue
		v.To = number(0)
		for i := range p.Classes {
			v.To = number(v.To.Float() + 2*p.Classes[i].Penalty.Float()*p.Classes[i].Jobs.Max + 10)
		}
	case 5:
		v.What, v.From, v.To = capacity.ChangeDeadline, number(0.3), number(2)
	}
	return v
}

// TestCurvesEqualClp compares curves with a real solver at their breakpoints, between them and at random,
// also where there is no plan, and checks that each bends the way the theory says.
func TestCurvesEqualClp(t *testing.T) {
	t.Parallel()
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(5, 6))
	bends, begun, nowhere, compared, unanswered := map[capacity.What]int{}, 0, 0, 0, 0
	for trial := range plantest.Trials(250, 6_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(12), capacity.Relaxed)
		p.Budget = nil
		v := drawCurve(r, &p)
		c, err := NewCurve(p, v)
		if err != nil {
			t.Fatalf("trial %d, %+v: %v", trial, v, err)
		}
		from, to := v.From.Float(), v.To.Float()
		if c.Least != nil || len(c.Points) == 0 {
			begun++
			below := from
			if c.Least != nil && len(c.Points) > 0 {
				below = *c.Least - 1e-3*max(1, *c.Least)
			} else {
				nowhere++
			}
			if v.What == capacity.ChangeBudget { // Clp gives up on budgets that are too small
				if cost, ok := clpCost(t, pool, p, v, math.NaN()); ok && c.Least != nil && !math.IsNaN(cost) && !plantest.Near(cost, *c.Least, 1e-7) || !ok && c.Least != nil {
					t.Fatalf("trial %d: the promised jobs cost %v, Clp says %g (%v)", trial, c.Least, cost, ok)
				}
			} else if below >= 0 {
				if cost, ok := clpCost(t, pool, p, v, max(from, below)); ok && !math.IsNaN(cost) {
					t.Fatalf("trial %d, %+v: below the beginning %v Clp finds %g", trial, v, c.Least, cost)
				}
			}
			if len(c.Points) == 0 {
				continue
			}
			from = *c.Least
		}
		if last := c.Points[len(c.Points)-1].At; !plantest.Near(last, to, 1e-9) || !plantest.Near(c.Points[0].At, from, 1e-9) && c.Exact {
			t.Fatalf("trial %d, %+v: the curve goes from %g to %g, want %g to %g", trial, v, c.Points[0].At, last, from, to)
		}
		var numbers []float64
		for k, point := range c.Points {
			numbers = append(numbers, point.At)
			if k > 0 && c.Exact {
				numbers = append(numbers, (point.At+c.Points[k-1].At)/2)
			}
		}
		for range 3 {
			if c.Exact {
				numbers = append(numbers, from+r.Float64()*(to-from))
			}
		}
		if len(numbers) > 25 {
			r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
			numbers = numbers[:25]
		}
		for _, x := range numbers {
			inside := x
			if c.Exact && c.Least != nil && x == from { // Clp may find the very beginning infeasible
				inside += 1e-9 * max(1, x)
			}
			cost, ok := clpCost(t, pool, p, v, inside)
			compared++
			if math.IsNaN(cost) {
				unanswered++
				continue
			}
			if got := height(c, inside); !ok || !plantest.Near(got, cost, 2e-6) {
				t.Fatalf("trial %d, %+v at %.12g: the curve says %.12g, Clp %.12g (%v)\n%+v\n%+v", trial, v, x, got, cost, ok, c.Points, p)
			}
		}
		bends[v.What] += max(0, len(c.Points)-2)
		for k := 1; k < len(c.Points)-1 && c.Exact; k++ {
			a, b := c.Points[k-1].Slope.Float(), c.Points[k].Slope.Float()
			if c.Shape == "convex" && b < a || c.Shape == "concave" && b > a || c.Points[k].At <= c.Points[k-1].At {
				t.Fatalf("trial %d, %+v: the slope goes from %g to %g at %g of a %s curve", trial, v, a, b, c.Points[k].At, c.Shape)
			}
		}
	}
	t.Logf("breakpoints: %v; %d curves begin inside the range or nowhere (%d); %d comparisons", bends, begun, nowhere, compared)
	for _, what := range []capacity.What{capacity.ChangeContract, capacity.ChangePrice, capacity.ChangePenalty, capacity.ChangeBudget} {
		if bends[what] < 10 {
			t.Errorf("only %d breakpoints of %s were met", bends[what], what)
		}
	}
	if unanswered*200 > compared {
		t.Errorf("Clp answered %d of %d questions only", compared-unanswered, compared)
	}
	if begun < 5 {
		t.Errorf("only %d curves begin inside the range", begun)
	}
}
