package goal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// twoTypes is a market of an old type that is dear and a new one that has a quota.
func twoTypes(t *testing.T) capacity.Problem {
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality = capacity.Integer
	p.Supply.VMTypes = []capacity.VMTypeSupply{
		{Name: "old", OnDemand: capacity.OnDemand{Price: plantest.AmountIn(t, "0.50")}},
		{Name: "new", OnDemand: capacity.OnDemand{Price: plantest.AmountIn(t, "0.20"), Quota: new(int64(4))}},
	}
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "2", 0, 6), plantest.ByGamma(t, "b", "1", "0.30", 0, 3)}
	p.Classes[0].Speed = capacity.Speed{"old": 0.5}
	p.Classes[1].Speed = capacity.Speed{"old": 0.5}
	return p
}

// With several VM types each has a price of its own. A job that no longer fits on the cheapest one does not cost the
// price of that type. If that type has no more VMs, others may have some.
func TestPricesOfSeveralTypesAreNamed(t *testing.T) {
	t.Parallel()
	p := twoTypes(t)
	p.Options.Integrality = capacity.Relaxed
	a := asked(t, p, Question{Question: AskOneMoreJob, Class: "a"})
	for _, want := range []string{"One more job of class \"a\" costs 1.00 USD an hour in VMs.", "a job more takes VMs worth 1.00", `ne more VM of type "old" is worth 0.50 USD an hour`,
		`Class "b" is the next to be served: a refused job of it is valued at 0.30 an hour and serving one more takes 1.00`} {
		if !strings.Contains(a.Explanation, want) {
			t.Errorf("%q is not in %q", want, a.Explanation)
		}
	}
	if wrong := "no more VMs can be had"; strings.Contains(strings.ToLower(a.Explanation), wrong) {
		t.Errorf("%q is in %q", wrong, a.Explanation)
	}
}

// A job for which others give way can leave fewer VMs: the bill is then cut, and no cost is negative.
func TestAJobThatCutsTheBill(t *testing.T) {
	t.Parallel()
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality = capacity.Integer
	p.Supply.OnDemand = capacity.OnDemand{Price: plantest.AmountIn(t, "0.10"), Quota: new(int64(3))}
	p.Classes = []capacity.Class{plantest.ByGamma(t, "etl", "1.5", "0.5", 0, 3), plantest.ByGamma(t, "ml", "2", "0.35", 0, 2)}
	a := asked(t, p, Question{Question: AskOneMoreJob, Class: "ml"})
	if want := `One more job of class "ml" cuts the VM bill by 0.10 USD an hour, and 1.00 more value is refused: 0.90 together.`; !strings.Contains(a.Explanation, want) {
		t.Errorf("%q is not in %q", want, a.Explanation)
	}
}

// What the question promises is not to be cured by promising less; what the problem promises is.
func TestCuresOfQuestionsAreOfUse(t *testing.T) {
	t.Parallel()
	p := plantest.Market(t, 2, "0.10", "0.30", capacity.Integer)
	p.Supply.OnDemand.Quota = new(int64(1))
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "2", 1, 3), plantest.ByGamma(t, "b", "1", "2", 2, 2)}
	p.Classes[1].Jobs.Min = 2
	for _, q := range []Question{{Question: AskCheapestForAll}, {Question: AskOneMoreJob, Class: "a"}} {
		a := asked(t, p, q)
		cures := map[string]bool{}
		for _, f := range a.Conflicts {
			cures[f.Pointer] = f.Hint != nil
		}
		if own, asked := cures["/classes/1/jobs/min"], cures["/classes/0/jobs/min"]; a.Status != capacity.InfeasibleStatus || asked || !own && q.Question == AskOneMoreJob || !cures["/supply/on_demand/quota"] {
			t.Errorf("%s: %s, %+v", q.Question, a.Explanation, a.Conflicts)
		}
	}
}

