package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/report"
)

// The bodies of requests about forecasts, and of their answers.
type (
	forecastRows struct {
		Rows []inputs.Forecast `json:"rows"`
	}
	deleted struct {
		Deleted int64 `json:"deleted"`
	}
)

// putForecasts reads JSON by capacity, because there may be a hundred thousand rows, and CSV as a stream.
func (s *server) putForecasts(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	dryRun := query.Get("dry_run") == "true"
	var done inputs.Written
	var err error
	if sendsCSV(r) {
		done, err = s.importForecasts(r, dryRun)
	} else {
		var rows []inputs.Forecast
		if rows, err = inputs.ReadForecasts(bodyOf(r)); err != nil {
			err = readingProblem(err)
		} else if query.Has("counts") {
			err = refusal{aboutParameter("counts", "not_taken", "Rows of JSON say themselves what they count, as \"arrivals\" or \"jobs\"; leave \"counts\" out, or send CSV.", nil)}
		} else if holes := query.Get("holes"); holes != "" && holes != string(inputs.HolesKeep) {
			err = refusal{aboutParameter("holes", "not_taken", "Rows of JSON leave what is stored for other hours; leave \"holes\" out, or send CSV.", nil)}
		} else {
			done, err = s.app.Clusters.PutForecasts(r.Context(), pathValue(r, "cluster"), rows, dryRun)
		}
	}
	s.answerWritten(w, r, done, err)
}

// importForecasts reports faults of the file's text as 400, and senseless values as 422.
func (s *server) importForecasts(r *http.Request, dryRun bool) (inputs.Written, error) {
	holes := inputs.HolesRefuse
	if said := r.URL.Query().Get("holes"); said != "" {
		holes = inputs.Holes(said)
	}
	body := &watchedReader{in: r.Body}
	done, err := s.app.Clusters.ImportForecasts(r.Context(), pathValue(r, "cluster"), body, holes, inputs.Counts(r.URL.Query().Get("counts")), dryRun)
	if body.err != nil {
		return done, s.cutOff(body.err)
	}
	return done, readingProblem(err)
}

// watchedReader remembers the error, if it is not the end.
type watchedReader struct {
	in  io.Reader
	err error
}

func (w *watchedReader) Read(into []byte) (int, error) {
	n, err := w.in.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

func (s *server) putWeeklyForecast(w http.ResponseWriter, r *http.Request) {
	var done inputs.Written
	weekly, err := inputs.ReadWeekly(bodyOf(r))
	if err != nil {
		err = readingProblem(err)
	} else {
		done, err = s.app.Clusters.PutWeekly(r.Context(), pathValue(r, "cluster"), weekly)
	}
	s.answerWritten(w, r, done, err)
}

func (s *server) answerWritten(w http.ResponseWriter, r *http.Request, done inputs.Written, err error) {
	if err == nil {
		err = reply[inputs.Written]{body: done}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) GetForecastPattern(ctx context.Context, r GetForecastPatternRequest) (reply[WeekPattern], error) {
	return plain(s.app.Clusters.WeekPattern(ctx, r.Cluster, forecastFilter(&r.Params.Class, r.Params.From, r.Params.Until)))
}

func (s *server) ListForecasts(ctx context.Context, r ListForecastsRequest) (reply[ForecastList], error) {
	of := forecastFilter(r.Params.Class, r.Params.From, r.Params.Until)
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	if r.Params.Wide != nil && *r.Params.Wide {
		return s.wideForecasts(ctx, r.Cluster, of, page)
	}
	return listed(ctx, s, page, r.Cluster+"-forecasts", report.Forecasts, func(ctx context.Context, p storage.Page) (storage.Listed[inputs.Forecast], error) {
		return s.app.Stores.Forecasts.Forecasts(ctx, r.Cluster, of, p)
	})
}

// wideForecasts returns the rows as a table with a row an hour and a column a class.
func (s *server) wideForecasts(ctx context.Context, cluster string, of clusters.ForecastFilter, p paging) (reply[ForecastList], error) {
	switch {
	case p.Format == nil || *p.Format != "csv":
		return reply[ForecastList]{}, refusal{aboutParameter("wide", "not_taken", "Only as CSV forecasts have a column a class; add format=csv.", nil)}
	case p.Limit != nil || p.Cursor != nil:
		return reply[ForecastList]{}, refusal{aboutParameter("limit", "not_taken", "This table has no pages; leave limit and cursor out, and choose rows by from and until.", nil)}
	}
	classes, err := s.app.Clusters.TableClasses(ctx, cluster, of)
	if err != nil {
		return reply[ForecastList]{}, err
	}
	for _, name := range classes {
		if strings.EqualFold(name, "hour") || strings.EqualFold(name, "class") {
			return reply[ForecastList]{}, fmt.Errorf("the class %q is named like a column of its own, so the table could not be read again; leave \"wide\" out: %w", name, fault.Conflict)
		}
	}
	var first bytes.Buffer
	if err := report.ForecastHours(classes).CSV(&first); err != nil {
		return reply[ForecastList]{}, err
	}
	return reply[ForecastList]{table: &tableReply{name: cluster + "-forecasts.csv", first: first.Bytes(), rest: func(w io.Writer) error {
		var rows [][]report.Cell
		write := func() error {
			err := report.ForecastHours(classes, rows...).CSVRows(w)
			rows = rows[:0]
			return err
		}
		err := s.app.Clusters.ForecastTable(ctx, cluster, of, classes, func(hour time.Time, jobs []*float64) error {
			if rows = append(rows, report.ForecastHour(hour, jobs)); len(rows)*len(classes) < 10_000 {
				return nil
			}
			return write()
		})
		if err == nil {
			err = write()
		}
		if err != nil && ctx.Err() == nil {
			s.log(ctx).Error("table cut off", "error", err.Error())
		}
		return err
	}}}, nil
}

func (s *server) DeleteForecasts(ctx context.Context, r DeleteForecastsRequest) (reply[Deleted], error) {
	of := forecastFilter(r.Params.Class, r.Params.From, r.Params.Until)
	if of == (clusters.ForecastFilter{}) {
		return reply[Deleted]{}, refusal{aboutParameter("class", "missing", "Say which rows to delete: by class, from, until, or several of them.", nil)}
	}
	n, err := s.app.Stores.Forecasts.DeleteForecasts(ctx, r.Cluster, of)
	return plain(deleted{n}, err)
}

func forecastFilter(class *string, from, until *time.Time) (of clusters.ForecastFilter) {
	if class != nil {
		of.Class = *class
	}
	if from != nil {
		of.From = *from
	}
	if until != nil {
		of.Until = *until
	}
	return of
}
