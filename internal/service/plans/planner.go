package plans

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/telemetry"
)

// Settings of the planner.
const (
	Never         = 1000 * time.Hour // longer than anybody sleeps
	plannerLook   = 5 * time.Second  // between looks for work, in case a notification was lost
	plannerRest   = 50 * time.Millisecond
	plannerAgain  = time.Second      // after a lost connection
	claimLife     = 15 * time.Second // of a server that died its clusters are free after this
	releaseTime   = time.Second
	largeWave     = 50 // plans in a row that leave much garbage behind
	shortestRetry = time.Second
	longestRetry  = time.Minute
)

// Start plans every cluster whose inputs change or whose time has come, beside any number of other servers,
// until the context ends, and does other duties beside; done is closed when all work has ended. Another server or the next start continues
// unfinished work: the store knows the clusters to plan.
func (d *Desk) Start(ctx context.Context, others ...Duty) (done <-chan struct{}) {
	ended := make(chan struct{})
	ctx = auth.With(ctx, solving.Planner)
	go func() {
		defer close(ended)
		var both sync.WaitGroup
		both.Go(func() { d.attend(ctx, Duty{Channel, d.store.Claim, d.planClaimed}) })
		both.Go(func() { d.takeVotes(auth.With(ctx, solving.Voter)) })
		for _, other := range others {
			both.Go(func() { d.attend(ctx, other) })
		}
		both.Wait()
	}()
	return ended
}

// Duty is a kind of plan that is made automatically.
type Duty struct {
	channel string // notifies of possible work
	claim   func(ctx context.Context, now time.Time, lease time.Duration) (*Claim, time.Duration, error)
	plan    func(ctx context.Context, claim Claim)
}

// attend makes due plans of a kind.
func (d *Desk) attend(ctx context.Context, of Duty) {
	var all sync.WaitGroup
	defer all.Wait()
	woken := make(chan struct{}, 1)
	all.Go(func() { d.wakePlanner(ctx, of.channel, woken) })
	places := make(chan struct{}, d.solver.Places()+2) // one reads and one stores while others solve
	wave := 0                                          // clusters claimed in a row
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		claim, next, err := of.claim(ctx, d.now(), claimLife)
		if claim != nil && err == nil {
			wave++
			all.Go(func() {
				defer func() { <-places }()
				of.plan(ctx, *claim)
			})
			continue
		}
		if <-places; len(places) == 0 {
			if wave >= largeWave {
				debug.FreeOSMemory() // nobody plans so much again soon
			}
			wave = 0
		}
		if err != nil {
			complain(ctx, d.telemetry, "looking for clusters to plan failed", err)
			next = plannerAgain
		}
		timer := time.NewTimer(min(max(next, plannerRest), d.look))
		select {
		case <-timer.C:
		case <-woken: // by one of many notifications, perhaps: they are looked at together
			storage.Rest(ctx, plannerRest)
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// wakePlanner wakes the planner when there may be work earlier than known.
func (d *Desk) wakePlanner(ctx context.Context, channel string, woken chan<- struct{}) {
	for ctx.Err() == nil {
		_ = d.database.Listen(ctx, channel, func(string) { // without it the planner looks now and then
			select {
			case woken <- struct{}{}:
			default:
			}
		})
		storage.Rest(ctx, plannerAgain)
	}
}

// planClaimed plans a cluster and stores the outcome.
func (d *Desk) planClaimed(ctx context.Context, claim Claim) {
	claimed := time.Now() // a duration, not a moment
	if t := d.telemetry; t != nil {
		var span *trace.Span
		ctx, span = t.Tracer.Root(ctx, "plan a cluster", trace.Consumer, "")
		defer span.End()
	}
	outcome, held, err := whileClaimed(ctx, claim, d.store.KeepClaim, d.store.Release, d.try)
	if !held {
		return
	}
	d.tell(ctx, claim, outcome, err)
	saved, err := d.store.Settle(ctx, claim, outcome)
	d.countAttempt(claim, outcome, saved, err, time.Since(claimed))
	switch {
	case errors.Is(err, storage.ErrClaimLost): // somebody asked for a plan in the meantime, or deleted the cluster
	case err != nil:
		complain(ctx, d.telemetry, "the outcome of planning was not stored; it is tried again", err, "cluster", claim.Cluster)
	case outcome.Plan != nil:
		d.Board.made(saved)
		d.stored(saved, nil)
		d.findPromises(ctx, claim.Cluster, outcome.Plan.Answer.Warnings)
		if t := d.telemetry; t != nil && !saved.ForNow {
			t.Log.Warn("a plan came too late; the cluster is planned again", "cluster", claim.Cluster, "number", saved.Number, "took", time.Since(claimed))
		}
	}
}

// countAttempt counts the outcome and time of a try; a lost claim belongs to another server.
func (d *Desk) countAttempt(claim Claim, o Outcome, saved PlanRecord, unsettled error, took time.Duration) {
	t := d.telemetry
	switch {
	case t == nil || errors.Is(unsettled, storage.ErrClaimLost):
		return
	case unsettled != nil || o.Retry > 0:
		t.PlanAttempted("failed")
		return
	case o.Plan != nil && !saved.ForNow:
		t.PlanAttempted("late")
		return
	case o.Plan != nil:
		t.PlanAttempted("planned")
	case o.Same:
		t.PlanAttempted("confirmed")
	default:
		t.PlanAttempted("infeasible")
		return
	}
	if claim.Reason == ByInputs {
		t.PlanLagged(time.Duration(claim.WaitedSeconds*float64(time.Second)) + took)
	}
}

// whileClaimed does the work of a claim while it keeps it. If the claim is lost meanwhile, or returned because the
// server stops, held is false.
func whileClaimed[T any](ctx context.Context, claim Claim, keep func(context.Context, Claim, time.Duration) error, release func(context.Context, Claim) error, work func(context.Context, Claim) (T, error)) (outcome T, held bool, err error) {
	working, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		keepClaim(working, stop, claim, keep)
	}()
	outcome, err = work(working, claim)
	lost := working.Err() != nil
	stop()
	<-kept
	if ctx.Err() != nil {
		released, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		_ = release(released, claim) // otherwise it expires
		return outcome, false, err
	}
	return outcome, !lost, err
}

// keepClaim extends a claim during the work, and stops the work when the claim is lost.
func keepClaim(ctx context.Context, stop func(), claim Claim, keep func(context.Context, Claim, time.Duration) error) {
	for ticker := time.NewTicker(claimLife / 3); ; {
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
			if err := keep(ctx, claim, claimLife); errors.Is(err, storage.ErrClaimLost) {
				stop()
			}
		}
	}
}

