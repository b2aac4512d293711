package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/test/plantest"
)

// clpCost returns the whole cost of the linear program at a number of the parameter, as Clp finds it; false if Clp says
// that there is no plan. At a budget of NaN it returns the cost of the promised jobs. Counts of contracts need not be
// whole.
func clpCost(t *testing.T, solver lp.Solver, p capacity.Problem, v Parameter, number float64) (float64, bool) {
	t.Helper()
	p.Options.Integrality = capacity.Relaxed
	var m *model
	var err error
	contract := 0.0
	if v.Figure == ContractVMs || v.Figure == VMBudget {
		p.Budget = nil
		m, err = newModel(&p)
	} else {
		changed, _ := v.With(p, money.Round(number))
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
	budget := v.Figure == VMBudget && !math.IsNaN(number)
	if budget {
		program.Row(math.Inf(-1), number-m.committed())
	}
	constant := m.committed()
	for k, tier := range m.tiers {
		vms := float64(tier.VMs)
		if at := m.source[k]; v.Figure == ContractVMs && at != onDemand && m.Supply.Contracts[at].Name == v.Contract {
			c := m.Supply.Contracts[at]
			vms = number
			if !v.Absolute {
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

// withFigure returns a problem with the figure of a parameter changed by a number.
func withFigure(p capacity.Problem, v Parameter, number money.Amount) capacity.Problem {
	amount := func(before money.Amount) money.Amount {
		if v.Absolute {
			return number
		}
		return money.Amount{Decimal: before.Mul(number.Decimal).Round(money.Places)}
	}
	p.Classes, p.Supply.Contracts = slices.Clone(p.Classes), slices.Clone(p.Supply.Contracts)
	switch v.Figure {
	case OnDemandPrice:
		p.Supply.OnDemand.Price = amount(p.Supply.OnDemand.Price)
	case ContractVMs:
		at := slices.IndexFunc(p.Supply.Contracts, func(c capacity.Contract) bool { return c.Name == v.Contract })
		vms := money.Round(float64(p.Supply.Contracts[at].VMs))
		p.Supply.Contracts[at].VMs = amount(vms).Round(0).IntPart()
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		switch {
		case v.Class != "" && c.Name != v.Class:
		case v.Figure == Penalties:
			c.Penalty = amount(c.Penalty)
		case v.Figure == Deadlines:
			c.DeadlineSeconds *= number.Float()
		}
	}
	return p
}

func drawCurve(r *rand.Rand, p *capacity.Problem) (v Parameter) {
	class := &p.Classes[r.IntN(len(p.Classes))]
	kind := r.IntN(6)
	if kind == 0 && len(p.Supply.Contracts) == 0 {
		kind = 1
	}
	if kind == 5 && !slices.ContainsFunc(p.Classes, func(c capacity.Class) bool { return c.DeadlineSeconds > 0 }) {
		kind = 2
	}
	v = Parameter{To: 3}
	switch kind {
	case 0:
		c := p.Supply.Contracts[r.IntN(len(p.Supply.Contracts))]
		v.Figure, v.Contract = ContractVMs, c.Name
		if r.IntN(2) == 0 {
			v.Absolute, v.To = true, float64(3*c.VMs+50)
		}
	case 1:
		v.Figure, v.From = OnDemandPrice, 0.1
	case 2:
		v.Figure = Penalties
	case 3:
		v.Figure, v.Class = Penalties, class.Name
	case 4:
		v.Figure, v.Absolute, v.To = VMBudget, true, 0
		for i := range p.Classes {
			v.To += 2*p.Classes[i].Penalty.Float()*p.Classes[i].Jobs.Max + 10
		}
		v.To = money.Round(v.To).Float()
	case 5:
		v.Figure, v.From, v.To = Deadlines, 0.3, 2
		for k := range 5 {
			v.Numbers = append(v.Numbers, money.Round(v.From+float64(k)/4*(v.To-v.From)))
		}
	}
	parameter := v
	v.With = func(p capacity.Problem, number money.Amount) (capacity.Problem, error) {
		return withFigure(p, parameter, number), nil
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
	bends, begun, nowhere, compared, unanswered := map[Figure]int{}, 0, 0, 0, 0
	for trial := range plantest.Trials(100, 6_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(12), capacity.Relaxed)
		p.Budget = nil
		v := drawCurve(r, &p)
		c, err := NewCurve(p, v)
		if err != nil {
			t.Fatalf("trial %d, %+v: %v", trial, v, err)
		}
		from, to := v.From, v.To
		if c.Least != nil || len(c.Points) == 0 {
			begun++
			below := from
			if c.Least != nil && len(c.Points) > 0 {
				below = *c.Least - 1e-3*max(1, *c.Least)
			} else {
				nowhere++
			}
			if v.Figure == VMBudget { // Clp gives up on budgets that are too small
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
		bends[v.Figure] += max(0, len(c.Points)-2)
		for k := 1; k < len(c.Points)-1 && c.Exact; k++ {
			a, b := c.Points[k-1].Slope.Float(), c.Points[k].Slope.Float()
			if c.Shape == "convex" && b < a || c.Shape == "concave" && b > a || c.Points[k].At <= c.Points[k-1].At {
				t.Fatalf("trial %d, %+v: the slope goes from %g to %g at %g of a %s curve", trial, v, a, b, c.Points[k].At, c.Shape)
			}
		}
	}
	t.Logf("breakpoints: %v; %d curves begin inside the range or nowhere (%d); %d comparisons", bends, begun, nowhere, compared)
	for _, figure := range []Figure{ContractVMs, OnDemandPrice, Penalties, VMBudget} {
		if bends[figure] < 10 {
			t.Errorf("only %d breakpoints of figure %d were met", bends[figure], figure)
		}
	}
	if unanswered*200 > compared {
		t.Errorf("Clp answered %d of %d questions only", compared-unanswered, compared)
	}
	if begun < 5 {
		t.Errorf("only %d curves begin inside the range", begun)
	}
}
