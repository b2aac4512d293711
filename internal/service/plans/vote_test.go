package plans

import (
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// A plan counts as confirmed only by a vote that it got, and each other state has its sentence.
func TestVotesInWords(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, c := range []struct {
		vote   *Vote
		agreed *bool
		said   string
	}{
		{nil, nil, ""},
		{&Vote{State: VoteWaiting}, nil, "CBC has not voted on this plan yet."},
		{&Vote{State: VoteSame, Engine: "cbc 2"}, &yes, ""},
		{&Vote{State: VoteOther, Engine: "cbc 2"}, &no, ""},
		{&Vote{State: VoteNone, Detail: "No solver answered."}, nil, "CBC did not vote on this plan. No solver answered."},
	} {
		var p capacity.Proof
		c.vote.On(&p)
		c.vote.On(nil)
		if (p.Agreed == nil) != (c.agreed == nil) || p.Agreed != nil && *p.Agreed != *c.agreed || (p.Engine != "") != (p.Agreed != nil) || c.vote.Missing() != c.said {
			t.Errorf("%+v makes %+v and says %q", c.vote, p, c.vote.Missing())
		}
	}
}

// The vote is read off a plan that was made with CBC.
func TestVotesAreReadOffPlans(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, c := range map[string]struct {
		objective float64
		proof     *capacity.Proof
		want      string
	}{
		"agreed":         {0, &capacity.Proof{Engine: "cbc 2", Agreed: &yes}, VoteSame},
		"of other costs": {-1, &capacity.Proof{Engine: "cbc 2", Agreed: &yes}, VoteOther},
		"against":        {0, &capacity.Proof{Engine: "cbc 2", Agreed: &no}, VoteOther},
		"no time":        {0, &capacity.Proof{Engine: "cbc 2"}, VoteNone},
		"no solver":      {0, &capacity.Proof{}, VoteNone},
		"no plan":        {0, nil, VoteNone},
	} {
		if v := voteOf(capacity.Problem{}, c.objective, capacity.Plan{Proof: c.proof}); v.State != c.want || (v.Detail != "") != (v.State == VoteNone) {
			t.Errorf("%s: got %+v", name, v)
		}
	}
}
