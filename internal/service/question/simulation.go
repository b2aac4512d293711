package question

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/slots/sim"
)

// AskedSimulation holds a plan to try, and the settings. Without a plan the problem's is made.
type AskedSimulation struct {
	trial.SimulationQuestion
	Plan *capacity.Plan             `json:"plan,omitempty"`
	Past map[string]trial.PastTasks `json:"past,omitempty"` // by class
	// Workload is simulated instead of a plan.
	Workload *sim.Input `json:"workload,omitempty"`
	// Schedule is made and tried instead of a plan.
	Schedule *trial.ScheduleQuestion `json:"schedule,omitempty"`
	Warnings []capacity.Warning      `json:"warnings,omitempty"` // on the source of a schedule
}

// Simulated is the answer of a simulation: that of a plan, of a workload or of a schedule.
type Simulated struct {
	Trial    *trial.Answer
	Workload *sim.Report
	Schedule *trial.ScheduleAnswer
}

// one returns the answer that there is.
func (s *Simulated) one() any {
	switch {
	case s.Workload != nil:
		return s.Workload
	case s.Schedule != nil:
		return s.Schedule
	}
	return s.Trial
}

// MarshalJSON writes the one that there is.
func (s Simulated) MarshalJSON() ([]byte, error) { return json.Marshal(s.one()) }

// UnmarshalJSON reads any of them: that of a workload has no sentence, and only that of a schedule tells what ran as planned.
func (s *Simulated) UnmarshalJSON(text []byte) error {
	var has struct {
		Sentence *string `json:"sentence"`
		AsLong   *int64  `json:"as_planned"`
	}
	if err := json.Unmarshal(text, &has); err != nil {
		return err
	}
	switch {
	case has.AsLong != nil:
		return json.Unmarshal(text, &s.Schedule)
	case has.Sentence == nil:
		return json.Unmarshal(text, &s.Workload)
	}
	return json.Unmarshal(text, &s.Trial)
}

// Simulation asks which part of the jobs meets its deadline, by trying a plan or a workload.
var Simulation = known(&Kind[AskedSimulation, Simulated]{
	Run: "simulation", Unit: "steps", Name: "simulation", Formats: []string{"csv", "xlsx"},
	From: map[string]Source[AskedSimulation]{
		"/v1/simulations": ofBody(func(r Request) (AskedSimulation, error) {
			q, err := trial.ReadSimulation(r.Body, r.Limits)
			return AskedSimulation{SimulationQuestion: q}, err
		}),
		"/v1/simulations/workload": workloadSource,
		"/v1/simulations/schedule": ofBody(func(r Request) (AskedSimulation, error) {
			q, err := trial.ReadSchedule(r.Body, r.Limits)
			return AskedSimulation{Schedule: &q}, err
		}),
		"/v1/clusters/{cluster}/simulations/schedule": ofCluster(trial.ReadClusterSchedule, clusterScheduleTrial),
		"/v1/clusters/{cluster}/simulations":          ofCluster(trial.ReadClusterSimulation, clusterSimulation),
	},
	Work: workSimulation,
	Mend: aboutCluster,
	Forms: func(_ AskedSimulation, s Simulated, _ View) Forms {
		switch {
		case s.Workload != nil:
			return usual(*s.Workload, report.WorkloadText, report.Workload, report.WorkloadWorkbook)
		case s.Schedule != nil:
			return usual(*s.Schedule, report.ScheduleTrialText, report.ScheduleTrial, report.ScheduleTrialWorkbook)
		}
		return usual(*s.Trial, report.SimulationText, report.Simulation, report.SimulationWorkbook)
	},
	Show: func(_ *AskedSimulation, s *Simulated) any { return s.one() },
	Warned: func(s *Simulated) []capacity.Warning {
		switch {
		case s.Workload != nil:
			return s.Workload.Warnings
		case s.Schedule != nil:
			return s.Schedule.Warnings
		}
		return s.Trial.Warnings
	},
})

// aboutCluster makes findings about a problem or a plan, which a caller who names a cluster has not sent, ones about the
// whole.
func aboutCluster(cluster string, err error) error {
	input := (*fault.InputError)(nil)
	if cluster == "" || !errors.As(err, &input) {
		return err
	}
	for i, f := range input.Findings {
		if strings.HasPrefix(f.Pointer, "/problem") || strings.HasPrefix(f.Pointer, "/plan") {
			input.Findings[i].Pointer = ""
		}
	}
	return err
}

// clusterSimulation returns the simulation of a cluster's plan. The current plan is tried as stored, in spite of later
// changes; a scenario is laid over the present problem and planned.
func clusterSimulation(ctx context.Context, d *Desk, r Request, q trial.ClusterSimulationQuestion) (asked AskedSimulation, err error) {
	asked.Options = q.Options
	if q.Scenario == nil {
		_, answered, err := d.Plans.Answered(ctx, r.Cluster, plans.PlanRef{})
		if err != nil {
			return asked, err
		}
		asked.Problem, asked.Plan = answered.Problem, &answered.Plan
	} else if asked.Problem, err = d.scenarioToTry(ctx, r.Cluster, q.Scenario); err != nil {
		return asked, err
	}
	if err := asked.Options.CheckFor(&asked.Problem); err != nil {
		return asked, err
	}
	if asked.Options.Durations == trial.MeasuredDurations {
		asked.Past, err = d.pastTasks(ctx, r.Cluster, &asked.Problem, asked.Options.Measured)
	}
	return asked, err
}

