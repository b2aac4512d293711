package worker

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/test/await"
)

var inf = math.Inf(1)

// planning returns a planning program of random classes, columns d, r, h...: penalties lie between
// the two prices of a machine, so that every admission is close. Loads and prices are decimals.
func planning(classes int, seed uint64, whole bool) *lp.Program {
	random := rand.New(rand.NewPCG(seed, 1))
	p := new(lp.Program)
	row := p.Row(math.Inf(-1), 0)
	p.Column(0.39, 0, inf, whole, lp.Entry{Row: row, Coefficient: -1})
	p.Column(0.2, 0, float64(classes*5), whole, lp.Entry{Row: row, Coefficient: -1})
	for range classes {
		gamma := float64(50+random.IntN(900)) / 100
		penalty := math.Round(gamma*(200+190*random.Float64())) / 1000
		p.Column(-penalty, 0, float64(1+random.IntN(20)), whole, lp.Entry{Row: row, Coefficient: gamma})
	}
	return p
}

// endless returns a program whose optimum cannot be proved in a minute: every penalty is the load plus
// one, times the same amount.
func endless() *lp.Program {
	p := planning(1000, 11, true)
	for j := 2; j < p.Columns(); j++ {
		p.Cost[j] = -math.Round(250*(p.Coefficient[j]+1)) / 1000
	}
	return p
}

// log collects events.
type log struct {
	lock   sync.Mutex
	events []Event
}

func (l *log) add(e Event) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.events = append(l.events, e)
}

// kinds returns the kinds so far, in order.
func (l *log) kinds() []EventKind {
	l.lock.Lock()
	defer l.lock.Unlock()
	var kinds []EventKind
	for _, e := range l.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// started reports whether a process has announced that it is ready.
func (l *log) started(pid int) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return slices.ContainsFunc(l.events, func(e Event) bool { return e.Process == pid })
}

func newPool(t testing.TB, c Config) (*Pool, *log) {
	t.Helper()
	events := new(log)
	if c.Report == nil {
		c.Report = events.add
	}
	p := New(c)
	t.Cleanup(p.Close)
	return p, events
}

func TestSolvesMixedAndLinear(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1})
	for _, c := range []struct {
		whole  bool
		engine string
	}{{true, "cbc 2"}, {false, "clp 1"}} {
		p := planning(100, 1, c.whole)
		s, err := pool.Solve(t.Context(), p, lp.Options{Gap: 1e-4, Ranging: true})
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != lp.Optimal || !strings.HasPrefix(s.Engine, c.engine) {
			t.Errorf("got %s by %q, want optimal by %s", s.Status, s.Engine, c.engine)
		}
		if err := lp.Check(p, s.X, s.Objective); err != nil {
			t.Error(err)
		}
		if !c.whole && (s.Ranges == nil || math.Abs(s.Bound-s.Objective) > 1e-6) {
			t.Errorf("got ranges %v and bound %g for %g", s.Ranges, s.Bound, s.Objective)
		}
	}
	if diff := cmp.Diff([]EventKind{Started}, events.kinds()); diff != "" {
		t.Error(diff)
	}
}

// The output of CBC about a start must not get into the answers.
func TestStartComesBackIfNothingIsBetter(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1})
	p := planning(100, 2, true)
	first, err := pool.Solve(t.Context(), p, lp.Options{Gap: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		second, err := pool.Solve(t.Context(), p, lp.Options{Gap: 0.3, Start: first.X})
		if err != nil {
			t.Fatal(err)
		}
		if second.Objective > first.Objective+1e-9 {
			t.Errorf("got %.9g, started from %.9g", second.Objective, first.Objective)
		}
	}
}

func TestInfeasibleStartIsLeftOut(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1})
	for _, start := range []float64{0, 1.5, 10, inf, math.NaN()} {
		s, err := pool.Solve(t.Context(), two(), lp.Options{Start: []float64{start}})
		if err != nil || s.Status != lp.Optimal || s.Objective != 2 {
			t.Errorf("start %g: got %+v, %v", start, s, err)
		}
	}
}

