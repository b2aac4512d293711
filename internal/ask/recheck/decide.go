package recheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// near is the share by which two computations of a key may differ. Keys nearer than that, but not the same, may come
// in any order.
const near = 1e-9

// contender is a job of a snapshot, with what a choice looks at.
type contender struct {
	*dispatch.SnapshotJob
	at             int
	class          string
	known          dispatch.SnapshotClass
	ready, running [2]int64 // by kind of task
	on             map[string][2]int64
}

// snapshot is a cluster at a moment, counted for a slot.
type snapshot struct {
	*dispatch.DecideQuestion
	jobs []*contender
	node *dispatch.SnapshotNode // nil without nodes
	// the pool of the slot: all tasks, or those of its kind
	kinds []int
}

// ruling is a choice that a policy may make.
type ruling struct {
	job      *contender // nil: the slot stays idle
	kind     int
	rule, of string
	figures  map[string]float64
	ties     []dispatch.Tie // what may be said to have decided a tie; nil: nothing
	inClass  dispatch.InClass
}

func (s *snapshot) count(tasks [2]int64) (n int64) {
	for _, k := range s.kinds {
		n += tasks[k]
	}
	return n
}

// slots are those of a node that run the same tasks as the slot.
func (s *snapshot) slots(n *dispatch.SnapshotNode) int64 {
	return s.count([2]int64{n.Slots.Map, n.Slots.Reduce})
}

// next is the kind of the task that a job would run: maps first.
func (s *snapshot) next(j *contender) int {
	for _, k := range s.kinds {
		if j.ready[k] > 0 {
			return k
		}
	}
	return 0
}

func taskNumber(kind dispatch.TaskKind) int {
	if kind == dispatch.ReduceTask {
		return 1
	}
	return 0
}

var taskNames = [2]dispatch.TaskKind{dispatch.MapTask, dispatch.ReduceTask}

func snapshotOf(q *dispatch.DecideQuestion) *snapshot {
	s := &snapshot{DecideQuestion: q, kinds: []int{0, 1}}
	if q.Separate {
		s.kinds = []int{taskNumber(q.Slot.Kind)}
	}
	byName, classes := map[string]*contender{}, map[string]dispatch.SnapshotClass{}
	for _, k := range q.Classes {
		classes[k.Name] = k
	}
	for i := range q.Jobs {
		j := &contender{SnapshotJob: &q.Jobs[i], at: i, class: cmp.Or(q.Jobs[i].Class, q.Jobs[i].Name), on: map[string][2]int64{}}
		j.known = classes[j.class]
		byName[j.Name] = j
		s.jobs = append(s.jobs, j)
	}
	for _, r := range q.Running {
		j, k := byName[r.Job], taskNumber(r.Kind)
		here := j.on[r.Node]
		here[k] += r.Tasks
		j.on[r.Node] = here
		j.running[k] += r.Tasks
	}
	for _, j := range s.jobs {
		for k, t := range [2]dispatch.SnapshotTasks{j.Maps, j.Reduces} {
			switch {
			case t.Ready != nil:
				j.ready[k] = *t.Ready
			case k == 0 || j.Maps.Done == j.Maps.Total:
				j.ready[k] = t.Total - t.Done - j.running[k]
			}
		}
	}
	for i := range q.Nodes {
		if q.Nodes[i].Name == q.Slot.Node {
			s.node = &q.Nodes[i]
		}
	}
	return s
}

// before orders jobs by submission.
func (j *contender) before(o *contender) bool {
	return cmp.Or(cmp.Compare(j.SubmittedSeconds, o.SubmittedSeconds), strings.Compare(j.Name, o.Name), cmp.Compare(j.at, o.at)) < 0
}

// waiting are the jobs with a task that may start on the slot.
func (s *snapshot) waiting() (all []*contender) {
	for _, j := range s.jobs {
		if s.count(j.ready) > 0 {
			all = append(all, j)
		}
	}
	return all
}

