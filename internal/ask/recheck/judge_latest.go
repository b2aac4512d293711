package recheck

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// pooled are slots that run the same kinds of tasks.
type pooled struct {
	kinds             []int
	nodes             []dispatch.SnapshotNode // with any such slots
	slots             func(*dispatch.SnapshotNode) float64
	times             []perf.TaskTime // of all tasks that may run there
	count, work, same float64         // as rates returns them
}

// pools are all slots, or those of either kind.
func (p *promising) pools() (all []pooled) {
	each := [][]int{{0, 1}}
	if p.q.Separate {
		each = [][]int{{0}, {1}}
	}
	for _, kinds := range each {
		x := pooled{kinds: kinds, slots: func(n *dispatch.SnapshotNode) (slots float64) {
			for _, k := range kinds {
				slots += float64([2]int64{n.Slots.Map, n.Slots.Reduce}[k])
			}
			return slots
		}}
		for _, n := range p.q.Nodes {
			if x.slots(&n) > 0 {
				x.nodes = append(x.nodes, n)
			}
		}
		for _, j := range slices.Concat(p.accepted, p.others, []promised{p.asked}) {
			for _, k := range kinds {
				if j.tasks[k] > 0 && j.times[k] != nil && !slices.Contains(x.times, *j.times[k]) {
					x.times = append(x.times, *j.times[k])
				}
			}
		}
		x.count, x.work, x.same = x.rates()
		all = append(all, x)
	}
	return all
}

// rates returns a pool's usable slots, the work that they do in a second, and the time of every task on each if all
// are the same. A slot works as fast as it does on the task that it slows most.
func (x *pooled) rates() (slots, work, same float64) {
	each := map[float64]bool{}
	for i := range x.nodes {
		n := &x.nodes[i]
		if n.Residual < leastUsable {
			continue
		}
		slowest := 0.0
		for k := range x.times {
			t := secondsAt(&x.times[k], n.Residual)
			slowest = max(slowest, t/secondsAt(&x.times[k], 1))
			each[t] = true
		}
		slots += x.slots(n)
		work += x.slots(n) / slowest
	}
	if len(each) == 1 {
		for same = range each {
		}
	}
	return slots, work, same
}

// latest returns a bound of a job's end in whole tasks by earliest deadline; infinite where there is none.
func (p *promising) latest(j promised) (end float64) {
	if p.pooled == nil {
		p.pooled = p.pools()
	}
	for i := range p.pooled {
		x := &p.pooled[i]
		slots, work, same := x.count, x.work, x.same
		own, waits := 0.0, false
		var ahead, running, behind, longest, aheadTasks, runningTasks, behindTasks float64
		for _, k := range x.kinds {
			if j.tasks[k] == 0 {
				continue
			}
			if j.times[k] == nil || slots == 0 {
				return math.Inf(1)
			}
			waits = waits || k == 1 && j.tasks[0] > 0
			ahead, aheadTasks = ahead-secondsAt(j.times[k], 1), aheadTasks-1
			slowest := 0.0
			for _, n := range x.nodes {
				slowest = max(slowest, secondsAt(j.times[k], n.Residual))
			}
			own += slowest
		}
		if own == 0 {
			continue
		}
		for _, o := range slices.Concat(p.accepted, p.others, []promised{p.asked}) {
			for _, k := range x.kinds {
				n := o.tasks[k]
				if n == 0 {
					continue
				}
				t := math.Inf(1)
				if o.times[k] != nil {
					t = secondsAt(o.times[k], 1)
				}
				if o.due <= j.due {
					ahead, aheadTasks = ahead+n*t, aheadTasks+n
					continue
				}
				behind, behindTasks, longest = behind+n*t, behindTasks+n, max(longest, t)
				if r := min(n, o.running[k]); r > 0 {
					running, runningTasks = running+r*t, runningTasks+r
				}
			}
		}
		if waits && behindTasks > 0 {
			running, runningTasks = min(running+slots*longest, behind), min(runningTasks+slots, behindTasks)
		}
		switch total := ahead + running; {
		case math.IsInf(total, 1):
			return total
		case same > 0:
			end += same*math.Floor((aheadTasks+runningTasks)/slots) + own
		default:
			end += total/work + own
		}
	}
	return end
}

// certain says what is certain of the ends of a verdict's jobs. Where times are too near to tell, it may say either.
func (p *promising) certain(v *dispatch.DeadlineVerdict, want map[string]any) {
	latest := p.latest(p.asked)
	want["latest_s"] = exact(number(0))
	if !math.IsInf(latest, 1) {
		want["latest_s"] = around(latest, latest)
	}
	if want["proved"] = latest <= p.asked.due; nearly(latest, p.asked.due) {
		want["proved"] = v.Proved
	}
	unproved, open := int64(0), int64(0)
	for _, a := range p.accepted {
		switch end := p.latest(a); {
		case end != a.due && nearly(end, a.due):
			open++
		case end > a.due:
			unproved++
		}
	}
	want["unproved"] = exact(whole(min(max(v.Unproved, unproved), unproved+open)))
}
