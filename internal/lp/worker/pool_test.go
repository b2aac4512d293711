package worker

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"headroom/internal/lp"
)

const parentRole = "HEADROOM_TEST_PARENT"

func beParent() int { return 1 }

var inf = math.Inf(1)

// planning is a planning program of random classes, columns d, r, h...: penalties lie between
// the two prices of a machine, so that every admission is close.
func planning(classes int, seed uint64, whole bool) *lp.Program {
	random := rand.New(rand.NewPCG(seed, 1))
	p := new(lp.Program)
	row := p.Row(math.Inf(-1), 0)
	p.Column(0.39, 0, inf, whole, lp.Entry{Row: row, Coefficient: -1})
	p.Column(0.2, 0, float64(classes*5), whole, lp.Entry{Row: row, Coefficient: -1})
	for range classes {
		gamma := math.Round(50+900*random.Float64()) / 100
		penalty := math.Round(gamma*(200+190*random.Float64())) / 1000
		p.Column(-penalty, 0, float64(1+random.IntN(20)), whole, lp.Entry{Row: row, Coefficient: gamma})
	}
	return p
}

func newPool(t testing.TB, c Config) *Pool {
	p := New(c)
	t.Cleanup(p.Close)
	return p
}

func TestSolvesMixedAndLinear(t *testing.T) {
	pool := newPool(t, Config{Processes: 1})
	began := time.Now()
	for _, whole := range []bool{true, false} {
		p := planning(1000, 1, whole)
		s, err := pool.Solve(context.Background(), p, lp.Options{Gap: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != lp.Optimal {
			t.Errorf("got %s, want optimal", s.Status)
		}
		t.Log(s.Engine, s.Objective, s.Bound, time.Since(began))
	}
}
