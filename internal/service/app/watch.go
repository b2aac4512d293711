package app

import (
	"context"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
)

// WatchPlans keeps the board like the store's current plans, and what metrics show besides, until the
// context ends. It returns after the first load, with its error; the rest goes on in the background
// until done is closed.
func (a *App) WatchPlans(ctx context.Context) (done <-chan struct{}, err error) {
	watching, stop := context.WithCancel(ctx)
	fits, failing := a.Clusters.DriftMetrics(), a.Hooks.Failing()
	collectors, begin := a.Plans.Watched()
	begin = append(begin, a.Pools.Follow, a.Usage.Follow, func(ctx context.Context) (<-chan struct{}, error) {
		return storage.Followed{Channel: clusters.CalibrationChannel, What: "calibrations", Warn: a.warn, Read: fits.Read}.Follow(ctx, a.Stores.Database)
	}, func(ctx context.Context) (<-chan struct{}, error) {
		return storage.Followed{What: "webhooks that fail", Warn: a.warn, Read: failing.Read}.Follow(ctx, a.Stores.Database)
	})
	if t := a.config.Telemetry; t != nil {
		for _, c := range append(collectors, fits, failing, a.Usage) {
			if err := t.Registry.Register(c); err != nil {
				stop()
				return nil, err
			}
		}
	}
	var begun []<-chan struct{}
	for _, one := range begin {
		going, err := one(watching)
		if err != nil {
			stop()
			for _, ended := range begun {
				<-ended
			}
			return nil, err
		}
		begun = append(begun, going)
	}
	all := make(chan struct{})
	go func() {
		for _, ended := range begun {
			<-ended
		}
		stop()
		close(all)
	}()
	return all, nil
}

// warn tells the operator what is not as it should be.
func (a *App) warn(message string, err error) {
	if t := a.config.Telemetry; t != nil {
		t.Log.Warn(message, "error", err.Error())
	}
}

// StartPlanner plans every cluster and every pool whose inputs change or whose time has come, beside any number of
// other servers, until the context ends; done is closed when all is at rest.
func (a *App) StartPlanner(ctx context.Context) (done <-chan struct{}) {
	return a.Plans.Start(ctx, a.Pools.Duty())
}
