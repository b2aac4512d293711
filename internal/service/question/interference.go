package question

import (
	"context"

	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/slots/sim"
)

// Interference asks what batch work does to the requests beside it.
var Interference = known(&Kind[sim.InterferenceQuestion, sim.InterferenceAnswer]{
	Name: "interference", Light: true,
	From: map[string]Source[sim.InterferenceQuestion]{
		"/v1/interference/estimate": ofBody(func(r Request) (sim.InterferenceQuestion, error) { return sim.ReadInterference(r.Body) }),
	},
	Work: inOne(nil, func(ctx context.Context, _ *Bench, q sim.InterferenceQuestion) (sim.InterferenceAnswer, error) {
		return sim.EstimateInterference(ctx, q)
	}),
	Forms: func(_ sim.InterferenceQuestion, a sim.InterferenceAnswer, _ View) Forms {
		return usual(a, report.InterferenceText, report.Interference, nil)
	},
})
