package question

import (
	"context"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/report"
)

// Goal asks about budgets, one more job, and deadlines.
var Goal = known(&Kind[goal.ProblemQuestion, goal.Answer]{
	Name: "answer", Formats: []string{"csv", "xlsx"},
	From: map[string]Source[goal.ProblemQuestion]{
		"/v1/questions":                    ofBody(func(r Request) (goal.ProblemQuestion, error) { return goal.ReadQuestion(r.Body, r.Limits) }),
		"/v1/clusters/{cluster}/questions": ofCluster(goal.ReadClusterQuestion, clusterGoal),
	},
	Work: func(ctx context.Context, b *Bench, q goal.ProblemQuestion) (*goal.Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, budgetOf(&q.Problem))
		defer cancel()
		answer, err := goal.Ask(ctx, q.Problem, q.Question, b.Plan)
		return &answer, err
	},
	Refuse: func(a *goal.Answer) error {
		if a.Status == capacity.InfeasibleStatus {
			return &fault.InfeasibleError{Conflicts: a.Conflicts}
		}
		return nil
	},
	Forms: func(_ goal.ProblemQuestion, a goal.Answer, _ View) Forms {
		return usual(a, report.QuestionText, report.Question, report.QuestionWorkbook)
	},
	Status: func(a *goal.Answer) capacity.Status { return a.Status },
})

func clusterGoal(ctx context.Context, d *Desk, r Request, q goal.ClusterQuestion) (goal.ProblemQuestion, error) {
	p, err := d.comparable(ctx, r.Cluster, whatif.About{At: q.At})
	if err == nil {
		err = q.CheckFor(&p)
	}
	return goal.ProblemQuestion{Problem: p, Question: q.Question}, err
}
