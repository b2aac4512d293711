package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/slots/dispatch"
)

// Limits of an input: larger values come from a mistaken unit, or the answer would not fit in memory.
const (
	maxSlots        = 1_000_000
	maxClasses      = 1_000
	maxUsers        = 1_000_000
	maxBatch        = 1_000_000
	maxSubmissions  = 1_000_000 // of a trace
	maxMeasured     = 100_000   // seconds of a phase
	maxPerHour      = 1e9
	maxHorizon      = 1e10 // seconds: three hundred years
	maxReplications = 1_000
	maxWeight       = 1e9
	maxSlowBy       = 1_000
	maxSpread       = 3
	maxEvents       = 1_000_000_000_000
)

// Validate returns all mistakes of an input as a *capacity.InputError with pointers into its JSON, or nil.
func Validate(in Input) error {
	c := checker{in: in}
	if len(in.Nodes) > 0 {
		c.nodes()
	} else {
		c.slots()
	}
	c.policies()
	c.classes()
	c.times()
	c.around()
	if len(c.findings) == 0 {
		return nil
	}
	return fault.Refusal(c.findings, 0)
}

// checker collects findings. Those of a class have its pointer before theirs.
type checker struct {
	in       Input
	at       string
	findings []fault.Finding
}

func (c *checker) add(member, code, format string, values ...any) {
	c.findings = append(c.findings, fault.Finding{Pointer: c.at + member, Code: code, Detail: fmt.Sprintf(format, values...)})
}

func (c *checker) whole(member, what string, n, low, high int64) bool {
	if n >= low && n <= high {
		return true
	}
	c.add(member, "range", "The number of %s is %d; give %d to %d.", what, n, low, high)
	return false
}

func (c *checker) number(member, what string, x, low, high float64) bool {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		c.add(member, "not_finite", "%s is %v; give a finite number.", what, x)
	case x < low || x > high:
		c.add(member, "range", "%s is %g; give %g to %g.", what, x, low, high)
	default:
		return true
	}
	return false
}

func word[T ~string](c *checker, member string, x T, known ...T) {
	if x == "" || slices.Contains(known, x) {
		return
	}
	var names []string
	for _, k := range known {
		names = append(names, string(k))
	}
	c.add(member, "choice", "%q is not known here; give one of %s.", string(x), strings.Join(names, ", "))
}

func (c *checker) slots() {
	s := c.in.Slots
	c.whole("/slots/map", "map slots", s.Map, 0, maxSlots)
	c.whole("/slots/reduce", "reduce slots", s.Reduce, 0, maxSlots)
	c.whole("/slots/shared", "shared slots", s.Shared, 0, maxSlots)
	if s.Shared != 0 && (s.Map != 0 || s.Reduce != 0) {
		c.add("/slots/shared", "one_of", "There are shared slots and separate ones; give shared alone, or map and reduce.")
	}
	c.enough("/slots", s)
}

// enough checks that there are slots of the needed kinds.
func (c *checker) enough(member string, s Slots) {
	reduces := false
	for _, class := range c.in.Classes {
		reduces = reduces || class.Profile.ReduceTasks > 0
	}
	if s.Shared == 0 && s.Map == 0 {
		c.add(member+"/map", "missing", "There are no slots for maps; give map slots, or shared ones.")
	}
	if s.Shared == 0 && s.Reduce == 0 && reduces {
		c.add(member+"/reduce", "missing", "There are no slots for reduces, and some class has reduces; give reduce slots, or shared ones.")
	}
}

// policies checks the policy and the compared ones.
func (c *checker) policies() {
	c.policy("/policy", c.in.Policy)
	if n := len(c.in.Compare); n > maxCompared {
		c.add("/compare", "range", "There are %d policies to compare with; there can be %d.", n, maxCompared)
		return
	}
	for i, p := range c.in.Compare {
		c.policy(fmt.Sprintf("/compare/%d", i), p)
	}
}

func (c *checker) policy(at string, p Policy) {
	rule := p.rule(c.in.DataNodes)
	var wrong *fault.InputError
	if err := rule.Validate(at); errors.As(err, &wrong) {
		c.findings = append(c.findings, wrong.Findings...)
	} else if _, err := dispatch.New(rule, dispatch.Setting{}); err != nil {
		c.add(at+"/kind", "not_here", "The policy cannot be simulated: %v.", err)
	}
	word(c, at+"/lending", p.Lending, LendAll, LendClass, LendNone)
	if !knowsShares(p.Kind) && (p.Lending == LendClass || p.Lending == LendNone) {
		c.add(at+"/lending", "not_here", "%s knows no shares, so that all slots are lent; leave lending out, or choose fair or capacity.", p.Kind)
	}
	word(c, at+"/admission", p.Admission, NoAdmission, dispatch.AdmissionPaper, dispatch.AdmissionStrict)
	if len(c.in.Nodes) == 0 {
		if p.Kind == dispatch.PolicyProgressShare || p.Kind == dispatch.PolicyMaxProgress || p.Kind == dispatch.PolicyLearned {
			c.add(at+"/kind", "not_here", "%s decides by what nodes are like, and the slots here are all alike; give nodes, or choose another policy.", p.Kind)
		}
		if p.admits() {
			c.add(at+"/admission", "not_here", "What can be promised is known of nodes, and the slots here are all alike; give nodes, or leave it out.")
		}
	}
	if p.Kind == dispatch.PolicyLearned && len(c.in.Nodes) > 0 && c.in.HeartbeatSeconds == 0 {
		c.add("/heartbeat_s", "missing", "The policy learned decides when nodes tell of themselves; say how often they do, as every 5 s.")
	}
	if p.ReducesAfter != nil {
		c.number(at+"/reduces_after", "The part of the maps", *p.ReducesAfter, 0, 1)
	}
}

