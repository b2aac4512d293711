package whatif

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

func swept(t *testing.T, q SweepQuestion, workers int) SweepAnswer {
	t.Helper()
	if err := CheckVaried(q.Vary, q.Curve); err != nil {
		t.Fatal(err)
	}
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	s, brief := NewSweep(q), plan.NewSeries(q.Problem, nil)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			if err := s.Work(t.Context(), alone, brief.Solve); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a, err := s.Answer()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSweepPointsEqualSolve solves each point of random sweeps again, with the problem changed by hand.
func TestSweepPointsEqualSolve(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 2))
	infeasible := 0
	for trial := range plantest.Samples(40) {
		integrality := []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable}[trial%3]
		p := plantest.DrawProblem(t, r, 1+r.IntN(8), integrality)
		class := p.Classes[r.IntN(len(p.Classes))].Name
		q := SweepQuestion{Problem: p, Vary: []Vary{
			{What: ChangePenalty, Class: class, From: plantest.Number(0.5), To: plantest.Number(8), Steps: 4, Spacing: Geometric},
			{What: ChangeQuota, By: ByValue, Values: []money.Amount{*plantest.Number(0), *plantest.Number(30), *plantest.Number(500)}},
		}}
		a := swept(t, q, 3)
		if !a.Complete || a.Total != 12 || len(a.Points) != 12 {
			t.Fatalf("got %d of %d points", len(a.Points), a.Total)
		}
		for i, factor := range []float64{0.5, 1.25992105, 3.174802104, 8} {
			for k, quota := range []int64{0, 30, 500} {
				point := a.Points[3*i+k]
				if !plantest.Near(point.Parameters[0], factor, 1e-8) || point.Parameters[1] != float64(quota) {
					t.Fatalf("point %d lies at %v, want %g and %d", 3*i+k, point.Parameters, factor, quota)
				}
				changed := plantest.Copied(p)
				for n := range changed.Classes {
					if c := &changed.Classes[n]; c.Name == class {
						c.Penalty = money.Amount{Decimal: c.Penalty.Mul(plantest.Number(point.Parameters[0]).Decimal).Round(money.Places)}
					}
				}
				changed.Supply.OnDemand.Quota = &quota
				pl := solved(t, changed)
				if pl.Status == capacity.InfeasibleStatus {
					infeasible++
					if point.Status != pl.Status || point.Conflict != pl.Conflicts[0].Detail || point.Price != nil {
						t.Fatalf("trial %d: got %+v, want the conflict %q", trial, point, pl.Conflicts[0].Detail)
					}
					continue
				}
				if diff := cmp.Diff(pl.Cost, point.Cost); diff != "" || point.VMs.Total != pl.VMs.Total || point.Status != pl.Status {
					t.Fatalf("trial %d: point %+v differs from its plan: %s", trial, point, diff)
				}
			}
		}
		if diff := cmp.Diff(a, swept(t, q, 1)); diff != "" {
			t.Fatalf("trial %d: one worker finds something else: %s", trial, diff)
		}
	}
	if infeasible == 0 {
		t.Error("no point was infeasible")
	}
}

func TestASweepThatIsEndedKeepsItsPoints(t *testing.T) {
	t.Parallel()
	q := SweepQuestion{Problem: plantest.Market(t, 3, "0.10", "0.20", capacity.Executable),
		Vary: []Vary{{What: ChangeDemand, By: ByFactor, From: plantest.Number(0.5), To: plantest.Number(2), Steps: 31}}}
	q.Problem.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1.5", "5", 1, 10)}
	s := NewSweep(q)
	ctx, stop := context.WithCancel(t.Context())
	planned := 0
	solve := func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		if planned++; planned == 8 {
			stop()
			return capacity.Plan{}, ctx.Err()
		}
		return alone(ctx, p)
	}
	err := s.Work(ctx, solve, solve)
	a, wrong := s.Answer()
	if !errors.Is(err, context.Canceled) || wrong != nil || a.Complete || a.Total != 31 || len(a.Points) != 7 || s.Done() != 7 {
		t.Errorf("got %v, %v and %d of %d points", err, wrong, len(a.Points), a.Total)
	}
	if want := "The rest is missing because the work was ended before."; !strings.Contains(a.Explanation, want) {
		t.Errorf("got %q", a.Explanation)
	}
}

// Where the least or the greatest is at several points, the others are counted.
func TestExtremesCountTies(t *testing.T) {
	t.Parallel()
	q := SweepQuestion{Problem: plantest.Market(t, 2, "0.10", "0.20", capacity.Integer),
		Vary: []Vary{{What: ChangeDemand, By: ByFactor, From: plantest.Number(0.5), To: plantest.Number(2), Steps: 4}}}
	q.Problem.Supply.OnDemand.Quota = new(int64(1))
	q.Problem.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "5", 0, 2)}
	a := swept(t, q, 1)
	for _, want := range []string{"The bill is least, 0.10 USD an hour, at demand factor 0.5.", "The bill is greatest, 0.40, first at demand factor 1.5, and the same at 1 other point."} {
		if !strings.Contains(a.Explanation, want) {
			t.Errorf("%q is not in %q", want, a.Explanation)
		}
	}
	for _, of := range a.Facts {
		t.Log(of.Claim)
	}
}

// TestAThousandPoints measures; it judges nothing but that all are there.
func TestAThousandPoints(t *testing.T) {
	t.Parallel()
	n := int64(20)
	if os.Getenv("HEADROOM_LONG") == "1" {
		n = 1000
	}
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		p, err := capacity.ReadProblem(plantest.CallBody(t, "mixed", integrality, 100), capacity.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		p.Options.Engine = capacity.EngineAuto
		began := time.Now()
		a := swept(t, SweepQuestion{Problem: p, Vary: []Vary{{What: ChangeDemand, By: ByFactor, From: plantest.Number(0.5), To: plantest.Number(2), Steps: n}}}, 2)
		proved := 0
		for _, point := range a.Points {
			if point.Status == capacity.Optimal {
				proved++
			}
		}
		if !a.Complete || len(a.Points) != int(n) {
			t.Errorf("%s: %d points", integrality, len(a.Points))
		}
		t.Logf("%s: %d points of 100 classes took %s, %d of them proved", integrality, n, time.Since(began), proved)
	}
}
