package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// solver is a lp.Solver made of a function.
type solver func(ctx context.Context, p *lp.Program, o lp.Options) (lp.Solution, error)

func (s solver) Solve(ctx context.Context, p *lp.Program, o lp.Options) (lp.Solution, error) {
	return s(ctx, p, o)
}

// warned says whether a plan carries a warning of a code.
func warned(pl capacity.Plan, code string) bool {
	return slices.ContainsFunc(pl.Warnings, func(w capacity.Warning) bool { return w.Code == code })
}

// sameMoney allows for the gap the engines stop at.
func sameMoney(a, b money.Amount) bool {
	return math.Abs(a.Float()-b.Float()) <= 1e-6*math.Max(1, math.Abs(a.Float()))
}

// The three engines, through real solver processes, agree with each other and with enumeration.
func TestEnginesAgreeOnSmallInstances(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 2})
	defer pool.Close()
	asked := 0
	for seed := range uint64(plantest.Trials(20, 20_000)) {
		p := study.Small(seed).Problem()
		p.Options.Engine = capacity.EngineExact
		p.Options.MaxSolveMs = 60_000 // CBC is done within milliseconds, on a machine that has time for it
		exact := answered(t, p)
		want, _, feasible := plantest.NewBrute(p).Best()
		for _, engine := range []capacity.Engine{capacity.EngineCBC, capacity.EngineAuto} {
			p.Options.Engine = engine
			pl, err := Solve(context.Background(), p, pool)
			if err != nil {
				t.Fatal(err)
			}
			if pl.Status != exact.Status || (pl.Status == capacity.InfeasibleStatus) == feasible {
				t.Fatalf("seed %d: %s says %s, the exact method %s", seed, engine, pl.Status, exact.Status)
			}
			if !feasible {
				continue
			}
			if got := pl.Objective.Float(); math.Abs(got-float64(want)/1e6) > 1e-6*math.Max(1, math.Abs(got)) || !sameMoney(pl.Objective, exact.Objective) {
				t.Fatalf("seed %d: %s says %s, the exact method %s, enumeration %d millionths", seed, engine, pl.Objective, exact.Objective, want)
			}
			if engine == capacity.EngineCBC {
				asked++
				if pl.Proof.Agreed == nil || !*pl.Proof.Agreed || pl.Proof.Engine == "" || len(pl.Warnings) > 0 {
					t.Fatalf("seed %d: CBC did not agree: %+v %v\n%s", seed, pl.Proof, pl.Warnings, plantest.Text(p))
				}
			} else if pl.Status == capacity.Optimal && pl.Proof.Engine != "" {
				t.Fatalf("seed %d: the automatic engine asked CBC although the plan was proved", seed)
			}
		}
	}
	if asked < plantest.Trials(10, 10_000) {
		t.Errorf("CBC was asked %d times, want more", asked)
	}
}

// A load a hair above whole VMs is within CBC's tolerance of one VM less. The question is put so that CBC sees the
// difference, and its answer about half a hair is no failure.
func TestSecondOpinionSeesAHair(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	ratio := func(s string) *decimal.Decimal { return new(decimal.RequireFromString(s)) }
	for _, third := range []string{"0.33333334", "0.333333334"} {
		fixed := capacity.Class{Name: "fixed", VMsPerJob: ratio(third), Jobs: capacity.JobRange{Min: 3, Max: 3}}
		quota := int64(5)
		for name, p := range map[string]capacity.Problem{
			"one more job": {
				Supply:  capacity.Supply{OnDemand: capacity.OnDemand{Price: plantest.Hundredths(179)}},
				Classes: []capacity.Class{fixed, {Name: "open", VMsPerJob: ratio("2.5"), Jobs: capacity.JobRange{Max: 4}, Penalty: plantest.Hundredths(460)}},
			},
			"nothing to choose": {
				Supply:  capacity.Supply{OnDemand: capacity.OnDemand{Price: plantest.Hundredths(179), Quota: &quota}},
				Classes: []capacity.Class{fixed},
			},
		} {
			p.Currency, p.PeriodSeconds, p.Options = "USD", 3600, capacity.DefaultOptions()
			p.Options.Integrality, p.Options.Gap, p.Options.MaxSolveMs = capacity.Integer, 0, 60_000
			pl, err := Solve(t.Context(), p, pool)
			if err != nil {
				t.Fatal(err)
			}
			if want := newExactly(&p).best(new(big.Rat)); want.Cmp(rat(pl.Objective.Decimal)) != 0 {
				t.Errorf("%s of %s: the plan costs %s, want %s", name, third, pl.Objective, want.FloatString(2))
			}
			if pl.Proof.Agreed == nil || !*pl.Proof.Agreed || len(pl.Warnings) > 0 {
				t.Errorf("%s of %s: CBC did not agree: %+v %v", name, third, pl.Proof, pl.Warnings)
			}
		}
	}
}

