package proof

import (
	"fmt"
	"math/big"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/core/proof/supply"
)

// Timetable is a problem over hours: executions that arrive in them, and types of VMs on one of which each runs.
type Timetable struct {
	Options capacity.Options
	Classes []TimedClass
	Types   []TimedType
	Offers  []TimedOffer // which only the bound counts, of any purchase of them
	Budgets []TimedBudget

	known  map[slotsOf]slotResult // classes of one name are alike but for their window
	fewest map[slotsOf]*exact.Rat
}

// TimedType is a type of VMs over the hours. Its name is empty where there is one kind of VM.
type TimedType struct {
	Name   string
	Hours  []supply.Hour
	Held   []*big.Rat     // VMs in each hour of executions that started before
	Starts *supply.Starts // nil where starting VMs costs nothing
}

// TimedBudget is the most that all VMs of the hours from From and before Until cost together, with what a unit of money of it is worth.
type TimedBudget struct {
	From, Until int
	Most, Worth *big.Rat
}

// TimedOffer is VMs of the type On that may be bought, at most Max. One costs Fixed, and Price in each hour in which it is used, from
// the hour From and before Until.
type TimedOffer struct {
	On, From, Until int
	Max             int64
	Fixed, Price    *big.Rat
}

// TimedClass is a class whose executions arrive by hour. One with a window starts at a whole hour after that of its arrival
// and ends before so many hours have passed since that began. One without runs from the moment it arrives. Check takes a window
// away that leaves less than two hours for waiting. One that has waited may start in the hour itself, and stays in its window.
type TimedClass struct {
	Class    capacity.Class
	Window   int
	Windows  []int // by the hour of the arrival, instead of Window and never too short to wait in; nil where all are alike
	Waited   bool
	Placed   bool // all executions have a place, in every timetable that the bound is of
	Arrivals []int64
	Earlier  []*big.Rat // arrivals in the hours before, the last first, of a class without a window
	Penalty  *big.Rat   // of a refused execution

	load [][]*exact.Rat // of an execution without a window, by type and hour, and nil where it runs on no VMs of a type; set by Check
	run  []*exact.Rat   // its hours, by type

	promised []int64 // by hour, arrivals that may not be refused; set by Check
}

// slotsOf names slots of an execution and the seconds of its run. Without slots it is about the fewest that do.
type slotsOf struct {
	class       string
	on          int // the type
	seconds     float64
	Map, Reduce int64
}

type slotResult struct {
	vms   *exact.Rat
	fault string
}

// TimedStart counts executions that arrive in one hour and start in another, for some whole hours with some slots on VMs of the
// type On. Hours is 0 where they are refused.
type TimedStart struct {
	Class, Arrived, At, Hours int
	On                        int
	Jobs, Map, Reduce         int64
}

// TimedTotals adds a timetable up. No timetable costs less than Bound. VMs are the fewest whole ones for each type and hour, with those
// that are cheaper to keep than to start again.
type TimedTotals struct {
	Rented, Refused, Bound *big.Rat
	VMs                    [][]int64
}

// longestRun bounds the hours of a run that are looked at.
const longestRun = 24 * 366

// Check adds a timetable up and says every fault of its starts. It pairs each execution with its arrival. The executions of each
// class that arrived earlier hold VMs of the type in earlier, which counts where there is a choice.
func (t *Timetable) Check(starts []TimedStart, earlier []int) (sum TimedTotals, faults []string) {
	sum, load, faults := t.place(starts, earlier)
	rented := make([]*big.Rat, t.hours())
	for h := range rented {
		rented[h] = new(big.Rat)
	}
	for v := range t.Types {
		vms := make([]int64, t.hours())
		for h := range vms {
			vms[h] = t.Types[v].Hours[h].VMs
		}
		sum.Rented.Add(sum.Rented, t.Types[v].starting(vms))
		for h := range t.Types[v].Hours {
			hour := &t.Types[v].Hours[h]
			cost, ok := hour.Cost(hour.VMs)
			rented[h].Add(rented[h], cost)
			if sum.Rented.Add(sum.Rented, cost); !ok {
				faults = append(faults, fmt.Sprintf("hour %d: there are no %d VMs%s", h, hour.VMs, t.ofType(v)))
			}
			if less(whole(hour.VMs), load[v][h]) {
				faults = append(faults, fmt.Sprintf("hour %d: %s VMs%s are in use, and %d rented", h, short(load[v][h]), t.ofType(v), hour.VMs))
			}
		}
	}
	for i, s := range starts {
		if s.Hours == 0 && s.Class >= 0 && s.Class < len(t.Classes) && t.Classes[s.Class].Class.Jobs.All {
			faults = append(faults, fmt.Sprintf("start %d, of %q: it is refused, and all are promised", i, t.Classes[s.Class].Class.Name))
		}
	}
	sum.Bound = t.bound().Rat()
	return sum, append(faults, t.beyond(rented)...)
}

