package worker

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/core/lp"
)

// The test program itself plays misbehaving solvers, as real child processes: the name it is started under selects
// the role.
const rolePrefix = "solver-"

// role returns the path at which this program plays the solver of that role.
func role(t testing.TB, name string) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), rolePrefix+name)
	if err := os.Symlink(own, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// two returns the program min x, x ≥ 1.5, x whole and at most 9: the optimum is 2.
func two() *lp.Program {
	p := new(lp.Program)
	row := p.Row(1.5, math.Inf(1))
	p.Column(1, 0, 9, true, lp.Entry{Row: row, Coefficient: 1})
	return p
}

// roles maps each role to its answers to two.
var roles = map[string]func(o lp.Options, variation int) (lp.Solution, error){
	"honest": func(lp.Options, int) (lp.Solution, error) { return truth(), nil },
	"crash-once": func(_ lp.Options, variation int) (lp.Solution, error) {
		if variation == 0 {
			os.Stderr.WriteString("terminate called after throwing an instance of 'std::bad_alloc'\n")
			os.Exit(134)
		}
		return truth(), nil
	},
	"crash": func(lp.Options, int) (lp.Solution, error) { os.Exit(134); panic("unreachable") },
	"give-up-once": func(_ lp.Options, variation int) (lp.Solution, error) {
		if variation == 0 {
			return lp.Solution{}, errors.New("numerical difficulties")
		}
		return truth(), nil
	},
	// A descendant in a group of its own survives the kill and holds our pipes open.
	"stray": func(lp.Options, int) (lp.Solution, error) {
		stray := exec.Command("/bin/sleep", "4")
		stray.Stdin, stray.Stdout, stray.Stderr = os.Stdin, os.Stdout, os.Stderr
		stray.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := stray.Start(); err != nil {
			return lp.Solution{}, err
		}
		hang()
		return truth(), nil
	},
	"sleep":            func(lp.Options, int) (lp.Solution, error) { hang(); return truth(), nil },
	"wrong-objective":  lie(func(s *lp.Solution) { s.Objective = 1 }),
	"below-the-row":    lie(func(s *lp.Solution) { s.X[0], s.Objective = 1, 1 }),
	"above-its-bound":  lie(func(s *lp.Solution) { s.X[0], s.Objective = 10, 10 }),
	"not-whole":        lie(func(s *lp.Solution) { s.X[0], s.Objective = 1.5, 1.5 }),
	"no-number":        lie(func(s *lp.Solution) { s.X[0] = math.NaN() }),
	"too-many-columns": lie(func(s *lp.Solution) { s.X = append(s.X, 1) }),
	"no-columns":       lie(func(s *lp.Solution) { s.X = nil }),
	"unknown-status":   lie(func(s *lp.Solution) { s.Status = "brilliant" }),
	"too-long":         lie(func(s *lp.Solution) { s.X = make([]float64, 1<<16) }),
	"false-infeasible": lie(func(s *lp.Solution) { *s = lp.Solution{Status: lp.Infeasible} }),
	"worse-than-start": lie(func(s *lp.Solution) { s.X[0], s.Objective = 3, 3 }),
	"environment": func(lp.Options, int) (lp.Solution, error) {
		return lp.Solution{}, errors.New(strings.Join(os.Environ(), " "))
	},
}

func truth() lp.Solution {
	return lp.Solution{Status: lp.Optimal, Objective: 2, Bound: 2, X: []float64{2}, Engine: "truth 1"}
}

// lie answers wrongly first, and correctly when asked again.
func lie(spoil func(s *lp.Solution)) func(lp.Options, int) (lp.Solution, error) {
	return func(_ lp.Options, variation int) (lp.Solution, error) {
		s := truth()
		if variation == 0 {
			spoil(&s)
		}
		return s, nil
	}
}

// hang does nothing for longer than any test waits, and then lets the process end should nobody have killed it.
func hang() { time.Sleep(time.Minute) }

func beSolver(name string) int {
	switch name {
	case "babble":
		for {
			if _, err := os.Stdout.WriteString("Welcome to the CBC MILP Solver\n"); err != nil {
				return 1
			}
		}
	case "mute":
		hang()
		return 1
	}
	act := roles[name]
	engine := Engine{
		Version: name,
		Solve:   func(_ *lp.Program, o lp.Options, variation int) (lp.Solution, error) { return act(o, variation) },
	}
	if err := Serve(os.Stdin, os.Stdout, engine); err != nil {
		return 1
	}
	return 0
}
