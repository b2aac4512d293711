package app

import (
	"context"
	"encoding/json"
	"fmt"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
)

// HorizonRun is the kind of run that plans the periods of a horizon.
const HorizonRun = "horizon"

// AskedHorizon holds a question about a horizon, and notes on its source: the input of a run.
type AskedHorizon struct {
	horizon.HorizonQuestion
	Warnings []capacity.Warning `json:"warnings"`
}

// AnsweredHorizon holds the question and its answer, with all data for exports.
type AnsweredHorizon struct {
	Question horizon.HorizonQuestion
	Answer   horizon.Answer
}

// Horizon answers a horizon that includes its problem, or starts a run if it takes long or the caller does not want
// to wait. The answer has every detail; see plan.HorizonAnswer.Show.
func (a *App) Horizon(ctx context.Context, background bool, read func() (horizon.HorizonQuestion, error)) (*AnsweredHorizon, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: HorizonRun}, background, func() (AskedHorizon, error) {
		q, err := read()
		return AskedHorizon{q, []capacity.Warning{}}, err
	}, a.horizonAtOnce)
}

// HorizonOfCluster is Horizon for a cluster's forecasts, prices and contracts.
func (a *App) HorizonOfCluster(ctx context.Context, cluster string, q horizon.ClusterHorizonQuestion, background bool) (*AnsweredHorizon, runs.Run, error) {
	asked, err := a.ClusterHorizon(ctx, cluster, q)
	if err != nil {
		return nil, runs.Run{}, err
	}
	return answerOrRun(ctx, a, runs.NewRun{Kind: HorizonRun, Cluster: cluster}, background, known(asked), a.horizonAtOnce)
}

// ClusterHorizon returns the horizon of a question about a cluster.
func (a *App) ClusterHorizon(ctx context.Context, cluster string, q horizon.ClusterHorizonQuestion) (AskedHorizon, error) {
	o, note, err := a.outlook(ctx, cluster, q.Span)
	if err != nil {
		return AskedHorizon{}, err
	}
	h, warnings, err := o.Horizon()
	if err != nil {
		return AskedHorizon{}, err
	}
	h.Problem.Options.Engine = comparing(h.Problem.Options.Engine)
	asked := AskedHorizon{horizon.HorizonQuestion{Horizon: h, Detail: q.Detail}, append(note, warnings...)}
	return asked, asked.Check()
}

// comparing returns the engine with which many plans are made of a problem.
func comparing(e capacity.Engine) capacity.Engine {
	if e == capacity.EngineCBC {
		return capacity.EngineAuto
	}
	return e
}

// outlook reads the outlook over a span of a cluster. One without an end ends with the forecasts, after a year at the
// latest, with a warning.
func (a *App) outlook(ctx context.Context, cluster string, span horizon.Span) (horizon.Outlook, []capacity.Warning, error) {
	from, until, open := span.Ends(a.Now())
	if !until.After(from) {
		return horizon.Outlook{}, nil, &fault.InputError{Findings: []fault.Finding{{Pointer: "/until", Code: "order",
			Detail: fmt.Sprintf("The horizon would end at %s and begin at %s, the next whole hour; give an end after it, or say \"from\" when it begins.", until.Format("2006-01-02T15:04Z"), from.Format("2006-01-02T15:04Z"))}}}
	}
	o, err := a.Stores.Inputs.Outlook(ctx, cluster, from, until)
	notes := []capacity.Warning{}
	if err == nil && open {
		if o.EndWithForecasts(); o.Until.Before(until) {
			notes = append(notes, capacity.Warning{Code: "ends_with_forecasts", Pointer: "/until",
				Detail: fmt.Sprintf("The horizon ends at %s, where the forecasts end; give another end to look further.", o.Until.Format("2006-01-02T15:04Z"))})
		}
	}
	return o, notes, err
}

func (a *App) horizonAtOnce(ctx context.Context, asked AskedHorizon) (*AnsweredHorizon, error) {
	var course *horizon.Course
	err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) error {
		solve := a.Solver.PlanLike(asked.Problem)
		course = horizon.NewCourse(asked.Horizon, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
			pl, err := solve(ctx, p)
			tell(course.Done()+1, course.Total())
			return pl, err
		})
		return a.Solver.Together(ctx, int(course.Total()), course.Work)
	})
	if err != nil {
		return nil, err
	}
	return &AnsweredHorizon{asked.HorizonQuestion, asked.answered(course)}, nil
}

// answered returns a course's answer, with the warnings.
func (asked *AskedHorizon) answered(c *horizon.Course) horizon.Answer {
	answer := c.Answer()
	answer.Warnings = append(answer.Warnings, asked.Warnings...)
	return answer
}

// HorizonForRun plans the periods of a run, a turn for each different one. If it is cancelled, the part until the
// first missing hour comes with the error.
func (a *App) HorizonForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	var asked AskedHorizon
	if err := json.Unmarshal(claim.Input, &asked); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	course, worked := a.horizonInTurns(ctx, asked, report)
	answer := asked.answered(course)
	if worked != nil && answer.Total.Hours == 0 { // later hours may be done, and the first is missing
		return runs.Result{}, worked
	}
	answer.Show(asked.Detail)
	return jsonResult(claim, answer, worked)
}

// horizonInTurns works on a horizon in the background.
func (a *App) horizonInTurns(ctx context.Context, asked AskedHorizon, report func(runs.Progress)) (course *horizon.Course, worked error) {
	solve := a.Solver.PlanLike(asked.Problem)
	show := func() { report(runs.Progress{Done: course.Done(), Total: course.Total(), Unit: "steps"}) }
	course = horizon.NewCourse(asked.Horizon, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		ctx, leave, err := a.Solver.Turn(ctx)
		if err != nil {
			return capacity.Plan{}, err
		}
		defer leave()
		show()
		return solve(ctx, p)
	})
	show()
	worked = a.Solver.AllPlaces(ctx, course.Work)
	show()
	return course, worked
}
