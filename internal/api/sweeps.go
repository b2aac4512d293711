package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"headroom/internal/app"
	"headroom/internal/capacity"
	"headroom/internal/plan"
	"headroom/internal/report"
)

// xlsxType is the media type of spreadsheets.
const xlsxType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// sweep answers a sweep that brings its problem along. Like that of solve it is read by hand, once there is a
// place to solve in.
func (s *server) sweep(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.Sweep(r.Context(), prefersAsync(r), func() (capacity.SweepQuestion, error) {
		q, err := capacity.ReadSweep(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(err)
		}
		return q, err
	})
	s.answerSweep(w, r, answer, run, err)
}

func (s *server) clusterSweep(w http.ResponseWriter, r *http.Request) {
	q, err := capacity.ReadClusterSweep(bodyOf(r))
	if err != nil {
		s.fail(w, r, readingProblem(err))
		return
	}
	answer, run, err := s.app.SweepCluster(r.Context(), pathValue(r, "cluster"), q, prefersAsync(r))
	s.answerSweep(w, r, answer, run, err)
}

func prefersAsync(r *http.Request) bool {
	prefer := r.Header.Get("Prefer")
	return preferAsync(&prefer)
}

// answerSweep answers the points, or 202 and the run that plans them.
func (s *server) answerSweep(w http.ResponseWriter, r *http.Request, answer *plan.SweepAnswer, run capacity.Run, err error) {
	switch {
	case err != nil:
	case answer == nil:
		var started reply[capacity.Run]
		if started, err = startedRun[capacity.Run](run, nil); err == nil {
			if prefersAsync(r) {
				started.applied = "respond-async"
			}
			err = started.write(w, r)
		}
	default:
		err = answerIn(w, r, "sweep", *answer, report.Sweep, report.SweepWorkbook)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// answerIn answers as a document, or where the request asks for one as a table or a spreadsheet of a name.
func answerIn[T any](w http.ResponseWriter, r *http.Request, name string, answer T, table func(T) report.Table, workbook func(io.Writer, T) error) error {
	switch r.URL.Query().Get("format") {
	case "csv":
		var text bytes.Buffer
		if err := table(answer).CSV(&text); err != nil {
			return err
		}
		return (&csvReply{name: name + ".csv", first: text.Bytes()}).write(w, r)
	case "xlsx":
		var file bytes.Buffer
		if err := workbook(&file, answer); err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", xlsxType)
		h.Set("Content-Disposition", `attachment; filename="`+name+`.xlsx"`)
		h.Set("Content-Length", strconv.Itoa(file.Len()))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(file.Bytes()) // who is gone does not want to know
		return nil
	}
	return reply[T]{body: answer}.write(w, r)
}

// runTable answers the result of a run as a table or a spreadsheet.
func (s *server) runTable(w http.ResponseWriter, r *http.Request) {
	run, err := s.app.Run(r.Context(), pathValue(r, "id"))
	if err == nil && run.Kind != app.SweepRun {
		err = refusal{aboutParameter("format", "choice", fmt.Sprintf("What a run of the kind %q makes comes in its own form alone; leave \"format\" out.", run.Kind), nil)}
	}
	var result app.RunResult
	if err == nil {
		result, err = s.app.RunResult(r.Context(), run.ID)
	}
	var answer plan.SweepAnswer
	if err == nil {
		err = json.Unmarshal(result.Body, &answer)
	}
	if err == nil {
		err = answerIn(w, r, "sweep", answer, report.Sweep, report.SweepWorkbook)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
