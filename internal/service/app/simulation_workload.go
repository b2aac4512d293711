package app

import (
	"context"
	"fmt"

	"headroom/internal/ask/trial"
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
	"headroom/internal/slots/sim"
)

// SimulateWorkload simulates the workload in a request, or starts a run if it takes long or the caller does not want
// to wait.
func (a *App) SimulateWorkload(ctx context.Context, background bool, read func() (sim.Input, error)) (*sim.Report, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: SimulationRun}, background, func() (AskedSimulation, error) {
		in, err := read()
		if err == nil {
			err = checkWorkload(&in)
		}
		return AskedSimulation{Workload: &in}, err
	}, a.workloadAtOnce)
}

// checkWorkload refuses workloads that cannot be simulated, or would not fit in a server's memory: every worker holds
// every job in the system.
func checkWorkload(in *sim.Input) error {
	if err := sim.Validate(*in); err != nil {
		return err
	}
	jobs := in.Limits.Jobs
	for i := range in.Classes {
		jobs += in.Classes[i].Load.Users + in.Classes[i].Load.Jobs + int64(len(in.Classes[i].Load.AtSeconds))
	}
	if jobs > trial.MaxJobs {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/classes", Code: "too_many",
			Detail: fmt.Sprintf("There may be %d jobs at once, with those that limits.jobs lets wait; a server simulates %d at most. Simulate more with headroom simulate workload.", jobs, trial.MaxJobs)}}}
	}
	return nil
}

func (a *App) workloadAtOnce(ctx context.Context, asked AskedSimulation) (*sim.Report, error) {
	var s *sim.Simulation
	err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) (err error) {
		if s, err = sim.New(*asked.Workload); err != nil {
			return err
		}
		return watched(s, tell, func() error {
			return a.Solver.Together(ctx, max(1, asked.Workload.Replications), func(ctx context.Context) error { return steps(ctx, s, here) })
		})
	})
	if err != nil {
		return nil, err
	}
	r := s.Report()
	return &r, nil
}

// workloadForRun returns the result of a run. If it is cancelled, the result of the finished replications comes with
// the error.
func (a *App) workloadForRun(ctx context.Context, claim runs.Claim, in sim.Input, report func(runs.Progress)) (runs.Result, error) {
	s, err := sim.New(in)
	if err != nil {
		return runs.Result{}, err
	}
	worked := a.inTurns(ctx, s, report)
	whole := s.Whole()
	if worked != nil && len(whole) == 0 {
		return runs.Result{}, worked
	}
	r := s.ReportOf(whole)
	if n := max(1, in.Replications); len(whole) < n {
		r.Warnings = append(r.Warnings, capacity.Warning{Code: "ended", Detail: fmt.Sprintf("The simulation was ended when %d of its %d replications were finished; the figures are of those.", len(whole), n)})
	}
	return jsonResult(claim, r, worked)
}