func TestSameProgramSameAnswer(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1})
	for _, whole := range []bool{true, false} {
		var answers [2]lp.Solution
		for i := range answers {
			var err error
			if answers[i], err = pool.Solve(t.Context(), planning(200, 3, whole), lp.Options{Gap: 1e-5}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Error(diff)
		}
	}
}

// Every false answer is noticed, reported, and answered correctly by a second try in a new process.
func TestLiesAndCrashesAreTriedAgain(t *testing.T) {
	refused := []EventKind{Started, Refused, Started}
	crashed := []EventKind{Started, Crashed, Started}
	for name, want := range map[string][]EventKind{
		"wrong-objective": refused, "below-the-row": refused, "above-its-bound": refused, "not-whole": refused,
		"no-number": refused, "too-many-columns": refused, "no-columns": refused, "false-infeasible": refused, "worse-than-start": refused,
		"unknown-status": crashed, "too-long": crashed, "crash-once": crashed,
		"give-up-once": {Started, Refused}, // the process is still good
	} {
		t.Run(name, func(t *testing.T) {
			pool, events := newPool(t, Config{Processes: 1, Program: role(t, name)})
			s, err := pool.Solve(t.Context(), two(), lp.Options{Start: []float64{2}})
			if err != nil || s.Status != lp.Optimal || s.Objective != 2 {
				t.Errorf("got %+v, %v", s, err)
			}
			if diff := cmp.Diff(want, events.kinds()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCrashingTwiceIsAnError(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1, Program: role(t, "crash")})
	for range 2 {
		if _, err := pool.Solve(t.Context(), two(), lp.Options{}); !errors.Is(err, lp.ErrCrashed) {
			t.Errorf("got %v, want lp.ErrCrashed", err)
		}
	}
	if diff := cmp.Diff([]EventKind{Started, Crashed, Started, Crashed, Started, Crashed, Started, Crashed}, events.kinds()); diff != "" {
		t.Error(diff)
	}
}

func TestCrashReportsWhatTheSolverSaid(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1, Program: role(t, "crash-once")})
	if _, err := pool.Solve(t.Context(), two(), lp.Options{}); err != nil {
		t.Fatal(err)
	}
	if detail := events.events[1].Detail; !strings.Contains(detail, "std::bad_alloc") {
		t.Errorf("got %q, want its last words", detail)
	}
}

func TestSolverSeesNoEnvironment(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://secret")
	pool, _ := newPool(t, Config{Processes: 1, Program: role(t, "environment")})
	_, err := pool.Solve(t.Context(), two(), lp.Options{})
	if err == nil || !strings.Contains(err.Error(), "LC_ALL=C") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an environment without DATABASE_URL", err)
	}
}

func TestDeadlineBringsTheBestSoFar(t *testing.T) {
	const grace = 5 * time.Second
	pool, events := newPool(t, Config{Processes: 1, Grace: grace})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, byContext := range []bool{true, false} {
		// On a busy machine 1.2 s may be too short to find anything.
		if !bestSoFar(t, pool, byContext, 1200*time.Millisecond, grace) && !bestSoFar(t, pool, byContext, 12*time.Second, grace) {
			t.Errorf("by the context: %v: nothing came in 12 s", byContext)
		}
	}
	if kinds := events.kinds(); slices.Contains(kinds, Crashed) || slices.Contains(kinds, Refused) {
		t.Errorf("got %v", kinds)
	}
}

// bestSoFar reports whether an endless program returns a plan when its time ends.
func bestSoFar(t *testing.T, pool *Pool, byContext bool, limit, grace time.Duration) bool {
	t.Helper()
	p, ctx, o := endless(), t.Context(), lp.Options{}
	if byContext {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	} else {
		o.Seconds = limit.Seconds()
	}
	began := time.Now()
	s, err := pool.Solve(ctx, p, o)
	if err != nil || s.Status != lp.Feasible && s.Status != lp.Stopped {
		t.Fatalf("by the context: %v: got %s, %v, want feasible", byContext, s.Status, err)
	}
	if took := time.Since(began); took > limit+grace+time.Second {
		t.Errorf("by the context: %v: took %s of %s", byContext, took, limit)
	}
	if s.Status == lp.Stopped {
		return false
	}
	if err := lp.Check(p, s.X, s.Objective); err != nil {
		t.Error(err)
	}
	return true
}

