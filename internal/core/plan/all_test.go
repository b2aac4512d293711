package plan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// A plan of classes all of whose jobs are promised is that of as many promised jobs, is found by enumeration, and is
// accepted by the proof. A cure ends the conflict that it stands in.
func TestAllIsEveryJobPromised(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(139, 1))
	planned, none, cures := 0, 0, 0
	for trial := range plantest.Trials(125, 10_000) {
		integrality := []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed}[trial%3]
		p := plantest.Sample{Classes: 3, Width: 6, Slots: 4, Integrality: integrality, Sharing: capacity.Shared}.Problem(r)
		fleet := trial%4 == 0
		if fleet {
			p = plantest.DrawFleet(r, plantest.FleetKinds[[]string{"mixed", "quota", "spot", "budget"}[r.IntN(4)]], 3, 4)
		}
		byHand := plantest.Copied(p)
		for i := range p.Classes {
			if i == 0 || r.IntN(3) == 0 {
				p.Classes[i].Jobs.All = true
				byHand.Classes[i].Jobs.Min = byHand.Classes[i].Jobs.Max
			}
		}
		text, _ := json.Marshal(p) // with the number that says nothing
		p, err := capacity.ReadProblem(text, capacity.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		pl, want := answered(t, p), answered(t, byHand)
		if pl.Status != want.Status || !pl.Objective.Equal(want.Objective.Decimal) || !pl.Cost.Total.Equal(want.Cost.Total.Decimal) {
			t.Fatalf("trial %d: %s at %s, by hand %s at %s\n%s", trial, pl.Status, pl.Objective, want.Status, want.Objective, text)
		}
		if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
			t.Fatalf("trial %d: %s\n%s", trial, report, text)
		}
		if !fleet && integrality != capacity.Relaxed {
			if best, jobs, is := plantest.NewBrute(byHand).Best(); is != (pl.Status != capacity.InfeasibleStatus) || is && plantest.Millionths(pl.Objective.Decimal) != best {
				t.Fatalf("trial %d: %s at %s, by enumeration %v with %v\n%s", trial, pl.Status, pl.Objective, best, jobs, text)
			}
		}
		if pl.Status != capacity.InfeasibleStatus {
			planned++
			for i, c := range pl.Classes {
				if p.Classes[i].Jobs.All && (c.Admitted != p.Classes[i].Jobs.Max || c.Refused != 0) {
					t.Fatalf("trial %d: %s admits %v of %v\n%s", trial, c.Name, c.Admitted, p.Classes[i].Jobs.Max, text)
				}
			}
			continue
		}
		none++
		if len(pl.Conflicts) != len(want.Conflicts) {
			t.Fatalf("trial %d: conflicts %v, by hand %v", trial, pl.Conflicts, want.Conflicts)
		}
		for k, c := range pl.Conflicts {
			at := slices.IndexFunc(p.Classes, func(x capacity.Class) bool { return x.Jobs.All && strings.Contains(c.Detail, "\""+x.Name+"\"") })
			if strings.HasSuffix(want.Conflicts[k].Pointer, "/jobs/min") && at >= 0 && !strings.HasSuffix(c.Pointer, "/jobs/max") {
				t.Fatalf("trial %d: %q stands at %s", trial, c.Detail, c.Pointer)
			}
			if c.Hint == nil || c.Code == "impossible_deadline" {
				continue
			}
			cures++
			if q := cureByButton(t, p, c.Hint.Pointer, c.Hint.Value); slices.Equal(answered(t, q).Conflicts, pl.Conflicts) || !impossible(pl) && answered(t, q).Status == capacity.InfeasibleStatus {
				t.Fatalf("trial %d: %q leads to %v\n%s", trial, c.Hint.Detail, answered(t, q).Conflicts, text)
			}
		}
	}
	if planned < 50 || none < 20 || cures < 20 {
		t.Errorf("%d plans, %d without one, %d cures", planned, none, cures)
	}
}

// A planner that refuses a job of such a class is found out.
func TestRefusedJobsOfAllAreFound(t *testing.T) {
	p := plantest.Market(t, 0, "0", "1.00", capacity.Integer)
	p.Supply.Contracts = nil
	p.Classes = []capacity.Class{plantest.ByGamma(t, "etl", "1", "0.10", 0, 4)}
	refusing := answered(t, p)
	if refusing.Classes[0].Refused != 4 {
		t.Fatalf("the plan refuses %v", refusing.Classes[0].Refused)
	}
	p.Classes[0].Jobs.All = true // and Min is 0 still
	if report := proof.Verify(p, refusing, proof.Options{}); report.Accepted() {
		t.Errorf("the proof accepts that all are refused: %s", report)
	}
}
