package horizon

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/strict"
)

// ClassArrivals says what became of the executions of a class that arrived in a horizon.
type ClassArrivals struct {
	Jobs         float64 `json:"jobs"`              // that arrived
	RunSeconds   float64 `json:"run_s"`             // for which each holds its VMs
	EarlierHours float64 `json:"earlier_job_hours"` // of those that had arrived before, and still ran
	LaterHours   float64 `json:"later_job_hours"`   // that lie beyond the end; no figure counts them,
	LaterVMHours float64 `json:"later_vm_hours"`    // nor the VMs for them
	WorkVMHours  float64 `json:"work_vm_hours"`     // the least that the admitted work takes, on VMs at full use

	Below *BelowPromise `json:"below_promise,omitempty"` // where refusals leave fewer jobs than are promised
}

// BelowPromise tells of the times with a plan in which a class has fewer jobs at once than its jobs.min, or than there would
// be, because some were refused as they arrived.
type BelowPromise struct {
	Hours    float64   `json:"hours"`
	First    time.Time `json:"first"`
	Promised float64   `json:"promised"`
	Least    float64   `json:"least"` // the fewest jobs at once in them
}

// arrives reports whether the horizon tells what arrives.
func (h *Horizon) arrives() bool {
	return len(h.Earlier) > 0 || slices.ContainsFunc(h.Periods, func(p HorizonPeriod) bool { return p.Arrivals != nil })
}

// arrivalsOf returns what arrives of a class, with what arrived before the horizon.
func (h *Horizon) arrivalsOf(class int) []perf.Arriving {
	var spans []perf.Arriving
	for _, periods := range [][]HorizonPeriod{h.Earlier, h.Periods} {
		for i := range periods {
			if p := &periods[i]; p.Arrivals != nil && p.Arrivals[class] > 0 {
				spans = append(spans, perf.Arriving{From: p.Start.Unix(), Until: p.End().Unix(), Jobs: p.Arrivals[class]})
			}
		}
	}
	return spans
}

// Carried turns arrivals into jobs that run: each holds its VMs from its arrival for as long as its plan gives it (see
// perf.HeldSeconds). Periods are cut where the number changes: at whole hours, where a contract begins or ends, and where the
// last job of a class ends (see perf.Frees). A number of jobs is seldom whole, so that classes are planned in parts of jobs (see
// parts). Without arrivals the horizon stays as it is.
func (h Horizon) Carried() Horizon {
	if !h.arrives() || h.parts != nil {
		return h
	}
	for _, c := range h.Contracts {
		h.turns = append(slices.Clip(h.turns), c.From.Unix(), c.Until.Unix())
	}
	slices.Sort(h.turns)
	h.asked, h.parts, h.lasting = slices.Clone(h.Problem.Classes), make([]int64, len(h.Problem.Classes)), make([]float64, len(h.Problem.Classes))
	h.Problem.Classes = slices.Clone(h.asked)
	for k := range h.asked {
		h.parts[k], h.lasting[k] = 1, 1
		if len(h.arrivalsOf(k)) > 0 {
			h.parts[k] = parts(&h.asked[k], &h.Problem)
			divide(&h.Problem.Classes[k], &h.Problem.Options, h.parts[k])
			if held := perf.HeldSeconds(h.asked[k], h.Problem.Supply, h.Problem.Options); held > 0 {
				h.lasting[k] = h.asked[k].DeadlineSeconds / held
			}
		}
	}
	return h.carry()
}

