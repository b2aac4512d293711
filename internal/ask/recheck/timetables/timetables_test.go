package timetables_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/recheck"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// scheduleOf writes a drawn cluster as a question.
func scheduleOf(c study.Cluster) []byte { return scheduleOn(c, 0) }

// scheduleOn writes a drawn cluster with so many types of VMs, or with one kind that has no name. Each contract is of another type.
func scheduleOn(c study.Cluster, n int) []byte {
	types := c.DrawTypes(n)
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	type object = map[string]any
	contracts := []object{}
	var classes, periods []object
	for i, t := range c.Contracts {
		billing := "used"
		if t.Always {
			billing = "always"
		}
		contract := object{"name": fmt.Sprintf("contract %d", i), "vms": t.VMs, "price": fmt.Sprint(t.Price), "billing": billing,
			"from": start.Add(time.Duration(t.From) * time.Hour), "until": start.Add(time.Duration(t.Until) * time.Hour)}
		if n > 0 {
			contract["vm_type"] = typeName(i % n)
		}
		contracts = append(contracts, contract)
	}
	for k, a := range c.Classes {
		class := object{"name": fmt.Sprintf("class %d", k), "demand": a.Demand, "slots_per_vm": a.Slots, "deadline_s": a.Deadline,
			"jobs": object{"min": 0, "max": 0}, "penalty": fmt.Sprint(study.Places(a.Penalty*3600/a.Deadline, 6))}
		if a.Due > 0 {
			class["due_s"] = a.Due
		}
		if k == 1 {
			delete(class, "demand")
			delete(class, "slots_per_vm")
			class["vms_per_job"] = "0.7"
		}
		if n > 0 {
			slots, speeds := object{}, object{}
			for v, t := range types {
				speeds[typeName(v)] = t.Speed
				if slots[typeName(v)] = t.Slots[k]; k == 3 && v > 0 { // it runs on one type
					delete(slots, typeName(v))
				}
			}
			if class["speed"] = speeds; k != 1 {
				class["slots_per_vm"] = slots
			}
		}
		classes = append(classes, class)
	}
	for h, price := range c.Prices {
		arrivals := make([]float64, len(c.Classes))
		for k := range c.Classes {
			if h < len(c.Classes[k].Arrivals) {
				arrivals[k] = float64(c.Classes[k].Arrivals[h])
				if k == 2 {
					arrivals[k] = math.Round(40*arrivals[k]+7) / 100
				}
			}
		}
		period := object{"start": start.Add(time.Duration(h) * time.Hour), "hours": 1, "arrivals": arrivals, "on_demand_price": fmt.Sprint(price)}
		if n > 0 {
			prices := object{}
			for v, t := range types {
				prices[typeName(v)] = object{"on_demand": fmt.Sprint(t.Prices[h])}
			}
			delete(period, "on_demand_price")
			period["prices"] = prices
		}
		periods = append(periods, period)
	}
	rented := object{"price": "0.2"}
	if c.Quota < study.Unlimited {
		rented["quota"] = c.Quota
	}
	supply := object{"on_demand": rented}
	if n > 0 {
		named := []object{}
		for v := range types {
			named = append(named, object{"name": typeName(v), "on_demand": rented})
		}
		supply = object{"vm_types": named}
	}
	data, err := json.Marshal(object{"problem": object{"currency": "EUR", "supply": supply, "classes": classes}, "contracts": contracts, "periods": periods})
	if err != nil {
		panic(err)
	}
	return data
}

func typeName(v int) string { return fmt.Sprintf("type %d", v) }

