package api

import (
	"net/http"

	"headroom/internal/slots/sim"
)

// estimateInterference answers the effect of batch work on the requests beside it. The body is read by hand, once
// there is a place to work in.
func (s *server) estimateInterference(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.EstimateInterference(r.Context(), func() (sim.InterferenceQuestion, error) {
		q, err := sim.ReadInterference(bodyOf(r))
		return q, readingProblem(err)
	})
	if err == nil {
		err = reply[sim.InterferenceAnswer]{body: answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
