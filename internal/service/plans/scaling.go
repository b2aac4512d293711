package plans

import (
	"cmp"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
)

// Scaling holds the targets for an autoscaler: a current plan at a moment, in whole VMs. Every number in it is finite
// and not negative, even for a broken plan.
type Scaling struct {
	PlanID      string          `json:"plan_id"`
	Number      int64           `json:"number"`
	GeneratedAt time.Time       `json:"generated_at"`
	ConfirmedAt time.Time       `json:"confirmed_at"`
	ValidUntil  time.Time       `json:"valid_until"`
	AgeSeconds  int64           `json:"age_s"` // since it was generated
	Stale       bool            `json:"stale"`
	Status      capacity.Status `json:"status"`

	VMs     ScalingVMs              `json:"vms"`
	Classes map[string]ScalingClass `json:"classes"`
	Items   []ScalingItem           `json:"items"` // the classes as rows, by name

	Types map[string]int64 `json:"types,omitempty"` // VMs by name, where there are several types

	// With a lead every count of VMs above is the most of any moment up to then, by itself, so that parts may add up to more.
	Next        []ScalingNext `json:"next,omitzero"`
	NextUntil   *time.Time    `json:"next_until,omitempty"` // it is complete up to then
	NextProblem string        `json:"next_problem,omitempty"`
}

// ScalingNext holds the targets from a moment ahead on.
type ScalingNext struct {
	At      time.Time        `json:"at"`
	VMs     int64            `json:"vms"`
	Types   map[string]int64 `json:"types,omitempty"`
	Classes map[string]int64 `json:"classes"`
}

// ScalingVMs counts the VMs that should run: Total = Reserved + OnDemand, unless a lead raises them.
type ScalingVMs struct {
	Total    int64 `json:"total"`
	Reserved int64 `json:"reserved"`
	OnDemand int64 `json:"on_demand"`
	Planned  int64 `json:"planned"`         // the plan's own total, before anything below changed it
	Held     bool  `json:"held"`            // a decrease is held back
	Ahead    bool  `json:"ahead,omitempty"` // the total is that of a moment ahead
}

// ScalingClass holds a class's part. VMs are whole and add up to the total of all classes; VMsShare is the plan's own
// share.
type ScalingClass struct {
	VMs         int64   `json:"vms"`
	VMsShare    float64 `json:"vms_share"`
	SlotsMap    int64   `json:"slots_map"`
	SlotsReduce int64   `json:"slots_reduce"`
	Admitted    float64 `json:"admitted"`
	Rejected    float64 `json:"rejected"`
}

// ScalingItem is a ScalingClass in a row.
type ScalingItem struct {
	Class string `json:"class"`
	ScalingClass
}

// ScalingOptions change the targets. They act on the total of VMs, in this order; the classes' VMs are parts of the
// total and follow it.
type ScalingOptions struct {
	Headroom float64 // a factor; 0 is 1
	Min, Max int64   // limits of the total; 0: no limit
	Class    string  // only this class is listed; "" is all
	Lead     time.Duration
	Ahead    Outlook // for a lead
}

// PastTotal is a plan's total of VMs that was current until a moment.
type PastTotal struct {
	VMs   float64   `json:"vms"`
	Until time.Time `json:"until"`
}

// heldVMs returns the largest total that was current within the last HoldSeconds, or 0 if no decrease is held back.
func (c Current) heldVMs(now time.Time) (vms float64) {
	if c.HoldSeconds == 0 || c.Pin != nil && now.Before(c.Pin.Until) {
		return 0
	}
	since := now.Add(-time.Duration(c.HoldSeconds) * time.Second)
	for _, was := range c.Past {
		if was.Until.After(since) {
			vms = max(vms, figure(was.VMs))
		}
	}
	return vms
}

// scalingAt returns the targets for autoscalers from a current plan at a moment. p is its plan. A decrease is held
// back: the total is the largest that was current within the last HoldSeconds. A pinned plan counts at once, as its
// operator wishes. found is false if the plan has no class with the requested name.
func (c Current) scalingAt(now time.Time, p capacity.Plan, o ScalingOptions) (s Scaling, found bool) {
	s = Scaling{
		PlanID: c.Record.ID, Number: c.Record.Number, GeneratedAt: c.Record.CreatedAt.UTC(), ConfirmedAt: c.ConfirmedAt.UTC(), ValidUntil: c.ValidUntil().UTC(),
		AgeSeconds: max(0, int64(now.Sub(c.Record.CreatedAt)/time.Second)), Stale: c.Stale(now), Status: p.Status,
		Classes: map[string]ScalingClass{}, Items: []ScalingItem{},
	}
	s.VMs.Planned = whole(p.VMs.Total)
	total := max(s.VMs.Planned, whole(c.heldVMs(now)))
	s.VMs.Held = total > s.VMs.Planned
	total, s.Types = o.total(total), o.types(p)
	s.VMs.Total, s.VMs.Reserved, s.VMs.OnDemand = total, min(whole(p.VMs.Reserved), total), max(0, total-whole(p.VMs.Reserved))

	parts := wholeParts(total, p.Classes)
	for i, class := range p.Classes {
		if o.Class != "" && class.Name != o.Class {
			continue
		}
		one := ScalingClass{VMs: parts[i], VMsShare: figure(class.VMs), Admitted: figure(class.Admitted), Rejected: figure(class.Refused)}
		if class.Slots != nil {
			one.SlotsMap, one.SlotsReduce = whole(class.Slots.Map), whole(class.Slots.Reduce)
		}
		s.Classes[class.Name] = one
		s.Items = append(s.Items, ScalingItem{Class: class.Name, ScalingClass: one})
	}
	if o.Lead > 0 {
		s.lookAhead(now, o)
	}
	slices.SortFunc(s.Items, func(a, b ScalingItem) int { return cmp.Compare(a.Class, b.Class) })
	return s, o.Class == "" || len(s.Items) > 0
}