// beyond says which budgets hours are above that cost so much.
func (t *Timetable) beyond(rented []*big.Rat) (faults []string) {
	for i := range t.Budgets {
		b, sum := &t.Budgets[i], new(big.Rat)
		for _, cost := range rented[b.From:b.Until] {
			sum.Add(sum, cost)
		}
		if b.Most.Cmp(sum) < 0 {
			faults = append(faults, fmt.Sprintf("hours %d to %d cost %s, and their budget is %s", b.From, b.Until, sum.FloatString(9), b.Most.FloatString(9)))
		}
	}
	return faults
}

// starting returns what the starts of VMs cost.
func (t *TimedType) starting(vms []int64) *big.Rat {
	if t.Starts == nil {
		return new(big.Rat)
	}
	sum := new(big.Rat)
	was := int64(0)
	for h, now := range vms {
		_, cost := t.Starts.Cost(h, was, now)
		sum.Add(sum, cost)
		was = now
	}
	return sum
}

// CheckFewest is Check on the fewest VMs that the starts need.
func (t *Timetable) CheckFewest(starts []TimedStart, earlier []int) (sum TimedTotals, faults []string) {
	sum, _, _ = t.place(starts, earlier)
	for v := range sum.VMs {
		for h, vms := range sum.VMs[v] {
			t.Types[v].Hours[h].VMs = vms
		}
	}
	return t.Check(starts, earlier)
}

// Bound returns what no timetable with any purchase of the offers costs less than.
func (t *Timetable) Bound() *big.Rat {
	for k := range t.Classes {
		t.Classes[k].settle(t)
		t.Classes[k].promise(t.hours())
	}
	return t.bound().Rat()
}

func (t *Timetable) ofType(v int) string {
	if t.Types[v].Name == "" {
		return ""
	}
	return fmt.Sprintf(" of %q", t.Types[v].Name)
}

// CheckAtOnce adds starts up that do not wait, on the fewest VMs that they need, and says every fault of them. It has no bound.
func (t *Timetable) CheckAtOnce(starts []TimedStart, earlier []int) (sum TimedTotals, faults []string) {
	sum, _, faults = t.place(starts, earlier)
	for i, s := range starts {
		if s.Class >= 0 && s.Class < len(t.Classes) && t.Classes[s.Class].waits() && s.Hours != 0 && s.At != s.Arrived+t.Classes[s.Class].first() {
			faults = append(faults, fmt.Sprintf("start %d, of %q: it waits", i, t.Classes[s.Class].Class.Name))
		}
	}
	rented := make([]*big.Rat, t.hours())
	for h := range rented {
		rented[h] = new(big.Rat)
	}
	for v := range sum.VMs {
		sum.Rented.Add(sum.Rented, t.Types[v].starting(sum.VMs[v]))
		for h, vms := range sum.VMs[v] {
			cost, ok := t.Types[v].Hours[h].Cost(vms)
			rented[h].Add(rented[h], cost)
			if sum.Rented.Add(sum.Rented, cost); !ok {
				faults = append(faults, fmt.Sprintf("hour %d: there are no %d VMs%s", h, vms, t.ofType(v)))
			}
		}
	}
	return sum, append(faults, t.beyond(rented)...)
}

// hours returns how many there are.
func (t *Timetable) hours() int { return len(t.Types[0].Hours) }

