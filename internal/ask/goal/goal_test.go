package goal

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

func asked(t *testing.T, p capacity.Problem, q Question) Answer {
	t.Helper()
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	if err := q.CheckFor(&p); err != nil {
		t.Fatal(err)
	}
	a, err := Ask(t.Context(), p, q, alone)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	if a.Answer == "" || !strings.Contains(a.Explanation, a.Answer) || strings.Contains(a.Explanation, "\n") || strings.Contains(a.Explanation, "%!") {
		t.Fatalf("%+v: the paragraph is %q", q, a.Explanation)
	}
	return a
}

// cheapestWithin is the cheapest whole plan by trying every number of jobs: what a budget allows, and what must
// be served.
func cheapestWithin(p capacity.Problem, jobs []int64, at int, best *float64, spend func(vms, total float64) bool) {
	if at < len(p.Classes) {
		for n := int64(p.Classes[at].Jobs.Min); n <= int64(p.Classes[at].Jobs.Max); n++ {
			jobs[at] = n
			cheapestWithin(p, jobs, at+1, best, spend)
		}
		return
	}
	need, penalties := 0.0, 0.0
	for i := range p.Classes {
		c := &p.Classes[i]
		need += money.Amount{Decimal: *c.VMsPerJob}.Float() * float64(jobs[i])
		penalties += c.Penalty.Float() * (c.Jobs.Max - float64(jobs[i]))
	}
	vms := int64(need)
	if need-float64(vms) > 1e-9 {
		vms++
	}
	contract := p.Supply.Contracts[0]
	reserved := min(vms, contract.VMs)
	rented := vms - reserved
	if q := p.Supply.OnDemand.Quota; q != nil && rented > *q {
		return
	}
	cost := contract.Price.Float()*float64(reserved) + p.Supply.OnDemand.Price.Float()*float64(rented)
	if total := cost + penalties; spend(cost, total) && (*best < 0 || total < *best) {
		*best = total
	}
}

func drawSmall(t *testing.T, r *rand.Rand) capacity.Problem {
	p := plantest.Market(t, r.Int64N(6), "0.10", "0.30", capacity.Integer)
	for i := range 3 {
		low := float64(r.IntN(2))
		p.Classes = append(p.Classes, plantest.ByGamma(t, string(rune('a'+i)), []string{"0.7", "1.5", "2.25", "1"}[r.IntN(4)], []string{"0.05", "0.25", "0.5", "2"}[r.IntN(4)], low, low+float64(r.IntN(4))))
	}
	return p
}

// TestMoneyQuestionsAgreeWithTryingAll answers each question about small problems a second time, by trying every
// number of jobs of every class.
func TestMoneyQuestionsAgreeWithTryingAll(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	infeasible, bound := 0, 0
	for trial := range plantest.Samples(150) {
		p := drawSmall(t, r)
		if r.IntN(4) == 0 {
			quota := r.Int64N(8)
			p.Supply.OnDemand.Quota = &quota
		}
		jobs := make([]int64, len(p.Classes))
		amount := money.Amount{Decimal: plantest.Number(float64(r.IntN(30)) / 10).Decimal}
		check := func(a Answer, best float64) {
			t.Helper()
			if best < 0 {
				infeasible++
				if a.Status != capacity.InfeasibleStatus || len(a.Conflicts) == 0 {
					t.Fatalf("trial %d: got %+v, though nothing meets the demands", trial, a)
				}
				return
			}
			if a.Status == capacity.InfeasibleStatus || !plantest.Near(a.Outcome.Cost.Total.Float(), best, 1e-9) {
				t.Fatalf("trial %d: got %s and %s, want %g\n%s\n%+v", trial, a.Status, a.Outcome.Cost.Total, best, a.Explanation, p)
			}
		}
		for _, of := range []BudgetKind{OfVMCost, OfTotal} {
			best := -1.0
			cheapestWithin(p, jobs, 0, &best, func(vms, total float64) bool {
				if of == OfTotal {
					vms = total
				}
				return vms <= amount.Float()+1e-9
			})
			a := asked(t, p, Question{Question: AskMostForBudget, Budget: &AskedBudget{Amount: amount, Of: of, Per: PerHour}})
			check(a, best)
			if a.Compared != nil && a.Status != capacity.InfeasibleStatus && !a.Compared.Cost.Total.Equal(a.Outcome.Cost.Total.Decimal) {
				bound++
			}
			if a.Status == capacity.InfeasibleStatus && a.Conflicts[0].Hint != nil && a.Conflicts[0].Hint.Pointer == "/budget/amount" {
				raised := plantest.AmountIn(t, a.Conflicts[0].Hint.Value.(string))
				if again := asked(t, p, Question{Question: AskMostForBudget, Budget: &AskedBudget{Amount: raised, Of: of, Per: PerHour}}); again.Status == capacity.InfeasibleStatus {
					t.Fatalf("trial %d: a budget of %s was the cure and is too small", trial, raised)
				}
			}
		}
		everything := plantest.Copied(p)
		for i := range everything.Classes {
			everything.Classes[i].Jobs.Min = everything.Classes[i].Jobs.Max
		}
		always := func(_, _ float64) bool { return true }
		best := -1.0
		cheapestWithin(everything, jobs, 0, &best, always)
		check(asked(t, p, Question{Question: AskCheapestForAll}), best)

		before := -1.0
		if cheapestWithin(p, jobs, 0, &before, always); before < 0 {
			continue
		}
		more := plantest.Copied(p)
		class := &more.Classes[r.IntN(len(more.Classes))]
		a := asked(t, p, Question{Question: AskOneMoreJob, Class: class.Name})
		for _, c := range solved(t, p).Classes {
			if c.Name == class.Name {
				class.Jobs.Min = c.Admitted + 1
				if class.Jobs.Max = max(class.Jobs.Max, class.Jobs.Min); c.Refused > 0 { // the one job itself is refused no more
					before -= class.Penalty.Float()
				}
			}
		}
		best = -1
		cheapestWithin(more, jobs, 0, &best, always)
		check(a, best)
		if best >= 0 && !plantest.Near(plantest.AmountIn(t, a.Facts[0].Figures[0].Value).Float(), best-before, 1e-9) {
			t.Fatalf("trial %d: one more job costs %s, want %g", trial, a.Facts[0].Figures[0].Value, best-before)
		}
	}
	if infeasible < 10 || bound < 10 {
		t.Errorf("%d questions had no plan, %d budgets bound", infeasible, bound)
	}
}

