package timetable

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/schedule"
	"example.org/headroom/internal/core/strict"
)

// Before holds what the schedule of the time before leaves to one that follows it.
type Before struct {
	Waiting []WaitingJobs `json:"waiting,omitempty"`
	Running []Start       `json:"running,omitempty"` // those that still hold VMs
	// Counted tells by class which part of an execution counts as arrived and has not arrived yet, because executions are whole.
	Counted []float64 `json:"counted,omitempty"`
	// Leases tells what leases show of classes whose jobs ask for them. Without any the schedule before counts as followed.
	Leases []HourLeases `json:"leases,omitempty"`
	// VMs are those that are there when the first hour begins, by type in the order of the supply. Without them there are none.
	VMs []int64 `json:"vms,omitempty"`
	// Settled says that the schedule before began earlier and has the first hour too, for which VMs were asked ahead of it. Its starts in
	// that hour stand in Running. What waits starts later, as far as that is in time.
	Settled bool `json:"settled,omitempty"`
	// atOnce tells of classes whose executions started as they arrived, from when on.
	atOnce map[string]time.Time
}

// WaitingJobs counts executions of a class that arrived in the hour from Arrived and have not started.
type WaitingJobs struct {
	Class   string    `json:"class"`
	Arrived time.Time `json:"arrived"`
	Jobs    int64     `json:"jobs"`
}

var (
	beforeShape  = strict.NewShape("what the time before leaves", nil, "waiting", "running", "counted", "leases", "vms", "settled")
	waitingShape = strict.NewShape("executions that wait", []string{"class", "arrived", "jobs"})
	leasesShape  = strict.NewShape("what leases show", []string{"class", "hour", "started", "running", "waiting", "missed"})
	runningShape = strict.NewShape("executions that run", []string{"class", "arrived", "start", "run_s", "jobs", "map_slots", "reduce_slots"}, "type")
)

// maxCarried bounds the rows of executions that wait or run.
const maxCarried = 100_000

func readBefore(r *strict.Reader, b *Before, limits capacity.Limits) {
	r.Object(beforeShape, func(name string) {
		switch name {
		case "waiting":
			b.Waiting = strict.List(r, "of executions that wait", maxCarried, func(r *strict.Reader, w *WaitingJobs) {
				r.Object(waitingShape, func(name string) {
					switch name {
					case "class":
						w.Class, _ = r.Text()
					case "arrived":
						r.Moment(&w.Arrived)
					case "jobs":
						r.Whole(&w.Jobs)
					}
				})
			})
		case "running":
			b.Running = strict.List(r, "of executions that run", maxCarried, func(r *strict.Reader, s *Start) {
				r.Object(runningShape, func(name string) {
					switch name {
					case "class":
						s.Class, _ = r.Text()
					case "arrived":
						r.Moment(&s.Arrived)
					case "start":
						r.Moment(&s.Start)
					case "run_s":
						r.Float(&s.RunSeconds)
					case "jobs":
						r.Whole(&s.Jobs)
					case "type":
						s.Type, _ = r.Text()
					case "map_slots":
						r.Whole(&s.MapSlots)
					case "reduce_slots":
						r.Whole(&s.ReduceSlots)
					}
				})
			})
		case "counted":
			b.Counted = strict.List(r, "of parts of executions by class", limits.Classes, (*strict.Reader).Float)
		case "vms":
			b.VMs = strict.List(r, "of VMs by type", limits.VMTypes, (*strict.Reader).Whole)
		case "leases":
			b.Leases = strict.List(r, "of what leases show", maxCarried, readLeases)
		case "settled":
			r.Flag(&b.Settled)
		}
	})
}

