package timetable

import (
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/schedule"
)

// grid lays a horizon out in hours: what arrives in each, how an execution may run, and what VMs cost. A row is an hour of one
// type of VMs; those of a type stand together.
type grid struct {
	question *Question
	horizon  *horizon.Horizon
	hours    int
	types    []capacity.VMTypeSupply
	on       [][]*capacity.Class // each class on each type; nil where it does not run on it
	classes  []gridClass         // in the order of the problem, and then those that have waited
	sources  [][]source          // by row, in the order they are used
	spots    []spot              // by row; nil is none
	demand   []decimal.Decimal   // by row, the price on demand
	starts   []decimal.Decimal   // by row, what starting a VM costs
	paid     []decimal.Decimal   // by row, for contracts that are always billed and in force for a part of the hour
	held     []gridClass         // executions that started before, each group of them as one execution
	holding  float64             // how many of those take parts that are rounded up
	// rounding bounds how much too high a bound may be because held is rounded up.
	rounding  float64
	unit      int64      // parts of a VM
	rounded   bool       // some run takes no whole number of parts
	overdrawn *overdrawn // the first hour whose contracts alone cost more than the budget; nil is none
	// What there is to plan. A grid with too much is not made to its end, and is refused.
	executions int64
	options    int     // starts and runs of all arrivals
	most       float64 // parts that all executions hold, if all ran together
}

// gridClass is a class on the grid. One that waits starts in a whole hour after its arrival, and ends before the window does.
// Others run from their arrival, at any moment of its hour.
type gridClass struct {
	of       int // its class in the problem
	waits    bool
	waited   int   // hours before the first in which these executions arrived; 0 is none. They may start at once
	window   int   // hours from that of the arrival, at most
	windows  []int // by the hour of the arrival, where they differ
	on       []int // by hour, the type of VMs on which they run, or schedule.Any; nil is any in all
	runs     []gridRun
	arrivals []int64 // by hour
	penalty  decimal.Decimal
	all      bool // no execution may be refused
	promised bool // they are those of a class that jobs.min promises
}

// gridRun is a run with the slots of an execution in it, and the parts of VMs of one type that it holds by hour.
type gridRun struct {
	schedule.Slots
	on    int   // the type
	parts int64 // while it runs; several short ones share them in turns
	load  []int64
	vms   float64   // as parts, without rounding
	share []float64 // of them in each hour; nil is all
}

// source is VMs of one contract, or on demand, in an hour. Of those that are billed always one more costs nothing.
type source struct {
	vms      int64 // schedule.Unlimited: any number
	price    decimal.Decimal
	always   bool
	onDemand bool
}

// margin returns the price of using one VM more.
func (s *source) margin() decimal.Decimal {
	if s.always {
		return decimal.Zero
	}
	return s.price
}

// finest is the number of parts in which a VM is counted at least, where loads of some classes are means over an hour.
const finest = 1_000_000

// mostCounted bounds the parts of VMs that can be counted, of all executions together.
const mostCounted = 1 << 60

// newGrid counts VMs in parts that make slots whole, or in coarser ones where those would be too many.
func newGrid(q *Question) *grid {
	g := newGridOf(q, finest*finest)
	if g.most > mostCounted && g.unit > finest {
		g = newGridOf(q, finest)
	}
	return g
}

func newGridOf(q *Question, finer int64) *grid {
	h := q.horizon()
	g := &grid{question: q, horizon: h, hours: int(h.End().Sub(h.Start()) / time.Hour), unit: finest}
	g.types = h.Problem.Supply.Types()
	for k := range h.Problem.Classes {
		c := &h.Problem.Classes[k]
		g.on = append(g.on, onTypes(c, &h.Problem.Supply))
		turns := int64(1) // of slots within an hour
		if c.DeadlineSeconds > 0 && c.MayWait() {
			turns = turnsOf(c.DeadlineSeconds)
		}
		for _, on := range g.on[k] {
			if on == nil {
				continue
			}
			for _, slots := range []int64{on.SlotsPerVM.Map, on.SlotsPerVM.Reduce, 1} {
				if times := turns * slots / common(g.unit, max(1, turns*slots)); slots > 0 && times <= finer/g.unit {
					g.unit *= times
				}
			}
		}
	}
	arrivals := g.arrivals(q.Before)
	for k := range h.Problem.Classes {
		x := g.class(k, arrivals[k])
		if g.add(&x); g.tooMany() {
			return g
		}
	}
	if q.Before != nil {
		g.wait(q.Before)
	}
	for k := range h.Problem.Classes {
		g.promise(k, q.Earlier)
	}
	if g.supply(); !g.tooMany() {
		g.hold(q.Before, q.Earlier)
	}
	return g
}

