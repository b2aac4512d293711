package postgres_test

import (
	"context"
	"errors"
	"example.org/headroom/internal/service/plans"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func onceKey(key, request string) app.OnceKey {
	return app.OnceKey{Principal: "p", Key: key, Fingerprint: auth.HashOf(request)}
}

// plans stores a plan and answers its number.
func planOnce(s *postgres.Store) func(context.Context) (app.Answer, error) {
	return func(ctx context.Context) (app.Answer, error) {
		p, err := s.SavePlan(ctx, record(night))
		return app.Answer{Status: 201, Header: map[string]string{"Location": fmt.Sprint(p.Number)}, Body: []byte(p.ID), Keep: true}, err
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	plans := func() int { return len(must(s.Plans(ctx, night, storage.Page{}))(t).Items) }

	first, replayed, err := s.Once(ctx, onceKey("k", "a"), planOnce(s))
	if err != nil || replayed || first.Status != 201 {
		t.Fatalf("first: %+v, replayed %v, %v", first, replayed, err)
	}
	again, replayed, err := s.Once(ctx, onceKey("k", "a"), planOnce(s))
	if err != nil || !replayed {
		t.Fatalf("again: replayed %v, %v", replayed, err)
	}
	same(t, again, first)
	_, _, err = s.Once(ctx, onceKey("k", "b"), planOnce(s))
	kindOf(t, err, fault.Invalid, "Idempotency-Key was used for another request")
	if plans() != 1 {
		t.Errorf("%d plans, want 1", plans())
	}
	other := onceKey("k", "b")
	other.Principal = "q"
	if _, replayed, err := s.Once(ctx, other, planOnce(s)); err != nil || replayed {
		t.Errorf("another principal's key: replayed %v, %v", replayed, err)
	}

	// A refusal, failure or panic leaves nothing, and the key can be used again.
	before := plans()
	broken := errors.New("broken")
	for name, do := range map[string]func(context.Context) (app.Answer, error){
		"an error": func(ctx context.Context) (app.Answer, error) { _, _ = planOnce(s)(ctx); return app.Answer{}, broken },
		"a refusal": func(ctx context.Context) (app.Answer, error) {
			a, err := planOnce(s)(ctx)
			a.Keep = false
			return a, err
		},
		"a panic": func(ctx context.Context) (app.Answer, error) { _, _ = planOnce(s)(ctx); panic("oh") },
		"a refused statement": func(ctx context.Context) (app.Answer, error) {
			_, err := s.CreateCluster(ctx, inputs.Cluster{Name: "BAD"})
			if a, err := planOnce(s)(ctx); err != nil { // a savepoint: the transaction continues
				return a, fmt.Errorf("after a refusal: %w", err)
			}
			return app.Answer{}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			func() {
				defer func() { _ = recover() }()
				_, replayed, err := s.Once(ctx, onceKey(name, "a"), do)
				switch name {
				case "an error":
					if !errors.Is(err, broken) {
						t.Errorf("got %v", err)
					}
				case "a refusal":
					if err != nil || replayed {
						t.Errorf("got %v, replayed %v", err, replayed)
					}
				case "a refused statement":
					kindOf(t, err, fault.Invalid)
				}
			}()
			if plans() != before {
				t.Errorf("%d plans, want %d", plans(), before)
			}
			if _, replayed, err := s.Once(ctx, onceKey(name, "b"), func(context.Context) (app.Answer, error) { return app.Answer{Status: 200, Keep: true}, nil }); err != nil || replayed {
				t.Errorf("the key is burnt: replayed %v, %v", replayed, err)
			}
		})
	}
	if got := s.Stat().AcquiredConns(); got != 0 {
		t.Errorf("%d connections were not given back", got)
	}

	// A record counts for a day.
	owner := raw(t, url)
	execute(t, owner, `UPDATE idempotency SET created_at = now() - interval '23 hours 59 minutes' WHERE key = 'k'`)
	if _, replayed, err := s.Once(ctx, onceKey("k", "a"), planOnce(s)); err != nil || !replayed {
		t.Errorf("within the day: replayed %v, %v", replayed, err)
	}
	execute(t, owner, `UPDATE idempotency SET created_at = now() - interval '24 hours 1 minute' WHERE key = 'k'`)
	if _, replayed, err := s.Once(ctx, onceKey("k", "c"), planOnce(s)); err != nil || replayed {
		t.Errorf("after the day: replayed %v, %v", replayed, err)
	}
	if _, replayed, err := s.Once(ctx, onceKey("k", "c"), planOnce(s)); err != nil || !replayed {
		t.Errorf("after the day, again: replayed %v, %v", replayed, err)
	}
	for _, key := range append(hostile, strings.Repeat("k", 2000)) {
		for _, want := range []bool{false, true} {
			if _, replayed, err := s.Once(ctx, onceKey(key, "a"), planOnce(s)); err != nil || replayed != want {
				t.Errorf("key %.20q: replayed %v, %v", key, replayed, err)
			}
		}
	}
	_, _, err = s.Once(ctx, onceKey("\x00", "a"), planOnce(s))
	kindOf(t, err, fault.Invalid, "cannot be stored")
}

// Two stores stand for two processes: their copies meet only in the database.
func TestRacingCopiesHaveOneEffect(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	stores := []*postgres.Store{pgtest.OpenWith(t, configOf(url)), pgtest.OpenWith(t, configOf(url))}
	ctx := filled(t, stores[0])
	const copies = 20
	keys := 10
	if long() {
		keys = 1000
	}
	began := time.Now()
	for k := range keys {
		var wg sync.WaitGroup
		answers := make([]app.Answer, copies)
		fresh, failed := make(chan int, copies), make(chan error, copies)
		for i := range copies {
			wg.Go(func() {
				s := stores[i%len(stores)]
				answer, replayed, err := s.Once(ctx, onceKey(fmt.Sprint(k), "a"), planOnce(s))
				if err != nil {
					failed <- err
				}
				if !replayed {
					fresh <- i
				}
				answers[i] = answer
			})
		}
		wg.Wait()
		if len(fresh) != 1 || len(failed) != 0 {
			t.Fatalf("key %d: %d of %d copies had an effect, %d failed", k, len(fresh), copies, len(failed))
		}
		for _, a := range answers {
			if string(a.Body) != string(answers[0].Body) || a.Header["Location"] != fmt.Sprint(k+1) {
				t.Fatalf("key %d: answers differ: %+v and %+v", k, a, answers[0])
			}
		}
	}
	last := must(stores[0].Plan(ctx, night, plans.PlanRef{}))(t)
	if last.Number != int64(keys) {
		t.Errorf("%d plans, want %d", last.Number, keys)
	}
	t.Logf("%d copies of %d requests: one plan each, in %s", copies, keys, time.Since(began).Round(time.Millisecond))
	t.Attr("R10", fmt.Sprintf("%d racing copies × %d keys: one plan each, the same body", copies, keys))
}

// Requests that wait for their copy, or for a place, leave connections to others.
func TestIdempotentRequestsLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	s := pgtest.OpenWith(t, postgres.Config{URL: pgtest.Database(t), MaxConns: 4})
	ctx := filled(t, s)
	release, entered := make(chan struct{}), make(chan struct{}, 20)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, _, err := s.Once(ctx, onceKey(fmt.Sprint(i%5), "a"), func(ctx context.Context) (app.Answer, error) {
				entered <- struct{}{}
				<-release
				return app.Answer{Status: 200, Keep: true}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-entered
	<-entered
	for range 10 {
		must(s.Cluster(ctx, night))(t)
	}
	for last := range await.Tries(5 * time.Second) { // a connection returns to the pool a moment after its use
		held := s.Stat().AcquiredConns()
		if held <= 2 {
			break
		}
		if last {
			t.Errorf("%d connections are held by waiting requests", held)
		}
	}
	close(release)
	wg.Wait()
	if len(entered) != 3 { // of five, two were taken out above
		t.Errorf("%d more requests had an effect, want 3", len(entered))
	}
}

func TestASnapshotInsideOnceIsOneState(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	stop, writer := make(chan struct{}), make(chan error, 1)
	go func() { // a class and its forecast always agree
		writer <- func() error {
			for n := int64(1); ; n++ {
				select {
				case <-stop:
					return nil
				default:
				}
				c, err := s.Document(ctx, night)
				if err != nil {
					return err
				}
				c.Classes[0].Jobs.Max = float64(n + 100)
				c.Contracts[0].VMs = n + 100
				have, err := s.Cluster(ctx, night)
				if err != nil {
					return err
				}
				if _, err := s.Apply(ctx, have.InputsVersion, c, false); err != nil {
					return err
				}
			}
		}()
	}()
	for range 20 {
		_, _, err := s.Once(ctx, onceKey(time.Now().String(), "a"), func(ctx context.Context) (app.Answer, error) {
			got, err := s.Snapshot(ctx, night, moment("2026-01-10T05:30:00Z"))
			if err == nil && got.Classes[0].Jobs.Max > 100 && got.Classes[0].Jobs.Max != float64(got.Contracts[0].VMs) {
				t.Errorf("a snapshot of two states: %g jobs, %d VMs", got.Classes[0].Jobs.Max, got.Contracts[0].VMs)
			}
			return app.Answer{Keep: true}, err
		})
		check(t, err)
	}
	close(stop)
	check(t, <-writer)
}
