package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"headroom/internal/ask/pack"
	"headroom/internal/core/capacity"
	"headroom/internal/data/storage"
	"headroom/internal/service/app"
	"headroom/internal/service/report"
	"headroom/internal/service/runs"
)

// pack answers questions about a batch in the request. As for solve, the batch is read by hand, once there is a place
// to solve in.
func (s *server) pack(w http.ResponseWriter, r *http.Request) {
	q, err := packingAsked(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer, run, err := s.app.Pack(r.Context(), prefersAsync(r), func() (pack.PackingQuestion, error) {
		var err error
		q.Batch, err = pack.ReadPacking(bodyOf(r), s.config.Limits)
		return q, readingProblem(err)
	})
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = answerIn(w, r, "packing", *answer, report.PackingAnswer, nil)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// packClasses answers questions about a batch of a cluster's classes.
func (s *server) packClasses(w http.ResponseWriter, r *http.Request) {
	q, err := packingAsked(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ask := app.ClassPackingAsk{Compare: q.Compare, OneMore: q.OneMore, BySeconds: q.BySeconds, ByClock: r.URL.Query().Get("by")}
	if start := r.URL.Query().Get("start"); start != "" {
		ask.Start, _ = time.Parse(time.RFC3339Nano, start) // its form is checked already
	}
	answer, run, err := s.app.PackClasses(r.Context(), pathValue(r, "cluster"), prefersAsync(r), func() (app.ClassPackingAsk, error) {
		var err error
		ask.Batch, err = pack.ReadClassBatch(bodyOf(r), s.config.Limits)
		return ask, readingProblem(err)
	})
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = reply[pack.PackingAnswer]{body: *answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// packingAsked reads the question from a request's parameters, whose forms are already checked.
func packingAsked(r *http.Request) (q pack.PackingQuestion, err error) {
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
	}{{values.Get("by") != "" && q.BySeconds > 0, "by", "by_hours"}, {q.Compare && values.Get("by") != "", "compare", "by"}, {q.OneMore && values.Get("by") != "", "one_more", "by"}, {q.Compare && q.OneMore, "compare", "one_more"}, {q.Compare && q.BySeconds > 0, "compare", "by_hours"}, {q.OneMore && q.BySeconds > 0, "one_more", "by_hours"}} {
		if two.both {
			return q, refusal{aboutParameter(two.b, "conflict", "The parameters \""+two.a+"\" and \""+two.b+"\" ask two questions; ask one at a time.", nil)}
		}
	}
	return q, nil
}

// createPacking packs a batch and keeps the packing in a cluster.
func (s *server) createPacking(w http.ResponseWriter, r *http.Request) {
	kept, run, err := s.app.KeepPacking(r.Context(), pathValue(r, "cluster"), prefersAsync(r), func() (pack.PackingProblem, error) {
		p, err := pack.ReadPacking(bodyOf(r), s.config.Limits)
		return p, readingProblem(err)
	})
	switch {
	case err != nil:
	case kept == nil:
		err = s.answerRun(w, r, run)
	default:
		err = reply[pack.KeptPacking]{body: *kept, created: kept.ID, hashed: true}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) ListPackings(ctx context.Context, r ListPackingsRequest) (reply[PackingList], error) {
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-packings", report.KeptPackings, func(ctx context.Context, p storage.Page) (storage.Listed[pack.PackingSummary], error) {
		return s.app.Stores.Packings.Packings(ctx, r.Cluster, p)
	})
}

func (s *server) GetPacking(ctx context.Context, r GetPackingRequest) (reply[KeptPacking], error) {
	kept, err := s.app.Stores.Packings.Packing(ctx, r.Cluster, r.Packing)
	if err != nil || r.Params.Format == nil || *r.Params.Format != "csv" {
		return reply[KeptPacking]{body: kept, hashed: true}, err
	}
	var packing pack.Packing
	if err := json.Unmarshal(kept.Packing, &packing); err != nil {
		return reply[KeptPacking]{}, fmt.Errorf("read packing %s: %w", kept.ID, err)
	}
	var text bytes.Buffer
	err = report.PackedJobs(packing).CSV(&text)
	return reply[KeptPacking]{table: &tableReply{name: r.Cluster + "-packing.csv", first: text.Bytes()}}, err
}

func (s *server) DeletePacking(ctx context.Context, r DeletePackingRequest) (reply[nothing], error) {
	return done(s.app.Stores.Packings.DeletePacking(ctx, r.Cluster, r.Packing))
}

// runPacking answers the result of a run about a batch as a table.
func runPacking(w http.ResponseWriter, r *http.Request, run runs.Run, result runs.Result) error {
	var answer pack.PackingAnswer
	var err error
	if run.Kind == app.PackingRun {
		err = json.Unmarshal(result.Body, &answer)
	} else {
		var kept pack.KeptPacking
		answer.Packing = new(pack.Packing)
		if err = json.Unmarshal(result.Body, &kept); err == nil {
			err = json.Unmarshal(kept.Packing, answer.Packing)
		}
	}
	if err != nil {
		return fmt.Errorf("read the result of run %s: %w", run.ID, err)
	}
	return answerIn(w, r, "packing", answer, report.PackingAnswer, nil)
}
