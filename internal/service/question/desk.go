package question

import (
	"context"
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/runs"
)

// Inputs holds the data of clusters that questions need.
type Inputs interface {
	Cluster(ctx context.Context, name string) (inputs.Cluster, error)
	Classes() storage.Collection[inputs.PlannedClass]
	Scenarios() storage.Collection[whatif.Scenario]
	Offers() storage.Collection[inputs.StandingOffer]
	Snapshot(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, error)
	Outlook(ctx context.Context, cluster string, from, until time.Time) (horizon.Outlook, error)
}

// Profiles holds the versions of profiles.
type Profiles interface {
	Profile(ctx context.Context, cluster, name string, version int64) (inputs.ProfileVersion, error)
}

// Fits holds what was measured of jobs.
type Fits interface {
	ExecutionSizes(ctx context.Context, cluster, job string, limit int) ([]perf.ExecutionSize, error)
	JobFit(ctx context.Context, cluster, job string, kind perf.FitKind, version int64) (perf.JobFit, error)
	LatestFits(ctx context.Context, cluster string, kind perf.FitKind, jobs []string) (map[string]perf.JobFit, error)
}

// Packings stores packings. No plan depends on them, and none changes.
type Packings interface {
	SavePacking(ctx context.Context, k pack.KeptPacking) (pack.KeptPacking, error) // ID, CreatedAt and CreatedBy are the store's
	// Packings lists the newest first.
	Packings(ctx context.Context, cluster string, page storage.Page) (storage.Listed[pack.PackingSummary], error)
	Packing(ctx context.Context, cluster, id string) (pack.KeptPacking, error)
	DeletePacking(ctx context.Context, cluster, id string) error
}

// Promises stores the promises of a cluster's classes.
type Promises interface {
	// SavePromises passes over classes that are gone, or have no target any more.
	SavePromises(ctx context.Context, cluster string, promises map[string]capacity.Promise) error
}

// Desk answers questions in the places to solve in, and starts runs for those that take long.
type Desk struct {
	Solver   *solving.Desk
	Runs     *runs.Desk
	Store    runs.Store
	Now      func() time.Time
	Plans    *plans.Desk
	Clusters *clusters.Desk

	Inputs   Inputs
	Profiles Profiles
	Fits     Fits
	Packings Packings
	Promises Promises
}

// start starts a run. A key that is limited to clusters would not see one of no cluster.
func (d *Desk) start(ctx context.Context, n runs.NewRun) (runs.Run, error) {
	if who := auth.From(ctx); n.Cluster == "" && who.Clusters != nil {
		return runs.Run{}, fmt.Errorf("this takes a run in the background, and the key %q, which is limited to clusters, sees only runs of those; ask about a cluster, or about less: %w", who.Name, fault.Forbidden)
	}
	return d.Store.StartRun(ctx, n)
}

// manyPieces asks for as large a crew as there is.
const manyPieces = math.MaxInt32
