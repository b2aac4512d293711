package capacity

import (
	"fmt"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// Findings returns the faults of the profile, with JSON pointers below pointer.
func (p Profile) Findings(pointer string) []fault.Finding {
	c := strict.Checker{Base: pointer}
	p.Check(&c)
	return c.Findings
}

// Check refuses profiles that no execution can have. Where there are no reduce tasks the reduce
// figures mean nothing: they must be sensible numbers, no more.
func (p *Profile) Check(c *strict.Checker) {
	if p.Stages != nil {
		p.checkStages(c)
		return
	}
	c.Whole("map_tasks", "The number of map tasks", "tasks", p.MapTasks, 1, MaxTasks)
	c.Whole("reduce_tasks", "The number of reduce tasks", "tasks", p.ReduceTasks, 0, MaxTasks)
	checkPhase(c, "map", "map_avg_s", "map_max_s", p.MapTasks, p.MapAvgSeconds, p.MapMaxSeconds)
	// The first wave has at most as many shuffles as there are reduce tasks, so that what is
	// impossible for all of them is impossible for it.
	checkPhase(c, "first shuffle", "first_shuffle_avg_s", "first_shuffle_max_s", p.ReduceTasks, p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds)
	checkPhase(c, "shuffle", "shuffle_avg_s", "shuffle_max_s", p.ReduceTasks, p.ShuffleAvgSeconds, p.ShuffleMaxSeconds)
	checkPhase(c, "reduce", "reduce_avg_s", "reduce_max_s", p.ReduceTasks, p.ReduceAvgSeconds, p.ReduceMaxSeconds)
	c.Number("overhead_s", "The overhead", "seconds", p.OverheadSeconds, MaxSeconds)
}

func (p *Profile) checkStages(c *strict.Checker) {
	for _, also := range [...]struct {
		name  string
		given bool
	}{
		{"map_tasks", p.MapTasks != 0}, {"reduce_tasks", p.ReduceTasks != 0}, {"map_avg_s", p.MapAvgSeconds != 0}, {"map_max_s", p.MapMaxSeconds != 0},
		{"first_shuffle_avg_s", p.FirstShuffleAvgSeconds != 0}, {"first_shuffle_max_s", p.FirstShuffleMaxSeconds != 0},
		{"shuffle_avg_s", p.ShuffleAvgSeconds != 0}, {"shuffle_max_s", p.ShuffleMaxSeconds != 0},
		{"reduce_avg_s", p.ReduceAvgSeconds != 0}, {"reduce_max_s", p.ReduceMaxSeconds != 0},
	} {
		if also.given {
			c.Refuse("stages", "one_of", "The profile has stages and %q as well; give stages and the overhead alone, or the figures of maps and reduces.", also.name)
			break
		}
	}
	c.Number("overhead_s", "The overhead", "seconds", p.OverheadSeconds, MaxSeconds)
	c.Enter("stages")
	defer c.Leave()
	switch n := len(p.Stages); {
	case n == 0:
		c.Refuse("", "missing", "There is no stage; give at least one, or leave the stages out and give the figures of maps and reduces.")
	case n > MaxStages:
		c.Refuse("", "too_many", "There are %d stages; there can be %d at most.", n, MaxStages)
		return
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		c.Element(i)
		if s.Name != "" {
			c.Name(s.Name)
		}
		c.Whole("tasks", "The number of tasks", "tasks", s.Tasks, 1, MaxTasks)
		checkPhase(c, "stage", "avg_s", "max_s", s.Tasks, s.AvgSeconds, s.MaxSeconds)
		c.Leave()
	}
}

// checkPhase checks the mean and the longest of a phase's tasks: mean <= longest <= tasks·mean.
func checkPhase(c *strict.Checker, phase, avg, longest string, tasks int64, mean, most float64) {
	ok := c.Number(avg, "The mean task", "seconds", mean, MaxSeconds)
	ok = c.Number(longest, "The longest task", "seconds", most, MaxSeconds) && ok
	if !ok || tasks < 1 {
		return
	}
	n := float64(tasks)
	switch {
	case tasks == 1 && differ(mean, most):
		c.Found(longest, "premise", fmt.Sprintf("With one task the mean and the longest %s task are the same, not %s and %s seconds.", phase, fault.Plain(mean), fault.Plain(most)),
			c.Hint(longest, mean, "Set it to %s.", fault.Plain(mean)))
	case most < mean*(1-PremiseSlack):
		c.Found(longest, "premise", fmt.Sprintf("The longest %s task (%s seconds) is shorter than the mean (%s).", phase, fault.Plain(most), fault.Plain(mean)),
			c.Hint(longest, mean, "Set it to %s at least; perhaps the two are swapped.", fault.Plain(mean)))
	case n*mean < most*(1-PremiseSlack):
		c.Found(avg, "premise", fmt.Sprintf("%d tasks with a mean of %s seconds take %s together, less than the longest %s task alone (%s).", tasks, fault.Plain(mean), fault.Plain(n*mean), phase, fault.Plain(most)),
			c.Hint(avg, most/n, "The mean must be %s at least.", fault.Plain(most/n)))
	}
}

func differ(x, y float64) bool { return max(x, y)-min(x, y) > PremiseSlack*max(x, y) }
