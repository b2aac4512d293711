package reproduce

import (
	"fmt"
	"math"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
)

const capacityPaper = "Optimal Map Reduce Job Capacity Allocation in Cloud Systems"

// The paper leaves the average times of its classes open (E12). averagesTried lists the ranges in which its figures
// are sought. With calibrated, the penalties of the paper's rule p = 10·cost fall into the range it states for them.
var (
	calibrated    = study.Averages{Lowest: 0.075, Highest: 0.175}
	averagesTried = []study.Averages{{Lowest: 0.05, Highest: 0.15}, calibrated, {Lowest: 0.1, Highest: 0.2}, study.UsualAverages}
)

// table2 holds classes as in the paper's Table 2 with on-demand VMs alone, each penalty ten times a job's cost on
// them.
type table2 struct {
	onDemand float64
	classes  []study.Figures
}

func drawTable2(seed uint64, classes int, a study.Averages) table2 {
	s := &study.Stream{State: seed}
	t := table2{onDemand: study.DrawMarket(s).OnDemand, classes: make([]study.Figures, classes)}
	for i := range t.classes {
		t.classes[i] = study.DrawClass(s, a)
	}
	return t
}

// penalty returns the penalty of a job of class i.
func (t table2) penalty(i int) float64 {
	return study.Places(10*t.onDemand*t.classes[i].VmsPerJob(), study.PenaltyPlaces)
}

// problem asks for the paper's integer program, with every deadline multiplied by a factor. Penalties stay those of
// the drawn deadlines.
func (t table2) problem(factor float64) capacity.Problem {
	p := capacity.Problem{
		Currency: "USD", PeriodSeconds: 3600,
		Supply:  capacity.Supply{OnDemand: capacity.OnDemand{Price: study.AmountOf(t.onDemand)}},
		Classes: make([]capacity.Class, len(t.classes)),
		Options: capacity.DefaultOptions(),
	}
	p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
	p.Options.OneSlotPerJob = false // the paper knows no such floor
	p.Options.Gap = 0
	width := len(fmt.Sprint(len(t.classes)))
	for i := range t.classes {
		f := &t.classes[i]
		p.Classes[i] = capacity.Class{
			Name:            fmt.Sprintf("class-%0*d", width, i+1),
			Profile:         &f.Profile,
			DeadlineSeconds: f.Deadline * factor,
			SlotsPerVM:      f.Slots,
			Jobs:            capacity.JobRange{Min: float64(study.Promised(f.High)), Max: float64(f.High)},
			Penalty:         study.AmountOf(t.penalty(i)),
		}
	}
	return p
}

// totalCost returns the paper's cost (5): VMs and penalties.
func totalCost(p capacity.Plan) float64 { return p.Cost.Total.Float() }

// percent converts a part of a whole.
func percent(x float64) float64 { return 100 * x }

// noLimit is an open end of a range.
var noLimit = math.Inf(1)
