package history

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// sweepAtOnce is the number of attempts held while counting concurrent ones.
const sweepAtOnce = 200_000

// maxAtOnce returns the largest number of concurrent attempts. An attempt that ends makes room for one that starts in
// the same moment.
func maxAtOnce(all iter.Seq[Attempt]) (limit int64) {
	from, until, count := int64(math.MaxInt64), int64(math.MinInt64), int64(0)
	for a := range all {
		from, until, count = min(from, a.Start), max(until, a.Finish), count+1
	}
	if count == 0 {
		return 0
	}
	// One part of the time after the other, so that not all moments are held.
	width := (until-from)/(count/sweepAtOnce+1) + 1
	started, ended := int64(0), int64(0)
	var starts, ends []int64
	for ; from <= until; from += width {
		starts, ends = starts[:0], ends[:0]
		for a := range all {
			if a.Start >= from && a.Start < from+width {
				starts = append(starts, a.Start)
			}
			if a.Finish >= from && a.Finish < from+width {
				ends = append(ends, a.Finish)
			}
		}
		slices.Sort(starts)
		slices.Sort(ends)
		done := 0
		for _, start := range starts {
			for done < len(ends) && ends[done] <= start {
				done++
			}
			limit = max(limit, started+1-min(started, ended+int64(done)))
			started++
		}
		ended += int64(len(ends))
	}
	return limit
}

// slots returns the largest number of concurrent attempts of a kind, of any outcome: the slots that the execution had
// at its best. 0 means unknown. Spark notes the end of a task a little after its slot has another, so a chain never has
// more than its executors.
func (e *Execution) slots(k Kind) int64 {
	if e.Clock == Untimed {
		return 0
	}
	most := int64(math.MaxInt64)
	if k == Stage && e.Slots > 0 {
		most = e.Slots
	}
	return min(most, maxAtOnce(func(yield func(Attempt) bool) {
		for a := range e.Attempts.All() {
			if a.Kind == k && a.Start > 0 && a.Finish >= a.Start && !yield(a) {
				return
			}
		}
	}))
}

// busy returns the seconds in which at least one attempt of any outcome ran. The rest of an execution is its
// overhead: start, set-up, end, clean-up, and waiting for slots.
func (e *Execution) busy() float64 {
	var times []Span // apart in order, followed by some that may overlap
	apart := 0
	join := func() {
		slices.SortFunc(times, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
		apart = 0
		for _, t := range times {
			if apart > 0 && t.From <= times[apart-1].Until {
				times[apart-1].Until = max(times[apart-1].Until, t.Until)
			} else {
				times[apart] = t
				apart++
			}
		}
		times = times[:apart]
	}
	for a := range e.Attempts.All() {
		if t := (Span{max(a.Start, e.Submitted), min(a.Finish, e.Finished)}); a.Kind != Other && a.Start > 0 && t.From < t.Until {
			if times = append(times, t); len(times) > 2*apart+1000 {
				join()
			}
		}
	}
	join()
	total := int64(0)
	for _, t := range times {
		total += t.Until - t.From
	}
	return float64(total) / 1000
}
