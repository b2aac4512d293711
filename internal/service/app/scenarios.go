package app

import (
	"context"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/data/storage"
)

// Scenarios returns the cluster's saved scenarios.
func (a *App) Scenarios() storage.Collection[whatif.Scenario] {
	return storage.Checked[whatif.Scenario]{Collection: a.Stores.Inputs.Scenarios(),
		Check: func(_ context.Context, _ string, s *whatif.Scenario) error { return s.Validate() }}
}
