package history

import (
	"cmp"
	"fmt"
	"slices"
)

// Span is the time of an execution, from its submission to its end, in milliseconds since 1970.
type Span struct{ From, Until int64 }

// Span returns the time of the execution, with any outcome: it held slots, or waited for them. An undated execution,
// or one without a recorded end, has none.
func (e *Execution) Span() (s Span, ok bool) {
	s = Span{e.Submitted, e.Finished}
	if e.Clock != Dated {
		return s, false
	}
	for a := range e.Attempts.All() {
		if e.Submitted == 0 && a.Start > 0 && (s.From == 0 || a.Start < s.From) {
			s.From = a.Start
		}
		if e.Finished == 0 && e.Outcome != Unfinished {
			s.Until = max(s.Until, a.Finish)
		}
	}
	return s, s.From > 0 && s.Until > s.From
}

// Hour holds the number of concurrent executions of a job in an hour, and of those that arrived in it.
type Hour struct {
	Hour    int32   // since 1970, as capacity.HourOf counts
	Average float64 // over the hour
	Most    int64
	Arrived int64
}

// MaxHours bounds a measurement of concurrency to some ten years.
const MaxHours = 88_000

const hourMillis = 3_600_000

// Concurrency returns the number of concurrent executions for each hour from the first to the last. It is that of the
// cluster they ran on: how many arrive says more of another one.
func Concurrency(spans []Span) ([]Hour, error) {
	type change struct {
		at int64
		by int64
	}
	var changes []change
	for _, s := range spans {
		if s.Until <= s.From {
			return nil, Refusal{Where: "an execution", Detail: fmt.Sprintf("It ends at %s, not after its start at %s.", at(s.Until), at(s.From))}
		}
		changes = append(changes, change{s.From, 1}, change{s.Until, -1})
	}
	if len(changes) == 0 {
		return nil, nil
	}
	// An execution that ends makes room for one that starts in the same moment.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	first, last := changes[0].at/hourMillis, (changes[len(changes)-1].at-1)/hourMillis
	if last-first >= MaxHours {
		return nil, Refusal{Where: "the executions", Detail: fmt.Sprintf("They are from %s to %s, more than %d hours; leave out those whose dates are wrong.", at(changes[0].at), at(changes[len(changes)-1].at), MaxHours)}
	}
	hours := make([]Hour, 0, last-first+1)
	now, next := int64(0), 0
	for h := first; h <= last; h++ {
		row := Hour{Hour: int32(h)}
		from, until := h*hourMillis, (h+1)*hourMillis
		total := int64(0) // executions times milliseconds
		for ; next < len(changes) && changes[next].at < until; next++ {
			c := changes[next]
			if c.at > from { // an execution that ends as the hour begins is not in it
				row.Most = max(row.Most, now)
			}
			total += now * (c.at - from)
			from, now = c.at, now+c.by
			row.Arrived += max(0, c.by)
		}
		row.Most = max(row.Most, now)
		row.Average = float64(total+now*(until-from)) / hourMillis
		hours = append(hours, row)
	}
	return hours, nil
}
