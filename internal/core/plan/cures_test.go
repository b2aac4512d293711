package plan

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// Under a budget for everything, a cure leads to a plan that keeps to it. The proof, and a plan made anew, say so.
func TestCuresKeepToTheBudgetForEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 11))
	kept, withdrawn := 0, 0
	for trial := 0; kept+withdrawn < plantest.Trials(100, 3000) && trial < 50_000; trial++ {
		p := tightProblem(r)
		if trial%2 == 0 {
			p = plantest.DrawFleet(r, plantest.FleetKinds[[]string{"mixed", "quota", "spot", "budget"}[r.IntN(4)]], 4, 6)
		}
		if p.Budget != nil && p.Budget.Total != nil {
			continue
		}
		free := answered(t, p)
		if free.Status != capacity.InfeasibleStatus || impossible(free) {
			continue
		}
		b := capacity.Budget{}
		if p.Budget != nil {
			b = *p.Budget
		}
		b.Total = &money.Amount{Decimal: decimal.New(1+r.Int64N(2000), -2)}
		p.Budget = &b
		pl := answered(t, p)
		if pl.Status != capacity.InfeasibleStatus {
			t.Fatalf("trial %d: a budget makes a plan possible\n%s", trial, plantest.Text(p))
		}
		hints := 0
		for _, c := range pl.Conflicts {
			if c.Hint == nil {
				continue
			}
			hints++
			q := cureByButton(t, p, c.Hint.Pointer, c.Hint.Value)
			if after := answered(t, q); after.Status == capacity.InfeasibleStatus {
				t.Fatalf("trial %d: %q leaves %v\n%s", trial, c.Hint.Detail, after.Conflicts, plantest.Text(p))
			}
			if least := proof.Cheapest(q, nil, nil, proof.Options{}); least.None || least.Low != nil && least.Low.Cmp(b.Total.Rat()) > 0 {
				t.Fatalf("trial %d: %q leads to plans from %v, and the budget is %v\n%s", trial, c.Hint.Detail, least.Low, b.Total, plantest.Text(p))
			}
		}
		kept += hints
		for _, c := range free.Conflicts {
			if c.Hint != nil {
				hints--
			}
		}
		if withdrawn -= hints; hints < 0 {
			pl.Conflicts = free.Conflicts
			if r := proof.Verify(p, pl, proof.Options{}); r.Outcome == proof.OK {
				t.Fatalf("trial %d: verify passes a cure that the budget forbids\n%s", trial, plantest.Text(p))
			}
		}
	}
	t.Logf("%d cures hold, %d are withdrawn", kept, withdrawn)
	if kept < 20 || withdrawn < 20 {
		t.Error("too few of a kind are drawn")
	}
}

// impossible says that a class can never be in time.
func impossible(pl capacity.Plan) bool {
	for _, c := range pl.Conflicts {
		if c.Code == "impossible_deadline" {
			return true
		}
	}
	return false
}

// A cure that the budget for everything forbids is told with the cost that it would lead to.
func TestACureThatIsTooDearIsTold(t *testing.T) {
	p := plantest.Market(t, 0, "0", "2", capacity.Integer)
	quota := int64(1)
	p.Supply.OnDemand.Quota = &quota
	p.Classes = []capacity.Class{plantest.ByGamma(t, "etl", "1", "3", 2, 4)}
	p.Budget = &capacity.Budget{Total: new(plantest.Amount("7"))}
	pl, err := Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "The promised jobs need 2 VMs and there is 1. With 2 here the promised jobs fit. Bill and value refused together come to 10.00 in the cheapest plan, and the budget is 7.00."
	if c := pl.Conflicts[0]; c.Hint != nil || c.Detail != want {
		t.Errorf("got %q with the hint %v, want %q and none", c.Detail, c.Hint, want)
	}
}

// Where one more job does not fit, the quota that is told lets it in, and one less does not.
func TestQuotaThatIsToldLetsOneMoreIn(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 11))
	told := 0
	for trial := 0; told < plantest.Trials(50, 3000) && trial < 50_000; trial++ {
		p := tightProblem(r)
		pl := answered(t, p)
		for _, f := range pl.Facts {
			text := words.FigureOf(&f, "quota")
			if text == "" {
				continue
			}
			told++
			at := slices.IndexFunc(p.Classes, func(c capacity.Class) bool { return c.Name == f.Subject })
			quota, err := strconv.ParseInt(text, 10, 64)
			if err != nil || !strings.Contains(f.Claim, "a quota of "+text+" on demand would do") {
				t.Fatalf("trial %d: %q, %v", trial, f.Claim, err)
			}
			q := plantest.Copied(p)
			q.Classes[at].Jobs.Min = pl.Classes[at].Admitted + 1
			q.Classes[at].Jobs.Max = max(q.Classes[at].Jobs.Max, q.Classes[at].Jobs.Min)
			for quota, fits := range map[int64]bool{quota: true, quota - 1: false} {
				q.Supply.OnDemand.Quota = &quota
				if feasible := plantest.NewBrute(q).Each(func(_, _ int64, _ []int64) {}); feasible != fits {
					t.Fatalf("trial %d: %q; with a quota of %d it fits: %v\n%s", trial, f.Claim, quota, feasible, plantest.Text(p))
				}
			}
		}
	}
	if told < 50 {
		t.Errorf("%d quotas are told", told)
	}
}
