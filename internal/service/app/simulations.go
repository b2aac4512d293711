package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"headroom/internal/service/plans"
	"strings"
	"time"

	"headroom/internal/ask/trial"
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
	"headroom/internal/slots/sim"
)

// SimulationRun is the kind of run that tries a plan.
const SimulationRun = "simulation"

// AskedSimulation holds a plan to try, and the settings: the input of a run. Without a plan the problem's is made.
type AskedSimulation struct {
	trial.SimulationQuestion
	Plan *capacity.Plan             `json:"plan,omitempty"`
	Past map[string]trial.PastTasks `json:"past,omitempty"` // by class
	// Workload is simulated instead of a plan.
	Workload *sim.Input `json:"workload,omitempty"`
}

// Simulate answers a simulation that includes its problem, or starts a run if it takes long or the caller does not
// want to wait.
func (a *App) Simulate(ctx context.Context, background bool, read func() (trial.SimulationQuestion, error)) (*trial.Answer, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: SimulationRun}, background, func() (AskedSimulation, error) {
		q, err := read()
		return AskedSimulation{SimulationQuestion: q}, err
	}, a.simulateAtOnce)
}

// SimulateCluster is Simulate for a cluster: its current plan, or the plan of a scenario.
func (a *App) SimulateCluster(ctx context.Context, cluster string, q trial.ClusterSimulationQuestion, background bool) (*trial.Answer, runs.Run, error) {
	asked, err := a.clusterSimulation(ctx, cluster, q)
	if err == nil {
		err = asked.Options.CheckFor(&asked.Problem)
	}
	if err == nil && asked.Options.Durations == trial.MeasuredDurations {
		asked.Past, err = a.pastTasks(ctx, cluster, &asked)
	}
	if err != nil {
		return nil, runs.Run{}, err
	}
	answer, run, err := answerOrRun(ctx, a, runs.NewRun{Kind: SimulationRun, Cluster: cluster}, background, known(asked), a.simulateAtOnce)
	if input := (*fault.InputError)(nil); errors.As(err, &input) {
		for i, f := range input.Findings {
			if strings.HasPrefix(f.Pointer, "/problem") || strings.HasPrefix(f.Pointer, "/plan") { // which the caller has not sent
				input.Findings[i].Pointer = ""
			}
		}
	}
	return answer, run, err
}

// clusterSimulation returns the simulation of a question about a cluster. The current plan is tried as stored, in
// spite of later changes; a scenario is laid over the present problem and planned.
func (a *App) clusterSimulation(ctx context.Context, cluster string, q trial.ClusterSimulationQuestion) (AskedSimulation, error) {
	if q.Scenario == nil {
		_, answered, err := a.Plans.Answered(ctx, cluster, plans.PlanRef{})
		return AskedSimulation{SimulationQuestion: trial.SimulationQuestion{Problem: answered.Problem, Options: q.Options}, Plan: &answered.Plan}, err
	}
	p, err := a.comparable(ctx, cluster, time.Time{})
	if err != nil {
		return AskedSimulation{}, err
	}
	scenario := q.Scenario.Scenario()
	if name := q.Scenario.Saved; name != "" {
		scenario, err = a.Stores.Inputs.Scenarios().Get(ctx, cluster, name)
		if errors.Is(err, fault.NotFound) {
			err = &fault.InputError{Findings: []fault.Finding{{Pointer: "/scenario/saved", Code: "unknown_name",
				Detail: fmt.Sprintf("The cluster %q has no scenario %.60q; save it first, or give its changes.", cluster, name)}}}
		}
	}
	if err == nil {
		p, err = scenario.Apply(p)
	}
	if input := (*fault.InputError)(nil); errors.As(err, &input) && q.Scenario.Saved == "" {
		under(input.Findings, "/scenario")
	}
	return AskedSimulation{SimulationQuestion: trial.SimulationQuestion{Problem: p, Options: q.Options}}, err
}

// trial prepares a simulation, and makes a missing plan.
func (a *App) trial(ctx context.Context, asked AskedSimulation) (*trial.Trial, error) {
	if asked.Plan == nil {
		pl, err := a.Solver.Plan(ctx, asked.Problem)
		if err != nil {
			return nil, err
		}
		if pl.Status == capacity.InfeasibleStatus {
			return nil, &fault.InfeasibleError{Conflicts: pl.Conflicts}
		}
		asked.Plan = &pl
	}
	return trial.New(asked.Problem, *asked.Plan, asked.Options, asked.Past)
}

// looks is the interval between two checks of a simulation's progress.
const looks = 50 * time.Millisecond

// replicated is work in replications: a trial of a plan, or a workload.
type replicated interface {
	Total() int64
	Done() int64
	Step(context.Context) (more bool, err error)
}

// watched reports the progress of a simulation during the work.
func watched(t replicated, tell func(done, total int64), work func() error) error {
	done := make(chan struct{})
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				tell(t.Done(), t.Total())
			}
		}
	}()
	err := work()
	close(done)
	<-seen
	return err
}

// steps simulates until nothing is left, each replication in a place from enter.
func steps(ctx context.Context, t replicated, enter func(context.Context) (in context.Context, leave func(), err error)) error {
	for {
		in, leave, err := enter(ctx)
		if err != nil {
			return err
		}
		more, err := t.Step(in)
		leave()
		if err != nil || !more {
			return err
		}
	}
}

// here stays in the caller's place.
func here(ctx context.Context) (in context.Context, leave func(), err error) {
	return ctx, func() {}, nil
}

func (a *App) simulateAtOnce(ctx context.Context, asked AskedSimulation) (*trial.Answer, error) {
	var t *trial.Trial
	err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) (err error) {
		if t, err = a.trial(ctx, asked); err != nil {
			return err
		}
		return watched(t, tell, func() error {
			return a.Solver.Together(ctx, int(asked.Options.Replications), func(ctx context.Context) error { return steps(ctx, t, here) })
		})
	})
	if err != nil {
		return nil, err
	}
	answer := t.Answer()
	return &answer, nil
}

// SimulationForRun tries the plan of a run, a turn for each replication. If it is cancelled, the result of the
// finished replications comes with the error.
func (a *App) SimulationForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	var asked AskedSimulation
	if err := json.Unmarshal(claim.Input, &asked); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	if asked.Workload != nil {
		return a.workloadForRun(ctx, claim, *asked.Workload, report)
	}
	in, leave, err := a.Solver.Turn(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	t, err := a.trial(in, asked)
	leave()
	if err != nil {
		return runs.Result{}, err
	}
	worked := a.inTurns(ctx, t, report)
	if worked != nil && len(t.Whole()) == 0 {
		return runs.Result{}, worked
	}
	return jsonResult(claim, t.Answer(), worked)
}

// inTurns simulates in every place there is, a turn for each replication.
func (a *App) inTurns(ctx context.Context, t replicated, report func(runs.Progress)) error {
	tell := func(done, total int64) { report(runs.Progress{Done: done, Total: total, Unit: "steps"}) }
	tell(0, t.Total())
	worked := watched(t, tell, func() error {
		return a.Solver.AllPlaces(ctx, func(ctx context.Context) error { return steps(ctx, t, a.Solver.Turn) })
	})
	tell(t.Done(), t.Total())
	return worked
}