// On the families of the papers and the knapsack books no engine is ever better than the other's
// proven bound.
func TestEnginesAgreeOnFamilies(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 2})
	defer pool.Close()
	sizes, most := []int{20}, int64(300)
	if plantest.Trials(0, 1) > 0 {
		sizes, most = []int{20, 60, 150, 300}, 1000
	}
	for _, family := range study.Names() {
		for _, n := range sizes {
			for seed := range uint64(plantest.Trials(1, 5)) {
				in, err := study.Generate(family, n, seed+1)
				if err != nil {
					t.Fatal(err)
				}
				p := in.Problem()
				p.Options.MaxSolveMs = most
				if family == "mixed" && seed%2 == 0 {
					if p, err = in.Profiled(); err != nil {
						t.Fatal(err)
					}
					p.Options.Integrality = capacity.Executable
				}
				checkEngines(t, fmt.Sprintf("%s, %d classes, seed %d", family, n, seed+1), p, pool)
			}
		}
	}
}

func checkEngines(t *testing.T, name string, p capacity.Problem, pool lp.Solver) {
	t.Helper()
	var plans []capacity.Plan
	for _, engine := range []capacity.Engine{capacity.EngineExact, capacity.EngineCBC, capacity.EngineAuto} {
		p.Options.Engine = engine
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		pl, err := Solve(ctx, p, pool)
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if pl.Proof.Agreed != nil && !*pl.Proof.Agreed && pl.Status == capacity.Optimal {
			t.Errorf("%s: CBC does not agree with %s: %+v", name, pl.Objective, pl.Proof)
		}
		if warned(pl, "engines_disagree") || warned(pl, "solver_unavailable") {
			t.Errorf("%s: %v", name, pl.Warnings)
		}
		plans = append(plans, pl)
	}
	for _, a := range plans {
		for _, b := range plans {
			if below := b.Proof.Bound.Float() - a.Objective.Float(); below > 1e-8*math.Abs(a.Objective.Float()) {
				t.Errorf("%s: a plan of %s is below the bound %s of another engine", name, a.Objective, b.Proof.Bound)
			}
			if a.Status == capacity.Optimal && b.Status == capacity.Optimal && !sameMoney(a.Objective, b.Objective) {
				t.Errorf("%s: %s and %s are both called optimal", name, a.Objective, b.Objective)
			}
		}
	}
}

// unproved is a problem on which a solver may still find something: the search has no time.
func unproved(t *testing.T) (capacity.Problem, context.Context, context.CancelFunc) {
	t.Helper()
	in, err := study.Generate("hard", 200, 3)
	if err != nil {
		t.Fatal(err)
	}
	p := in.Problem()
	p.Options.Gap = 0
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	return p, ctx, cancel
}