// supply lays out what VMs cost.
func (g *grid) supply() {
	rows := len(g.types) * g.hours
	g.sources, g.demand, g.starts, g.paid = make([][]source, rows), make([]decimal.Decimal, rows), make([]decimal.Decimal, rows), make([]decimal.Decimal, rows)
	hour := 0
	for i := range g.horizon.Periods {
		priced := g.horizon.Periods[i].Priced(g.horizon.Problem.Supply).Types()
		for range g.horizon.Periods[i].Length() / 3600 {
			for v := range priced {
				row := v*g.hours + hour
				g.sources[row], g.demand[row] = g.sourcesOf(&priced[v], g.at(hour)), priced[v].OnDemand.Price.Decimal
				g.starts[row] = g.startPrice(&priced[v], row)
				g.addSpot(row, priced[v].Spot)
				g.paid[row] = g.paidOf(priced[v].Name, g.at(hour))
			}
			g.keepBudget(hour)
			hour++
		}
	}
}

// onTypes returns a class as it is on each type of VMs, and nil for those on which it does not run.
func onTypes(c *capacity.Class, s *capacity.Supply) (all []*capacity.Class) {
	if len(s.VMTypes) == 0 {
		return []*capacity.Class{c}
	}
	for _, t := range s.VMTypes {
		if !c.RunsOn(t.Name) {
			all = append(all, nil)
			continue
		}
		on := c.OnType(t.Name)
		all = append(all, &on)
	}
	return all
}

// add takes a class in.
func (g *grid) add(x *gridClass) {
	g.classes = append(g.classes, *x)
	parts := 0.0
	for i := range x.runs {
		parts = max(parts, float64(x.runs[i].parts))
	}
	for _, n := range x.arrivals {
		if n > 0 {
			g.executions, g.options = g.executions+n, g.options+len(x.runs)*x.window
			g.most += float64(n) * parts
		}
	}
}

func (g *grid) tooMany() bool {
	return g.executions > maxExecutions || g.options > maxOptions || g.most > mostCounted
}

// recount lowers the VMs of a plan to those that its executions need. Its loads are sums of parts that are rounded up, and may
// be a VM too high where they fill whole VMs. Where starting VMs costs something, some stay without work.
func (g *grid) recount(p *schedule.Plan) {
	load := make([]float64, len(p.VMs))
	for held := range 2 { // what started before comes first
		for _, s := range p.Starts {
			if s.Run == schedule.Refused || (s.Class >= len(g.classes)) != (held == 0) {
				continue
			}
			r := &g.classOf(s).runs[s.Run]
			for i := range max(len(r.load), len(r.share)) {
				vms := float64(s.Jobs) * r.vms
				if r.share != nil {
					vms *= r.share[i]
				}
				load[r.on*g.hours+s.At+i] += vms
			}
		}
	}
	was := g.rented(p.VMs)
	for row, x := range load {
		if vms := int64(math.Ceil(x - vmNoise*max(1, x))); vms < p.VMs[row] {
			p.VMs[row] = vms
		}
	}
	whole := schedule.Problem{Supply: g.tiers(), Starting: g.startings()}
	whole.Held(p.VMs)
	p.Rented -= was.Sub(g.rented(p.VMs)).InexactFloat64()
}

// rented returns what VMs cost, with their starts.
func (g *grid) rented(vms []int64) (sum decimal.Decimal) {
	for row := range vms {
		sum = sum.Add(g.rentAndStart(row, vms).Cost.Decimal)
	}
	return sum
}

// classOf returns the class of a start, which may be one of executions that started before.
func (g *grid) classOf(s schedule.Start) *gridClass {
	if n := s.Class - len(g.classes); n >= 0 {
		return &g.held[n]
	}
	return &g.classes[s.Class]
}

