package pool

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
)

func TestWhatCannotBeDoneIsNamed(t *testing.T) {
	highest := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name, code, pointer, says string
		spoil                     func(p *PoolProblem)
	}{
		{"no memory", "no_eligible_type", "/jobs/0", "the most that a slot offers is 3.5 GiB, on m1.large", func(p *PoolProblem) {
			p.Jobs[0].MemoryGiBPerTask = 8
			p.Types[0].MemoryGiB, p.Types[0].Slots, p.Types[1].MemoryGiB = 7, 2, 1.7
		}},
		{"memory not said", "no_eligible_type", "/jobs/0", "no type with a rate for it says how much it has", func(p *PoolProblem) { p.Jobs[0].MemoryGiBPerTask = 8 }},
		{"no rate", "no_eligible_type", "/jobs/0", "no rate above 0", func(p *PoolProblem) { p.Jobs[0].Rates = map[string]float64{"m1.large": 0, "c1.medium": 0} }},
		{"due before anything works", "deadline", "/jobs/0/deadline_hours", "works only from 0.25 hours on", func(p *PoolProblem) { p.StartupHours, p.Jobs[0].DeadlineHours = 0.25, 0.2 }},
		{"no disk", "storage", "/storage/data_gb", "no type that may be a core instance has a disk", func(p *PoolProblem) { p.Types[0].DiskGB = 0 }},
		{"disks too few", "storage", "/storage/data_gb", "With 5 instances of m1.large", func(p *PoolProblem) { p.Types[0].Most = highest(3) }},
		{"instances too few", "deadline", "/jobs/0/deadline_hours", "With a deadline of 2.6 hours", func(p *PoolProblem) { // 5 · 4 + 3 · 5 = 35 an hour
			p.Jobs[0].DeadlineHours, p.Types[0].Most, p.Types[1].Most = 2, highest(5), highest(3)
		}},
		{"the second of two jobs", "deadline", "/jobs/1/deadline_hours", "\"late\" cannot be done within 3 hours", func(p *PoolProblem) {
			p.Types[0].Most, p.Types[1].Most = highest(5), highest(3)
			p.Jobs = []PoolJob{{Name: "early", Work: 20, DeadlineHours: 1}, {Name: "late", Work: 90, DeadlineHours: 3}}
		}},
		{"absurd work", "deadline", "/jobs/0/deadline_hours", "times as many", func(p *PoolProblem) { p.Jobs[0].Work = maxPoolWork }},
	} {
		p := caseStudy(4)
		c.spoil(&p)
		a, err := Plan(t.Context(), p, cbc)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if a.Status != PoolInfeasible || len(a.Conflicts) != 1 || a.Conflicts[0].Code != c.code || a.Conflicts[0].Pointer != c.pointer ||
			a.Conflicts[0].Hint == nil || !strings.Contains(a.Conflicts[0].Detail+a.Conflicts[0].Hint.Detail, c.says) {
			t.Errorf("%s: got %s, %+v", c.name, a.Status, a.Conflicts)
		}
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for pointer, spoil := range map[string]func(p *PoolProblem){
		"/jobs/0/work":           func(p *PoolProblem) { p.Jobs[0].Work = 0 },
		"/jobs/0/deadline_hours": func(p *PoolProblem) { p.Jobs[0].DeadlineHours = math.NaN() },
		"/startup_hours":         func(p *PoolProblem) { p.StartupHours = math.Inf(1) },
		"/types/0/disk_gb":       func(p *PoolProblem) { p.Types[0].DiskGB = -1 },
		"/types/1/per_hour":      func(p *PoolProblem) { p.Types[1].PerHour = nil },
		"/types/1":               func(p *PoolProblem) { p.Types[1].Accelerator = false },
		"/types/1/name":          func(p *PoolProblem) { p.Types[1].Name = "m1.large" },
		"/jobs/0/rates/m2":       func(p *PoolProblem) { p.Jobs[0].Rates = map[string]float64{"m2": 1} },
		"/storage/fill":          func(p *PoolProblem) { p.Storage.Fill = 0 },
		"/storage/replication":   func(p *PoolProblem) { p.Storage.Replication = math.Inf(1) },
		"/hours":                 func(p *PoolProblem) { p.Hours = 100_000 },
		"/currency":              func(p *PoolProblem) { p.Currency = "" },
		"/jobs":                  func(p *PoolProblem) { p.Jobs, p.Storage.DataGB = nil, 0 },
		"/mix":                   func(p *PoolProblem) { p.Mix = &PoolMix{} },
	} {
		p := caseStudy(4)
		spoil(&p)
		_, err := Plan(t.Context(), p, cbc)
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || wrong.Findings[0].Pointer != pointer {
			t.Errorf("%s: got %v", pointer, err)
		}
	}
	if _, err := Evaluate(t.Context(), caseStudy(4), nil); !errors.Is(err, fault.Invalid) {
		t.Errorf("a mix that is missing: got %v", err)
	}
}

