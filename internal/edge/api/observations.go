package api

import (
	"context"
	"fmt"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
)

func (s *server) ListObservations(ctx context.Context, r ListObservationsRequest) (reply[ObservationList], error) {
	var of plans.ObservationFilter
	if r.Params.From != nil {
		of.From = *r.Params.From
	}
	if r.Params.Until != nil {
		of.Until = *r.Params.Until
	}
	if !of.From.IsZero() && !of.Until.IsZero() && of.From.After(of.Until) {
		return reply[ObservationList]{}, refusal{aboutParameter("from", "range", fmt.Sprintf("from is %s and until is %s; from must not be after until.",
			of.From.UTC().Format(time.RFC3339), of.Until.UTC().Format(time.RFC3339)), nil)}
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