func readSchedule(t *testing.T, data []byte) timetable.Question {
	t.Helper()
	q, err := timetable.Read(data, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestSchedulesPassTheirCheck(t *testing.T) {
	for seed := uint64(0); seed < 12; seed += uint64(plantest.Trials(3, 1)) {
		q := readSchedule(t, scheduleOf(study.DrawCluster(seed, 24+int(seed), 4+int(seed), 20, 8)))
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, f := range timetables.Check(q, a) {
			t.Errorf("seed %d: %s %s", seed, f.Pointer, f.Detail)
		}
		t.Logf("seed %d: total %s, bound %s, saved %s, checked in %v: %s", seed, a.Cost.Total, a.Proof.Bound, a.Saved, time.Since(began), a.Explanation)
	}
}

// Of a class all of whose jobs are promised no execution is refused, though it is valued at nothing. Where they find no
// place, that is said. A schedule that refuses some is found out.
func TestSchedulesOfAll(t *testing.T) {
	refusing, none := 0, 0
	seeds := plantest.Trials(4, 8)
	for seed := range uint64(seeds) {
		c := study.DrawCluster(seed, 8+int(seed), 4, 8, 5)
		c.Classes[0].Penalty = 0
		if seed%2 == 1 { // one VM, or none
			c.Quota, c.Contracts = int64(seed/2%2), nil
		}
		q := readSchedule(t, scheduleOf(c))
		without, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if without.Classes[0].Refused > 0 {
			refusing++
		}
		q.Problem.Classes[0].Jobs = capacity.JobRange{All: true}
		a, err := timetable.Plan(t.Context(), q, nil)
		if full, is := errors.AsType[*fault.InfeasibleError](err); is {
			if none++; c.Quota >= study.Unlimited || !strings.Contains(full.Conflicts[0].Detail, "All executions of class \"class 0\" are promised") {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, f := range timetables.Check(q, a) {
			t.Errorf("seed %d: %s %s", seed, f.Pointer, f.Detail)
		}
		if a.Classes[0].Refused != 0 || a.Cost.Total.LessThan(without.Proof.Bound.Decimal) || a.Proof.Bound.GreaterThan(a.Cost.Total.Decimal) {
			t.Errorf("seed %d: %d refused, %+v, bound %s", seed, a.Classes[0].Refused, a.Cost, a.Proof.Bound)
		}
		if without.Classes[0].Refused > 0 && len(timetables.Check(q, without)) == 0 {
			t.Errorf("seed %d: a schedule that refuses %d passes", seed, without.Classes[0].Refused)
		}
	}
	if refusing < seeds/2 || none < seeds/4 || none > seeds/2 {
		t.Errorf("%d refuse without it, %d have no schedule with it", refusing, none)
	}
}

// A change of any figure of a schedule is found, but for what is said not to be checked.
func TestChangedSchedulesAreFound(t *testing.T) {
	var question []byte
	var a timetable.Answer
	atOnce := func(s timetable.Start) bool { return s.Start.Equal(s.Arrived) }
	for seed := uint64(0); len(a.Refused) == 0 || !slices.ContainsFunc(a.Schedule, atOnce) || a.Saved.IsZero() || a.Status != capacity.Feasible; seed++ {
		c := study.DrawCluster(seed, 8, 5, 5, 6)
		c.Classes[2].Penalty /= 8
		question = scheduleOf(c)
		q := readSchedule(t, question)
		var err error
		if a, err = timetable.Plan(t.Context(), q, nil); err == nil {
			err = timetables.Fault(q, &a)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	changed(t, question, a)
}

// changed changes a schedule at each place, and says which changes pass.
func changed(t *testing.T, question []byte, a timetable.Answer) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	passes := func(text []byte) bool {
		r, err := recheck.Answer(question, text, recheck.Options{Limits: capacity.DefaultLimits()})
		return err == nil && r.Accepted()
	}
	if !passes(text) {
		r, err := recheck.Answer(question, text, recheck.Options{Limits: capacity.DefaultLimits()})
		t.Fatal(r, err)
	}
	all := mutation.Of(t, text)
	tried, found, every := 0, 0, plantest.Trials(5, 1)
	for i, m := range all {
		if i%every != 0 {
			continue
		}
		tried++
		if !passes(m.Text()) {
			found++
			continue
		}
		if !unchecked.MatchString(m.Path()) && m.How != "null for no entry" && (m.Path() != "/proof/gap" && m.Path() != "/budgets/#/price" || m.How != "a billionth") {
			t.Errorf("this passes: %s", m)
		}
	}
	t.Logf("%d of %d changes are found", found, tried)
}

// A plan in which nothing waits that is dearer than its starts, or that waits after all, lets waiting look as if it saved more.
func TestInflatedSavingsAreFound(t *testing.T) {
	q := readSchedule(t, scheduleOf(study.DrawCluster(1, 12, 5, 5, 6)))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil || a.Saved.IsZero() || len(timetables.Check(q, a)) > 0 {
		t.Fatal(a.Saved, timetables.Check(q, a), err)
	}
	dear := a
	for _, amount := range []*money.Amount{&dear.AtOnce.Bill, &dear.AtOnce.Total, &dear.Saved} {
		amount.Decimal = amount.Add(decimal.NewFromInt(500))
	}
	waits := a
	waits.AtOnce = timetable.AtOnce{Cost: a.Cost, Schedule: a.Schedule, Refused: a.Refused}
	waits.Saved = money.Amount{}
	for name, a := range map[string]timetable.Answer{"500 more": dear, "the plan that waits": waits} {
		if len(timetables.Check(q, a)) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// unchecked names members whose changes may pass: those that NotChecked lists, and prices of hours, which prove another bound.
var unchecked = regexp.MustCompile(`^/(proof/engine|proof/bound|hours/#/(by_type/#/)?price)`)
