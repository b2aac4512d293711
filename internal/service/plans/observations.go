package plans

import (
	"context"
	"time"

	"example.org/headroom/internal/data/storage"
)

// ObservationsChannel notifies, by a cluster's name, of a new observation.
const ObservationsChannel = "headroom_observations"

// Observations stores observations of running VMs. They are not in the audit log: there are many, their list has each
// with its key, and they change nothing else. They are deleted after 90 days.
type Observations interface {
	// ObservationBasis returns the data by which an observation of a moment is judged: the plan that was current
	// then, or (for the zero time) the present one, without Held. Pins and held decreases of more than a day ago are
	// not stored.
	ObservationBasis(ctx context.Context, cluster string, at time.Time) (ObservationBasis, error)
	// SaveObservation stores an observation under a new ID and in the caller's name.
	SaveObservation(ctx context.Context, cluster string, o Observation) (Observation, error)
	// Observations lists those of moments in [From, Until), the newest first.
	Observations(ctx context.Context, cluster string, of ObservationFilter, page storage.Page) (storage.Listed[Observation], error)
	// Observation returns an observation by its ID, or ("") the latest: the one of the latest moment, in any order of
	// arrival.
	Observation(ctx context.Context, cluster, id string) (Observation, error)
	// LatestObservations returns the latest ones of all living clusters that have any, by the cluster's name.
	LatestObservations(ctx context.Context) (map[string]Observation, error)
	// PlansOf returns the plans that were current in some time and the observations then, each in its order.
	PlansOf(ctx context.Context, cluster string, from, until time.Time) ([]PlanStint, []SeenVMs, error)
}

// ObservationFilter limits observations to moments in [From, Until); zero values limit nothing.
type ObservationFilter struct{ From, Until time.Time }

// Past returns the plans that held in some time, and the VMs observed then.
func (d *Desk) Past(ctx context.Context, cluster string, from, until time.Time) (Past, error) {
	stints, seen, err := d.observations.PlansOf(ctx, cluster, from, until)
	if err != nil {
		return Past{}, err
	}
	return NewPast(from, until, stints, seen), nil
}

// Observe judges the running VMs against the plan, and stores both.
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
		for _, was := range basis.Current.held(now) {
			basis.Plan.Held = max(basis.Plan.Held, figure(was.Total))
		}
	}
	// in the precision of the database
	return d.observations.SaveObservation(ctx, cluster, r.judge(at.Truncate(time.Microsecond), basis))
}
