package recheck

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// from returns the question about the hours from one on, with what a schedule leaves to them.
func from(q horizon.ScheduleQuestion, before horizon.Followed, hour int) horizon.ScheduleQuestion {
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
	next.Periods, next.Before = q.Periods[hour:], before.Leaves(at, q.Problem.Classes)
	return next
}

// A schedule is made anew hour by hour, and each follows on the one before. No execution is lost or counted twice, each check
// passes, going on with the schedule of the hour before is never below the bound, and plans of single hours have the VMs.
func TestSchedulesFollowOnOneAnother(t *testing.T) {
	carried, laid, apart := 0, 0, 0
	for seed := range uint64(plantest.Trials(2, 60)) {
		c := study.DrawCluster(seed, 10+int(seed%7), 4, 10, 8)
		q := readSchedule(t, scheduleOf(c))
		for i := range q.Periods { // whole executions, so that rounding moves nothing
			for k, n := range q.Periods[i].Arrivals {
				q.Periods[i].Arrivals[k] = math.Ceil(n)
			}
		}
		now := horizon.Followed{Question: q}
		var err error
		if now.Answer, err = horizon.Schedule(t.Context(), q, nil); err != nil {
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
				now.Question.Before = was.Leaves(at, q.Problem.Classes)
			}
			carried += len(now.Question.Before.Waiting)
			text, err := json.Marshal(now.Question)
			if err != nil {
				t.Fatal(err)
			}
			if now.Question, err = horizon.ReadSchedule(text, capacity.DefaultLimits()); err != nil {
				t.Fatalf("seed %d, hour %d: %v", seed, hour, err)
			}
			if now.Answer, err = horizon.Schedule(t.Context(), now.Question, nil); err != nil {
				t.Fatalf("seed %d, hour %d: %v", seed, hour, err)
			}
			for _, f := range Schedule(now.Question, now.Answer) {
				t.Fatalf("seed %d, hour %d: %s %s", seed, hour, f.Pointer, f.Detail)
			}
			on := decimal.Zero
			for _, h := range was.Answer.Hours[1:] {
				on = on.Add(h.Cost.Decimal)
			}
			for _, r := range was.Answer.Refused {
				if !r.Arrived.Before(at) {
					on = on.Add(valueOf(&q, r))
				}
			}
			if on.Add(decimal.New(1, -6)).LessThan(now.Answer.Proof.Bound.Decimal) {
				t.Errorf("seed %d, hour %d: going on costs %s, below the bound of %s", seed, hour, on, now.Answer.Proof.Bound)
			}
			if l, a := inOneHour(t, now, at); l {
				if laid++; a {
					apart++
				}
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
	if carried == 0 || laid == 0 || apart == 0 {
		t.Errorf("%d rows waited, %d hours were laid, %d of them with several runs of a class", carried, laid, apart)
	}
}

// valueOf returns what refused executions are worth.
func valueOf(q *horizon.ScheduleQuestion, r horizon.RefusedArrivals) decimal.Decimal {
	for _, c := range q.Problem.Classes {
		if c.Name == r.Class {
			return c.Penalty.Mul(decimal.NewFromFloat(c.DeadlineSeconds)).Div(decimal.NewFromInt(q.Problem.PeriodSeconds)).Mul(decimal.NewFromInt(r.Jobs))
		}
	}
	return decimal.Zero
}

// inOneHour plans an hour with the classes that wait alone: what the schedule runs in it is admitted, on no more VMs than its
// slots take. It reports whether anything runs, and whether executions of a class run for different times.
func inOneHour(t *testing.T, f horizon.Followed, at time.Time) (laid, apart bool) {
	t.Helper()
	p := f.Question.Problem
	p.Classes, p.Options.Engine = nil, capacity.EngineExact
	p.Supply = capacity.Supply{OnDemand: p.Supply.OnDemand}
	p.Supply.OnDemand.Quota = nil
	running, slots, want := f.Running(at), 0.0, map[string]float64{}
	for k, c := range f.Question.Problem.Classes {
		if !f.Answer.Classes[k].Waits {
			continue
		}
		p.Classes = append(p.Classes, c)
		rows := running[c.Name]
		for _, r := range rows {
			each := 0.0
			if c.VMsPerJob != nil {
				each = c.VMsPerJob.InexactFloat64()
			} else {
				each = float64(r.MapSlots)/float64(max(1, c.SlotsPerVM.Map)) + float64(r.ReduceSlots)/float64(max(1, c.SlotsPerVM.Reduce))
			}
			slots += float64(r.Jobs) * each
			want[c.Name] += float64(r.Jobs)
			apart = apart || r.RunSeconds != rows[0].RunSeconds
		}
	}
	if slots == 0 {
		return false, false
	}
	f.Lay(&p, at, true)
	a, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.VMs.Total > math.Ceil(slots-1e-6) {
		t.Errorf("at %s the plan rents %g VMs, and the slots of the schedule take %g", at, a.VMs.Total, slots)
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
	a, err := horizon.Schedule(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := Schedule(q, a); len(f) > 0 {
		t.Fatalf("the schedule itself: %v", f)
	}
	// In the first hour 2 VMs run what started and 4 what arrived earlier: by halves of these the next hour has 2. The three that
	// wait start at nine, at the lower price, and end at eleven, when they are due.
	if a.Hours[0].VMs != 6 || a.Hours[1].VMs != 5 || a.Hours[2].VMs != 3 || len(a.Schedule) != 1 || a.Schedule[0].Start.Hour() != 9 || a.Cost.Bill.String() != "62.00" || a.Proof.Gap > 1e-5 {
		t.Fatalf("got %+v", a)
	}
	for name, plant := range map[string]func(*horizon.ScheduleAnswer){
		"a start after what is left of the window": func(a *horizon.ScheduleAnswer) {
			a.Schedule[0].Start = a.Schedule[0].Start.Add(time.Hour)
			a.Hours[1].VMs, a.Hours[3].VMs = 2, 3
		},
		"VMs for what starts alone":   func(a *horizon.ScheduleAnswer) { a.Hours[0].VMs = 0 },
		"what waits is forgotten":     func(a *horizon.ScheduleAnswer) { a.Schedule = nil },
		"what waited arrives now":     func(a *horizon.ScheduleAnswer) { a.Schedule[0].Arrived = q.Start() },
		"a bound above what is known": func(a *horizon.ScheduleAnswer) { a.Proof.Bound.Decimal = a.Proof.Bound.Add(decimal.New(1, 0)) },
		"it has not arrived":          func(a *horizon.ScheduleAnswer) { a.Classes[0].Arrived = 0 },
		"it does not wait":            func(a *horizon.ScheduleAnswer) { a.Classes[0].Later = 0 },
	} {
		var wrong horizon.ScheduleAnswer
		text, _ := json.Marshal(a)
		if err := json.Unmarshal(text, &wrong); err != nil {
			t.Fatal(err)
		}
		if plant(&wrong); len(Schedule(q, wrong)) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}