// leading returns the jobs that may come first by their keys: no other is surely before them.
func leading(jobs []*contender, key func(*contender) []float64) (all []*contender) {
	keys := map[*contender][]float64{}
	for _, j := range jobs {
		keys[j] = key(j)
	}
	surely := func(o, j *contender) bool {
		for i, x := range keys[o] {
			switch y := keys[j][i]; {
			case x == y:
			case nearly(x, y):
				return false
			default:
				return x < y
			}
		}
		return o.before(j)
	}
	var best *contender
	for _, j := range jobs {
		if best == nil || surely(j, best) {
			best = j
		}
	}
	for _, j := range jobs {
		if j == best || !surely(best, j) {
			all = append(all, j)
		}
	}
	return all
}

func nearly(x, y float64) bool {
	return x == y || math.Abs(x-y) <= near*max(min(math.Abs(x), math.Abs(y)), near)
}

// decisions checks who gets the slot under each policy.
func (c *checking) decisions(q dispatch.DecideQuestion, a dispatch.DecideAnswer, got any) {
	s := snapshotOf(&q)
	members, _ := got.(map[string]any)
	rows, _ := members["decisions"].([]any)
	if len(a.Decisions) != len(q.Policies) {
		c.wrong("/decisions", "are %d of %d policies", len(a.Decisions), len(q.Policies))
		c.end(ChoicesCheck, "")
		return
	}
	figures := 0
	for i := range a.Decisions {
		d, at := &a.Decisions[i], fmt.Sprintf("/decisions/%d", i)
		c.differ(at+"/policy", tree(marshalled(d.Policy)), tree(marshalled(q.Policies[i].Filled())))
		c.decision(at, d, s.rulings(q.Policies[i].Filled()))
		figures += len(d.Figures)
	}
	c.end(ChoicesCheck, "Each of %d policies gives the slot to the job that comes first by its rule, and %d figures are right.", len(a.Decisions), figures)
	for i := range a.Decisions {
		d := &a.Decisions[i]
		c.differ(fmt.Sprintf("/decisions/%d", i), rows[i], map[string]any{"reason": d.Say(), "facts": tree(marshalled(d.Why.Facts(d.Job)))})
	}
	c.end(SentencesCheck, "The sentences of %d choices say their figures.", len(a.Decisions))
}

// decision compares a choice with those that the policy may make.
func (c *checking) decision(at string, d *dispatch.SlotDecision, may []ruling) {
	var wrong []string
	for _, r := range may {
		name, kind := "", dispatch.TaskKind("")
		if r.job != nil {
			name, kind = r.job.Name, taskNames[r.kind]
		}
		had := len(c.faults)
		for _, x := range []struct{ member, is, want string }{{"job", d.Job, name}, {"kind", string(d.Kind), string(kind)},
			{"rule", d.Rule, r.rule}, {"of", d.Of, r.of}, {"in_class", string(d.InClass), string(r.inClass)}} {
			if x.is != x.want {
				c.wrong(at+"/"+x.member, "is %q, and %q follows from the snapshot", x.is, x.want)
			}
		}
		c.figuresOf(at, d, r.figures)
		if d.Tie != "" && !slices.Contains(r.ties, d.Tie) || d.Tie == "" && r.ties != nil && !slices.Contains(r.ties, "") {
			c.wrong(at+"/tie", "is %q, and the snapshot has %q", d.Tie, r.ties)
		}
		if len(c.faults) == had {
			return
		}
		if wrong == nil {
			wrong = slices.Clone(c.faults[had:])
		}
		c.faults = c.faults[:had]
	}
	c.faults = append(c.faults, wrong...)
}

func (c *checking) figuresOf(at string, d *dispatch.SlotDecision, want map[string]float64) {
	if len(d.Figures) != len(want) {
		c.wrong(at+"/figures", "are %d, and there are %d", len(d.Figures), len(want))
	}
	seen := map[string]bool{}
	for i, f := range d.Figures {
		x, known := want[f.Name]
		if !known || seen[f.Name] {
			c.wrong(fmt.Sprintf("%s/figures/%d/name", at, i), "is %q, which is no figure of this rule, or there twice", f.Name)
		} else if !nearly(f.Value, x) && math.Abs(f.Value-x) > 1e-8 {
			c.wrong(fmt.Sprintf("%s/figures/%d/value", at, i), "is %v, and %v follows from the snapshot", f.Value, x)
		}
		seen[f.Name] = true
	}
}

