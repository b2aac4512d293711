// Package heartbeat is the desk of live clusters. It decides on heartbeats, jobs, nodes and leases, and stores the
// changes. Heartbeats of a cluster that arrive together share one transaction.
package heartbeat

import (
	"context"
	"iter"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// Store stores live clusters.
type Store interface {
	// ChangeLive lets work change a live cluster while nobody else can, and stores its result, all of it or nothing.
	// seen is the caller's state; stored is nil if that is the latest, otherwise it is the whole state. ChangeLive
	// returns the caller's state afterwards. Calls of work with its context join the change; judged reads further
	// data on demand. bulk allows work to take long.
	ChangeLive(ctx context.Context, cluster string, seen Stamp, bulk bool, work func(ctx context.Context, stored *live.State, judged live.Judged) (Work, error)) (Stamp, error)

	// LivePast returns the state of a live cluster at a past moment, as far as it is stored, and the jobs present
	// until another moment.
	LivePast(ctx context.Context, cluster string, from, until time.Time) (Past, error)
	// PastHeartbeats returns a limited number of heartbeats after a number, of moments in [from, until), in the order
	// of the answers.
	PastHeartbeats(ctx context.Context, cluster string, after int64, from, until time.Time, most int) (beats []KeptHeartbeat, last int64, err error)

	// InOnce reports whether a context comes from Once.
	InOnce(ctx context.Context) bool

	// JudgedChoices reads the choices of the policy learned that were judged, in the order of their judgements.
	JudgedChoices(ctx context.Context, cluster string) iter.Seq2[*dispatch.Decision, error]
	// Classifier returns the knowledge of the policy learned.
	Classifier(ctx context.Context, cluster string) (dispatch.Knowledge, error)
	LiveSettings(ctx context.Context, cluster string) (live.LiveSettings, error)
	// OverdueNodes reports whether a node has been silent for too long and does not count as dead yet.
	OverdueNodes(ctx context.Context, cluster string, now time.Time) (bool, error)
	LiveNodes(ctx context.Context, cluster string, page storage.Page) (storage.Listed[live.LiveNode], error) // by name
	LiveNode(ctx context.Context, cluster, name string) (live.LiveNode, error)
	// LiveJobs lists the newest first; late is judged by now.
	LiveJobs(ctx context.Context, cluster string, of JobFilter, now time.Time, page storage.Page) (storage.Listed[live.LiveJob], error)
	LiveJob(ctx context.Context, cluster string, number int64, now time.Time) (live.LiveJob, error)
	// LiveDecisions lists the newest first.
	LiveDecisions(ctx context.Context, cluster string, of DecisionFilter, page storage.Page) (storage.Listed[live.LiveDecision], error)
}

// Stamp identifies a state of a live cluster; zero is none.
type Stamp struct{ Cluster, Stamp int64 }

// Work holds the data to store for a change to a live cluster.
type Work struct {
	live.Changes
	Heartbeats []KeptHeartbeat
	Deeds      []Deed
	judged     live.Judged
}

// KeptHeartbeat is a heartbeat and its answer, as texts.
type KeptHeartbeat struct {
	At     time.Time
	Node   string
	Body   string
	Answer string
}

// Deed is an action of the caller, for the audit log.
type Deed struct {
	Action, Kind, Name string
	Before, After      any // nil without one
}

// JobFilter limits jobs; zero values limit nothing.
type JobFilter struct{ State live.JobState }

// DecisionFilter limits decisions to moments in [From, Until) and to the named values; zero values are no limits.
type DecisionFilter struct {
	From, Until time.Time
	Node        string
	Job         int64
	Outcome     live.TaskOutcome
}
