package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func TestKilledConnectionsLeaveNothingHalfWritten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := somebody(t)
	d := whole(night)
	d.Contracts[0].VMs, d.Classes[3].Jobs.Max = 1000, 1000
	began := time.Now()
	must(s.Apply(ctx, 0, d, false))(t)
	seldom := max(60*time.Millisecond, 2*time.Since(began)) // so that some get through on a slow machine
	kills := 15
	if long() {
		kills = 200
	}
	killer, stop := raw(t, url), make(chan struct{})
	killed := make(chan int, 1)
	go func() {
		n := 0
		defer func() { killed <- n }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(rand.N(seldom)):
			}
			var ended int
			_ = killer.QueryRow(context.Background(), `
				SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'headroom' AND state <> 'idle'`).Scan(&ended)
			n += ended
		}
	}()
	version, acknowledged, failed, doubtful := int64(1), 0, 0, false
	for n := 0; failed < kills && n < 20*kills; n++ {
		d.Contracts[0].VMs, d.Classes[3].Jobs.Max = int64(1001+n), float64(1001+n)
		done, err := s.Apply(ctx, version, d, false)
		switch {
		case err == nil:
			version = done.Version
			acknowledged++
			doubtful = false
		case doubtful && isVersion(err): // a commit whose answer was lost
			var e *storage.VersionError
			errors.As(err, &e)
			version, doubtful = e.Have, false
		default:
			kindOf(t, err, fault.Busy, "try again")
			failed++
			doubtful = true
		}
	}
	close(stop)
	if n := <-killed; n == 0 {
		t.Error("no connection was killed")
	}
	var got inputs.Document
	eventually(t, "the database answers", func() bool {
		var err error
		got, err = s.Document(ctx, night)
		return err == nil
	})
	if got.Contracts[0].VMs != int64(got.Classes[3].Jobs.Max) {
		t.Errorf("half a change: %d VMs, %g jobs", got.Contracts[0].VMs, got.Classes[3].Jobs.Max)
	}
	if acknowledged == 0 {
		t.Error("no change came through")
	}
	t.Logf("%d changes acknowledged, %d cut off", acknowledged, failed)
	t.Attr("R2", fmt.Sprintf("%d connections cut in the middle, %d changes acknowledged, none half or lost", failed, acknowledged))
}

func TestAReadOnlyDatabaseIsReadAndNotWritten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	before := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, before)
	conn := raw(t, url)
	execute(t, conn, "ALTER DATABASE "+conn.Config().Database+" SET default_transaction_read_only = on")
	s, err := postgres.Open(ctx, configOf(url)) // migrations with nothing to do write nothing
	check(t, err)
	defer s.Close()
	check(t, s.Ready(ctx))
	must(s.Snapshot(ctx, night, january.From))(t)
	must(s.Document(ctx, night))(t)
	for name, write := range map[string]func() error{
		"cluster": func() error { _, err := s.CreateCluster(ctx, inputs.NewCluster("c")); return err },
		"class":   func() error { return s.Classes().Delete(ctx, night, "nightly", 1) },
		"plan":    func() error { _, err := s.SavePlan(ctx, record(night)); return err },
		"apply":   func() error { _, err := s.Apply(ctx, 0, whole("c"), false); return err },
		"once":    func() error { _, _, err := s.Once(ctx, onceKey("k", "a"), planOnce(s)); return err },
		"forecast": func() error {
			_, err := s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "nightly"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { kindOf(t, write(), fault.Busy, "takes no changes") })
	}
	execute(t, conn, "ALTER DATABASE "+conn.Config().Database+" RESET default_transaction_read_only")
	again := 0
	await.Until(t, time.Minute, "new sessions take changes", func() bool {
		_, err := s.CreateCluster(ctx, inputs.NewCluster(fmt.Sprint("again-", again)))
		again++
		return err == nil
	})
	t.Attr("R17", "read-only: read, every kind of write refused as busy, and taken again afterwards")
}

