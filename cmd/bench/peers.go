package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
)

// question is the problem for every solver.
type question struct {
	instance study.Instance // a fleet has none
	program  *lp.Program
	file     string // the program as MPS
	gap      float64
	limit    time.Duration
}

// answer is a solver's answer. Only its columns are believed: cost is computed anew.
type answer struct {
	outcome outcome
	x       []float64     // by column; nil: no plan
	took    time.Duration // CPU time without start and reading, unless the peer says otherwise
	whole   time.Duration // CPU time of a program with its start and reading; 0 where there is none
	bound   float64       // that no plan costs less, by the solver's claim; NaN where it makes none
	gap     float64       // proven, relative; ours only
}

type outcome string

const (
	optimal outcome = "optimal" // within the requested gap, by the solver's claim
	limited outcome = "limit"   // time ran out
	failed  outcome = "failed"  // neither an answer nor out of time
)

// peer is a solver to compare with.
type peer struct {
	name  string
	about string
	solve func(ctx context.Context, q question) (answer, error)
}

// asProgram names the column of Headroom's own command line.
const asProgram = "headroom-file"

// peers returns the solvers to compare with, in the order of their columns; headroom is the path of Headroom's program,
// python that of the Python that has the solvers of the Python registry.
func peers(solver lp.Solver, headroom, python string) []peer {
	return []peer{
		{asProgram, "Headroom's command line on the same problem as a JSON file", headroomFile(headroom)},
		{"cbc-library", "CBC's C interface with preprocess and cuts off, in a solver process that is already running; elapsed time", library(solver)},
		{"cbc", "CBC's command line with its default settings", cbc()},
		{"cbc-plain", "CBC's command line with -preprocess off -cuts off", cbc("-preprocess", "off", "-cuts", "off")},
		{"glpsol", "GLPK's command line", glpsol()},
		{"glpsol-cuts", "GLPK's command line with --cuts", glpsol("--cuts")},
		{"highs", "HiGHS by highspy, on one thread", pythonPeer(python, "highs")},
		{"scip", "SCIP by PySCIPOpt, on one thread", pythonPeer(python, "scip")},
		{"cp-sat", "CP-SAT by OR-tools, on one thread", pythonPeer(python, "cp-sat")},
	}
}

// columns returns the jobs of an instance as columns of its program. The VMs are left out: nobody reads them.
func columns(in study.Instance, jobs []int64) []float64 {
	x := make([]float64, len(in.Supply), len(in.Supply)+len(jobs))
	for _, h := range jobs {
		x = append(x, float64(h))
	}
	return x
}

// jobsOf reads the jobs of an instance from the columns of its program.
func jobsOf(in study.Instance, x []float64) (jobs []int64) {
	for _, h := range x[len(in.Supply):] {
		jobs = append(jobs, int64(math.Round(h)))
	}
	return jobs
}

// headroomFile asks Headroom's program by a file, like the peers.
func headroomFile(program string) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		p := q.instance.Problem()
		p.Options.Engine, p.Options.Integrality = capacity.EngineExact, capacity.Integer
		p.Options.Gap, p.Options.MaxSolveMs = q.gap, q.limit.Milliseconds()
		text, err := json.Marshal(p)
		if err != nil {
			return answer{}, fmt.Errorf("write the problem: %w", err)
		}
		file := filepath.Join(filepath.Dir(q.file), "problem.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return answer{}, err
		}
		defer os.Remove(file)
		output, cpu, err := runPeer(ctx, q, program, "solve", file, "-o", "json")
		if err != nil {
			return ended(cpu, err)
		}
		pl, err := capacity.ReadPlan(output)
		if err != nil {
			return answer{}, fmt.Errorf("read the plan: %w", err)
		}
		a := answer{outcome: limited, took: cpu, whole: cpu}
		if pl.Status == capacity.Optimal {
			a.outcome = optimal
		}
		jobs := make([]int64, len(pl.Classes))
		for i, c := range pl.Classes {
			jobs[i] = int64(math.Round(c.Admitted))
		}
		a.x = columns(q.instance, jobs)
		return a, nil
	}
}

