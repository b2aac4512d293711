package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// Limits of mixed nodes.
const (
	maxNodeTypes     = 1_000
	maxNodes         = 100_000
	maxNodesByClass  = 1_000_000 // nodes times classes
	maxSteps         = 100_000
	maxCores         = 1e6
	maxSpeed         = 1e6
	minSpeed         = 1e-6
	maxMBPerSecond   = 1e9
	maxNoise         = 3
	maxHeartbeat     = 86_400 // seconds
	minBetween       = 0.001  // seconds between two changes of a node; shorter ones would keep time from passing
	residualsToCheck = 100
)

// nodes checks the nodes of the input.
func (c *checker) nodes() {
	in := c.in
	if in.Slots != (Slots{}) {
		c.add("/slots", "one_of", "There are slots beside the nodes, which have slots of their own; leave one of the two out.")
	}
	if n := len(in.Nodes); n > maxNodeTypes {
		c.add("/nodes", "range", "There are %d kinds of nodes; give %d at most.", n, maxNodeTypes)
		return
	}
	nodes, counted := int64(0), true
	first := map[string]int{}
	for i := range in.Nodes {
		n := &in.Nodes[i]
		c.at = fmt.Sprintf("/nodes/%d", i)
		if n.Type == "" || len(n.Type) > strict.MaxNameLength {
			c.add("/type", "text", "The type has %d characters; give it 1 to %d.", len(n.Type), strict.MaxNameLength)
		}
		counted = c.whole("/count", "nodes", n.Count, 0, maxNodes) && counted
		nodes += n.count()
		counted = c.nodeSlots(n.Slots) && counted
		c.number("/cores", "The number of cores", n.Cores, 0, maxCores)
		c.number("/compute_units", "The number of compute units", n.ComputeUnits, 0, maxCores)
		if n.Speed != 0 {
			c.number("/speed", "The speed", n.Speed, minSpeed, maxSpeed)
		}
		if k, known := first[n.Type]; !known {
			first[n.Type] = i
		} else if o := &in.Nodes[k]; o.speed() != n.speed() || o.Cores != n.Cores || o.ComputeUnits != n.ComputeUnits {
			c.add("/type", "premise", "Nodes of type %q differ in speed, cores or compute units from those before; give them a type of their own.", n.Type)
		}
		c.background(n.Background)
	}
	c.at = ""
	if !counted {
		return
	}
	all := in.totals()
	if sum := all.Map + all.Reduce + all.Shared; sum > maxSlots {
		c.add("/nodes", "range", "The nodes have %d slots; there can be %d at most.", sum, maxSlots)
	}
	if nodes > maxNodes || nodes*int64(len(in.Classes)) > maxNodesByClass {
		c.add("/nodes", "range", "There are %d nodes and %d classes; there can be %d nodes, and %d nodes times classes.", nodes, len(in.Classes), maxNodes, maxNodesByClass)
	}
	if all.Shared > 0 && all.Map+all.Reduce > 0 {
		c.add("/nodes", "one_of", "Some nodes have shared slots and others separate ones; give all of them shared slots, or all map and reduce slots.")
		return
	}
	c.enough("/nodes/0/slots", all)
}

func (c *checker) nodeSlots(s Slots) bool {
	ok := c.whole("/slots/map", "map slots", s.Map, 0, maxSlots)
	ok = c.whole("/slots/reduce", "reduce slots", s.Reduce, 0, maxSlots) && ok
	ok = c.whole("/slots/shared", "shared slots", s.Shared, 0, maxSlots) && ok
	if ok && s == (Slots{}) {
		c.add("/slots", "missing", "These nodes have no slots, so that nothing runs on them; give them slots, or leave them out.")
	}
	if s.Shared != 0 && (s.Map != 0 || s.Reduce != 0) {
		c.add("/slots/shared", "one_of", "The nodes have shared slots and separate ones; give shared alone, or map and reduce.")
	}
	return ok
}

