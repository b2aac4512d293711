package plans

import (
	"context"
	"time"

	"headroom/internal/data/storage"
)

// Store is what the store keeps of planning moments.
type Store interface {
	// SavePlan numbers and stores a plan for now; of the summary it needs Cluster, At and InputsVersion.
	// It is current afterwards, unless another one is pinned or is about newer inputs, or it came too
	// late: what it depends on had changed before it was Ready, and there is another plan. Then it is not
	// ForNow.
	SavePlan(ctx context.Context, r PlanRecord) (PlanRecord, error)
	// Plans lists the newest first.
	Plans(ctx context.Context, cluster string, page storage.Page) (storage.Listed[PlanSummary], error)
	// Plan is one by number, by id, or the current one.
	Plan(ctx context.Context, cluster string, ref PlanRef) (PlanRecord, error)
	// RemovedPlans are what retention has removed, by the names of living clusters.
	RemovedPlans(ctx context.Context) (map[string]Removed, error)

	// Current is the plan that holds now. A cluster that never had one is NotFound.
	Current(ctx context.Context, cluster string) (Current, error)
	// Currents are those of living clusters that have one, by name, after a name: so many at most. Their problems are
	// left out, and so are the plans that are known, by id.
	Currents(ctx context.Context, after string, limit int, known []string) ([]Current, error)
	// KeepPlan is SavePlan for a plan that is not to be current, because it is for another moment.
	KeepPlan(ctx context.Context, r PlanRecord) (PlanRecord, error)

	// PinPlan keeps a plan current until a moment; UnpinPlan makes the newest good one current at once,
	// and does nothing where none is pinned. Of several pins the last one counts.
	PinPlan(ctx context.Context, cluster string, ref PlanRef, until time.Time) (Pin, error)
	UnpinPlan(ctx context.Context, cluster string) error
	PinOf(ctx context.Context, cluster string) (Pin, error) // NotFound when there is none

	// Claim takes a cluster that is to be planned at a moment, for as long as lease; nobody else gets it
	// until then. When there is none it answers nil and how long it is until the next may be.
	Claim(ctx context.Context, now time.Time, lease time.Duration) (*Claim, time.Duration, error)
	// KeepClaim claims for another while; Release gives the cluster to whoever asks next. A claim that
	// somebody else has taken over is ErrClaimLost.
	KeepClaim(ctx context.Context, c Claim, lease time.Duration) error
	Release(ctx context.Context, c Claim) error
	// Settle stores what a try came to and ends the claim. A new plan is answered as it is stored; one
	// that came too late (see SavePlan) leaves the cluster to be planned at once. When the claim is lost
	// nothing is stored: whoever has it knows better.
	Settle(ctx context.Context, c Claim, o Outcome) (PlanRecord, error)
}

// Channel is where the store tells, by a cluster's name, that its current plan or anything known
// about its freshness has changed, or that the cluster is gone.
const Channel = "headroom_plans"

// What asks for a try.
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
	Newest   int64  // the newest good plan, 0 if there is none,
	Sum      []byte // and the sum of what it answers
	Failures int    // how many tries failed in a row

	WaitedSeconds float64 // where it is ByInputs: since the first change that no try has seen
}

// Outcome is what a try came to: a plan, or that the newest one still answers what is asked, or a
// failure.
type Outcome struct {
	At      time.Time     // the moment that was planned for
	Version int64         // the inputs that were read; 0 when that failed
	Plan    *PlanRecord   // a new plan
	Same    bool          // the newest plan answers the same
	Attempt Attempt       // about what came to no new plan
	Retry   time.Duration // after a failure that may pass by itself; 0 waits for a change
}

// PlanRef names a plan: by Number, by ID, or (the zero value) the current one.
type PlanRef struct {
	Number int64
	ID     string
}
