package api

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"headroom/internal/ask/goal"
	"headroom/internal/ask/whatif"
	"headroom/internal/service/report"
)

// whatIf answers a question that includes its problem. As for solve, the body is read by hand, once there is a place
// to solve in.
func (s *server) whatIf(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.WhatIf(r.Context(), func() (whatif.WhatIfQuestion, error) {
		q, err := whatif.ReadWhatIf(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(err)
		}
		return q, err
	})
	s.answerWhatIf(w, r, answer, err)
}

func (s *server) clusterWhatIf(w http.ResponseWriter, r *http.Request) {
	var answer whatif.Comparison
	q, err := whatif.ReadClusterWhatIf(bodyOf(r))
	if err == nil {
		answer, err = s.app.ClusterWhatIf(r.Context(), pathValue(r, "cluster"), q)
	} else {
		err = readingProblem(err)
	}
	s.answerWhatIf(w, r, answer, err)
}

func (s *server) answerWhatIf(w http.ResponseWriter, r *http.Request, answer whatif.Comparison, err error) {
	format := r.URL.Query().Get("format")
	out, err := whatIfReply(answer, &format, err)
	if err == nil {
		err = out.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// whatIfReply returns the answer as a document, or as a table.
func whatIfReply(w whatif.Comparison, format *Format, err error) (reply[whatif.Comparison], error) {
	if err != nil || format == nil || *format != "csv" {
		return plain(w, err)
	}
	var text bytes.Buffer
	err = report.WhatIf(w).CSV(&text)
	return reply[whatif.Comparison]{table: &tableReply{name: "what-if.csv", first: text.Bytes()}}, err
}

func (s *server) ListScenarios(ctx context.Context, r ListScenariosRequest) (reply[ScenarioList], error) {
	return listInputs(ctx, s, s.app.Scenarios(), r.Cluster, "scenarios", paging(r.Params), report.Scenarios)
}

func (s *server) CreateScenario(ctx context.Context, r CreateScenarioRequest) (reply[Scenario], error) {
	return createInput(ctx, s.app.Scenarios(), r.Cluster, r.Body)
}

func (s *server) GetScenario(ctx context.Context, r GetScenarioRequest) (reply[Scenario], error) {
	return getInput(ctx, s.app.Scenarios(), r.Cluster, r.Name)
}

func (s *server) ReplaceScenario(ctx context.Context, r ReplaceScenarioRequest) (reply[Scenario], error) {
	return replaceInput(ctx, s.app.Scenarios(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteScenario(ctx context.Context, r DeleteScenarioRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Scenarios(), r.Cluster, r.Name, r.Params.IfMatch)
}

func (s *server) AnswerScenario(ctx context.Context, r AnswerScenarioRequest) (reply[WhatIf], error) {
	return s.compareScenarios(ctx, r.Cluster, []string{r.Name}, r.Params.At, r.Params.Format)
}

func (s *server) CompareScenarios(ctx context.Context, r CompareScenariosRequest) (reply[WhatIf], error) {
	return s.compareScenarios(ctx, r.Cluster, r.Params.Name, r.Params.At, r.Params.Format)
}

func (s *server) compareScenarios(ctx context.Context, cluster string, names []string, at *time.Time, format *Format) (reply[WhatIf], error) {
	moment := time.Time{}
	if at != nil {
		moment = *at
	}
	answer, err := s.app.CompareScenarios(ctx, cluster, names, moment)
	return whatIfReply(answer, format, err)
}

// ask answers a question that includes its problem. As for solve, the body is read by hand, once there is a place to
// solve in.
func (s *server) ask(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.Ask(r.Context(), func() (goal.ProblemQuestion, error) {
		q, err := goal.ReadQuestion(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(err)
		}
		return q, err
	})
	s.answerQuestion(w, r, answer, err)
}

func (s *server) askCluster(w http.ResponseWriter, r *http.Request) {
	q, err := goal.ReadClusterQuestion(bodyOf(r))
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
