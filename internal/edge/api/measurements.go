package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/report"
)

// measurementBatch holds measurements as sent.
type measurementBatch struct {
	Measurements []perf.MeasurementRequest `json:"measurements"`
}

func (s *server) AddMeasurements(ctx context.Context, r AddMeasurementsRequest) (reply[MeasurementsTaken], error) {
	return plain(s.app.Clusters.Measure(ctx, r.Cluster, r.Body.Measurements))
}

func (s *server) ListMeasurements(ctx context.Context, r ListMeasurementsRequest) (reply[MeasurementList], error) {
	of, err := measurementFilter(r.Params.Job, (*string)(r.Params.Kind), r.Params.From, r.Params.Until)
	if err != nil {
		return reply[MeasurementList]{}, err
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-measurements", report.JobMeasurements, func(ctx context.Context, p storage.Page) (storage.Listed[perf.JobMeasurement], error) {
		return s.app.Stores.Fits.JobMeasurements(ctx, r.Cluster, of, p)
	})
}

func (s *server) DeleteMeasurements(ctx context.Context, r DeleteMeasurementsRequest) (reply[Deleted], error) {
	of, err := measurementFilter(r.Params.Job, (*string)(r.Params.Kind), r.Params.From, r.Params.Until)
	if err != nil {
		return reply[Deleted]{}, err
	}
	if of == (clusters.MeasurementFilter{}) {
		return reply[Deleted]{}, refusal{aboutParameter("job", "missing", "Say which measurements to delete: by job, kind, from, until, or several of them.", nil)}
	}
	n, err := s.app.Clusters.ForgetMeasurements(ctx, r.Cluster, of)
	return plain(deleted{n}, err)
}

func measurementFilter(job, kind *string, from, until *time.Time) (of clusters.MeasurementFilter, err error) {
	if job != nil {
		of.Job = *job
	}
	if kind != nil {
		of.Kind = perf.FitKind(*kind)
	}
	of.From, of.Until, err = span(from, until)
	return of, err
}

func (s *server) ListFits(ctx context.Context, r ListFitsRequest) (reply[JobFitList], error) {
	of, _ := measurementFilter(r.Params.Job, (*string)(r.Params.Kind), nil, nil)
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-fits", report.JobFits, func(ctx context.Context, p storage.Page) (storage.Listed[perf.JobFit], error) {
		return s.app.Stores.Fits.JobFits(ctx, r.Cluster, of, p)
	})
}

func (s *server) GetFit(ctx context.Context, r GetFitRequest) (reply[JobFit], error) {
	ask := clusters.FitAsk{VMs: r.Params.Vms, Residual: r.Params.Residual}
	if r.Params.Version != nil {
		ask.Version = *r.Params.Version
	}
	if r.Params.Method != nil {
		ask.Method = perf.FitChoice(*r.Params.Method)
	}
	f, err := s.app.Clusters.FitOf(ctx, r.Cluster, r.Job, perf.FitKind(r.Kind), ask)
	if input := (*fault.InputError)(nil); errors.As(err, &input) { // here the members are parameters
		f := input.Findings[0]
		return reply[JobFit]{}, refusal{aboutParameter(strings.TrimPrefix(f.Pointer, "/"), f.Code, f.Detail, nil)}
	}
	return reply[JobFit]{body: f, hashed: true}, err
}

func (s *server) ListFitVersions(ctx context.Context, r ListFitVersionsRequest) (reply[JobFitList], error) {
	return listed(ctx, s, paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, r.Cluster+"-fit-versions", report.JobFits, func(ctx context.Context, p storage.Page) (storage.Listed[perf.JobFit], error) {
		return s.app.Stores.Fits.JobFitVersions(ctx, r.Cluster, r.Job, perf.FitKind(r.Kind), p)
	})
}
