package timetable

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/schedule"
)

// Types names the types of VMs that a cluster uses. Rows tell theirs where Named is true.
type Types struct {
	Names []string `json:"names,omitempty"`
	Named bool     `json:"named,omitempty"`
}

// rename gives a row of the schedule its type as other rows tell it. Where that type is used no more the row has no run.
func (f *Followed) rename(s *Start, to Types) {
	if len(to.Names) == 0 {
		return
	}
	name := s.Type
	if !f.Types.Named && len(f.Types.Names) == 1 {
		name = f.Types.Names[0]
	} else if !f.Types.Named && len(to.Names) == 1 { // nobody noted it
		name = to.Names[0]
	}
	if !slices.Contains(to.Names, name) {
		s.RunSeconds = 0
	}
	if s.Type = name; !to.Named {
		s.Type = ""
	}
}

// onlyOn lets a class run on one type of VMs of a supply alone. Where the types have no names, or none has this one, it stays as it is.
func onlyOn(c *capacity.Class, s *capacity.Supply, name string) {
	if !slices.ContainsFunc(s.VMTypes, func(t capacity.VMTypeSupply) bool { return t.Name == name }) {
		return
	}
	speed := capacity.Speed{name: c.Speed.On(name)}
	for _, t := range s.VMTypes {
		if t.Name != name {
			speed[t.Name] = 0
		}
	}
	c.Speed = speed
}

// typeOf returns the type of VMs on which executions run, "" where it has no name.
func typeOf(rows []Start) string {
	if len(rows) == 0 {
		return ""
	}
	return rows[0].Type
}

// longest returns an execution of a class with its longest run: on the type of those that run already, or else on the cheapest one in
// the first hour. It is false where no slots end it in time.
func (g *grid) longest(k int) (s Start, runs bool) {
	c := &g.horizon.Problem.Classes[k]
	least := math.Inf(1)
	for v, on := range g.on[k] {
		if on == nil || g.runningOn(c.Name) >= 0 && g.runningOn(c.Name) != v {
			continue
		}
		slots, parts, ok := g.slots(on, &g.horizon.Problem.Options, c.DeadlineSeconds)
		if cost := float64(parts) * g.dearest(v*g.hours); ok && cost < least {
			least, runs = cost, true
			s = Start{Class: c.Name, RunSeconds: c.DeadlineSeconds, Type: g.types[v].Name, MapSlots: slots.Map, ReduceSlots: slots.Reduce}
		}
	}
	return s, runs
}

// runningOn returns the type of VMs on which executions of a class run that have started before, or -1.
func (g *grid) runningOn(class string) int {
	if b := g.question.Before; b != nil {
		for i := range b.Running {
			if s := &b.Running[i]; s.Class == class && s.RunSeconds > 0 {
				return g.typeNamed(s.Type)
			}
		}
	}
	return -1
}

// runningUntil returns the hour in which no execution of a class runs any more that has started before.
func (g *grid) runningUntil(class string) (hour int) {
	if b := g.question.Before; b != nil {
		for i := range b.Running {
			if s := &b.Running[i]; s.Class == class {
				hour = max(hour, s.Lasts(g.horizon.Start(), g.hours))
			}
		}
	}
	return hour
}

// movesForTypes is the effort of a search whose plan says alone which type holds most of a class.
const movesForTypes = 1_000

// planOnOneType plans so that each class that waits has one type of VMs. The bound is one of plans with any of them.
func (g *grid) planOnOneType(times Times, p *schedule.Problem, engine lp.Solver) (*grid, schedule.Plan) {
	kept := g.besideWhatRuns()
	first := schedule.Solve(times.Types, kept.problem(), engine, schedule.Options{Moves: movesForTypes})
	one := kept.onOneType(&first)
	plan := schedule.Solve(times.All, one.problem(), engine, schedule.Options{})
	plan.Bound = p.BoundAt(plan.Prices, plan.Worth)
	if bound := p.BoundAt(first.Prices, first.Worth); plan.Bound < bound {
		plan.Bound, plan.Prices, plan.Worth, plan.Engine = bound, first.Prices, first.Worth, first.Engine
	}
	return one, plan
}

