package api

import (
	"context"
	"net/http"

	"headroom/internal/ask/pool"
	"headroom/internal/ask/whatif"
	"headroom/internal/service/runs"
)

// planPool plans a pool. The body is read by hand, once there is a place to solve in.
func (s *server) planPool(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.PlanPool(r.Context(), prefersAsync(r), func() (pool.PoolProblem, error) {
		p, err := pool.ReadPool(bodyOf(r), s.config.Limits)
		return p, readingProblem(err)
	})
	answerOrRun(s, w, r, answer, run, err)
}

// planClusterPool plans a pool of a cluster's VM types.
func (s *server) planClusterPool(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.PlanClusterPool(r.Context(), pathValue(r, "cluster"), prefersAsync(r), func(fill func(*pool.PoolProblem)) (pool.PoolProblem, error) {
		p, err := pool.ReadPool(bodyOf(r), s.config.Limits, fill)
		return p, readingProblem(err)
	})
	answerOrRun(s, w, r, answer, run, err)
}

// planShares shares slots among jobs.
func (s *server) planShares(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.PlanShares(r.Context(), prefersAsync(r), func() (pool.SharePlanProblem, error) {
		p, err := pool.ReadSharePlan(bodyOf(r), s.config.Limits)
		return p, readingProblem(err)
	})
	answerOrRun(s, w, r, answer, run, err)
}

// planPoolRounds plans a pool round after round.
func (s *server) planPoolRounds(w http.ResponseWriter, r *http.Request) {
	answer, run, err := s.app.PlanPoolRounds(r.Context(), prefersAsync(r), func() (pool.PoolCourseProblem, error) {
		p, err := pool.ReadPoolCourse(bodyOf(r), s.config.Limits)
		return p, readingProblem(err)
	})
	answerOrRun(s, w, r, answer, run, err)
}

// answerOrRun writes an answer, the run that continues it, or an error.
func answerOrRun[A any](s *server, w http.ResponseWriter, r *http.Request, answer *A, run runs.Run, err error) {
	switch {
	case err != nil:
	case answer == nil:
		err = s.answerRun(w, r, run)
	default:
		err = reply[A]{body: *answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// evaluatePool answers the evaluation of given instances.
func (s *server) evaluatePool(w http.ResponseWriter, r *http.Request) {
	answer, err := s.app.EvaluatePool(r.Context(), func() (pool.PoolProblem, error) {
		p, err := pool.ReadPool(bodyOf(r), s.config.Limits)
		return p, readingProblem(err)
	})
	if err == nil {
		err = reply[pool.PoolEvaluation]{body: answer}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// poolVMTypes makes a scenario for capacity plans from a pool's types.
func (s *server) poolVMTypes(w http.ResponseWriter, r *http.Request) {
	var made whatif.Scenario
	p, err := pool.ReadPool(bodyOf(r), s.config.Limits)
	if err = readingProblem(err); err == nil {
		made, err = pool.Scenario(p, r.URL.Query().Get("reference"), r.URL.Query().Get("whole_vms") == "true")
	}
	if err == nil {
		err = reply[whatif.Scenario]{body: made}.write(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) GetInstanceTypes(context.Context, GetInstanceTypesRequest) (reply[InstanceCatalogues], error) {
	return reply[InstanceCatalogues]{body: pool.InstanceCatalogues{Items: []pool.InstanceCatalogue{pool.ExampleEC22011()}}, hashed: true}, nil
}
