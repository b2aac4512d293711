package plans

import (
	"context"
	"errors"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// findPromises lets promises be found for a cluster whose plan lacks some, or has some that were found for something else.
func (d *Desk) findPromises(ctx context.Context, cluster string, warnings []capacity.Warning) {
	if d.FindPromises == nil || !slices.ContainsFunc(warnings, func(w capacity.Warning) bool { return w.Code == words.NoPromise || w.Code == words.PromiseElsewhere }) {
		return
	}
	err := d.FindPromises(ctx, cluster)
	var wrong *fault.InputError // such as a target of a class without a profile: whoever asks is told
	if err != nil && !errors.As(err, &wrong) {
		complain(ctx, d.telemetry, "promises could not be asked for", err, "cluster", cluster)
	}
}
