package api

import (
	"bytes"
	"context"
	"time"

	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/report"
)

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
	answer, err := s.app.Questions.CompareScenarios(ctx, cluster, names, moment)
	if err != nil || format == nil || *format != "csv" {
		return plain(answer, err)
	}
	var text bytes.Buffer
	err = report.WhatIf(answer).CSV(&text)
	return reply[WhatIf]{table: &tableReply{name: question.WhatIf.Name + ".csv", first: text.Bytes()}}, err
}
