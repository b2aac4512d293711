package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
)

// adminKey is the key of the measured servers while they run.
const adminKey = "hrk_0123456789abcdefghijklmnopqrstuvwxyzABCDEF"

// server is a running program with its address.
type server struct {
	*exec.Cmd
	address string
	ended   chan struct{}
	ready   time.Duration // from its start to its first answer
	coding  string        // accepted coding of answers; "" for that of Go's client
}

// startServer starts headroom serve --demo and waits for its first answer.
func startServer(ctx context.Context, headroom, dataDir string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{Cmd: exec.Command(headroom, "serve", "--demo", "--listen", address, "--data-dir", dataDir), address: address, ended: make(chan struct{})}
	s.Env = append(os.Environ(), "HEADROOM_ADMIN_KEY="+adminKey, "HEADROOM_SOLVES_PER_SECOND=100000", "HEADROOM_REQUESTS_PER_SECOND=1000000", "HEADROOM_LOG_LEVEL=warn")
	s.Stderr = os.Stderr
	began := time.Now()
	if err := s.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", headroom, err)
	}
	go func() {
		defer close(s.ended)
		_ = s.Wait()
	}()
	for {
		if _, err := s.ask(ctx, "GET", "/v1/clusters/demo/plans/current", nil); err == nil {
			s.ready = time.Since(began)
			return s, nil
		}
		select {
		case <-s.ended:
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
			if time.Since(began) < time.Minute {
				continue
			}
		}
		s.stop()
		return nil, errors.Join(fmt.Errorf("%s gives no answer", headroom), ctx.Err())
	}
}

// stop ends the server like an operator.
func (s *server) stop() {
	_ = s.Process.Signal(syscall.SIGTERM)
	hard := time.AfterFunc(30*time.Second, func() { _ = s.Process.Kill() })
	defer hard.Stop()
	<-s.ended
}

// ask sends a request and returns the body of a successful answer.
func (s *server) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+adminKey)
	request.Header.Set("Content-Type", "application/json")
	if s.coding != "" {
		request.Header.Set("Accept-Encoding", s.coding)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return text, err
}