// rulings are the choices that a policy may make; more than one only where keys are too near to tell them apart.
func (s *snapshot) rulings(p dispatch.PolicyConfig) (may []ruling) {
	waiting := s.waiting()
	switch {
	case p.Kind == dispatch.PolicyLearned:
		return s.learned(p)
	case p.Kind == dispatch.PolicyMaxProgress:
		return s.progress(p, waiting)
	case len(waiting) == 0:
		return []ruling{{rule: "idle"}}
	}
	switch p.Kind {
	case dispatch.PolicyFIFO, dispatch.PolicyEDF:
		due := func(j *contender) float64 {
			if j.DeadlineSeconds == 0 || p.Kind == dispatch.PolicyFIFO {
				return math.Inf(1)
			}
			return j.DeadlineSeconds
		}
		dues := func(j *contender) []float64 { return []float64{due(j)} }
		for _, j := range leading(waiting, dues) {
			r := ruling{job: j, rule: "order", figures: map[string]float64{"submitted_s": j.SubmittedSeconds}}
			if !math.IsInf(due(j), 1) {
				r.rule, r.figures, r.ties = "deadline", map[string]float64{"deadline_s": j.DeadlineSeconds}, tied(j, waiting, dues)
			} else {
				r.ties = tied(j, waiting, func(j *contender) []float64 { return []float64{j.SubmittedSeconds} })
			}
			may = append(may, r)
		}
	case dispatch.PolicyFair, dispatch.PolicyCapacity:
		may = s.shares(waiting, p.Kind == dispatch.PolicyCapacity)
	case dispatch.PolicyProgressShare:
		may = s.turns(p, waiting)
	}
	for i := range may {
		if r := &may[i]; r.job != nil && r.rule != "calibration" {
			r.kind = s.next(r.job)
		}
	}
	return may
}

// shares gives the slot to the class that is furthest below its share.
func (s *snapshot) shares(waiting []*contender, queues bool) (may []ruling) {
	held := map[string]float64{}
	for _, j := range s.jobs {
		held[j.class] += float64(s.count(j.running))
	}
	wishes := map[string]dispatch.SlotsShare{}
	for _, x := range s.Shares {
		wishes[x.Class] = x.SlotsShare
		if x.Reduces != nil && s.Separate && s.kinds[0] == 1 {
			wishes[x.Class] = *x.Reduces
		}
	}
	of := map[string][]*contender{}
	for _, j := range waiting {
		w := wishes[j.class]
		if (w.MaxPerJob == 0 || s.count(j.running) < w.MaxPerJob) && (w.Most == 0 || held[j.class] < float64(w.Most)) {
			of[j.class] = append(of[j.class], j)
		}
	}
	var heads []*contender
	within := func(j *contender) []float64 {
		if queues {
			return []float64{0} // the order of submission alone
		}
		return []float64{float64(s.count(j.running))}
	}
	for _, jobs := range of {
		heads = append(heads, leading(jobs, within)...)
	}
	key := func(j *contender) []float64 {
		h, w := held[j.class], wishes[j.class]
		switch {
		case h < w.Min:
			return []float64{h/w.Min - 1}
		case w.Weight > 0:
			return []float64{h / w.Weight}
		}
		return []float64{math.MaxFloat64}
	}
	for _, j := range leading(heads, key) {
		h, w := held[j.class], wishes[j.class]
		r := ruling{job: j, rule: "lent", ties: tied(j, heads, key), figures: map[string]float64{"held": h, "min": w.Min, "weight": w.Weight}}
		if h < w.Min {
			r.rule = "minimum"
		} else if w.Weight > 0 {
			r.rule = "share"
		}
		if rest := of[j.class]; len(rest) > 1 {
			if r.inClass = dispatch.InClass(tied(j, rest, within)[0]); r.inClass == "" {
				r.inClass = dispatch.InClassHeld
			}
			if !queues {
				r.figures["job_held"] = float64(s.count(j.running))
			}
		}
		may = append(may, r)
	}
	if len(may) == 0 {
		return []ruling{{rule: "idle"}}
	}
	return may
}

// secondsAt is a task's time where the part r of a node is left to it.
func secondsAt(t *perf.TaskTime, r float64) float64 {
	r = min(max(r, t.MinResidual), cmp.Or(t.MaxResidual, 1))
	return t.A*math.Exp(t.B*r) + t.C*math.Exp(t.D*r)
}
