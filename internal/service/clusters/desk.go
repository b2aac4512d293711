// Package clusters is the desk of what clusters are planned from: types, prices, contracts, classes, profiles and
// forecasts. It checks changes, imports files, and learns from past executions.
package clusters

import (
	"context"
	"time"

	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/telemetry"
)

// Desk keeps what clusters are planned from: it checks changes, imports prices, forecasts and histories, and makes
// profiles, fits and calibrations of past executions.
type Desk struct {
	inputs       Store
	profiles     Profiles
	forecasts    Forecasts
	calibrations Calibrations
	executions   Executions
	fits         Fits
	runs         runStarter
	plans        planning
	hosts        allowedHosts
	telemetry    *telemetry.Telemetry
	now          func() time.Time
	importBytes  int64

	// Each has a place for every file of its kind that is read at once.
	reading, sheets, histories chan struct{}
}

// Config configures a Desk.
type Config struct {
	Inputs       Store
	Profiles     Profiles
	Forecasts    Forecasts
	Calibrations Calibrations
	Executions   Executions
	Fits         Fits
	Runs         runStarter
	Plans        planning
	Hosts        allowedHosts
	Telemetry    *telemetry.Telemetry // optional
	Now          func() time.Time
	ImportBytes  int64 // of a price sheet or a history, also unpacked; default 8 GiB
}

// runStarter starts runs in the background.
type runStarter interface {
	StartRun(ctx context.Context, n runs.NewRun) (runs.Run, error)
}

// planning hears of changes to a cluster; the function that it returns ends the change.
type planning interface {
	Changing(ctx context.Context, cluster string) func()
}

// allowedHosts refuses addresses that the server may not fetch.
type allowedHosts interface {
	CheckAddress(ctx context.Context, address string) error
}

func New(c Config) *Desk {
	if c.ImportBytes <= 0 {
		c.ImportBytes = importBytes
	}
	return &Desk{
		inputs: c.Inputs, profiles: c.Profiles, forecasts: c.Forecasts, calibrations: c.Calibrations, executions: c.Executions, fits: c.Fits,
		runs: c.Runs, plans: c.Plans, hosts: c.Hosts, telemetry: c.Telemetry, now: c.Now, importBytes: c.ImportBytes,
		reading: make(chan struct{}, forecastsRead), sheets: make(chan struct{}, importsRead), histories: make(chan struct{}, historiesRead),
	}
}
