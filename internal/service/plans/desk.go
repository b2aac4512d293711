package plans

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/telemetry"
)

// Config holds what a Desk and a PoolDesk work with.
type Config struct {
	Store        Store
	Pools        PoolStore
	Observations Observations
	Inputs       Inputs
	Runs         runStarter
	Database     Database
	Solver       *solving.Desk
	Ring         *auth.Keyring // that goes into copies
	Now          func() time.Time
	Telemetry    *telemetry.Telemetry // nil tells nobody
	Look         time.Duration        // the longest between two looks for clusters to plan; default 5 s
}

// Inputs reads what clusters are planned from.
type Inputs interface {
	Snapshot(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, error)
	// Outlook is a snapshot of whole hours, with their forecasts.
	Outlook(ctx context.Context, cluster string, from, until time.Time) (horizon.Outlook, error)
}

// runStarter starts runs in the background.
type runStarter interface {
	StartRun(ctx context.Context, n runs.NewRun) (runs.Run, error)
}

// Database hears what the store tells, and says whether it is there.
type Database interface {
	storage.Listener
	// Ready says whether reads can be answered.
	Ready(ctx context.Context) error
}

// Desk makes, keeps and shows the plans of clusters, by request and by itself.
type Desk struct {
	// FindPromises starts a run that finds the promises of a cluster's classes; nil finds none.
	FindPromises func(ctx context.Context, cluster string) error

	Board *Board // the current plans in memory, once they are watched

	store        Store
	observations Observations
	inputs       Inputs
	runs         runStarter
	database     Database
	solver       *solving.Desk
	ring         *auth.Keyring
	now          func() time.Time
	telemetry    *telemetry.Telemetry
	look         time.Duration
	ahead        foresight
	unvoted      chan struct{} // a plan was stored whose vote waits
}

func New(c Config) *Desk {
	if c.Look <= 0 {
		c.Look = plannerLook
	}
	d := &Desk{store: c.Store, observations: c.Observations, inputs: c.Inputs, runs: c.Runs, database: c.Database,
		solver: c.Solver, ring: c.Ring, now: c.Now, telemetry: c.Telemetry, look: c.Look, unvoted: make(chan struct{}, 1)}
	d.Board = newBoard(boardStores{c.Store, c.Database}, c.Now, c.warn)
	return d
}

func (c Config) warn(message string, err error) {
	if c.Telemetry != nil {
		c.Telemetry.Log.Warn(message, "error", err.Error())
	}
}

// Watched returns what metrics show of plans, and what keeps that and the board like the store.
func (d *Desk) Watched() ([]prometheus.Collector, []func(context.Context) (done <-chan struct{}, err error)) {
	seen, gone := &observed{source: d.observations, now: d.now}, &removed{source: d.store}
	follow := storage.Followed{Channel: ObservationsChannel, What: "observations and removed plans", Warn: d.Board.warn,
		Read: func(ctx context.Context) error {
			return errors.Join(seen.read(ctx), gone.read(ctx)) // of the latter there is no word; within a minute will do
		}}
	return []prometheus.Collector{boardMetrics{d.Board}, seen, gone}, []func(context.Context) (<-chan struct{}, error){
		d.Board.run, func(ctx context.Context) (<-chan struct{}, error) { return follow.Follow(ctx, d.database) }}
}

// PoolDesk makes, keeps and shows the plans of pools.
type PoolDesk struct {
	Board *PoolBoard // the current plans in memory, once they are followed

	store     PoolStore
	inputs    Inputs
	database  Database
	solver    *solving.Desk
	now       func() time.Time
	telemetry *telemetry.Telemetry
	warn      func(message string, err error)
}

func NewPools(c Config) *PoolDesk {
	return &PoolDesk{Board: &PoolBoard{source: c.Pools}, store: c.Pools, inputs: c.Inputs, database: c.Database,
		solver: c.Solver, now: c.Now, telemetry: c.Telemetry, warn: c.warn}
}

// Follow keeps the board like the store until the context ends.
func (d *PoolDesk) Follow(ctx context.Context) (done <-chan struct{}, err error) {
	return storage.Followed{Channel: PoolsChannel, What: "plans of pools", Warn: d.warn, Read: d.Board.read}.Follow(ctx, d.database)
}

// Duty plans pools by itself.
func (d *PoolDesk) Duty() Duty { return Duty{PoolsChannel, d.store.ClaimPool, d.planClaimed} }
