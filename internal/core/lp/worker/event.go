package worker

import "time"

// Event is something that happened to a solver process, for logs and metrics.
type Event struct {
	Kind    EventKind
	Process int           // its process number
	Took    time.Duration // duration of the start, of the solve that ended this way, or of the life of a process that ended idle
	Detail  string        // for people; at most a few lines
}

// EventKind names an event.
type EventKind string

const (
	Started  EventKind = "started"  // the process is ready
	Killed   EventKind = "killed"   // its time was over, or its caller went away
	Recycled EventKind = "recycled" // it is replaced for its age or its memory
	Crashed  EventKind = "crashed"  // it ended by itself, at work or idle, or wrote an unreadable answer
	Refused  EventKind = "refused"  // it gave up, or its answer did not pass the check
	Missing  EventKind = "missing"  // none could be started: the program is not there, or does not work
)

// crashed reports once that a process ended in a way that nobody asked for.
func (p *Pool) crashed(process *process, began time.Time) {
	process.told.Do(func() { p.report(process, Crashed, began, process.errors.String()) })
}

func (p *Pool) report(process *process, kind EventKind, began time.Time, detail string) {
	p.config.Report(Event{Kind: kind, Process: process.command.Process.Pid, Took: time.Since(began), Detail: detail})
}
