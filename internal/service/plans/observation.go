package plans

import (
	"fmt"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// ObservationRequest reports the running VMs and busy slots of a cluster.
type ObservationRequest struct {
	VMs   int64      `json:"vms"`   // running now, no matter who pays for them
	Slots *BusySlots `json:"slots"` // nil if not counted
	At    *time.Time `json:"at"`    // nil is now
}

// BusySlots counts the slots of a cluster that do work.
type BusySlots struct {
	Map    int64 `json:"map"`
	Reduce int64 `json:"reduce"`
}

// Observation records what ran at a moment, judged against the plan that was current then. It never changes: neither
// a later plan nor later reports of an earlier moment change the judgement.
type Observation struct {
	ID         string     `json:"id"` // UUID version 7
	At         time.Time  `json:"at"`
	ObservedBy string     `json:"observed_by"` // the key's name
	VMs        int64      `json:"vms"`
	Slots      *BusySlots `json:"slots"`

	// Utilization is the part of the running VMs that the busy slots take; nil if unknown. A value above 1 means that
	// somebody counted wrong, or runs more slots on a VM than the classes have.
	Utilization *float64 `json:"utilization"`

	// Of the plan; all nil without one.
	PlanNumber *int64   `json:"plan_number"`
	PlannedVMs *float64 `json:"planned_vms"` // as given to autoscalers: whole, and with a decrease held back
	PlanVMs    *float64 `json:"plan_vms"`    // the plan's own total; nil also if equal
	PlanStale  *bool    `json:"plan_stale"`  // nil also for a moment before today's plan
	DriftVMs   *float64 `json:"drift_vms"`   // running less planned
	DriftRatio *float64 `json:"drift_ratio"` // relative to planned; nil if none was planned

	Warnings []capacity.Warning `json:"warnings"`
}

// ObservationBasis holds the data by which an observation is judged.
type ObservationBasis struct {
	Plan    *PlanTotal // nil without one
	Current *Current   // if it has this plan
	// MapSlots and ReduceSlots count the slots of a VM. They are 0 if classes differ in them: then the sum of busy
	// slots does not tell how many VMs they take.
	MapSlots, ReduceSlots int64
}

// PlanTotal counts the VMs that a plan rents in all.
type PlanTotal struct {
	Number int64
	VMs    float64 `db:"vms"`
	Held   float64 // the largest total from which a decrease was held back then; 0 without one
}

// Limits of an observation's distance from now: clocks differ a little, and reports may come late.
const (
	ObservationLate = 7 * 24 * time.Hour
)

// Limits of counts, far below the numbers at which float64 skips whole numbers.
const (
	maxObservedVMs   = 1_000_000_000
	maxObservedSlots = 1_000_000_000_000
)

// Validate checks an observation that arrives now.
func (r ObservationRequest) Validate(now time.Time) error {
	return strict.Check(func(k *strict.Checker) {
		if r.VMs < 0 || r.VMs > maxObservedVMs {
			k.Refuse("vms", "range", "%d VMs cannot run; from 0 to %d can.", r.VMs, int64(maxObservedVMs))
		}
		if r.Slots != nil {
			checkBusy(k, "map", r.Slots.Map)
			checkBusy(k, "reduce", r.Slots.Reduce)
		}
		if r.At == nil {
			return
		}
		switch at := r.At.UTC(); {
		case at.After(now.Add(strict.MaxAhead)):
			k.Refuse("at", "range", "The observation is from %s, which is in the future (here it is %s); leave the time out for now, or set the clock right.", at.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		case at.Before(now.Add(-ObservationLate)):
			k.Refuse("at", "range", "The observation is from %s, more than 7 days ago; only later ones are taken.", at.Format(time.RFC3339))
		}
	})
}

func checkBusy(k *strict.Checker, phase string, n int64) {
	if n < 0 || n > maxObservedSlots {
		k.Findings = append(k.Findings, fault.Finding{Pointer: "/slots/" + phase, Code: "range",
			Detail: fmt.Sprintf("%d slots cannot be busy; from 0 to %d can.", n, int64(maxObservedSlots))})
	}
}

// judge compares an observation of a moment with the plan.
func (r ObservationRequest) judge(at time.Time, by ObservationBasis) Observation {
	o := Observation{At: at, VMs: r.VMs, Slots: r.Slots}
	if r.Slots != nil && r.VMs > 0 && by.MapSlots > 0 && by.ReduceSlots > 0 {
		// A VM works on map slots or on reduce slots, so each slot is a share of it.
		vms := float64(r.Slots.Map)/float64(by.MapSlots) + float64(r.Slots.Reduce)/float64(by.ReduceSlots)
		o.Utilization = new(vms / float64(r.VMs))
	}
	if by.Plan != nil {
		o.PlanNumber, o.PlannedVMs = &by.Plan.Number, new(float64(whole(max(by.Plan.VMs, by.Plan.Held))))
		if *o.PlannedVMs != by.Plan.VMs {
			o.PlanVMs = &by.Plan.VMs
		}
		if by.Current != nil {
			o.PlanStale = new(by.Current.Stale(at))
		}
	}
	o.Derive()
	return o
}

// Derive computes the remaining figures: the deviation from the plan, and warnings of impossible counts.
func (o *Observation) Derive() {
	o.Warnings = []capacity.Warning{}
	if o.Slots != nil && o.VMs == 0 && o.Slots.Map+o.Slots.Reduce > 0 {
		o.Warnings = append(o.Warnings, capacity.Warning{Pointer: "/slots", Code: "too_many", Detail: "Slots are busy although no VM runs; count again."})
	}
	if o.Utilization != nil && *o.Utilization > 1+forgiven {
		o.Warnings = append(o.Warnings, capacity.Warning{Pointer: "/slots", Code: "too_many", Detail: fmt.Sprintf(
			"The busy slots would take %.4g VMs, and %d run; count again, or correct the slots per VM of the classes.", *o.Utilization*float64(o.VMs), o.VMs)})
	}
	if o.PlannedVMs == nil {
		return
	}
	o.DriftVMs = new(float64(o.VMs) - *o.PlannedVMs)
	if *o.PlannedVMs > 0 {
		o.DriftRatio = new(*o.DriftVMs / *o.PlannedVMs)
	}
}
