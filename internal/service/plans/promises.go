package plans

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// Promiser starts a run that finds the promises of a cluster's classes. It does nothing while one goes on, or if the last one began
// less than a pause ago.
type Promiser func(ctx context.Context, cluster string, pause time.Duration) error

// The pauses between two runs that find the promises of a cluster: where some lack, and where they were found for something else, such
// as the jobs of another hour.
const (
	promisePause = time.Minute
	rangePause   = time.Hour
)

// findPromises lets promises be found for a cluster whose plan lacks some, or has some that were found for something else.
func (d *Desk) findPromises(ctx context.Context, cluster string, warnings []capacity.Warning) {
	warned := func(code string) bool {
		return slices.ContainsFunc(warnings, func(w capacity.Warning) bool { return w.Code == code })
	}
	pause := promisePause
	switch {
	case d.Promise == nil, !warned(words.NoPromise) && !warned(words.PromiseElsewhere):
		return
	case !warned(words.NoPromise):
		pause = rangePause
	}
	err := d.Promise(ctx, cluster, pause)
	var wrong *fault.InputError // such as a target of a class without a profile: whoever asks is told
	if err != nil && !errors.As(err, &wrong) {
		complain(ctx, d.telemetry, "promises could not be asked for", err, "cluster", cluster)
	}
}
