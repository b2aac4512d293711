package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/pgtest"
)

// held holds a client's knowledge of its lease.
type held struct {
	live.Admission
	asked   time.Time // when its request began
	expires time.Time // by the database's last answer
	ended   bool      // it returned the place, and got an answer
}

// Clients of three processes request, keep, return and forget places, while plans admit more and fewer. Their answers
// are compared with the final state of the database, and the leases' times with the limits.
func TestNeverMoreThanThePlanAdmits(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	ctx := somebody(t)
	stores := make([]*postgres.Store, 3)
	for i := range stores {
		stores[i] = pgtest.OpenWith(t, postgres.Config{URL: address, MaxConns: 8, AcquireTimeout: 20 * time.Second, Statement: 20 * time.Second})
	}
	must(stores[0].CreateCluster(ctx, inputs.NewCluster(night)))(t)
	const class = "etl"
	limits := map[int64]int64{}       // by plan
	replaced := map[int64]time.Time{} // when the next plan was certainly there
	change := func(most int64) {
		number := planned(t, ctx, stores[0], night, map[string]float64{class: float64(most), "other": 1})
		limits[number], replaced[number-1] = most, time.Now()
	}
	change(8)
	lasts := 3 * time.Second
	if long() {
		lasts = 20 * time.Second
	}
	deadline, stop := context.WithTimeout(ctx, lasts)
	defer stop()
	var (
		mu      sync.Mutex
		all     []held
		refused int
		clients sync.WaitGroup
	)
	pause := func(r *rand.Rand, most int) { // clients take their time until the test is over
		select {
		case <-deadline.Done():
		case <-time.After(time.Duration(r.IntN(most)) * time.Millisecond):
		}
	}
	for i := range 64 * len(stores) {
		clients.Go(func() {
			s, r := stores[i%len(stores)], rand.New(rand.NewPCG(1, uint64(i)))
			for deadline.Err() == nil {
				lease := held{asked: time.Now()}
				ttl := 0.02 + 0.2*r.Float64()
				var err error
				if lease.Admission, err = s.Admit(ctx, night, place(class, ttl)); err != nil {
					t.Errorf("ask: %v", err)
					return
				}
				if !lease.Admitted {
					mu.Lock()
					refused++
					mu.Unlock()
					pause(r, 30)
					continue
				}
				lease.expires = *lease.ExpiresAt
				for done := false; !done; {
					pause(r, 40)
					switch r.IntN(4) {
					case 0: // the client dies
						done = true
					case 1:
						if err := s.EndLease(ctx, night, lease.ID); err != nil {
							t.Errorf("end: %v", err)
						}
						lease.ended, done = true, true
					default:
						kept, err := s.KeepLease(ctx, night, lease.ID, lives(0.02+0.2*r.Float64()))
						switch {
						case err == nil:
							lease.expires = *kept.ExpiresAt
						case errors.Is(err, live.ErrLeaseOver):
							done = true
						default:
							t.Errorf("heartbeat: %v", err)
							done = true
						}
					}
				}
				mu.Lock()
				all = append(all, lease)
				mu.Unlock()
			}
		})
	}
	for i := 0; deadline.Err() == nil; i++ {
		select {
		case <-deadline.Done():
		case <-time.After(lasts / 12):
			change([]int64{3, 12, 1, 5, 20, 8}[i%6])
		}
	}
	clients.Wait()
	judge(t, address, class, all, limits, replaced)
	t.Logf("%d admitted, %d refused, %d plans", len(all), refused, len(limits))
}

