package plans

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

func TestJudgeObservation(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	plan := func(vms float64) *PlanTotal { return &PlanTotal{17, vms, 0} }
	current := func(confirmed time.Duration) *Current {
		return &Current{Record: PlanRecord{PlanSummary: PlanSummary{Number: 17, VMs: 40, PeriodSeconds: 3600}}, ConfirmedAt: at.Add(-confirmed)}
	}
	two := ObservationBasis{MapSlots: 2, ReduceSlots: 4}
	for name, c := range map[string]struct {
		r                                  ObservationRequest
		by                                 ObservationBasis
		drift, ratio, utilization, planned *float64
		stale                              *bool
	}{
		"more than planned":     {ObservationRequest{VMs: 46}, ObservationBasis{Plan: plan(40), Current: current(time.Minute)}, new(6.0), new(0.15), nil, new(40.0), new(false)},
		"fewer than planned":    {ObservationRequest{VMs: 30}, ObservationBasis{Plan: plan(40), Current: current(3 * time.Hour)}, new(-10.0), new(-0.25), nil, new(40.0), new(true)},
		"a plan of then":        {ObservationRequest{VMs: 30}, ObservationBasis{Plan: plan(40)}, new(-10.0), new(-0.25), nil, new(40.0), nil},
		"a decrease is held":    {ObservationRequest{VMs: 46}, ObservationBasis{Plan: &PlanTotal{17, 40, 45.5}}, new(0.0), new(0.0), nil, new(46.0), nil},
		"an increase":           {ObservationRequest{VMs: 46}, ObservationBasis{Plan: &PlanTotal{17, 46, 40}}, new(0.0), new(0.0), nil, new(46.0), nil},
		"a part of a VM":        {ObservationRequest{VMs: 41}, ObservationBasis{Plan: plan(40.3)}, new(0.0), new(0.0), nil, new(41.0), nil},
		"nothing planned":       {ObservationRequest{VMs: 2}, ObservationBasis{Plan: plan(0)}, new(2.0), nil, nil, new(0.0), nil},
		"no plan":               {ObservationRequest{VMs: 2}, ObservationBasis{}, nil, nil, nil, nil, nil},
		"busy":                  {ObservationRequest{VMs: 10, Slots: &BusySlots{Map: 10, Reduce: 8}}, two, nil, nil, new(0.7), nil, nil},
		"busier than can be":    {ObservationRequest{VMs: 1, Slots: &BusySlots{Map: 10}}, two, nil, nil, new(5.0), nil, nil},
		"idle":                  {ObservationRequest{VMs: 1, Slots: &BusySlots{}}, two, nil, nil, new(0.0), nil, nil},
		"no VM runs":            {ObservationRequest{Slots: &BusySlots{Map: 10}}, two, nil, nil, nil, nil, nil},
		"slots of many kinds":   {ObservationRequest{VMs: 1, Slots: &BusySlots{Map: 10}}, ObservationBasis{}, nil, nil, nil, nil, nil},
		"the most that may run": {ObservationRequest{VMs: maxObservedVMs, Slots: &BusySlots{maxObservedSlots, maxObservedSlots}}, ObservationBasis{MapSlots: 1, ReduceSlots: 1}, nil, nil, new(2000.0), nil, nil},
	} {
		o := c.r.judge(at, c.by)
		got := []any{o.DriftVMs, o.DriftRatio, o.Utilization, o.PlannedVMs, o.PlanStale}
		if diff := cmp.Diff([]any{c.drift, c.ratio, c.utilization, c.planned, c.stale}, got); diff != "" {
			t.Errorf("%s: drift, ratio, utilization, planned, stale (-want +got):\n%s", name, diff)
		}
		if differs := c.by.Plan != nil && c.by.Plan.VMs != *o.PlannedVMs; differs != (o.PlanVMs != nil) || differs && *o.PlanVMs != c.by.Plan.VMs {
			t.Errorf("%s: the plan's own total is %v", name, o.PlanVMs)
		}
		tooMany := o.Utilization != nil && *o.Utilization > 1 || c.r.VMs == 0 && c.r.Slots != nil && *c.r.Slots != (BusySlots{})
		if tooMany != (len(o.Warnings) == 1) {
			t.Errorf("%s: the warnings are %+v", name, o.Warnings)
		}
		for _, x := range []*float64{o.DriftVMs, o.DriftRatio, o.Utilization} {
			if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0)) {
				t.Errorf("%s: got %v", name, *x)
			}
		}
	}
}

func TestObservationIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { return new(now.Add(d)) }
	for want, r := range map[string]ObservationRequest{
		"/vms":          {VMs: -1},
		"/slots/map":    {Slots: &BusySlots{Map: -1}},
		"/slots/reduce": {Slots: &BusySlots{Reduce: maxObservedSlots + 1}},
		"/at":           {At: at(time.Minute + time.Second)},
	} {
		var input *fault.InputError
		if err := r.Validate(now); !errors.As(err, &input) || len(input.Findings) != 1 || input.Findings[0].Pointer != want {
			t.Errorf("%+v: got %v, want a finding at %s", r, err, want)
		}
	}
	if err := (ObservationRequest{VMs: 1, At: at(-ObservationLate - time.Second)}).Validate(now); err == nil {
		t.Error("one of more than 7 days ago is taken")
	}
	for _, d := range []time.Duration{-ObservationLate, 0, strict.MaxAhead} {
		if err := (ObservationRequest{VMs: 1, At: at(d)}).Validate(now); err != nil {
			t.Errorf("%s from now: %v", d, err)
		}
	}
}
