package trial

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/schedule"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
	"example.org/headroom/internal/test/plantest"
)

// Seconds of a replay. An autoscaler asks for the VMs of an hour so long before it, and a VM is there so long after it was asked
// for. A schedule looks at the hours of arrivals ahead, and as many more until those are due.
const (
	replayLead  = 600
	replayBoot  = 300
	replayAhead = 36
	replayDue   = 12
	replayLooks = 250 // at the time, until a schedule takes the best plan so far
)

// replay is a cluster that lives through a week. At the beginning of each hour its schedule is made anew from what the one before
// leaves, and the plan of the hour follows it; or each hour is planned alone and nothing waits. Executions take drawn times. VMs
// are released when no execution holds a slot of them.
type replay struct {
	t       *testing.T
	q       timetable.Question // of the whole week
	alone   bool
	holds   int // hours for which VMs are kept that no plan has any more
	random  *rand.Rand
	drawn   map[replaySlots][]float64
	longest []schedule.Slots // of each class, for runs until the deadline
	waits   []bool

	hour    int
	at      float64 // seconds from the first hour
	now     *timetable.Followed
	plan    capacity.Plan
	ahead   capacity.Plan // of the next hour, as it is foreseen
	vms     []*replayVM
	target  int
	wanted  []int        // by hour
	queue   []*replayJob // that start as soon as they have a place and VMs
	running []*replayJob
	waiting []*replayJob
	leases  map[replayLease]*timetable.HourLeases
	replayed
}

// replayed is what became of a week. Executions are told apart by whether their class waits.
type replayed struct {
	rises    int     // boundaries at which a plan has more VMs than the one before,
	there    int     // those at which they are there,
	overtime int     // and those at which they are but for the VMs of executions that run longer than planned
	starts   int     // of VMs; as many stop
	bill     float64 // of VMs from the moment they are asked for until they are released
	lost     int     // executions that ran on a VM which was released
	begun    [2]int  // executions
	inTime   [2]int
	held     [2]int  // executions that would be in time, had they found a place and VMs at once
	refused  int     // executions that the plan refuses, or that wait until it is too late
	delay    float64 // seconds by which those that wait start after the beginning of their hour
}

// replaySlots are the slots of an execution of a class.
type replaySlots struct {
	class         int
	maps, reduces int64
}

type replayLease struct{ class, hour int }

type replayVM struct {
	there, load float64
	leaves      bool
}

type replayJob struct {
	class, hour          int // in which it starts
	waits                bool
	arrived, began, ends float64
	until                float64 // as planned
	slots                replaySlots
	vms                  float64
	holds                map[*replayVM]float64
	next                 *replayJob // starts on its slots when it ends
}

func newReplay(t *testing.T, q timetable.Question, alone bool, seed uint64) *replay {
	r := &replay{t: t, q: q, alone: alone, random: rand.New(rand.NewPCG(seed, 7)), drawn: map[replaySlots][]float64{}, leases: map[replayLease]*timetable.HourLeases{}}
	for k := range q.Problem.Classes {
		c := &q.Problem.Classes[k]
		seconds := c.DeadlineSeconds
		if c.DueSeconds > 0 {
			seconds = min(seconds, c.DueSeconds)
		}
		slots, ok := schedule.SlotsFor(perf.PlannedDemand(*c, q.Problem.Options), true, c.Profile.ReduceTasks > 0, c.SlotsPerVM, seconds)
		if !ok {
			t.Fatalf("%s has no run", c.Name)
		}
		r.longest = append(r.longest, slots)
		r.waits = append(r.waits, !alone && c.MayWait())
	}
	return r
}

// live lives through all hours.
func (r *replay) live() replayed {
	for r.hour = range r.q.Periods {
		r.begin()
		r.passHour()
	}
	return r.replayed
}

func (r *replay) moment(hour int) time.Time { return r.q.Start().Add(time.Duration(hour) * time.Hour) }

