package recheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// leastUsable is the part of its processors from which on a node's slots count for promises.
const leastUsable = 0.05

// promised is a job with the times of its tasks.
type promised struct {
	name    string
	due     float64 // from now; infinite without a deadline
	tasks   [2]float64
	running [2]float64
	times   [2]*perf.TaskTime
}

// promising holds the slots and jobs of a question of a promise.
type promising struct {
	q        *dispatch.JudgeQuestion
	accepted []promised // by deadline
	others   []promised // without a deadline
	asked    promised
	pooled   []pooled
	counts   map[countedFor]slotCount
}

// countedFor names slots by what their count depends on.
type countedFor struct {
	kind int
	time *perf.TaskTime
	more float64
}

// slotCount counts slots: how many there are, a task's time summed over them, and the number with each time.
type slotCount struct {
	n, seconds float64
	each       [][2]float64
}

func promisingOf(q *dispatch.JudgeQuestion) *promising {
	p := &promising{q: q, counts: map[countedFor]slotCount{}}
	of := func(j *dispatch.SnapshotJob) promised {
		x := promised{name: j.Name, due: j.DeadlineSeconds - q.NowSeconds, tasks: [2]float64{float64(j.Maps.Total - j.Maps.Done), float64(j.Reduces.Total - j.Reduces.Done)}}
		for i := range q.Classes {
			if q.Classes[i].Name == cmp.Or(j.Class, j.Name) {
				x.times = [2]*perf.TaskTime{q.Classes[i].TaskTime, q.Classes[i].ReduceTaskTime}
			}
		}
		return x
	}
	for i := range q.Jobs {
		j := of(&q.Jobs[i])
		for _, r := range q.Running {
			if r.Job == j.name {
				j.running[taskNumber(r.Kind)] += float64(r.Tasks)
			}
		}
		if q.Jobs[i].DeadlineSeconds > 0 {
			p.accepted = append(p.accepted, j)
		} else {
			j.due = math.Inf(1)
			p.others = append(p.others, j)
		}
	}
	slices.SortFunc(p.accepted, func(a, b promised) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.name, b.name)) })
	p.asked = of(&q.Job)
	return p
}

// slots counts those that run tasks of a kind, with the time of such a task on each; more dedicated ones are added.
func (p *promising) slots(kind int, t *perf.TaskTime, more float64) slotCount {
	of := countedFor{kind, t, more}
	c, known := p.counts[of]
	if known {
		return c
	}
	add := func(n, residual float64) {
		if c.n += n; t != nil {
			c.seconds += n * secondsAt(t, residual)
			c.each = append(c.each, [2]float64{n, secondsAt(t, residual)})
		}
	}
	for i := range p.q.Nodes {
		x := &p.q.Nodes[i]
		here := x.Slots.Map + x.Slots.Reduce
		if p.q.Separate {
			here = [2]int64{x.Slots.Map, x.Slots.Reduce}[kind]
		}
		if here > 0 && x.Residual >= leastUsable {
			add(float64(here), x.Residual)
		}
	}
	if more > 0 {
		add(more, 1)
	}
	p.counts[of] = c
	return c
}

// need is the time of all slots that a job takes: n tasks of a kind take n times the mean time, by the number of slots.
func (p *promising) need(j *promised, more float64) (seconds float64, counted bool) {
	counted = true
	for k, tasks := range j.tasks {
		switch c := p.slots(k, j.times[k], more); {
		case tasks == 0:
		case c.n == 0 || j.times[k] == nil:
			counted = false
		default:
			seconds += tasks * c.seconds / c.n / c.n
		}
	}
	return seconds, counted
}

// margin is the least time to spare of any demand of a promise, as a part of the times compared; it is negative where
// the promise cannot be kept.
func (p *promising) margin(j promised, more float64) float64 {
	own, counted := p.need(&j, more)
	if !counted || j.due <= 0 {
		return math.Inf(-1)
	}
	strictly := p.q.Mode == dispatch.AdmissionStrict
	before, least := 0.0, math.Inf(1)
	beside := func(need, due float64) { least = min(least, (due-need)/max(math.Abs(due), math.Abs(need))) }
	passed := false
	for i := range p.accepted {
		a := &p.accepted[i]
		if a.due > j.due && !passed {
			beside(before+own, j.due)
			passed = true
		}
		need, _ := p.need(a, more)
		if before += need; passed && strictly {
			beside(before+own, a.due)
		}
	}
	if !passed {
		beside(before+own, j.due)
	}
	for k, tasks := range j.tasks {
		if each := p.slots(k, j.times[k], more).each; strictly && tasks > 0 {
			if least = min(least, 1-alone(each, tasks)/j.due); math.Abs(least) < near && p.ends(each, tasks, j.due) {
				least = max(least, 0)
			}
		}
	}
	return least
}