// checkBefore refuses executions of no class that waits, and those of another time.
func (q *Question) checkBefore(c *strict.Checker) {
	if q.Before == nil || len(q.Periods) == 0 {
		return
	}
	start := q.Start()
	c.Enter("before")
	defer c.Leave()
	class := func(name string) *capacity.Class {
		k := slices.IndexFunc(q.Problem.Classes, func(x capacity.Class) bool { return x.Name == name })
		if k < 0 {
			c.Refuse("class", "unknown", "The problem has no class %q.", fault.Clip(name))
			return nil
		}
		return &q.Problem.Classes[k]
	}
	hour := func(member string, at time.Time) {
		if start.Sub(at)%time.Hour != 0 {
			c.Refuse(member, "not_whole", "It is not a number of whole hours before the first period, which begins at %s.", start.UTC().Format(time.RFC3339))
		}
	}
	if most := max(len(q.Before.Waiting), len(q.Before.Running), len(q.Before.Leases)); most > maxCarried { // not read again
		c.Refuse("", "too_many", "There are %d rows of executions that wait or run, or of what leases show; a schedule takes %d of each at most.", most, maxCarried)
		return
	}
	seen, on := map[WaitingJobs]bool{}, map[string]string{}
	strict.Each(c, "waiting", q.Before.Waiting, func(w *WaitingJobs) {
		row := WaitingJobs{Class: w.Class, Arrived: w.Arrived.UTC()}
		if seen[row] {
			c.Refuse("arrived", "twice", "Executions of %q that arrived then stand here twice; add them up.", fault.Clip(w.Class))
		}
		seen[row] = true
		if of := class(w.Class); of != nil && !of.MayWait() {
			c.Refuse("class", "not_taken", "Executions of %q do not wait: the class has no due_s and no due.", fault.Clip(w.Class))
		}
		if hour("arrived", w.Arrived); !w.Arrived.Before(start) {
			c.Refuse("arrived", "order", "They arrive when the first period has begun, at %s; what arrives from then on stands in the periods.", start.UTC().Format(time.RFC3339))
		}
		c.Whole("jobs", "The number of executions", "", w.Jobs, 1, maxExecutions)
	})
	strict.Each(c, "running", q.Before.Running, func(s *Start) {
		of := class(s.Class)
		if hour("start", s.Start); s.Start.After(start) {
			c.Refuse("start", "order", "They start after the first period has begun, at %s; executions that have not started wait.", start.UTC().Format(time.RFC3339))
		}
		c.Number("run_s", "The time that an execution runs", "seconds", s.RunSeconds, capacity.MaxSeconds)
		c.Whole("jobs", "The number of executions", "", s.Jobs, 1, maxExecutions)
		c.Whole("map_slots", "The number of slots", "", s.MapSlots, 0, capacity.MaxVMs)
		c.Whole("reduce_slots", "The number of slots", "", s.ReduceSlots, 0, capacity.MaxVMs)
		if of = q.onType(c, of, s.Type); of != nil && of.VMsPerJob == nil && (s.MapSlots > 0 && of.SlotsPerVM.Map == 0 || s.ReduceSlots > 0 && of.SlotsPerVM.Reduce == 0 || s.MapSlots+s.ReduceSlots == 0) {
			c.Refuse("map_slots", "range", "They hold %d map and %d reduce slots, and a VM has %d and %d for %q.", s.MapSlots, s.ReduceSlots, of.SlotsPerVM.Map, of.SlotsPerVM.Reduce, fault.Clip(s.Class))
		}
		if other, runs := on[s.Class]; runs && q.OneType && other != s.Type {
			c.Refuse("type", "not_taken", "Executions of %q run on %q already; with one_type all of a class run on one type at a time.", fault.Clip(s.Class), fault.Clip(other))
		}
		on[s.Class] = s.Type
	})
	q.Before.checkLeases(c, start, class, hour)
	q.checkVMs(c)
	if n := len(q.Before.Counted); n > 0 && n != len(q.Problem.Classes) {
		c.Refuse("counted", "range", "Here are parts of executions of %d classes; the problem has %d.", n, len(q.Problem.Classes))
	}
	c.Enter("counted")
	for k, x := range q.Before.Counted {
		c.Element(k)
		c.Between("", "The part of an execution", x, 0, 1)
		c.Leave()
	}
	c.Leave()
}

// onType returns a class on a type of VMs, and refuses one on which it does not run.
func (q *Question) onType(c *strict.Checker, class *capacity.Class, name string) *capacity.Class {
	if class == nil {
		return nil
	}
	for v, t := range q.Problem.Supply.Types() {
		if on := onTypes(class, &q.Problem.Supply)[v]; on != nil && t.Name == name {
			return on
		}
	}
	if len(q.Problem.Supply.VMTypes) == 0 {
		c.Refuse("type", "not_taken", "The problem has one kind of VM, which has no name; leave this out.")
	} else {
		c.Refuse("type", "unknown", "%q runs on no VM type %q; name the one whose VMs these executions hold.", fault.Clip(class.Name), fault.Clip(name))
	}
	return nil
}

func (b *Before) counted(class int) float64 {
	if b == nil || class >= len(b.Counted) {
		return 0
	}
	return b.Counted[class]
}

// Settle completes what Leaves returned with what only the question knows.
func (q *Question) Settle() {
	q.settleLeases()
	q.startedAtOnce()
}

