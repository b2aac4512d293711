// Package app has one method for each decision the product offers: it loads what the decision needs,
// lets the pure packages decide, and records the result. It declares the Stores it needs; what needs
// no decision (reading, listing, deleting) callers ask of a store directly.
package app

import (
	"context"
	"sync"
	"time"

	"headroom/internal/core/lp"
	"headroom/internal/service/auth"
	"headroom/internal/service/telemetry"
)

// Config is how an App works. Zero values mean the defaults named.
type Config struct {
	Solver    lp.Solver        // none is allowed: what CBC cannot say is then a warning
	Solves    int              // solves at once; default one less than processors, at least one
	Queue     int              // solves that may wait; default 48
	Clock     func() time.Time // default time.Now
	Telemetry *telemetry.Telemetry

	// Issued is whom a token stands for that an issuer of theirs has made out; auth.ErrToken says that it opens nothing.
	// nil is that there is no issuer.
	Issued func(ctx context.Context, token string) (auth.Key, error)

	ImportBytes int64 // of a price sheet or a history, also when it is unpacked; default 8 GiB

	PlannerLook time.Duration // the longest between two looks for clusters to plan; default 5 s
}

// App is the service without its transport.
type App struct {
	Stores Stores
	Keys  *auth.Keyring
	Board *Board // the current plans in memory, once WatchPlans keeps it

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

// KeysChannel is where the store tells that keys have changed.
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

// Now is the moment it is.
func (a *App) Now() time.Time { return a.config.Clock().UTC() }

// SolverVersion is that of the solver's engine; "" where there is none, or it has not been needed yet.
func (a *App) SolverVersion() string {
	if told, ok := a.config.Solver.(interface{ Version() string }); ok {
		return told.Version()
	}
	return ""
}

// Solving is how many solves run and how many wait for a place.
func (a *App) Solving() (running, waiting int) { return a.solves.count() }

// StopSolving sends away who comes to solve; who waits or solves goes on.
func (a *App) StopSolving() { a.solves.close() }

// EndSolves ends the solves that run and wait: whose they are is told to ask again.
func (a *App) EndSolves() {
	a.solves.close()
	a.solves.clear()
	a.end()
}
