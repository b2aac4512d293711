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
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
)

// question is the problem for every solver.
type question struct {
	instance study.Instance
	file     string // the instance as MPS
	gap      float64
	limit    time.Duration
}

// answer is a solver's answer. Only its jobs are believed: VMs and cost are computed anew.
type answer struct {
	outcome outcome
	jobs    []int64       // nil: no plan
	took    time.Duration // CPU time, unless the peer says otherwise
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
	name    string
	about   string
	program bool // its CPU time includes the start of a program and the reading of a file
	solve   func(ctx context.Context, q question) (answer, error)
}

// asProgram names the column of Headroom's own command line, counted like the peers' programs.
const asProgram = "headroom-file"

// peers returns the solvers to compare with, in the order of their columns; headroom is the path of Headroom's program.
func peers(solver lp.Solver, headroom string) []peer {
	return []peer{
		{asProgram, "Headroom's command line on the same problem as a JSON file; CPU of the whole process, start and reading included", true, headroomFile(headroom)},
		{"cbc-library", "CBC's C interface with preprocess and cuts off, in a solver process that is already running; elapsed time", false, library(solver)},
		{"cbc", "CBC's command line with its default settings; CPU of the whole process, start and reading included", true, cbc()},
		{"cbc-plain", "CBC's command line with -preprocess off -cuts off; CPU counted the same way", true, cbc("-preprocess", "off", "-cuts", "off")},
		{"glpsol", "GLPK's command line; CPU of the whole process, start and reading included", true, glpsol()},
		{"glpsol-cuts", "GLPK's command line with --cuts; CPU counted the same way", true, glpsol("--cuts")},
		{"highs", "HiGHS as scipy has it; CPU of the solve call alone", false, highs},
	}
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
		output, cpu, err := runPeer(ctx, q, nil, program, "solve", file, "-o", "json")
		if err != nil {
			return ended(cpu, err)
		}
		pl, err := capacity.ReadPlan(output)
		if err != nil {
			return answer{}, fmt.Errorf("read the plan: %w", err)
		}
		a := answer{outcome: limited, took: cpu, jobs: make([]int64, len(pl.Classes))}
		if pl.Status == capacity.Optimal {
			a.outcome = optimal
		}
		for i, c := range pl.Classes {
			a.jobs[i] = int64(math.Round(c.Admitted))
		}
		return a, nil
	}
}

// grace is the time that a peer may overrun its own limit before it is ended.
const grace = 5 * time.Second

// runPeer runs a command to its end or past its limit and returns its output and CPU time.
func runPeer(ctx context.Context, q question, stdin []byte, name string, args ...string) (output []byte, cpu time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, q.limit+grace)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(stdin)
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
		return answer{outcome: limited, took: cpu}, nil
	case errors.As(err, &gaveUp):
		return answer{outcome: failed, took: cpu}, nil
	}
	return answer{}, err
}

