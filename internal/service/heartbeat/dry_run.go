package heartbeat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// Past is the state of a live cluster at a moment.
type Past struct {
	State live.State // but with the settings and measurements of now
	Jobs  []live.Job // all that were there then or later, as they are now
}

// Limits of a dry run: heartbeats read at once, and its time.
const (
	pastPage      = 500
	longestDryRun = 20 * time.Second
)

// DryRunPolicy computes the decisions of another policy at past heartbeats. It changes nothing.
func (d *Desk) DryRunPolicy(ctx context.Context, cluster string, ask live.PolicyTrialRequest) (result live.PolicyTrial, err error) {
	ctx, leave, err := d.solver.Enter(ctx)
	if err != nil {
		return result, err
	}
	defer leave()
	seconds := cmp.Or(ask.Seconds, live.DefaultDryRunSeconds)
	until := d.now()
	from := until.Add(-time.Duration(seconds * float64(time.Second)))
	past, err := d.store.LivePast(ctx, cluster, from, until)
	if err != nil {
		return result, err
	}
	settings := past.State.Settings
	settings.Policy = ask.Policy
	if ask.Shares != nil {
		settings.Shares = ask.Shares
	}
	if err := settings.Validate(); err != nil {
		return result, err
	}
	past.State.Settings = settings
	replay, err := live.NewReplay(live.Seconds(from), past.State)
	if err != nil {
		return result, fmt.Errorf("go back to what the live cluster %s was at %s: %w", cluster, from.Format(time.RFC3339), err)
	}
	rest := jobEvents(past.Jobs, live.Seconds(from))
	reached, number, patience := until, int64(0), time.Now().Add(longestDryRun)
	for {
		beats, last, err := d.store.PastHeartbeats(ctx, cluster, number, from, until, pastPage)
		if err != nil {
			return result, err
		}
		for _, b := range beats {
			at := live.Seconds(b.At)
			for len(rest) > 0 && rest[0].at <= at {
				rest[0].happens(replay)
				rest = rest[1:]
			}
			if err := capacity.Pause(ctx); err != nil {
				return result, err
			}
			if err := replay.Heartbeat(at, b.Node, []byte(b.Body), []byte(b.Answer)); err != nil {
				return result, err
			}
		}
		if number = last; len(beats) < pastPage {
			break
		}
		if time.Now().After(patience) {
			reached = beats[len(beats)-1].At
			break
		}
	}
	result = replay.Result(live.Seconds(reached), past.Jobs)
	if reached != until {
		result.Warnings = append(result.Warnings, capacity.Warning{Code: "cut", Detail: fmt.Sprintf("There are too many heartbeats to go through all of them in %s; this is until %s.", longestDryRun, reached.Format(time.RFC3339))})
	}
	if ask.Policy.Kind == dispatch.PolicyLearned {
		result.Warnings = append(result.Warnings, capacity.Warning{Code: "unlearned", Detail: "The policy begins knowing nothing, as it would after a switch, and learns only of the decisions that it would have made as well."})
	}
	if len(past.State.Measured) > 0 {
		result.Warnings = append(result.Warnings, capacity.Warning{Code: "measured_since", Detail: "Task times and rates are those that are known now."})
	}
	return result, nil
}

// jobEvent is a job's beginning, or its end by a request.
type jobEvent struct {
	at      float64
	happens func(*live.Replay)
}

// jobEvents returns the events after a moment, in order.
func jobEvents(jobs []live.Job, from float64) (events []jobEvent) {
	for _, j := range jobs {
		if j.Submitted >= from {
			events = append(events, jobEvent{j.Submitted, func(r *live.Replay) { r.Submit(j.At([dispatch.Kinds][]int64{}, nil)) }})
		}
		if j.State == live.JobKilled {
			events = append(events, jobEvent{j.Ended, func(r *live.Replay) { r.Kill(j.Ended, j.Number) }})
		}
	}
	slices.SortStableFunc(events, func(a, b jobEvent) int { return cmp.Compare(a.at, b.at) })
	return events
}