func (c *checker) background(b *Background) {
	if b == nil {
		return
	}
	largest := 0.0
	residual := func(member string, x float64) bool {
		largest = max(largest, x)
		return c.number(member, "What is left of the node", x, 0, 1)
	}
	switch b.Kind {
	case ConstantBackground:
		if n := len(b.Residual); n == 0 || n > maxNodes {
			c.add("/background/residual", "range", "There are %d figures of what is left; give 1 to %d.", n, maxNodes)
			return
		}
		for i, x := range b.Residual {
			if !residual(fmt.Sprintf("/background/residual/%d", i), x) {
				return
			}
		}
	case SteppedBackground:
		if !c.steps(b, residual) {
			return
		}
	case UniformBackground:
		low := residual("/background/low", b.Low)
		if !residual("/background/high", b.High) || !low {
			return
		}
		if b.High < b.Low {
			c.add("/background/high", "order", "What is left is from %g to %g; give the smaller one as low.", b.Low, b.High)
			return
		}
		if b.EverySeconds != 0 {
			c.number("/background/every_s", "The time between changes", b.EverySeconds, minBetween, maxHorizon)
		}
	case "":
		c.add("/background/kind", "missing", "Nothing says how the background load goes; give constant, steps or uniform.")
		return
	default:
		word(c, "/background/kind", b.Kind, ConstantBackground, SteppedBackground, UniformBackground)
		return
	}
	if largest == 0 {
		c.add("/background", "premise", "Nothing is ever left of these nodes to tasks; leave them out, or give what is left.")
	}
}

func (c *checker) steps(b *Background, residual func(string, float64) bool) bool {
	if n := len(b.Steps); n == 0 || n > maxSteps {
		c.add("/background/steps", "range", "There are %d steps; give 1 to %d.", n, maxSteps)
		return false
	}
	for i, s := range b.Steps {
		at := fmt.Sprintf("/background/steps/%d", i)
		if !c.number(at+"/at_s", "The moment", s.AtSeconds, 0, maxHorizon) || !residual(at+"/residual", s.Residual) {
			return false
		}
		if i > 0 && s.AtSeconds < b.Steps[i-1].AtSeconds+minBetween {
			c.add(at+"/at_s", "order", "The step at %g s comes after the one at %g s; sort them, %g s apart at least.", s.AtSeconds, b.Steps[i-1].AtSeconds, minBetween)
			return false
		}
	}
	if last := b.Steps[len(b.Steps)-1].AtSeconds; b.RepeatSeconds != 0 && c.number("/background/repeat_s", "The time after which steps come again", b.RepeatSeconds, 0, maxHorizon) &&
		b.RepeatSeconds < last+minBetween {
		c.add("/background/repeat_s", "premise", "The steps come again after %g s, and the last is at %g s; give more time.", b.RepeatSeconds, last)
	}
	return true
}

func (c *checker) deadlines(class *Class) {
	d := class.Deadlines
	if d == nil {
		return
	}
	given := 0
	for _, is := range []bool{class.DeadlineSeconds != 0, d.AtSeconds != 0, len(d.EachSeconds) > 0, d.Low != 0 || d.High != 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		c.add("/deadlines", "one_of", "Deadlines are said in %d ways; give one of deadline_s, or of at_s, each_s, low_s and high_s under deadlines.", given)
		return
	}
	c.number("/deadlines/at_s", "The deadline", d.AtSeconds, 0, maxHorizon)
	if n := len(d.EachSeconds); n > maxSubmissions {
		c.add("/deadlines/each_s", "range", "There are %d deadlines; there can be %d at most.", n, maxSubmissions)
		return
	}
	for i, x := range d.EachSeconds {
		if !c.number(fmt.Sprintf("/deadlines/each_s/%d", i), "The deadline", x, 0, capacity.MaxSeconds) {
			return
		}
	}
	if c.number("/deadlines/low_s", "The deadline", d.Low, 0, capacity.MaxSeconds) && c.number("/deadlines/high_s", "The deadline", d.High, 0, capacity.MaxSeconds) && d.High < d.Low {
		c.add("/deadlines/high_s", "order", "Deadlines are from %g to %g s; give the smaller one as low_s.", d.Low, d.High)
	}
}

