package postgres_test

import (
	"errors"
	"testing"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// CBC is asked about plans in the order of their making, about each by one server at a time, until it has voted.
func TestVotes(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	save := func(v *plans.Vote) int64 {
		r := record(night)
		r.Vote = v
		return must(s.SavePlan(ctx, r))(t).Number
	}
	voteOn := func(number int64) *plans.Vote {
		v := must(s.Plan(ctx, night, plans.PlanRef{Number: number}))(t).Vote
		if number == must(s.Current(ctx, night))(t).Record.Number {
			same(t, must(s.Current(ctx, night))(t).Record.Vote, v)
		}
		return v
	}
	claim := func() *plans.Claim { return must(s.ClaimVote(ctx, time.Minute))(t) }

	save(nil)
	if c := claim(); c != nil || voteOn(1) != nil {
		t.Errorf("a plan without a vote waits for one: %+v", c)
	}
	waiting := &plans.Vote{State: plans.VoteWaiting}
	save(waiting)
	save(waiting)
	same(t, voteOn(3), waiting)
	first, second := claim(), claim()
	if first.Cluster != night || first.Newest != 2 || second.Newest != 3 || first.Failures != 0 || claim() != nil {
		t.Errorf("got %+v and %+v", first, second)
	}
	check(t, s.KeepVote(ctx, *first, time.Minute))
	check(t, s.ReleaseVote(ctx, *first)) // its server ends
	if err := s.SettleVote(ctx, *first, plans.Vote{State: plans.VoteNone}); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("a claim that was given back settles a vote: %v", err)
	}
	if first = claim(); first == nil || first.Newest != 2 || first.Failures != 1 {
		t.Errorf("got %+v, want plan 2 again", first)
	}
	check(t, s.SettleVote(ctx, *first, plans.Vote{State: plans.VoteSame, Engine: "cbc 1"}))
	if v := voteOn(2); v.State != plans.VoteSame || v.Engine != "cbc 1" || v.At == nil || time.Since(*v.At).Abs() > time.Hour {
		t.Errorf("got %+v", v)
	}
	if err := s.SettleVote(ctx, *first, plans.Vote{State: plans.VoteOther}); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("a vote is counted twice: %v", err)
	}

	// A server that died leaves its claim behind, which ends.
	execute(t, raw(t, url), `UPDATE plan_votes SET claimed_until = clock_timestamp() - interval '1 second' WHERE number = 3`)
	if c := claim(); c == nil || c.Newest != 3 || c.Token == second.Token {
		t.Errorf("got %+v, want plan 3 again", c)
	}
	for range 10 {
		save(waiting)
	}
	if v := voteOn(3); v.State != plans.VoteNone || v.Detail == "" || v.At == nil {
		t.Errorf("plan 3 of 13 has the vote %+v, want none any more", v)
	}
	if v := voteOn(4); v.State != plans.VoteWaiting {
		t.Errorf("plan 4 of 13 has the vote %+v", v)
	}

	// A vote goes with its plan.
	conn := raw(t, url)
	execute(t, conn, `SET headroom.retention = 'on'`)
	execute(t, conn, `DELETE FROM stored_plans WHERE number = 13`)
	var left int
	check(t, conn.QueryRow(ctx, `SELECT count(*) FROM plan_votes`).Scan(&left))
	same(t, left, 11)
}
