package history_test

import (
	"fmt"
	"strings"
	"time"

	"example.org/headroom/internal/data/history"
)

// A table of tasks becomes executions, and an execution becomes the figures of a profile.
func ExampleRead() {
	table := "job,execution,task,kind,duration_s\netl,1,m1,map,10\netl,1,m2,map,20\netl,1,m3,map,30\n"
	err := history.Read(strings.NewReader(table), history.Options{}, history.Sink{
		Execution: func(e *history.Execution) error {
			s, err := history.Take(e)
			if err != nil {
				return err
			}
			fmt.Println(e.ID, s.Profile.MapTasks, "maps,", s.Profile.MapAvgSeconds, "s in the mean,", s.Profile.MapMaxSeconds, "at most")
			return nil
		},
		Refused: func(r history.Refusal) error { return r },
	})
	fmt.Println(err)
	// Output:
	// etl/1 3 maps, 20 s in the mean, 30 at most
	// <nil>
}

// One job runs from 8:00 to 9:30, another from 8:30 to 9:00.
func ExampleConcurrency() {
	at := func(hour, minute int) int64 { return time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC).UnixMilli() }
	hours, err := history.Concurrency([]history.Span{{From: at(8, 0), Until: at(9, 30)}, {From: at(8, 30), Until: at(9, 0)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range hours {
		fmt.Printf("%s: %g on average, %d at most\n", time.Unix(int64(h.Hour)*3600, 0).UTC().Format("15:04"), h.Average, h.Most)
	}
	// Output:
	// 08:00: 1.5 on average, 2 at most
	// 09:00: 0.5 on average, 1 at most
}

// Two executions of one job become one profile: counts by their median, times by all tasks together.
func ExampleMerge() {
	table := "job,execution,task,kind,duration_s\netl,1,m1,map,10\netl,1,m2,map,20\netl,2,m1,map,20\netl,2,m2,map,30\n"
	var samples []history.Sample
	err := history.Read(strings.NewReader(table), history.Options{}, history.Sink{
		Execution: func(e *history.Execution) error {
			s, err := history.Take(e)
			samples = append(samples, s)
			return err
		},
		Refused: func(r history.Refusal) error { return r },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := history.Merge(samples)
	fmt.Println(m.Name, m.Executions, m.Profile.MapTasks, m.Profile.MapAvgSeconds, err)
	// Output:
	// etl 2 2 20 <nil>
}
