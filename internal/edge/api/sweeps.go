package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"headroom/internal/ask/whatif"
	"headroom/internal/service/app"
	"headroom/internal/service/report"
	"headroom/internal/service/runs"
)

// xlsxType is the media type of spreadsheets.
const xlsxType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// tableType is the media type of tables.
const tableType = "text/csv; charset=utf-8; header=present"

// sweep answers a sweep that includes its problem. As for solve, the body is read by hand, once there is a place to
// solve in.
func (s *server) sweep(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.Sweep(r.Context(), prefersAsync(r), func() (whatif.SweepQuestion, error) {
		q, err := whatif.ReadSweep(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(err)
		}
		return q, err
	})
	s.answerSweep(w, r, answer, run, err)
}

func (s *server) clusterSweep(w http.ResponseWriter, r *http.Request) {
	q, err := whatif.ReadClusterSweep(bodyOf(r))
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
func (s *server) answerSweep(w http.ResponseWriter, r *http.Request, answer *whatif.SweepAnswer, run runs.Run, err error) {
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = answerIn(w, r, "sweep", *answer, report.Sweep, report.SweepWorkbook)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// answerRun answers 202 and the run that works on the request.
func (s *server) answerRun(w http.ResponseWriter, r *http.Request, run runs.Run) error {
	started, err := startedRun[runs.Run](run, nil)
	if err != nil {
		return err
	}
	if prefersAsync(r) {
		started.applied = "respond-async"
	}
	return started.write(w, r)
}

// answerIn answers a document or, on request, a table or a named spreadsheet.
func answerIn[T any](w http.ResponseWriter, r *http.Request, name string, answer T, table func(T) report.Table, workbook func(io.Writer, T) error) error {
	switch r.URL.Query().Get("format") {
	case "csv":
		var text bytes.Buffer
		if err := table(answer).CSV(&text); err != nil {
			return err
		}
		return (&tableReply{name: name + ".csv", first: text.Bytes()}).write(w, r)
	case "xlsx":
		return answerFile(w, name+".xlsx", xlsxType, func(to io.Writer) error { return workbook(to, answer) })
	}
	return reply[T]{body: answer}.write(w, r)
}

// answerFile answers a file of a name: wholly, or not at all.
func answerFile(w http.ResponseWriter, name, mediaType string, fill func(io.Writer) error) error {
	var file bytes.Buffer
	if err := fill(&file); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.Itoa(file.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(file.Bytes()) // a client that is gone needs no error
	return nil
}

// runTable answers the result of a run in another form than it was made in.
func (s *server) runTable(w http.ResponseWriter, r *http.Request) {
	run, err := s.app.Runs.Run(r.Context(), pathValue(r, "id"))
	if err == nil {
		err = s.runIn(w, r, run)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) runIn(w http.ResponseWriter, r *http.Request, run runs.Run) error {
	switch {
	case run.Kind == app.HorizonRun, run.Kind == app.PurchaseRun:
	case (run.Kind == app.PackingRun || run.Kind == app.KeptPackingRun) && formatOf(r) == "csv":
	case run.Kind != app.SweepRun && run.Kind != app.SimulationRun || formatOf(r) == "focus":
		return refusal{aboutParameter("format", "choice", fmt.Sprintf("What a run of the kind %q makes does not come in the form %q; leave \"format\" out.", run.Kind, formatOf(r)), nil)}
	}
	result, err := s.app.Runs.Result(r.Context(), run.ID)
	if err != nil {
		return err
	}
	switch run.Kind {
	case app.SweepRun:
	case app.SimulationRun:
		return runSimulation(w, r, run, result)
	case app.PackingRun, app.KeptPackingRun:
		return runPacking(w, r, run, result)
	default:
		return s.runMonths(w, r, run, result)
	}
	var answer whatif.SweepAnswer
	if err := json.Unmarshal(result.Body, &answer); err != nil {
		return fmt.Errorf("read the result of run %s: %w", run.ID, err)
	}
	return answerIn(w, r, "sweep", answer, report.Sweep, report.SweepWorkbook)
}
