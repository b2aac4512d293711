package timetables

import (
	"cmp"
	"slices"
	"time"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/fault"
)

// checkLeases compares what the time before leaves of a class with what its leases show. As many executions run as leases do.
// Those that wait, and those whose start stands in the first hour, are enough for all that ask, and none of them arrived later.
func (s *scheduled) checkLeases() {
	b := s.question.Before
	if b == nil {
		return
	}
	type arrived struct {
		at   time.Time
		jobs int64 // less than 0: they ask
	}
	rows, runs, stands := map[string][]arrived{}, map[string]int64{}, map[string]int64{}
	for _, r := range b.Leases {
		rows[r.Class] = append(rows[r.Class], arrived{r.Hour, -r.Waiting})
		runs[r.Class] += r.Running
	}
	for _, r := range b.Running {
		switch {
		case r.Arrived.Equal(r.Start): // a lease shows it
			runs[r.Class] -= r.Jobs
		case r.Start.Equal(s.at(0)):
			stands[r.Class] += r.Jobs
		}
	}
	for _, w := range b.Waiting {
		rows[w.Class] = append(rows[w.Class], arrived{w.Arrived, w.Jobs})
	}
	for k := range s.question.Problem.Classes {
		name := s.question.Problem.Classes[k].Name
		if !slices.ContainsFunc(b.Leases, func(r timetable.HourLeases) bool { return r.Class == name }) {
			continue
		}
		if runs[name] != 0 {
			s.wrong("", "Before it, %d executions of %q more run by leases than by the question.", runs[name], fault.Clip(name))
		}
		left := stands[name]
		slices.SortFunc(rows[name], func(a, b arrived) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(b.jobs, a.jobs)) })
		for _, r := range rows[name] {
			if left += r.jobs; left < 0 {
				s.wrong("", "Before it, %d executions of %q ask and wait by %s that are not among those that wait.", -left, fault.Clip(name), r.at.UTC().Format(time.RFC3339))
				break
			}
		}
	}
}
