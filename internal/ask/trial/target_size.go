package trial

import (
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// size says how much is simulated.
type size struct {
	hours, warmUp float64 // of a replication
	replications  int64
	events        float64 // of all, if executions take as long as planned
}

// The times of the longest execution that a replication of a check and its warm-up last at least.
const (
	leastDurations = 3
	warmDurations  = 1.5
)

// size returns how long a group of classes is simulated, so that a part of the needed executions ends. Where events are
// short there are fewer executions, and then fewer replications.
func (s *targetSearch) size(group []int, pl *capacity.Plan, part float64) (n size, err error) {
	perHour, longest, seconds := 0.0, 0.0, 0.0
	for _, i := range group {
		class, cp := &s.problem.Classes[i], &pl.Classes[i]
		if class.Profile == nil || cp.Time == nil || cp.Time.Average == nil || !(cp.Admitted >= 1) {
			continue
		}
		each := *cp.Time.Average + s.options.ThinkSeconds
		tasks := class.Profile.MapTasks + class.Profile.ReduceTasks
		for _, stage := range class.Profile.Stages {
			tasks += stage.Tasks
		}
		perHour += cp.Admitted * float64(tasks+2) * 3600 / each
		longest = max(longest, each)
		if at := slices.IndexFunc(s.classes, func(c *targeted) bool { return c.index == i }); at >= 0 {
			seconds = max(seconds, part*float64(s.classes[at].needed)/float64(s.options.Replications)*each/cp.Admitted)
		}
	}
	warm, least := warmDurations*longest, (leastDurations*part+warmDurations)*longest
	mostOfOne := part * s.eventsEach() / float64(len(s.groups())) / (perHour * s.busier) * 3600 // seconds of a single replication
	n.replications = min(s.options.Replications, int64(mostOfOne/least))
	if n.replications < minTargetReplications {
		enough := math.Ceil(float64(s.options.MaxEvents) * 1.2 * minTargetReplications * least / mostOfOne)
		return n, &fault.InputError{Findings: []fault.Finding{{Pointer: "/options/max_events", Code: "range",
			Detail: fmt.Sprintf("The limit of %d events is too low for these classes: no execution would end in many simulations.", s.options.MaxEvents),
			Hint:   &fault.Hint{Detail: fmt.Sprintf("Allow %s or more, or ask about fewer classes.", fault.Plain(enough)), Pointer: "/options/max_events", Value: enough}}}}
	}
	seconds = max(seconds*float64(s.options.Replications)/float64(n.replications)+warm, least)
	if most := mostOfOne / float64(n.replications); seconds > most {
		seconds, s.fewer = most, true
	}
	n.hours, n.warmUp = seconds/3600, warm/3600
	n.events = perHour * n.hours * float64(n.replications)
	return n, nil
}

// eventsEach returns the events that a check may take: an equal part of those that are left. A round of the search takes
// a part of that.
func (s *targetSearch) eventsEach() float64 {
	rounds, checks := max(0, searchRounds+1-s.steps), min(maxChecks+1, max(1, searchRounds+maxChecks+2-s.steps))
	return float64(max(1, s.options.MaxEvents-s.events)) / (searchPart*float64(rounds) + float64(checks))
}
