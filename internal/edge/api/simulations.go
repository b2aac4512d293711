package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"headroom/internal/ask/trial"
	"headroom/internal/service/report"
	"headroom/internal/service/runs"
	"headroom/internal/slots/sim"
)

// simulation tries the plan of a problem that is sent along, which is read once there is a place to solve in.
func (s *server) simulation(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.Simulate(r.Context(), prefersAsync(r), func() (trial.SimulationQuestion, error) {
		q, err := trial.ReadSimulation(bodyOf(r), s.config.Limits)
		if err != nil {
			err = readingProblem(err)
		}
		return q, err
	})
	s.answerSimulation(w, r, answer, run, err)
}

func (s *server) clusterSimulation(w http.ResponseWriter, r *http.Request) {
	q, err := trial.ReadClusterSimulation(bodyOf(r))
	if err != nil {
		s.fail(w, r, readingProblem(err))
		return
	}
	answer, run, err := s.app.SimulateCluster(r.Context(), pathValue(r, "cluster"), q, prefersAsync(r))
	s.answerSimulation(w, r, answer, run, err)
}

// answerSimulation answers the result of the trial, or 202 and the run that tries the plan.
func (s *server) answerSimulation(w http.ResponseWriter, r *http.Request, answer *trial.Answer, run runs.Run, err error) {
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = answerIn(w, r, "simulation", *answer, report.Simulation, report.SimulationWorkbook)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// workloadSimulation simulates a workload on nodes or slots that are sent along.
func (s *server) workloadSimulation(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.SimulateWorkload(r.Context(), prefersAsync(r), func() (sim.Input, error) {
		in, err := sim.Decode(bodyOf(r))
		return in, readingProblem(err)
	})
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = answerIn(w, r, "simulation", *answer, report.Workload, report.WorkloadWorkbook)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// runSimulation answers the result of a run: a plan that was tried, which has a sentence, or a workload.
func runSimulation(w http.ResponseWriter, r *http.Request, run runs.Run, result runs.Result) error {
	var plan struct {
		Sentence *string `json:"sentence"`
	}
	var answer trial.Answer
	var workload sim.Report
	err := json.Unmarshal(result.Body, &plan)
	switch {
	case err != nil:
	case plan.Sentence == nil:
		if err = json.Unmarshal(result.Body, &workload); err == nil {
			return answerIn(w, r, "simulation", workload, report.Workload, report.WorkloadWorkbook)
		}
	default:
		if err = json.Unmarshal(result.Body, &answer); err == nil {
			return answerIn(w, r, "simulation", answer, report.Simulation, report.SimulationWorkbook)
		}
	}
	return fmt.Errorf("read the result of run %s: %w", run.ID, err)
}

// estimateInterference answers the effect of batch work on the requests beside it. The body is read by hand, once
// there is a place to work in.
func (s *server) estimateInterference(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.EstimateInterference(r.Context(), func() (sim.InterferenceQuestion, error) {
		q, err := sim.ReadInterference(bodyOf(r))
		return q, readingProblem(err)
	})
	if err == nil {
		err = reply[sim.InterferenceAnswer]{body: answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
