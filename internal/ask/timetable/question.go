package timetable

import (
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// Question asks when the executions of a horizon start. Those of classes with a due_s may wait.
type Question struct {
	Problem   capacity.Problem        `json:"problem"`
	Contracts []horizon.TermContract  `json:"contracts,omitempty"`
	TimeZone  string                  `json:"time_zone,omitempty"` // of times of day; "" is UTC
	Periods   []horizon.HorizonPeriod `json:"periods"`
	// PlaceAll refuses executions only where there is no room for them, whatever they are worth.
	PlaceAll bool `json:"place_all,omitempty"`
	// Budgets bound what the VMs of some hours cost together.
	Budgets []SpanBudget `json:"budgets,omitempty"`
	// OneType lets executions of a class that may wait run on one type of VMs at a time.
	OneType bool                    `json:"one_type,omitempty"`
	Earlier []horizon.HorizonPeriod `json:"earlier,omitempty"` // what arrived before of classes that do not wait, and may still run
	Before  *Before                 `json:"before,omitempty"`
}

func (q *Question) horizon() *horizon.Horizon {
	return &horizon.Horizon{Problem: q.Problem, Contracts: q.Contracts, Periods: q.Periods, Earlier: q.Earlier}
}

// Start and End return when the first hour begins and the last one ends.
func (q *Question) Start() time.Time { return q.horizon().Start() }
func (q *Question) End() time.Time   { return q.horizon().End() }

// Limits of schedules.
const (
	MaxHours      = 2_208 // a quarter of a year
	maxExecutions = 1_000_000
	maxOptions    = 5_000_000 // starts and runs of all arrivals
)

var shape = Shape("a schedule's question", nil, "budgets")

// Read reads the question as strictly as ReadHorizon.
func Read(data []byte, limits capacity.Limits, overrides ...func(*capacity.Options)) (Question, error) {
	return ReadWith(data, shape, limits, nil, overrides...)
}

// Shape returns the shape of a document that has a schedule's question and some members more.
func Shape(name string, must []string, may ...string) *strict.Shape {
	return strict.NewShape(name, append([]string{"problem", "periods"}, must...), append([]string{"contracts", "time_zone", "place_all", "one_type", "earlier", "before"}, may...)...)
}

// ReadWith reads a document of a shape. Its members are those of a schedule's question, and those that more has.
func ReadWith(data []byte, shape *strict.Shape, limits capacity.Limits, more map[string]func(*strict.Reader), overrides ...func(*capacity.Options)) (Question, error) {
	h := horizon.Horizon{Problem: capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}}
	limits.Due, limits.Start = true, true
	r := strict.NewReader(data)
	var before *Before
	zone, all, one := "", false, false
	var budgets []SpanBudget
	r.Object(shape, func(name string) {
		switch name {
		case "before":
			before = new(Before)
			readBefore(r, before, limits)
			return
		case "time_zone":
			zone, _ = r.Text()
			return
		case "budgets":
			budgets = readBudgets(r)
			return
		case "place_all":
			r.Flag(&all)
			return
		case "one_type":
			r.Flag(&one)
			return
		}
		if read := more[name]; read != nil {
			read(r)
			return
		}
		horizon.ReadMember(r, name, &h, limits)
	})
	r.End()
	for _, override := range overrides {
		override(&h.Problem.Options)
	}
	q := Question{Problem: h.Problem, Contracts: h.Contracts, TimeZone: zone, PlaceAll: all, OneType: one, Budgets: budgets, Periods: h.Periods, Earlier: h.Earlier, Before: before}
	if err := r.Result(q.check); err != nil {
		return Question{}, err
	}
	return q, nil
}

func (q *Question) check(c *strict.Checker) {
	h := q.horizon()
	h.CheckOneOf(c)
	h.Check(c)
	q.checkTaken(c)
	q.checkHours(c)
	q.checkStarts(c)
	q.checkBudgets(c)
	q.checkBefore(c)
	if c.Sound() {
		q.checkDue(c)
	}
	if c.Sound() {
		q.checkWindows(c)
	}
}

// checkTaken refuses what a schedule does not plan with.
func (q *Question) checkTaken(c *strict.Checker) {
	p := &q.Problem
	c.Enter("problem")
	defer c.Leave()
	refuse := func(wrong bool, member, detail string) {
		if wrong {
			c.Refuse(member, "not_taken", "%s", detail)
		}
	}
	refuse(p.Budget != nil && !takesBudget(p), "budget", "A schedule keeps to a budget for the VMs of each hour (vm_cost), where there is one kind of VM without spot and start, and period_s is 3600. Leave it out, or leave start out and give budgets of hours.")
	c.Enter("options")
	refuse(p.Options.Integrality == capacity.Relaxed, "integrality", "A schedule starts whole executions on whole VMs; leave this out.")
	refuse(p.Options.Sharing == capacity.Dedicated, "sharing", "In a schedule the classes share VMs; leave this out.")
	refuse(p.Options.Near != nil, "near", "A schedule is made without a previous plan; leave this out.")
	c.Leave()
	c.Enter("classes")
	for k := range p.Classes {
		c.Element(k)
		c.Enter("jobs")
		refuse(p.Classes[k].Jobs.Min > 0 && !p.Classes[k].Jobs.All && p.Classes[k].MayWait(), "min", "A schedule promises no jobs at once of a class that may wait. Give 0, and a penalty that shows what a refused job is worth, or promise all of them.")
		c.Leave()
		c.Leave()
	}
	c.Leave()
}

