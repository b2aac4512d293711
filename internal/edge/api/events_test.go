package api

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/await"
)

// narrow is a listener whose connections buffer little unread data, and report their end.
type narrow struct {
	net.Listener
	ended chan time.Time
}

type told struct {
	net.Conn
	ended func()
}

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &told{c, sync.OnceFunc(func() { n.ended <- time.Now() })}, c.(*net.TCPConn).SetWriteBuffer(2048)
}

func (c *told) Close() error {
	c.ended()
	return c.Conn.Close()
}

// replica starts another server of the same service.
func (s *service) replica(stopping <-chan struct{}, within time.Duration) *httptest.Server {
	s.Helper()
	a := app.New(s.store.Stores(), s.app.Auth.Ring, app.Config{})
	watched, err := a.WatchPlans(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { <-watched }) // the test's context is over by then
	h, err := New(Config{App: a, Telemetry: telemetry.New(io.Discard, slog.LevelError), Stopping: stopping, ReadWithin: within})
	if err != nil {
		s.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h)
	server.Listener = narrow{server.Listener, make(chan time.Time, 1000)}
	server.Start()
	s.Cleanup(server.Close)
	return server
}

// plan makes another plan current, and returns its number.
func (s *service) plan() int64 {
	s.Helper()
	stored, err := s.app.Stores.Plans.Plan(s.Context(), "night", plans.PlanRef{Number: 1})
	if err != nil {
		s.Fatal(err)
	}
	stored, err = s.app.Plans.Save(auth.With(s.Context(), auth.Principal{ID: auth.LocalID, Role: auth.Admin}), stored)
	if err != nil {
		s.Fatal(err)
	}
	return stored.Number
}

// A client that does not read is cut off after a while, and hurts nobody: others see every plan at once, and nothing
// piles up.
func TestSlowReadersAreCutOff(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	const within = time.Second
	server := s.replica(nil, within)
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
	}}
	const slow = 20
	for range slow {
		conn, err := dialer.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /v1/clusters/night/plans/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+s.admin+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	was := s.url
	s.url = server.URL
	fast := s.follow(s.admin, "")
	s.url = was
	defer fast.close()
	if got := fast.next(); got != 1 {
		t.Fatalf("the first event is of plan %d, want 1", got)
	}
	before := inUse()
	slowest, stuck := time.Duration(0), time.Time{}
	plans := func() {
		for i := range 60 {
			began := time.Now()
			want := s.plan()
			for got := int64(0); got != want; {
				if got = fast.next(); got == 0 || got > want {
					t.Fatalf("plan %d comes after %d plans, want %d", got, i, want)
				}
			}
			slowest = max(slowest, time.Since(began))
			stuck = time.Now()
		}
	}
	plans()
	for ended, more := 0, 0; ended < slow; {
		select {
		case at := <-server.Listener.(narrow).ended:
			if late := at.Sub(stuck); late > within+2*time.Second {
				t.Errorf("a reader was cut off %v after the last plan, want at most %v", late, within)
			}
			ended++
		case <-time.After(within + time.Second):
			// A slow client gets only the latest plan: if plans came fast its buffers still have room.
			if more++; more > 5 {
				t.Fatal("a reader that does not read is still served")
			}
			plans()
		}
	}
	t.Logf("60 plans beside %d that do not read: the slowest took %v to be made and read; memory grew by %d kB", slow, slowest.Round(time.Millisecond), (inUse()-before)/1024)
	if slowest > time.Second {
		t.Errorf("a plan took %v to reach who reads", slowest)
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// A stopping server sends its watchers away with the time to come back. They miss no plan at another server, even one
// that was just started.
func TestStoppingServersSendWatchersOn(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	stopping := make(chan struct{})
	first := s.replica(stopping, 0)
	follow := func(server *httptest.Server, last string) *follower {
		was := s.url
		defer func() { s.url = was }()
		s.url = server.URL
		return s.follow(s.admin, last)
	}
	f := follow(first, "")
	defer f.close()
	if got := f.next(); got != 1 {
		t.Fatalf("the first event is of plan %d, want 1", got)
	}
	began := time.Now()
	close(stopping)
	var rest []string
	for f.lines.Scan() {
		rest = append(rest, f.lines.Text())
	}
	if took := time.Since(began); took > time.Second || !strings.Contains(strings.Join(rest, "\n"), "retry: ") {
		t.Errorf("after %v the stream ended with %q, want a hint when to come back", took, rest)
	}
	for range 3 {
		s.plan()
	}
	back := follow(s.replica(nil, 0), "1")
	defer back.close()
	for want := int64(2); want <= 4; want++ {
		if got := back.next(); got != want {
			t.Fatalf("after plan 1 comes %d, want %d", got, want)
		}
	}
	newest := int64(4)
	if os.Getenv("HEADROOM_LONG") != "" {
		for range maxMissed { // more than are sent again
			newest = s.plan()
		}
		s.shows("night", newest)
		long := s.follow(s.admin, "2")
		defer long.close()
		if missed, then := long.next(), long.next(); missed != -1 || then != newest {
			t.Errorf("who comes back after more than %d plans sees %d and %d, want a reset and the newest", maxMissed, missed, then)
		}
	}
	s.shows("night", newest)
	s.store.Close()
	await.Until(t, 10*time.Second, "the server knows that the database is away", func() bool { return !s.app.Plans.Board.InTouch() })
	away := s.follow(s.admin, "2")
	defer away.close()
	if missed, then := away.next(), away.next(); missed != -1 || then != newest {
		t.Errorf("while the database is away there come %d and %d, want a reset and the last plan", missed, then)
	}
}

// A client that moves to a lagging server gets nothing older. All clients get an older plan that is pinned, or
// current since the database was restored.
func TestPlansAreToldInOrder(t *testing.T) {
	t.Parallel()
	plan := func(number int64, pin *plans.Pin) *plans.Shown {
		return &plans.Shown{Current: plans.Current{Record: plans.PlanRecord{PlanSummary: plans.PlanSummary{Number: number}}, Pin: pin}}
	}
	for _, c := range []struct {
		name  string
		from  heard
		shown []*plans.Shown
		told  string
	}{
		{"new here", heard{}, []*plans.Shown{nil, plan(3, nil), plan(3, nil), plan(5, nil)}, "3 5"},
		{"ahead of this server", heard{9, true}, []*plans.Shown{plan(7, nil), plan(8, nil), nil, plan(9, nil), plan(10, nil)}, "10"},
		{"an older plan is pinned", heard{9, true}, []*plans.Shown{plan(7, &plans.Pin{}), plan(9, nil)}, "7 9"},
		{"the database is put back", heard{9, false}, []*plans.Shown{plan(7, nil)}, "7"},
		{"put back once this server has caught up", heard{9, true}, []*plans.Shown{plan(9, nil), plan(6, nil)}, "6"},
	} {
		var told []string
		for _, shown := range c.shown {
			if c.from.next(shown) {
				told = append(told, fmt.Sprint(shown.Record.Number))
			}
		}
		if got := strings.Join(told, " "); got != c.told {
			t.Errorf("%s: told %s, want %s", c.name, got, c.told)
		}
	}
}