// A peer that overruns its own limit by grace is ended. On a busy machine its processor time may take so many times as long.
const (
	grace = 5 * time.Second
	busy  = 30
)

// runPeer runs a command to its end or past its limit and returns its output and CPU time.
func runPeer(ctx context.Context, q question, name string, args ...string) (output []byte, cpu time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, busy*q.limit+grace)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if ctx.Err() != nil {
		return nil, cpu, ctx.Err()
	}
	return out.Bytes(), cpu, err
}

// ended turns a peer that gave up, or was ended past its limit, into an answer. Every other error stays one.
func ended(cpu time.Duration, err error) (answer, error) {
	var gaveUp *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return answer{outcome: limited, took: cpu, whole: cpu, bound: math.NaN()}, nil
	case errors.As(err, &gaveUp):
		return answer{outcome: failed, took: cpu, whole: cpu, bound: math.NaN()}, nil
	}
	return answer{}, err
}

// steady runs a command as runPeer does, twice more if it is short, and returns the CPU time of the middle one.
func steady(ctx context.Context, q question, name string, args ...string) (output []byte, cpu time.Duration, err error) {
	const short, times = 100 * time.Millisecond, 3
	var took []time.Duration
	for len(took) == 0 || len(took) < times && took[0] < short {
		if output, cpu, err = runPeer(ctx, q, name, args...); err != nil {
			return nil, cpu, err
		}
		took = append(took, cpu)
	}
	slices.Sort(took)
	return output, took[len(took)/2], nil
}

// timed runs a command, and the same program to read the file alone. The answer's time leaves out that of the second.
func timed(ctx context.Context, q question, name string, args, reading []string) (output []byte, a answer, err error) {
	output, cpu, err := steady(ctx, q, name, args...)
	if err != nil {
		a, err = ended(cpu, err)
		return nil, a, err
	}
	_, start, err := steady(ctx, q, name, reading...)
	return output, answer{outcome: failed, took: max(0, cpu-start), whole: cpu, bound: math.NaN()}, err
}

func cbc(settings ...string) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		solution := filepath.Join(filepath.Dir(q.file), "cbc.solution")
		args := append([]string{q.file, "-timeMode", "cpu", "-sec", number(q.limit.Seconds()), "-ratio", number(q.gap)}, settings...)
		output, a, err := timed(ctx, q, "cbc", append(args, "-solve", "-solu", solution), []string{q.file, "-quit"})
		if err != nil || output == nil {
			return a, err
		}
		defer os.Remove(solution)
		if _, after, found := bytes.Cut(output, []byte("Lower bound:")); found {
			if a.bound, err = strconv.ParseFloat(string(bytes.Fields(after)[0]), 64); err != nil {
				return answer{}, fmt.Errorf("read CBC's bound: %w", err)
			}
		}
		text, err := os.Open(solution)
		if err != nil {
			return answer{}, fmt.Errorf("read CBC's solution: %w", err)
		}
		defer text.Close()
		lines := bufio.NewScanner(text)
		lines.Scan()
		switch first := lines.Text(); {
		case strings.HasPrefix(first, "Optimal"):
			a.outcome = optimal
		case strings.HasPrefix(first, "Stopped on time"):
			a.outcome = limited
			if strings.Contains(first, "no integer solution") {
				return a, nil
			}
		default:
			return a, nil
		}
		a.x = make([]float64, q.program.Columns()) // columns at 0 are left out
		for lines.Scan() {
			words := strings.Fields(strings.TrimPrefix(lines.Text(), "**")) // marks rows it thinks broken
			if len(words) < 3 {
				continue
			}
			if err := a.set(words[1], words[2]); err != nil {
				return answer{}, fmt.Errorf("read CBC's solution: %w", err)
			}
		}
		return a, lines.Err()
	}
}