// common returns the greatest common divisor.
func common(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// at returns when an hour begins.
func (g *grid) at(hour int) time.Time {
	return g.horizon.Start().UTC().Add(time.Duration(hour) * time.Hour)
}

// arrivals returns the whole executions of each class by hour. A forecast is rounded up over all hours together, so that
// fractions of several hours make one execution. What counted as whole before is left out.
func (g *grid) arrivals(before *Before) [][]int64 {
	all := make([][]int64, len(g.horizon.Problem.Classes))
	for k := range all {
		sum, whole := -before.counted(k), 0.0
		for i := range g.horizon.Periods {
			p := &g.horizon.Periods[i]
			hours := p.Length() / 3600
			before := sum
			for n := range hours {
				sum = before + p.Arrivals[k]*float64(n+1)/float64(hours)
				now := max(0, capacity.WholeJobs(sum))
				all[k] = append(all[k], int64(now-whole))
				whole = now
			}
		}
	}
	return all
}

// class returns a class with its runs. One whose window leaves less than two hours for waiting does not wait.
func (g *grid) class(k int, arrivals []int64) gridClass {
	c, options := &g.horizon.Problem.Classes[k], &g.horizon.Problem.Options
	x := gridClass{of: k, arrivals: arrivals, window: int(c.DueSeconds / 3600), all: c.Jobs.All}
	x.penalty = c.Penalty.Mul(decimal.NewFromFloat(c.DeadlineSeconds)).Div(decimal.NewFromInt(g.horizon.Problem.PeriodSeconds))
	if x.penalty = x.penalty.Round(horizon.WorthPlaces); c.DeadlineSeconds == 0 {
		return x
	}
	if c.Due != "" {
		due := newDueTimes(c, g.question.zone(), g.at(0), g.at(g.hours))
		for h := range g.hours {
			x.windows = append(x.windows, due.window(g.at(h)))
			if arrivals[h] > 0 {
				x.window = max(x.window, x.windows[h])
			}
		}
		x.waits, x.runs = true, g.runs(k, x.window-1)
		return x
	}
	x.runs = g.runs(k, x.window-1)
	if x.waits = slices.ContainsFunc(x.runs, func(r gridRun) bool { return x.window >= len(r.load)+2 }); x.waits {
		if len(arrivals) == 0 || slices.Max(arrivals) == 0 { // no run is taken, and many may be long
			x.runs = slices.Clone(x.runs[:1])
		}
		return x
	}
	x.runs, x.window = nil, 1
	for v, on := range g.on[k] {
		if on == nil {
			continue
		}
		at := *on
		if at.DueSeconds > 0 {
			at.DeadlineSeconds = min(at.DeadlineSeconds, at.DueSeconds)
		}
		if slots, parts, ok := g.slots(&at, options, at.DeadlineSeconds); ok {
			slots.Seconds = perf.HeldSeconds(at, capacity.Supply{}, *options)
			run := gridRun{Slots: slots, on: v, parts: parts, vms: slotVMs(&at, slots)}
			run.spread()
			x.runs, x.window, g.rounded = append(x.runs, run), max(x.window, len(run.load)), true
		}
	}
	return x
}

// spread lays out a run that begins at any moment of its first hour: in each hour it holds VMs for a share of the time.
func (r *gridRun) spread() {
	one := perf.NewArrivals([]perf.Arriving{{From: 0, Until: 3600, Jobs: 1}})
	for h := int64(0); float64(3600*(h-1)) < r.Seconds; h++ {
		share := one.Running(r.Seconds, 3600*h, 3600*h+3600)
		r.share = append(r.share, share)
		r.load = append(r.load, int64(math.Ceil(share*float64(r.parts)-loadNoise)))
	}
}

// runs returns the runs of an execution of a class that has some hours from its start, type by type.
func (g *grid) runs(k, most int) (all []gridRun) {
	for v, on := range g.on[k] {
		if on != nil {
			all = append(all, g.runsOn(v, on, most)...)
		}
	}
	return all
}

// runsOn returns the runs on one type of VMs, of whole hours but for the longest. Each takes fewer VMs than the shorter ones.
func (g *grid) runsOn(v int, c *capacity.Class, most int) (runs []gridRun) {
	fewest := int64(math.MaxInt64)
	for hours := 1; hours <= most && (len(runs) == 0 || hours <= g.hours) && float64(3600*(hours-1)) < c.DeadlineSeconds; hours++ {
		seconds := min(float64(3600*hours), c.DeadlineSeconds)
		if c.VMsPerJob != nil && seconds < c.DeadlineSeconds {
			continue
		}
		slots, parts, ok := g.slots(c, &g.horizon.Problem.Options, seconds)
		if !ok || parts >= fewest {
			continue
		}
		fewest = parts
		turns := turnsOf(seconds)
		g.rounded = g.rounded || parts%turns > 0
		runs = append(runs, gridRun{Slots: slots, on: v, parts: parts, load: slices.Repeat([]int64{(parts + turns - 1) / turns}, hours), vms: slotVMs(c, slots) / float64(turns)})
	}
	return runs
}

// turnsOf returns how many executions run one after the other in an hour on the same VMs.
func turnsOf(seconds float64) int64 { return int64(max(1, math.Floor(3600/seconds))) }

// loadNoise bounds rounding errors of a load, in parts of VMs. vmNoise bounds those of VMs, relative to them.
const (
	loadNoise = 1e-3
	vmNoise   = 1e-11
)

// slots returns the slots of an execution that ends within some seconds, and the parts of VMs they take.
func (g *grid) slots(c *capacity.Class, o *capacity.Options, seconds float64) (s schedule.Slots, parts int64, ok bool) {
	if c.VMsPerJob != nil {
		s.Seconds = seconds
		return s, g.whole(c), true
	}
	d := perf.PlannedDemand(*c, *o)
	hasMap, hasReduce := d.MapWorkSeconds > 0, d.ReduceWorkSeconds > 0
	if c.Profile != nil {
		hasMap, hasReduce = true, c.Profile.ReduceTasks > 0
	}
	if s, ok = schedule.SlotsFor(d, hasMap, hasReduce, c.SlotsPerVM, seconds); !ok {
		return s, 0, false
	}
	if max(s.Map, s.Reduce) > capacity.MaxVMs {
		return s, 0, false
	}
	return s, g.parts(c, s), true
}

// slotVMs returns the VMs that an execution of a class takes.
func slotVMs(c *capacity.Class, s schedule.Slots) float64 {
	if c.VMsPerJob != nil {
		return c.VMsPerJob.InexactFloat64()
	}
	return float64(s.Map)/float64(max(1, c.SlotsPerVM.Map)) + float64(s.Reduce)/float64(max(1, c.SlotsPerVM.Reduce))
}

// whole returns the parts of VMs that an execution of a class takes which has VMs per job.
func (g *grid) whole(c *capacity.Class) int64 {
	exact := c.VMsPerJob.Mul(decimal.NewFromInt(g.unit))
	if g.rounded = g.rounded || !exact.IsInteger(); exact.InexactFloat64() > mostCounted {
		g.most = math.Inf(1)
		return 0
	}
	return exact.Ceil().IntPart()
}

// parts returns the parts of VMs that the slots of an execution take.
func (g *grid) parts(c *capacity.Class, s schedule.Slots) (parts int64) {
	for _, phase := range [][2]int64{{s.Map, c.SlotsPerVM.Map}, {s.Reduce, c.SlotsPerVM.Reduce}} {
		if float64(phase[0])*float64(g.unit) > mostCounted {
			g.most = math.Inf(1)
		} else if phase[0] > 0 {
			parts += (phase[0] * (g.unit / phase[1])) + (phase[0]*(g.unit%phase[1])+phase[1]-1)/phase[1]
			g.rounded = g.rounded || g.unit%phase[1] != 0
		}
	}
	return parts
}

// paidOf returns what contracts cost for a part of an hour, in which nothing runs on them.
func (g *grid) paidOf(vmType string, at time.Time) (sum decimal.Decimal) {
	for i := range g.horizon.Contracts {
		c := &g.horizon.Contracts[i]
		from, until := c.From, c.Until
		if from.Before(at) {
			from = at
		}
		if end := at.Add(time.Hour); until.After(end) {
			until = end
		}
		if c.VMType == vmType && c.Billing == capacity.BilledAlways && until.After(from) && until.Sub(from) < time.Hour {
			sum = sum.Add(c.Price.Mul(decimal.NewFromInt(c.VMs*int64(until.Sub(from)/time.Second))).DivRound(decimal.NewFromInt(3600), upfrontPlaces))
		}
	}
	return sum
}

// sourcesOf returns the sources of VMs of a type in an hour, the cheapest first. A contract counts where it is in force for all
// of it.
func (g *grid) sourcesOf(supply *capacity.VMTypeSupply, at time.Time) (all []source) {
	contract := func(c *capacity.Contract) {
		all = append(all, source{vms: c.VMs, price: c.Price.Decimal, always: c.Billing == capacity.BilledAlways})
	}
	for i := range supply.Contracts {
		contract(&supply.Contracts[i])
	}
	for i := range g.horizon.Contracts {
		if c := &g.horizon.Contracts[i]; c.VMType == supply.Name && !c.From.After(at) && !c.Until.Before(at.Add(time.Hour)) {
			contract(&c.Contract)
		}
	}
	rented := source{vms: schedule.Unlimited, price: supply.OnDemand.Price.Decimal, onDemand: true}
	if supply.OnDemand.Quota != nil {
		rented.vms = *supply.OnDemand.Quota
	}
	all = append(all, rented)
	slices.SortStableFunc(all, func(a, b source) int { return a.margin().Cmp(b.margin()) })
	return all
}

// spot is spot VMs in an hour, after all others that cost no more.
type spot struct {
	price decimal.Decimal
	schedule.Spot
}

// shareDigits are the decimals of a share of spot VMs that count.
const shareDigits = 17

// addSpot adds the spot VMs of a row.
func (g *grid) addSpot(row int, s *capacity.Spot) {
	if s == nil {
		return
	}
	if g.spots == nil {
		g.spots = make([]spot, len(g.sources))
	}
	of := decimal.New(1, shareDigits)
	share := decimal.NewFromFloat(s.MaxShare).Mul(of).IntPart()
	g.spots[row] = spot{s.Price.Decimal, schedule.Spot{Price: s.Price.InexactFloat64(), Share: share, Of: of.IntPart()}}
}

// spot returns how many of some VMs in an hour are spot.
func (g *grid) spot(row int, vms int64) int64 {
	if g.spots == nil || g.spots[row].Share == 0 {
		return 0
	}
	others := int64(0)
	for i := range g.sources[row] {
		if s := &g.sources[row][i]; !s.margin().GreaterThan(g.spots[row].price) {
			others = min(schedule.Unlimited, others+s.vms)
		}
	}
	return max(0, min(g.spots[row].Most(vms), vms-others))
}

// forbidding returns a penalty for which no execution of a class is refused that has a place. It is more than a run costs at
// the highest price of VMs, with all that is refused to make room for it: of classes with such a worth.
func (g *grid) forbidding(x *gridClass, worthOf func(class int) float64) (penalty float64) {
	dearest, worth, least := 0.0, 0.0, g.unit
	for row := range g.sources {
		dearest = max(dearest, g.dearest(row))
	}
	for k := range g.classes {
		if w := worthOf(k); w > 0 {
			worth = max(worth, w)
			for _, r := range g.classes[k].runs {
				for _, parts := range r.load {
					least = min(least, max(1, parts))
				}
			}
		}
	}
	for _, r := range x.runs {
		cost := 1.0
		for _, parts := range r.load {
			cost += dearest*float64(parts)/float64(g.unit) + worth*(1+float64(parts)/float64(least))
		}
		penalty = max(penalty, 2*cost)
	}
	return penalty
}

// forced returns the penalty of a class whose executions are refused only where there is no room. Those of which all are promised
// come before others that have to be placed.
func (g *grid) forced(x *gridClass) float64 {
	return g.forbidding(x, func(class int) float64 {
		other := &g.classes[class]
		switch {
		case other.all || g.question.PlaceAll && !x.all:
			return 0
		case g.question.PlaceAll:
			return g.forced(other)
		}
		return other.penalty.InexactFloat64()
	})
}

// tiers returns the supply by row in plain numbers.
func (g *grid) tiers() (all [][]schedule.Tier) {
	for _, sources := range g.sources {
		var tiers []schedule.Tier
		for i := range sources {
			tiers = append(tiers, schedule.Tier{VMs: sources[i].vms, Price: sources[i].margin().InexactFloat64()})
		}
		all = append(all, tiers)
	}
	return all
}

// problem returns the grid as a problem in plain numbers. What is billed always is no part of it.
func (g *grid) problem() schedule.Problem {
	p := schedule.Problem{Unit: g.unit, Rounded: g.rounded, Supply: g.tiers(), Starting: g.startings(), Budgets: g.budgets()}
	for _, s := range g.spots {
		p.Spot = append(p.Spot, s.Spot)
	}
	add := func(x *gridClass, penalty float64) {
		c := schedule.Class{Window: x.window, Windows: x.windows, AtOnce: !x.waits, Penalty: penalty, Arrivals: x.arrivals}
		if x.waits && x.waited == 0 {
			c.First = 1
		}
		for _, v := range x.on {
			c.On = append(c.On, max(v*g.hours, schedule.Any))
		}
		for i := range x.runs {
			c.Runs = append(c.Runs, schedule.Run{First: x.runs[i].on * g.hours, Load: x.runs[i].load})
		}
		p.Classes = append(p.Classes, c)
	}
	for k := range g.classes {
		x := &g.classes[k]
		if x.all || g.question.PlaceAll {
			add(x, g.forced(x))
		} else {
			add(x, x.penalty.InexactFloat64())
		}
	}
	for i := range g.held { // which nobody refuses, not even for those of which all are promised
		add(&g.held[i], g.forbidding(&g.held[i], func(class int) float64 { return p.Classes[class].Penalty }))
	}
	return p
}
