package horizon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// all lets every job of the first class be promised: by its word, or by hand with a number that no hour exceeds.
func all(h Horizon, byHand bool) Horizon {
	h.Problem = plantest.Copied(h.Problem)
	jobs := capacity.JobRange{Min: 900, Max: 900}
	if !byHand {
		jobs = capacity.JobRange{All: true}.Of(h.Problem.Classes[0].Jobs.Max)
	}
	h.Problem.Classes[0].Jobs = jobs
	return h
}

// In every hour of a forecast all jobs of the class are served, as by plans of the hours in which as many are promised by hand.
func TestAllInEveryHour(t *testing.T) {
	hours, none := 0, 0
	for i := range 60 {
		r := rand.New(rand.NewPCG(139, uint64(i)))
		h := drawQuestion(t, r, []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed}[i%3], capacity.Shared).Horizon
		h = all(h, false)
		a := planned(t, h)
		if a.Classes[0].RefusedHours != 0 {
			t.Fatalf("case %d: %v job-hours are refused", i, a.Classes[0].RefusedHours)
		}
		for k, x := range a.Periods {
			at := 0
			for at+1 < len(h.Periods) && !h.Periods[at].End().After(x.Start) {
				at++
			}
			p := plantest.Copied(h.Problem)
			p.Options.Near = nil
			p.Supply = h.Periods[at].Priced(p.Supply)
			for _, c := range h.Contracts {
				if !c.From.After(x.Start) && c.Until.After(x.Start) {
					p.Supply.Contracts = append(p.Supply.Contracts, c.Contract)
				}
			}
			for n := range p.Classes {
				jobs := &p.Classes[n].Jobs
				if h.Periods[at].Jobs != nil {
					jobs.Max = h.Periods[at].Jobs[n]
				}
				if jobs.Min = min(jobs.Min, jobs.Max); jobs.All {
					*jobs = capacity.JobRange{Min: jobs.Max, Max: jobs.Max}
				}
			}
			if len(p.Supply.VMTypes) > 0 {
				continue
			}
			pl, err := plan.Solve(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := a.Situations[x.Situation]
			if pl.Status == capacity.InfeasibleStatus != (x.Status == capacity.InfeasibleStatus) || pl.Status != capacity.InfeasibleStatus && (s.Classes[0].Admitted != p.Classes[0].Jobs.Max ||
				!costsAlike((x.Cost.Total.Float()-x.Cost.Upfront.Float())/x.Hours*float64(p.PeriodSeconds)/3600, pl.Cost.Total.Float())) {
				t.Fatalf("case %d, period %d: %s, %v hours for %+v, by hand %s at %s", i, k, x.Status, x.Hours, x.Cost, pl.Status, pl.Cost.Total)
			}
			if hours++; pl.Status == capacity.InfeasibleStatus {
				none++
			}
		}
	}
	if hours < 100 || none < 5 {
		t.Errorf("%d hours, %d of them without a plan", hours, none)
	}
}

// Nothing of what arrives is refused either. It costs as much as a promise by hand that no hour exceeds. Other classes may be refused.
func TestAllThatArrive(t *testing.T) {
	refusing, none := 0, 0
	for i := range 60 {
		r := rand.New(rand.NewPCG(140, uint64(i)))
		h := drawnValue(r, uint64(i%4))
		h.Problem.Options = capacity.DefaultOptions()
		h.Problem.Options.Integrality = []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed}[i%3]
		if len(h.Problem.Classes) > 1 {
			h.Problem.Classes[1].Penalty = plantest.AmountIn(t, "0.01")
		}
		a, byHand := planned(t, all(h, false)), planned(t, all(h, true))
		if a.Classes[0].RefusedHours != 0 || a.Classes[0].Arrivals != nil && a.Classes[0].Arrivals.Below != nil {
			t.Errorf("case %d: %v job-hours are refused", i, a.Classes[0].RefusedHours)
		}
		for k := range a.Classes {
			if a.Classes[k].RefusedHours > 0 {
				refusing++
			}
		}
		if a.Status == capacity.InfeasibleStatus || byHand.Status == capacity.InfeasibleStatus || byHand.Classes[0].RefusedHours > 0 {
			none++
			continue
		}
		if !cmp.Equal(a.Total, byHand.Total) {
			t.Errorf("case %d: %s", i, cmp.Diff(byHand.Total, a.Total))
		}
	}
	if refusing < 10 || none < 5 || none > 40 {
		t.Errorf("%d refuse, %d are left out", refusing, none)
	}
}

