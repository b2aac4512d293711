package question

import (
	"context"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/service/report"
)

// Sweep asks what a problem comes to at every value of a parameter, or of two.
var Sweep = known(&Kind[whatif.SweepQuestion, whatif.SweepAnswer]{
	Run: "sweep", Unit: "points", Name: "sweep", Formats: []string{"csv", "xlsx"},
	From: map[string]Source[whatif.SweepQuestion]{
		"/v1/sweeps":                    ofBody(func(r Request) (whatif.SweepQuestion, error) { return whatif.ReadSweep(r.Body, r.Limits) }),
		"/v1/clusters/{cluster}/sweeps": ofCluster(whatif.ReadClusterSweep, clusterSweep),
	},
	Work: workSweep,
	Forms: func(_ whatif.SweepQuestion, a whatif.SweepAnswer, _ View) Forms {
		return usual(a, report.SweepText, report.Sweep, report.SweepWorkbook)
	},
})

// clusterSweep is a sweep of a problem of a cluster.
func clusterSweep(ctx context.Context, d *Desk, r Request, q whatif.ClusterSweepQuestion) (whatif.SweepQuestion, error) {
	p, err := d.comparable(ctx, r.Cluster, q.About)
	if err != nil {
		return whatif.SweepQuestion{}, err
	}
	if p, err = (whatif.Scenario{Changes: q.Changes}).Apply(p); err != nil {
		return whatif.SweepQuestion{}, err
	}
	question := whatif.SweepQuestion{Problem: p, Vary: q.Vary, Curve: q.Curve}
	return question, question.Check()
}

// workSweep plans the points. Those so far can be read meanwhile.
func workSweep(ctx context.Context, b *Bench, q whatif.SweepQuestion) (*whatif.SweepAnswer, error) {
	brief, err := b.PlanLike(q.Problem)
	if err != nil {
		return nil, err
	}
	s := whatif.NewSweep(q)
	defer b.Preview(func() (any, error) { return s.Answer() })()
	t := &team{Bench: b, of: s}
	worked := t.work(ctx, int(s.Total()), func(ctx context.Context) error { return s.Work(ctx, t.solver(b.Plan), t.solver(brief)) })
	if worked != nil && !b.Partial {
		return nil, worked
	}
	answer, err := s.Answer()
	if err != nil && worked == nil {
		return nil, err
	}
	return &answer, worked
}
