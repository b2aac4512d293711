// Package app puts the desks of the service together, and answers the questions that need several of them: it loads
// their inputs, lets the pure packages decide, and records the results. Callers use a store directly for actions
// without a decision (reading, listing, deleting).
package app

import (
	"time"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/telemetry"
)

// Config configures an App. Zero values stand for the defaults.
type Config struct {
	Solver lp.Solver        // optional; without it, open proofs are warnings
	Solves int              // concurrent solves; default one less than processors, at least one
	Queue  int              // solves that may wait; default 48
	Clock  func() time.Time // default time.Now

	KeySolveTime time.Duration // of one key in an hour; default no limit

	Kept clusters.KeptLimits // of a cluster; default no limit

	Telemetry *telemetry.Telemetry

	Issuer auth.Issuer // of people's tokens; default none

	ImportBytes int64 // of a price sheet or a history, also unpacked; default 8 GiB

	PlannerLook time.Duration // the longest between two looks for clusters to plan; default 5 s
}

// App is the service without its transport: its desks, and the questions that need several of them.
type App struct {
	Stores Stores

	Clusters *clusters.Desk
	Auth     *auth.Desk
	Hooks    *hooks.Desk
	Live     *heartbeat.Desk
	Reports  *reporting.Desk
	Runs     *runs.Desk
	Solver   *solving.Desk
	Plans    *plans.Desk
	Pools    *plans.PoolDesk
	Usage    *clusters.Usage

	Questions *question.Desk

	config Config
}

// New makes an App on its stores.
func New(stores Stores, keys *auth.Keyring, c Config) *App {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	a := &App{Stores: stores, config: c}
	access := auth.Config{Store: stores.Access, Listener: stores.Database, Ring: keys, Now: a.Now, Issuer: c.Issuer}
	if c.Telemetry != nil {
		access.Log = c.Telemetry.Log
	}
	a.Auth = auth.New(access)
	a.Hooks = hooks.New(stores.Webhooks, stores.Inputs)
	a.Runs = runs.New(stores.Runs, stores.Database)
	a.Solver = solving.New(c.Solver, c.Solves, c.Queue, c.Telemetry)
	a.Solver.Limit(c.KeySolveTime, a.Now)
	made := plans.Config{Store: stores.Plans, Pools: stores.StoredPools, Observations: stores.Observations, Inputs: stores.Inputs, Runs: stores.Runs,
		Database: stores.Database, Solver: a.Solver, Ring: keys, Now: a.Now, Telemetry: c.Telemetry, Look: c.PlannerLook}
	a.Plans, a.Pools = plans.New(made), plans.NewPools(made)
	a.Live = heartbeat.New(heartbeat.Config{Store: stores.Live, Admissions: stores.Admissions, Fits: stores.Fits, Ahead: a.Plans, Solver: a.Solver, Telemetry: c.Telemetry, Now: a.Now})
	a.Clusters = clusters.New(clusters.Config{Inputs: stores.Inputs, Profiles: stores.Profiles, Forecasts: stores.Forecasts, Calibrations: stores.Calibrations,
		Executions: stores.Executions, Fits: stores.Fits, Runs: stores.Runs, Plans: a.Plans, Hosts: a.Hooks, Telemetry: c.Telemetry, Now: a.Now,
		ImportBytes: c.ImportBytes})
	a.Usage = clusters.NewUsage(stores.Kept, c.Kept, a.warn)
	a.Questions = &question.Desk{Solver: a.Solver, Runs: a.Runs, Store: stores.Runs, Now: a.Now, Plans: a.Plans, Clusters: a.Clusters,
		Inputs: stores.Inputs, Profiles: stores.Profiles, Fits: stores.Fits, Packings: stores.Packings, Promises: stores.Promises}
	a.Plans.FindPromises = a.Questions.FindPromises
	a.Reports = reporting.New(reporting.Config{Store: stores.Reports, Clusters: stores.Inputs, Runs: stores.Runs, Now: a.Now,
		Ahead: a.reportAhead, Behind: a.reportBehind})
	return a
}

// Now returns the present moment.
func (a *App) Now() time.Time { return a.config.Clock().UTC() }