// ends reports whether whole tasks end in a time on slots of their own.
func (p *promising) ends(each [][2]float64, tasks, within float64) bool {
	for _, x := range each {
		tasks -= x[0] * math.Floor(within/x[1])
	}
	return tasks <= 0
}

// alone is the time in which whole tasks end on slots of their own: the first moment by which that many have ended.
func alone(each [][2]float64, tasks float64) float64 {
	switch {
	case tasks == 0:
		return 0
	case len(each) == 0:
		return math.Inf(1)
	}
	done := func(within float64) (n float64) {
		for _, x := range each {
			n += x[0] * math.Floor(within/x[1]*(1+1e-13))
		}
		return n
	}
	low, high := 0.0, 1.0
	for done(high) < tasks {
		high *= 2
	}
	for range 200 {
		if middle := (low + high) / 2; done(middle) >= tasks {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// judgement checks whether a deadline can be promised.
func (c *checking) judgement(q dispatch.JudgeQuestion, a dispatch.JudgeAnswer, got any) {
	p, v := promisingOf(&q), a.Verdict
	members, _ := got.(map[string]any)
	own, counted := p.need(&p.asked, 0)
	usable, slotless := 0.0, false
	pools := 1
	if q.Separate {
		pools = 2
	}
	for k := range pools {
		usable += p.slots(k, nil, 0).n
	}
	for k, tasks := range p.asked.tasks {
		slotless = slotless || tasks > 0 && p.slots(k, nil, 0).n == 0
	}
	if slotless {
		usable = 0
	}
	uncounted := int64(0)
	for i := range p.accepted {
		if _, all := p.need(&p.accepted[i], 0); !all {
			uncounted++
		}
	}
	want := map[string]any{"mode": string(q.Mode), "deadline_s": about(number(p.asked.due)), "usable_slots": exact(number(usable)),
		"accepted": exact(whole(int64(len(p.accepted)))), "uncounted": exact(whole(uncounted)), "times": []any{}, "assumed": false}
	p.certain(&v, want)
	margin := p.margin(p.asked, 0)
	switch {
	case !counted:
		want["kept"], want["missed"] = false, []any{}
		for _, name := range []string{"demand_s", "late_s", "alone_s", "task_s"} {
			want[name] = nothing()
		}
	default:
		if math.Abs(margin) > near {
			want["kept"] = margin > 0
		} else if (margin >= 0) != v.Kept {
			c.doubt("/verdict/kept", "is %v, and the times are too near to tell", v.Kept)
		}
		p.times(&v, own, want)
	}
	c.differ("/verdict", members["verdict"], want)
	code := dispatch.RefusalReason("")
	switch {
	case v.Kept:
	case usable == 0:
		code = dispatch.NoSlots
	case !counted && p.asked.due != 0:
		code = dispatch.Unmeasured
	default:
		code = dispatch.DeadlineMissed
	}
	if a.Code != code {
		c.wrong("/code", "is %q, and %q follows from the verdict", a.Code, code)
	}
	c.end(PromiseCheck, "Beside %s promised before it, the job is judged rightly, and every time is right.",
		fault.Plural(int64(len(p.accepted)), "job"))
	if code == dispatch.DeadlineMissed {
		c.cures(p, v.Cures)
	} else if v.Cures != nil {
		c.wrong("/verdict/cures", "are there, and nothing is refused that they could cure")
	}
	c.end(CuresCheck, "Each cure that is named is one, and the least of its kind.")
	v.Separate = q.Separate
	facts := v.Facts(cmp.Or(q.Job.Class, q.Job.Name))
	c.differ("", got, map[string]any{"reason": facts.Text(), "facts": tree(marshalled(facts))})
	c.end(SentencesCheck, "The sentences and %d facts say the figures of the verdict.", len(facts))
}

// times adds the times of a verdict to what it must say.
func (p *promising) times(v *dispatch.DeadlineVerdict, own float64, want map[string]any) {
	before, demand := 0.0, own
	missed := []any{}
	for i := range p.accepted {
		a := &p.accepted[i]
		need, _ := p.need(a, 0)
		before += need
		if a.due <= p.asked.due {
			demand = before + own
			continue
		}
		late := before + own - a.due
		said := len(missed) < len(v.Missed) && v.Missed[len(missed)].Name == a.name
		if late > 0 && !nearly(before+own, a.due) || nearly(before+own, a.due) && said {
			missed = append(missed, map[string]any{"id": a.name, "name": a.name, "due_s": around(a.due, a.due), "late_s": around(late, a.due),
				"late_anyway_s": around(max(0, before-a.due), a.due)})
		}
	}
	longest, seconds, tasks := 0.0, 0.0, 0.0
	for k, n := range p.asked.tasks {
		if c := p.slots(k, p.asked.times[k], 0); n > 0 {
			longest = max(longest, alone(c.each, n))
			seconds, tasks = seconds+n*c.seconds/c.n, tasks+n
		}
	}
	late := max(0, demand-p.asked.due)
	if p.q.Mode == dispatch.AdmissionStrict {
		late = max(late, longest-p.asked.due)
	}
	want["demand_s"], want["alone_s"], want["task_s"] = around(demand, demand), around(longest, longest), around(seconds/max(tasks, 1), 1)
	want["late_s"], want["missed"] = around(late, max(demand, longest)), missed
}

// around is a difference of times, which loses what the times lose.
func around(x, of float64) figure {
	return figure{number(x), number(near * (1 + math.Abs(x) + math.Abs(of)))}
}

// cures checks that each cure is one, and that nothing less would do.
func (c *checking) cures(p *promising, said *dispatch.DeadlineCures) {
	least := dispatch.DeadlineCures{}
	if said != nil {
		least = *said
	}
	must := func(at string, is bool, margin float64, what string) {
		if is != (margin >= 0) && math.Abs(margin) > near {
			c.wrong("/verdict/cures/"+at, "%s", what)
		}
	}
	due := func(x float64) float64 { j := p.asked; j.due = x; return p.margin(j, 0) }
	if x := least.DeadlineSeconds; x != 0 {
		must("deadline_s", true, due(x), fmt.Sprintf("is %v, and that deadline cannot be promised either", x))
		if x <= p.asked.due {
			c.wrong("/verdict/cures/deadline_s", "is %v, which is no later than asked for", x)
		}
	}
	for _, x := range p.laterDeadlines() {
		if x = math.Ceil(x*1e3) / 1e3; (least.DeadlineSeconds == 0 || math.Ceil(x) < least.DeadlineSeconds-1e-6) && due(x) > near {
			c.wrong("/verdict/cures/deadline_s", "is %v, and %v can be promised", least.DeadlineSeconds, x)
			break
		}
	}
	slots := func(n float64) float64 { return p.margin(p.asked, n) }
	if n := float64(least.DedicatedSlots); n > 0 {
		must("dedicated_slots", true, slots(n), fmt.Sprintf("are %v, and these do not help", n))
		must("dedicated_slots", false, slots(n-1), fmt.Sprintf("are %v, and one less would do", n))
	} else {
		must("dedicated_slots", false, slots(100_000), "are missing, and 100,000 more slots would do")
	}
	maps := func(n float64) float64 { j := p.asked; j.tasks[0] = n; return p.margin(j, 0) }
	n := float64(least.Maps)
	if n > 0 {
		must("maps", true, maps(n), fmt.Sprintf("are %v, and so many cannot be promised", n))
	}
	if n+1 <= p.asked.tasks[0] {
		must("maps", false, maps(n+1), fmt.Sprintf("are %v, and one more can be promised", n))
	}
}

// laterDeadlines are the earliest deadlines that could be kept before each accepted job, and after the last.
func (p *promising) laterDeadlines() (all []float64) {
	own, _ := p.need(&p.asked, 0)
	longest := 0.0
	for k, n := range p.asked.tasks {
		if n > 0 && p.q.Mode == dispatch.AdmissionStrict {
			longest = max(longest, alone(p.slots(k, p.asked.times[k], 0).each, n))
		}
	}
	before, from := 0.0, p.asked.due
	add := func() { all = append(all, max(before+own, longest, from)+1e-6) } // infinite where nothing is known of a task
	for i := range p.accepted {
		a := &p.accepted[i]
		if a.due > p.asked.due {
			add()
			from = a.due
		}
		need, _ := p.need(a, 0)
		before += need
	}
	add()
	return all
}