func TestNodeLimitIsKept(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1})
	s, err := pool.Solve(t.Context(), endless(), lp.Options{Nodes: 50, Seconds: 30})
	if err != nil || s.Status != lp.Feasible {
		t.Errorf("got %s, %v, want feasible", s.Status, err)
	}
}

func TestDeafSolverIsKilled(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1, Program: role(t, "sleep"), Grace: 50 * time.Millisecond})
	warm := func() time.Time {
		t.Helper()
		if err := pool.Warm(t.Context()); err != nil { // so that its start takes none of the time
			t.Fatal(err)
		}
		return time.Now()
	}
	soon := func(began time.Time) {
		t.Helper()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
	}
	began := warm()
	s, err := pool.Solve(t.Context(), two(), lp.Options{Seconds: 0.1})
	if err != nil || s.Status != lp.Stopped {
		t.Errorf("own seconds: got %s, %v, want stopped", s.Status, err)
	}
	soon(began)
	began = warm()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if s, err := pool.Solve(ctx, two(), lp.Options{}); err != nil || s.Status != lp.Stopped {
		t.Errorf("deadline: got %s, %v, want stopped", s.Status, err)
	}
	soon(began)
	began = warm()
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := pool.Solve(ctx, two(), lp.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
	soon(began)
	if diff := cmp.Diff([]EventKind{Started, Killed, Started, Killed, Started, Killed}, events.kinds()); diff != "" {
		t.Error(diff)
	}
}

func TestStrayDescendantHoldsNobodyUp(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1, Program: role(t, "stray"), Grace: 50 * time.Millisecond})
	began := time.Now()
	s, err := pool.Solve(t.Context(), two(), lp.Options{Seconds: 0.2})
	if err != nil || s.Status != lp.Stopped {
		t.Errorf("got %s, %v, want stopped", s.Status, err)
	}
	pool.Close()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestFullQueueIsBusy(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1, Queue: 1, Program: role(t, "sleep")})
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 2 { // one at work, one in the queue
		callers.Go(func() {
			if _, err := pool.Solve(ctx, two(), lp.Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
		})
	}
	await.Until(t, 20*time.Second, "both callers are known", func() bool { return len(pool.waiting) == 2 })
	if _, err := pool.Solve(ctx, two(), lp.Options{}); !errors.Is(err, lp.ErrBusy) {
		t.Errorf("got %v, want lp.ErrBusy", err)
	}
	cancel()
	callers.Wait()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if s, err := pool.Solve(short, two(), lp.Options{}); err != nil || s.Status != lp.Stopped {
		t.Errorf("the place was not freed: got %s, %v", s.Status, err)
	}
}

func TestWaitingPastTheDeadlineIsBusy(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1, Program: role(t, "sleep")})
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	callers.Go(func() { _, _ = pool.Solve(ctx, two(), lp.Options{}) })
	await.Until(t, 20*time.Second, "the only process is at work", func() bool { return len(pool.slots) == 0 })
	short, cancelShort := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancelShort()
	if _, err := pool.Solve(short, two(), lp.Options{}); !errors.Is(err, lp.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want lp.ErrBusy for the deadline", err)
	}
	cancel()
	callers.Wait()
}

func TestCloseEndsCallersAndChildren(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 2, Program: role(t, "sleep")})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			if _, err := pool.Solve(t.Context(), two(), lp.Options{}); !errors.Is(err, lp.ErrUnavailable) {
				t.Errorf("got %v, want lp.ErrUnavailable", err)
			}
		})
	}
	await.Until(t, 20*time.Second, "all callers are known", func() bool { return len(pool.waiting) == 4 })
	pool.Close()
	callers.Wait()
	if left := children(t); len(left) > 0 {
		t.Errorf("children %v are left", left)
	}
	pool.Close()
	if _, err := pool.Solve(t.Context(), two(), lp.Options{}); !errors.Is(err, lp.ErrUnavailable) {
		t.Errorf("after Close: got %v, want lp.ErrUnavailable", err)
	}
}