// carry counts the jobs that run at once anew, where arrivals have changed.
func (h Horizon) carry() Horizon {
	if h.parts == nil {
		return h
	}
	classes := h.asked
	flows, seconds := make([]perf.Arrivals, len(classes)), make([]float64, len(classes))
	for k := range classes {
		if flows[k] = perf.NewArrivals(h.arrivalsOf(k)); flows[k].Jobs() > 0 {
			seconds[k] = perf.HeldSeconds(classes[k], h.Problem.Supply, h.Problem.Options)
		}
	}
	var ends []int64
	for k := range classes {
		ends = append(ends, flows[k].Ends(seconds[k])...)
	}
	turns := append(perf.Frees(ends), h.turns...)
	slices.Sort(turns)
	var cut []HorizonPeriod
	for i := range h.Periods {
		p := &h.Periods[i]
		first := len(cut)
		for at, end := p.Start, p.End(); at.Before(end); {
			until := at.Truncate(time.Hour).Add(time.Hour)
			if end.Before(until) {
				until = end
			}
			if n, _ := slices.BinarySearch(turns, at.Unix()+1); n < len(turns) && turns[n] < until.Unix() {
				until = time.Unix(turns[n], 0).UTC()
			}
			running := make([]float64, len(classes))
			for k := range classes {
				running[k] = flows[k].Running(seconds[k], at.Unix(), until.Unix())
				switch {
				case p.Jobs != nil:
					running[k] = max(running[k], p.Jobs[k])
				case p.Arrivals == nil: // there is no forecast
					running[k] = max(running[k], classes[k].Jobs.Max)
				}
			}
			if n := len(cut); n > first && slices.EqualFunc(cut[n-1].Running, running, alike) {
				last := &cut[n-1]
				last.SetLength(until.Unix() - last.Start.Unix())
			} else {
				piece := *p
				piece.Start, piece.Running, piece.cutFrom = at, running, i+1
				piece.SetLength(until.Unix() - at.Unix())
				cut = append(cut, piece)
			}
			at = until
		}
		for n := first; n < len(cut); n++ {
			cut[n].Arrivals = times(p.Arrivals, float64(cut[n].Length())/float64(p.Length()))
		}
	}
	h.Periods = h.apart(cut, seconds)
	return h
}

// whole puts the pieces together that carry has cut. Other arrivals end at other moments.
func (h Horizon) whole() Horizon {
	if h.parts == nil {
		return h
	}
	var periods []HorizonPeriod
	for _, p := range h.Periods {
		n := len(periods)
		if n == 0 || periods[n-1].cutFrom != p.cutFrom {
			p.Arrivals, p.Running = slices.Clone(p.Arrivals), nil
			periods = append(periods, p)
			continue
		}
		of := &periods[n-1]
		of.SetLength(of.Length() + p.Length())
		for k := range of.Arrivals {
			of.Arrivals[k] += p.Arrivals[k]
		}
	}
	h.Periods = periods
	return h
}

// apart cuts periods in which jobs may be refused: at every hour, for as long after a change as jobs run that were admitted
// before it, and where contracts begin or end. What is refused then does not depend on what was admitted before.
func (h *Horizon) apart(periods []HorizonPeriod, seconds []float64) (cut []HorizonPeriod) {
	longest := int64(0)
	for k, most := range seconds {
		refusable := func(p HorizonPeriod) bool { return p.Running[k] > h.asked[k].Jobs.Of(p.Running[k]).Min }
		if most > 0 && slices.ContainsFunc(periods, refusable) {
			longest = max(longest, int64(math.Ceil(most)))
		}
	}
	if longest == 0 {
		return periods
	}
	for i := range periods {
		p := &periods[i]
		at, end := p.Start.Unix(), p.End().Unix()
		for changed := at; at < end; {
			until := end
			if hour := at - at%3600 + 3600; at < changed+longest {
				until = min(end, hour)
			}
			n, _ := slices.BinarySearch(h.turns, at+1)
			turn := n < len(h.turns) && h.turns[n] <= until
			if turn {
				until = h.turns[n]
			}
			piece := *p
			piece.Start = time.Unix(at, 0).UTC()
			piece.SetLength(until - at)
			piece.Arrivals = times(p.Arrivals, float64(until-at)/float64(p.Length()))
			cut = append(cut, piece)
			if at = until; turn {
				changed = at
			}
		}
	}
	return cut
}

// alike reports whether two numbers of jobs differ by rounding errors alone.
func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(a) }

// mostParts bounds the parts of a job, and with them the rounding: up to a part of each class in an hour.
const mostParts = 64

// slotNoise bounds the rounding error of a job's slots, relative to them. A part may lack so little of its slot.
const slotNoise = 1e-9

