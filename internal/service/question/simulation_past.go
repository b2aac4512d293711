package question

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/clusters"
)

// Limits of the executions from which a simulation draws tasks.
const (
	maxDrawn   = 200     // executions of a class
	maxNumbers = 200_000 // of all classes together, which go with a run
)

// pastTasks returns the measured times of tasks of a problem's classes, by class. It covers classes whose profile is
// a version made from executions that the cluster still stores.
func (d *Desk) pastTasks(ctx context.Context, cluster string, problem *capacity.Problem, given map[string]perf.MeasuredTasks) (map[string]trial.PastTasks, error) {
	snapshot, err := d.Inputs.Snapshot(ctx, cluster, d.Now())
	if err != nil {
		return nil, err
	}
	refs := map[string]inputs.ProfileRef{}
	for _, c := range snapshot.Classes {
		if c.Profile != nil {
			refs[c.Name] = *c.Profile
		}
	}
	past := map[string]trial.PastTasks{}
	numbers := 0
	for i := range problem.Classes {
		c := &problem.Classes[i]
		ref, named := refs[c.Name]
		if _, known := given[c.Name]; known || !named || c.Profile == nil {
			continue
		}
		version, err := d.Profiles.Profile(ctx, cluster, ref.Name, ref.Version)
		if errors.Is(err, fault.NotFound) {
			continue // deleted since
		}
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(version.Profile, *c.Profile) {
			continue // the plan was made with another one
		}
		p, err := d.pastOf(ctx, cluster, version)
		if err != nil {
			return nil, err
		}
		if numbers += numbersOf(p); numbers > maxNumbers {
			break
		}
		if numbersOf(p) > 0 {
			past[c.Name] = p
		}
	}
	return past, nil
}

func numbersOf(p trial.PastTasks) int {
	sum := len(p.MapSeconds) + len(p.FirstShuffleSeconds) + len(p.ShuffleSeconds) + len(p.ReduceSeconds)
	for _, stage := range p.StageSeconds {
		sum += len(stage)
	}
	return sum
}

// pastOf returns the times of tasks in the executions from which a version was made.
func (d *Desk) pastOf(ctx context.Context, cluster string, version inputs.ProfileVersion) (p trial.PastTasks, err error) {
	var source clusters.ProfileSource
	if json.Unmarshal(version.Source, &source) != nil || source.Job == "" {
		return p, nil
	}
	q := clusters.ProfileFromHistory{Job: source.Job, User: source.User, Queue: source.Queue, From: source.From, Until: source.Until, Last: source.Last}
	if source.Latest != nil { // those imported since are not the profile's
		until := source.Latest.Add(time.Microsecond)
		q.Until = &until
	}
	whole := func(r history.Record) history.Record { return r }
	records, _, err := d.Clusters.SamplesOf(ctx, cluster, q, maxDrawn, whole)
	if input := (*fault.InputError)(nil); errors.As(err, &input) {
		return p, nil // none of them is stored any more
	}
	if err != nil {
		return p, err
	}
	p.MeasuredTasks, p.Executions = history.MeasuredTasks(records, len(version.Profile.Stages))
	return p, nil
}
