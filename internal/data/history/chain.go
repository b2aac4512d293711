package history

import (
	"cmp"
	"fmt"
	"slices"
)

// Chain describes one execution of stages, each a phase.
type Chain struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Phases          []Phase  `json:"phases"`     // each after all that it waits for
	OverheadSeconds float64  `json:"overhead_s"` // time without a running attempt
	Seconds         *float64 `json:"seconds"`    // from submission to end; null means unknown
	MapSlots        int64    `json:"map_slots"`  // largest number of concurrent attempts of any stages; 0 means unknown
	Left            LeftOut  `json:"left_out"`
	Notes           []string `json:"notes"`
}

// Phase is a stage that ran.
type Phase struct {
	Stage int64     `json:"stage"` // its number in the record
	Name  string    `json:"name"`
	Tasks int64     `json:"tasks"`
	Task  Durations `json:"task"`
	After []int     `json:"after"` // phases it waited for, by their place in the chain
}

// TakeChain makes a chain of an execution of stages. If that is impossible it returns a Refusal with the reason.
// Parallel stages stand one after the other: on their shared slots, their work and longest tasks bound the time as if
// they had run that way.
func TakeChain(e *Execution) (Chain, error) {
	if err := e.endedWell(); err != nil {
		return Chain{}, err
	}
	if len(e.Stages) == 0 {
		return Chain{}, e.refusal("It has no stages.")
	}
	c := Chain{ID: e.ID, Name: e.Name, Phases: []Phase{}, MapSlots: e.slots(Stage), Notes: append([]string{}, e.Notes...)}
	chosen, err := e.chosen(&c.Left)
	if err != nil {
		return Chain{}, err
	}
	order, err := e.stageOrder()
	if err != nil {
		return Chain{}, err
	}
	tasks := map[int32][]float64{}
	for g, n := range chosen.tasks {
		tasks[g.stage] = make([]float64, 0, n)
	}
	for a := range chosen.All() {
		tasks[a.Stage] = append(tasks[a.Stage], a.Seconds())
	}
	again := map[int32]bool{}
	for a := range e.Attempts.All() {
		again[a.Stage] = again[a.Stage] || a.Again
	}
	note := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	place := map[int32]int{}
	retried, skipped, cut := 0, 0, 0
	for _, n := range order {
		stage, took := e.Stages[n], tasks[n]
		p, err := e.phaseOf(&stage, took, again[n])
		if err != nil {
			return Chain{}, err
		}
		if p.Tasks == 0 {
			skipped++
			continue
		}
		if stage.Tries > 1 {
			retried++
		}
		if stage.Tries == 0 {
			cut++
		}
		for _, parent := range stage.Parents {
			if at, ran := place[parent]; ran {
				p.After = append(p.After, at)
			}
		}
		place[n] = len(c.Phases)
		c.Phases = append(c.Phases, p)
	}
	if len(c.Phases) == 0 {
		return Chain{}, e.refusal("None of its stages has a task that succeeded.")
	}
	if retried > 0 {
		note("%d stages were tried more than once; of each of their tasks the attempt counts that succeeded first.", retried)
	}
	if c.Left.Retried > 0 {
		note("%d attempts of further tries of stages are left out, because it is not on record which tasks they repeat. Spark writes that since 3.3.", c.Left.Retried)
	}
	if skipped > 0 {
		note("%d stages were skipped, because what they make was there already; they are no phases.", skipped)
	}
	if cut > 0 {
		note("The end of %d stages is not on record; what is of their tasks counts.", cut)
	}
	if took, known := e.Seconds(); known {
		c.Seconds = &took
		c.OverheadSeconds = max(0, took-e.busy())
	} else {
		note("When it was submitted or ended is not on record, so that its fixed overhead is not known and taken for 0.")
	}
	return c, nil
}

// phaseOf returns the phase of a stage, or one without tasks if it was skipped. again marks a stage whose later tries
// repeat tasks of the first.
func (e *Execution) phaseOf(stage *StageInfo, took []float64, again bool) (Phase, error) {
	if len(took) == 0 {
		if stage.Tasks > 0 && stage.Tries > 0 {
			return Phase{}, e.refusal("Stage %d ran with %d tasks, of which none that succeeded is on record; the log is not whole.", stage.ID, stage.Tasks)
		}
		return Phase{}, nil
	}
	p := Phase{Stage: stage.ID, Name: stage.Name, Tasks: int64(len(took)), Task: durations(took), After: []int{}}
	switch {
	case again: // the tasks it repeats are missing from the first try
		p.Tasks = max(p.Tasks, stage.Tasks)
	case p.Tasks < stage.Tasks:
		return Phase{}, e.refusal("Stage %d ran with %d tasks, of which %d that succeeded are on record; the log is not whole.", stage.ID, stage.Tasks, p.Tasks)
	}
	return p, nil
}

// stageOrder returns each stage after its parents, and otherwise by number.
func (e *Execution) stageOrder() ([]int32, error) {
	byID := make([]int32, len(e.Stages))
	for n := range byID {
		byID[n] = int32(n)
	}
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(e.Stages[a].ID, e.Stages[b].ID) })
	const (
		begun = 1
		done  = 2
	)
	state := make([]uint8, len(e.Stages))
	type visit struct {
		stage int32
		next  int // of its parents
	}
	var order []int32
	var open []visit // an own stack, because records may be deep
	for _, first := range byID {
		if state[first] == 0 {
			state[first] = begun
			open = append(open, visit{stage: first})
		}
		for len(open) > 0 {
			v := &open[len(open)-1]
			if parents := e.Stages[v.stage].Parents; v.next < len(parents) {
				parent := parents[v.next]
				v.next++
				switch state[parent] {
				case begun:
					return nil, e.refusal("Its stages %d and %d wait for one another; the record is damaged.", e.Stages[v.stage].ID, e.Stages[parent].ID)
				case 0:
					state[parent] = begun
					open = append(open, visit{stage: parent})
				}
				continue
			}
			state[v.stage] = done
			order = append(order, v.stage)
			open = open[:len(open)-1]
		}
	}
	return order, nil
}