func glpsol(settings ...string) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) { return askGLPK(ctx, q, settings) }
}

func askGLPK(ctx context.Context, q question, settings []string) (answer, error) {
	solution := filepath.Join(filepath.Dir(q.file), "glpsol.solution")
	limit := strconv.Itoa(max(1, int(math.Ceil(q.limit.Seconds()))))
	args := append([]string{"--freemps", q.file, "--mipgap", number(q.gap), "--tmlim", limit, "-w", solution}, settings...)
	output, a, err := timed(ctx, q, "glpsol", args, []string{"--freemps", q.file, "--check"})
	if err != nil || output == nil {
		return a, err
	}
	defer os.Remove(solution)
	text, err := os.Open(solution)
	if err != nil {
		return answer{}, fmt.Errorf("read GLPK's solution: %w", err)
	}
	defer text.Close()
	// The solution file says "feasible" both for a plan within the gap and for one that time ran out on.
	switch {
	case bytes.Contains(output, []byte("TIME LIMIT EXCEEDED")):
		a.outcome = limited
	case bytes.Contains(output, []byte("INTEGER OPTIMAL SOLUTION FOUND")),
		bytes.Contains(output, []byte("RELATIVE MIP GAP TOLERANCE REACHED")):
		a.outcome = optimal
	}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 6 && words[0] == "s" && (words[4] == "o" || words[4] == "f"):
			a.x = make([]float64, q.program.Columns())
		case len(words) == 3 && words[0] == "j" && a.x != nil:
			column, err := strconv.Atoi(words[1]) // from 1
			if err != nil {
				return answer{}, fmt.Errorf("read GLPK's solution: %w", err)
			}
			if err := a.set(columnName(column-1), words[2]); err != nil {
				return answer{}, fmt.Errorf("read GLPK's solution: %w", err)
			}
		}
	}
	return a, lines.Err()
}

// set records one column from a peer's output.
func (a *answer) set(column, value string) error {
	j, err := strconv.Atoi(strings.TrimPrefix(column, "x"))
	if err != nil || j < 0 || j >= len(a.x) {
		return fmt.Errorf("there is no column %q", column)
	}
	a.x[j], err = strconv.ParseFloat(value, 64)
	return err
}

//go:embed peers.py
var pythonProgram string

// pythonPeer asks a solver that Python has. It measures the solve call alone, and the whole process besides.
func pythonPeer(python, solver string) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		output, cpu, err := runPeer(ctx, q, python, "-c", pythonProgram, solver, q.file, number(q.gap), number(q.limit.Seconds()))
		if err != nil {
			return ended(cpu, err)
		}
		var reply struct {
			Outcome outcome            `json:"status"`
			Values  map[string]float64 `json:"values"` // those that are not 0
			Found   bool               `json:"found"`
			Bound   *float64           `json:"bound"`
			Seconds float64            `json:"cpu_s"`
		}
		line := output[bytes.LastIndexByte(bytes.TrimSpace(output), '\n')+1:] // solvers introduce themselves
		if err := json.Unmarshal(line, &reply); err != nil {
			return answer{}, fmt.Errorf("read the answer of %s: %w", solver, err)
		}
		a := answer{outcome: reply.Outcome, took: time.Duration(reply.Seconds * float64(time.Second)), whole: cpu, bound: math.NaN()}
		if reply.Bound != nil {
			a.bound = *reply.Bound
		}
		if reply.Found {
			a.x = make([]float64, q.program.Columns())
			for name, x := range reply.Values {
				j, err := strconv.Atoi(strings.TrimPrefix(name, "x"))
				if err != nil || j < 0 || j >= len(a.x) {
					return answer{}, fmt.Errorf("%s: there is no column %q", solver, name)
				}
				a.x[j] = x
			}
		}
		return a, nil
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
