package question

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/runs"
)

// AskedTargets holds a problem whose classes have targets, and what is known of their tasks.
type AskedTargets struct {
	trial.TargetQuestion
	Past map[string]trial.PastTasks `json:"past,omitempty"` // by class
}

const clusterTargetsAddress = "/v1/clusters/{cluster}/targets"

// Targets asks for the promises of classes with a target: factors on their predicted times, and what shows them.
var Targets = known(&Kind[AskedTargets, trial.TargetAnswer]{
	Run: "targets", Unit: "simulations", Name: "targets", Formats: []string{"csv", "xlsx"},
	From: map[string]Source[AskedTargets]{
		"/v1/targets": ofBody(func(r Request) (AskedTargets, error) {
			q, err := trial.ReadTarget(r.Body, r.Limits)
			return AskedTargets{TargetQuestion: q}, err
		}),
		clusterTargetsAddress: ofCluster(trial.ReadClusterTarget, clusterTargets),
	},
	Save: savePromises,
	Work: workTargets,
	Mend: aboutCluster,
	Forms: func(_ AskedTargets, a trial.TargetAnswer, _ View) Forms {
		return usual(a, report.TargetsText, report.Targets, report.TargetsWorkbook)
	},
	Warned: func(a *trial.TargetAnswer) []capacity.Warning { return a.Warnings },
})

// clusterTargets is the question about the problem of a cluster at this moment.
func clusterTargets(ctx context.Context, d *Desk, r Request, q trial.ClusterTargetQuestion) (asked AskedTargets, err error) {
	asked.Options = q.Options
	if asked.Problem, err = d.comparable(ctx, r.Cluster, whatif.About{}); err != nil {
		return asked, err
	}
	if err := asked.Check(); err != nil {
		return asked, err
	}
	if asked.Options.Durations == trial.MeasuredDurations {
		asked.Past, err = d.pastTasks(ctx, r.Cluster, &asked.Problem, asked.Options.Measured)
	}
	return asked, err
}

// askedAgain is the time after which a question that nobody asked for is asked again.
const askedAgain = time.Hour

// ownSlots asks for promises that rest on a class's own slots: what is not watched, such as the jobs of other classes, makes none false.
const ownSlots = `{"options": {"lending": "class", "max_events": 150000000}}`

// FindPromises starts a run that finds the promises of a cluster's classes, unless one goes on, or the last one was asked the same less
// than an hour ago.
func (d *Desk) FindPromises(ctx context.Context, cluster string) error {
	last, err := d.Store.Runs(ctx, runs.Filter{Cluster: cluster, Kind: Targets.Run}, storage.Page{Limit: 1})
	if err != nil || len(last.Items) > 0 && !last.Items[0].State.Over() {
		return err
	}
	read, err := Targets.From[clusterTargetsAddress](ctx, d, Request{Body: []byte(ownSlots), Cluster: cluster})
	if err != nil {
		return err
	}
	ask, err := read()
	if err != nil {
		return err
	}
	if len(last.Items) > 0 && d.Now().Sub(last.Items[0].CreatedAt) < askedAgain {
		input, err := d.Store.RunInput(ctx, last.Items[0].ID)
		if err != nil {
			return err
		}
		var before AskedTargets
		if err := json.Unmarshal(input, &before); err != nil {
			return fmt.Errorf("read the input of run %s: %w", last.Items[0].ID, err)
		}
		if !asksMore(&ask.Problem, &before.Problem) {
			return nil
		}
	}
	_, err = d.start(ctx, runs.NewRun{Kind: Targets.Run, Cluster: cluster, Role: auth.Planner, Input: ask})
	return err
}

// asksMore reports whether a class with a target is new, or asks for another time than before.
func asksMore(now, before *capacity.Problem) bool {
	return slices.ContainsFunc(now.Classes, func(c capacity.Class) bool {
		return c.Target > 0 && !slices.ContainsFunc(before.Classes, func(b capacity.Class) bool {
			return b.Name == c.Name && b.Target == c.Target && b.TargetConfidence() == c.TargetConfidence() && b.DeadlineSeconds == c.DeadlineSeconds &&
				perf.PlannedDemand(unpromised(b), before.Options) == perf.PlannedDemand(unpromised(c), now.Options)
		})
	})
}

func unpromised(c capacity.Class) capacity.Class {
	c.Promise = nil
	return c
}

// savePromises stores what was found of a cluster's classes, where there is one.
func savePromises(ctx context.Context, d *Desk, cluster string, a *trial.TargetAnswer) (id string, err error) {
	if cluster == "" {
		return "", nil
	}
	a.Problem = nil // which the caller has not sent
	promises := map[string]capacity.Promise{}
	for _, c := range a.Classes {
		if c.Promise != nil {
			promises[c.Name] = *c.Promise
		}
	}
	return "", d.Promises.SavePromises(ctx, cluster, promises)
}

// workTargets looks for promises: a turn for each plan, and for each replication.
func workTargets(ctx context.Context, b *Bench, asked AskedTargets) (*trial.TargetAnswer, error) {
	quiet := *b
	quiet.Tell = func(int64, int64) {} // replications are not what is counted
	a, err := trial.FindPromises(ctx, asked.TargetQuestion, asked.Past, trial.TargetWork{
		Plan: func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
			in, leave, err := b.Turn(ctx)
			if err != nil {
				return capacity.Plan{}, err
			}
			defer leave()
			return b.Plan(in, p)
		},
		Simulate: func(ctx context.Context, t *trial.Trial) error {
			return replicate(ctx, &quiet, t, int(asked.Options.Replications))
		},
		Tell: b.Tell,
	})
	if err != nil {
		return nil, err
	}
	return &a, nil
}
