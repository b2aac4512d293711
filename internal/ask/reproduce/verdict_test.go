package reproduce

import (
	"slices"
	"strings"
	"testing"
)

func TestVerdictsFollowFromFigureRangeAndProtocol(t *testing.T) {
	figure := printed{name: "figure", least: 11, most: 19, direction: above(0), reason: "why"}
	elsewhere := figure
	elsewhere.departs = "other jobs"
	never := elsewhere
	never.apart = true
	order := printed{name: "order", least: -noLimit, most: 0, reason: "why"}
	for _, c := range []struct {
		claim  printed
		ours   float64
		want   Verdict
		reason string
	}{
		{figure, 11, Confirmed, ""},
		{figure, 19, Confirmed, ""},
		{figure, 10.99, Different, "why"},
		{figure, 19.01, Different, "why"},
		{figure, -1, Refuted, "why"},
		{elsewhere, 15, NotComparable, "other jobs"},
		{elsewhere, 25, Different, "why"},
		{elsewhere, -1, Refuted, "why"},
		{never, 15, NotComparable, "other jobs"},
		{never, 25, NotComparable, "other jobs"},
		{order, 0, Confirmed, ""},
		{order, 1, Refuted, "why"},
		{figure, mean(nil), Unknown, "no instance to compute it from"},
	} {
		b := &bench{}
		got := b.within("f", "", c.ours, "", 0, 1)
		if b.judge(got, c.claim); got.Verdict != c.want || got.Claim.Reason != c.reason {
			t.Errorf("%s at %g: got %s, %q; want %s, %q", c.claim.name, c.ours, got.Verdict, got.Claim.Reason, c.want, c.reason)
		}
		if !got.Changed() {
			t.Errorf("%s: a verdict that is not recorded is none that is known", c.claim.name)
		}
	}
}

// Every claim has a recorded verdict, every recorded verdict a claim, and every verdict but confirmed a reason.
func TestVerdictsAreRecordedForEveryClaim(t *testing.T) {
	var claims []string
	for _, e := range Experiments() {
		for _, c := range shortRun(t, e.Name).Checks {
			if c.Claim == nil {
				if c.Verdict != noClaim {
					t.Errorf("%s: %s has the verdict %q without a claim", e.Name, c.Figure, c.Verdict)
				}
				continue
			}
			key := e.Name + " " + c.Claim.Name
			if slices.Contains(claims, key) {
				t.Errorf("%s has two rows", key)
			}
			claims = append(claims, key)
			switch c.Claim.Recorded {
			case Confirmed, Different, Refuted, NotComparable:
			default:
				t.Errorf("%s is recorded as %q", key, c.Claim.Recorded)
			}
			if c.Claim.PaperProtocol == "" || c.Claim.OurProtocol == "" || c.Claim.Says == "" || c.Paper == "" || c.Verdict != Confirmed && c.Claim.Reason == "" {
				t.Errorf("%s lacks words: %+v", key, *c.Claim)
			}
			if strings.Contains(c.Claim.Name, " ") {
				t.Errorf("%q cannot be recorded", c.Claim.Name)
			}
		}
	}
	if len(claims) != len(recorded()) {
		t.Errorf("%d verdicts are recorded of %d claims", len(recorded()), len(claims))
	}
}

func TestChangedVerdictsAreSeen(t *testing.T) {
	was := recorded()["sharing saving"]
	recorded()["sharing saving"] = Confirmed
	defer func() { recorded()["sharing saving"] = was }()
	if r := reproduce(t, "sharing", tools(), Setting{Quick: true, Instances: 2}); r.Holds || !strings.Contains(r.Verdict, "1 verdict not as recorded") {
		t.Errorf("got %t, %q", r.Holds, r.Verdict)
	}
}