// A quota that does not hold all that arrives leaves hours without a plan, and refuses nothing in the others.
func TestAllDoNotFitIn(t *testing.T) {
	p := oneClass(t, "1")
	p.Classes[0].DeadlineSeconds, p.Classes[0].Penalty = 3*3600, plantest.AmountIn(t, "0.10")
	p.Supply.OnDemand.Quota = new(int64(3))
	h := all(Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 1, Arrivals: []float64{4}}, {Start: firstHour.Add(time.Hour), Hours: 4, Arrivals: []float64{0}}}}, false)
	a := planned(t, h)
	if a.Status != capacity.InfeasibleStatus || a.Total.InfeasibleHours != 2 || a.Total.RefusedHours != 0 || !strings.Contains(a.Explanation, "For 2 of 5 hours there is no plan") {
		t.Errorf("got %s, %v hours without a plan, %v refused: %s", a.Status, a.Total.InfeasibleHours, a.Total.RefusedHours, a.Explanation)
	}
}

// Where jobs are refused that are valued at nothing, that is said with the way to promise all, and after that none is.
func TestRefusedForNothing(t *testing.T) {
	p := oneClass(t, "1")
	p.Classes[0].Penalty, p.Classes[0].Jobs.Min = plantest.AmountIn(t, "0"), 2
	h := Horizon{Problem: p, Periods: hoursFrom(firstHour, 2, 3, 5)}
	a := planned(t, h)
	const want = `Of class "etl" 4 job-hours are refused because they are valued at nothing: give it a penalty, or promise all that arrive (jobs.all).`
	if !strings.Contains(a.Explanation, want) {
		t.Errorf("got %q, want %q", a.Explanation, want)
	}
	for _, f := range a.Facts {
		if f.Kind == "refused_for_nothing" && (f.Subject != "etl" || len(f.Figures) != 1 || fmt.Sprint(f.Figures[0].Value) != "4") {
			t.Errorf("the fact is %+v", f)
		}
	}
	if a = planned(t, all(h, false)); a.Total.RefusedHours != 0 || strings.Contains(a.Explanation, "valued at nothing") || a.Total.VMHours != 10 {
		t.Errorf("with all: %v refused of %v VM-hours: %s", a.Total.RefusedHours, a.Total.VMHours, a.Explanation)
	}
	h.Problem.Classes[0].Penalty = plantest.AmountIn(t, "0.5")
	if a = planned(t, h); a.Total.RefusedHours != 4 || strings.Contains(a.Explanation, "valued at nothing") {
		t.Errorf("at a value: %s", a.Explanation)
	}
}

// Under a scenario all of the changed jobs are promised, and a number of promised jobs ends that.
func TestAllUnderAScenario(t *testing.T) {
	p := oneClass(t, "1")
	p.Classes[0].Penalty = plantest.AmountIn(t, "0")
	h := all(Horizon{Problem: p, Periods: hoursFrom(firstHour, 2, 4)}, false)
	for _, c := range []struct {
		change       whatif.ScenarioChange
		vms, refused float64
	}{
		{whatif.ScenarioChange{What: whatif.ChangeDemand, Factor: new(1.5)}, 9, 0},
		{whatif.ScenarioChange{What: whatif.ChangeDemand, Class: "etl", Value: new(plantest.AmountIn(t, "7"))}, 14, 0},
		{whatif.ScenarioChange{What: whatif.ChangePromised, Class: "etl", Value: new(plantest.AmountIn(t, "1"))}, 2, 4},
	} {
		changed, err := h.Under(whatif.Scenario{Changes: []whatif.ScenarioChange{c.change}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if a := planned(t, changed); a.Total.VMHours != c.vms || a.Total.RefusedHours != c.refused {
			t.Errorf("%+v: got %v VM-hours, %v refused", c.change, a.Total.VMHours, a.Total.RefusedHours)
		}
	}
}