// parts returns into how many equal parts a class's jobs are divided: so many that each has a slot of either kind at least,
// or a quarter of a VM. It is a power of two, which decimals divide exactly.
func parts(c *capacity.Class, p *capacity.Problem) int64 {
	if p.Options.Integrality == capacity.Relaxed || c.Profile != nil && c.Profile.OverheadSeconds > 0 && c.Speed != nil {
		return 1 // nothing is whole; or no demand says the same as the profile on every type
	}
	slots := math.Inf(1)
	for _, t := range p.Supply.Types() {
		if len(p.Supply.VMTypes) > 0 && !c.RunsOn(t.Name) {
			continue
		}
		on := c.OnType(t.Name)
		if on.VMsPerJob != nil {
			slots = min(slots, 4*on.VMsPerJob.InexactFloat64())
			continue
		}
		d, per := perf.PlannedDemand(on, p.Options), on.SlotsPerVM
		perMap, perReduce := float64(per.Map), float64(per.Reduce)
		root := math.Sqrt(d.MapWorkSeconds/perMap) + math.Sqrt(d.ReduceWorkSeconds/perReduce)
		slack := on.DeadlineSeconds - d.FixedSeconds
		if d.MapWorkSeconds > 0 {
			slots = min(slots, math.Sqrt(d.MapWorkSeconds*perMap)*root/slack)
		}
		if d.ReduceWorkSeconds > 0 {
			slots = min(slots, math.Sqrt(d.ReduceWorkSeconds*perReduce)*root/slack)
		}
	}
	n := int64(1)
	for 2*n <= mostParts && float64(2*n) <= slots*(1+slotNoise) && divides(c, 2*n) {
		n *= 2
	}
	return n
}

// divides reports whether the amounts of a class have as few decimals as money can have after a division.
func divides(c *capacity.Class, parts int64) bool {
	by := decimal.NewFromInt(parts)
	if c.VMsPerJob != nil && strict.PlacesBeyond(c.VMsPerJob.DivRound(by, 30), money.Places) {
		return false
	}
	return !strict.PlacesBeyond(c.Penalty.DivRound(by, 30), money.Places)
}

// divide makes a class one whose jobs are equal parts of its jobs, which take as long and need a part of the slots.
func divide(c *capacity.Class, o *capacity.Options, parts int64) {
	if parts == 1 {
		return
	}
	by := decimal.NewFromInt(parts)
	if c.VMsPerJob != nil {
		vms := c.VMsPerJob.DivRound(by, money.Places)
		c.VMsPerJob = &vms
	} else {
		d := perf.PlannedDemand(*c, *o)
		d.MapWorkSeconds, d.ReduceWorkSeconds = d.MapWorkSeconds/float64(parts), d.ReduceWorkSeconds/float64(parts)
		c.Demand, c.Profile, c.Calibration, c.Target, c.Confidence, c.Promise = &d, nil, nil, 0, 0, nil
	}
	c.Penalty.Decimal = c.Penalty.DivRound(by, money.Places)
	c.Jobs.Min, c.Jobs.Max = c.Jobs.Min*float64(parts), c.Jobs.Max*float64(parts)
}

// held returns the jobs of a class that hold VMs where so many run at once on average, in parts. They are rounded up, so
// that no work is lost. There is one whole job at least, because none runs on less.
func (h *Horizon) held(class int, running float64) float64 {
	if h.Problem.Options.Integrality == capacity.Relaxed || running == 0 {
		return running
	}
	if h.asked[class].DeadlineSeconds > 0 {
		running = max(running, min(1, capacity.WholeJobs(running)))
	}
	return h.inParts(class, running)
}

// heldOf returns the jobs, in parts, that hold VMs for some of those that run at once on average. Where the VMs of one whole
// job are held for all of them, it is as large a part of that.
func (h *Horizon) heldOf(class int, some, all float64) float64 {
	if held := h.held(class, all); held > h.inParts(class, all) {
		return capacity.WholeJobs(min(1, some/all) * held)
	}
	return h.inParts(class, some)
}

// inParts returns a number of jobs in parts, rounded up.
func (h *Horizon) inParts(class int, jobs float64) float64 {
	if h.Problem.Options.Integrality == capacity.Relaxed {
		return jobs
	}
	return capacity.WholeJobs(jobs * float64(h.parts[class]))
}

// filled returns how many jobs of a class each planned one of a period stands for: those are rounded up, and all of them
// together are the jobs that run at once on average. A job that is done before its deadline counts until then, like its penalty.
// Numbers that differ by rounding errors alone are the same.
func (h *Horizon) filled(period, class int) float64 {
	return h.filling(class, h.Periods[period].Running[class])
}