// place puts starts into their hours: the load of each by type, the fewest VMs for it, and what refusals count with.
func (t *Timetable) place(starts []TimedStart, earlier []int) (sum TimedTotals, load [][]*exact.Rat, faults []string) {
	wrong := func(format string, values ...any) {
		if len(faults) < 20 {
			faults = append(faults, fmt.Sprintf(format, values...))
		}
	}
	for k := range t.Classes {
		t.Classes[k].settle(t)
		t.Classes[k].promise(t.hours())
	}
	sum = TimedTotals{new(big.Rat), new(big.Rat), new(big.Rat), nil}
	load, faults = t.hold(earlier)
	left, refused := make([][]int64, len(t.Classes)), make([][]int64, len(t.Classes))
	for k := range t.Classes {
		left[k], refused[k] = append(left[k], t.Classes[k].Arrivals...), make([]int64, len(t.Classes[k].Arrivals))
	}
	for i, s := range starts {
		if s.Class < 0 || s.Class >= len(t.Classes) || s.Arrived < 0 || s.Arrived >= len(left[s.Class]) || s.Jobs <= 0 || s.Jobs > left[s.Class][s.Arrived] {
			wrong("start %d is of executions that did not arrive", i)
			continue
		}
		left[s.Class][s.Arrived] -= s.Jobs
		c := &t.Classes[s.Class]
		if s.Hours == 0 {
			sum.Refused.Add(sum.Refused, new(big.Rat).Mul(c.Penalty, new(big.Rat).SetInt64(s.Jobs)))
			if refused[s.Class][s.Arrived] += s.Jobs; s.Arrived < len(c.promised) && refused[s.Class][s.Arrived] > c.Arrivals[s.Arrived]-c.promised[s.Arrived] {
				wrong("start %d, of %q: promised executions are refused", i, c.Class.Name)
			}
			continue
		}
		if s.On < 0 || s.On >= len(t.Types) || !t.runsOn(&c.Class, s.On) {
			wrong("start %d, of %q: it runs on no such VMs", i, c.Class.Name)
			continue
		}
		each, fault := t.loadOf(c, s)
		if fault != "" {
			wrong("start %d, of %q: %s", i, c.Class.Name, fault)
			continue
		}
		for h, x := range each {
			if s.At+h >= t.hours() {
				wrong("start %d, of %q: it runs beyond the last hour", i, c.Class.Name)
				break
			}
			load[s.On][s.At+h].Add(load[s.On][s.At+h], mul(x, whole(s.Jobs)))
		}
	}
	for k := range left {
		for a, n := range left[k] {
			if n != 0 {
				wrong("%d executions of %q that arrived in hour %d are missing", n, t.Classes[k].Class.Name, a)
			}
		}
	}
	for v := range load {
		sum.VMs = append(sum.VMs, nil)
		for _, x := range load[v] {
			sum.VMs[v] = append(sum.VMs[v], x.Ceil().Int64())
		}
		if of := &t.Types[v]; of.Starts != nil {
			of.Starts.Stay(of.Hours, sum.VMs[v])
		}
	}
	return sum, load, faults
}

// runsOn reports whether executions of a class run on VMs of a type.
func (t *Timetable) runsOn(c *capacity.Class, v int) bool {
	return t.Types[v].Name == "" || c.RunsOn(t.Types[v].Name)
}

// on returns a class as it is on VMs of a type.
func (t *Timetable) on(c *capacity.Class, v int) class {
	name := t.Types[v].Name
	return newClassAt(c, c.SlotsPerVM.On(name), number(c.Speed.On(name)), t.Options.Bound, true)
}

// heldNoise is how many VM-hours may be held of any type, because a plan that holds so few tells none.
var heldNoise = exact.New(1, 1e6)

// hold adds up the VMs by type and hour of executions that started before.
func (t *Timetable) hold(earlier []int) (all [][]*exact.Rat, faults []string) {
	for v := range t.Types {
		all = append(all, make([]*exact.Rat, t.hours()))
		for h := range all[v] {
			if all[v][h] = zero(); h < len(t.Types[v].Held) {
				all[v][h].Add(all[v][h], exact.Of(t.Types[v].Held[h]))
			}
		}
	}
	for k := range t.Classes {
		c := &t.Classes[k]
		if c.waits() || len(c.Earlier) == 0 {
			continue
		}
		on := -1
		if k < len(earlier) && earlier[k] >= 0 && earlier[k] < len(c.load) && c.load[earlier[k]] != nil {
			on = earlier[k]
		}
		choices, held := 0, zero()
		for v := range c.load {
			if c.load[v] == nil {
				continue
			}
			for h := range all[v] {
				held.Add(held, c.earlier(v, h))
			}
			if choices++; on < 0 {
				on = v
			}
		}
		if choices > 1 && less(heldNoise, held) && (k >= len(earlier) || earlier[k] != on) {
			faults = append(faults, fmt.Sprintf("executions of %q that arrived earlier hold VMs of no type", c.Class.Name))
		}
		for h := range t.hours() {
			if on >= 0 {
				all[on][h].Add(all[on][h], c.earlier(on, h))
			}
		}
	}
	return all, faults
}

