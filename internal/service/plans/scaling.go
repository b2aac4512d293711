package plans

import (
	"cmp"
	"maps"
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

	ScalingTypes

	// What is held back or comes within a lead raises every count of VMs above by itself, so that parts may add up to more.
	Next         []ScalingNext `json:"next,omitzero"`
	NextUntil    *time.Time    `json:"next_until,omitempty"` // it is complete up to then
	NextComplete *bool         `json:"next_complete,omitempty"`
	NextProblem  string        `json:"next_problem,omitempty"`
}

// ScalingNext holds the targets from a moment ahead on.
type ScalingNext struct {
	At  time.Time `json:"at"`
	VMs int64     `json:"vms"` // Reserved + OnDemand + Spot
	ScalingKinds
	ScalingTypes
	Classes map[string]int64 `json:"classes"`
}

// ScalingKinds counts VMs by how they are paid for.
type ScalingKinds struct {
	Reserved int64 `json:"reserved"`
	OnDemand int64 `json:"on_demand"`
	Spot     int64 `json:"spot"`
}

// ScalingTypes counts VMs by the name of their type, where there are several.
type ScalingTypes struct {
	Types     map[string]int64 `json:"types,omitempty"`
	SpotTypes map[string]int64 `json:"spot_types,omitempty"` // those of Types that are spot
}

// ScalingVMs counts the VMs that should run: Total = Reserved + OnDemand + Spot, unless a hold or a lead raises them.
type ScalingVMs struct {
	Total int64 `json:"total"`
	ScalingKinds
	Planned int64 `json:"planned"`         // the plan's own total, before anything below changed it
	Held    bool  `json:"held"`            // a decrease is held back
	Ahead   bool  `json:"ahead,omitempty"` // the total is that of a moment ahead
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

// PastVMs holds the VMs of a plan that was current until a moment.
type PastVMs struct {
	Total    float64            `json:"vms"`
	Reserved float64            `json:"reserved"`
	Spot     float64            `json:"spot"`
	Types    []capacity.TypeVMs `json:"types"`
	Until    time.Time          `json:"until"`
}

// held returns the VMs of plans that were current within the last HoldSeconds, if decreases are held back.
func (c Current) held(now time.Time) (held []capacity.VMs) {
	if c.HoldSeconds == 0 || c.Pin != nil && now.Before(c.Pin.Until) {
		return nil
	}
	since := now.Add(-time.Duration(c.HoldSeconds) * time.Second)
	for _, was := range c.Past {
		if was.Until.After(since) {
			held = append(held, capacity.VMs{Total: was.Total, Reserved: was.Reserved, Spot: was.Spot, Types: was.Types})
		}
	}
	return held
}

// scalingAt returns the targets for autoscalers from a current plan at a moment. p is its plan. A decrease is held
// back: each count of VMs is the largest that was current within the last HoldSeconds. A pinned plan counts at once, as
// its operator wishes. found is false if the plan has no class with the requested name.
func (c Current) scalingAt(now time.Time, p capacity.Plan, o ScalingOptions) (s Scaling, found bool) {
	s = Scaling{
		PlanID: c.Record.ID, Number: c.Record.Number, GeneratedAt: c.Record.CreatedAt.UTC(), ConfirmedAt: c.ConfirmedAt.UTC(), ValidUntil: c.ValidUntil().UTC(),
		AgeSeconds: max(0, int64(now.Sub(c.Record.CreatedAt)/time.Second)), Stale: c.Stale(now), Status: p.Status,
		Classes: map[string]ScalingClass{}, Items: []ScalingItem{},
	}
	s.VMs.Planned = whole(p.VMs.Total)
	s.raise(o, p.VMs)
	for _, was := range c.held(now) {
		s.VMs.Held = s.VMs.Held || whole(was.Total) > s.VMs.Planned
		s.raise(o, was)
	}

	parts := wholeParts(s.VMs.Total, p.Classes)
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

// kinds divides a total of VMs. VMs beyond the plan's are on demand; where there are fewer, spot VMs go first, then
// those on demand.
func (o ScalingOptions) kinds(total int64, vms capacity.VMs) (k ScalingKinds) {
	planned, reserved, spot := whole(vms.Total), whole(vms.Reserved), whole(vms.Spot)
	k.Reserved = min(reserved, total)
	k.Spot = min(spot, max(0, total-k.Reserved-max(0, planned-reserved-spot)))
	k.OnDemand = total - k.Reserved - k.Spot
	return k
}

// types returns the VMs of each type, where a plan has several. Only the factor acts on them.
func (o ScalingOptions) types(vms capacity.VMs) (t ScalingTypes) {
	for _, of := range vms.Types {
		if t.Types == nil {
			t.Types = make(map[string]int64, len(vms.Types))
		}
		factor := ScalingOptions{Headroom: o.Headroom}
		total := factor.total(whole(of.Total))
		t.Types[of.Name] = total
		if spot := factor.kinds(total, capacity.VMs{Total: of.Total, Reserved: of.Reserved, Spot: of.Spot}).Spot; spot > 0 {
			if t.SpotTypes == nil {
				t.SpotTypes = map[string]int64{}
			}
			t.SpotTypes[of.Name] = spot
		}
	}
	return t
}

// lookAhead adds what comes, and asks for the VMs that must be there within the lead.
func (s *Scaling) lookAhead(now time.Time, o ScalingOptions) {
	s.Next, s.NextProblem = []ScalingNext{}, o.Ahead.Problem
	until, complete := o.Ahead.Until.UTC(), o.Ahead.complete(now)
	s.NextUntil, s.NextComplete = &until, &complete
	for _, m := range o.Ahead.Moments {
		next := ScalingNext{At: m.At.UTC(), VMs: o.total(whole(m.Plan.VMs.Total)), ScalingTypes: o.types(m.Plan.VMs), Classes: map[string]int64{}}
		next.ScalingKinds = o.kinds(next.VMs, m.Plan.VMs)
		parts := wholeParts(next.VMs, m.Plan.Classes)
		for i, class := range m.Plan.Classes {
			if o.Class == "" || class.Name == o.Class {
				next.Classes[class.Name] = parts[i]
			}
		}
		s.Next = append(s.Next, next)
		if m.At.After(now.Add(o.Lead)) {
			continue
		}
		s.VMs.Ahead = s.VMs.Ahead || next.VMs > s.VMs.Total
		s.raise(o, m.Plan.VMs)
		for i, item := range s.Items {
			item.VMs = max(item.VMs, next.Classes[item.Class])
			s.Items[i], s.Classes[item.Class] = item, item.ScalingClass
		}
	}
}

// raise asks for no fewer VMs of any kind and type than a plan has.
func (s *Scaling) raise(o ScalingOptions, vms capacity.VMs) {
	total := o.total(whole(vms.Total))
	kinds, types := o.kinds(total, vms), o.types(vms)
	s.VMs.Total, s.VMs.Reserved = max(s.VMs.Total, total), max(s.VMs.Reserved, kinds.Reserved)
	s.VMs.OnDemand, s.VMs.Spot = max(s.VMs.OnDemand, kinds.OnDemand), max(s.VMs.Spot, kinds.Spot)
	s.Types, s.SpotTypes = most(s.Types, types.Types), most(s.SpotTypes, types.SpotTypes)
}

// most returns the larger count of each name. A plan with one type, such as a pinned one, may have none.
func most(a, b map[string]int64) map[string]int64 {
	if a == nil {
		return maps.Clone(b)
	}
	for name, n := range b {
		a[name] = max(a[name], n)
	}
	return a
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