// checkHours refuses periods that are no whole hours, or too many of them.
func (q *Question) checkHours(c *strict.Checker) {
	c.Enter("periods")
	defer c.Leave()
	hours := int64(0)
	for i := range q.Periods {
		p := &q.Periods[i]
		c.Element(i)
		switch {
		case p.Arrivals == nil && p.Jobs != nil:
			c.Refuse("jobs", "not_taken", `A schedule starts executions; give those that arrive, as "arrivals".`)
		case p.Arrivals == nil:
			c.Refuse("arrivals", "missing", `A schedule starts executions; give those that arrive in the period, as "arrivals".`)
		case p.Length()%3600 != 0:
			c.Refuse("seconds", "not_whole", "The period has %d seconds; a schedule is made of whole hours.", p.Length())
		}
		c.Leave()
		hours += max(0, p.Length()/3600)
	}
	for i := range q.Earlier {
		if q.Earlier[i].Length()%3600 != 0 || len(q.Periods) > 0 && q.Start().Sub(q.Earlier[i].Start)%time.Hour != 0 {
			c.Refuse("", "not_whole", "The earlier period from %s is not of whole hours before the first one; a schedule is made of whole hours.", q.Earlier[i].Start.UTC().Format(time.RFC3339))
		}
	}
	if hours > MaxHours {
		c.Refuse("", "too_many", "The periods last %d hours; a schedule has %d at most.", hours, MaxHours)
	}
}

// checkDue refuses a time that is over before the shortest run.
func (q *Question) checkDue(c *strict.Checker) {
	if _, err := time.LoadLocation(q.TimeZone); err != nil || q.TimeZone == "Local" {
		c.Refuse("time_zone", "choice", "%q is no time zone; give an IANA name such as \"Europe/Berlin\".", fault.Clip(q.TimeZone))
	}
	c.Enter("problem")
	c.Enter("classes")
	for k := range q.Problem.Classes {
		class := &q.Problem.Classes[k]
		if !class.MayWait() {
			continue
		}
		c.Element(k)
		if class.Due != "" {
			class.CheckDue(c)
			c.Leave()
			continue
		}
		fixed := math.Inf(1)
		for _, on := range onTypes(class, &q.Problem.Supply) {
			if on != nil {
				fixed = min(fixed, perf.PlannedDemand(*on, q.Problem.Options).FixedSeconds)
			}
		}
		least, why := math.Floor(fixed)+1, "on any number of slots"
		if class.VMsPerJob != nil {
			least, why = class.DeadlineSeconds, "which is its deadline_s"
		}
		if c.Number("due_s", "The time until an execution must have ended", "seconds", class.DueSeconds, capacity.MaxSeconds) && class.DueSeconds < least {
			c.Found("due_s", "range", fmt.Sprintf("An execution of %q must have ended %s s after it arrives, and runs for %s s or more, %s.", fault.Clip(class.Name), fault.Plain(class.DueSeconds), fault.Plain(least), why),
				c.Hint("due_s", least, "Give %s or more.", fault.Plain(least)))
		}
		c.Leave()
	}
	c.Leave()
	c.Leave()
}

// checkWindows refuses executions that may run beyond the last hour, and more of them than can be planned.
func (q *Question) checkWindows(c *strict.Checker) {
	g := newGrid(q)
	c.Enter("periods")
	defer c.Leave()
	switch {
	case g.executions > maxExecutions:
		c.Refuse("", "too_many", "In the periods %d executions arrive or wait, or more; a schedule starts %d at most. Ask for a shorter time.", g.executions, maxExecutions)
	case g.options > maxOptions:
		c.Refuse("", "too_many", "The executions have %d starts and runs to choose from, or more; a schedule looks at %d at most. Ask for a shorter time, or give shorter windows.", g.options, maxOptions)
	case g.most > mostCounted:
		c.Refuse("", "too_many", "The executions hold more VMs together than can be counted. Ask for a shorter time, or give fewer or smaller executions.")
	}
	if g.tooMany() {
		return
	}
	c.Leave()
	g.checkBudget(c)
	g.checkSpans(c)
	c.Enter("periods")
	at, most := 0, 0 // hours that are missing
	for n := range g.classes {
		if x := &g.classes[n]; x.waited == 0 { // others have arrived
			if last, window := x.lastIn(0, g.hours); last >= 0 {
				most = max(most, last+window-g.hours)
			}
		}
	}
	for i := range q.Periods {
		first, told := at, -1
		at += int(q.Periods[i].Length() / 3600)
		for n := range g.classes {
			x := &g.classes[n]
			k := x.of
			if x.waited > 0 || x.promised && told >= k {
				continue
			}
			if last, window := x.lastIn(first, at); last >= 0 && last+window > g.hours {
				told = k
				c.Element(i)
				c.Enter("arrivals")
				c.Element(k)
				c.Refuse("", "range", "Executions of %q that arrive in the hour from %s may run until %s, and the periods end at %s, after which no hour has a price. Add %s without arrivals, or none here.", fault.Clip(q.Problem.Classes[k].Name),
					g.at(last).Format(time.RFC3339), g.at(last+window).Format(time.RFC3339), g.at(g.hours).Format(time.RFC3339), words.Hours(float64(most)))
				c.Leave()
				c.Leave()
				c.Leave()
			}
		}
	}
}

// lastIn returns the last of some hours in which executions of a class arrive, and the window of those; -1 if none do.
func (x *gridClass) lastIn(first, until int) (last, window int) {
	last, window = -1, x.window
	for h := first; h < until; h++ {
		if x.arrivals[h] > 0 {
			last = h
		}
	}
	if last >= 0 && x.windows != nil { // the last arrivals are due last
		window = x.windows[last]
	}
	return last, window
}
