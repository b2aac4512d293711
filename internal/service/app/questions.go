package app

import (
	"context"
	"time"

	"headroom/internal/ask/goal"
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
)

// Ask answers a question that includes its problem, which is read once there is a place to solve in. Demands that
// cannot be met are an *InfeasibleError.
func (a *App) Ask(ctx context.Context, read func() (goal.ProblemQuestion, error)) (goal.Answer, error) {
	ctx, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return goal.Answer{}, err
	}
	defer leave()
	q, err := read()
	if err != nil {
		return goal.Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, scenarioBudget*time.Duration(q.Problem.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	answer, err := goal.Ask(ctx, q.Problem, q.Question, a.Solver.Plan)
	if err == nil && answer.Status == capacity.InfeasibleStatus {
		return answer, &fault.InfeasibleError{Conflicts: answer.Conflicts}
	}
	return answer, err
}

// AskCluster answers a question about a cluster. For a cluster planned with cbc it uses auto: compared plans must be
// proved, not proved twice.
func (a *App) AskCluster(ctx context.Context, cluster string, q goal.ClusterQuestion) (goal.Answer, error) {
	p, err := a.comparable(ctx, cluster, q.At)
	if err == nil {
		err = q.CheckFor(&p)
	}
	if err != nil {
		return goal.Answer{}, err
	}
	return a.Ask(ctx, func() (goal.ProblemQuestion, error) {
		return goal.ProblemQuestion{Problem: p, Question: q.Question}, nil
	})
}

// comparable returns the problem of a cluster in the form for many plans.
func (a *App) comparable(ctx context.Context, cluster string, at time.Time) (capacity.Problem, error) {
	p, err := a.Plans.ProblemAt(ctx, cluster, at)
	if p.Options.Engine == capacity.EngineCBC {
		p.Options.Engine = capacity.EngineAuto
	}
	return p, err
}
