package question

import (
	"context"
	"fmt"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/sim"
)

// workloadSource reads a workload.
func workloadSource(_ context.Context, _ *Desk, r Request) (func() (AskedSimulation, error), error) {
	return func() (AskedSimulation, error) {
		in, err := sim.Decode(r.Body)
		if err != nil {
			return AskedSimulation{}, &BodyError{err}
		}
		return AskedSimulation{Workload: &in}, checkWorkload(&in)
	}, nil
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
		return fault.At("/classes", "too_many",
			fmt.Sprintf("There may be %d jobs at once, with those that limits.jobs lets wait; a server simulates %d at most. Simulate more with headroom whatif simulate workload.", jobs, trial.MaxJobs))
	}
	return nil
}

// workWorkload simulates a workload. Of work that is ended before, finished replications are worth something.
func workWorkload(ctx context.Context, b *Bench, in sim.Input) (*Simulated, error) {
	s, err := sim.New(in)
	if err != nil {
		return nil, err
	}
	n := max(1, in.Replications)
	worked := replicate(ctx, b, s, n)
	whole := s.Whole()
	if worked != nil && (!b.Partial || len(whole) == 0) {
		return nil, worked
	}
	r := s.ReportOf(whole)
	if len(whole) < n {
		r.Warnings = append(r.Warnings, capacity.Warning{Code: "ended",
			Detail: fmt.Sprintf("The simulation was ended when %d of its %d replications were finished; the figures are of those.", len(whole), n)})
	}
	return &Simulated{Workload: &r}, worked
}