// TestCheapestDeadlineAgreesWithTryingAll walks the whole grid of a few problems.
func TestCheapestDeadlineAgreesWithTryingAll(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 1))
	earlier := 0
	for trial := range plantest.Samples(6) {
		p := plantest.Market(t, r.Int64N(20), "0.10", "0.30", capacity.Executable)
		p.Supply.OnDemand.Quota = new(int64(40))
		for i := range 2 {
			p.Classes = append(p.Classes, capacity.Class{Name: string(rune('a' + i)), Demand: &capacity.Demand{MapWorkSeconds: 300 + 500*r.Float64(), ReduceWorkSeconds: 100, FixedSeconds: 60},
				DeadlineSeconds: 500, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Max: 4}, Penalty: plantest.AmountIn(t, "2")})
		}
		class := []string{"a", ""}[trial%2]
		extra := float64(5 * (trial % 3))
		a := asked(t, p, Question{Question: AskCheapestDeadline, Class: class, ExtraPercent: &extra})
		base := solved(t, p)
		held := plantest.Copied(p)
		for i := range held.Classes {
			if class == "" || held.Classes[i].Name == class {
				held.Classes[i].Jobs.Min = base.Classes[i].Admitted
			}
		}
		var cheapest, least float64
		last := -1.0
		for k := 1000; k > 0; k-- {
			tried := plantest.Copied(held)
			for i := range tried.Classes {
				if class == "" || tried.Classes[i].Name == class {
					tried.Classes[i].DeadlineSeconds = float64(k) / 2
				}
			}
			pl, err := plan.Solve(context.Background(), tried, nil)
			if err != nil || pl.Status == capacity.InfeasibleStatus {
				break
			}
			cost := pl.Cost.Total.Float()
			if cost < last-1e-6 {
				t.Fatalf("trial %d: %g s costs %g, later ones %g", trial, float64(k)/2, cost, last)
			}
			last = cost
			if least = float64(k) / 2; cost <= base.Cost.Total.Float()*(1+extra/100)+1e-6 {
				cheapest = least
			}
		}
		if class == "" {
			cheapest, least = cheapest/500, least/500
		}
		got := map[string]float64{}
		for _, d := range a.Deadlines {
			got[d.What] = d.Deadline
		}
		if !plantest.Near(got["cheapest"], cheapest, 1e-9) || !plantest.Near(got["least"], least, 1e-9) {
			t.Fatalf("trial %d: got %+v, want the cheapest %g and the least %g", trial, a.Deadlines, cheapest, least)
		}
		if got["cheapest"] < got["given"] {
			earlier++
		}
	}
	if earlier == 0 {
		t.Error("no deadline could be earlier")
	}
}
