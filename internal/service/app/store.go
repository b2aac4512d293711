package app

import (
	"context"
	"encoding/json"
	"time"

	"headroom/internal/ask/horizon"
	"headroom/internal/ask/whatif"
	"headroom/internal/data/inputs"
	"headroom/internal/data/storage"
	"headroom/internal/service/auth"
	"headroom/internal/service/hooks"
	"headroom/internal/service/plans"
	"headroom/internal/service/question"
	"headroom/internal/service/runs"
)

// Stores holds what the service keeps, a store for each subject. Every method is one transaction; methods called
// with a context from Once join its transaction. The caller comes from the context (auth.From) and is written to the
// audit log with every change. Errors are of the kinds of fault, as sentences for people; a database that is away,
// read-only, full or slow is fault.Busy.
type Stores struct {
	Inputs       InputStore
	Profiles     ProfileStore
	Forecasts    ForecastStore
	Plans        plans.Store
	Access       auth.Store
	Database     DatabaseStore
	Admissions   Admissions
	Calibrations Calibrations
	Executions   Executions
	Fits         Fits
	Live         Live
	Observations plans.Observations
	Packings     question.Packings
	Reports      Reports
	Runs         runs.Store
	StoredPools  plans.PoolStore
	Webhooks     hooks.Store
}

// InputStore keeps what clusters are planned from.
type InputStore interface {
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
	// Revise is an Apply of what revise makes of the cluster's document, whose forecasts are left out; nobody
	// changes the cluster in between.
	Revise(ctx context.Context, cluster string, revise func(before inputs.Document) (inputs.Document, error), dryRun bool) (Applied, error)
	Snapshot(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, error)
	// Outlook is a snapshot of whole hours, with their forecasts.
	Outlook(ctx context.Context, cluster string, from, until time.Time) (horizon.Outlook, error)
}

// ProfileStore keeps the versions of profiles.
type ProfileStore interface {
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

// ForecastStore keeps how many jobs are expected by class and hour.
type ForecastStore interface {
	Forecasts(ctx context.Context, cluster string, of ForecastFilter, page storage.Page) (storage.Listed[inputs.Forecast], error)
	ForecastClasses(ctx context.Context, cluster string, of ForecastFilter) ([]string, error) // that have rows, by name
	// ForecastHours lists by hour: so many hours from the first one on that is after an hour and has rows.
	ForecastHours(ctx context.Context, cluster string, of ForecastFilter, after time.Time, limit int) ([]ForecastHour, error)
	// PutForecasts writes rows, replacing those of the same class and hour, and deletes those of hours to
	// clear; all or none. A dry run only counts.
	PutForecasts(ctx context.Context, cluster string, series []inputs.Series, dryRun bool) (inputs.Written, error)
	DeleteForecasts(ctx context.Context, cluster string, of ForecastFilter) (int64, error)
}

// DatabaseStore is the database as a whole.
type DatabaseStore interface {
	// DatabaseAbout is the version of the database and that of its tables.
	DatabaseAbout(ctx context.Context) (DatabaseAbout, error)
	// Listen calls each with every notification on a channel until the context ends or the connection
	// is lost, which is an error. The first call, with "", says that listening has begun: what happened
	// before it must be read.
	Listen(ctx context.Context, channel string, each func(payload string)) error
	// Audit lists the newest first.
	Audit(ctx context.Context, of AuditFilter, page storage.Page) (storage.Listed[AuditEntry], error)
	// Once does something at most once per principal and key. The record of its answer and its effect
	// are one transaction: do runs with a context that carries it, and an error from do, or an answer
	// without Keep, undoes both. A second call with the same request gets the kept answer, another
	// request under the same key is fault.Invalid.
	Once(ctx context.Context, key OnceKey, do func(context.Context) (Answer, error)) (answer Answer, replayed bool, err error)
	// Ready says whether reads can be answered.
	Ready(ctx context.Context) error
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
}

// AuditFilter limits entries; zero values limit nothing.
type AuditFilter struct {
	Cluster string
	Only    []string // clusters the caller may see; nil is all, and entries of no cluster
}

// AuditEntry is who changed what.
type AuditEntry struct {
	ID      string          `json:"id"`
	At      time.Time       `json:"at"`
	By      string          `json:"by"` // the key's name
	KeyID   string          `json:"key_id"`
	Cluster string          `json:"cluster"` // "" for keys
	Action  string          `json:"action"`  // create, update, delete, revoke, apply
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Before  json.RawMessage `json:"before"`
	After   json.RawMessage `json:"after"`
}

// OnceKey is an Idempotency-Key of a principal and what it was sent with.
type OnceKey struct {
	Principal   string
	Key         string
	Fingerprint auth.Hash // of method, path and body
}

// Answer is a response as it is kept for a second asking.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
	Keep   bool // false undoes everything: the request was refused
}

// DatabaseAbout is what a database says of itself.
type DatabaseAbout struct {
	Version string `json:"version"`
	Schema  int64  `json:"schema"` // the number of its last migration
}
