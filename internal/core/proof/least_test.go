package proof

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/test/plantest"
)

// The cheapest plan of small problems is also found by trying all jobs.
func TestTheCheapestPlanIsBracketed(t *testing.T) {
	r := rand.New(rand.NewPCG(104, 27))
	open, none := 0, 0
	trials := plantest.Trials(400, 10_000)
	for range trials {
		integrality := []capacity.Integrality{capacity.Executable, capacity.Integer}[r.IntN(2)]
		sharing := []capacity.Sharing{capacity.Shared, capacity.Dedicated}[r.IntN(4)/3]
		p := plantest.Sample{Classes: 3, Width: 4, Slots: 4, Integrality: integrality, Sharing: sharing}.Problem(r)
		objective, _, feasible := plantest.NewBrute(p).Best()
		m := newModel(p, nil)
		cost := add(exact.New(objective, 1_000_000), m.refusals())
		for _, near := range []*exact.Rat{nil, cost, mul(cost, exact.New(9, 10)), mul(add(cost, whole(1)), exact.New(11, 10))} {
			l := Cheapest(p, near.Rat(), new(big.Rat), Options{})
			if l.None != !feasible {
				t.Fatalf("feasible is %t, and the bracket says %+v of\n%s", feasible, l, plantest.Text(p))
			}
			if !feasible {
				none++
				break
			}
			if l.Low == nil || l.High == nil {
				open++
				continue
			}
			if sub(exact.Of(l.Low), exact.Of(l.Slack)).Cmp(cost) > 0 || add(exact.Of(l.High), exact.Of(l.Slack)).Cmp(cost) < 0 {
				t.Fatalf("%v is not between %v and %v, near %v, of\n%s", cost, l.Low, l.High, near, plantest.Text(p))
			}
			if less(add(exact.Of(l.Low), mul(whole(2), exact.Of(l.Slack))), exact.Of(l.High)) && (near == nil || near == cost) {
				open++
			}
			for _, off := range []*exact.Rat{exact.New(-1, 10_000), exact.New(1, 10_000)} {
				if l.Holds(add(cost, off).Rat(), new(big.Rat)) == OK {
					t.Fatalf("%v holds, and the cheapest plan costs %v of\n%s", add(cost, off), cost, plantest.Text(p))
				}
			}
		}
	}
	if open > trials/50 || none == 0 || none > trials/2 {
		t.Fatalf("%d of %d brackets are open, and %d problems have no plan", open, 4*trials, none)
	}
}

func TestBracketsAddUp(t *testing.T) {
	var sum Least
	n := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	sum.Add(Least{Low: n(1), High: n(2), Slack: n(0)}, n(3))
	sum.Add(Least{Low: n(2), High: n(2), Slack: n(1)}, big.NewRat(1, 2))
	if sum.Low.Cmp(n(4)) != 0 || sum.High.Cmp(n(7)) != 0 || sum.Slack.Cmp(big.NewRat(1, 2)) != 0 || sum.None {
		t.Fatalf("got %+v, want 4 to 7", sum)
	}
	for _, c := range []struct {
		cost, gap int64
		want      Outcome
	}{{3, 0, Failed}, {5, 0, NotProved}, {7, 3, OK}, {9, 1, Failed}, {8, 4, OK}} {
		if got := sum.Holds(n(c.cost), n(c.gap)); got != c.want {
			t.Errorf("a cost of %d with a gap of %d: got %s, want %s", c.cost, c.gap, got, c.want)
		}
	}
	if sum.Add(Least{Slack: n(0)}, n(1)); sum.Low != nil || sum.Holds(n(7), nil) != NotProved {
		t.Error("a sum with something unknown is known")
	}
}
