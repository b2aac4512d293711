package postgres_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/test/pgtest"
)

// busyPromotion is a proxy before the database. Every new connection costs some work, which all pending ones share,
// as at a standby promoted on a busy machine. It counts the pending ones.
type busyPromotion struct {
	cost time.Duration

	mu         sync.Mutex
	open       map[net.Conn]bool // all of them, including ready ones
	making     int
	most, made int
}

func (b *busyPromotion) between(t *testing.T, address string) string {
	t.Helper()
	config := must(pgx.ParseConfig(address))(t)
	network, place := pgconn.NetworkAddress(config.Host, config.Port)
	folder := t.TempDir()
	listener := must(net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432")))(t)
	b.open = map[net.Conn]bool{}
	var carried sync.WaitGroup
	t.Cleanup(func() { listener.Close(); b.fail(); carried.Wait() })
	carried.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			carried.Go(func() { b.carry(client, network, place) })
		}
	})
	query := url.Values{"host": {folder}, "port": {"5432"}, "sslmode": {"disable"}}
	through := url.URL{Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Path: "/" + config.Database, RawQuery: query.Encode()}
	return through.String()
}

// carry makes a connection when its share of the work is done, and passes data on. A client that gives up leaves at
// once.
func (b *busyPromotion) carry(client net.Conn, network, place string) {
	const cancels = 80877102 // the code of a request to cancel a statement, which costs the database little
	first := make([]byte, 4096)
	n, err := client.Read(first)
	if err != nil || n >= 8 && binary.BigEndian.Uint32(first[4:]) == cancels {
		client.Close()
		return
	}
	b.mu.Lock()
	b.open[client] = true
	b.making++
	b.most = max(b.most, b.making)
	b.mu.Unlock()
	gone := make(chan struct{})
	rest := make(chan []byte, 1)
	go func() { // a client that gives up closes the connection without a word
		defer close(gone)
		more := make([]byte, 4096)
		if n, err := client.Read(more); err == nil {
			rest <- more[:n]
		}
	}()
	work := time.Duration(0)
	for tick := time.NewTicker(5 * time.Millisecond); err == nil && work < b.cost; {
		select {
		case <-tick.C:
			b.mu.Lock()
			work += 5 * time.Millisecond / time.Duration(b.making)
			b.mu.Unlock()
		case <-gone:
			err = io.EOF
		}
	}
	b.mu.Lock()
	b.making--
	if err == nil {
		b.made++
	}
	b.mu.Unlock()
	defer func() {
		client.Close()
		b.mu.Lock()
		delete(b.open, client)
		b.mu.Unlock()
	}()
	if err != nil {
		return
	}
	server, err := net.Dial(network, place)
	if err != nil {
		return
	}
	defer server.Close()
	if _, err := server.Write(first[:n]); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(client, server); client.Close() })
	both.Go(func() {
		<-gone
		select {
		case more := <-rest:
			_, _ = server.Write(more)
		default:
		}
		_, _ = io.Copy(server, client)
		server.Close()
	})
	both.Wait()
}

// fail cuts all connections.
func (b *busyPromotion) fail() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.open {
		c.Close()
	}
}

// After a failover to a busy machine connections are made two at a time, with enough time, so that the service comes
// back while everybody keeps asking.
func TestConnectionsComeBackToABusyDatabase(t *testing.T) {
	t.Parallel()
	busy := &busyPromotion{}
	const within = 500 * time.Millisecond
	store := must(postgres.Open(t.Context(), postgres.Config{URL: busy.between(t, pgtest.Database(t)), SkipMigrations: true, AcquireTimeout: within}))(t)
	defer store.Close()
	check(t, store.Ready(t.Context()))
	busy.mu.Lock()
	busy.cost, busy.most, busy.made = 350*time.Millisecond, 0, 0 // one connection is in time; two at once are not, nor are 20
	busy.mu.Unlock()
	busy.fail()
	began := time.Now()
	asking, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var answered, slowest atomic.Int64
	first := make(chan time.Duration, 1)
	const enough = 200
	done := make(chan struct{})
	for range 60 {
		clients.Go(func() {
			for asking.Err() == nil {
				asked := time.Now()
				_, err := store.Clusters(asking, nil, storage.Page{Limit: 1})
				if asking.Err() != nil {
					return
				}
				for took := int64(time.Since(asked)); ; {
					if was := slowest.Load(); took <= was || slowest.CompareAndSwap(was, took) {
						break
					}
				}
				if err != nil {
					continue
				}
				switch answered.Add(1) {
				case 1:
					first <- time.Since(began)
				case enough:
					close(done)
				}
			}
		})
	}
	var recovered time.Duration
	select {
	case recovered = <-first:
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Errorf("only %d requests were answered", answered.Load())
		}
	case <-time.After(20 * time.Second):
		t.Error("the service did not come back within 20 s")
	}
	stop()
	clients.Wait()
	busy.mu.Lock()
	defer busy.mu.Unlock()
	t.Logf("back after %v; %d connections made, %d at once at most; the slowest answer took %v", recovered, busy.made, busy.most, time.Duration(slowest.Load()))
	if busy.most > 2 {
		t.Errorf("%d connections were made at once, want 2 at most", busy.most)
	}
	if limit := within + 2*time.Second; time.Duration(slowest.Load()) > limit {
		t.Errorf("an answer took %v, want %v at most", time.Duration(slowest.Load()), limit)
	}
}
