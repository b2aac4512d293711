package api

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/telemetry"
)

// After a change, the same client reads the new state at once, even before the notification has come.
func TestChangesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	const address = "/v1/clusters/night/plans"
	current := func() (got currentPlan) {
		s.ask(s.admin, "GET", address+"/current", nil).want(t, 200).into(t, &got)
		return got
	}
	for i := range 20 {
		s.ask(s.admin, "PUT", address+"/pin", `{"number":1,"until":"2099-01-01T00:00:00Z"}`).want(t, 200)
		if got := current(); got.Number != 1 || got.Freshness.Pin == nil {
			t.Fatalf("pinned for the time number %d: got plan %d with pin %+v", i, got.Number, got.Freshness.Pin)
		}
		s.ask(s.admin, "DELETE", address+"/pin", nil).want(t, 204)
		if got := current(); got.Number != int64(2+i) || got.Freshness.Pin != nil {
			t.Fatalf("unpinned for the time number %d: got plan %d with pin %+v", i, got.Number, got.Freshness.Pin)
		}
		s.ask(s.admin, "POST", address, nil, "Idempotency-Key", fmt.Sprint("k", i)).want(t, 201)
		if got := current(); got.Number != int64(3+i) {
			t.Fatalf("planned for the time number %d: got plan %d", i, got.Number)
		}
	}
	for range 5 {
		a := s.ask(s.admin, "GET", "/v1/clusters/night", nil).want(t, 200)
		s.ask(s.admin, "DELETE", "/v1/clusters/night", nil, "If-Match", a.etag()).want(t, 204)
		s.ask(s.admin, "GET", address+"/current", nil).want(t, 404)
		s.cluster("night")
		s.ask(s.admin, "GET", address+"/current", nil).want(t, 404)
		s.ask(s.admin, "POST", address, nil).want(t, 201)
		current()
	}
}

// No autoscaler sees a decrease that must be held: not right after it, not when a pin has ended, not from a server
// that was just started.
func TestDecreasesAreHeldAtOnce(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	const cluster = "/v1/clusters/night"
	scaling := func() (got plans.Scaling) {
		t.Helper()
		s.ask(s.admin, "GET", scalingOfNight, nil).want(t, 200).into(t, &got)
		return got
	}
	change := func(path, member string) {
		t.Helper()
		a := s.ask(s.admin, "GET", cluster+path, nil).want(t, 200)
		var whole map[string]any
		a.into(t, &whole)
		for _, computed := range []string{"version", "inputs_version", "created_at", "updated_at", "warnings"} {
			delete(whole, computed)
		}
		var part map[string]any
		if err := json.Unmarshal([]byte(member), &part); err != nil {
			t.Fatal(err)
		}
		for name, value := range part {
			whole[name] = value
		}
		s.ask(s.admin, "PUT", cluster+path, whole, "If-Match", a.etag()).want(t, 200)
	}
	most := scaling().VMs.Total
	change("", `{"hold_s":600}`)
	for i := range 10 {
		change("/classes/nightly", fmt.Sprintf(`{"jobs":{"min":2,"max":%d}}`, 2+i%2*8))
		s.ask(s.admin, "POST", cluster+"/plans", nil).want(t, 201)
		if got := scaling(); got.VMs.Total != most {
			t.Fatalf("after change %d there are %d VMs, want %d", i, got.VMs.Total, most)
		}
	}
	change("/classes/nightly", `{"jobs":{"min":2,"max":2}}`)
	s.ask(s.admin, "POST", cluster+"/plans", nil).want(t, 201)
	change("", `{"hold_s":0}`)
	least := scaling().VMs.Total
	s.ask(s.admin, "PUT", cluster+"/plans/pin", `{"number":1,"until":"2099-01-01T00:00:00Z"}`).want(t, 200)
	if got := scaling(); got.VMs.Total != most || least >= most {
		t.Fatalf("the pinned plan has %d VMs, want %d, which is more than %d", got.VMs.Total, most, least)
	}
	s.ask(s.admin, "DELETE", cluster+"/plans/pin", nil).want(t, 204)
	change("", `{"hold_s":600}`)
	if got := scaling(); got.VMs.Total != most || !got.VMs.Held {
		t.Errorf("after the pin there are %d VMs, want %d", got.VMs.Total, most)
	}

	started := app.New(s.store.Stores(), auth.NewKeyring(), app.Config{})
	watched, err := started.WatchPlans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = watched // ends with the test's context
	h, err := New(Config{App: started, Telemetry: telemetry.New(io.Discard, slog.LevelError)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	s.url = server.URL
	if got := scaling(); got.VMs.Total != most || !got.VMs.Held {
		t.Errorf("a server that was just started says %d VMs, want %d", got.VMs.Total, most)
	}
}
