package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/runs"
)

const (
	xlsxType  = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	tableType = "text/csv; charset=utf-8; header=present"
)

// questions holds the questions by address. Their bodies are read by hand, once there is a place to solve in.
var questions = func() map[string]question.Question {
	all := map[string]question.Question{}
	for _, q := range question.All {
		for _, address := range q.Addresses() {
			all[address] = q
		}
	}
	return all
}()

// ask answers a question that is sent to an address, or 202 and the run that works on it.
func (s *server) ask(q question.Question, address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked := question.Request{Body: bodyOf(r), Limits: s.config.Limits, Cluster: pathValue(r, "cluster"), Query: r.URL.Query(),
			Background: prefersAsync(r)}
		answered, run, err := q.Ask(r.Context(), s.app.Questions, address, asked)
		switch {
		case err != nil:
		case answered == nil:
			err = s.answerRun(w, r, run)
		default:
			err = answerIn(w, r, answered, asked.View())
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// formatOf returns the form that a request wants instead of a document.
func formatOf(r *http.Request) string { return question.ViewOf(r.URL.Query(), "").Format }

func prefersAsync(r *http.Request) bool {
	prefer := r.Header.Get("Prefer")
	return preferAsync(&prefer)
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

// answerIn writes an answer as a document or, on request, as a file.
func answerIn(w http.ResponseWriter, r *http.Request, a *question.Answered, v question.View) error {
	name, mediaType := a.Name+".csv", tableType
	switch v.Format {
	case "":
		return reply[any]{body: a.Show(), created: a.Created, hashed: a.Created != ""}.write(w, r)
	case "xlsx":
		name, mediaType = a.Name+".xlsx", xlsxType
	case "focus":
		name = a.Name + "-focus.csv"
	}
	return answerFile(w, name, mediaType, a.Forms(v)[v.Format])
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
	cluster := ""
	if run.Cluster != nil {
		cluster = *run.Cluster
	}
	v := question.ViewOf(r.URL.Query(), cluster)
	q := question.ByRun(run.Kind)
	if q == nil || !q.Writes(v.Format) {
		return refusal{aboutParameter("format", "choice",
			fmt.Sprintf("What a run of the kind %q makes does not come in the form %q; leave \"format\" out.", run.Kind, v.Format), nil)}
	}
	result, err := s.app.Runs.Result(r.Context(), run.ID)
	if err != nil {
		return err
	}
	input, err := s.app.Runs.Input(r.Context(), run.ID)
	if err != nil {
		return err
	}
	answered, err := q.OfRun(input, result.Body, v)
	if err != nil {
		return err
	}
	return answerIn(w, r, answered, v)
}
