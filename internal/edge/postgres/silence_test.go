package postgres_test

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/test/pgtest"
)

// silencer is a proxy before the database. While it is locked it passes nothing on, like a machine that hangs, or a
// line that swallows everything. It counts the store's waits for an answer.
type silencer struct {
	sync.RWMutex
	trips atomic.Int64
}

// between starts a proxy, and returns the address of the database through it.
func (s *silencer) between(t *testing.T, address string) string {
	t.Helper()
	config := must(pgx.ParseConfig(address))(t)
	network, place := pgconn.NetworkAddress(config.Host, config.Port)
	folder := t.TempDir()
	listener := must(net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432")))(t)
	t.Cleanup(func() { listener.Close() })
	pass := func(to, from net.Conn, asks bool, asked *atomic.Bool) {
		defer to.Close()
		defer from.Close()
		for piece := make([]byte, 32<<10); ; {
			n, err := from.Read(piece)
			s.wait()
			if asked.Swap(asks) && !asks {
				s.trips.Add(1)
			}
			if _, wrong := to.Write(piece[:n]); err != nil || wrong != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, place)
			if err != nil {
				client.Close()
				continue
			}
			asked := new(atomic.Bool)
			go pass(server, client, true, asked)
			go pass(client, server, false, asked)
		}
	}()
	query := url.Values{"host": {folder}, "port": {"5432"}, "sslmode": {"disable"}}
	through := url.URL{Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Path: "/" + config.Database, RawQuery: query.Encode()}
	return through.String()
}

// wait returns once it is unlocked.
func (s *silencer) wait() {
	s.RLock()
	defer s.RUnlock()
}

func TestASilentDatabaseHoldsNobody(t *testing.T) {
	t.Parallel()
	var line silencer
	address := line.between(t, pgtest.Database(t))
	s := pgtest.OpenWith(t, postgres.Config{URL: address, AcquireTimeout: 300 * time.Millisecond, Statement: 200 * time.Millisecond})
	eventually(t, "there is a connection", func() bool { return s.Ready(t.Context()) == nil })
	ctx := filled(t, s)
	rows := []inputs.Forecast{{Class: "nightly", Hour: moment("2026-01-10T06:00:00Z"), Jobs: 1}}
	asked := map[string]func() error{
		"read":     func() error { _, err := s.Cluster(ctx, night); return err },
		"write":    func() error { _, err := s.SavePlan(ctx, record(night)); return err },
		"snapshot": func() error { _, err := s.Snapshot(ctx, night, january.From); return err },
		"bulk":     func() error { return putRows(ctx, s, rows...) },
		"once":     func() error { _, _, err := s.Once(ctx, onceKey("before", "a"), planOnce(s)); return err },
	}
	var warm, all sync.WaitGroup
	for range len(asked) { // connections that were in use a moment ago are not looked at before they are used again
		warm.Go(func() { check(t, putRows(ctx, s, rows...)) })
	}
	warm.Wait()
	line.Lock()
	for name, ask := range asked {
		all.Go(func() {
			began := time.Now()
			err := ask()
			kindOf(t, err, fault.Busy, "the database")
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
		})
	}
	all.Wait()
	line.Unlock()
	eventually(t, "it recovers by itself", func() bool { return s.Ready(ctx) == nil })

	began := time.Now() // silent from the beginning of the work in Once
	_, _, err := s.Once(ctx, onceKey("after", "a"), func(context.Context) (app.Answer, error) {
		line.Lock()
		return app.Answer{Status: 200, Keep: true}, nil
	})
	kindOf(t, err, fault.Busy, "the database")
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("the end of an idempotent request took %s", took)
	}
	line.Unlock()
	eventually(t, "it recovers by itself", func() bool { return s.Ready(ctx) == nil })
}

// Once the database is known to be silent, nobody waits for it as long as for a slow statement: neither new callers
// nor those who were waiting. When it is back, slow statements have their time again.
func TestSilenceIsKnown(t *testing.T) {
	t.Parallel()
	var line silencer
	address := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: line.between(t, address)})
	ctx := filled(t, s)
	var warm, early sync.WaitGroup
	for range 4 { // connections that were in use a moment ago are not looked at before they are used again
		warm.Go(func() { must(s.Snapshot(ctx, night, january.From))(t) })
	}
	warm.Wait()
	line.Lock()
	known := make(chan time.Time, 1)
	early.Go(func() {
		_, err := s.Snapshot(ctx, night, january.From)
		kindOf(t, err, fault.Busy, "the database did not answer in time")
		if took := time.Since(<-known); took > 3*time.Second {
			t.Errorf("who had asked before was told %s after it was known", took)
		}
	})
	kindOf(t, s.Ready(ctx), fault.Busy, "the database")
	known <- time.Now()
	for range 3 {
		began := time.Now()
		_, err := s.Cluster(ctx, night)
		kindOf(t, err, fault.Busy, "the database")
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("with the silence known, a read took %s", took)
		}
	}
	early.Wait()
	line.Unlock()
	eventually(t, "it recovers by itself", func() bool { return s.Ready(ctx) == nil })

	locker := raw(t, address)
	execute(t, locker, "BEGIN; LOCK TABLE classes")
	locked := make(chan error, 1)
	go func() {
		_, err := locker.Exec(ctx, "SELECT pg_sleep(1.5); COMMIT")
		locked <- err
	}()
	must(s.Classes().Get(ctx, night, "nightly"))(t)
	check(t, <-locked)
}

// A server that is stopped, or cut off, in the middle of a change holds its locks only as long as a method may take,
// not until somebody kills it.
func TestAStoppedServerLetsGo(t *testing.T) {
	t.Parallel()
	var line silencer
	address := pgtest.Database(t)
	other := pgtest.OpenWith(t, configOf(address))
	ctx := filled(t, other)
	for name, change := range map[string]func(*postgres.Store, func()) error{
		"after a write within what is done once": func(s *postgres.Store, stop func()) error {
			_, _, err := s.Once(ctx, onceKey("stopped", "a"), func(within context.Context) (app.Answer, error) {
				_, err := s.SavePlan(within, record(night))
				stop()
				return app.Answer{Status: 201, Keep: true}, err
			})
			return err
		},
		"within a change": func(s *postgres.Store, stop func()) error {
			return postgres.WriteAndThen(ctx, s, "SELECT FROM clusters FOR UPDATE", stop)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := pgtest.OpenWith(t, postgres.Config{URL: line.between(t, address), AcquireTimeout: 300 * time.Millisecond, Statement: 200 * time.Millisecond})
			began := time.Now()
			kindOf(t, change(s, line.Lock), fault.Busy, "the database")
			eventually(t, "another server writes", func() bool { _, err := other.SavePlan(ctx, record(night)); return err == nil })
			t.Logf("another server wrote after %s", time.Since(began))
			line.Unlock()
			eventually(t, "it recovers by itself", func() bool { return s.Ready(ctx) == nil })
		})
	}
}

// A long computation within Once keeps its transaction.
func TestWhatIsDoneOnceMayTakeLong(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: address, Statement: 600 * time.Millisecond})
	ctx := filled(t, s)
	_, _, err := s.Once(ctx, onceKey("long", "a"), func(within context.Context) (app.Answer, error) {
		must(s.Cluster(within, night))(t)
		time.Sleep(4 * time.Second) // longer than a changing transaction may be idle; the database's clock cannot be moved
		_, err := s.SavePlan(within, record(night))
		return app.Answer{Status: 201, Keep: true}, err
	})
	check(t, err)
}