// A budget a month is told about in months, also where it does not do.
func TestBudgetsAreToldInTheirUnit(t *testing.T) {
	t.Parallel()
	p := plantest.Market(t, 0, "0.10", "0.20", capacity.Integer)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "2", 1, 1)}
	month := func(amount string) Question {
		return Question{Question: AskMostForBudget, Budget: &AskedBudget{Amount: plantest.AmountIn(t, amount), Per: PerMonth, Of: OfVMCost}}
	}
	a := asked(t, p, month("150"))
	if want := "For at most 150.00 USD a month (730 hours) on VMs, the only job can be served, on 1 VM. 146.00 USD a month (730 hours) is spent on VMs and 4.00 is left. The budget does not bind"; !strings.HasPrefix(a.Explanation, want) {
		t.Errorf("got %q, want it to begin with %q", a.Explanation, want)
	}
	a = asked(t, p, month("100"))
	if f := a.Conflicts[0]; !strings.HasSuffix(f.Detail, "(These amounts are an hour.)") && !strings.HasSuffix(f.Detail, "(These amounts are for an hour.)") || f.Hint.Value != "146.00" {
		t.Errorf("got %+v", f)
	}
}

// A budget of exactly what some VMs cost pays for these, whatever part of its time a period is, and a cent
// less does not. In its time the bill is told without the rounding of a period.
func TestABudgetPaysForWhatItIsExactly(t *testing.T) {
	t.Parallel()
	for _, period := range []int64{60, 420, 600, 3600, 86400} {
		for vms := int64(1); vms <= 8; vms++ {
			p := plantest.Market(t, 0, "0", "1", capacity.Integer)
			p.PeriodSeconds = period
			p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "9999", 0, 8)}
			for per, hours := range map[BudgetPeriod]int64{PerHour: 1, PerMonth: capacity.HoursPerMonth} {
				exact := decimal.NewFromInt(vms * hours)
				ask := func(amount decimal.Decimal) Answer {
					b := &AskedBudget{Amount: money.Amount{Decimal: amount}, Per: per, Of: OfVMCost}
					return asked(t, p, Question{Question: AskMostForBudget, Budget: b})
				}
				said := fmt.Sprintf("%d.00 USD %s is spent on VMs and 0.00 is left.", vms*hours, map[BudgetPeriod]string{PerHour: "an hour", PerMonth: "a month (730 hours)"}[per])
				if a := ask(exact); a.Outcome.Admitted != float64(vms) || !strings.Contains(a.Explanation, said) {
					t.Errorf("%d VMs for %d s: %q is not in %q", vms, period, said, a.Explanation)
				}
				if a := ask(exact.Sub(decimal.New(1, -2))); a.Outcome.Admitted != float64(vms-1) {
					t.Errorf("a cent less than %d VMs cost for %d s: %q", vms, period, a.Explanation)
				}
			}
		}
	}
}

// A problem with a budget of its own is compared with its plan within that one, and says so.
func TestBudgetsAreComparedWithTheProblemsOwn(t *testing.T) {
	t.Parallel()
	p := plantest.Market(t, 0, "0", "1", capacity.Integer)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "etl", "1", "3", 0, 6)}
	p.Budget = &capacity.Budget{VMCost: new(plantest.AmountIn(t, "4"))}
	for amount, want := range map[string][]string{
		"2": {"Within the problem's own budget the best plan serves 4 of 6 jobs for a bill of 4.00", "refused together are 4.00 USD an hour more.", "Even within the problem's own budget it is best to refuse 2 jobs."},
		"9": {"refused together are 4.00 USD an hour less."},
		"5": {"refused together are 2.00 USD an hour less. Within the problem's own budget it is best to refuse 2 jobs."},
		"4": {"The budget does not bind: the best plan within the problem's own budget has a bill of 4.00"},
	} {
		a := asked(t, p, Question{Question: AskMostForBudget, Budget: &AskedBudget{Amount: plantest.AmountIn(t, amount), Per: PerHour, Of: OfVMCost}})
		for _, said := range want {
			if !strings.Contains(a.Explanation, said) {
				t.Errorf("for %s: %q is not in %q", amount, said, a.Explanation)
			}
		}
	}
}

// Of a class without a deadline no job is held, and the sentence says whose are.
func TestDeadlinesSayWhoseJobsAreHeld(t *testing.T) {
	t.Parallel()
	p := plantest.Market(t, 0, "0", "1", capacity.Integer)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "etl", "1", "3", 0, 2), plantest.ByGamma(t, "adhoc", "1", "3", 0, 4)}
	p.Classes[0].DeadlineSeconds = 600
	for class, want := range map[string]string{"": "the 2 jobs of classes with a deadline admitted now are held", "etl": "the 2 jobs of the class admitted now are held"} {
		if a := asked(t, p, Question{Question: AskCheapestDeadline, Class: class}); !strings.Contains(a.Explanation, want) {
			t.Errorf("%q is not in %q", want, a.Explanation)
		}
	}
}