func (c *checker) times() {
	in := c.in
	ok := c.number("/horizon_s", "The horizon", in.HorizonSeconds, 0, maxHorizon)
	ok = c.number("/warm_up_s", "The warm-up", in.WarmUpSeconds, 0, maxHorizon) && ok
	c.whole("/replications", "replications", int64(in.Replications), 0, maxReplications)
	c.whole("/limits/events", "events", in.Limits.Events, 0, maxEvents)
	c.whole("/limits/jobs", "jobs", in.Limits.Jobs, 0, maxBatch)
	if !ok {
		return
	}
	if in.HorizonSeconds > 0 && in.WarmUpSeconds >= in.HorizonSeconds {
		c.add("/warm_up_s", "premise", "The warm-up (%g s) leaves nothing of the horizon (%g s); make it shorter.", in.WarmUpSeconds, in.HorizonSeconds)
	}
	for _, class := range in.Classes {
		if in.HorizonSeconds == 0 && (class.Load.Kind == Closed || class.Load.Kind == Poisson) {
			c.add("/horizon_s", "missing", "The load of class %q does not end by itself; give a horizon.", class.Name)
			break
		}
	}
}

func (c *checker) classes() {
	if n := len(c.in.Classes); n == 0 || n > maxClasses {
		c.add("/classes", "range", "There are %d classes; give 1 to %d.", n, maxClasses)
		return
	}
	names := map[string]bool{}
	promised, weights := Slots{}, 0.0
	for i := range c.in.Classes {
		weights += c.in.Classes[i].weight()
	}
	for i := range c.in.Classes {
		class := &c.in.Classes[i]
		c.at = fmt.Sprintf("/classes/%d", i)
		switch {
		case class.Name == "" || utf8.RuneCountInString(class.Name) > strict.MaxNameLength:
			c.add("/name", "text", "The name has %d characters; give it 1 to %d.", utf8.RuneCountInString(class.Name), strict.MaxNameLength)
		case names[class.Name]:
			c.add("/name", "duplicate", "There are two classes %q; give each a name of its own.", class.Name)
		}
		names[class.Name] = true
		c.findings = append(c.findings, class.Profile.Findings(c.at+"/profile")...)
		c.number("/deadline_s", "The deadline", class.DeadlineSeconds, 0, capacity.MaxSeconds)
		c.number("/weight", "The weight", class.Weight, 0, maxWeight)
		c.whole("/jobs", "jobs", class.Jobs, 0, capacity.MaxJobs)
		if s := class.Slots; s != nil {
			promised.Map, promised.Reduce, promised.Shared = promised.Map+s.Map, promised.Reduce+s.Reduce, promised.Shared+s.Shared
		}
		c.share(class, weights)
		c.load(class)
		c.tasks(class.Tasks, len(class.Profile.Stages))
		c.deadlines(class)
		c.onNodes(class)
	}
	c.at = ""
	there := c.in.totals()
	member := "/slots/"
	if len(c.in.Nodes) > 0 {
		member = "/nodes/0/slots/"
	}
	for _, p := range []struct {
		name            string
		promised, there int64
	}{
		{"map", promised.Map, there.Map}, {"reduce", promised.Reduce, there.Reduce}, {"shared", promised.Shared, there.Shared},
	} {
		if p.promised > p.there {
			c.add(member+p.name, "premise", "The classes are promised %d %s slots, and there are %d; promise fewer or give more.", p.promised, p.name, p.there)
		}
	}
}