func TestFreeInstancesAreRentedAsFarAsTheyAreNeeded(t *testing.T) {
	p := caseStudy(4)
	p.Types[1].PerHour = cash("0")
	a, err := Plan(t.Context(), p, cbc)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := RecheckPool(p, a); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if a.Status != PoolOptimal || a.Cost.String() != "6.80" || len(a.Mix.Accelerators) != 1 || a.Mix.Accelerators[0].Count != 2 {
		t.Errorf("got %s, %s, %+v", a.Status, a.Cost, a.Mix)
	}
	p.Types[0].PerHour = cash("0")
	if a, err = Plan(t.Context(), p, cbc); err != nil || a.Status != PoolOptimal || !a.Cost.IsZero() || len(RecheckPool(p, a)) > 0 {
		t.Errorf("nothing costs anything: got %+v, %v", a, err)
	}
}

// A disk that holds all the data is as good as the largest one that can be sent, which a solver could not scale.
func TestHugeDisksAreJustLargeEnough(t *testing.T) {
	for _, price := range []string{"0.34", "0.01"} {
		p := caseStudy(4)
		p.Types[0].PerHour, p.Types[0].DiskGB = cash(price), p.Storage.NeededGB()
		enough, err := Plan(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		p.Types[0].DiskGB = maxPoolGB
		huge, err := Plan(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckPool(p, huge); len(wrong) > 0 || huge.Status != enough.Status || !huge.Cost.Equal(enough.Cost.Decimal) || huge.Mix.Core[0].Count != enough.Mix.Core[0].Count {
			t.Errorf("at %s got %s, %s, %+v (%v), want %s, %s, %+v", price, huge.Status, huge.Cost, huge.Mix, wrong, enough.Status, enough.Cost, enough.Mix)
		}
	}
}

// The least work that can be sent takes one instance, of whichever kind.
func TestTheLeastWorkTakesOneInstance(t *testing.T) {
	for _, core := range []bool{true, false} {
		p := caseStudy(4)
		p.Storage.DataGB, p.Jobs = 0, []PoolJob{{Name: "j", Work: minPoolWork}}
		p.Types = p.Types[:1]
		p.Types[0].Core, p.Types[0].Accelerator = core, !core
		a, err := Plan(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckPool(p, a); len(wrong) > 0 || len(a.Mix.Core)+len(a.Mix.Accelerators) != 1 {
			t.Errorf("got %s, %+v (%v)", a.Status, a.Mix, wrong)
		}
	}
}

func TestHundredsOfTypes(t *testing.T) {
	p := large(rand.New(rand.NewPCG(5, 5)), 400, 20, 24, 0)
	within := func(limit time.Duration) (PoolPlan, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return Plan(ctx, p, cbc)
	}
	began := time.Now()
	a, err := within(3 * time.Second)
	if errors.Is(err, fault.Busy) { // the machine has other work
		a, err = within(30 * time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	if wrong := RecheckPool(p, a); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	t.Logf("%s, %s, at least %s, gap %.3f %%, %v", a.Status, a.Cost, a.LowerBound, 100*a.Gap, time.Since(began).Round(10*time.Millisecond))
}

func TestWithoutASolverNothingIsPlanned(t *testing.T) {
	if _, err := Plan(t.Context(), caseStudy(4), nil); !errors.Is(err, fault.Busy) || !errors.Is(err, lp.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Plan(ctx, caseStudy(4), cbc); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if _, err := Share(t.Context(), sharePlan(), nil); err == nil {
		t.Error("shares without a solver")
	}
}

// liar is a solver with changed answers.
type liar struct {
	random *rand.Rand
}

func (l liar) Solve(ctx context.Context, p *lp.Program, o lp.Options) (lp.Solution, error) {
	s, err := cbc.Solve(ctx, p, o)
	if err != nil {
		return s, err
	}
	s.X, s.RowDual = slices.Clone(s.X), slices.Clone(s.RowDual)
	switch l.random.IntN(6) {
	case 0:
		for j := range s.X {
			s.X[j] *= l.random.Float64()
		}
	case 1:
		for i := range s.RowDual {
			s.RowDual[i] *= 3 * l.random.Float64()
		}
	case 2:
		s.Status = []lp.Status{lp.Infeasible, lp.Optimal, lp.Unbounded, lp.Stopped}[l.random.IntN(4)]
	case 3:
		if len(s.X) > 0 {
			s.X[l.random.IntN(len(s.X))] = math.NaN()
		}
	case 4:
		s.Objective, s.Bound = 0, 1e9
	}
	return s, nil
}

// For any answers of a solver, no wrong plan comes out, and no bound above the cost of a mix.
func TestLyingSolversSpoilNoPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	answered := 0
	for range 80 {
		p := draw(r)
		honest, err := Plan(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Plan(t.Context(), p, liar{r})
		if err != nil {
			if !errors.Is(err, fault.Busy) {
				t.Fatalf("got %v", err)
			}
			continue
		}
		answered++
		if wrong := RecheckPool(p, a); len(wrong) > 0 {
			t.Fatalf("%v\n%+v\n%+v", wrong, p, a)
		}
		if a.Status == PoolInfeasible {
			if honest.Status != PoolInfeasible {
				t.Fatalf("infeasible, they say: %+v\n%+v", a.Conflicts, p)
			}
			continue
		}
		if a.LowerBound.GreaterThan(honest.Cost.Decimal) {
			t.Fatalf("nothing costs less than %s, they say, but %s does: %+v", a.LowerBound, honest.Cost, p)
		}
	}
	t.Logf("%d of 80 answered", answered)
}

// drawMix draws instances of some types for some hours.
func drawMix(r *rand.Rand, p *PoolProblem) {
	for _, x := range p.Types {
		if r.IntN(2) == 0 {
			p.Mix.Core = append(p.Mix.Core, PoolCore{Type: x.Name, Count: int64(r.IntN(4))})
		}
		for range r.IntN(3) {
			p.Mix.Accelerators = append(p.Mix.Accelerators, PoolAccelerator{Type: x.Name, Count: int64(r.IntN(4)), Hours: int64(r.IntN(4))})
		}
	}
}

// Random mixes of random problems, checked by other means. A mix that misses deadlines in order may meet them with
// another division of the work.
func TestEvaluationsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	met, other, unmet := 0, 0, 0
	slow := func(p PoolProblem) PoolProblem { // each type is good at one job only, and both are due at once
		p.Types = slices.Clone(p.Types)
		for i := range p.Types {
			p.Types[i].Core = true
		}
		p.Jobs = []PoolJob{{Name: "a", Work: 10, DeadlineHours: 1, Rates: map[string]float64{"m1.large": 10, "c1.medium": 1}}, {Name: "b", Work: 10, DeadlineHours: 1, Rates: map[string]float64{"m1.large": 1, "c1.medium": 10}}}
		p.Mix = &PoolMix{Core: []PoolCore{{Type: "m1.large", Count: 1}, {Type: "c1.medium", Count: 1}}}
		return p
	}
	for n := range 300 {
		p := draw(r)
		p.Mix = &PoolMix{}
		if n == 0 {
			p = slow(caseStudy(4))
		} else {
			drawMix(r, &p)
		}
		e, err := Evaluate(t.Context(), p, cbc)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckEvaluation(p, e); len(wrong) > 0 {
			t.Fatalf("case %d: %v\n%+v\n%+v", n, wrong, p, e)
		}
		if !e.Proved {
			t.Fatalf("case %d: not known whether deadlines can be met: %+v", n, p)
		}
		alone, err := Evaluate(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.DeadlinesMet && !alone.DeadlinesMet:
			other++
		case e.DeadlinesMet:
			met++
		default:
			unmet++
		}
	}
	t.Logf("deadlines met in order %d, in another division %d, not at all %d", met, other, unmet)
	if met == 0 || other == 0 || unmet == 0 {
		t.Error("one of them did not occur")
	}
}
