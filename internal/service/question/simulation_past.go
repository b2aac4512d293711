package question

import (
	"context"
	"errors"
	"reflect"

	"headroom/internal/ask/trial"
	"headroom/internal/core/fault"
	"headroom/internal/data/inputs"
)

// Limits of the executions from which a simulation draws tasks.
const (
	maxDrawn   = 200     // executions of a class
	maxNumbers = 200_000 // of all classes together, which go with a run
)

// pastTasks returns the measured times of tasks of a problem's classes, by class. It covers classes whose profile is
// a version made from executions that the cluster still stores.
func (d *Desk) pastTasks(ctx context.Context, cluster string, asked *AskedSimulation) (map[string]trial.PastTasks, error) {
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
	for i := range asked.Problem.Classes {
		c := &asked.Problem.Classes[i]
		ref, named := refs[c.Name]
		if _, given := asked.Options.Measured[c.Name]; given || !named || c.Profile == nil {
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
		p, err := d.PastOf(ctx, cluster, version, maxDrawn)
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
