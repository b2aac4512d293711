package recheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// answeredTargets draws a problem of which some classes have a target, and finds their promises.
func answeredTargets(t *testing.T, r *rand.Rand) (question, answer []byte) {
	t.Helper()
	s := &study.Stream{State: r.Uint64()}
	p := capacity.Problem{Currency: "USD", PeriodSeconds: []int64{3600, 1800}[r.IntN(2)], Options: capacity.DefaultOptions(),
		Supply: capacity.Supply{OnDemand: capacity.OnDemand{Price: study.AmountOf(0.2)}}}
	p.Options.Integrality = []capacity.Integrality{capacity.Executable, capacity.Integer}[r.IntN(2)]
	if r.IntN(2) == 0 {
		p.Supply.Contracts = []capacity.Contract{{Name: "held", VMs: 5, Price: study.AmountOf(0.1), Billing: capacity.BilledAlways}}
	}
	for i := range 1 + r.IntN(3) {
		f := study.DrawClass(s, study.UsualAverages)
		class := capacity.Class{Name: fmt.Sprintf("class-%d", i+1), Profile: &f.Profile, DeadlineSeconds: 2 * f.Deadline, SlotsPerVM: f.Slots,
			Jobs: capacity.JobRange{Min: float64(r.IntN(3)), Max: 3}, Penalty: study.AmountOf(float64(r.IntN(4)))}
		if i == 0 || r.IntN(2) == 0 {
			class.Target = 0.9
		}
		p.Classes = append(p.Classes, class)
	}
	q := trial.TargetQuestion{Problem: p, Options: trial.DefaultTarget()}
	q.Options.Executions, q.Options.Replications = 60, 2
	a, err := trial.FindPromises(t.Context(), q, nil, trial.TargetWork{
		Plan:     func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) { return plan.Solve(ctx, p, nil) },
		Simulate: func(ctx context.Context, x *trial.Trial) error { return x.Work(ctx, 2) },
		Tell:     func(int64, int64) {}})
	if err != nil {
		return answeredTargets(t, r)
	}
	return marshalled(q), marshalled(a)
}

// Answers about targets pass their check. What is changed in them is found, but for what no check looks at.
func TestTargetsAreChecked(t *testing.T) {
	r, left := rand.New(rand.NewPCG(31, 1)), 0
	for range plantest.Trials(1, 200) {
		q, a := answeredTargets(t, r)
		if report := verified(t, q, a); report.Outcome == proof.NotProved && strings.Contains(string(a), `"code":"refused"`) {
			left++ // the factor that refuses a class is not told
			continue
		} else if report.Outcome != proof.OK {
			t.Fatalf("%s\n%s\n%s", report, q, a)
		}
		mutations(t, a, func(at string, mutated []byte) {
			report, err := check(q, mutated, Options{Limits: capacity.DefaultLimits(), Looks: 2000}, map[string]proof.Least{})
			open := strings.Contains(at, "/slots") || strings.Contains(at, "/searched:") || strings.HasPrefix(at, "/warnings") || strings.HasPrefix(at, "/events") ||
				strings.HasPrefix(at, "/problem/options/engine") || strings.HasPrefix(at, "/problem/options/max_solve_ms")
			if err == nil && report.Accepted() && !open {
				t.Errorf("a change of %s passes in\n%s", at, a)
			}
		})
		if t.Failed() {
			return
		}
	}
	if left > plantest.Trials(0, 20) {
		t.Errorf("%d answers are left open", left)
	}
}
