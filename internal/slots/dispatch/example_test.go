package dispatch_test

import (
	"fmt"

	"example.org/headroom/internal/slots/dispatch"
)

// start tells a policy that its chosen task runs on the slot.
func start(p dispatch.Policy, s dispatch.Slot, c dispatch.Choice) {
	c.Job.Pending[c.Task]--
	c.Job.Running[c.Task]++
	p.Note(dispatch.Event{What: dispatch.Started, Job: c.Job, Task: c.Task, Slot: s})
}

// The job with the earliest deadline gets the slot, though it came later.
func ExampleEDF() {
	p := dispatch.EDF(dispatch.Separate)
	for i, j := range []*dispatch.Job{
		{Name: "report", DeadlineSeconds: 900, Pending: [dispatch.Kinds]int{5, 0}},
		{Name: "alert", SubmittedSeconds: 60, DeadlineSeconds: 300, Pending: [dispatch.Kinds]int{1, 0}},
	} {
		j.Index, j.Number = i, int64(i)
		p.Note(dispatch.Event{What: dispatch.Arrived, Now: j.SubmittedSeconds, Job: j})
	}
	for number := range 2 {
		slot := dispatch.Slot{Number: number}
		choice := p.Choose(60, slot)
		fmt.Println(choice.Job.Name, p.Why().Rule)
		start(p, slot, choice)
	}
	// Output:
	// alert deadline
	// report deadline
}

// Weights of 3 and 1 divide eight slots into six and two.
func ExampleFair() {
	p := dispatch.Fair(dispatch.Shared, []dispatch.Share{
		{Weight: [dispatch.Kinds]float64{3, 3}},
		{Weight: [dispatch.Kinds]float64{1, 1}},
	})
	jobs := []*dispatch.Job{
		{Name: "etl", Class: 0, Pending: [dispatch.Kinds]int{20, 0}},
		{Name: "ad-hoc", Class: 1, Pending: [dispatch.Kinds]int{20, 0}},
	}
	for i, j := range jobs {
		j.Index, j.Number = i, int64(i)
		p.Note(dispatch.Event{What: dispatch.Arrived, Job: j})
	}
	for number := range 8 {
		slot := dispatch.Slot{Number: number}
		start(p, slot, p.Choose(0, slot))
	}
	for _, j := range jobs {
		fmt.Println(j.Name, j.Running[dispatch.Map])
	}
	// Output:
	// etl 6
	// ad-hoc 2
}

// A stored document makes the same policy in a live cluster and in the simulator.
func ExampleNew() {
	document, err := dispatch.ReadPolicy([]byte(`{"kind": "fifo"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := dispatch.New(document, dispatch.Setting{Layout: dispatch.Separate})
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Note(dispatch.Event{What: dispatch.Arrived, Job: &dispatch.Job{Name: "etl", Pending: [dispatch.Kinds]int{0, 2}}})
	fmt.Println(p.Choose(0, dispatch.Slot{Pool: dispatch.Separate.Of(dispatch.Map)}).Job == nil) // it has no maps to start
	fmt.Println(p.Choose(0, dispatch.Slot{Pool: dispatch.Separate.Of(dispatch.Reduce)}).Job.Name)
	// Output:
	// true
	// etl
}