// The plan is the core's with any answer of a solver, and the statements about the solver are true.
func TestSolversThatMisbehave(t *testing.T) {
	p := plantest.Market(t, 5, "0.10", "0.20", capacity.Integer)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "worth it", "1", "1.00", 1, 3), plantest.ByGamma(t, "at the margin", "1.5", "0.26", 0, 4)}
	exact := answered(t, p)
	if exact.Status != capacity.Optimal || exact.Objective.String() != "-2.82" {
		t.Fatalf("got %s, %s, want optimal, -2.82", exact.Status, exact.Objective)
	}
	p.Options.Engine = capacity.EngineCBC
	no := false
	constant := func(value float64) func(*lp.Program) []float64 {
		return func(q *lp.Program) []float64 {
			x := make([]float64, q.Columns())
			for i := range x {
				x[i] = value
			}
			return x
		}
	}
	tooMany := func(q *lp.Program) []float64 { // one more job of the best class is always worth it
		x, best := slices.Clone(q.Lower), 0
		for j, cost := range q.Cost {
			if cost < q.Cost[best] {
				best = j
			}
		}
		x[best] = q.Upper[best] + 1
		return x
	}
	fewest := func(q *lp.Program) []float64 { // as few jobs as may be on as many VMs
		x := slices.Clone(q.Upper)
		for j, cost := range q.Cost {
			if cost < 0 {
				x[j] = q.Lower[j]
			}
		}
		return x
	}
	for _, c := range []struct {
		name    string
		status  lp.Status
		x       func(q *lp.Program) []float64
		err     error
		agreed  *bool
		warning string
	}{
		{"worse than the optimum and called optimal", lp.Optimal, fewest, nil, &no, ""},
		{"more jobs than wanted", lp.Optimal, tooMany, nil, &no, ""},
		{"more VMs and jobs than there are", lp.Optimal, constant(1e9), nil, &no, ""},
		{"negative jobs", lp.Optimal, constant(-1e9), nil, &no, ""},
		{"no numbers", lp.Optimal, constant(math.NaN()), nil, &no, ""},
		{"infinite jobs", lp.Optimal, constant(math.Inf(1)), nil, &no, ""},
		{"too short", lp.Optimal, func(*lp.Program) []float64 { return []float64{1} }, nil, &no, ""},
		{"infeasible", lp.Infeasible, nil, nil, &no, ""},
		{"unbounded", lp.Unbounded, nil, nil, &no, ""},
		{"over time without a solution", lp.Stopped, nil, nil, nil, ""},
		{"over time with a worse one", lp.Feasible, fewest, nil, nil, ""},
		{"crashed", "", nil, lp.ErrCrashed, nil, "solver_unavailable"},
		{"busy", "", nil, lp.ErrBusy, nil, "solver_unavailable"},
		{"away", "", nil, fmt.Errorf("start: %w", lp.ErrUnavailable), nil, "solver_unavailable"},
		{"broken somehow", "", nil, errors.New("broken pipe"), nil, "solver_unavailable"},
	} {
		asked := 0
		fake := solver(func(_ context.Context, q *lp.Program, _ lp.Options) (lp.Solution, error) {
			asked++
			if c.err != nil {
				return lp.Solution{}, c.err
			}
			s := lp.Solution{Status: c.status, Engine: "liar 1.0", Bound: 1e9}
			if c.x != nil {
				s.X = c.x(q)
			}
			for j, x := range s.X {
				s.Objective += q.Cost[j] * x
			}
			return s, nil
		})
		pl, err := survived(func() (capacity.Plan, error) { return Solve(context.Background(), p, fake) })
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if asked != 1 {
			t.Errorf("%s: asked %d times", c.name, asked)
		}
		if pl.Objective.String() != exact.Objective.String() || pl.Status != capacity.Optimal || pl.Proof.Gap != 0 {
			t.Errorf("%s: got %s, %s, gap %g, want optimal, %s", c.name, pl.Status, pl.Objective, pl.Proof.Gap, exact.Objective)
		}
		for i := range pl.Classes {
			if pl.Classes[i].Admitted != exact.Classes[i].Admitted {
				t.Errorf("%s: class %d has %g jobs, want %g", c.name, i, pl.Classes[i].Admitted, exact.Classes[i].Admitted)
			}
		}
		switch {
		case c.agreed == nil && pl.Proof.Agreed != nil, c.agreed != nil && (pl.Proof.Agreed == nil || *pl.Proof.Agreed != *c.agreed):
			t.Errorf("%s: agreed is %v, want %v", c.name, show(pl.Proof.Agreed), show(c.agreed))
		}
		if c.warning != "" && !warned(pl, c.warning) || c.warning == "" && len(pl.Warnings) > 0 {
			t.Errorf("%s: got the warnings %v, want %q", c.name, pl.Warnings, c.warning)
		}
		if c.err == nil && pl.Proof.Engine != "liar 1.0" {
			t.Errorf("%s: the engine is %q", c.name, pl.Proof.Engine)
		}
	}
}

// survived makes an error of a panic: no answer of a solver may cause one.
func survived(solve func() (capacity.Plan, error)) (pl capacity.Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return solve()
}