// begin makes the plan of the hour, and lets its executions start.
func (r *replay) begin() {
	r.queue = slices.DeleteFunc(r.queue, func(j *replayJob) bool { // without room in their hour, they wait again
		for i := j; j.waits && i != nil; i = i.next {
			r.waiting = append(r.waiting, i)
		}
		return j.waits
	})
	slices.SortStableFunc(r.waiting, func(a, b *replayJob) int { return cmp.Compare(a.arrived, b.arrived) })
	foreseen, before := r.ahead, r.plan
	if !r.alone {
		r.schedule()
	}
	r.plan = r.planOf(r.now, r.hour, func(class string, started float64) float64 { return min(started, admittedOf(before, class)) })
	r.ahead = capacity.Plan{}
	if r.hour+1 < len(r.q.Periods) {
		r.ahead = r.planOf(r.now, r.hour+1, func(_ string, started float64) float64 { return started })
	}
	wanted, had := vmsOf(r.plan), vmsOf(before)
	there := 0
	for _, v := range r.vms {
		if v.there <= r.at {
			there++
		}
	}
	if wanted > had && r.hour > 0 {
		over := 0.0
		for _, j := range r.running {
			if j.waits && j.until <= r.at {
				over += j.vms
			}
		}
		switch r.rises++; {
		case there >= wanted:
			r.there++
		case float64(there) >= float64(wanted)-math.Ceil(over):
			r.overtime++
		default:
			r.t.Logf("hour %d: %d VMs before, %d foreseen, %d there, %d wanted, %.1f of them for executions that run longer", r.hour, had, vmsOf(foreseen), there, wanted, over)
		}
	}
	r.wanted = append(r.wanted, wanted)
	r.aim(slices.Max(r.wanted[max(0, len(r.wanted)-1-r.holds):]))
	r.startWaiting()
}

func vmsOf(p capacity.Plan) int { return int(math.Ceil(p.VMs.Total - 1e-7)) }

func admittedOf(p capacity.Plan, class string) float64 {
	for i := range p.Classes {
		if p.Classes[i].Name == class {
			return p.Classes[i].Admitted
		}
	}
	return 0
}

// aim asks for VMs until there are as many as wanted, or lets those leave that have the least to do.
func (r *replay) aim(wanted int) {
	r.target = wanted
	slices.SortStableFunc(r.vms, func(a, b *replayVM) int { return cmp.Compare(b.load, a.load) })
	for i, v := range r.vms {
		v.leaves = i >= wanted
	}
	for len(r.vms) < wanted {
		r.vms = append(r.vms, &replayVM{there: r.at + replayBoot})
		r.starts++
	}
	r.release()
}

// release lets VMs go that leave and have nothing to do.
func (r *replay) release() {
	r.vms = slices.DeleteFunc(r.vms, func(v *replayVM) bool {
		free := v.leaves && v.load < 1e-9
		if free {
			for _, j := range r.running {
				if j.holds[v] > 1e-9 {
					r.lost++
				}
			}
		}
		return free
	})
}

// schedule makes the schedule of the hour.
func (r *replay) schedule() {
	next := r.q
	next.Periods, next.PlaceAll = nil, true
	for i, p := range r.q.Periods[r.hour:min(len(r.q.Periods), r.hour+replayAhead+replayDue)] {
		if i >= replayAhead {
			p.Arrivals = make([]float64, len(p.Arrivals))
		}
		next.Periods = append(next.Periods, p)
	}
	next.Earlier = nil
	for h := range r.hour {
		p := r.q.Periods[h]
		earlier := horizon.HorizonPeriod{Start: p.Start, Hours: 1, Arrivals: slices.Clone(p.Arrivals)}
		for k, waits := range r.waits {
			if waits {
				earlier.Arrivals[k] = 0
			}
		}
		next.Earlier = append(next.Earlier, earlier)
	}
	if r.now != nil {
		admitted := map[string]float64{}
		for _, c := range r.plan.Classes {
			admitted[c.Name] = c.Admitted
		}
		next.Before = r.now.Leaves(r.moment(r.hour), timetable.Types{}, r.q.Problem.Classes, admitted, r.seen())
		next.Settle()
	}
	once, all := &looks{r.t.Context(), replayLooks / 4}, &looks{r.t.Context(), replayLooks}
	a, err := timetable.PlanWithin(timetable.Times{AtOnce: once, Types: once, All: all}, next, nil)
	if err != nil {
		r.t.Fatalf("hour %d: %v", r.hour, err)
	}
	r.now = &timetable.Followed{Question: next, Answer: a}
}

