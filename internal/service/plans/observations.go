package plans

import (
	"context"
	"time"

	"headroom/internal/data/storage"
)

// ObservationsChannel is where the store tells, by a cluster's name, that it has been observed.
const ObservationsChannel = "headroom_observations"

// Observations is what the store keeps of what really ran. They are not written to the audit log:
// there are many, each stands in their list with the key it came by, and they change nothing else.
// They are forgotten after 90 days.
type Observations interface {
	// ObservationBasis is what an observation of a moment is judged by: the plan that was current then,
	// or (the zero time) the one that is, of which Held is left out. Pins, and what was held back, of more
	// than a day ago are not remembered.
	ObservationBasis(ctx context.Context, cluster string, at time.Time) (ObservationBasis, error)
	// SaveObservation stores one under a new ID and in the name of who asks.
	SaveObservation(ctx context.Context, cluster string, o Observation) (Observation, error)
	// Observations lists those of moments in [From, Until), the newest first.
	Observations(ctx context.Context, cluster string, of ObservationFilter, page storage.Page) (storage.Listed[Observation], error)
	// Observation is one by its ID, or ("") the latest: the one of the latest moment, however late others came.
	Observation(ctx context.Context, cluster, id string) (Observation, error)
	// LatestObservations are those of all living clusters that have one, by the cluster's name.
	LatestObservations(ctx context.Context) (map[string]Observation, error)
}

// ObservationFilter limits observations to moments in [From, Until); zero values limit nothing.
type ObservationFilter struct{ From, Until time.Time }

// Observe judges what really runs against the plan, and keeps both.
func (d *Desk) Observe(ctx context.Context, cluster string, r ObservationRequest) (Observation, error) {
	now := d.now()
	if err := r.Validate(now); err != nil {
		return Observation{}, err
	}
	at, asked := now, time.Time{}
	if r.At != nil {
		at, asked = r.At.UTC(), r.At.UTC()
	}
	basis, err := d.observations.ObservationBasis(ctx, cluster, asked)
	if err != nil {
		return Observation{}, err
	}
	if r.At == nil && basis.Current != nil {
		basis.Plan.Held = basis.Current.HeldVMs(now)
	}
	return d.observations.SaveObservation(ctx, cluster, r.Judge(at.Truncate(time.Microsecond), basis)) // as exactly as it is kept
}
