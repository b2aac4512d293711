package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/await"
)

// What a lead reaches is asked for now, what comes later is listed, and each moment is planned as if it were the present.
func TestScalingLooksAhead(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	set := func(text string) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		clock.Store(at.Unix())
	}
	set("2026-03-01T20:10:00Z")
	s := newService(t, func(c *app.Config) { c.Clock = now })
	s.cluster("night") // 12 jobs are forecast from 22:00 to 23:00
	s.ask(s.admin, "PUT", atForecasts, `{"rows":[{"class":"nightly","hour":"2026-03-01T20:00:00Z","jobs":2},{"class":"nightly","hour":"2026-03-01T21:00:00Z","jobs":2},
		{"class":"nightly","hour":"2026-03-01T22:00:00Z","jobs":12},{"class":"nightly","hour":"2026-03-01T23:00:00Z","jobs":3}]}`).want(t, 200)
	// planAt returns the VMs of a plan of its own for a moment.
	planAt := func(at string) (vms int64) {
		t.Helper()
		var made struct {
			Plan struct {
				VMs struct {
					Total float64 `json:"total"`
				} `json:"vms"`
			} `json:"plan"`
		}
		var body any
		if at != "" {
			body = fmt.Sprintf(`{"at":%q}`, at)
		}
		s.ask(s.admin, "POST", "/v1/clusters/night/plans", body).want(t, 201).into(t, &made)
		return int64(made.Plan.VMs.Total)
	}
	ahead := func(query string) (got plans.Scaling) {
		t.Helper()
		await.Until(t, 10*time.Second, "a day ahead is known", func() bool {
			got = plans.Scaling{}
			s.ask(s.admin, "GET", scalingOfNight+query, nil).want(t, 200).into(t, &got)
			return got.NextProblem != "" || !got.NextUntil.Before(now().Add(plans.LongestLead))
		})
		return got
	}
	few := planAt("")
	var at21, at22, at23, after int64
	at21, at22, at23, after = planAt("2026-03-01T21:00:00Z"), planAt("2026-03-01T22:00:00Z"), planAt("2026-03-01T23:00:00Z"), planAt("2026-03-02T00:00:00Z")
	if few != at21 || at22 <= few || at23 >= at22 {
		t.Fatalf("plans have %d, %d, %d and %d VMs, which shows nothing", few, at21, at22, at23)
	}
	moments := map[string]int64{}
	got := ahead("?lead=600")
	for _, next := range got.Next {
		moments[next.At.Format("02 15:04")] = next.VMs
		sum := int64(0)
		for n := range maps.Values(next.Classes) {
			sum += n
		}
		if kinds := next.Reserved + next.OnDemand + next.Spot; kinds != next.VMs {
			t.Errorf("at %s the kinds have %d VMs of %d", next.At, kinds, next.VMs)
		}
		if sum != next.VMs {
			t.Errorf("at %s the classes have %d VMs of %d", next.At, sum, next.VMs)
		}
	}
	if want := map[string]int64{"01 22:00": at22, "01 23:00": at23, "02 00:00": after}; !maps.Equal(moments, want) {
		t.Errorf("got %v, want %v", moments, want)
	}
	if got.VMs.Total != few || got.VMs.Ahead {
		t.Errorf("ten minutes ahead nothing comes, and %+v are asked for", got.VMs)
	}
	if got := ahead("?lead=7200"); got.VMs.Total != at22 || !got.VMs.Ahead || got.VMs.Planned != few || got.Classes["nightly"].VMs <= ahead("?lead=60").Classes["nightly"].VMs {
		t.Errorf("two hours ahead %+v are asked for, want %d", got.VMs, at22)
	}
	if got := ahead("?lead=7200&max=3&class=nightly"); got.VMs.Total != min(3, at22) || len(got.Next[0].Classes) != 1 {
		t.Errorf("limits do not act on what comes: %+v", got)
	}

	set("2026-03-01T21:55:00Z")
	planAt("")
	s.shows("night", 6)
	if got := ahead("?lead=600"); got.VMs.Total != at22 || len(got.Next) != 3 {
		t.Errorf("five minutes before the boundary %+v are asked for, want %d", got.VMs, at22)
	}
	// Until the boundary's own plan is there its moment counts, however late that is.
	set("2026-03-01T22:00:30Z")
	if got := ahead("?lead=1"); got.VMs.Total != at22 {
		t.Errorf("just after the boundary %+v are asked for, want %d", got.VMs, at22)
	}

	// A job that finds no place is told when there is one, and a place before that is as good.
	set("2026-03-01T21:10:00Z")
	planAt("")
	for range 2 {
		s.ask(s.admin, "POST", admissions, `{"class":"nightly"}`).want(t, 201)
	}
	var third live.Admission
	await.Until(t, 10*time.Second, "a job is told when to come again", func() bool {
		third = live.Admission{}
		s.ask(s.admin, "POST", admissions, `{"class":"nightly"}`).want(t, 200).into(t, &third)
		return third.WaitUntil != nil
	})
	if want := "From 2026-03-01 22:00 UTC on plans are expected to admit 12 jobs at once."; third.WaitUntil.Format(time.RFC3339) != "2026-03-01T22:00:00Z" || !strings.HasSuffix(third.Reason, want) {
		t.Errorf("the third job is refused with %q until %v, want %q", third.Reason, third.WaitUntil, want)
	}

	// Another forecast counts at once, and whoever listens is told.
	set("2026-03-01T21:55:00Z")
	f := s.followFor(s.admin, "", "?next=true")
	defer f.close()
	if first := f.comes(t); len(first) != 3 || first[0].VMs != at22 {
		t.Errorf("the first event tells %+v", first)
	}
	s.ask(s.admin, "PUT", atForecasts, `{"rows":[{"class":"nightly","hour":"2026-03-01T22:00:00Z","jobs":3}]}`).want(t, 200)
	planAt("")
	if got := ahead("?lead=600"); got.VMs.Total >= at22 {
		t.Errorf("the forecast is lower now, and %+v are asked for", got.VMs)
	}
	if then := f.comes(t); len(then) == 0 || then[0].VMs >= at22 {
		t.Errorf("after another forecast the event tells %+v", then)
	}
	s.ask(s.admin, "GET", "/v1/clusters/night/plans/events?next=soon", nil).want(t, 400)
	if got := s.ask(s.admin, "GET", scalingOfNight+"?lead=0", nil).want(t, 200); strings.Contains(string(got.text), "next") {
		t.Errorf("no lead looks ahead: %s", got.text)
	}
	for _, wrong := range []string{"lead=86401", "lead=ten", "lead=-5"} {
		if p := s.ask(s.admin, "GET", scalingOfNight+"?"+wrong, nil).want(t, 400).problem(t); !strings.Contains(p.Detail+fmt.Sprint(p.Errors), "lead") {
			t.Errorf("%s: %s", wrong, p.Detail)
		}
	}
}

// comes returns what the next event about the coming day tells.
func (f *follower) comes(t *testing.T) []plans.ScalingNext {
	t.Helper()
	event := ""
	for f.lines.Scan() {
		switch name, value, _ := strings.Cut(f.lines.Text(), ": "); {
		case name == "event":
			event = value
		case name == "data" && event == "next":
			var told struct{ Next []plans.ScalingNext }
			if err := json.Unmarshal([]byte(value), &told); err != nil {
				t.Fatal(err)
			}
			return told.Next
		}
	}
	t.Fatal("the stream ended")
	return nil
}