// looks is a context that ends when it has been asked so often whether it has.
type looks struct {
	context.Context
	left int
}

func (l *looks) Err() error {
	if l.left--; l.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// seen returns what leases show at the beginning of an hour.
func (r *replay) seen() (all []timetable.HourLeases) {
	rows := map[replayLease]*timetable.HourLeases{}
	row := func(class, hour int) *timetable.HourLeases {
		at := replayLease{class, hour}
		if rows[at] == nil {
			rows[at] = &timetable.HourLeases{Class: r.q.Problem.Classes[class].Name, Hour: r.moment(hour)}
		}
		return rows[at]
	}
	for at, x := range r.leases {
		if at.hour == r.hour-1 {
			row(at.class, at.hour).Started = x.Started
		}
	}
	for _, j := range r.running {
		if j.waits {
			x := row(j.class, j.hour)
			if x.Running++; j.hour < r.hour-1 {
				x.Started++
			}
		}
	}
	for _, j := range r.waiting {
		row(j.class, int(j.arrived/3600)).Waiting++
	}
	for _, x := range rows {
		all = append(all, *x)
	}
	slices.SortFunc(all, func(a, b timetable.HourLeases) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), a.Hour.Compare(b.Hour))
	})
	return all
}

// planOf plans an hour. Of classes that start as they arrive it has the jobs that run on average, of the others those of the schedule.
func (r *replay) planOf(f *timetable.Followed, hour int, kept func(string, float64) float64) capacity.Plan {
	r.t.Helper()
	p, at := r.q.Problem, r.moment(hour)
	p.Classes, p.Options.Engine = slices.Clone(p.Classes), capacity.EngineExact
	p.Supply = r.q.Periods[hour].Priced(p.Supply)
	for k := range p.Classes {
		c := &p.Classes[k]
		if r.waits[k] {
			continue
		}
		var spans []perf.Arriving
		for h := range hour + 1 {
			from := r.q.Periods[h].Start.Unix()
			spans = append(spans, perf.Arriving{From: from, Until: from + 3600, Jobs: r.q.Periods[h].Arrivals[k]})
		}
		c.DeadlineSeconds = r.longest[k].Seconds
		flow := perf.NewArrivals(spans)
		c.Jobs = c.Jobs.Of(capacity.WholeJobs(flow.Running(perf.HeldSeconds(*c, p.Supply, p.Options), at.Unix(), at.Unix()+3600)))
	}
	if f != nil {
		f.Lay(&p, at, kept)
	}
	a, err := plan.Solve(r.t.Context(), p, nil)
	if err != nil || a.Status == capacity.InfeasibleStatus {
		r.t.Fatalf("hour %d: %v, %v", hour, err, a.Conflicts)
	}
	return a
}

