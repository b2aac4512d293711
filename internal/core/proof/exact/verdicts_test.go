package exact_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// TestSameVerdicts checks right plans and every change of them twice, the second time in fractions of math/big alone: both
// reports must be the same to the letter. Amounts are also tiny and huge ones, and times have many digits.
func TestSameVerdicts(t *testing.T) {
	defer exact.Fractions(false)
	r := rand.New(rand.NewPCG(11, 12))
	reports, refused := 0, 0
	both := func(p capacity.Problem, pl capacity.Plan) {
		report := func(fractions bool) string {
			exact.Fractions(fractions)
			x := proof.Verify(p, pl, proof.Options{Nodes: 2000})
			exact.Fractions(false)
			if !fractions && !x.Accepted() {
				refused++
			}
			text, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		reports++
		if got, want := report(false), report(true); got != want {
			t.Fatalf("got %s\nin fractions %s\nof %s", got, want, plantest.Text(p))
		}
	}
	for range plantest.Trials(30, 2000) {
		p := plantest.DrawAny(r)
		if r.IntN(3) == 0 {
			stretch(r, &p)
		}
		pl, err := plan.Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		both(p, pl)
		text, err := json.Marshal(pl)
		if err != nil {
			t.Fatal(err)
		}
		all := mutation.Of(t, text)
		for range plantest.Trials(12, len(all)) {
			if changed, err := capacity.ReadPlan(all[r.IntN(len(all))].Text()); err == nil {
				both(p, changed)
			}
		}
	}
	if reports < 200 || refused < 50 {
		t.Errorf("%d reports, of which %d refuse: both must be many", reports, refused)
	}
}

// stretch multiplies all amounts of a problem by a power of ten, and gives times and VMs per job more digits.
func stretch(r *rand.Rand, p *capacity.Problem) {
	shift := int32(r.IntN(13) - 6)
	times := func(x money.Amount) money.Amount { return money.Amount{Decimal: x.Shift(shift).Round(money.Places)} }
	s := &p.Supply
	s.OnDemand.Price = times(s.OnDemand.Price)
	for k := range s.Contracts {
		s.Contracts[k].Price = times(s.Contracts[k].Price)
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		if c.Penalty = times(c.Penalty); c.VMsPerJob != nil {
			gamma := c.VMsPerJob.Add(decimal.New(r.Int64N(1e9), -int32(r.IntN(21))-9))
			c.VMsPerJob = &gamma
		}
		c.DeadlineSeconds += r.Float64()
	}
}