// try plans a cluster for now, unless its newest plan answers the same problem. The error is the one in the outcome.
func (d *Desk) try(ctx context.Context, claim Claim) (Outcome, error) {
	o := Outcome{At: d.now(), Attempt: Attempt{Reason: claim.Reason}}
	o.Attempt.At = o.At
	f, err := d.problemNow(ctx, claim.Cluster, o.At)
	o.Version, o.Ends = f.snapshot.Cluster.InputsVersion, ends(f.snapshot, o.At)
	if err == nil {
		var sum []byte
		if _, sum, err = textOf(f.problem); err == nil && bytes.Equal(sum, claim.Sum) {
			o.Same, o.Schedule = true, f.unkept()
			o.Attempt.Detail = fmt.Sprintf("Nothing has changed that plan %d depends on.", claim.Newest)
			return o, nil
		}
	}
	if err == nil {
		var record PlanRecord
		if record, err = d.answerFollowed(ctx, &f, o.At); err == nil {
			record.Problem, record.Sum, err = textOf(f.problem)
		}
		if err == nil {
			record.Ends, record.Schedule, o.Plan = o.Ends, f.unkept(), &record
			return o, nil
		}
	}
	o.Retry = fail(&o.Attempt, claim, err)
	return o, err
}

// fail notes the reason of a failed attempt, and returns the time until the next one; 0 waits for a change of inputs.
func fail(a *Attempt, claim Claim, err error) (retry time.Duration) {
	a.Failed = true
	var input *fault.InputError
	var infeasible *fault.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		a.Detail, a.Conflicts = infeasible.Error(), infeasible.Conflicts
	case errors.As(err, &input):
		a.Detail, a.Conflicts = input.Error(), input.Findings
	case errors.Is(err, fault.Busy):
		a.Detail, retry = err.Error(), retryAfter(claim.Failures)
	default:
		a.Detail, retry = "Something went wrong that is not about the inputs; the server's log says what. It is tried again.", retryAfter(claim.Failures)
	}
	return retry
}

func retryAfter(failures int) time.Duration {
	return min(shortestRetry<<min(failures, 10), longestRetry)
}

// tell logs outcomes for the operator. A cluster that was never planned is only being set up.
func (d *Desk) tell(ctx context.Context, claim Claim, o Outcome, err error) {
	t := d.telemetry
	switch {
	case t == nil:
	case o.Retry > 0:
		complain(ctx, d.telemetry, "planning failed; it is tried again", err, "cluster", claim.Cluster, "reason", claim.Reason, "failures", claim.Failures+1)
	case err != nil && claim.Newest > 0:
		t.Log.Warn("a cluster cannot be planned; its last plan stays", "cluster", claim.Cluster, "reason", claim.Reason, "error", err.Error())
	case err != nil:
		t.Log.Debug("a cluster cannot be planned yet", "cluster", claim.Cluster, "error", err.Error())
	case o.Same:
		t.Log.Debug("plan confirmed", "cluster", claim.Cluster, "number", claim.Newest, "reason", claim.Reason)
	default:
		t.Log.Info("planned", "cluster", claim.Cluster, "reason", claim.Reason, "vms", o.Plan.VMs)
	}
}

func complain(ctx context.Context, t *telemetry.Telemetry, what string, err error, values ...any) {
	if t != nil && ctx.Err() == nil {
		t.Log.Warn(what, append(values, "error", err.Error())...)
	}
}

// Pin keeps a plan current until a moment in spite of any changes. Planning continues meanwhile; the newest good
// plan becomes current afterwards.
func (d *Desk) Pin(ctx context.Context, cluster string, ref PlanRef, until time.Time) (Pin, error) {
	if !until.After(d.now()) {
		return Pin{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/until", Code: "range",
			Detail: fmt.Sprintf("The pin would end at %s, which is past; give a later time.", until.UTC().Format(time.RFC3339))}}}
	}
	defer d.Changing(ctx, cluster)()
	return d.store.PinPlan(ctx, cluster, ref, until)
}