// total returns the total of VMs that a plan's total comes to.
func (o ScalingOptions) total(planned int64) int64 {
	if o.Headroom > 0 {
		planned = whole(float64(planned) * o.Headroom)
	}
	planned = max(planned, o.Min)
	if o.Max > 0 {
		planned = min(planned, o.Max)
	}
	return planned
}

// types returns the VMs of each type, where a plan has several. Only the factor acts on them.
func (o ScalingOptions) types(p capacity.Plan) map[string]int64 {
	if len(p.VMs.Types) == 0 {
		return nil
	}
	vms := make(map[string]int64, len(p.VMs.Types))
	for _, t := range p.VMs.Types {
		vms[t.Name] = whole(figure(t.Total) * cmp.Or(o.Headroom, 1))
	}
	return vms
}

// lookAhead adds what comes, and asks for the VMs that must be there within the lead.
func (s *Scaling) lookAhead(now time.Time, o ScalingOptions) {
	s.Next, s.NextProblem = []ScalingNext{}, o.Ahead.Problem
	until := o.Ahead.Until.UTC()
	s.NextUntil = &until
	for _, m := range o.Ahead.Moments {
		next := ScalingNext{At: m.At.UTC(), VMs: o.total(whole(m.Plan.VMs.Total)), Types: o.types(m.Plan), Classes: map[string]int64{}}
		parts := wholeParts(next.VMs, m.Plan.Classes)
		for i, class := range m.Plan.Classes {
			if o.Class == "" || class.Name == o.Class {
				next.Classes[class.Name] = parts[i]
			}
		}
		s.Next = append(s.Next, next)
		if !m.At.After(now.Add(o.Lead)) {
			s.raise(next, whole(m.Plan.VMs.Reserved))
		}
	}
}

// raise asks for no fewer VMs of any kind than a moment ahead needs, of which some are reserved.
func (s *Scaling) raise(next ScalingNext, reserved int64) {
	if next.VMs > s.VMs.Total {
		s.VMs.Total, s.VMs.Ahead = next.VMs, true
	}
	s.VMs.Reserved = max(s.VMs.Reserved, min(reserved, next.VMs))
	s.VMs.OnDemand = max(s.VMs.OnDemand, next.VMs-reserved)
	for name, n := range next.Types {
		if s.Types == nil { // of a pinned plan, perhaps, when there was one type
			s.Types = map[string]int64{}
		}
		s.Types[name] = max(s.Types[name], n)
	}
	for i, item := range s.Items {
		item.VMs = max(item.VMs, next.Classes[item.Class])
		s.Items[i], s.Classes[item.Class] = item, item.ScalingClass
	}
}

// forgiven is the excess over a whole number that does not count: 1e-7 of a VM, as in plans.
const forgiven = 1e-7

// maxWhole keeps factors within the range in which float64 represents all whole numbers.
const maxWhole = 1e15

// whole rounds a figure up to a whole number.
func whole(x float64) int64 { return int64(math.Ceil(figure(x) - forgiven)) }

// figure returns a number that autoscalers can read: it replaces NaN, infinite and negative numbers by limits.
func figure(x float64) float64 {
	if !(x > 0) { // written this way so that NaN is 0 too
		return 0
	}
	return min(x, maxWhole)
}

// wholeParts divides a total among the classes in proportion to their shares, in whole numbers, by largest remainder;
// equal remainders go by name. If no class has a share, none gets a part.
func wholeParts(total int64, classes []capacity.ClassPlan) []int64 {
	parts, sum := make([]int64, len(classes)), 0.0
	for _, c := range classes {
		sum += figure(c.VMs)
	}
	if sum == 0 || total <= 0 {
		return parts
	}
	remainders, rest := make([]int64, len(classes)), total // in parts that are too small to decide anything
	order := make([]int, 0, len(classes))
	for i, c := range classes {
		exact := figure(c.VMs) / sum * float64(total)
		parts[i] = int64(exact + forgiven)
		remainders[i] = int64(math.Round((exact - float64(parts[i])) / forgiven))
		rest -= parts[i]
		if figure(c.VMs) > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(remainders[b], remainders[a]), cmp.Compare(classes[a].Name, classes[b].Name))
	})
	for i := 0; rest > 0; i++ {
		parts[order[i%len(order)]]++
		rest--
	}
	return parts
}
