package api

import (
	"context"
	"net/http"
	"time"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/report"
)

// executionBatch holds executions that were read elsewhere.
type executionBatch struct {
	Executions []history.Record `json:"executions"`
}

func (s *server) ListExecutions(ctx context.Context, r ListExecutionsRequest) (reply[PastExecutionList], error) {
	of, err := executionFilter(r.Params.Job, r.Params.User, r.Params.Queue, r.Params.From, r.Params.Until)
	if err != nil {
		return reply[PastExecutionList]{}, err
	}
	if r.Params.Outcome != nil {
		of.Outcome = string(*r.Params.Outcome)
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-executions", report.Executions, func(ctx context.Context, p storage.Page) (storage.Listed[history.StoredExecution], error) {
		return s.app.Stores.Executions.Executions(ctx, r.Cluster, of, p)
	})
}

func executionFilter(job, user, queue *string, from, until *time.Time) (of clusters.ExecutionFilter, err error) {
	for _, p := range []struct {
		to   *string
		from *string
	}{{&of.Job, job}, {&of.User, user}, {&of.Queue, queue}} {
		if p.from != nil {
			*p.to = *p.from
		}
	}
	of.From, of.Until, err = span(from, until)
	return of, err
}

func (s *server) ImportExecutions(ctx context.Context, r ImportExecutionsRequest) (reply[HistoryImport], error) {
	dryRun := r.Params.DryRun != nil && *r.Params.DryRun
	return plain(s.app.Clusters.TakeExecutions(ctx, r.Cluster, r.Body.Executions, clusters.TakeOptions{DryRun: dryRun}))
}

// historyWords: the form of a history follows from its content.
var historyWords = uploadWords{
	name: "history", types: []string{"application/octet-stream", "text/csv", "text/plain", "application/json", "application/x-ndjson", "application/gzip", "application/zstd"},
	kept:    "the executions that had come whole are kept, and the same again makes no doubles",
	smaller: "read it where it is with \"headroom history import\", or ask the administrator to raise HEADROOM_IMPORT_MAX_BYTES",
}

// importHistory takes the executions of a history that is the request's body.
func (s *server) importHistory(w http.ResponseWriter, r *http.Request) {
	takeUpload(s, w, r, historyWords, func(r *http.Request, sent *upload) (clusters.HistoryImport, error) {
		query := r.URL.Query()
		made, err := s.app.Clusters.ImportHistory(r.Context(), pathValue(r, "cluster"), clusters.TakeOptions{DryRun: query.Get("dry_run") == "true", Job: query.Get("job")}, sent)
		if sent.err != nil {
			err = sent.err // the part that was read may look like a fault of the history
		}
		return made, err
	})
}

func (s *server) DeleteExecutions(ctx context.Context, r DeleteExecutionsRequest) (reply[Deleted], error) {
	of, err := executionFilter(r.Params.Job, r.Params.User, r.Params.Queue, r.Params.From, r.Params.Until)
	if err != nil {
		return reply[Deleted]{}, err
	}
	if r.Params.Outcome != nil {
		of.Outcome = string(*r.Params.Outcome)
	}
	if of == (clusters.ExecutionFilter{}) {
		return reply[Deleted]{}, refusal{aboutParameter("job", "missing", "Say which executions to delete: by job, outcome, user, queue, from, until, or several of them.", nil)}
	}
	n, err := s.app.Stores.Executions.DeleteExecutions(ctx, r.Cluster, of)
	return plain(deleted{n}, err)
}

// GetExecution answers an execution, whose ETag changes when more of it is known.
func (s *server) GetExecution(ctx context.Context, r GetExecutionRequest) (reply[PastExecution], error) {
	e, err := s.app.Stores.Executions.Execution(ctx, r.Cluster, r.Execution)
	return reply[PastExecution]{body: e, hashed: true}, err
}

func (s *server) ListRecordedJobs(ctx context.Context, r ListRecordedJobsRequest) (reply[RecordedJobList], error) {
	return listed(ctx, s, paging(r.Params), r.Cluster+"-recorded-jobs", report.RecordedJobs, func(ctx context.Context, p storage.Page) (storage.Listed[history.RecordedJob], error) {
		return s.app.Stores.Executions.RecordedJobs(ctx, r.Cluster, p)
	})
}

func (s *server) ProfileFromHistory(ctx context.Context, r ProfileFromHistoryRequest) (reply[ProfileMade], error) {
	return plain(s.app.Clusters.ProfileFromHistory(ctx, r.Cluster, *r.Body))
}

func (s *server) ClassesFromHistory(ctx context.Context, r ClassesFromHistoryRequest) (reply[ClassesMade], error) {
	return plain(s.app.Clusters.ClassesFromHistory(ctx, r.Cluster, *r.Body))
}

func (s *server) ForecastFromHistory(ctx context.Context, r ForecastFromHistoryRequest) (reply[ForecastMade], error) {
	return plain(s.app.Clusters.ForecastFromHistory(ctx, r.Cluster, *r.Body))
}

func (s *server) FetchHistory(ctx context.Context, r FetchHistoryRequest) (reply[Run], error) {
	return startedRun[Run](s.app.Clusters.StartHistoryImport(ctx, r.Cluster, *r.Body))
}