// startWaiting lets those start that the schedule starts in the hour, as far as the plan has places for them.
func (r *replay) startWaiting() {
	r.waiting = slices.DeleteFunc(r.waiting, func(j *replayJob) bool {
		over := j.arrived+r.q.Problem.Classes[j.class].DueSeconds-r.at < 3600
		if over {
			r.refused++
		}
		return over
	})
	if r.alone {
		return
	}
	places := make([]int, len(r.waits))
	for k := range places {
		places[k] = int(r.plan.Classes[k].Admitted)
	}
	for _, j := range r.running {
		places[j.class]--
	}
	rows := r.now.Answer.Schedule
	if b := r.now.Question.Before; b != nil {
		rows = append(slices.Clone(b.Running), rows...)
	}
	for _, s := range rows {
		k := slices.IndexFunc(r.q.Problem.Classes, func(c capacity.Class) bool { return c.Name == s.Class })
		if !r.waits[k] || !s.Start.Equal(r.moment(r.hour)) || s.Arrived.Equal(s.Start) { // a lease shows it
			continue
		}
		turns := int64(max(1, math.Floor(3600/s.RunSeconds)))
		for n := s.Jobs; n > 0 && places[k] > 0; n -= turns {
			places[k]--
			var first, last *replayJob
			for range min(turns, n) {
				i := slices.IndexFunc(r.waiting, func(j *replayJob) bool { return j.class == k })
				if i < 0 {
					break
				}
				j := r.waiting[i]
				r.waiting = slices.Delete(r.waiting, i, i+1)
				j.next, j.slots, j.until = nil, replaySlots{k, s.MapSlots, s.ReduceSlots}, r.at+3600*math.Ceil(s.RunSeconds/3600)
				if first == nil {
					first = j
				} else {
					last.next = j
				}
				last = j
			}
			if first != nil {
				r.queue = append(r.queue, first)
			}
		}
	}
}