// share checks that a class that borrows no slots has some.
func (c *checker) share(class *Class, weights float64) {
	if s := class.Slots; s != nil {
		ok := c.whole("/slots/map", "map slots", s.Map, 0, maxSlots)
		ok = c.whole("/slots/reduce", "reduce slots", s.Reduce, 0, maxSlots) && ok
		if !c.whole("/slots/shared", "shared slots", s.Shared, 0, maxSlots) || !ok {
			return
		}
	}
	in := c.in
	var lending Lending // the strictest of all policies
	for _, p := range append([]Policy{in.Policy}, in.Compare...) {
		if p.Lending == LendNone || p.Lending == LendClass && lending == "" {
			lending = p.Lending
		}
	}
	if lending == "" {
		return
	}
	if lending == LendNone && class.jobs() == 0 {
		c.add("/jobs", "missing", "With lending %q each job has its part of the class's slots; say for how many jobs they are meant.", lending)
	}
	all := in.totals()
	pools := [2]int{int(all.Map), int(all.Reduce)}
	needed := [2]bool{true, class.Profile.ReduceTasks > 0}
	members := [2]string{"map", "reduce"}
	if all.Shared > 0 {
		pools, needed, members[0] = [2]int{int(all.Shared), 0}, [2]bool{true, false}, "shared"
	}
	for p, n := range class.slots(pools, weights) {
		if needed[p] && wholeSlots(n) < 1 {
			c.add("/slots", "premise", "The class's part is %.3g %s slots, and with lending %q it gets no other; give it one at least.", n, members[p], lending)
		}
	}
}

func (c *checker) load(class *Class) {
	l := class.Load
	switch l.Kind {
	case Closed:
		c.whole("/load/users", "users", l.Users, 0, maxUsers)
		word(c, "/load/think", l.Think, ThinkExponential, ThinkConstant)
		if p := class.Profile; c.number("/load/think_s", "The think time", l.ThinkSeconds, 0, capacity.MaxSeconds) &&
			l.ThinkSeconds == 0 && class.work() == 0 && p.OverheadSeconds == 0 && l.Users > 0 {
			c.add("/load/think_s", "premise", "The jobs take no time and their users do not think, so that time would never pass; give a think time, or tasks that last.")
		}
	case Poisson:
		c.number("/load/per_hour", "The number of jobs per hour", l.PerHour, 0, maxPerHour)
	case Trace:
		if n := len(l.AtSeconds); n > maxSubmissions {
			c.add("/load/at_s", "range", "The trace has %d submissions; there can be %d at most.", n, maxSubmissions)
			return
		}
		for i, at := range l.AtSeconds {
			if !c.number(fmt.Sprintf("/load/at_s/%d", i), "The submission", at, 0, maxHorizon) {
				return
			}
			if i > 0 && at < l.AtSeconds[i-1] {
				c.add(fmt.Sprintf("/load/at_s/%d", i), "order", "The submission at %g s comes after the one at %g s; sort them.", at, l.AtSeconds[i-1])
				return
			}
		}
	case Batch:
		c.whole("/load/jobs", "jobs", l.Jobs, 0, maxBatch)
		if n := len(l.AtSeconds); n > 1 {
			c.add("/load/at_s", "range", "A batch is submitted at one moment, and %d are given; give one, or a trace.", n)
		} else if n == 1 {
			c.number("/load/at_s/0", "The submission", l.AtSeconds[0], 0, maxHorizon)
		}
	case "":
		c.add("/load/kind", "missing", "Nothing says when the class's jobs are submitted; give closed, poisson, trace or batch.")
	default:
		word(c, "/load/kind", l.Kind, Closed, Poisson, Trace, Batch)
	}
}

func (c *checker) tasks(t Tasks, stages int) {
	word(c, "/tasks/kind", t.Kind, Constant, Uniform, Triangular, Lognormal, Exponential, Recorded)
	c.number("/tasks/spread", "The spread", t.Spread, 0, maxSpread)
	minSlowBy := 0.0 // 0 without stragglers
	if c.number("/tasks/slow", "The part of stragglers", t.Slow, 0, 1) && t.Slow > 0 {
		minSlowBy = 1
	}
	c.number("/tasks/slow_by", "How many times as long stragglers take", t.SlowBy, minSlowBy, maxSlowBy)
	c.measured("map_s", t.MapSeconds)
	c.measured("first_shuffle_s", t.FirstShuffleSeconds)
	c.measured("shuffle_s", t.ShuffleSeconds)
	c.measured("reduce_s", t.ReduceSeconds)
	if n := len(t.StageSeconds); n > stages {
		c.add("/tasks/stage_s", "range", "There are measured tasks of %d stages, and the profile has %d; give as many lists as there are stages.", n, stages)
		return
	}
	for i, seconds := range t.StageSeconds {
		c.measured(fmt.Sprintf("stage_s/%d", i), seconds)
	}
}

func (c *checker) measured(member string, seconds []float64) {
	if n := len(seconds); n > maxMeasured {
		c.add("/tasks/"+member, "range", "There are %d measured tasks; give %d quantiles of them at most.", n, maxMeasured)
		return
	}
	for i, s := range seconds {
		if !c.number(fmt.Sprintf("/tasks/%s/%d", member, i), "The measured task", s, 0, capacity.MaxSeconds) {
			return
		}
	}
}
