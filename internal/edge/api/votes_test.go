package api

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// held is a solver that waits before it answers, so that a test sees what is there meanwhile.
type held struct {
	lp.Solver
	wait  chan struct{} // closed: it answers
	asked atomic.Int64
	says  func() (lp.Solution, error) // in place of the true answer, if it is set
}

func (h *held) Solve(ctx context.Context, p *lp.Program, o lp.Options) (lp.Solution, error) {
	h.asked.Add(1)
	select {
	case <-h.wait:
	case <-ctx.Done():
		return lp.Solution{}, ctx.Err()
	}
	if h.says != nil {
		return h.says()
	}
	return h.Solver.Solve(ctx, p, o)
}

// votedPlan is a plan with the vote on it.
type votedPlan struct {
	Number int64
	Vote   *plans.Vote
	Plan   capacity.Plan
}

// voting serves a cluster of one VM type that is planned with CBC.
func voting(t *testing.T, says func() (lp.Solution, error)) (*service, *held) {
	t.Helper()
	h := &held{wait: make(chan struct{}), says: says}
	s := newService(t, solved(t), func(c *app.Config) {
		h.Solver = c.Solver
		c.Solver, c.PlannerLook = h, 50*time.Millisecond
	})
	s.cluster("c")
	r := s.ask(s.admin, "GET", "/v1/clusters/c", nil)
	s.ask(s.admin, "PUT", "/v1/clusters/c", `{"name":"c","currency":"USD","options":{"engine":"cbc","max_solve_ms":30000}}`, "If-Match", r.Header.Get("ETag")).want(t, 200)
	return s, h
}

// plansOf starts the planner, until stop or the end of the test.
func (s *service) plansOf(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := s.app.StartPlanner(ctx)
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// voted waits for a current plan whose vote is in a state.
func (s *service) voted(t *testing.T, state string) (p votedPlan, r answered) {
	t.Helper()
	for last := range await.Tries(10 * time.Second) {
		if r = s.ask(s.admin, "GET", "/v1/clusters/c/plans/current", nil); r.StatusCode == 200 {
			p = votedPlan{}
			if r.into(t, &p); p.Vote != nil && p.Vote.State == state {
				return p, r
			}
		}
		if last {
			t.Fatalf("no vote is %s: %d %+v", state, r.StatusCode, p.Vote)
		}
	}
	return p, r
}

// A plan is current before CBC has looked at it. Its vote comes later, also from a server that was started meanwhile.
func TestVotesComeAfterThePlan(t *testing.T) {
	t.Parallel()
	s, h := voting(t, nil)
	stop := s.plansOf(t)
	p, current := s.voted(t, plans.VoteWaiting)
	if p.Plan.Status != capacity.Optimal || p.Plan.Proof.Agreed != nil || p.Plan.Proof.Engine != "" || p.Vote.At != nil {
		t.Errorf("before the vote the plan is %s with %+v", p.Plan.Status, p.Plan.Proof)
	}
	byNumber := s.ask(s.admin, "GET", "/v1/clusters/c/plans/1", nil).want(t, 200)
	await.Until(t, 10*time.Second, "CBC is asked", func() bool { return h.asked.Load() == 1 })
	stop()
	s.voted(t, plans.VoteWaiting)
	s.plansOf(t)
	await.Until(t, 10*time.Second, "CBC is asked again", func() bool { return h.asked.Load() == 2 })
	close(h.wait)
	p, _ = s.voted(t, plans.VoteSame)
	if !strings.HasPrefix(p.Vote.Engine, "cbc ") || p.Vote.At == nil || p.Number != 1 || p.Plan.Proof.Engine != "" {
		t.Errorf("got %+v on plan %d with %+v", p.Vote, p.Number, p.Plan.Proof)
	}

	// Whoever knew the plan before its vote gets it with the vote.
	s.ask(s.admin, "GET", "/v1/clusters/c/plans/current", nil, "If-None-Match", current.Header.Get("ETag")).want(t, 200)
	again := s.ask(s.admin, "GET", "/v1/clusters/c/plans/1", nil, "If-None-Match", byNumber.Header.Get("ETag")).want(t, 200)
	if !strings.Contains(string(again.text), `"state":"same"`) {
		t.Errorf("by its number the plan is %.300s", again.text)
	}
	s.ask(s.admin, "GET", "/v1/clusters/c/plans/1", nil, "If-None-Match", again.Header.Get("ETag")).want(t, 304)

	// So it is with a plan that somebody asks for.
	var made votedPlan
	s.ask(s.admin, "POST", "/v1/clusters/c/plans", nil).want(t, 201).into(t, &made)
	if made.Vote == nil || made.Vote.State != plans.VoteWaiting {
		t.Errorf("a plan that was asked for has the vote %+v", made.Vote)
	}
	if p, _ = s.voted(t, plans.VoteSame); p.Number != 2 {
		t.Errorf("plan %d has a vote", p.Number)
	}
}

// A vote against a plan is told, and so is one that never comes.
func TestVotesThatDoNotConfirm(t *testing.T) {
	t.Parallel()
	for state, says := range map[string]func() (lp.Solution, error){
		plans.VoteOther: func() (lp.Solution, error) { return lp.Solution{Status: lp.Infeasible, Engine: "cbc 1"}, nil },
		plans.VoteNone:  func() (lp.Solution, error) { return lp.Solution{}, lp.ErrUnavailable },
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s, h := voting(t, says)
			close(h.wait)
			s.plansOf(t)
			p, _ := s.voted(t, state)
			if p.Plan.Status != capacity.Optimal || (p.Vote.Engine != "") != (state == plans.VoteOther) || (p.Vote.Detail != "") != (state == plans.VoteNone) || p.Vote.At == nil {
				t.Errorf("got %+v", p.Vote)
			}
		})
	}
}

// Where no vote is asked for, none is waited for.
func TestNoVoteIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	s.cluster("c")
	var made votedPlan
	s.ask(s.admin, "POST", "/v1/clusters/c/plans", nil).want(t, 201).into(t, &made)
	if made.Vote != nil {
		t.Errorf("a plan by the exact method alone has the vote %+v", made.Vote)
	}
}