func (h *Horizon) filling(class int, running float64) float64 {
	if h.Problem.Options.Integrality == capacity.Relaxed || running == 0 {
		return h.lasting[class] / float64(h.parts[class])
	}
	planned := h.held(class, running)
	if full := planned / float64(h.parts[class]); planned == 0 || math.Abs(running-full) <= runningNoise*full {
		return h.lasting[class] / float64(h.parts[class])
	}
	running, _ = strconv.ParseFloat(strconv.FormatFloat(running, 'g', runningDigits, 64), 64)
	return running / planned * h.lasting[class]
}

// A number of jobs at once says no more than it has digits without rounding errors.
const (
	runningDigits = 12
	runningNoise  = 1e-12
)

// WorthPlaces are more decimals than money has: thousands of planned jobs may share an amount.
const WorthPlaces = 2 * money.Places

// worth returns the value of refusing a planned job that stands for so many jobs.
func (h *Horizon) worth(class int, filled float64) money.Amount {
	return money.Amount{Decimal: h.asked[class].Penalty.Mul(decimal.NewFromFloat(filled)).Round(WorthPlaces)}
}

// inWholeJobs tells the conflicts of a problem in parts of jobs as those of whole jobs, which need no fewer VMs.
func (h *Horizon) inWholeJobs(ctx context.Context, p capacity.Problem, found []fault.Finding) []fault.Finding {
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		jobs := p.Classes[i].Jobs
		p.Classes[i] = h.asked[i]
		p.Classes[i].Jobs.Min, p.Classes[i].Jobs.Max = capacity.WholeJobs(jobs.Min/float64(h.parts[i])), capacity.WholeJobs(jobs.Max/float64(h.parts[i]))
	}
	pl, err := plan.Solve(ctx, p, nil)
	if conflicts := fault.Findings(err); conflicts != nil {
		return conflicts
	}
	if err != nil || len(pl.Conflicts) == 0 {
		return found
	}
	return pl.Conflicts
}

// checkArrivals refuses arrivals that are no numbers or too many, and of classes that do not say how long their jobs run.
func (h *Horizon) checkArrivals(c *strict.Checker) {
	if h.checkEarlier(c); !h.arrives() {
		return
	}
	classes := h.Problem.Classes
	seconds := int64(0)
	arrives := make([]bool, len(classes))
	checkNumbers(c, "earlier", h.Earlier, arrives)
	checkNumbers(c, "periods", h.Periods, arrives)
	c.Enter("periods")
	for i := range h.Periods {
		seconds += min(max(0, h.Periods[i].Length()), capacity.MaxHorizonHours*3600)
	}
	if hours := seconds/3600 + int64(len(h.Periods)); hours > MaxPeriods+int64(len(h.Periods)) || (hours-int64(len(h.Periods)))*int64(len(classes)) > MaxHorizonLoad {
		c.Refuse("", "too_many", "Here are arrivals in about %d hours of %d classes; arrivals are planned hour by hour, with %d hours at most, and %d of hours times classes. Ask for a shorter time.",
			hours, len(classes), MaxPeriods, MaxHorizonLoad)
	}
	c.Leave()
	c.Enter("problem")
	c.Enter("classes")
	for k := range classes {
		if arrives[k] && classes[k].DeadlineSeconds == 0 {
			c.Element(k)
			c.Refuse("deadline_s", "missing", "The class %q has arrivals and no deadline, which is how long its jobs hold their VMs; give it one, or give jobs that run at once.", fault.Clip(classes[k].Name))
			c.Leave()
		}
	}
	c.Leave()
	c.Leave()
	if c.Sound() {
		h.checkCarried(c)
	}
}

