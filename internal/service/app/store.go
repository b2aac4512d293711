package app

import (
	"context"
	"encoding/json"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
)

// Stores holds what the service keeps, a store for each subject. Every method is one transaction; methods called
// with a context from Once join its transaction. The caller comes from the context (auth.From) and is written to the
// audit log with every change. Errors are of the kinds of fault, as sentences for people; a database that is away,
// read-only, full or slow is fault.Busy.
type Stores struct {
	Inputs       clusters.Store
	Kept         clusters.KeptStore
	Profiles     clusters.Profiles
	Forecasts    clusters.Forecasts
	Plans        plans.Store
	Access       auth.Store
	Database     DatabaseStore
	Admissions   heartbeat.Admissions
	Calibrations clusters.Calibrations
	Drivers      heartbeat.Drivers
	Executions   clusters.Executions
	Fits         clusters.Fits
	Live         heartbeat.Store
	Observations plans.Observations
	Packings     question.Packings
	Promises     question.Promises
	Reports      reporting.Store
	Runs         runs.Store
	Servers      heartbeat.Servers
	StoredPools  plans.PoolStore
	Webhooks     hooks.Store
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

// AuditFilter limits entries; zero values limit nothing.
type AuditFilter struct {
	Cluster string
	Only    []string // clusters the caller may see; nil is all, and entries of no cluster
}

// AuditEntry records a change and its author.
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

// DatabaseAbout describes a database.
type DatabaseAbout struct {
	Version string `json:"version"`
	Schema  int64  `json:"schema"` // the number of its last migration
}
