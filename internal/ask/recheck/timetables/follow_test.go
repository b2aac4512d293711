package timetables_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// from returns the question about the hours from one on, with what a schedule leaves to them.
func from(q timetable.Question, before timetable.Followed, hour int) timetable.Question {
	next := q
	at := q.Start().Add(time.Duration(hour) * time.Hour)
	next.Earlier = nil
	for _, p := range q.Periods[:hour] {
		earlier := horizon.HorizonPeriod{Start: p.Start, Hours: 1, Arrivals: make([]float64, len(p.Arrivals))}
		for k, c := range before.Answer.Classes {
			if !c.Waits {
				earlier.Arrivals[k] = p.Arrivals[k]
			}
		}
		next.Earlier = append(next.Earlier, earlier)
	}
	next.Periods, next.Before = q.Periods[hour:], before.Leaves(at, timetable.Types{}, q.Problem.Classes, nil, nil)
	return next
}

// A schedule is made anew hour by hour, and each follows on the one before. No execution is lost or counted twice, each check
// passes, going on with the schedule of the hour before is never below the bound, and plans of single hours have the VMs. Every
// other cluster has two types of VMs, of which a class has one at a time.
func TestSchedulesFollowOnOneAnother(t *testing.T) {
	carried, settled, laid, apart, on := 0, 0, 0, 0, map[string]int{}
	for seed := range uint64(plantest.Trials(2, 60)) {
		c := study.DrawCluster(seed, 10+int(seed%7), 4, 10, 8)
		q := readSchedule(t, scheduleOn(c, 2*int(seed%2)))
		q.OneType = seed%2 > 0
		for i := range q.Periods { // whole executions, so that rounding moves nothing
			for k, n := range q.Periods[i].Arrivals {
				q.Periods[i].Arrivals[k] = math.Ceil(n)
			}
		}
		now := timetable.Followed{Question: q}
		var err error
		if now.Answer, err = timetable.Plan(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		arrived, done := map[string]int64{}, map[string]int64{}
		for _, x := range now.Answer.Classes {
			arrived[x.Name] = x.Arrived
		}
		hours := len(q.Periods)
		for hour := 1; hour < hours; hour++ {
			was := now
			at := q.Start().Add(time.Duration(hour) * time.Hour)
			for _, s := range was.Answer.Schedule {
				if s.Start.Before(at) {
					done[s.Class] += s.Jobs
				}
			}
			for _, s := range was.Answer.Refused {
				if s.Arrived.Before(at) {
					done[s.Class] += s.Jobs
				}
			}
			now.Question = from(q, was, hour)
			if was.Question.Before != nil {
				now.Question.Before = was.Leaves(at, timetable.Types{}, q.Problem.Classes, nil, nil)
			}
			carried += len(now.Question.Before.Waiting)
			for _, s := range now.Question.Before.Running { // as the schedule before has settled
				if s.Start.Equal(at) {
					settled, done[s.Class] = settled+1, done[s.Class]+s.Jobs
				}
			}
			text, err := json.Marshal(now.Question)
			if err != nil {
				t.Fatal(err)
			}
			if now.Question, err = timetable.Read(text, capacity.DefaultLimits()); err != nil {
				t.Fatalf("seed %d, hour %d: %v", seed, hour, err)
			}
			if now.Answer, err = timetable.Plan(t.Context(), now.Question, nil); err != nil {
				t.Fatalf("seed %d, hour %d: %v", seed, hour, err)
			}
			for _, f := range timetables.Check(now.Question, now.Answer) {
				t.Fatalf("seed %d, hour %d: %s %s", seed, hour, f.Pointer, f.Detail)
			}
			rest := decimal.Zero
			for _, h := range was.Answer.Hours[1:] {
				rest = rest.Add(h.Cost.Decimal)
			}
			for _, r := range was.Answer.Refused {
				if !r.Arrived.Before(at) {
					rest = rest.Add(valueOf(&q, r))
				}
			}
			if rest.Add(decimal.New(1, -6)).LessThan(now.Answer.Proof.Bound.Decimal) {
				t.Errorf("seed %d, hour %d: going on costs %s, below the bound of %s", seed, hour, rest, now.Answer.Proof.Bound)
			}
			if l, a := inOneHour(t, now, at); l {
				if laid++; a {
					apart++
				}
			}
			for _, rows := range now.Running(at) {
				on[rows[0].Type]++
			}
		}
		for _, s := range now.Answer.Schedule {
			done[s.Class] += s.Jobs
		}
		for _, s := range now.Answer.Refused {
			done[s.Class] += s.Jobs
		}
		for name, n := range arrived {
			if done[name] != n {
				t.Errorf("seed %d: %d of %q arrived, and %d started or were refused", seed, n, name, done[name])
			}
		}
	}
	if carried == 0 || settled == 0 || laid == 0 || apart == 0 || len(on) < 3 {
		t.Errorf("%d rows waited, %d were settled, %d hours were laid, %d of them with several runs of a class, on types %v", carried, settled, laid, apart, on)
	}
}

// valueOf returns what refused executions are worth.
func valueOf(q *timetable.Question, r timetable.RefusedArrivals) decimal.Decimal {
	for _, c := range q.Problem.Classes {
		if c.Name == r.Class {
			return c.Penalty.Mul(decimal.NewFromFloat(c.DeadlineSeconds)).Div(decimal.NewFromInt(q.Problem.PeriodSeconds)).Mul(decimal.NewFromInt(r.Jobs))
		}
	}
	return decimal.Zero
}

// inOneHour plans an hour with the classes that wait alone: what the schedule runs in it is admitted, on no more VMs of each type
// than its slots take. It reports whether anything runs, and whether executions of a class run for different times.
func inOneHour(t *testing.T, f timetable.Followed, at time.Time) (laid, apart bool) {
	t.Helper()
	p := f.Question.Problem
	p.Classes, p.Options.Engine = nil, capacity.EngineExact
	p.Supply = capacity.Supply{OnDemand: p.Supply.OnDemand}
	p.Supply.OnDemand.Quota = nil
	for _, of := range f.Question.Problem.Supply.VMTypes {
		p.Supply.VMTypes = append(p.Supply.VMTypes, capacity.VMTypeSupply{Name: of.Name, OnDemand: capacity.OnDemand{Price: of.OnDemand.Price}})
	}
	running, slots, want := f.Running(at), map[string]float64{}, map[string]float64{}
	for k, c := range f.Question.Problem.Classes {
		if !f.Answer.Classes[k].Waits {
			continue
		}
		p.Classes = append(p.Classes, c)
		rows := running[c.Name]
		for _, r := range rows {
			on, each := c.OnType(r.Type), 0.0
			if on.VMsPerJob != nil {
				each = on.VMsPerJob.InexactFloat64()
			} else {
				each = float64(r.MapSlots)/float64(max(1, on.SlotsPerVM.Map)) + float64(r.ReduceSlots)/float64(max(1, on.SlotsPerVM.Reduce))
			}
			slots[r.Type] += float64(r.Jobs) * each
			want[c.Name] += float64(r.Jobs)
			apart = apart || r.RunSeconds != rows[0].RunSeconds
		}
	}
	if len(slots) == 0 {
		return false, false
	}
	f.Lay(&p, at, all)
	for k := range p.Classes {
		p.Classes[k].Jobs.Min = p.Classes[k].Jobs.Max
	}
	if c := timetables.Followed(f, p, at); c.Outcome != proof.OK {
		t.Errorf("at %s: %s", at, c.Detail)
	}
	a, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	vms := map[string]float64{"": a.VMs.Total}
	for _, of := range a.VMs.Types {
		vms[of.Name] = of.Total
	}
	for name, n := range slots {
		if vms[name] > math.Ceil(n-1e-6) {
			t.Errorf("at %s the plan rents %g VMs of %q, and the slots of the schedule take %g", at, vms[name], name, n)
		}
	}
	for _, c := range a.Classes {
		if c.Admitted != want[c.Name] {
			t.Errorf("at %s %g of %q are admitted, and the schedule runs %g", at, c.Admitted, c.Name, want[c.Name])
		}
	}
	return true, apart
}

// What follows on another schedule is checked as the rest: a late start of what waited, VMs for new executions alone, and a
// bound that forgets what runs are found.
func TestFaultsOfSchedulesThatFollow(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "deadline_s": 7200, "due_s": 28800, "jobs": {"min": 0, "max": 0}, "penalty": "50"},
	  {"name": "web", "vms_per_job": "1", "deadline_s": 7200, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "earlier": [{"start": "2026-03-02T07:00:00Z", "hours": 1, "arrivals": [0, 4]}],
	 "before": {"waiting": [{"class": "etl", "arrived": "2026-03-02T03:00:00Z", "jobs": 3}],
	            "running": [{"class": "etl", "arrived": "2026-03-02T02:00:00Z", "start": "2026-03-02T07:00:00Z", "run_s": 7200, "jobs": 2, "map_slots": 0, "reduce_slots": 0}]},
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 1, "arrivals": [0, 0], "on_demand_price": "9"}, {"start": "2026-03-02T09:00:00Z", "hours": 5, "arrivals": [0, 0]}]}`))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := timetables.Check(q, a); len(f) > 0 {
		t.Fatalf("the schedule itself: %v", f)
	}
	// In the first hour 2 VMs run what started and 4 what arrived earlier: by halves of these the next hour has 2. The three that
	// wait start at nine, at the lower price, and end at eleven, when they are due.
	if a.Hours[0].VMs != 6 || a.Hours[1].VMs != 5 || a.Hours[2].VMs != 3 || len(a.Schedule) != 1 || a.Schedule[0].Start.Hour() != 9 || a.Cost.Bill.String() != "62.00" || a.Proof.Gap > 1e-5 {
		t.Fatalf("got %+v", a)
	}
	planted(t, q, a, map[string]func(*timetable.Answer){
		"a start after what is left of the window": func(a *timetable.Answer) {
			a.Schedule[0].Start = a.Schedule[0].Start.Add(time.Hour)
			a.Hours[1].VMs, a.Hours[3].VMs = 2, 3
		},
		"VMs for what starts alone":   func(a *timetable.Answer) { a.Hours[0].VMs = 0 },
		"what waits is forgotten":     func(a *timetable.Answer) { a.Schedule = nil },
		"what waited arrives now":     func(a *timetable.Answer) { a.Schedule[0].Arrived = q.Start() },
		"a bound above what is known": func(a *timetable.Answer) { a.Proof.Bound.Decimal = a.Proof.Bound.Add(decimal.New(1, 0)) },
		"it has not arrived":          func(a *timetable.Answer) { a.Classes[0].Arrived = 0 },
		"it does not wait":            func(a *timetable.Answer) { a.Classes[0].Later = 0 },
	})
}

// planted plants faults into a schedule, each of which is found.
func planted(t *testing.T, q timetable.Question, a timetable.Answer, faults map[string]func(*timetable.Answer)) {
	t.Helper()
	for name, plant := range faults {
		var wrong timetable.Answer
		text, _ := json.Marshal(a)
		if err := json.Unmarshal(text, &wrong); err != nil {
			t.Fatal(err)
		}
		if plant(&wrong); len(timetables.Check(q, wrong)) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// Schedules are made anew every hour, each with a day and the longest window ahead, and the plan of each hour follows. Beside plans
// of hours alone they save what one schedule of all hours does.
func TestFollowingSavesWhatAScheduleDoes(t *testing.T) {
	savesWhatAScheduleDoes(t, 0, 0.9)
	if os.Getenv("HEADROOM_LONG") != "" { // a class on one type at a time saves less than one on several
		savesWhatAScheduleDoes(t, 3, 0.8)
	}
}

func savesWhatAScheduleDoes(t *testing.T, types int, part float64) {
	t.Helper()
	clusters, hours := plantest.Trials(1, 20), plantest.Trials(12, 72) // the long form has days
	const due, classes, mean = 12, 10, 50
	var once, whole, planned, alone, lost float64
	var switched [2]float64 // of VMs from hour to hour: plans alone, and those that follow
	slowest := time.Duration(0)
	for seed := range uint64(clusters) {
		q := readSchedule(t, scheduleOn(study.DrawCluster(seed+100, hours, classes, mean, due), types))
		all := timetable.Followed{Question: q}
		var err error
		if all.Answer, err = timetable.Plan(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		bill, lonely := 0.0, 0.0
		var admitted map[string]float64
		var now *timetable.Followed
		var last, lastAlone capacity.Plan
		for hour := range q.Periods {
			at := q.Start().Add(time.Duration(hour) * time.Hour)
			next := q
			next.Periods = nil
			for i, p := range q.Periods[hour:min(len(q.Periods), hour+24+2*due)] {
				if i >= 24+due {
					p.Arrivals = make([]float64, len(p.Arrivals))
				}
				next.Periods = append(next.Periods, p)
			}
			if now != nil {
				next.Earlier, next.Before = from(q, all, hour).Earlier, now.Leaves(at, timetable.Types{}, q.Problem.Classes, admitted, nil)
			}
			next.PlaceAll, next.OneType = true, types > 1
			began := time.Now()
			a, err := timetable.Plan(t.Context(), next, nil)
			if err != nil {
				t.Fatalf("seed %d, hour %d: %v", seed, hour, err)
			}
			slowest = max(slowest, time.Since(began))
			if hour%12 == 0 {
				for _, f := range timetables.Check(next, a) {
					t.Fatalf("seed %d, hour %d: %s %s", seed, hour, f.Pointer, f.Detail)
				}
			}
			now = &timetable.Followed{Question: next, Answer: a}
			for _, r := range a.Refused { // without room; those that plans refuse stand in their cost
				if !r.Arrived.After(at) {
					bill += valueOf(&q, r).InexactFloat64() * waits(a, r.Class)
				}
			}
			hourly := planOfHour(t, q, nil, nil, hour)
			lonely += hourly.Cost.Total.Float()
			follows := planOfHour(t, q, now, admitted, hour)
			bill += follows.Cost.Total.Float()
			lost += takenAway(*now, follows, admitted, at)
			admitted = admittedBy(follows)
			switched[0], switched[1] = switched[0]+switchedVMs(lastAlone, hourly), switched[1]+switchedVMs(last, follows)
			lastAlone, last = hourly, follows
		}
		once += all.Answer.AtOnce.Total.Float()
		whole += all.Answer.Cost.Total.Float()
		planned += bill
		alone += lonely
		t.Logf("seed %d: %s without waiting, %s as one schedule (bound %s), %.2f as plans follow, and %.2f where each hour is planned alone", seed, all.Answer.AtOnce.Total, all.Answer.Cost.Total, all.Answer.Proof.Bound, bill, lonely)
	}
	t.Logf("%d clusters on %d types: one schedule saves %.1f %%, and plans that follow save %.1f %% of what plans of hours alone cost. The slowest schedule took %v. Of VMs %.0f come or go, and %.0f without following.",
		clusters, max(1, types), 100*(once-whole)/once, 100*(alone-planned)/alone, slowest, switched[1], switched[0])
	if lost > 0 {
		t.Errorf("%g executions lost their VMs", lost)
	}
	if saved, could := (alone-planned)/alone, (once-whole)/once; saved < part*could {
		t.Errorf("plans save %.1f %%, and a schedule %.1f %%", 100*saved, 100*could)
	}
}

// waits is 1 for a class that waits, and otherwise 0: plans of hours refuse jobs of the others themselves.
func waits(a timetable.Answer, class string) float64 {
	for _, c := range a.Classes {
		if c.Name == class && c.Waits {
			return 1
		}
	}
	return 0
}

// takenAway counts the executions that started before an hour, of those that plans admitted, and that its plan does not admit any
// more on their type of VMs.
func takenAway(f timetable.Followed, p capacity.Plan, before map[string]float64, at time.Time) (jobs float64) {
	for class, rows := range f.Running(at) {
		started, on := 0.0, ""
		for _, r := range rows {
			if r.Start.Before(at) {
				started, on = started+float64(r.Jobs), r.Type
			}
		}
		for _, c := range p.Classes {
			admitted := c.Admitted
			for _, of := range c.Types {
				if of.VMType == on {
					admitted = of.Admitted
				}
			}
			if c.Name == class {
				jobs += max(0, min(math.Floor(started), before[class])-admitted)
			}
		}
	}
	return jobs
}

// switchedVMs counts the VMs that come or go between two plans.
func switchedVMs(before, after capacity.Plan) (vms float64) {
	if len(after.VMs.Types) == 0 {
		return math.Abs(after.VMs.Total - before.VMs.Total)
	}
	for v, of := range after.VMs.Types {
		was := 0.0
		if len(before.VMs.Types) > 0 {
			was = before.VMs.Types[v].Total
		}
		vms += math.Abs(of.Total - was)
	}
	return vms
}

func admittedBy(p capacity.Plan) map[string]float64 {
	admitted := map[string]float64{}
	for _, c := range p.Classes {
		admitted[c.Name] = c.Admitted
	}
	return admitted
}

// planOfHour plans an hour. Of classes that do not wait it has the jobs that run on average, of the others those of the schedule.
// Without one every class runs as it arrives.
func planOfHour(t *testing.T, q timetable.Question, f *timetable.Followed, before map[string]float64, hour int) capacity.Plan {
	t.Helper()
	p, at := q.Problem, q.Start().Add(time.Duration(hour)*time.Hour)
	p.Classes, p.Options.Engine = slices.Clone(p.Classes), capacity.EngineExact
	p.Supply = q.Periods[hour].Priced(p.Supply)
	for i := range q.Contracts {
		c := &q.Contracts[i]
		if c.From.After(at) || c.Until.Before(at.Add(time.Hour)) {
			continue
		}
		of := &p.Supply.Contracts
		for v := range p.Supply.VMTypes {
			if p.Supply.VMTypes[v].Name == c.VMType {
				of = &p.Supply.VMTypes[v].Contracts
			}
		}
		*of = append(slices.Clip(*of), c.Contract)
	}
	for k := range p.Classes {
		c := &p.Classes[k]
		if f != nil && f.Answer.Classes[k].Waits {
			continue
		}
		var spans []perf.Arriving
		for h := range hour + 1 {
			from := q.Periods[h].Start.Unix()
			spans = append(spans, perf.Arriving{From: from, Until: from + 3600, Jobs: q.Periods[h].Arrivals[k]})
		}
		if c.DueSeconds > 0 {
			c.DeadlineSeconds = min(c.DeadlineSeconds, c.DueSeconds)
		}
		flow := perf.NewArrivals(spans)
		c.Jobs = c.Jobs.Of(capacity.WholeJobs(flow.Running(perf.HeldSeconds(*c, p.Supply, p.Options), at.Unix(), at.Unix()+3600)))
	}
	if f != nil {
		f.Lay(&p, at, func(class string, started float64) float64 { return min(started, before[class]) })
	}
	a, err := plan.Solve(t.Context(), p, nil)
	if err != nil || a.Status == capacity.InfeasibleStatus {
		t.Fatalf("hour %d: %v, %v", hour, err, a.Conflicts)
	}
	return a
}

// A plan must have what its schedule runs in the hour: other numbers and deadlines are found.
func TestPlansThatDoNotFollowAreFound(t *testing.T) {
	found := map[string]int{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the first schedule found is enough
	for seed := range uint64(plantest.Trials(4, 40)) {
		q := readSchedule(t, scheduleOn(study.DrawCluster(seed, 12, 5, 10, 8), 2*int(seed%2)))
		q.OneType = seed%2 > 0
		f := timetable.Followed{Question: q}
		var err error
		if f.Answer, err = timetable.Plan(ctx, q, nil); err != nil {
			t.Fatal(err)
		}
		for hour := range q.Periods {
			at := q.Start().Add(time.Duration(hour) * time.Hour)
			p := q.Problem
			p.Classes = slices.Clone(p.Classes)
			f.Lay(&p, at, all)
			if c := timetables.Followed(f, p, at); c.Outcome != proof.OK {
				t.Fatalf("seed %d, hour %d: %s", seed, hour, c.Detail)
			}
			for k := range p.Classes {
				if !f.Answer.Classes[k].Waits {
					continue
				}
				for name, plant := range map[string]func(c *capacity.Class) bool{
					"one more": func(c *capacity.Class) bool { c.Jobs.Max++; return true },
					"none":     func(c *capacity.Class) bool { was := c.Jobs.Max; c.Jobs.Max, c.Jobs.Min = 0, 0; return was > 0 },
					"longer":   func(c *capacity.Class) bool { c.DeadlineSeconds *= 1.5; return c.Jobs.Max > 0 && c.VMsPerJob == nil },
					"on any type": func(c *capacity.Class) bool {
						runs := c.Jobs.Max > 0 && q.OneType && len(q.Problem.Classes[k].SlotsPerVM.ByType) != 1
						c.Speed = q.Problem.Classes[k].Speed
						return runs
					},
					"more than runs": func(c *capacity.Class) bool { c.Jobs.Min = c.Jobs.Max + 1; return true },
				} {
					wrong := p
					wrong.Classes = slices.Clone(p.Classes)
					if plant(&wrong.Classes[k]) {
						if found[name]++; timetables.Followed(f, wrong, at).Outcome != proof.Failed {
							t.Errorf("seed %d, hour %d: %s of %q is not found", seed, hour, name, p.Classes[k].Name)
						}
					}
				}
			}
		}
	}
	for _, name := range []string{"one more", "none", "longer", "on any type", "more than runs"} {
		if found[name] == 0 {
			t.Errorf("%s was never planted", name)
		}
	}
}

// all promises what has started.
func all(_ string, started float64) float64 { return started }

// Short executions share VMs one after the other within an hour: six of ten minutes need those of one, in the schedule and in the
// plan of the hour. Where all are to be placed, none is refused for its price, and one without room is.
func TestShortExecutionsTakeTurns(t *testing.T) {
	text := `{"place_all": true, "problem": {"currency": "EUR", "supply": {"on_demand": {"price": "3", "quota": 4}}, "classes": [
	  {"name": "short", "vms_per_job": "2", "deadline_s": 600, "due_s": 14400, "jobs": {"min": 0, "max": 0}, "penalty": "0.01"}]}, "periods": [
	  {"start": "2026-03-02T00:00:00Z", "hours": 1, "arrivals": [14]}, {"start": "2026-03-02T01:00:00Z", "hours": 3, "arrivals": [0]}]}`
	solve := func(text string) timetable.Followed {
		t.Helper()
		f := timetable.Followed{Question: readSchedule(t, []byte(text))}
		var err error
		if f.Answer, err = timetable.Plan(t.Context(), f.Question, nil); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range timetables.Check(f.Question, f.Answer) {
			t.Errorf("%s: %s", wrong.Pointer, wrong.Detail)
		}
		return f
	}
	// 14 executions of a third of a VM-hour take 4.67, which is 5 whole ones.
	f := solve(text)
	vms := int64(0)
	for _, h := range f.Answer.Hours {
		vms += h.VMs
	}
	if vms != 5 || len(f.Answer.Refused) > 0 || f.Answer.Proof.Gap > 0.07 {
		t.Errorf("%d VM-hours, %+v refused, gap %g", vms, f.Answer.Refused, f.Answer.Proof.Gap)
	}
	jobs := 0.0
	for hour := range 4 {
		at := f.Question.Start().Add(time.Duration(hour) * time.Hour)
		p := f.Question.Problem
		p.Classes = slices.Clone(p.Classes)
		f.Lay(&p, at, all)
		if c := timetables.Followed(f, p, at); c.Outcome != proof.OK {
			t.Error(c.Detail)
		}
		jobs += p.Classes[0].Jobs.Max
	}
	if jobs != 3 { // two hours with 6 in turns, and one with 2
		t.Errorf("the plans of the hours have %g jobs at once", jobs)
	}
	// Left to their value nobody runs: a run costs a euro and is worth less than a cent.
	if f = solve(strings.Replace(text, `"place_all": true, `, "", 1)); len(f.Answer.Schedule) > 0 {
		t.Errorf("%+v run for less than they cost", f.Answer.Schedule)
	}
	// Without room for all, those that find some run.
	f = solve(strings.Replace(strings.Replace(text, `"quota": 4`, `"quota": 2`, 1), "14]", "40]", 1))
	if started := f.Answer.Classes[0]; started.Arrived-started.Refused != 18 {
		t.Errorf("%d of %d find a place", started.Arrived-started.Refused, started.Arrived)
	}
}