// checkEarlier refuses earlier periods that tell anything but arrivals, or are not earlier.
func (h *Horizon) checkEarlier(c *strict.Checker) {
	c.Enter("earlier")
	defer c.Leave()
	if len(h.Earlier) > 0 && !slices.ContainsFunc(h.Periods, func(p HorizonPeriod) bool { return p.Arrivals != nil || p.Jobs == nil && p.Unforecast }) {
		c.Refuse("", "not_taken", "Here are arrivals and the periods have none; leave them out, or give arrivals in all periods.")
		return
	}
	for i := range h.Earlier {
		p := &h.Earlier[i]
		c.Element(i)
		switch most := int64(capacity.MaxHorizonHours * 3600); {
		case p.Hours != 0 && p.Seconds != 0 || p.Hours < 0 || p.Hours > capacity.MaxHorizonHours || p.Length() < 1 || p.Length() > most:
			c.Refuse("hours", "range", "Give one length, from 1 second to %d hours.", capacity.MaxHorizonHours)
		case !capacity.CheckWholeSecond(c, "start", p.Start):
		case p.Jobs != nil || p.PriceKey() != "" || p.Arrivals == nil:
			c.Refuse("arrivals", "one_of", "What is over is no longer planned; give a start, a length and arrivals alone.")
		case i > 0 && p.Start.Before(h.Earlier[i-1].End()):
			c.Refuse("start", "order", "The period begins before the one before it ends; give them in the order of time.")
		case len(h.Periods) > 0 && p.End().After(h.Start()):
			c.Refuse("start", "order", "The period ends after the horizon begins, at %s; what arrives from then on stands in the periods.", h.Start().Format(time.RFC3339))
		}
		c.Leave()
	}
}

// checkNumbers checks the arrivals of some periods and notes which classes have any.
func checkNumbers(c *strict.Checker, member string, periods []HorizonPeriod, arrives []bool) {
	c.Enter(member)
	for i := range periods {
		p := &periods[i]
		c.Element(i)
		if p.Arrivals != nil && len(p.Arrivals) != len(arrives) {
			c.Refuse("arrivals", "range", "Here are arrivals of %d classes; the problem has %d.", len(p.Arrivals), len(arrives))
		} else if p.Arrivals != nil {
			c.Enter("arrivals")
			for k, x := range p.Arrivals {
				c.Element(k)
				c.Number("", "The number of arrivals", "", x, capacity.MaxArrivals)
				c.Leave()
				arrives[k] = arrives[k] || x > 0
			}
			c.Leave()
		}
		c.Leave()
	}
	c.Leave()
}

// checkCarried refuses arrivals that come to more jobs at once than a problem can have.
func (h *Horizon) checkCarried(c *strict.Checker) {
	carried := h.Carried()
	for i := range carried.Periods {
		for k, jobs := range carried.Periods[i].Running {
			if jobs > capacity.MaxJobs {
				class, at := &h.Problem.Classes[k], carried.Periods[i].Start.UTC().Format(time.RFC3339)
				c.Refuse("periods", "range", "At %s so many jobs of the class %q have arrived that %s run at once, with the deadline of %s s; it can be %d at most.",
					at, fault.Clip(class.Name), fault.Plain(math.Ceil(jobs)), fault.Plain(class.DeadlineSeconds), capacity.MaxJobs)
				return
			}
		}
	}
}

// CheckOneOf refuses arrivals beside jobs that run at once, in the same period or another.
func (h *Horizon) CheckOneOf(c *strict.Checker) {
	first := slices.IndexFunc(h.Periods, func(p HorizonPeriod) bool { return p.Arrivals != nil })
	if first < 0 {
		return
	}
	c.Enter("periods")
	defer c.Leave()
	for i := range h.Periods {
		p := &h.Periods[i]
		c.Element(i)
		switch {
		case p.Jobs != nil && p.Arrivals != nil:
			c.Refuse("jobs", "one_of", "Here are jobs that run at once, and arrivals at /periods/%d/arrivals; give one of the two.", i)
		case p.Jobs != nil:
			c.Refuse("jobs", "one_of", "Here are jobs that run at once, and at /periods/%d/arrivals there are arrivals, whose jobs go on into later hours; give one of the two in all periods.", first)
		case p.Arrivals == nil && !p.Unforecast:
			c.Refuse("arrivals", "missing", "The period at /periods/%d has arrivals and this one has none; give them here too, zeros where nothing arrives.", first)
		}
		c.Leave()
	}
}

