package timetable

import (
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/schedule"
)

// Held says for how long executions that start together hold their VMs by the schedule, and when they must have ended.
type Held struct {
	Start
	Class      int     // of the problem
	ForSeconds float64 // that the schedule has VMs for them
	DueSeconds float64 // after their start; those that arrived first in their hour are due first
	VMs        float64 // of each, without rounding
}

// Held returns the starts of a schedule with what they hold.
func (q *Question) Held(starts []Start) (all []Held) {
	dues := map[int]*dueTimes{}
	for i := range starts {
		k := slices.IndexFunc(q.Problem.Classes, func(c capacity.Class) bool { return c.Name == starts[i].Class })
		c := q.Problem.Classes[k]
		on := c.OnType(starts[i].Type)
		h := Held{Start: starts[i], Class: k, ForSeconds: starts[i].RunSeconds, DueSeconds: c.DeadlineSeconds,
			VMs: slotVMs(&on, schedule.Slots{Map: starts[i].MapSlots, Reduce: starts[i].ReduceSlots})}
		wait := h.Start.Start.Sub(h.Arrived)
		if wait == 0 { // it starts as it arrives
			if c.DueSeconds > 0 {
				h.DueSeconds = min(h.DueSeconds, c.DueSeconds)
			}
			all = append(all, h)
			continue
		}
		left := c.DueSeconds - wait.Seconds()
		if c.Due != "" {
			if dues[k] == nil {
				due := newDueTimes(&c, q.zone(), q.Start().Add(-time.Hour*MaxHours), q.End())
				dues[k] = &due
			}
			left = 3600*float64(dues[k].window(h.Arrived)) - wait.Seconds()
		}
		h.DueSeconds = min(h.DueSeconds, left)
		if turns := turnsOf(h.RunSeconds); turns > 1 {
			h.ForSeconds = 3600 / float64(turns)
		} else {
			h.ForSeconds = 3600 * math.Ceil(h.RunSeconds/3600)
		}
		all = append(all, h)
	}
	return all
}