// besideWhatRuns returns the grid with the types of executions that run already: others of their class have the same until those end.
func (g *grid) besideWhatRuns() *grid {
	kept := *g
	kept.classes = slices.Clone(g.classes)
	for i := range kept.classes {
		x := &kept.classes[i]
		name := g.horizon.Problem.Classes[x.of].Name
		now := g.runningOn(name)
		if now < 0 || !x.waits {
			continue
		}
		x.on = slices.Repeat([]int{schedule.Any}, g.hours)
		for h := range g.runningUntil(name) {
			x.on[h] = now
		}
	}
	return &kept
}

// onOneType returns the grid with one type of VMs in each hour for each class that waits: the types on which most of it runs in a plan.
// Where some of its executions could not end in time so, it stays on one type from the hour on in which what runs already has ended.
func (g *grid) onOneType(p *schedule.Plan) *grid {
	started := make([]typedStarts, len(g.horizon.Problem.Classes))
	for _, s := range p.Starts {
		if s.Run == schedule.Refused || s.Class >= len(g.classes) {
			continue
		}
		x := &g.classes[s.Class]
		r := &x.runs[s.Run]
		started[x.of] = append(started[x.of], typedStart{r.on, s.At, s.At + len(r.load), s.Jobs})
	}
	one := *g
	one.classes = slices.Clone(g.classes)
	for k := range started {
		now, until := g.runningOn(g.horizon.Problem.Classes[k].Name), 0
		if now >= 0 {
			until = g.runningUntil(g.horizon.Problem.Classes[k].Name)
		}
		best := started[k].types(g.hours, now, until)
		least := g.without(k, best)
		for v, on := range g.on[k] {
			if on == nil || least == 0 {
				continue
			}
			all := slices.Repeat([]int{v}, g.hours)
			for h := range until {
				all[h] = now
			}
			if n := g.without(k, all); n < least {
				best, least = all, n
			}
		}
		for i := range one.classes {
			if x := &one.classes[i]; x.of == k && x.waits {
				x.on = best
			}
		}
	}
	return &one
}

// typedStart counts executions that run on a type of VMs from an hour until another one.
type typedStart struct {
	on, from, until int
	jobs            int64
}

type typedStarts []typedStart

// types returns a type for each hour, so that as many executions as possible run on the type of all of their hours. Until an hour it
// is given.
func (all typedStarts) types(hours, now, until int) []int {
	type choice struct {
		from, on int
		jobs     int64
	}
	best := make([]choice, hours+1) // of the hours before one
	for h := 1; h <= hours; h++ {
		best[h] = choice{from: -1}
	}
	types := 1 + max(0, now)
	for _, x := range all {
		types = max(types, x.on+1)
	}
	for from := range hours {
		for v := range types {
			if from < until && v != now {
				continue
			}
			ends := make([]int64, hours+1)
			for _, x := range all {
				if x.on == v && x.from >= from {
					ends[x.until] += x.jobs
				}
			}
			sum := best[from].jobs
			for h := from + 1; h <= hours; h++ {
				if sum += ends[h]; best[h].from < 0 || sum > best[h].jobs {
					best[h] = choice{from, v, sum}
				}
			}
		}
	}
	on := make([]int, hours)
	for h := hours; h > 0; h = best[h].from {
		for i := best[h].from; i < h; i++ {
			on[i] = best[h].on
		}
	}
	return on
}

// without counts the executions of a class that wait and that no run ends in time which is on the type of each of its hours.
func (g *grid) without(k int, on []int) (jobs int64) {
	for i := range g.classes {
		x := &g.classes[i]
		if x.of != k || !x.waits {
			continue
		}
		for at, n := range x.arrivals {
			if n > 0 && !x.ends(at, on) {
				jobs += n
			}
		}
	}
	return jobs
}

// ends reports whether executions that arrive in an hour have a run that is on the type of each of its hours.
func (x *gridClass) ends(at int, on []int) bool {
	first, window := at, x.window
	if x.waited == 0 {
		first++
	}
	if x.windows != nil {
		window = x.windows[at]
	}
	for _, r := range x.runs {
		same := 0 // hours on the run's type until one
		for h := first; h < min(at+window, len(on)); h++ {
			if same++; on[h] != r.on {
				same = 0
			}
			if same >= len(r.load) {
				return true
			}
		}
	}
	return false
}