func cbc(settings ...string) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		solution := filepath.Join(filepath.Dir(q.file), "cbc.solution")
		args := append([]string{q.file, "-timeMode", "elapsed", "-sec", seconds(q.limit), "-ratio", number(q.gap)}, settings...)
		_, cpu, err := runPeer(ctx, q, nil, "cbc", append(args, "-solve", "-solu", solution)...)
		if err != nil {
			return ended(cpu, err)
		}
		defer os.Remove(solution)
		text, err := os.Open(solution)
		if err != nil {
			return answer{}, fmt.Errorf("read CBC's solution: %w", err)
		}
		defer text.Close()
		lines := bufio.NewScanner(text)
		lines.Scan()
		a := answer{outcome: failed, took: cpu}
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
		a.jobs = make([]int64, len(q.instance.Gamma)) // columns at 0 are left out
		for lines.Scan() {
			words := strings.Fields(strings.TrimPrefix(lines.Text(), "**")) // marks rows it thinks broken
			if len(words) < 3 || !strings.HasPrefix(words[1], "h") {
				continue
			}
			if err := a.setJobs(words[1][1:], words[2]); err != nil {
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
	output, cpu, err := runPeer(ctx, q, nil, "glpsol", append([]string{"--freemps", q.file, "--mipgap", number(q.gap), "--tmlim", seconds(q.limit), "-w", solution}, settings...)...)
	if err != nil {
		return ended(cpu, err)
	}
	defer os.Remove(solution)
	text, err := os.Open(solution)
	if err != nil {
		return answer{}, fmt.Errorf("read GLPK's solution: %w", err)
	}
	defer text.Close()
	a := answer{outcome: failed, took: cpu}
	// The solution file says "feasible" both for a plan within the gap and for one that time ran out on.
	switch {
	case bytes.Contains(output, []byte("TIME LIMIT EXCEEDED")):
		a.outcome = limited
	case bytes.Contains(output, []byte("INTEGER OPTIMAL SOLUTION FOUND")),
		bytes.Contains(output, []byte("RELATIVE MIP GAP TOLERANCE REACHED")):
		a.outcome = optimal
	}
	tiers := len(q.instance.Supply)
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 6 && words[0] == "s" && (words[4] == "o" || words[4] == "f"):
			a.jobs = make([]int64, len(q.instance.Gamma))
		case len(words) == 3 && words[0] == "j" && a.jobs != nil:
			column, err := strconv.Atoi(words[1]) // from 1, tiers first
			if err != nil {
				return answer{}, fmt.Errorf("read GLPK's solution: %w", err)
			}
			if column <= tiers {
				continue
			}
			if err := a.setJobs(strconv.Itoa(column-tiers-1), words[2]); err != nil {
				return answer{}, fmt.Errorf("read GLPK's solution: %w", err)
			}
		}
	}
	return a, lines.Err()
}

// setJobs records one class's jobs from a peer's output.
func (a *answer) setJobs(class, value string) error {
	i, err := strconv.Atoi(class)
	if err != nil || i < 0 || i >= len(a.jobs) {
		return fmt.Errorf("there is no class %q", class)
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return err
	}
	a.jobs[i] = int64(math.Round(x))
	return nil
}

//go:embed highs.py
var highsProgram string

// Debian's own Python, for which python3-scipy is installed.
const python = "/usr/bin/python3"

func highs(ctx context.Context, q question) (answer, error) {
	type tier struct {
		VMs   int64   `json:"vms"` // -1: unlimited
		Price float64 `json:"price"`
	}
	tiers := make([]tier, len(q.instance.Supply))
	for k, t := range q.instance.Supply {
		tiers[k] = tier(t)
		if t.VMs == study.Unlimited {
			tiers[k].VMs = -1
		}
	}
	input, err := json.Marshal(map[string]any{
		"supply": tiers, "gamma": q.instance.Gamma, "penalty": q.instance.Penalty, "low": q.instance.Low, "high": q.instance.High,
		"gap": q.gap, "limit_s": q.limit.Seconds(),
	})
	if err != nil {
		return answer{}, err
	}
	output, cpu, err := runPeer(ctx, q, input, python, "-c", highsProgram)
	if err != nil {
		return ended(cpu, err)
	}
	var reply struct {
		Status     int     `json:"status"`
		Jobs       []int64 `json:"jobs"`
		CPUSeconds float64 `json:"cpu_s"`
	}
	if err := json.Unmarshal(output, &reply); err != nil {
		return answer{}, fmt.Errorf("read the answer of scipy: %w", err)
	}
	a := answer{outcome: failed, jobs: reply.Jobs, took: time.Duration(reply.CPUSeconds * float64(time.Second))}
	switch reply.Status {
	case 0:
		a.outcome = optimal
	case 1:
		a.outcome = limited
	}
	return a, nil
}

func seconds(d time.Duration) string { return strconv.Itoa(max(1, int(math.Ceil(d.Seconds())))) }
func number(x float64) string        { return strconv.FormatFloat(x, 'g', -1, 64) }