// keepWork says what became of the arrivals, and holds the plans against the work that arrived. The check computes the
// work anew from the arrivals alone; hours with too few VMs are hours without a plan.
func (c *calendar) keepWork(a *Answer, settled []settlement, stints []stint) {
	h := c.horizon
	if h.parts == nil || len(stints) == 0 {
		return
	}
	asked := h.Problem
	asked.Classes = h.asked
	start := stints[0].start.Unix()
	end := stints[len(stints)-1].end()
	for k := range asked.Classes {
		spans := h.arrivalsOf(k)
		flow := perf.NewArrivals(spans)
		if flow.Jobs() == 0 {
			continue
		}
		seconds := perf.HeldSeconds(asked.Classes[k], asked.Supply, asked.Options)
		of := &ClassArrivals{RunSeconds: seconds}
		var arrived []proof.Arrived
		for _, s := range spans {
			arrived = append(arrived, proof.Arrived(s))
			if s.From >= start && s.From < end {
				of.Jobs += s.Jobs
			}
			if s.From < start {
				of.EarlierHours += s.Jobs * h.lasting[k] * hoursBetween(&s, seconds, start, end)
			}
			if s.From < end {
				of.LaterHours += s.Jobs * h.lasting[k] * hoursBetween(&s, seconds, end, math.MaxInt64/4)
			}
		}
		t := &a.Classes[k]
		if t.AdmittedHours > 0 {
			of.LaterVMHours = of.LaterHours * t.AskedVMHours / t.AdmittedHours
		}
		var short []proof.Shortage
		of.WorkVMHours, short = proof.Work(&asked, k, arrived, h.heldBy(k, settled, stints))
		cure := ""
		if !asked.Options.OneSlotPerJob {
			cure = ` A job has less than one slot here, for which no bound on its time holds; set "one_slot_per_job" to true.`
		}
		for _, s := range short {
			a.infeasible(time.Unix(s.From, 0).UTC(), float64(s.Until-s.From)/3600, fmt.Sprintf(
				"The class %q has VMs for %s of work, and what has arrived and was admitted takes %s at full use.%s",
				fault.Clip(asked.Classes[k].Name), hoursOf("VM", s.Have), hoursOf("VM", s.Needed), cure))
			a.Status = capacity.InfeasibleStatus
		}
		of.Below = h.belowPromise(k, settled, stints)
		t.Arrivals = of
	}
}

// belowPromise finds the stints in which a class has fewer jobs at once than are promised; nil is none.
func (h *Horizon) belowPromise(class int, settled []settlement, stints []stint) (below *BelowPromise) {
	promised := h.asked[class].Jobs.Min
	for i := range stints {
		s := &settled[stints[i].situation]
		if s.status == capacity.InfeasibleStatus {
			continue
		}
		x, each := &s.Classes[class], s.filled[class]*float64(h.parts[class]) // a promise counts the jobs that VMs are held for
		admitted := x.Admitted / each
		if due := min(promised, (x.Admitted+x.Refused)/each); admitted >= due-promiseNoise*(1+due) {
			continue
		}
		if below == nil {
			below = &BelowPromise{First: stints[i].start, Promised: promised, Least: admitted}
		}
		below.Hours += float64(stints[i].seconds) / 3600
		below.Least = min(below.Least, admitted)
	}
	return below
}

// promiseNoise bounds the jobs that are missing through rounding, relative to those that are due.
const promiseNoise = 1e-9

func (s *stint) end() int64 { return s.start.Unix() + s.seconds }

// hoursBetween returns for how many hours an execution of a span runs in [from, until) on average.
func hoursBetween(s *perf.Arriving, seconds float64, from, until int64) float64 {
	until = min(until, s.Until+int64(math.Ceil(seconds)))
	if until <= from {
		return 0
	}
	one := perf.NewArrivals([]perf.Arriving{{From: s.From, Until: s.Until, Jobs: 1}})
	return one.Running(seconds, from, until) * float64(until-from) / 3600
}

// heldBy returns what a class has in each stint. Stints without a plan have nothing to check.
func (h *Horizon) heldBy(class int, settled []settlement, stints []stint) (held []proof.Held) {
	for i := range stints {
		p := &stints[i]
		if s := &settled[p.situation]; s.status != capacity.InfeasibleStatus {
			held = append(held, proof.Held{From: p.start.Unix(), Until: p.end(), VMs: s.Classes[class].VMs, Refused: s.Classes[class].Refused / h.lasting[class]})
		}
	}
	return held
}

// times returns numbers times a factor.
func times(all []float64, factor float64) []float64 {
	if all == nil {
		return nil
	}
	scaled := make([]float64, len(all))
	for i, x := range all {
		scaled[i] = x * factor
	}
	return scaled
}
