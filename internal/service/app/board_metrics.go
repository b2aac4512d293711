package app

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"headroom/internal/core/money"
)

// boardMetrics exports the board to Prometheus. It reads the board at each scrape, so that no series remain of a
// deleted cluster. Replicas export the same; rules take the max by cluster.
type boardMetrics struct{ *Board }

// maxClassSeries is the number of classes above which a cluster's classes get no series.
const maxClassSeries = 1000

func planMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"cluster"}, labels...), nil)
}

var (
	planVMs         = planMetric("headroom_plan_vms", "VMs of the current plan.", "purchase")
	planCost        = planMetric("headroom_plan_cost_per_hour", "What the current plan costs an hour; reserved includes what is paid and not used.", "component", "currency")
	planGenerated   = planMetric("headroom_plan_generated_timestamp_seconds", "When the current plan was made.")
	planConfirmed   = planMetric("headroom_plan_confirmed_timestamp_seconds", "When the current plan was last seen to be the answer to the inputs.")
	planPeriod      = planMetric("headroom_plan_period_seconds", "The period that the current plan is for.")
	planStale       = planMetric("headroom_plan_stale", "1 when the current plan should be taken with care.")
	planFailed      = planMetric("headroom_plan_last_attempt_failed", "1 when the last attempt to plan anew failed, and the last good plan stays.")
	planPinned      = planMetric("headroom_plan_pinned", "1 while an operator's pin keeps the plan.")
	planGap         = planMetric("headroom_plan_gap_ratio", "How far the plan is from optimal at most, in proportion.")
	planIntegrality = planMetric("headroom_plan_integrality_gap_ratio", "How much dearer the plan is than its relaxation, in proportion.")
	reservedUse     = planMetric("headroom_reserved_utilization_ratio", "The part of the contracts' VMs that the current plan uses.")

	classVMs      = planMetric("headroom_plan_class_vms", "A class's share of the current plan's VMs.", "class")
	classSlots    = planMetric("headroom_plan_slots", "A class's slots in the current plan.", "class", "phase")
	classAdmitted = planMetric("headroom_plan_admitted_jobs", "Jobs of a class that may run at once.", "class")
	classRejected = planMetric("headroom_plan_rejected_jobs", "Jobs of a class that are refused.", "class")
	classPremise  = planMetric("headroom_bound_premise_ok", "1 when each of a class's jobs has a slot of each phase, without which the bounds do not hold.", "class")

	boardInTouch = prometheus.NewDesc("headroom_database_in_touch", "1 while the database answers; otherwise the plans shown may be old.", nil, nil)
)

// Describe names all there is.
func (m boardMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{planVMs, planCost, planGenerated, planConfirmed, planPeriod, planStale, planFailed, planPinned, planGap, planIntegrality,
		reservedUse, classVMs, classSlots, classAdmitted, classRejected, classPremise, boardInTouch} {
		to <- d
	}
}

// Collect shows every cluster's current plan.
func (m boardMetrics) Collect(to chan<- prometheus.Metric) {
	now, inTouch := m.now(), m.InTouch()
	to <- prometheus.MustNewConstMetric(boardInTouch, prometheus.GaugeValue, truth(inTouch))
	for cluster, shown := range m.All() {
		shown.collect(now, inTouch, func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{cluster}, labels...)...)
		})
	}
}

func (s *Shown) collect(now time.Time, inTouch bool, show func(d *prometheus.Desc, value float64, labels ...string)) {
	p, hour := s.Plan, 3600/float64(max(1, s.Plan.Cost.PeriodSeconds))
	show(planVMs, p.VMs.OnDemand, "on_demand")
	show(planVMs, p.VMs.Reserved, "reserved")
	for component, money := range map[string]money.Amount{"on_demand": p.Cost.OnDemand, "reserved": {Decimal: p.Cost.Reserved.Add(p.Cost.ReservedIdle.Decimal)}, "penalty": p.Cost.Penalties} {
		show(planCost, money.InexactFloat64()*hour, component, p.Cost.Currency)
	}
	show(planGenerated, seconds(s.Record.CreatedAt))
	show(planConfirmed, seconds(s.ConfirmedAt))
	show(planPeriod, float64(s.Record.PeriodSeconds))
	show(planStale, truth(!inTouch || s.Stale(now)))
	show(planFailed, truth(s.LastAttempt != nil && s.LastAttempt.Failed))
	show(planPinned, truth(s.Pin != nil && now.Before(s.Pin.Until)))
	show(planGap, s.Record.Gap)
	if p.Relaxed != nil {
		relaxed := p.Relaxed.Objective.InexactFloat64()
		more := p.Objective.InexactFloat64() - relaxed
		show(planIntegrality, max(0, more)/max(math.Abs(relaxed), 1e-9))
	}
	used, contracted := 0.0, 0.0
	for _, c := range p.VMs.Contracts {
		used, contracted = used+c.Used, contracted+c.VMs
	}
	if contracted > 0 {
		show(reservedUse, used/contracted)
	}
	if len(p.Classes) > maxClassSeries {
		return
	}
	for _, c := range p.Classes {
		show(classVMs, c.VMs, c.Name)
		show(classAdmitted, c.Admitted, c.Name)
		show(classRejected, c.Refused, c.Name)
		if c.Slots == nil {
			continue
		}
		show(classSlots, c.Slots.Map, c.Name, "map")
		show(classSlots, c.Slots.Reduce, c.Name, "reduce")
		show(classPremise, truth(enough(c.Slots.Map, c.Admitted) && enough(c.Slots.Reduce, c.Admitted)), c.Name)
	}
}

// enough reports whether there is a slot for each job, or the phase has no tasks.
func enough(slots, jobs float64) bool { return slots == 0 || slots >= jobs }

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
