package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/test/await"
)

// children returns the ids of this process's children, including dead ones not waited for.
func children(t testing.TB) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, path := range stats {
		if fields := stat(path); fields != nil && fields[1] == strconv.Itoa(os.Getpid()) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			list = append(list, pid)
		}
	}
	return list
}

// stat returns the fields of /proc from a process's state on: state, parent, ... It returns nil if the process is
// gone.
func stat(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

// ticks returns the processor time a process has used in user mode, in hundredths of a second.
func ticks(pid int) int {
	fields := stat("/proc/" + strconv.Itoa(pid) + "/stat")
	if len(fields) < 12 {
		return 0
	}
	n, _ := strconv.Atoi(fields[11])
	return n
}

// optimum returns the best objective of a planning program by dynamic programming over its load in
// hundredths of a machine.
func optimum(p *lp.Program) float64 {
	limit := int(p.Upper[1]+12) * 100
	worth := make([]float64, limit+1) // the largest sum of penalties within this load
	for j := 2; j < p.Columns(); j++ {
		load := int(math.Round(p.Coefficient[j] * 100))
		for range int(p.Upper[j]) {
			for at := limit; at >= load; at-- {
				worth[at] = max(worth[at], worth[at-load]-p.Cost[j])
			}
		}
	}
	best := inf
	for machines := 0; machines <= limit/100; machines++ {
		reserved := min(float64(machines), p.Upper[1])
		best = min(best, p.Cost[1]*reserved+p.Cost[0]*(float64(machines)-reserved)-worth[machines*100])
	}
	return best
}

// TestFaults kills, stops and starves solvers at random moments. Answers may fail to come; none may
// be wrong, late, or leave anything behind.
func TestFaults(t *testing.T) {
	solves := 60
	if os.Getenv("HEADROOM_LONG") != "" {
		solves = 2_000
	}
	const seed, gap = 4, 1e-6
	programs := make([]*lp.Program, 8)
	want := make([]float64, len(programs))
	for i := range programs {
		programs[i] = planning(20, uint64(i), true)
		want[i] = optimum(programs[i])
	}

	pool, events := newPool(t, Config{Processes: 2, Grace: 100 * time.Millisecond})
	began := time.Now()
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	limit := max(500*time.Millisecond, 3*time.Since(began)) // a busy machine starts solvers slowly
	ended := make(chan struct{})
	var chaos, callers sync.WaitGroup
	faults := make(map[string]int)
	var answered, done atomic.Int64
	chaos.Go(func() {
		random := rand.New(rand.NewPCG(seed, 0))
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Duration(1+random.IntN(10)) * time.Millisecond):
			}
			pids := children(t)
			if len(pids) == 0 || done.Load() > answered.Load()*11/20 { // even on a slow machine, some are left in peace
				continue
			}
			// Safe: they are our own children, and only their keepers end their numbers.
			pid := pids[random.IntN(len(pids))]
			if random.IntN(4) > 0 && !events.started(pid) { // starting processes are rarer
				continue
			}
			done.Add(1)
			switch random.IntN(8) {
			case 0: // rarer, because it costs the whole limit
				faults["stopped"]++
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			case 1, 2:
				faults["starved"]++
				_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}, nil)
			default:
				faults["killed"]++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})

	var lock sync.Mutex
	outcomes := make(map[string]int)
	questions := make(chan int)
	for range 4 {
		callers.Go(func() {
			for n := range questions {
				p := programs[n%len(programs)]
				o := lp.Options{Gap: gap, Seconds: limit.Seconds()}
				if n%10 == 0 {
					o.Seconds = 0.002 // starved of time
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				began := time.Now()
				s, err := pool.Solve(ctx, p, o)
				cancel()
				if took := time.Since(began); took > 3*(limit+time.Second) { // two may be before it
					t.Errorf("solve %d took %s", n, took)
				}
				outcome := string(s.Status)
				switch {
				case errors.Is(err, lp.ErrCrashed):
					outcome = "crashed"
				case errors.Is(err, lp.ErrUnavailable): // killed while it started
					outcome = "unavailable"
				case err != nil:
					t.Errorf("solve %d: %v", n, err)
				case s.Status == lp.Optimal || s.Status == lp.Feasible:
					right := want[n%len(programs)]
					if err := lp.Check(p, s.X, s.Objective); err != nil {
						t.Errorf("solve %d: %v", n, err)
					}
					if s.Objective < right-1e-9 || s.Status == lp.Optimal && s.Objective > right+gap*math.Abs(right)+1e-9 {
						t.Errorf("solve %d: %s %.9g, want %.9g", n, s.Status, s.Objective, right)
					}
				case s.Status != lp.Stopped:
					t.Errorf("solve %d: got %s for a program with an optimum", n, s.Status)
				}
				answered.Add(1)
				lock.Lock()
				outcomes[outcome]++
				lock.Unlock()
			}
		})
	}
	sent := 0
	for ; sent < solves || done.Load() < int64(solves/2) && sent < 4*solves; sent++ {
		questions <- sent
	}
	close(questions)
	callers.Wait()
	close(ended)
	chaos.Wait()
	pool.Close()
	t.Logf("seed %d, faults %v, outcomes %v, %d events", seed, faults, outcomes, len(events.kinds()))
	t.Attr("R8", fmt.Sprintf("%d faults in %d requests, 0 wrong answers, 0 children left", done.Load(), sent))
	if left := children(t); len(left) > 0 {
		t.Errorf("children %v are left", left)
	}
	if outcomes["optimal"] < solves/4 || faults["killed"] < solves/20 {
		t.Errorf("too little happened: faults %v, outcomes %v", faults, outcomes)
	}
}

func TestTooLittleMemoryIsAnErrorAndNoMore(t *testing.T) {
	pool, _ := newPool(t, Config{Processes: 1, MemoryMB: 200})
	p := planning(400_000, 5, true) // needs more
	if _, err := pool.Solve(t.Context(), p, lp.Options{Gap: 1e-3}); !errors.Is(err, lp.ErrCrashed) {
		t.Errorf("got %v, want lp.ErrCrashed", err)
	}
	if s, err := pool.Solve(t.Context(), two(), lp.Options{}); err != nil || s.Objective != 2 {
		t.Errorf("afterwards: got %+v, %v", s, err)
	}
}

// parentRole makes the test program solve an endless program and print its solver's process id.
const parentRole = "HEADROOM_TEST_PARENT"

func beParent() int {
	pool := New(Config{Processes: 1, Report: func(e Event) { fmt.Println(e.Process) }})
	if _, err := pool.Solve(context.Background(), endless(), lp.Options{Seconds: 30}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1 // it should have been killed long before
}

// A solver dies with its parent, even if it is stopped and cannot notice.
func TestSolverDiesWithItsParent(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []bool{false, true} {
		parent := exec.Command(own)
		parent.Env = append(os.Environ(), parentRole+"=1")
		out, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		path := "/proc/" + strconv.Itoa(pid) + "/stat"
		await.Until(t, 5*time.Second, "the solver works", func() bool {
			return ticks(pid) >= 5
		})
		if stop {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait()
		await.Until(t, 2*time.Second, "the solver is gone", func() bool {
			fields := stat(path) // treats dead processes that nobody has waited for as gone
			return fields == nil || fields[0] == "Z"
		})
	}
}
