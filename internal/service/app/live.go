package app

import (
	"context"
	"iter"
	"time"

	"headroom/internal/data/storage"
	"headroom/internal/slots/dispatch"
	"headroom/internal/slots/live"
)

// Live is what the store keeps of live clusters.
type Live interface {
	// ChangeLive lets work change a live cluster while nobody else can, and stores what it answers, all of it or
	// nothing. Seen is what the caller knows; where that is the latest, stored is nil, otherwise it is the whole.
	// It answers what the caller knows afterwards. What work does with its context joins the change; judged reads what
	// it may need besides. Bulk is for work that may take long.
	ChangeLive(ctx context.Context, cluster string, seen LiveStamp, bulk bool, work func(ctx context.Context, stored *live.State, judged live.Judged) (LiveWork, error)) (LiveStamp, error)

	// LivePast is a live cluster as it was at a moment, as far as is kept, and the jobs that were there until another.
	LivePast(ctx context.Context, cluster string, from, until time.Time) (LivePast, error)
	// PastHeartbeats are at most so many after a number, of moments in [from, until), in the order of the answers.
	PastHeartbeats(ctx context.Context, cluster string, after int64, from, until time.Time, most int) (beats []LiveHeartbeat, last int64, err error)

	// InOnce says whether a context is one that Once has handed out.
	InOnce(ctx context.Context) bool

	// JudgedChoices reads the choices of the policy learned that were judged, in the order of their judgements.
	JudgedChoices(ctx context.Context, cluster string) iter.Seq2[*dispatch.Decision, error]
	// Classifier is what the policy learned has learned.
	Classifier(ctx context.Context, cluster string) (dispatch.Knowledge, error)
	LiveSettings(ctx context.Context, cluster string) (live.LiveSettings, error)
	// OverdueNodes says whether a node has been silent for too long and does not count as dead yet.
	OverdueNodes(ctx context.Context, cluster string, now time.Time) (bool, error)
	LiveNodes(ctx context.Context, cluster string, page storage.Page) (storage.Listed[live.LiveNode], error) // by name
	LiveNode(ctx context.Context, cluster, name string) (live.LiveNode, error)
	// LiveJobs lists the newest first; late is judged by now.
	LiveJobs(ctx context.Context, cluster string, of LiveJobFilter, now time.Time, page storage.Page) (storage.Listed[live.LiveJob], error)
	LiveJob(ctx context.Context, cluster string, number int64, now time.Time) (live.LiveJob, error)
	// LiveDecisions lists the newest first.
	LiveDecisions(ctx context.Context, cluster string, of LiveDecisionFilter, page storage.Page) (storage.Listed[live.LiveDecision], error)
}

// LiveStamp is which state of a live cluster somebody knows; zero is none.
type LiveStamp struct{ Cluster, Stamp int64 }

// LiveWork is what is to be stored of a change to a live cluster.
type LiveWork struct {
	live.Changes
	Heartbeats []LiveHeartbeat
	Deeds      []Deed
	judged     live.Judged
}

// LiveHeartbeat is a heartbeat and the answer to it, as texts.
type LiveHeartbeat struct {
	At     time.Time
	Node   string
	Body   string
	Answer string
}

// Deed is what the audit log is told that who asks has done.
type Deed struct {
	Action, Kind, Name string
	Before, After      any // nil is none
}

// LiveJobFilter limits jobs; zero values limit nothing.
type LiveJobFilter struct{ State live.JobState }

// LiveDecisionFilter limits decisions to moments in [From, Until) and to what is named; zero values limit nothing.
type LiveDecisionFilter struct {
	From, Until time.Time
	Node        string
	Job         int64
	Outcome     live.TaskOutcome
}
