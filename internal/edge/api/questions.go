package api

import (
	"net/http"

	"headroom/internal/ask/goal"
	"headroom/internal/ask/report"
	"headroom/internal/core/capacity"
)

// ask answers a question that brings its problem along. Like that of solve it is read by hand, once there is a
// place to solve in.
func (s *server) ask(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.Ask(r.Context(), func() (capacity.ProblemQuestion, error) {
		q, err := capacity.ReadQuestion(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(err)
		}
		return q, err
	})
	s.answerQuestion(w, r, answer, err)
}

func (s *server) askCluster(w http.ResponseWriter, r *http.Request) {
	q, err := capacity.ReadClusterQuestion(bodyOf(r))
	if err != nil {
		s.fail(w, r, readingProblem(err))
		return
	}
	answer, err := s.app.AskCluster(r.Context(), pathValue(r, "cluster"), q)
	s.answerQuestion(w, r, answer, err)
}

func (s *server) answerQuestion(w http.ResponseWriter, r *http.Request, answer goal.Answer, err error) {
	if err == nil {
		err = answerIn(w, r, "answer", answer, report.Question, report.QuestionWorkbook)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
