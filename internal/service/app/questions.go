package app

import (
	"context"
	"time"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/plan"
)

// Ask answers a question that brings its problem along, which is read once there is a place to solve in. Where
// the demands cannot be met it is an *InfeasibleError.
func (a *App) Ask(ctx context.Context, read func() (capacity.ProblemQuestion, error)) (plan.QuestionAnswer, error) {
	ctx, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return plan.QuestionAnswer{}, err
	}
	defer leave()
	q, err := read()
	if err != nil {
		return plan.QuestionAnswer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, scenarioBudget*time.Duration(q.Problem.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	answer, err := plan.Answer(ctx, q.Problem, q.Question, a.Solver.Plan)
	if err == nil && answer.Status == capacity.InfeasibleStatus {
		return answer, &fault.InfeasibleError{Conflicts: answer.Conflicts}
	}
	return answer, err
}

// AskCluster answers a question about a cluster. One that plans with cbc is asked with auto: what is compared
// must be proved, not proved twice.
func (a *App) AskCluster(ctx context.Context, cluster string, q capacity.ClusterQuestion) (plan.QuestionAnswer, error) {
	p, err := a.comparable(ctx, cluster, q.At)
	if err == nil {
		err = q.CheckFor(&p)
	}
	if err != nil {
		return plan.QuestionAnswer{}, err
	}
	return a.Ask(ctx, func() (capacity.ProblemQuestion, error) {
		return capacity.ProblemQuestion{Problem: p, Question: q.Question}, nil
	})
}

// comparable is the problem of a cluster as many plans are made of it.
func (a *App) comparable(ctx context.Context, cluster string, at time.Time) (capacity.Problem, error) {
	p, err := a.Plans.ProblemAt(ctx, cluster, at)
	if p.Options.Engine == capacity.EngineCBC {
		p.Options.Engine = capacity.EngineAuto
	}
	return p, err
}
