package clusters

import (
	"context"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// Store keeps what clusters are planned from.
type Store interface {
	// Clusters lists by name. only, unless nil, names those the caller may see.
	Clusters(ctx context.Context, only []string, page storage.Page) (storage.Listed[inputs.Cluster], error)
	Cluster(ctx context.Context, name string) (inputs.Cluster, error)
	CreateCluster(ctx context.Context, c inputs.Cluster) (inputs.Cluster, error)
	ReplaceCluster(ctx context.Context, version int64, c inputs.Cluster) (inputs.Cluster, error)
	// DeleteCluster hides a cluster and its inputs; its plans stay on record for ever.
	DeleteCluster(ctx context.Context, name string, version int64) error
	VMTypes() storage.Collection[inputs.VMType]           // by name
	Prices() storage.Collection[inputs.PricePeriod]       // by ID; listed by type and start
	Contracts() storage.Collection[inputs.SignedContract] // by name
	Classes() storage.Collection[inputs.PlannedClass]     // by name; a profile reference without a version becomes the latest
	Scenarios() storage.Collection[whatif.Scenario]       // by name; no plan depends on them
	Offers() storage.Collection[inputs.StandingOffer]     // likewise
	Document(ctx context.Context, cluster string) (inputs.Document, error)
	// Apply makes a cluster like the document (see capacity.Document). With a dry run it only says what
	// would change. version is the cluster's inputs_version the caller has seen, 0 for a new cluster.
	Apply(ctx context.Context, version int64, d inputs.Document, dryRun bool) (Applied, error)
	// Together does changes of a cluster, with their context, in one transaction: all take effect or, where it returns an
	// error, none. Nobody else changes the cluster meanwhile.
	Together(ctx context.Context, cluster string, changes func(ctx context.Context) error) error
	// Revise is an Apply of what revise makes of the cluster's document, whose forecasts are left out; nobody
	// changes the cluster in between.
	Revise(ctx context.Context, cluster string, revise func(before inputs.Document) (inputs.Document, error), dryRun bool) (Applied, error)
	Snapshot(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, error)
	// Outlook is a snapshot of whole hours, with their forecasts.
	Outlook(ctx context.Context, cluster string, from, until time.Time) (horizon.Outlook, error)
}

// Profiles keeps the versions of profiles.
type Profiles interface {
	// Profiles lists the latest version of each, by name.
	Profiles(ctx context.Context, cluster string, page storage.Page) (storage.Listed[inputs.ProfileVersion], error)
	ProfileVersions(ctx context.Context, cluster, name string, page storage.Page) (storage.Listed[inputs.ProfileVersion], error)
	// Profile is one version; 0 is the latest.
	Profile(ctx context.Context, cluster, name string, version int64) (inputs.ProfileVersion, error)
	// CreateProfile makes version 1 of a new name; AddProfileVersion the next of a known one.
	CreateProfile(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error)
	AddProfileVersion(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error)
	// DeleteProfile deletes a name with all its versions, of which the latest must have this tag. It is a
	// conflict while a class uses one.
	DeleteProfile(ctx context.Context, cluster, name, tag string) error
}

// Forecasts keeps how many jobs are expected by class and hour.
type Forecasts interface {
	Forecasts(ctx context.Context, cluster string, of ForecastFilter, page storage.Page) (storage.Listed[inputs.Forecast], error)
	ForecastClasses(ctx context.Context, cluster string, of ForecastFilter) (names []string, rows, arriving int64, err error) // that have rows, by name
	// ForecastHours lists by hour: so many hours from the first one on that is after an hour and has rows.
	ForecastHours(ctx context.Context, cluster string, of ForecastFilter, after time.Time, limit int) ([]ForecastHour, error)
	// PutForecasts writes rows, replacing those of the same class and hour, and deletes those of hours to
	// clear; all or none. A dry run only counts.
	PutForecasts(ctx context.Context, cluster string, series []inputs.Series, dryRun bool) (inputs.Written, error)
	DeleteForecasts(ctx context.Context, cluster string, of ForecastFilter) (int64, error)
}

// ForecastFilter limits rows to a class and to hours in [From, Until); zero values limit nothing.
type ForecastFilter struct {
	Class       string
	From, Until time.Time
}

// ForecastHour is the rows of one hour, by the names of their classes.
type ForecastHour struct {
	Hour    time.Time
	Classes []string
	Jobs    []float64
}

// Applied is what an Apply did or would do.
type Applied struct {
	Created bool            `json:"created"`
	Changes []inputs.Change `json:"changes"`
	Version int64           `json:"inputs_version"` // afterwards (of a dry run: now)
	// Warnings name members of the document.
	Warnings []capacity.Warning `json:"warnings,omitempty"`
}
