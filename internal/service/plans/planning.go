package plans

import (
	"context"
	"time"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/data/storage"
)

// CurrentStore reads the plans that are current.
type CurrentStore interface {
	// Current returns the current plan. A cluster that never had one is NotFound.
	Current(ctx context.Context, cluster string) (Current, error)
	// Currents returns the current plans of living clusters, by name, after a name, up to a limit. It omits their
	// problems, and the plans with known ids.
	Currents(ctx context.Context, after string, limit int, known []string) ([]Current, error)
	// CurrentsOf returns those of some clusters.
	CurrentsOf(ctx context.Context, clusters, known []string) ([]Current, error)
	// Unplanned returns the first living clusters, by name, that never had a plan because none could be made.
	Unplanned(ctx context.Context) ([]string, error)
}

// ClaimStore hands out the clusters that must be planned.
type ClaimStore interface {
	// Claim takes a cluster that must be planned at a moment, for the time of the lease; nobody else gets it until
	// then. Without one it returns nil and the time until the next may be due.
	Claim(ctx context.Context, now time.Time, lease time.Duration) (*Claim, time.Duration, error)
	// KeepClaim extends a claim; Release returns the cluster to the queue. A claim that somebody else has taken over
	// is ErrClaimLost.
	KeepClaim(ctx context.Context, c Claim, lease time.Duration) error
	Release(ctx context.Context, c Claim) error
	// Settle stores the outcome of a try and ends the claim. It returns a new plan as stored. After a plan that came
	// too late (see SavePlan) the cluster must be planned again at once. If the claim is lost nothing is stored: its
	// new holder knows better.
	Settle(ctx context.Context, c Claim, o Outcome) (PlanRecord, error)
}

// VoteStore hands out the plans on which CBC has to vote.
type VoteStore interface {
	// ClaimVote takes a plan whose vote waits, for the time of the lease; nil is none. Newest is the plan's number, and
	// Failures counts the claims before that brought no vote.
	ClaimVote(ctx context.Context, lease time.Duration) (*Claim, error)
	// KeepVote extends a claim; ReleaseVote returns the plan to the queue.
	KeepVote(ctx context.Context, c Claim, lease time.Duration) error
	ReleaseVote(ctx context.Context, c Claim) error
	// SettleVote stores a vote and ends the claim.
	SettleVote(ctx context.Context, c Claim, v Vote) error
}

// Store stores plans, current plans, the claims of planning and votes.
type Store interface {
	CurrentStore
	ClaimStore
	VoteStore

	// SavePlan numbers and stores a plan for now; of the summary it needs Cluster, At and InputsVersion. The plan
	// becomes current, with exceptions: another plan is pinned or is about newer inputs, or this one came too late.
	// Too late means that its inputs had changed before it was Ready, and that there is another plan. Then it is not
	// ForNow.
	SavePlan(ctx context.Context, r PlanRecord) (PlanRecord, error)
	// Plans lists the newest first.
	Plans(ctx context.Context, cluster string, page storage.Page) (storage.Listed[PlanSummary], error)
	// PlansInForce lists the times in which a plan was in force, the latest first, with Since and Until; only those that
	// touch [from, until), whose zero values limit nothing.
	PlansInForce(ctx context.Context, cluster string, from, until time.Time, page storage.Page) (storage.Listed[PlanSummary], error)
	// Plan returns a plan by number or by id, or the current one.
	Plan(ctx context.Context, cluster string, ref PlanRef) (PlanRecord, error)
	// HeldBefore returns the number of the plan that was current before a plan was, or was made.
	HeldBefore(ctx context.Context, cluster string, number int64) (int64, error)
	// Overview sums up clusters by name at a moment; only those of a list, unless that is nil.
	Overview(ctx context.Context, only []string, now time.Time, page storage.Page) (storage.Listed[Overview], error)
	// RemovedPlans counts the plans that retention has removed, by the names of living clusters.
	RemovedPlans(ctx context.Context) (map[string]Removed, error)

	// NextChange returns the first moment after another at which a price, a contract or a forecast of the cluster changes;
	// nil if none is known. When the work of a class ends within an hour, the inputs of the hour tell.
	NextChange(ctx context.Context, cluster string, after time.Time) (*time.Time, error)
	// Schedule returns the schedule that the plans of a cluster follow; a zero value where none was made.
	Schedule(ctx context.Context, cluster string) (Schedule, error)
	// HourLeases returns what leases show of the classes of a cluster before an hour: those that were given since a moment or
	// run, and who waits.
	HourLeases(ctx context.Context, cluster string, since, hour time.Time) ([]timetable.HourLeases, error)
	// KeepPlan is SavePlan for a plan that must not become current, because it is for another moment.
	KeepPlan(ctx context.Context, r PlanRecord) (PlanRecord, error)

	// PinPlan keeps a plan current until a moment; UnpinPlan makes the newest good one current at once, and does
	// nothing if none is pinned. Of several pins the last one counts.
	PinPlan(ctx context.Context, cluster string, ref PlanRef, until time.Time) (Pin, error)
	UnpinPlan(ctx context.Context, cluster string) error
	PinOf(ctx context.Context, cluster string) (Pin, error) // NotFound without one

}

// Channel notifies, by a cluster's name, that its current plan or its freshness has changed, or that the cluster
// is gone.
const Channel = "headroom_plans"

// Triggers of a try.
const (
	ByInputs       = "inputs"
	ByBoundary     = "boundary"
	ByConfirmation = "confirmation"
	ByRequest      = "request"
)

// Claim is the right to plan a cluster for a while.
type Claim struct {
	Cluster  string
	Token    string
	Reason   string // ByInputs, …
	Newest   int64  // the newest good plan, 0 without one,
	Sum      []byte // and the sum of its inputs
	Failures int    // failed tries in a row

	WaitedSeconds float64 // for ByInputs: since the first change after the last try
}

// Outcome is the outcome of a try: a new plan, a confirmation of the newest one, or a failure.
type Outcome struct {
	At      time.Time   // the moment that was planned for
	Version int64       // the inputs that were read; 0 when that failed
	Ends    *time.Time  // when a class has no more work, if that is within the hour
	Plan    *PlanRecord // a new plan
	Same    bool        // the newest plan answers the same
	// Schedule is to be stored with a confirmation; nil leaves it as it is. A plan has its own.
	Schedule *Schedule
	Attempt  Attempt       // the try, if it brought no new plan
	Retry    time.Duration // after a failure that may pass by itself; 0 waits for a change
}

// PlanRef names a plan: by Number, by ID, or (the zero value) the current one.
type PlanRef struct {
	Number int64
	ID     string
}