// earlier returns the VMs of a type that executions which arrived earlier hold in an hour.
func (c *TimedClass) earlier(v, hour int) *exact.Rat {
	sum := zero()
	for ago, n := range c.Earlier {
		if at := hour + ago + 1; at < len(c.load[v]) {
			sum.Add(sum, mul(exact.Of(n), c.load[v][at]))
		}
	}
	return sum
}

func (c *TimedClass) waits() bool { return c.Window > 0 || c.Waited || c.Windows != nil }

// window returns the hours from that of an arrival.
func (c *TimedClass) window(at int) int {
	if c.Windows != nil {
		return c.Windows[at]
	}
	return c.Window
}

// first returns how many hours after that of its arrival an execution that waits may start.
func (c *TimedClass) first() int {
	if c.Waited {
		return 0
	}
	return 1
}

// settle takes a window away that is too short to wait in. The execution then runs until it is due at the latest.
func (c *TimedClass) settle(t *Timetable) {
	if c.Waited || c.Windows != nil {
		return
	}
	for hours := 1; hours < c.Window && hours <= longestRun && float64(3600*(hours-1)) < c.Class.DeadlineSeconds; hours++ {
		seconds := min(float64(3600*hours), c.Class.DeadlineSeconds)
		if c.Class.VMsPerJob != nil && seconds < c.Class.DeadlineSeconds || !t.fits(c, seconds) {
			continue
		}
		if c.Window >= hours+2 {
			return
		}
		break
	}
	if c.Window = 0; c.Class.DueSeconds > 0 {
		c.Class.DeadlineSeconds = min(c.Class.DeadlineSeconds, c.Class.DueSeconds)
	}
	c.load, c.run = make([][]*exact.Rat, len(t.Types)), make([]*exact.Rat, len(t.Types))
	for v := range t.Types {
		c.load[v], c.run[v] = t.spread(c, v)
	}
}

// fits reports whether an execution ends within some seconds on VMs of some type.
func (t *Timetable) fits(c *TimedClass, seconds float64) bool {
	for v := range t.Types {
		if t.least(c, v, seconds) != nil {
			return true
		}
	}
	return false
}

// loadOf returns the VMs that one of these executions holds in each hour from its start, or what is wrong with it.
func (t *Timetable) loadOf(c *TimedClass, s TimedStart) (load []*exact.Rat, fault string) {
	if !c.waits() {
		if s.At != s.Arrived {
			return nil, "it starts as it arrives, and not in another hour"
		}
		_, fault = t.slotted(&c.Class, s)
		return c.load[s.On], fault
	}
	if first := s.Arrived + c.first(); s.At < first || s.At+s.Hours > s.Arrived+c.window(s.Arrived) {
		return nil, fmt.Sprintf("it runs in hours %d to %d, and may from %d to %d", s.At, s.At+s.Hours, first, s.Arrived+c.window(s.Arrived))
	}
	in := c.Class
	in.DeadlineSeconds = min(float64(3600*s.Hours), in.DeadlineSeconds)
	if late := float64(3600*(s.Hours-1)) >= c.Class.DeadlineSeconds; late || s.Hours < 0 || s.Hours > longestRun || in.VMsPerJob != nil && in.DeadlineSeconds < c.Class.DeadlineSeconds {
		return nil, fmt.Sprintf("it cannot run for %d hours", s.Hours)
	}
	vms, fault := t.slotted(&in, s)
	if fault == "" {
		vms = inTurns(vms, in.DeadlineSeconds)
	}
	for range s.Hours {
		load = append(load, vms)
	}
	return load, fault
}

// slotted returns the VMs that the slots of an execution take, which must be the fewest with which it meets its deadline.
func (t *Timetable) slotted(in *capacity.Class, s TimedStart) (vms *exact.Rat, fault string) {
	of := slotsOf{in.Name, s.On, in.DeadlineSeconds, s.Map, s.Reduce}
	r, known := t.known[of]
	if !known {
		r.vms, r.fault = t.slots(in, s)
		if t.known == nil {
			t.known = map[slotsOf]slotResult{}
		}
		t.known[of] = r
	}
	return r.vms, r.fault
}

