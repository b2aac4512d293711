package queue_test

import (
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/pgtest"
)

// A hanging target has two messages at most, and another target gets its own within a second.
func TestATargetThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	over := make(chan struct{})
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) })
	quick := newReceiver(t, nil)
	slow, _ := hook(t, s, "hanging", hanging, hooks.PlanChanged)
	cluster(t, s, "shop")
	for i := range 8 {
		plan(t, s, "shop", float64(i+2))
	}
	hanging.wait(t, 2)
	hook(t, s, "quick", quick, hooks.PlanChanged)
	began := time.Now()
	plan(t, s, "shop", 20)
	m := quick.wait(t, 1)[0]
	if took := m.at.Sub(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
	if n := len(hanging.messages()); n != 2 {
		t.Errorf("the target that hangs has %d messages at once", n)
	}
	for _, d := range deliveries(t, s, slow, "all there", func(all []hooks.Delivery) bool { return len(all) == 9 }) {
		if len(d.Attempts) != 0 || d.State != hooks.DeliveryPending {
			t.Errorf("putting off was counted: %+v", d)
		}
	}
}

// Thousands waiting for a hanging target delay nobody either, however many were sent before.
func TestABacklogHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	hundreds, events := 3, 3
	if os.Getenv("HEADROOM_LONG") != "" {
		hundreds, events = 100, 60
	}
	address := pgtest.Database(t)
	store := pgtest.OpenWith(t, postgres.Config{URL: address})
	before := &server{App: app.New(store.Stores(), auth.NewKeyring(), app.Config{}), store: store} // nobody works yet
	over := make(chan struct{})
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) })
	quick := newReceiver(t, nil)
	slow, _ := hook(t, before, "hanging", hanging, hooks.PlanFailed)
	hook(t, before, "quick", quick, hooks.PlanChanged)
	cluster(t, before, "shop")
	conn := raw(t, address)
	_, err := conn.Exec(t.Context(), `
		INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, cluster, body, state, next_at, delivered_at)
		SELECT gen_random_uuid(), w.id, gen_random_uuid(), 'ping', '', '{}', 'delivered', NULL, clock_timestamp() FROM webhooks w, generate_series(1, 3 * $1::int)`, 100*hundreds)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `
		INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, cluster, body, next_at)
		SELECT gen_random_uuid(), $1, gen_random_uuid(), 'ping', '', '{}', clock_timestamp() - interval '1 minute' FROM generate_series(1, $2)`, slow.ID, 100*hundreds)
	if err != nil {
		t.Fatal(err)
	}
	for range hundreds {
		if err := store.SweepDeliveries(boss(t)); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, address, queue.Config{})
	hanging.wait(t, 2)
	var took []time.Duration
	next := time.Tick(time.Duration(events) * 5 * time.Millisecond) // the backlog is put off again and again
	for i := range events {
		began := time.Now()
		plan(t, s, "shop", float64(20+i))
		took = append(took, quick.wait(t, i+1)[i].at.Sub(began))
		<-next
	}
	slices.Sort(took)
	t.Logf("%d events beside %d deliveries that wait: median %s, slowest %s", events, 100*hundreds, took[events/2], took[events-1])
	if took[events-1] > 2*time.Second {
		t.Errorf("one took %s", took[events-1])
	}
}