func TestAFullServerIsBusy(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	owner := raw(t, url)
	name, user := owner.Config().Database, "limited_"+owner.Config().Database[14:26]
	execute(t, owner, "CREATE ROLE "+user+" LOGIN PASSWORD 'p' CONNECTION LIMIT 2")
	execute(t, owner, "GRANT "+schema.Role+" TO "+user)
	t.Cleanup(func() {
		late(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+user+"'", "DROP OWNED BY "+user+"; DROP ROLE "+user)
	})
	limited := as(t, url, user)
	s := pgtest.OpenWith(t, postgres.Config{URL: limited, MaxConns: 2})
	take := func() (conn *pgx.Conn) { // connections from the opening of the store may still be ending
		eventually(t, "a connection is free", func() (free bool) {
			var err error
			conn, err = pgx.Connect(t.Context(), limited)
			return err == nil
		})
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	first, second := take(), take()
	kindOf(t, s.Ready(t.Context()), fault.Busy, "out of connections")
	_, err := postgres.Open(t.Context(), postgres.Config{URL: limited, SkipMigrations: true})
	kindOf(t, err, fault.Busy, "out of connections")
	check(t, first.Close(t.Context()))
	check(t, second.Close(t.Context()))
	eventually(t, "it recovers by itself", func() bool { return s.Ready(t.Context()) == nil })

	elsewhere := raw(t, database(t, url, "postgres"))
	execute(t, elsewhere, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS false")
	execute(t, elsewhere, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+user+"'")
	eventually(t, "the killed connection is noticed", func() bool { return s.Ready(t.Context()) != nil })
	kindOf(t, s.Ready(t.Context()), fault.Busy)
	execute(t, elsewhere, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS true")
	eventually(t, "it recovers by itself", func() bool { return s.Ready(t.Context()) == nil })
	t.Attr("R17", "connection limit and closed database: busy, recovers by itself")
}

func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	filled(t, pgtest.OpenWith(t, configOf(url)))
	s := pgtest.OpenWith(t, postgres.Config{URL: url, MaxConns: 2, AcquireTimeout: time.Second, Statement: 300 * time.Millisecond})
	ctx := somebody(t)
	locker := raw(t, url)
	execute(t, locker, "BEGIN; SELECT * FROM clusters FOR UPDATE")
	began := time.Now()
	kindOf(t, s.Classes().Delete(ctx, night, "nightly", 1), fault.Busy, "another change")
	execute(t, locker, "ROLLBACK; BEGIN; LOCK TABLE classes")
	_, err := s.Classes().Get(ctx, night, "nightly")
	kindOf(t, err, fault.Busy)
	execute(t, locker, "ROLLBACK")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("waited %s", took)
	}

	var wg sync.WaitGroup
	release := make(chan struct{})
	entered := make(chan struct{}, 2)
	for i := range 2 { // one place is for idempotent requests, so the other waits for it
		wg.Go(func() {
			_, _, err := s.Once(ctx, onceKey(fmt.Sprint(i), "a"), func(context.Context) (app.Answer, error) {
				entered <- struct{}{}
				<-release
				return app.Answer{}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-entered
	hold := must(postgres.Hold(ctx, s))(t)
	kindOf(t, s.Ready(ctx), fault.Busy, "no connection to give within 1s")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Ready(gone); !errors.Is(err, context.Canceled) || errors.Is(err, fault.Busy) {
		t.Errorf("a caller who is gone gets %v", err)
	}
	hold()
	close(release)
	wg.Wait()
	check(t, s.Ready(ctx))
}

// A database that hangs in the middle of something does not hold up a stop.
func TestClosingIsBounded(t *testing.T) {
	t.Parallel()
	s := must(postgres.Open(t.Context(), configOf(pgtest.Database(t))))(t)
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _ = s.Once(somebody(t), app.OnceKey{Principal: "p", Key: "k"}, func(context.Context) (app.Answer, error) {
			close(begun)
			<-goOn
			return app.Answer{}, nil
		})
	}()
	<-begun
	closed := make(chan struct{})
	go func() { defer close(closed); s.Close() }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("it is not closed after 10 s, because a connection is in use")
	}
	close(goOn)
	<-ended
	<-closed
}

// Deliveries to a target that hangs do not wait for their webhook's lock, however many there are.
func TestDeliveriesStandBackWithoutALock(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, ctx := pgtest.OpenWith(t, configOf(url)), somebody(t)
	w := must(s.CreateWebhook(ctx, hooks.Webhook{Name: "w", URL: "https://hooks.example.com/", Events: []hooks.Event{hooks.PlanChanged}, Enabled: true}, "whsec_"))(t)
	flying, waits := must(s.PingWebhook(ctx, w.ID))(t), must(s.PingWebhook(ctx, w.ID))(t)
	if claim := must(s.ClaimDelivery(ctx, flying.ID, 1, time.Minute))(t); claim == nil {
		t.Fatal("the first is not claimed")
	}
	locker := raw(t, url)
	execute(t, locker, "BEGIN; SELECT FROM webhooks FOR UPDATE")
	if claim := must(s.ClaimDelivery(ctx, waits.ID, 1, time.Minute))(t); claim != nil {
		t.Error("two are in flight")
	}
	execute(t, locker, "ROLLBACK")
	if list := must(s.Deliveries(ctx, w.ID, storage.Page{}))(t); !list.Items[0].NextAt.After(*waits.NextAt) {
		t.Errorf("it is not put off: %+v", list.Items[0])
	}
}

func TestAClosedStoreIsBusy(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	s.Close()
	kindOf(t, s.Ready(ctx), fault.Busy, "cannot be reached")
	_, err := s.CreateCluster(ctx, inputs.NewCluster("c"))
	kindOf(t, err, fault.Busy)
}

func TestWhatTheDatabaseSaidIsForTheLog(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	conn := raw(t, url)
	execute(t, conn, "ALTER DATABASE "+conn.Config().Database+" SET default_transaction_read_only = on")
	s := pgtest.OpenWith(t, configOf(url))
	_, err := s.CreateCluster(somebody(t), inputs.NewCluster("c"))
	kindOf(t, err, fault.Busy)
	if state(err) != "25006" {
		t.Errorf("the log cannot tell what happened: %v", errors.Unwrap(err))
	}
}

// A trigger raises the errors of a server in trouble.
func TestAServerInTroubleIsBusy(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	owner := raw(t, url)
	execute(t, owner, "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'SELECT secret at /tmp/x' USING ERRCODE = current_setting('test.state'); END $$")
	execute(t, owner, "CREATE TRIGGER trouble BEFORE UPDATE ON contracts EXECUTE FUNCTION trouble()")
	name := owner.Config().Database
	for code, words := range map[string]string{
		"53100": "no space left", "53200": "out of connections or memory", "57P01": "starting or stopping", "57014": "did not answer in time", "55P03": "another change",
		"40P01": "another change", "25006": "takes no changes", "58030": "read or write its files", "08006": "cannot be reached",
	} {
		execute(t, owner, "ALTER DATABASE "+name+" SET test.state = '"+code+"'")
		fresh := pgtest.OpenWith(t, configOf(url))
		d := must(fresh.Document(ctx, night))(t)
		d.VMTypes[0].Description, d.Contracts[0].VMs = "half", 99
		_, err := fresh.Apply(ctx, 8, d, false)
		kindOf(t, err, fault.Busy, words)
		if state(err) != code {
			t.Errorf("%s: the log cannot tell what happened", code)
		}
		_, _, err = fresh.Once(ctx, onceKey("k", "a"), func(ctx context.Context) (app.Answer, error) {
			_, err := fresh.Apply(ctx, 8, d, false)
			return app.Answer{Keep: true}, err
		})
		kindOf(t, err, fault.Busy, words)
		if got := must(fresh.VMTypes().Get(ctx, night, "small"))(t); got.Description != small.Description {
			t.Fatalf("%s: half a change is there", code)
		}
		fresh.Close()
	}
	execute(t, owner, "DROP TRIGGER trouble ON contracts")
	got := must(s.Contracts().Get(ctx, night, "three-year"))(t)
	must(s.Contracts().Replace(ctx, night, "three-year", got.Version, got))(t)
}
