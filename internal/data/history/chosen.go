package history

import (
	"cmp"
	"iter"
	"slices"
)

// choice holds, for each task, the successful attempt that ended first.
type choice struct {
	of       *Attempts
	tasks    map[group]int     // their number in each group
	repeated map[group][]int32 // tasks with more than one successful attempt, in order
	firsts   []Attempt         // the chosen ones of these
}

// group identifies the tasks of a kind and stage.
type group struct {
	kind  Kind
	stage int32
}

func (a Attempt) group() group { return group{a.Kind, a.Stage} }

// counts reports whether the attempt can be chosen.
func (a Attempt) counts() bool { return a.Kind != Other && a.Outcome == Succeeded && !a.Again }

// All yields the chosen attempts.
func (c *choice) All() iter.Seq[Attempt] {
	return func(yield func(Attempt) bool) {
		for a := range c.of.All() {
			if a.counts() && !c.again(a) && !yield(a) {
				return
			}
		}
		for _, a := range c.firsts {
			if !yield(a) {
				return
			}
		}
	}
}

// again reports whether the task of a has more than one successful attempt.
func (c *choice) again(a Attempt) bool {
	if len(c.repeated) == 0 {
		return false
	}
	_, is := slices.BinarySearch(c.repeated[a.group()], a.Task)
	return is
}

// chosen makes the choice and counts the attempts it leaves out. It holds only the numbers of tasks, because a copy
// of a million attempts would be most of the memory.
func (e *Execution) chosen(left *LeftOut) (*choice, error) {
	c := &choice{of: &e.Attempts, tasks: map[group]int{}, repeated: map[group][]int32{}}
	for a := range e.Attempts.All() {
		switch {
		case a.Kind == Other:
			left.Other++
		case a.Outcome == Failed:
			left.Failed++
		case a.Outcome == Killed && a.Spare:
			left.Speculative++
		case a.Outcome == Killed:
			left.Killed++
		case a.Outcome == Unfinished:
			left.Unfinished++
		case a.Again:
			left.Retried++
		case a.Start == 0 || a.Finish == 0:
			return nil, e.refusal("An attempt at %s succeeded and has no start or no end on record that can be one.", a.what())
		case a.Finish < a.Start:
			return nil, e.refusal("An attempt at %s ends at %s, before its start at %s; the hosts' clocks differ, or the record is damaged. Leave the execution out.", a.what(), at(a.Finish), at(a.Start))
		default:
			c.tasks[a.group()]++
		}
	}
	numbers := make(map[group][]int32, len(c.tasks))
	for g, n := range c.tasks {
		numbers[g] = make([]int32, 0, n)
	}
	for a := range e.Attempts.All() {
		if a.counts() {
			numbers[a.group()] = append(numbers[a.group()], a.Task)
		}
	}
	for g, all := range numbers {
		slices.Sort(all)
		distinct := 0
		for i, task := range all {
			switch {
			case i == 0 || task != all[i-1]:
				distinct++
			case i == 1 || task != all[i-2]:
				c.repeated[g] = append(c.repeated[g], task)
			}
		}
		c.tasks[g] = distinct
	}
	if len(c.repeated) == 0 {
		return c, nil
	}
	for a := range e.Attempts.All() {
		if a.counts() && c.again(a) {
			c.firsts = append(c.firsts, a)
		}
	}
	ofTask := func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Task, b.Task))
	}
	slices.SortFunc(c.firsts, func(a, b Attempt) int {
		return cmp.Or(ofTask(a, b), cmp.Compare(a.Finish, b.Finish), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Host, b.Host))
	})
	before := len(c.firsts)
	c.firsts = slices.Compact(c.firsts)
	left.Repeated += int64(before - len(c.firsts))
	tried := len(c.firsts)
	c.firsts = slices.CompactFunc(c.firsts, func(a, b Attempt) bool { return ofTask(a, b) == 0 })
	left.Speculative += int64(tried - len(c.firsts))
	return c, nil
}
