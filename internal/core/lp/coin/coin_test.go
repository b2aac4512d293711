//go:build cgo

package coin

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/lp"
)

var inf = math.Inf(1)

// planning returns a program with the columns d, r, h0, h1, h2, all whole. It is min 0.39 d + 0.2 r − 2.001 h0 −
// 0.141 h1 − 2.254 h2 with 3.9 h0 + 0.44 h1 + 4.89 h2 ≤ d + r.
func planning() *lp.Program {
	p := new(lp.Program)
	row := p.Row(math.Inf(-1), 0)
	p.Column(0.39, 0, inf, true, lp.Entry{Row: row, Coefficient: -1})
	p.Column(0.2, 0, 72, true, lp.Entry{Row: row, Coefficient: -1})
	p.Column(-2.001, 6, 8, true, lp.Entry{Row: row, Coefficient: 3.9})
	p.Column(-0.141, 5, 8, true, lp.Entry{Row: row, Coefficient: 0.44})
	p.Column(-2.254, 0, 8, true, lp.Entry{Row: row, Coefficient: 4.89})
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// CBC 2.10.8 with its own settings claims −19.988 for this program; enumeration finds −20.096.
func TestPinnedSettingsAvoidTheFalseOptimum(t *testing.T) {
	for variation := range 2 {
		s, err := Solve(planning(), lp.Options{}, variation)
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != lp.Optimal || !near(s.Objective, -20.096) {
			t.Errorf("variation %d: got %s %.9g, want optimal -20.096", variation, s.Status, s.Objective)
		}
		if err := lp.Check(planning(), s.X, s.Objective); err != nil {
			t.Errorf("variation %d: %v", variation, err)
		}
	}
	if got := enumerate(planning(), inf); !near(got, -20.096) {
		t.Errorf("enumeration: got %.9g, want -20.096", got)
	}
	own := pinned
	defer func() { pinned = own }()
	pinned = []setting{{"logLevel", "0"}, {"slogLevel", "0"}}
	s, err := Solve(planning(), lp.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("with cbc's own settings: %s %.9g by %s", s.Status, s.Objective, s.Engine)
}

// enumerate tries every h and buys the machines it needs, reserved ones first, for at most budget. It returns
// infinity if nothing is feasible.
func enumerate(p *lp.Program, budget float64) float64 {
	best := inf
	for h0 := p.Lower[2]; h0 <= p.Upper[2]; h0++ {
		for h1 := p.Lower[3]; h1 <= p.Upper[3]; h1++ {
			for h2 := p.Lower[4]; h2 <= p.Upper[4]; h2++ {
				k := p.Start[2:]
				need := math.Ceil(p.Coefficient[k[0]]*h0 + p.Coefficient[k[1]]*h1 + p.Coefficient[k[2]]*h2 - 1e-9)
				reserved := min(need, p.Upper[1])
				if bill := p.Cost[0]*(need-reserved) + p.Cost[1]*reserved; bill <= budget+1e-9 {
					best = min(best, bill+p.Cost[2]*h0+p.Cost[3]*h1+p.Cost[4]*h2)
				}
			}
		}
	}
	return best
}

// With a budget row and its own settings CBC also claims that feasible programs are not.
func TestRandomPlanningProgramsAgainstEnumeration(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	infeasible := 0
	for n := range 300 {
		p := new(lp.Program)
		budget := inf
		load := p.Row(math.Inf(-1), 0)
		d, r := []lp.Entry{{Row: load, Coefficient: -1}}, []lp.Entry{{Row: load, Coefficient: -1}}
		if n%2 == 0 {
			budget = float64(random.IntN(200)) / 10
			bill := p.Row(math.Inf(-1), budget)
			d, r = append(d, lp.Entry{Row: bill, Coefficient: 0.39}), append(r, lp.Entry{Row: bill, Coefficient: 0.2})
		}
		p.Column(0.39, 0, inf, true, d...)
		p.Column(0.2, 0, float64(random.IntN(90)), true, r...)
		for range 3 {
			limit := 3 + random.IntN(8)
			p.Column(-float64(random.IntN(4000))/1000, float64(random.IntN(limit)), float64(limit), true,
				lp.Entry{Row: load, Coefficient: float64(random.IntN(800)+20) / 100})
		}
		s, err := Solve(p, lp.Options{}, n/2%2)
		if err != nil {
			t.Fatal(err)
		}
		want := enumerate(p, budget)
		if math.IsInf(want, 1) {
			infeasible++
			if s.Status != lp.Infeasible {
				t.Errorf("program %d (%+v): got %s %.9g, want infeasible", n, p, s.Status, s.Objective)
			}
		} else if s.Status != lp.Optimal || !near(s.Objective, want) {
			t.Errorf("program %d (%+v): got %s %.9g, want optimal %.9g", n, p, s.Status, s.Objective, want)
		}
	}
	if infeasible < 10 || infeasible > 140 {
		t.Errorf("%d programs are infeasible", infeasible)
	}
}

func TestStatuses(t *testing.T) {
	box := func(cost, lower, upper float64, whole bool, rowLower, rowUpper float64) *lp.Program {
		p := new(lp.Program)
		row := p.Row(rowLower, rowUpper)
		p.Column(cost, lower, upper, whole, lp.Entry{Row: row, Coefficient: 1})
		return p
	}
	bare := func(whole bool) *lp.Program {
		p := new(lp.Program)
		p.Column(-1, 0, 3, whole)
		return p
	}
	for _, c := range []struct {
		name string
		p    *lp.Program
		want lp.Status
	}{
		{"linear optimal", box(1, 0, 9, false, 2, inf), lp.Optimal},
		{"linear infeasible", box(1, 0, 1, false, 2, inf), lp.Infeasible},
		{"linear unbounded", box(-1, 0, inf, false, 2, inf), lp.Unbounded},
		{"linear without rows", bare(false), lp.Optimal},
		{"mixed optimal", box(1, 0, 9, true, 2.5, inf), lp.Optimal},
		{"mixed infeasible in its relaxation", box(1, 0, 1, true, 2, inf), lp.Infeasible},
		{"mixed infeasible between whole numbers", box(1, 0, 9, true, 2.25, 2.75), lp.Infeasible},
		{"mixed unbounded", box(-1, 0, inf, true, 2, inf), lp.Unbounded},
		{"mixed without rows", bare(true), lp.Optimal},
	} {
		for variation := range 2 {
			s, err := Solve(c.p, lp.Options{}, variation)
			if err != nil || s.Status != c.want {
				t.Errorf("%s, variation %d: got %q, %v, want %q", c.name, variation, s.Status, err, c.want)
			}
			if s.X != nil {
				if err := lp.Check(c.p, s.X, s.Objective); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		}
	}
}

// A start that no search node may improve is returned.
func TestStartIsUsed(t *testing.T) {
	p := hard(400, 3)
	s, err := Solve(p, lp.Options{Gap: 1e-3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Solve(p, lp.Options{Start: s.X, Gap: 0.5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again.Objective > s.Objective+1e-9 {
		t.Errorf("started from %.9g got %.9g", s.Objective, again.Objective)
	}
	plain, err := Solve(p, lp.Options{Gap: 0.5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("gap 0.5: %.9g without a start, %.9g with the start %.9g", plain.Objective, again.Objective, s.Objective)
}

func TestSameProgramSameAnswer(t *testing.T) {
	p := hard(200, 5)
	first, err := Solve(p, lp.Options{Gap: 1e-5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Solve(p, lp.Options{Gap: 1e-5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// hard returns a planning program whose admission is close everywhere: penalties between the two prices.
func hard(classes int, seed uint64) *lp.Program {
	random := rand.New(rand.NewPCG(seed, 1))
	p := new(lp.Program)
	row := p.Row(math.Inf(-1), 0)
	p.Column(0.39, 0, inf, true, lp.Entry{Row: row, Coefficient: -1})
	p.Column(0.2, 0, float64(classes*5), true, lp.Entry{Row: row, Coefficient: -1})
	for range classes {
		gamma := float64(50+random.IntN(900)) / 100
		penalty := math.Round(gamma*(200+190*random.Float64())) / 1000
		p.Column(-penalty, 0, float64(1+random.IntN(20)), true, lp.Entry{Row: row, Coefficient: gamma})
	}
	return p
}

func BenchmarkPlanning1000(b *testing.B) {
	p := hard(1000, 1)
	for b.Loop() {
		if _, err := Solve(p, lp.Options{Gap: 1e-4}, 0); err != nil {
			b.Fatal(err)
		}
	}
}