// scenarioToTry returns the present problem of a cluster with the changes of a scenario.
func (d *Desk) scenarioToTry(ctx context.Context, cluster string, asked *whatif.AskedScenario) (capacity.Problem, error) {
	p, err := d.comparable(ctx, cluster, whatif.About{})
	if err != nil {
		return p, err
	}
	full, err := d.askedScenario(ctx, cluster, asked)
	if err != nil {
		return p, err
	}
	p, err = full.Scenario().Apply(p)
	return p, full.Place(err)
}

// askedScenario returns a scenario of a question with the changes of the saved one that it may name. None has no changes.
func (d *Desk) askedScenario(ctx context.Context, cluster string, asked *whatif.AskedScenario) (full whatif.AskedScenario, err error) {
	if asked == nil {
		return full, nil
	}
	if full = *asked; full.Saved != "" {
		var saved whatif.Scenario
		saved, err = d.savedScenario(ctx, cluster, full.Saved, "/scenario/saved")
		full.Changes = saved.Changes
	}
	return full, err
}

// workSimulation tries a plan or simulates a workload. Of work that is ended before, finished replications are worth
// something.
func workSimulation(ctx context.Context, b *Bench, asked AskedSimulation) (*Simulated, error) {
	switch {
	case asked.Workload != nil:
		return workWorkload(ctx, b, *asked.Workload)
	case asked.Schedule != nil:
		return workScheduleTrial(ctx, b, asked)
	}
	t, err := newTrial(ctx, b, asked)
	if err != nil {
		return nil, err
	}
	worked := replicate(ctx, b, t, int(asked.Options.Replications))
	if worked != nil && (!b.Partial || len(t.Whole()) == 0) {
		return nil, worked
	}
	answer := t.Answer()
	return &Simulated{Trial: &answer}, worked
}

// clusterScheduleTrial is about the schedule of the coming time of a cluster.
func clusterScheduleTrial(ctx context.Context, d *Desk, r Request, q trial.ClusterScheduleQuestion) (asked AskedSimulation, err error) {
	s, err := d.ClusterSchedule(ctx, r.Cluster, q.ClusterQuestion)
	if err != nil {
		return asked, err
	}
	asked.Schedule, asked.Warnings = &trial.ScheduleQuestion{Question: s.Question, Options: q.Options}, s.Warnings
	if err := q.Options.CheckFor(&s.Problem); err != nil {
		return asked, err
	}
	if q.Options.Durations == trial.MeasuredDurations {
		asked.Past, err = d.pastTasks(ctx, r.Cluster, &s.Problem, q.Options.Measured)
	}
	return asked, err
}

// workScheduleTrial makes a schedule and tries it. Of work that is ended before, finished replications are worth something.
func workScheduleTrial(ctx context.Context, b *Bench, asked AskedSimulation) (*Simulated, error) {
	a, err := scheduled(ctx, b, &asked.Schedule.Question)
	if err != nil {
		return nil, err
	}
	t, err := trial.NewSchedule(*asked.Schedule, a, asked.Past)
	if err != nil {
		return nil, err
	}
	half := *b // of the work is done with the schedule
	half.Tell = func(done, total int64) { b.Tell(total+done, 2*total) }
	worked := replicate(ctx, &half, t, int(asked.Schedule.Options.Replications))
	if worked != nil && (!b.Partial || len(t.Whole()) == 0) {
		return nil, worked
	}
	answer := t.Answer()
	answer.Warnings = append(answer.Warnings, asked.Warnings...)
	return &Simulated{Schedule: &answer}, worked
}

// newTrial prepares a simulation, and makes a missing plan.
func newTrial(ctx context.Context, b *Bench, asked AskedSimulation) (*trial.Trial, error) {
	in, leave, err := b.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if asked.Plan == nil {
		pl, err := b.Plan(in, asked.Problem)
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
	counted
	Step(context.Context) (more bool, err error)
}

// replicate simulates until nothing is left, a turn for each replication, and tells how far it is now and then.
func replicate(ctx context.Context, b *Bench, r replicated, most int) error {
	done, seen := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				b.Tell(r.Done(), r.Total())
			}
		}
	}()
	t := &team{Bench: b, of: r}
	err := t.work(ctx, max(1, most), func(ctx context.Context) error {
		for {
			in, leave, err := t.turn(ctx)
			if err != nil {
				return err
			}
			more, err := r.Step(in)
			leave()
			if err != nil || !more {
				return err
			}
		}
	})
	close(done)
	<-seen
	return err
}
