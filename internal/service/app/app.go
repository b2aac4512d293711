// Package app has one method for each decision the product offers: it loads the inputs of the decision, lets the pure
// packages decide, and records the result. It declares the Stores it needs. Callers use a store directly for actions
// without a decision (reading, listing, deleting).
package app

import (
	"context"
	"sync"
	"time"

	"headroom/internal/core/lp"
	"headroom/internal/service/auth"
	"headroom/internal/service/telemetry"
)

// Config configures an App. Zero values stand for the defaults.
type Config struct {
	Solver    lp.Solver        // optional; without it, open proofs are warnings
	Solves    int              // concurrent solves; default one less than processors, at least one
	Queue     int              // solves that may wait; default 48
	Clock     func() time.Time // default time.Now
	Telemetry *telemetry.Telemetry

	// Issued returns the person behind an issuer's token, or auth.ErrToken for an invalid one. It is nil without an
	// issuer.
	Issued func(ctx context.Context, token string) (auth.Key, error)

	ImportBytes int64 // of a price sheet or a history, also unpacked; default 8 GiB

	PlannerLook time.Duration // the longest between two looks for clusters to plan; default 5 s
}

// App is the service without its transport.
type App struct {
	Stores Stores
	Keys   *auth.Keyring
	Board  *Board // the current plans in memory, once WatchPlans keeps it

	Pools *PoolBoard // those of pools, likewise

	RunWatch RunWatch // who waits for runs
	results  sync.Map // of runs that this server works on: by id, a func() (RunResult, error) of what they have until now

	config Config
	solves *turnstile
	// importing has a place for each file of forecasts that is read at once.
	importing chan struct{}
	sheets    chan struct{} // likewise for each price sheet that is sent along
	histories chan struct{} // and for each history

	lives liveDesk

	ended context.Context // of all solves: ends with EndSolves
	end   context.CancelFunc
}

// KeysChannel notifies of changed keys.
const KeysChannel = "headroom_keys"

// New makes an App on its stores.
func New(stores Stores, keys *auth.Keyring, c Config) *App {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.PlannerLook <= 0 {
		c.PlannerLook = plannerLook
	}
	if c.ImportBytes <= 0 {
		c.ImportBytes = importBytes
	}
	a := &App{Stores: stores, Keys: keys, config: c, solves: newTurnstile(c.Solves, c.Queue), importing: make(chan struct{}, 2), sheets: make(chan struct{}, importsRead), histories: make(chan struct{}, historiesRead)}
	a.Pools = &PoolBoard{source: stores.StoredPools}
	a.ended, a.end = context.WithCancel(context.Background())
	a.Board = newBoard(boardStores{stores.Plans, stores.Database}, a.Now, func(message string, err error) {
		if c.Telemetry != nil {
			c.Telemetry.Log.Warn(message, "error", err.Error())
		}
	})
	return a
}

// Now returns the present moment.
func (a *App) Now() time.Time { return a.config.Clock().UTC() }

// SolverVersion returns the version of the solver's engine, or "" without one or before its first use.
func (a *App) SolverVersion() string {
	if told, ok := a.config.Solver.(interface{ Version() string }); ok {
		return told.Version()
	}
	return ""
}

// Solving counts the running and the waiting solves.
func (a *App) Solving() (running, waiting int) { return a.solves.count() }

// StopSolving refuses new solves; waiting and running ones continue.
func (a *App) StopSolving() { a.solves.close() }

// EndSolves ends the running and waiting solves; their callers are asked to try again.
func (a *App) EndSolves() {
	a.solves.close()
	a.solves.clear()
	a.end()
}
