package queue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func TestPlansAreTold(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, "thanks") })
	w, secret := hook(t, s, "pager", r, hooks.PlanChanged)
	other := newReceiver(t, nil)
	elsewhere, _ := hook(t, s, "elsewhere", other, hooks.PlanChanged)
	cluster(t, s, "another")
	elsewhere.Clusters = []string{"another"}
	if _, err := s.Hooks.Replace(boss(t), elsewhere.Version, elsewhere); err != nil {
		t.Fatal(err)
	}
	cluster(t, s, "shop")
	first := plan(t, s, "shop", 5)
	r.wait(t, 1)
	second := plan(t, s, "shop", 8)
	came := r.wait(t, 2)
	bodies := map[int64]string{}
	for _, m := range came {
		var body struct {
			ID, Type, Cluster string
			At                time.Time
			Plan              struct {
				Number      int64
				ID, Status  string
				VMs         struct{ Total, Reserved, OnDemand float64 }
				CostPerHour string `json:"cost_per_hour"`
				Currency    string
			}
			Previous *struct {
				Number int64
				VMs    struct{ Total float64 }
			}
		}
		if err := json.Unmarshal([]byte(m.body), &body); err != nil {
			t.Fatal(err)
		}
		bodies[body.Plan.Number] = m.body
		if body.ID != m.header.Get("webhook-id") || body.Type != "plan.changed" || body.Cluster != "shop" || time.Since(body.At) > time.Minute || body.Plan.Status != "optimal" || body.Plan.CostPerHour != "15.00" || body.Plan.Currency != "USD" {
			t.Errorf("got %v %s", m.header, m.body)
		}
		if got, want := m.header.Get("webhook-signature"), signedWith(secret, m); got != want {
			t.Errorf("got the signature %q, want %q", got, want)
		}
		if seconds, err := strconv.ParseInt(m.header.Get("webhook-timestamp"), 10, 64); err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute || m.header.Get("Content-Type") != "application/json" {
			t.Errorf("got %v", m.header)
		}
		switch body.Plan.Number {
		case 1:
			if body.Previous != nil || body.Plan.ID != first.ID || body.Plan.VMs.Total != 5 {
				t.Errorf("got %s", m.body)
			}
		case 2:
			if body.Previous == nil || body.Previous.Number != 1 || body.Previous.VMs.Total != 5 || body.Plan.ID != second.ID || body.Plan.VMs.Total != 8 || body.Plan.VMs.Reserved != 1 {
				t.Errorf("got %s", m.body)
			}
		}
	}
	if len(bodies) != 2 {
		t.Errorf("got %v", bodies)
	}
	if !strings.Contains(bodies[1], `"previous":null`) || !strings.Contains(bodies[2], `"on_demand":7`) {
		t.Errorf("got %v", bodies)
	}
	log := deliveries(t, s, w, "delivered", allIn(hooks.DeliveryDelivered, 2))
	for _, d := range log {
		if len(d.Attempts) != 1 || d.Attempts[0].Status != 200 || d.Attempts[0].Error != "" || d.Attempts[0].Response != "thanks" || d.NextAt != nil || d.Delivered == nil || d.Cluster != "shop" || d.Event != hooks.PlanChanged {
			t.Errorf("got %+v", d)
		}
	}
	if log[0].At.Before(log[1].At) {
		t.Error("the newest does not come first")
	}

	// A pin makes another plan current, and so does its end.
	if _, err := s.Plans.Pin(boss(t), "shop", plans.PlanRef{Number: 1}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if m := r.wait(t, 3)[2]; !strings.Contains(m.body, `"plan":{"number":1,`) || !strings.Contains(m.body, `"previous":{"number":2,`) {
		t.Errorf("pinned: got %s", m.body)
	}
	plan(t, s, "shop", 9) // it is not current
	if err := s.Plans.Unpin(boss(t), "shop"); err != nil {
		t.Fatal(err)
	}
	if m := r.wait(t, 4)[3]; !strings.Contains(m.body, `"plan":{"number":3,`) || !strings.Contains(m.body, `"previous":{"number":1,`) {
		t.Errorf("unpinned: got %s", m.body)
	}
	deliveries(t, s, w, "all there are", allIn(hooks.DeliveryDelivered, 4))
	if n := len(other.messages()); n != 0 {
		t.Errorf("another cluster's webhook was told %d times", n)
	}
}

func TestFailuresOfPlanningAreToldOnce(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	r := newReceiver(t, nil)
	w, _ := hook(t, s, "pager", r, hooks.PlanFailed)
	cluster(t, s, "shop")
	ctx := boss(t)
	settle := func(o plans.Outcome) {
		t.Helper()
		for range await.Tries(10 * time.Second) {
			claim, _, err := s.Stores.Plans.Claim(ctx, time.Now(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if claim == nil {
				continue
			}
			o.At = time.Now()
			if o.Plan == nil {
				o.Attempt = plans.Attempt{At: o.At, Reason: claim.Reason, Failed: !o.Same, Detail: "The promised jobs need 41 VMs, and 30 can be had."}
			}
			if _, err := s.Stores.Plans.Settle(ctx, *claim, o); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Fatal("there is nothing to plan")
	}
	change := func() int64 {
		t.Helper()
		c, err := s.Stores.Inputs.Cluster(ctx, "shop")
		if err != nil {
			t.Fatal(err)
		}
		c.Description += "."
		if c, err = s.Clusters.Replace(ctx, c.Version, c); err != nil {
			t.Fatal(err)
		}
		return c.InputsVersion
	}
	settle(plans.Outcome{Version: change()}) // a cluster that never had a plan: nobody is notified
	plan(t, s, "shop", 5)
	for range 3 {
		settle(plans.Outcome{Version: change()})
	}
	r.wait(t, 1)
	settle(plans.Outcome{Version: change(), Same: true})
	settle(plans.Outcome{Version: change(), Retry: time.Millisecond})
	came := r.wait(t, 2)
	deliveries(t, s, w, "two", allIn(hooks.DeliveryDelivered, 2))
	for _, m := range came {
		if !strings.Contains(m.body, `"type":"plan.failed"`) || !strings.Contains(m.body, "need 41 VMs") || !strings.Contains(m.body, `"plan_number":1`) || !strings.Contains(m.body, `"cluster":"shop"`) {
			t.Errorf("got %s", m.body)
		}
	}
}

func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	work := kinds(map[string]func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error){
		"good": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return text(`1`), nil
		},
		"bad": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return queue.Result{}, fmt.Errorf("there is no such cluster: %w", fault.NotFound)
		},
	})
	s := start(t, pgtest.Database(t), queue.Config{Kinds: work})
	r := newReceiver(t, nil)
	hook(t, s, "runs", r, hooks.RunFinished)
	good := begin(t, s, "good")
	r.wait(t, 1)
	bad := begin(t, s, "bad")
	came := r.wait(t, 2)
	if !strings.Contains(came[0].body, good) || !strings.Contains(came[0].body, `"state":"succeeded","error":""`) {
		t.Errorf("got %s", came[0].body)
	}
	if !strings.Contains(came[1].body, bad) || !strings.Contains(came[1].body, `"state":"failed","error":"there is no such cluster"`) {
		t.Errorf("got %s", came[1].body)
	}
}
