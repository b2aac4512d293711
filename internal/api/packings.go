package api

import (
	"net/http"
	"strconv"

	"headroom/internal/capacity"
)

// pack answers what is asked about a batch that is sent along. Like the body of solve the batch is read by hand, once
// there is a place to solve in.
func (s *server) pack(w http.ResponseWriter, r *http.Request) {
	q, err := packingAsked(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer, run, err := s.app.Pack(r.Context(), prefersAsync(r), func() (capacity.PackingQuestion, error) {
		var err error
		q.Batch, err = capacity.ReadPacking(bodyOf(r), s.config.Limits)
		return q, readingProblem(err)
	})
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = reply[capacity.PackingAnswer]{body: *answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// packingAsked is what a request's parameters ask about its batch; their forms are checked already.
func packingAsked(r *http.Request) (q capacity.PackingQuestion, err error) {
	values := r.URL.Query()
	q.Compare, q.OneMore = values.Get("compare") == "true", values.Get("one_more") == "true"
	if hours := values.Get("by_hours"); hours != "" {
		by, err := strconv.ParseFloat(hours, 64)
		if err != nil || !(by > 0 && by*3600 <= capacity.MaxSeconds) {
			return q, refusal{aboutParameter("by_hours", "range", "The parameter \"by_hours\" must be a number of hours, more than 0 and at most 2777.", nil)}
		}
		q.BySeconds = 3600 * by
	}
	for _, two := range []struct {
		both bool
		a, b string
	}{{q.Compare && q.OneMore, "compare", "one_more"}, {q.Compare && q.BySeconds > 0, "compare", "by_hours"}, {q.OneMore && q.BySeconds > 0, "one_more", "by_hours"}} {
		if two.both {
			return q, refusal{aboutParameter(two.b, "conflict", "The parameters \""+two.a+"\" and \""+two.b+"\" ask two questions; ask one at a time.", nil)}
		}
	}
	return q, nil
}