func (t *Timetable) slots(in *capacity.Class, s TimedStart) (vms *exact.Rat, fault string) {
	at := t.on(in, s.On)
	if in.VMsPerJob != nil {
		if s.Map != 0 || s.Reduce != 0 {
			return nil, "its class has VMs and no slots"
		}
		return at.low, ""
	}
	took, _, fine := at.plan.time(whole(1), whole(s.Map), whole(s.Reduce), zero())
	if late := mul(add(whole(1), relative), at.slack); !fine || at.impossible || less(add(late, at.plan.c), took) {
		return nil, "its slots do not end it in its run"
	}
	vms = at.size(whole(s.Map), whole(s.Reduce))
	steps := maxSteps
	if f, ok := at.fit(1, &steps); ok && less(f.high, vms) || s.Map < 0 || s.Reduce < 0 {
		return nil, "it has more slots than it needs"
	}
	return vms, ""
}

// inTurns returns the part of VMs that an execution takes of an hour in which as many as fit run one after the other.
func inTurns(vms *exact.Rat, seconds float64) *exact.Rat {
	if vms == nil || seconds > 1800 {
		return vms
	}
	turns := quo(whole(3600), number(seconds))
	return quo(vms, new(exact.Rat).SetInt(turns.Floor()))
}

// RunSeconds returns for how long an execution without a window runs on VMs of a type, after a check.
func (t *Timetable) RunSeconds(class, on int) float64 {
	run := t.Classes[class].run
	if on < 0 || on >= len(run) || run[on] == nil {
		return 0
	}
	hours := run[on].Float()
	return 3600 * hours
}

// least returns the fewest VMs of a type that run an execution for some seconds; nil where none do.
func (t *Timetable) least(c *TimedClass, v int, seconds float64) *exact.Rat {
	of := slotsOf{class: c.Class.Name, on: v, seconds: seconds}
	vms, known := t.fewest[of]
	if !known {
		vms = t.findLeast(c.Class, v, seconds)
		if t.fewest == nil {
			t.fewest = map[slotsOf]*exact.Rat{}
		}
		t.fewest[of] = vms
	}
	return vms
}

func (t *Timetable) findLeast(in capacity.Class, v int, seconds float64) *exact.Rat {
	if !t.runsOn(&in, v) {
		return nil
	}
	in.DeadlineSeconds = seconds
	at := t.on(&in, v)
	steps := maxSteps
	if in.VMsPerJob != nil {
		return at.low
	}
	if at.impossible {
		return nil
	}
	if f, ok := at.fit(1, &steps); ok {
		return f.low
	}
	return zero() // not found: no bound may rest on it
}

// spread returns the VMs of a type that an execution without a window holds on average in each hour from that of its arrival, which is at
// any moment of that hour. It runs until its deadline, or until it is done on one slot of each kind.
func (t *Timetable) spread(c *TimedClass, v int) (load []*exact.Rat, run *exact.Rat) {
	seconds := number(c.Class.DeadlineSeconds)
	vms := t.least(c, v, c.Class.DeadlineSeconds)
	if vms == nil {
		return nil, nil
	}
	if c.Class.VMsPerJob == nil {
		at := t.on(&c.Class, v)
		slots := func(has bool) *exact.Rat {
			if has {
				return whole(1)
			}
			return zero()
		}
		if took, _, fine := at.plan.time(whole(1), slots(at.hasMap), slots(at.hasReduce), zero()); fine && t.Options.OneSlotPerJob {
			seconds = smaller(seconds, took)
		}
	}
	run = quo(seconds, whole(3600))
	for _, part := range sharesOf(run) {
		load = append(load, mul(vms, part))
	}
	return load, run
}

// sharesOf returns the part of each hour in which an execution runs on average that arrives at any moment of the first and runs for
// some hours.
func sharesOf(run *exact.Rat) (all []*exact.Rat) {
	// area is that of the moments before x that lie after an arrival in the first hour.
	area := func(x *exact.Rat) *exact.Rat {
		before := larger(zero(), x)
		after := larger(zero(), sub(x, whole(1)))
		return quo(sub(mul(before, before), mul(after, after)), whole(2))
	}
	for h := int64(0); less(whole(h-1), run); h++ {
		here := sub(area(whole(h+1)), area(whole(h)))
		over := sub(area(sub(whole(h+1), run)), area(sub(whole(h), run)))
		all = append(all, sub(here, over))
	}
	return all
}
