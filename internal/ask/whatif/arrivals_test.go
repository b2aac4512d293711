package whatif

import (
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// With another deadline, or more arrivals, as many jobs run at once as arrive within the time that one holds its VMs.
func TestArrivalsAreCountedAnew(t *testing.T) {
	t.Parallel()
	x := func(f float64) *float64 { return &f }
	value := func(text string) *money.Amount {
		v, err := money.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	for _, c := range []struct {
		name     string
		changes  []ScenarioChange
		jobs     float64 // 0: refused
		arrivals float64
	}{
		{"twice the deadline", []ScenarioChange{{What: ChangeDeadline, Class: "a", Factor: x(2)}}, 41, 10},
		{"half the deadline", []ScenarioChange{{What: ChangeDeadline, Factor: x(0.5)}}, 11, 10},
		{"the deadline in seconds", []ScenarioChange{{What: ChangeDeadline, Class: "a", Value: value("3600")}}, 10, 10},
		{"more arrive", []ScenarioChange{{What: ChangeDemand, Class: "a", Factor: x(1.2)}}, 25, 12},
		{"more arrive within less time", []ScenarioChange{{What: ChangeDemand, Class: "a", Factor: x(1.2)}, {What: ChangeDeadline, Class: "a", Value: value("3600")}}, 12, 12},
		{"a number at once", []ScenarioChange{{What: ChangeDemand, Class: "a", Value: value("7")}, {What: ChangeDeadline, Class: "a", Factor: x(2)}}, 7, 0},
		{"another class", []ScenarioChange{{What: ChangeDeadline, Class: "b", Factor: x(2)}}, 21, 10},
		{"too many at once", []ScenarioChange{{What: ChangeDemand, Class: "a", Factor: x(1e5)}}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := laidOver(t)
			p.Options.Integrality, p.Options.OneSlotPerJob = capacity.Integer, false
			class := capacity.Class{Name: "a", Demand: &capacity.Demand{MapWorkSeconds: 1000}, DeadlineSeconds: 7260, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2},
				Jobs: capacity.JobRange{All: true}.Of(21), ArrivalsPerHour: 10}
			other := class
			other.Name, other.ArrivalsPerHour = "b", 0
			p.Classes = []capacity.Class{class, other}
			got, err := Scenario{Changes: c.changes}.Apply(p)
			if (err != nil) != (c.jobs == 0) {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if of := got.Classes[0]; of.Jobs != (capacity.JobRange{All: true}).Of(c.jobs) || of.ArrivalsPerHour != c.arrivals {
				t.Errorf("%+v run at once, of %g an hour; want %g of %g", of.Jobs, of.ArrivalsPerHour, c.jobs, c.arrivals)
			}
			if got.Classes[1].Jobs.Max != 21 && c.name != "half the deadline" {
				t.Errorf("the other class has %g", got.Classes[1].Jobs.Max)
			}
		})
	}
}

// Jobs that need but a slot are done before their deadline. With another bound they run for longer, so that more run at once.
func TestArrivalsAreCountedAnewAtAnotherBound(t *testing.T) {
	t.Parallel()
	p := laidOver(t)
	p.Options.Integrality, p.Options.OneSlotPerJob, p.Options.Bound = capacity.Integer, true, capacity.CalibratedBound
	p.Classes = []capacity.Class{{Name: "a", Profile: &capacity.Profile{MapTasks: 4, MapAvgSeconds: 100, MapMaxSeconds: 130}, Calibration: &capacity.Calibration{Bound: capacity.AverageBound, Factor: 0.5}, DeadlineSeconds: 7200,
		SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Max: 56}, ArrivalsPerHour: 1000}}
	got, err := Scenario{Changes: []ScenarioChange{{What: ChangeBound, Bound: capacity.AverageBound}}}.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	// Four tasks of 100 s on one slot take 400 s, and half of that as they are calibrated.
	if jobs := got.Classes[0].Jobs.Max; jobs != 112 || p.Classes[0].Jobs.Max != 56 {
		t.Errorf("%g jobs run at once, want 112; before %g", jobs, p.Classes[0].Jobs.Max)
	}
}