// onNodes checks a class's members about mixed nodes.
func (c *checker) onNodes(class *Class) {
	if len(c.in.Nodes) == 0 {
		for _, m := range []struct {
			name  string
			given bool
		}{
			{"rates", class.Rates != nil}, {"task_time", class.TaskTime != nil}, {"read_mb_s", class.ReadMBPerSecond != 0},
			{"cpu_load", class.CPULoad != 0}, {"min_share", class.MinShare != 0}, {"tasks/noise", class.Tasks.Noise != nil},
		} {
			if m.given {
				c.add("/"+m.name, "not_here", "This is about nodes, and the slots here are all alike; give nodes, or leave it out.")
			}
		}
		return
	}
	known := map[string]bool{}
	for i := range c.in.Nodes {
		known[c.in.Nodes[i].Type] = true
	}
	for _, name := range slices.Sorted(maps.Keys(class.Rates)) {
		at := "/rates/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if !known[name] {
			c.add(at, "unknown_name", "There are no nodes of type %q.", name)
			continue
		}
		c.number(at, "The rate", class.Rates[name], minSpeed, maxSpeed)
	}
	c.number("/read_mb_s", "What a task reads", class.ReadMBPerSecond, 0, maxMBPerSecond)
	c.number("/cpu_load", "The number of cores", class.CPULoad, 0, maxCores)
	c.number("/min_share", "The least progress share", class.MinShare, 0, 1)
	if n := class.Tasks.Noise; n != nil {
		c.number("/tasks/noise/dedicated", "The deviation", n.Dedicated, 0, maxNoise)
		c.number("/tasks/noise/loaded", "The deviation", n.Loaded, 0, maxNoise)
	}
	if class.TaskTime == nil {
		return
	}
	if len(class.Tasks.MapSeconds) > 0 {
		c.add("/tasks/map_s", "one_of", "Both measured seconds and task_time say how long maps last; leave one of them out.")
	}
	c.taskTime(class)
}

// taskTime checks that tasks take some time on every node.
func (c *checker) taskTime(class *Class) {
	t := class.TaskTime
	for _, m := range []struct {
		name string
		x    float64
	}{{"a", t.A}, {"b", t.B}, {"c", t.C}, {"d", t.D}} {
		if math.IsNaN(m.x) || math.IsInf(m.x, 0) {
			c.add("/task_time/"+m.name, "not_finite", "The coefficient is %v; give a finite number.", m.x)
			return
		}
	}
	if !c.number("/task_time/least_residual", "The least that was left", t.MinResidual, 0, 1) {
		return
	}
	for i := range residualsToCheck + 1 {
		r := float64(i) / residualsToCheck
		if s := t.Seconds(r); !(s >= perf.MinMeasuredSeconds && s <= capacity.MaxSeconds) {
			c.add("/task_time", "range", "With %g of a node left a task takes %g s; give coefficients with which it is %g at least and %g at most.", max(r, t.MinResidual), s, perf.MinMeasuredSeconds, float64(capacity.MaxSeconds))
			return
		}
	}
}

// around checks the members beside the nodes.
func (c *checker) around() {
	in := c.in
	word(c, "/known", in.Known, KnownLearned, KnownGiven)
	if in.HeartbeatSeconds != 0 {
		c.number("/heartbeat_s", "The time between heartbeats", in.HeartbeatSeconds, minBetween, maxHeartbeat)
	}
	if d := in.DataNodes; d != nil {
		c.whole("/data_nodes/count", "data nodes", d.Count, 0, maxNodes)
		c.number("/data_nodes/cap_mb_s", "The cap", d.CapMBPerSecond, 0, maxMBPerSecond)
	}
	for _, m := range []struct {
		name  string
		given bool
	}{{"known", in.Known != ""}, {"heartbeat_s", in.HeartbeatSeconds != 0}, {"data_nodes", in.DataNodes != nil}} {
		if m.given && len(in.Nodes) == 0 {
			c.add("/"+m.name, "not_here", "This is about nodes, and the slots here are all alike; give nodes, or leave it out.")
		}
	}
}
