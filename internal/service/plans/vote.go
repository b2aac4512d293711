package plans

import (
	"context"
	"errors"
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/storage"
)

// CBC votes on plans of one VM type after they are out: nobody waits for it. Until its vote comes the plan says so, and
// where none comes it says why.

// States of a vote.
const (
	VoteWaiting = "waiting" // CBC has not voted yet
	VoteSame    = "same"    // it found the same cost
	VoteOther   = "other"   // it found another cost
	VoteNone    = "none"    // it did not vote
)

// Vote is what CBC said of a stored plan.
type Vote struct {
	State  string     `json:"state"`
	Engine string     `json:"engine"` // with version; "" without an answer
	Detail string     `json:"detail"` // why there is no vote, as a sentence
	At     *time.Time `json:"at"`     // when it came or was given up
}

// On adds a vote that has come to the proof of its plan, as plans have it whose answer waited for CBC.
func (v *Vote) On(p *capacity.Proof) {
	if v != nil && p != nil && (v.State == VoteSame || v.State == VoteOther) {
		same := v.State == VoteSame
		p.Engine, p.Agreed = v.Engine, &same
	}
}

// Missing says why a vote is not in the proof; "" where it is, or where none is asked for.
func (v *Vote) Missing() string {
	switch {
	case v != nil && v.State == VoteWaiting:
		return "CBC has not voted on this plan yet."
	case v != nil && v.State == VoteNone:
		return "CBC did not vote on this plan. " + v.Detail
	}
	return ""
}

// mostAsked is the number of times that CBC is asked about a plan, where servers end before it answers.
const mostAsked = 3

// takeVotes asks CBC about plans that wait for its vote, one after the other, until the context ends. Any server may ask
// about any plan.
func (d *Desk) takeVotes(ctx context.Context) {
	for ctx.Err() == nil {
		claim, err := d.store.ClaimVote(ctx, claimLife)
		if err == nil && claim != nil {
			d.takeVote(ctx, *claim)
			continue
		}
		look := time.NewTimer(d.look) // the planner tells of a store that does not answer
		select {
		case <-d.unvoted:
		case <-look.C:
		case <-ctx.Done():
		}
		look.Stop()
	}
}

// takeVote asks CBC about one plan and stores what it says.
func (d *Desk) takeVote(ctx context.Context, claim Claim) {
	v, held, err := whileClaimed(ctx, claim, d.store.KeepVote, d.store.ReleaseVote, d.vote)
	if !held {
		return
	}
	if err != nil {
		complain(ctx, d.telemetry, "CBC could not be asked about a plan", err, "cluster", claim.Cluster, "number", claim.Newest)
		v = Vote{State: VoteNone, Detail: "It could not be asked; the server's log says why."}
	}
	if err := d.store.SettleVote(ctx, claim, v); err != nil && !errors.Is(err, storage.ErrClaimLost) {
		complain(ctx, d.telemetry, "the vote of CBC was not stored; it is asked again", err, "cluster", claim.Cluster, "number", claim.Newest)
	}
}

// vote solves the problem of a stored plan once more, in brief and with CBC.
func (d *Desk) vote(ctx context.Context, claim Claim) (Vote, error) {
	if claim.Failures >= mostAsked {
		return Vote{State: VoteNone, Detail: "It was asked three times, and each time the server ended before it answered."}, nil
	}
	record, of, err := d.Answered(ctx, claim.Cluster, PlanRef{Number: claim.Newest})
	if err != nil {
		return Vote{}, err
	}
	ctx, leave, err := d.solver.Turn(ctx)
	if err != nil {
		return Vote{}, err
	}
	defer leave()
	solve, err := d.solver.PlanLike(of.Problem)
	if err != nil {
		return Vote{}, err
	}
	again, err := solve(ctx, of.Problem)
	if err != nil {
		return Vote{}, err
	}
	return voteOf(of.Problem, record.Objective.Float(), again), nil
}

// voteOf reads CBC's vote about a plan off the plan that was made with it.
func voteOf(p capacity.Problem, objective float64, again capacity.Plan) Vote {
	if again.Proof == nil || again.Proof.Engine == "" {
		return Vote{State: VoteNone, Detail: "No solver answered."}
	}
	v := Vote{State: VoteOther, Engine: again.Proof.Engine}
	near := math.Abs(again.Objective.Float()-objective) <= 2*max(p.Options.Gap, hair)*max(1, math.Abs(objective))
	switch agreed := again.Proof.Agreed; {
	case agreed == nil:
		v.State, v.Detail = VoteNone, "It gave no answer within its time."
	case *agreed && near:
		v.State = VoteSame
	}
	return v
}

// hair is the share by which equal costs may differ in floating point.
const hair = 1e-9