// wait adds the executions that wait, each row with the window that is left to it.
func (g *grid) wait(b *Before) {
	known := map[int][]gridRun{} // of a class, in the whole window
	left := remaining{g, map[int]*dueTimes{}}
	for _, w := range b.Waiting {
		k := g.problemClass(w.Class)
		c := &g.horizon.Problem.Classes[k]
		x := gridClass{of: k, waits: true, waited: int(g.horizon.Start().Sub(w.Arrived) / time.Hour), penalty: g.classes[k].penalty, all: c.Jobs.All, arrivals: []int64{w.Jobs}}
		x.window = left.hours(k, w.Arrived)
		all, is := known[k]
		if !is {
			all = g.runs(k, g.hours)
			known[k] = all
		}
		for _, r := range all {
			if len(r.load) <= x.window {
				x.runs = append(x.runs, r)
			}
		}
		if g.add(&x); g.tooMany() {
			return
		}
	}
}

// remaining finds what is left of windows. Times of day are kept by class.
type remaining struct {
	*grid
	dues map[int]*dueTimes
}

// hours returns the hours from the first one until executions of a class are due that arrived before it.
func (r *remaining) hours(k int, arrived time.Time) int {
	c := &r.horizon.Problem.Classes[k]
	window := int(c.DueSeconds / 3600)
	if c.Due != "" {
		if r.dues[k] == nil { // times that are over by two days leave no window
			due := newDueTimes(c, r.question.zone(), r.at(0).Add(-48*time.Hour), r.at(0))
			r.dues[k] = &due
		}
		window = r.dues[k].window(arrived)
	}
	return max(0, min(window-int(r.horizon.Start().Sub(arrived)/time.Hour), r.grid.hours))
}

func (g *grid) problemClass(name string) int {
	return slices.IndexFunc(g.horizon.Problem.Classes, func(c capacity.Class) bool { return c.Name == name })
}

// heldLoad sums up by hour what executions hold of VMs of one type.
type heldLoad struct {
	on         int // the type
	parts, vms []float64
}

// heldGroup is executions that started before and hold VMs of one of several types, all of the same.
type heldGroup struct {
	of    int // their class
	loads []heldLoad
}

func (g *grid) heldLoad(on int) heldLoad {
	return heldLoad{on, make([]float64, g.hours), make([]float64, g.hours)}
}

// hold adds up what executions hold that started before: those of classes that wait, and those that arrived earlier of others.
// Where the latter can run on several types of VMs, the plan chooses one for all of a class.
func (g *grid) hold(b *Before, earlier []horizon.HorizonPeriod) {
	fixed := g.running(b)
	var groups []heldGroup
	for k := range g.horizon.Problem.Classes {
		x := &g.classes[k]
		if x.waits || len(x.runs) == 0 {
			continue
		}
		flow := perf.NewArrivals(arrivingOf(earlier, k))
		group := heldGroup{of: k}
		for i := range x.runs {
			r := &x.runs[i]
			load := fixed[r.on]
			if len(x.runs) > 1 {
				load = g.heldLoad(r.on)
			}
			g.holding += flow.Jobs() * g.unevenly(g.on[k][r.on])
			for h := range load.parts {
				from := g.at(h).Unix()
				jobs := flow.Running(r.Seconds, from, from+3600)
				load.parts[h] += jobs * float64(r.parts)
				load.vms[h] += jobs * r.vms
			}
			group.loads = append(group.loads, load)
		}
		if len(x.runs) > 1 && flow.Jobs() > 0 {
			groups = append(groups, group)
		}
	}
	for _, load := range fixed {
		groups = append(groups, heldGroup{-1, []heldLoad{load}})
	}
	for i := range groups {
		if g.holdGroup(&groups[i]); g.tooMany() {
			return
		}
	}
	g.rounding /= float64(g.unit)
}

// running adds up by type what executions hold of classes that wait.
func (g *grid) running(b *Before) (all []heldLoad) {
	for v := range g.types {
		all = append(all, g.heldLoad(v))
	}
	if b == nil {
		return all
	}
	for _, s := range b.Running {
		if s.RunSeconds == 0 { // not known yet
			continue
		}
		load := all[g.typeNamed(s.Type)]
		c := g.on[g.problemClass(s.Class)][load.on]
		var parts int64
		if c.VMsPerJob != nil {
			parts = g.whole(c)
		} else {
			parts = g.parts(c, schedule.Slots{Map: s.MapSlots, Reduce: s.ReduceSlots})
		}
		g.holding += float64(s.Jobs) * g.unevenly(c)
		g.most += float64(parts) * float64(s.Jobs)
		vms := float64(s.Jobs) * slotVMs(c, schedule.Slots{Map: s.MapSlots, Reduce: s.ReduceSlots})
		for h := range s.Lasts(g.horizon.Start(), g.hours) {
			load.parts[h] += float64(parts) * float64(s.Jobs) / float64(turnsOf(s.RunSeconds))
			load.vms[h] += vms / float64(turnsOf(s.RunSeconds))
		}
	}
	return all
}