func TestWornProcessesAreReplaced(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   []EventKind
	}{
		{"by solves", Config{Solves: 2}, []EventKind{Started, Recycled, Started}},
		{"by memory", Config{RecycleMB: 1}, []EventKind{Started, Recycled, Started, Recycled, Started, Recycled}},
	} {
		c.config.Processes = 1
		pool, events := newPool(t, c.config)
		for range 3 {
			if s, err := pool.Solve(t.Context(), two(), lp.Options{}); err != nil || s.Objective != 2 {
				t.Errorf("%s: got %+v, %v", c.name, s, err)
			}
		}
		if diff := cmp.Diff(c.want, events.kinds()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// An idle process that somebody kills is reported at once, and replaced when it is needed.
func TestAnIdleProcessThatDiesIsReported(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(events.events[0].Process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.Until(t, 10*time.Second, "the end of the process is reported", func() bool { return len(events.kinds()) == 2 })
	if s, err := pool.Solve(t.Context(), two(), lp.Options{}); err != nil || s.Objective != 2 {
		t.Errorf("got %+v, %v after an idle process was killed", s, err)
	}
	pool.Close()
	if diff := cmp.Diff([]EventKind{Started, Crashed, Started}, events.kinds()); diff != "" {
		t.Error(diff)
	}
}

func TestNoSolverProgramIsUnavailable(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{"", filepath.Join(dir, "absent"), plain, dir} {
		t.Setenv(ProgramVariable, named)
		pool, _ := newPool(t, Config{Processes: 1})
		if _, err := pool.Solve(t.Context(), two(), lp.Options{}); !errors.Is(err, lp.ErrUnavailable) {
			t.Errorf("HEADROOM_SOLVER=%s: got %v, want lp.ErrUnavailable", named, err)
		}
	}
	for _, program := range []string{plain, "/bin/true", "/bin/cat", role(t, "babble")} {
		pool, events := newPool(t, Config{Processes: 1, Program: program})
		if err := pool.Warm(t.Context()); !errors.Is(err, lp.ErrUnavailable) {
			t.Errorf("%s: got %v, want lp.ErrUnavailable", program, err)
		}
		if got := events.kinds(); !slices.Equal(got, []EventKind{Missing}) {
			t.Errorf("%s: got events %v, want that it is missing", program, got)
		}
	}
	pool, _ := newPool(t, Config{Processes: 1, Program: role(t, "mute")})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if s, err := pool.Solve(ctx, two(), lp.Options{}); err != nil || s.Status != lp.Stopped {
		t.Errorf("mute: got %s, %v, want stopped", s.Status, err)
	}
}

func TestFindPrefersTheProgramBeside(t *testing.T) {
	want := os.Getenv(ProgramVariable)
	if got, err := Find(); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(own), ProgramName)
	if err := os.Symlink(want, path); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	if got, err := Find(); err != nil || got != path {
		t.Errorf("got %q, %v, want %q", got, err, path)
	}
}

func TestMalformedQuestionsAreNotSent(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1})
	bad := two()
	bad.RowIndex[0] = 7
	for _, c := range []struct {
		p *lp.Program
		o lp.Options
	}{
		{bad, lp.Options{}}, {two(), lp.Options{Gap: math.NaN()}}, {two(), lp.Options{Seconds: -1}},
		{two(), lp.Options{Nodes: -1}}, {two(), lp.Options{Start: []float64{1, 2}}},
	} {
		if _, err := pool.Solve(t.Context(), c.p, c.o); err == nil {
			t.Errorf("%+v, %+v: no error", c.p, c.o)
		}
	}
	if len(events.kinds()) > 0 {
		t.Errorf("got events %v, want none", events.kinds())
	}
}
