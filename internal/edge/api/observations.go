package api

import (
	"context"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
)

func (s *server) ListObservations(ctx context.Context, r ListObservationsRequest) (reply[ObservationList], error) {
	var of plans.ObservationFilter
	var err error
	if of.From, of.Until, err = span(r.Params.From, r.Params.Until); err != nil {
		return reply[ObservationList]{}, err
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-observations", report.Observations, func(ctx context.Context, p storage.Page) (storage.Listed[plans.Observation], error) {
		return s.app.Stores.Observations.Observations(ctx, r.Cluster, of, p)
	})
}

func (s *server) CreateObservation(ctx context.Context, r CreateObservationRequest) (reply[Observation], error) {
	o, err := s.app.Plans.Observe(ctx, r.Cluster, *r.Body)
	return reply[Observation]{body: o, created: o.ID}, err
}

// GetObservation answers an observation by its id, or the latest. The ETag tells when another one becomes the latest.
func (s *server) GetObservation(ctx context.Context, r GetObservationRequest) (reply[Observation], error) {
	id := r.Observation
	if id == "latest" {
		id = ""
	}
	o, err := s.app.Stores.Observations.Observation(ctx, r.Cluster, id)
	return reply[Observation]{body: o, hashed: true}, err
}
