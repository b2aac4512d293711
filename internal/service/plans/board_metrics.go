package plans

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/service/telemetry"
)

// boardMetrics exports the board to Prometheus. It reads the board at each scrape, so that no series remain of a
// deleted cluster. Replicas in touch with the database export the same; rules take the max by cluster of these.
type boardMetrics struct{ *Board }

var (
	planVMs         = telemetry.ClusterMetric("headroom_plan_vms", "VMs of the current plan.", "purchase")
	planCost        = telemetry.ClusterMetric("headroom_plan_cost_per_hour", "The current plan's money an hour: the bill on demand, for spot VMs and reserved, with what is paid and not used, and the value of refused jobs as penalty, which is on no bill.", "component", "currency")
	planGenerated   = telemetry.ClusterMetric("headroom_plan_generated_timestamp_seconds", "When the current plan was made.")
	planConfirmed   = telemetry.ClusterMetric("headroom_plan_confirmed_timestamp_seconds", "When the current plan was last seen to be the answer to the inputs.")
	planPeriod      = telemetry.ClusterMetric("headroom_plan_period_seconds", "The period that the current plan is for.")
	planStale       = telemetry.ClusterMetric("headroom_plan_stale", "1 when the current plan should be taken with care.")
	planFailed      = telemetry.ClusterMetric("headroom_plan_last_attempt_failed", "1 when the last attempt to plan anew failed, and the last good plan stays.")
	planMissing     = telemetry.ClusterMetric("headroom_plan_missing", "1 while a cluster has never had a plan because it cannot be planned.")
	planPinned      = telemetry.ClusterMetric("headroom_plan_pinned", "1 while an operator's pin keeps the plan.")
	planGap         = telemetry.ClusterMetric("headroom_plan_gap_ratio", "How far the plan is from optimal at most, in proportion.")
	planIntegrality = telemetry.ClusterMetric("headroom_plan_integrality_gap_ratio", "How far the plan's objective, which is the bill less the value of admitted jobs, lies above that of its relaxation, as a share of the latter.")
	reservedIdle    = telemetry.ClusterMetric("headroom_reserved_idle_cost_per_hour", "What the current plan pays an hour for VMs of contracts billed always that it does not use. It is a part of the cost of the component reserved.", "currency")
	reservedUse     = telemetry.ClusterMetric("headroom_reserved_utilization_ratio", "The part of the contracts' VMs that the current plan uses.")

	classVMs      = telemetry.ClusterMetric("headroom_plan_class_vms", "A class's share of the current plan's VMs.", "class")
	classSlots    = telemetry.ClusterMetric("headroom_plan_slots", "A class's slots in the current plan.", "class", "phase")
	classAdmitted = telemetry.ClusterMetric("headroom_plan_admitted_jobs", "Jobs of a class that may run at once.", "class")
	classRejected = telemetry.ClusterMetric("headroom_plan_rejected_jobs", "Jobs of a class that are refused.", "class")
	classPremise  = telemetry.ClusterMetric("headroom_bound_premise_ok", "1 when each of a class's jobs has a slot of each phase, without which the bounds do not hold.", "class")

	boardInTouch = prometheus.NewDesc("headroom_database_in_touch", "1 while the database answers; otherwise the plans shown may be old.", nil, nil)
)

// Describe names all there is.
func (m boardMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{planVMs, planCost, planGenerated, planConfirmed, planPeriod, planStale, planFailed, planMissing, planPinned, planGap, planIntegrality,
		reservedIdle, reservedUse, classVMs, classSlots, classAdmitted, classRejected, classPremise, boardInTouch} {
		to <- d
	}
}

// Collect shows every cluster's current plan.
func (m boardMetrics) Collect(to chan<- prometheus.Metric) {
	now, inTouch := m.now(), m.InTouch()
	to <- prometheus.MustNewConstMetric(boardInTouch, prometheus.GaugeValue, telemetry.Truth(inTouch))
	for _, cluster := range m.Without() {
		to <- prometheus.MustNewConstMetric(planMissing, prometheus.GaugeValue, 1, cluster)
	}
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
	if p.VMs.Spot > 0 {
		show(planVMs, p.VMs.Spot, "spot")
		show(planCost, p.Cost.Spot.InexactFloat64()*hour, "spot", p.Cost.Currency)
	}
	for component, money := range map[string]money.Amount{"on_demand": p.Cost.OnDemand, "reserved": {Decimal: p.Cost.Reserved.Add(p.Cost.ReservedIdle.Decimal)}, "penalty": p.Cost.Penalties} {
		show(planCost, money.InexactFloat64()*hour, component, p.Cost.Currency)
	}
	show(reservedIdle, p.Cost.ReservedIdle.InexactFloat64()*hour, p.Cost.Currency)
	show(planGenerated, telemetry.Seconds(s.Record.CreatedAt))
	show(planConfirmed, telemetry.Seconds(s.ConfirmedAt))
	show(planPeriod, float64(s.Record.PeriodSeconds))
	show(planStale, telemetry.Truth(!inTouch || s.Stale(now)))
	show(planFailed, telemetry.Truth(s.LastAttempt != nil && s.LastAttempt.Failed))
	show(planPinned, telemetry.Truth(s.Pin != nil && now.Before(s.Pin.Until)))
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
	if len(p.Classes) > telemetry.MaxClassSeries {
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
		show(classPremise, telemetry.Truth(enough(c.Slots.Map, c.Admitted) && enough(c.Slots.Reduce, c.Admitted)), c.Name)
	}
}

// enough reports whether there is a slot for each job, or the phase has no tasks.
func enough(slots, jobs float64) bool { return slots == 0 || slots >= jobs }