// passHour lets executions arrive, start and end until the next hour.
func (r *replay) passHour() {
	begins := r.at
	type arrival struct {
		at    float64
		class int
	}
	var arrivals []arrival
	for k, n := range r.q.Periods[r.hour].Arrivals {
		for i := range int(n) {
			arrivals = append(arrivals, arrival{begins + 3600*(float64(i)+0.5)/n, k})
		}
	}
	slices.SortStableFunc(arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	asked := false
	r.start()
	for {
		next := begins + 3600
		if !asked {
			next = min(next, begins+3600-replayLead)
		}
		if len(arrivals) > 0 {
			next = min(next, arrivals[0].at)
		}
		for _, j := range r.running {
			next = min(next, j.ends)
		}
		for _, v := range r.vms {
			if v.there > r.at {
				next = min(next, v.there)
			}
		}
		r.bill += float64(len(r.vms)) * (next - r.at) / 3600 * r.q.Periods[r.hour].OnDemandPrice.InexactFloat64()
		r.at = next
		if !asked && r.at >= begins+3600-replayLead {
			asked = true
			if wanted := vmsOf(r.ahead); wanted > r.target {
				r.aim(wanted)
			}
		}
		if len(arrivals) > 0 && arrivals[0].at <= r.at {
			r.arrive(arrivals[0].class)
			arrivals = arrivals[1:]
		}
		r.end()
		r.start()
		r.release()
		if r.at >= begins+3600 {
			return
		}
	}
}

// arrive lets an execution arrive. It is refused where the plan refuses some of its class, and has no place for it.
func (r *replay) arrive(k int) {
	j := &replayJob{class: k, arrived: r.at, waits: r.waits[k]}
	if j.waits {
		r.waiting = append(r.waiting, j)
		return
	}
	if cp := &r.plan.Classes[k]; cp.Refused > 0 && float64(r.runningOf(k)) >= cp.Admitted {
		r.refused++
		return
	}
	j.slots = replaySlots{k, r.longest[k].Map, r.longest[k].Reduce}
	r.queue = append(r.queue, j)
}

func (r *replay) runningOf(k int) (n int) {
	for _, j := range r.running {
		if j.class == k {
			n++
		}
	}
	return n
}

// end ends executions, and lets the next one have their slots.
func (r *replay) end() {
	r.running = slices.DeleteFunc(r.running, func(j *replayJob) bool {
		if j.ends > r.at {
			return false
		}
		for v, share := range j.holds {
			v.load -= share
		}
		r.judge(j)
		if j.next != nil {
			r.queue = append(r.queue, j.next)
		}
		return true
	})
}

// judge counts an execution that has ended. One that waited runs within its deadline, and the first of its hour of arrivals is due first.
func (r *replay) judge(j *replayJob) {
	c := &r.q.Problem.Classes[j.class]
	kind, late := 0, j.began-j.arrived // before it started
	last := c.DeadlineSeconds
	if j.waits {
		kind, late = 1, j.began-3600*float64(j.hour)
		last = min(last, c.DueSeconds+3600*(math.Floor(j.arrived/3600)-float64(j.hour)))
	}
	r.begun[kind]++
	switch seconds := j.ends - j.began; {
	case late+seconds <= last*(1+capacity.PremiseSlack):
		r.inTime[kind]++
	case seconds <= last*(1+capacity.PremiseSlack):
		r.held[kind]++
	}
}

// start starts executions that have a place and slots.
func (r *replay) start() {
	r.queue = slices.DeleteFunc(r.queue, func(j *replayJob) bool {
		if !j.waits && float64(r.runningOf(j.class)) >= r.plan.Classes[j.class].Admitted {
			return false
		}
		c := &r.q.Problem.Classes[j.class]
		left := float64(j.slots.maps)/float64(c.SlotsPerVM.Map) + float64(j.slots.reduces)/float64(c.SlotsPerVM.Reduce)
		j.vms = left
		room := 0.0
		for _, v := range r.vms {
			if v.there <= r.at {
				room += 1 - v.load
			}
		}
		if room < left-1e-6 {
			return false
		}
		j.holds = map[*replayVM]float64{}
		for _, leaving := range []bool{false, true} {
			for _, v := range r.vms {
				if v.there <= r.at && v.leaves == leaving && left > 0 {
					share := min(left, 1-v.load)
					if share > 0 {
						v.load, left, j.holds[v] = v.load+share, left-share, share
					}
				}
			}
		}
		j.began, j.hour, j.ends = r.at, r.hour, r.at+r.seconds(j.slots)
		if j.waits {
			r.delay += r.at - 3600*float64(r.hour)
			at := replayLease{j.class, r.hour}
			if r.leases[at] == nil {
				r.leases[at] = &timetable.HourLeases{}
			}
			r.leases[at].Started++
		}
		r.running = append(r.running, j)
		return true
	})
}

// seconds draws how long an execution takes on its own slots.
func (r *replay) seconds(of replaySlots) float64 {
	if r.drawn[of] == nil {
		const jobs = 40
		c := &r.q.Problem.Classes[of.class]
		slots := sim.Slots{Map: jobs * of.maps, Reduce: jobs * of.reduces}
		work, err := sim.New(sim.Input{
			Slots: slots, Policy: sim.Policy{PolicyConfig: dispatch.PolicyConfig{Kind: dispatch.PolicyKind(SimulateFair)}, Lending: sim.LendNone},
			Classes: []sim.Class{{Name: c.Name, Profile: *c.Profile, Slots: &slots, Jobs: jobs, Load: sim.Load{Kind: sim.Batch, Jobs: jobs}}}, Seed: 5, Replications: 5})
		if err != nil {
			r.t.Fatal(err)
		}
		work.Finished = func(_ int, x sim.Execution) { r.drawn[of] = append(r.drawn[of], x.FinishedSeconds) }
		if err := work.Work(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
	}
	return r.drawn[of][r.random.IntN(len(r.drawn[of]))]
}

// add adds up weeks.
func (x *replayed) add(y replayed) {
	x.rises, x.there, x.overtime, x.starts = x.rises+y.rises, x.there+y.there, x.overtime+y.overtime, x.starts+y.starts
	x.bill, x.lost, x.refused, x.delay = x.bill+y.bill, x.lost+y.lost, x.refused+y.refused, x.delay+y.delay
	for kind := range x.begun {
		x.begun[kind], x.inTime[kind], x.held[kind] = x.begun[kind]+y.begun[kind], x.inTime[kind]+y.inTime[kind], x.held[kind]+y.held[kind]
	}
}

// met returns the part of the executions that ended in time.
func (x *replayed) met() float64 {
	return float64(x.inTime[0]+x.inTime[1]) / float64(max(1, x.begun[0]+x.begun[1]))
}

// Clusters live through a week in which each hour has a schedule of its own, beside the same week in which each hour is planned alone.
// VMs that were asked for ahead are there when an hour begins, none is released under an execution, and the bill is lower. VMs start about
// as often, and half as often where a start costs five VM-hours and VMs are held for an hour. Of what starts, nearly all ends in time where classes have a target: the rest waits for a place, because plans have the jobs of
// an hour on average. HEADROOM_LONG has thirty clusters.
func TestWeeksAreLivedHourByHour(t *testing.T) {
	hours, clusters := plantest.Trials(30, 168), plantest.Trials(1, 30)
	for _, of := range []struct {
		target, price float64 // of a start, in VM-hours at the first price
		holds         int
		most          float64 // of the starts where hours are planned alone, over many weeks
	}{{most: 1.5}, {target: 0.99, most: 1.5}, {0.99, 5, 1, 0.5}} {
		target := of.target
		var all [2]replayed
		worst := 1.0
		for seed := range uint64(clusters) {
			q := weekOf(t, study.DrawCluster(seed+1, hours, 12, 50, replayDue)).Question
			start := &capacity.VMStart{LeadSeconds: replayBoot} // as plans follow schedules
			start.Price.Decimal = q.Periods[0].OnDemandPrice.Mul(decimal.NewFromFloat(of.price))
			q.Problem.Supply.Start = start
			if target > 0 {
				promise(t, &q.Problem, target)
			}
			var week [2]replayed
			for n, alone := range []bool{true, false} {
				life := newReplay(t, q, alone, seed)
				if !alone {
					life.holds = of.holds
				}
				week[n] = life.live()
				all[n].add(week[n])
			}
			worst = min(worst, week[1].met())
			t.Logf("cluster %d, %+v: alone %+v, following %.3f %+v", seed+1, of, week[0], week[1].met(), week[1])
		}
		alone, follows := &all[0], &all[1]
		t.Logf("%d weeks, %+v: at %d of %d boundaries with more VMs they are there, and at %d more but for overtime. %d VMs start, beside %d where hours are planned alone, and the bill is %.1f %% lower.",
			clusters, of, follows.there, follows.rises, follows.overtime, follows.starts, alone.starts, 100*(1-follows.bill/alone.bill))
		t.Logf("%.4f of %d executions end in time, %.4f in the worst cluster; %.4f would if each found its place at once. Where hours are planned alone %.4f do. Those that wait start %.0f s late on average. %d are refused, and %d where hours are planned alone.",
			follows.met(), follows.begun[0]+follows.begun[1], worst, follows.met()+float64(follows.held[0]+follows.held[1])/float64(follows.begun[0]+follows.begun[1]), alone.met(), follows.delay/float64(max(1, follows.begun[1])), follows.refused, alone.refused)
		most := of.most
		if clusters == 1 { // its first hour starts a part of them
			most = max(most, 1)
		}
		if unforeseen := follows.rises - follows.there - follows.overtime; follows.lost+alone.lost > 0 || follows.there == 0 || unforeseen > follows.rises/50 || follows.bill > alone.bill || float64(follows.starts) > most*float64(alone.starts) {
			t.Errorf("%+v: %d executions lost their VMs, at %d boundaries more were needed than foreseen, VMs started %d times, beside %d, and the bill is %.2f, beside %.2f",
				of, follows.lost+alone.lost, unforeseen, follows.starts, alone.starts, follows.bill, alone.bill)
		}
		begun := float64(follows.begun[0] + follows.begun[1])
		// least is a share below which the executions of a true one fall once in a thousand times.
		least := func(share float64) float64 { return share - 3*math.Sqrt(share*(1-share)/begun) }
		if found := float64(follows.held[0]+follows.held[1]) / begun; target > 0 && (follows.met() < least(0.98) || follows.met()+found < least(0.99)) {
			t.Errorf("target %g: %.4f end in time, and %.4f would if they found their places at once", target, follows.met(), follows.met()+found)
		}
	}
}
