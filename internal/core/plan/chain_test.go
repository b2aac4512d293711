package plan

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// chained is a random problem, of one kind of VM or of several, in which every class with a profile has stages.
func chained(r *rand.Rand) capacity.Problem {
	p := plantest.DrawAny(r)
	if r.IntN(3) == 0 {
		p = plantest.DrawFleet(r, plantest.FleetKinds[[]string{"budget", "spot", "types", "mixed"}[r.IntN(4)]], 4, 4)
	}
	p.Options.Bound = []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound}[r.IntN(4)]
	for i := range p.Classes {
		c := &p.Classes[i]
		if c.VMsPerJob != nil {
			continue
		}
		c.Demand, c.Profile = nil, &capacity.Profile{OverheadSeconds: float64(r.IntN(30))}
		for range 1 + r.IntN(8) {
			s := capacity.Stage{Tasks: 1 + r.Int64N(40), MaxSeconds: 1 + 40*r.Float64()}
			s.AvgSeconds = s.MaxSeconds
			if s.Tasks > 1 {
				s.AvgSeconds *= 0.5 + 0.5*r.Float64()
			}
			c.Profile.Stages = append(c.Profile.Stages, s)
		}
		if r.IntN(2) == 0 {
			c.Calibration = &capacity.Calibration{Bound: []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}[r.IntN(3)], Factor: 0.3 + 1.5*r.Float64()}
		}
		c.DeadlineSeconds = 10 + 900*r.Float64()
	}
	return p
}

// Plans of chains are accepted by the checker that works everything out by itself: 50 of them, 20,000 with HEADROOM_LONG.
func TestPlansOfChainsAreProvedIndependently(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 15))
	count := map[string]int{}
	for trial := range plantest.Trials(50, 20_000) {
		p := chained(r)
		if err := p.Validate(); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		pl, err := Solve(context.Background(), p, nil)
		if err != nil {
			text, _ := json.Marshal(p)
			t.Fatalf("trial %d: %v\n%s", trial, err, text)
		}
		report := proof.Verify(p, pl, proof.Options{})
		if !report.Accepted() {
			text, _ := json.Marshal(p)
			answer, _ := json.Marshal(pl)
			t.Fatalf("trial %d:\n%s\n%s\n%s", trial, report, text, answer)
		}
		count[string(pl.Status)]++
		if pl.Status != capacity.InfeasibleStatus && report.Outcome != proof.NotProved {
			count["proved twice"]++
		}
		for i, c := range pl.Classes {
			if c.Time != nil && (c.Time.Calibrated != nil) != (basisTime(p.Classes[i].Calibration, c.Time) != nil) {
				t.Fatalf("trial %d: class %s has the times %+v", trial, c.Name, c.Time)
			}
		}
	}
	t.Logf("%v", count)
	if count["proved twice"] < plantest.Trials(25, 10_000) {
		t.Errorf("of the plans %v", count)
	}
}

// A calibrated class is planned exactly as one that gives the bound's coefficients, multiplied, as its demand.
func TestACalibratedClassIsItsFactoredDemand(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 16))
	compared := 0
	for trial := range plantest.Trials(200, 10_000) {
		p := plantest.DrawAny(r)
		p.Options.Bound = capacity.CalibratedBound
		by := p
		by.Options.Bound = []capacity.Bound{capacity.LowerBound, capacity.UpperBound}[r.IntN(2)] // which demands do not know
		by.Classes = append([]capacity.Class{}, p.Classes...)
		same := false
		for i := range p.Classes {
			c := &p.Classes[i]
			if c.Profile == nil {
				continue
			}
			d := perf.Demands(*c.Profile)
			of := d.Average
			if k := c.Calibration; k != nil {
				of = d.Of(k.Bound)
				of = capacity.Demand{MapWorkSeconds: k.Factor * of.MapWorkSeconds, ReduceWorkSeconds: k.Factor * of.ReduceWorkSeconds, FixedSeconds: k.Factor * of.FixedSeconds}
			}
			if of.MapWorkSeconds == 0 || of.ReduceWorkSeconds == 0 && c.Profile.ReduceTasks > 0 {
				continue // a profile's phase is there even where nothing of it shrinks with slots
			}
			same = same || c.Calibration != nil
			by.Classes[i].Profile, by.Classes[i].Calibration, by.Classes[i].Demand = nil, nil, &of
		}
		if !same || by.Validate() != nil {
			continue
		}
		compared++
		said := func(p capacity.Problem) string {
			pl, err := Solve(context.Background(), p, nil)
			if err != nil {
				return err.Error()
			}
			for i := range pl.Classes {
				pl.Classes[i].Time = nil
			}
			pl.Warnings = nil
			if pl.Proof != nil {
				pl.Proof.SolveMs = 0
			}
			text, _ := json.Marshal(pl)
			return string(text)
		}
		for i := range by.Classes { // those that stay profiles
			if c := &by.Classes[i]; c.Profile != nil {
				by.Options.Bound = capacity.CalibratedBound
			}
		}
		if got, want := said(p), said(by); got != want {
			text, _ := json.Marshal(p)
			t.Fatalf("trial %d: %s\nby profiles\n%s\nby demands\n%s", trial, text, got, want)
		}
	}
	if compared < plantest.Trials(60, 3_000) {
		t.Errorf("only %d problems were compared", compared)
	}
}

func TestClassesWithoutACalibrationAreNamed(t *testing.T) {
	stages := &capacity.Profile{Stages: []capacity.Stage{{Tasks: 40, AvgSeconds: 10, MaxSeconds: 20}}}
	for _, typed := range []bool{false, true} {
		p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(), Classes: []capacity.Class{
			{Name: "b", Profile: stages, DeadlineSeconds: 900, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Max: 2}, Penalty: plantest.Hundredths(500)},
			{Name: "a", Profile: stages, Calibration: &capacity.Calibration{Bound: capacity.UpperBound, Factor: 0.5}, DeadlineSeconds: 900, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Max: 2}, Penalty: plantest.Hundredths(500)},
			{Name: "c", Demand: &capacity.Demand{MapWorkSeconds: 300}, DeadlineSeconds: 900, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Max: 2}, Penalty: plantest.Hundredths(500)},
		}}
		price := capacity.OnDemand{Price: plantest.Hundredths(20)}
		p.Supply.OnDemand = price
		if typed {
			p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{{Name: "x", OnDemand: price}, {Name: "y", OnDemand: price}}}
		}
		for bound, warned := range map[capacity.Bound]bool{capacity.CalibratedBound: true, capacity.UpperBound: false} {
			p.Options.Bound = bound
			pl, err := Solve(context.Background(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			var about []capacity.Warning
			for _, w := range pl.Warnings {
				if w.Code == words.NotCalibrated {
					about = append(about, w)
				}
			}
			if warned != (len(about) == 1) || warned && (about[0].Pointer != "/classes/0/calibration" || !strings.Contains(about[0].Detail, `"b"`)) {
				t.Errorf("typed %v, %s: warnings %+v", typed, bound, pl.Warnings)
			}
		}
	}
}

// basisTime is the bound that a calibration multiplies: nil where the plan's slots give none.
func basisTime(c *capacity.Calibration, times *capacity.Times) *float64 {
	if c == nil {
		return nil
	}
	return map[capacity.Bound]*float64{capacity.LowerBound: times.Lower, capacity.AverageBound: times.Average, capacity.UpperBound: times.Upper}[c.Bound]
}
