package history

import (
	"fmt"
	"io"
)

// simulatorTask is a task of a trace of the scheduler load simulator. Moments are milliseconds since the
// trace's beginning.
type simulatorTask struct {
	Host  string `json:"container.host"`
	Start *int64 `json:"container.start.ms"`
	End   *int64 `json:"container.end.ms"`
	Type  string `json:"container.type"`
}

// readSimulator reads a trace of Hadoop's scheduler load simulator: JSON objects one after the other.
func readSimulator(r io.Reader, to Sink) error {
	take := to.Execution
	to.Execution = func(e *Execution) error {
		e.Notes = append(e.Notes, "The trace is not dated, does not name its jobs and does not say how they ended; they are taken to have succeeded.")
		for a := range e.Attempts.All() {
			if a.Kind == Reduce {
				e.Unsplit = true
				break
			}
		}
		return take(e)
	}
	return readTrace(r, to, "the scheduler load simulator", (*tokens).simulatorMember, func(*scanner, *builder) bool { return false })
}

func (t *tokens) simulatorMember(b *builder, member string) error {
	b.Clock, b.Outcome = Relative, Succeeded
	switch member {
	case "job.id":
		return t.text(&b.ID)
	case "job.user":
		return t.text(&b.User)
	case "job.queue.name":
		return t.text(&b.Queue)
	case "job.start.ms":
		return t.since(&b.Submitted)
	case "job.end.ms":
		return t.since(&b.Finished)
	case "job.tasks":
		return t.list(func() error {
			var task simulatorTask
			if err := t.value(&task); err != nil {
				return err
			}
			return t.addSimulated(b, &task)
		})
	}
	return t.skip()
}

func (t *tokens) since(to *int64) error {
	var ms *int64
	err := t.value(&ms)
	*to = sinceEpoch(ms)
	return err
}

// sinceEpoch returns a moment of an undated history, or 0 for an impossible one.
func sinceEpoch(ms *int64) int64 {
	if ms == nil || *ms < 0 || *ms > latest-Epoch {
		return 0
	}
	return Epoch + *ms
}

func (t *tokens) addSimulated(b *builder, task *simulatorTask) error {
	if b.Attempts.Len() == maxAttempts {
		return t.fault(fmt.Sprintf("The execution has more than %d attempts.", maxAttempts))
	}
	if b.held > maxHeld {
		return t.fault(tooMuch)
	}
	kind := Other
	switch task.Type {
	case "map":
		kind = Map
	case "reduce":
		kind = Reduce
	}
	b.Attempts.Add(Attempt{
		Start: sinceEpoch(task.Start), Finish: sinceEpoch(task.End),
		Task: b.places[kind], Host: b.host(task.Host), Kind: kind, Outcome: Succeeded,
	})
	b.places[kind]++
	return nil
}