// holdGroup takes executions that started before for one with a run on each type. It is left out where it holds nothing.
func (g *grid) holdGroup(group *heldGroup) {
	x := gridClass{of: group.of, arrivals: []int64{1}}
	for _, load := range group.loads {
		if g.most += slices.Max(load.parts); g.tooMany() {
			return
		}
		r := gridRun{on: load.on, vms: 1, share: load.vms}
		for h, parts := range load.parts {
			if whole := int64(math.Ceil(parts - loadNoise)); whole > 0 {
				r.load = append(r.load, make([]int64, h+1-len(r.load))...)
				if r.load[h] = whole; float64(whole)-parts > loadNoise {
					g.rounding += g.dearest(r.on*g.hours + h)
				}
				g.rounding += g.holding * g.dearest(r.on*g.hours+h)
			}
		}
		x.window = max(x.window, len(r.load))
		x.runs = append(x.runs, r)
	}
	if x.window > 0 {
		g.held = append(g.held, x)
	}
}

// typeNamed returns the type of VMs of a name.
func (g *grid) typeNamed(name string) int {
	return slices.IndexFunc(g.types, func(t capacity.VMTypeSupply) bool { return t.Name == name })
}

// unevenly is 1 where executions of a class take no whole number of parts, which is then rounded up, and otherwise 0.
func (g *grid) unevenly(c *capacity.Class) float64 {
	if c.VMsPerJob != nil && !c.VMsPerJob.Mul(decimal.NewFromInt(g.unit)).IsInteger() ||
		c.VMsPerJob == nil && g.unit%max(1, c.SlotsPerVM.Map)+g.unit%max(1, c.SlotsPerVM.Reduce) > 0 {
		return 1
	}
	return 0
}

// dearest returns the highest price of a VM in an hour of a type.
func (g *grid) dearest(row int) (price float64) {
	for i := range g.sources[row] {
		price = max(price, g.sources[row][i].margin().InexactFloat64())
	}
	if g.spots != nil {
		price = max(price, g.spots[row].Price)
	}
	return price
}

func arrivingOf(periods []horizon.HorizonPeriod, class int) (spans []perf.Arriving) {
	for i := range periods {
		spans = append(spans, horizon.Arriving(&periods[i], class)...)
	}
	return spans
}

// stands reports whether executions are to start in the first hour, as the schedule before has settled, and have not started yet.
func (b *Before) stands(s *Start, first time.Time) bool {
	return b.Settled && s.Start.Equal(first) && s.Arrived.Before(first)
}

// Unsettle lets executions wait that are to start in an hour from its beginning on, and reports whether there are some. What was asked
// for ahead of it does not bind any more.
func (b *Before) Unsettle(first time.Time) (some bool) {
	waiting := map[WaitingJobs]int64{}
	for _, w := range b.Waiting {
		waiting[WaitingJobs{Class: w.Class, Arrived: w.Arrived.UTC()}] += w.Jobs
	}
	b.Running = slices.DeleteFunc(b.Running, func(s Start) bool {
		if !b.stands(&s, first) {
			return false
		}
		waiting[WaitingJobs{Class: s.Class, Arrived: s.Arrived.UTC()}] += s.Jobs
		some = true
		return true
	})
	b.Waiting, b.Settled = rowsOf(waiting), false
	return some
}

// rowsOf lists executions that wait, by class and arrival.
func rowsOf(waiting map[WaitingJobs]int64) (all []WaitingJobs) {
	for w, n := range waiting {
		w.Jobs = n
		all = append(all, w)
	}
	slices.SortFunc(all, func(x, y WaitingJobs) int { return cmp.Or(cmp.Compare(x.Class, y.Class), x.Arrived.Compare(y.Arrived)) })
	return all
}

// settle lets what waits start an hour later, where the starts of the first hour are settled and that is in time. It reports whether it
// changes the problem.
func (g *grid) settle(p *schedule.Problem) (changed bool) {
	if b := g.question.Before; b == nil || !b.Settled {
		return false
	}
	p.Classes = slices.Clone(p.Classes)
	for k := range g.classes {
		c := &p.Classes[k]
		if g.classes[k].waited > 0 && slices.ContainsFunc(c.Runs, func(r schedule.Run) bool { return len(r.Load) < c.Window }) {
			c.First, changed = 1, true
		}
	}
	return changed
}