func show(b *bool) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprint(*b)
}

// Without a solver the plan is the same, with a warning where one was wanted.
func TestWithoutASolver(t *testing.T) {
	for seed := range uint64(50) {
		p := study.Small(seed).Problem()
		p.Options.Engine = capacity.EngineExact
		exact := answered(t, p)
		p.Options.Engine = capacity.EngineCBC
		pl := answered(t, p)
		if pl.Objective.String() != exact.Objective.String() || pl.Status != exact.Status {
			t.Errorf("seed %d: got %s, %s, want %s, %s", seed, pl.Status, pl.Objective, exact.Status, exact.Objective)
		}
		if pl.Status != capacity.InfeasibleStatus && (!warned(pl, "solver_unavailable") || pl.Proof.Agreed != nil || pl.Proof.Engine != "") {
			t.Errorf("seed %d: %+v %v", seed, pl.Proof, pl.Warnings)
		}
		if warned(exact, "solver_unavailable") {
			t.Errorf("seed %d: the exact method misses a solver it does not want", seed)
		}
	}
}

// A better plan from the solver is taken where ours was not proved, and its gap is measured from
// our own bound.
func TestABetterPlanFromTheSolverIsTaken(t *testing.T) {
	p, ctx, cancel := unproved(t)
	defer cancel()
	p.Options.Engine = capacity.EngineExact
	complete := answered(t, p)
	early, err := Solve(ctx, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if early.Objective.Float() <= complete.Objective.Float() {
		t.Fatalf("the plan without time is as good as the other: choose another instance")
	}
	p.Options.Engine = capacity.EngineCBC
	better := solver(func(_ context.Context, q *lp.Program, o lp.Options) (lp.Solution, error) {
		pool := worker.New(worker.Config{Processes: 1})
		defer pool.Close()
		return pool.Solve(context.Background(), q, o)
	})
	pl, err := Solve(ctx, p, better)
	if err != nil {
		t.Fatal(err)
	}
	if !sameMoney(pl.Objective, complete.Objective) {
		t.Errorf("got %s, want CBC's better plan, %s (without it %s)", pl.Objective, complete.Objective, early.Objective)
	}
	if bound := pl.Proof.Bound.Float(); bound > complete.Objective.Float()+1e-6 {
		t.Errorf("the bound %g is above the optimum %s", bound, complete.Objective)
	}
	if warned(pl, "engines_disagree") {
		t.Errorf("nothing had been proved, and yet: %v", pl.Warnings)
	}
}

// When the time is over the best plan so far comes back, with its gap.
func TestTimeIsUp(t *testing.T) {
	unproved := 0
	for _, family := range study.Names() {
		in, err := study.Generate(family, plantest.Trials(25, 100), 1)
		if err != nil {
			t.Fatal(err)
		}
		p := in.Problem()
		p.Options.Engine = capacity.EngineExact
		optimum := answered(t, p)
		for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable, capacity.Relaxed} {
			p.Options.Integrality = integrality
			p.Options.Engine = capacity.EngineCBC
			ctx, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
			pl, err := Solve(ctx, p, nil)
			cancel()
			if err != nil {
				t.Fatalf("%s, %s: %v", family, integrality, err)
			}
			if integrality == capacity.Relaxed {
				continue
			}
			distance := (pl.Objective.Float() - optimum.Objective.Float()) / math.Abs(pl.Objective.Float())
			if distance > pl.Proof.Gap+1e-6 {
				t.Errorf("%s, %s: the plan is %g from optimal and says %g", family, integrality, distance, pl.Proof.Gap)
			}
			if (pl.Status == capacity.Optimal) != (pl.Proof.Gap <= p.Options.Gap) {
				t.Errorf("%s, %s: %s with a gap of %g", family, integrality, pl.Status, pl.Proof.Gap)
			}
			if pl.Status == capacity.Feasible {
				unproved++
			}
		}
	}
	if unproved < 5 {
		t.Errorf("only %d plans stayed unproved; without time there must be more", unproved)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable, capacity.Relaxed} {
		p := study.Small(8).Problem()
		p.Options.Integrality = integrality
		if _, err := Solve(ctx, p, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want that it was cancelled", integrality, err)
		}
	}
}