// judge judges the leases by their times.
func judge(t *testing.T, address, class string, all []held, limits map[int64]int64, replaced map[int64]time.Time) {
	type stay struct {
		ID                    string
		Place, PlanNumber     int64
		AdmittedAt, ExpiresAt time.Time
		EndedAt               *time.Time
	}
	type event struct {
		at    time.Time
		step  int // -1 before 1 at the same moment
		limit int64
		lease string
	}
	conn := raw(t, address)
	stays := map[string]stay{}
	rows, err := conn.Query(t.Context(), `SELECT id::text, place, plan_number, admitted_at, expires_at, ended_at FROM admissions WHERE class = $1`, class)
	check(t, err)
	for rows.Next() {
		var s stay
		check(t, rows.Scan(&s.ID, &s.Place, &s.PlanNumber, &s.AdmittedAt, &s.ExpiresAt, &s.EndedAt))
		stays[s.ID] = s
	}
	check(t, rows.Err())
	if len(stays) != len(all) {
		t.Errorf("%d leases are stored, clients were given %d", len(stays), len(all))
	}
	var events []event
	for _, l := range all {
		s, stored := stays[l.ID]
		switch {
		case !stored:
			t.Fatalf("lease %s is not stored", l.ID)
		case !s.AdmittedAt.Equal(*l.AdmittedAt), s.PlanNumber != l.PlanNumber, l.Limit != limits[l.PlanNumber], l.Running > l.Limit, s.Place > l.Limit, s.ExpiresAt.Before(l.expires):
			t.Errorf("the client was told %+v, stored is %+v", l, s)
		case s.EndedAt != nil && !l.ended && s.EndedAt.Before(l.expires):
			t.Errorf("a lease was over at %s, before it expired at %s, and its client had not ended it", s.EndedAt, l.expires)
		}
		if next, over := replaced[l.PlanNumber]; over && l.asked.After(next) {
			t.Errorf("plan %d decided, and another one was there %s before anybody asked", l.PlanNumber, l.asked.Sub(next))
		}
		end := s.ExpiresAt
		if l.ended && s.EndedAt != nil {
			end = *s.EndedAt
		}
		events = append(events, event{at: s.AdmittedAt, step: 1, limit: l.Limit, lease: l.ID}, event{at: end, step: -1, limit: 0, lease: l.ID})
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.step, b.step))
	})
	running, full := int64(0), map[int64]bool{}
	for _, e := range events {
		running += int64(e.step)
		if e.step < 0 {
			continue
		}
		if running > e.limit {
			t.Errorf("%d ran at %s, %d might", running, e.at, e.limit)
		}
		if running == e.limit {
			full[e.limit] = true
		}
	}
	// Admitting nobody would be safe, too.
	if !full[8] || len(full) < 3 || len(all) < 5*len(limits) {
		t.Errorf("%d admitted; as many as might ran at limits %v", len(all), full)
	}
}

// BenchmarkAdmissions measures the time to give and return a place, in one class (whose admissions follow each other)
// and in many.
func BenchmarkAdmissions(b *testing.B) {
	for _, of := range []struct {
		name    string
		classes []string
	}{{"one class", []string{"a"}}, {"eight classes", []string{"a", "b", "c", "d", "e", "f", "g", "h"}}} {
		b.Run(of.name, func(b *testing.B) {
			admitted := map[string]float64{}
			for _, class := range of.classes {
				admitted[class] = 1000
			}
			s, ctx := admitting(b, admitted)
			var mu sync.Mutex
			var times []time.Duration
			b.SetParallelism(16)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				class := of.classes[rand.IntN(len(of.classes))]
				for pb.Next() {
					began := time.Now()
					a, err := s.Admit(ctx, night, place(class, 60))
					took := time.Since(began)
					if err != nil || !a.Admitted {
						b.Fatalf("%+v %v", a, err)
					}
					check(b, s.EndLease(ctx, night, a.ID))
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
				}
			})
			speed(b, times)
		})
	}
	b.Run("heartbeats", func(b *testing.B) {
		s, ctx := admitting(b, map[string]float64{"a": 64})
		var ids []string
		for range 64 {
			ids = append(ids, must(s.Admit(ctx, night, place("a", 3600)))(b).ID)
		}
		var mu sync.Mutex
		var times []time.Duration
		b.SetParallelism(16)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				began := time.Now()
				must(s.KeepLease(ctx, night, ids[rand.IntN(len(ids))], lives(3600)))(b)
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
		speed(b, times)
	})
	b.Run("alone", func(b *testing.B) {
		s, ctx := admitting(b, map[string]float64{"a": 10})
		var times []time.Duration
		for b.Loop() {
			began := time.Now()
			a := must(s.Admit(ctx, night, place("a", 60)))(b)
			times = append(times, time.Since(began))
			check(b, s.EndLease(ctx, night, a.ID))
		}
		speed(b, times)
	})
	b.Run("refused", func(b *testing.B) {
		s, ctx := admitting(b, map[string]float64{"a": 10})
		for range 10 {
			must(s.Admit(ctx, night, place("a", 3600)))(b)
		}
		var mu sync.Mutex
		var times []time.Duration
		b.SetParallelism(16)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				began := time.Now()
				if a, err := s.Admit(ctx, night, place("a", 60)); err != nil || a.Admitted {
					b.Fatalf("%+v %v", a, err)
				}
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
		speed(b, times)
	})
}

func speed(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(len(times))/b.Elapsed().Seconds(), "a-second")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}
