package api

import (
	"context"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/service/app"
)

// pinRequest is the body of a request to pin a plan.
type pinRequest struct {
	Number int64     `json:"number,omitzero"`
	ID     string    `json:"id,omitzero"`
	Until  time.Time `json:"until"`
}

func (s *server) GetPin(ctx context.Context, r GetPinRequest) (reply[Pinned], error) {
	return plain(s.app.Stores.Plans.PinOf(ctx, r.Cluster))
}

func (s *server) PinPlan(ctx context.Context, r PinPlanRequest) (reply[Pinned], error) {
	if (r.Body.Number == 0) == (r.Body.ID == "") {
		return reply[Pinned]{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "", Code: "one_of",
			Detail: "Say which plan to pin: give exactly one of \"number\" and \"id\"."}}}
	}
	return plain(s.app.PinPlan(ctx, r.Cluster, app.PlanRef{Number: r.Body.Number, ID: r.Body.ID}, r.Body.Until))
}

func (s *server) UnpinPlan(ctx context.Context, r UnpinPlanRequest) (reply[nothing], error) {
	return done(s.app.UnpinPlan(ctx, r.Cluster))
}