// service measures a server with a private database: its starts, solves, sweeps and polls.
func service(ctx context.Context, headroom, dir string) ([]figure, error) {
	dataDir := filepath.Join(dir, "data")
	first, err := startServer(ctx, headroom, dataDir)
	if err != nil {
		return nil, err
	}
	first.stop()
	var later []time.Duration
	var s *server
	for range 3 {
		if s != nil {
			s.stop()
		}
		if s, err = startServer(ctx, headroom, dataDir); err != nil {
			return nil, err
		}
		later = append(later, s.ready)
	}
	defer s.stop()
	again := middle(later)
	found := []figure{
		{"first start with a private database", "≤ 3 s to the first answer", ms(first.ready) + " ms", first.ready > 3*time.Second},
		{"later starts", "≤ 0.5 s", ms(again) + " ms", again > 500*time.Millisecond},
	}
	for _, measure := range []func(context.Context, *server) ([]figure, error){solveCalls, sweeps, polls} {
		more, err := measure(ctx, s)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// solveCalls measures whole calls of POST /v1/solve with 1,000 classes that have profiles.
func solveCalls(ctx context.Context, s *server) (found []figure, err error) {
	defer func() { s.coding = "" }()
	for _, c := range []struct {
		what        string
		family      string
		integrality capacity.Integrality
		engine      capacity.Engine
		gap         float64
		most        float64 // milliseconds; 0 has no goal
		coding      string
	}{
		{"POST /v1/solve, table2, 1,000 classes, integer", "table2", capacity.Integer, capacity.EngineExact, 0, 5, "identity"},
		{"… answered in gzip", "table2", capacity.Integer, capacity.EngineExact, 0, 0, "gzip"},
		{"… executable", "table2", capacity.Executable, capacity.EngineExact, 0, 0, "identity"},
		{"… hard, integer", "hard", capacity.Integer, capacity.EngineExact, 0, 0, "identity"},
		{"… hard, executable", "hard", capacity.Executable, capacity.EngineExact, 0, 0, "identity"},
		{"… table2, integer, by CBC at gap 1e-4", "table2", capacity.Integer, capacity.EngineCBC, 1e-4, 25, "identity"},
	} {
		body, err := profiled(c.family, 1000, func(o *capacity.Options) { o.Integrality, o.Engine, o.Gap = c.integrality, c.engine, c.gap })
		if err != nil {
			return nil, err
		}
		s.coding = c.coding
		const warm, calls = 10, 100
		var before time.Duration
		for i := range warm + calls {
			if i == warm {
				if before, err = cpuOf(s.Process.Pid); err != nil {
					return nil, err
				}
			}
			if _, err := s.ask(ctx, "POST", "/v1/solve", body); err != nil {
				return nil, err
			}
		}
		after, err := cpuOf(s.Process.Pid)
		if err != nil {
			return nil, err
		}
		f := figure{what: c.what, reached: ms((after-before)/calls) + " ms"}
		if c.most > 0 {
			f.goal = fmt.Sprintf("≤ %g ms of CPU, solver processes included", c.most)
			f.missed = (after-before).Seconds()*1e3/calls > c.most
		}
		found = append(found, f)
	}
	return found, nil
}

// profiled returns the text of a problem whose classes have profiles.
func profiled(family string, classes int, set func(*capacity.Options)) ([]byte, error) {
	in, err := study.Generate(family, classes, 1)
	if err != nil {
		return nil, err
	}
	p, err := in.Profiled()
	if err != nil {
		return nil, err
	}
	set(&p.Options)
	return json.Marshal(p)
}

// sweeps measures a thousand values of the demand of 100 classes.
func sweeps(ctx context.Context, s *server) ([]figure, error) {
	problem, err := profiled("mixed", 100, func(o *capacity.Options) { o.Integrality, o.Engine = capacity.Integer, capacity.EngineAuto })
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"problem":%s,"vary":[{"what":"demand","by":"factor","from":0.5,"to":2,"steps":1000}]}`, problem)
	var took []time.Duration
	for range 5 {
		began := time.Now()
		text, err := s.ask(ctx, "POST", "/v1/sweeps", body)
		if err != nil {
			return nil, err
		}
		var run struct { // the machine was too busy to answer at once
			ID    string
			State string
		}
		if err := json.Unmarshal(text, &run); err != nil {
			return nil, err
		}
		for ; run.ID != "" && (run.State == "queued" || run.State == "running"); time.Sleep(10 * time.Millisecond) {
			if text, err = s.ask(ctx, "GET", "/v1/runs/"+run.ID, nil); err != nil {
				return nil, err
			}
			if err := json.Unmarshal(text, &run); err != nil {
				return nil, err
			}
		}
		if run.ID != "" {
			if text, err = s.ask(ctx, "GET", "/v1/runs/"+run.ID+"/result", nil); err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(began))
		var answer struct {
			Complete bool
			Points   []struct{}
		}
		if err := json.Unmarshal(text, &answer); err != nil || !answer.Complete || len(answer.Points) != 1000 {
			return nil, errors.Join(fmt.Errorf("the sweep has %d points of 1,000", len(answer.Points)), err)
		}
	}
	sweep := middle(took)
	return []figure{{"sweep of 1,000 values over 100 classes", "≤ 1 s", ms(sweep) + " ms", sweep > time.Second}}, nil
}

// cpuOf returns the user and system time of a process and of its solvers, in steps of 10 ms.
func cpuOf(pid int) (total time.Duration, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return 0, errors.New("there is no /proc, by which the CPU time of servers is measured")
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		end := bytes.LastIndexByte(text, ')')
		words := strings.Fields(string(text[end+1:]))
		own := filepath.Base(filepath.Dir(path)) == strconv.Itoa(pid)
		if !own && (words[1] != strconv.Itoa(pid) || !bytes.Contains(text[:end], []byte("headroom"))) {
			continue
		}
		for _, word := range words[11:13] {
			ticks, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", path, err)
			}
			total += time.Duration(ticks) * (time.Second / 100)
		}
	}
	return total, nil
}
