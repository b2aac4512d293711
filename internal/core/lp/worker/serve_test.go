package worker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/test/await"
)

// raw is a solver process that a test talks to in bytes.
type raw struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     io.Reader
	stderr  bytes.Buffer
}

func startRaw(t *testing.T) *raw {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	r := &raw{command: exec.Command(path)}
	r.command.Stderr = &r.stderr
	if r.in, err = r.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if r.out, err = r.command.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	if k, payload, err := readFrame(r.out, maxText); k != hello || err != nil || !strings.Contains(string(payload), "cbc 2.") {
		t.Fatalf("greeting: got %d %q, %v", k, payload, err)
	}
	return r
}

// end waits until the child ends by itself.
func (r *raw) end(t *testing.T, limit time.Duration) (code int) {
	t.Helper()
	timer := time.AfterFunc(limit, func() { _ = r.command.Process.Kill() })
	_ = r.command.Wait()
	if !timer.Stop() {
		t.Errorf("the solver did not end within %s", limit)
	}
	return r.command.ProcessState.ExitCode()
}

func (r *raw) ask(t *testing.T, frame []byte) (kind, string) {
	t.Helper()
	if _, err := r.in.Write(frame); err != nil {
		t.Fatal(err)
	}
	k, payload, err := readFrame(r.out, maxPayload)
	if err != nil {
		t.Fatalf("%v; it stderr %q", err, r.stderr.String())
	}
	return k, string(payload)
}

// A question without sense is answered with a failure, and the solver goes on.
func TestMalformedQuestionsAreAnswered(t *testing.T) {
	r := startRaw(t)
	good := encodeRequest(request{program: two()})[headerSize:]
	row := two()
	row.RowIndex[0] = 1 << 30
	start := request{program: two(), options: lp.Options{Start: []float64{1, 2, 3}}}
	for name, payload := range map[string][]byte{
		"empty":         nil,
		"cut":           good[:len(good)-1],
		"too long":      append(bytes.Clone(good), 0),
		"all ones":      bytes.Repeat([]byte{0xff}, 500),
		"row index":     encodeRequest(request{program: row})[headerSize:],
		"start columns": encodeRequest(start)[headerSize:],
	} {
		if k, _ := r.ask(t, framed(question, payload)); k != failure {
			t.Errorf("%s: got kind %d, want a failure", name, k)
		}
	}
	for at := range good { // every byte spoiled in turn: any answer, but no death
		spoiled := bytes.Clone(good)
		spoiled[at] ^= 0x55
		if k, _ := r.ask(t, framed(question, spoiled)); k != failure && k != answer {
			t.Errorf("byte %d: got kind %d", at, k)
		}
	}
	if k, _ := r.ask(t, framed(question, good)); k != answer {
		t.Errorf("afterwards: got kind %d, want an answer", k)
	}
	r.in.Close()
	if code := r.end(t, 2*time.Second); code != 0 {
		t.Errorf("ended with %d: %s", code, r.stderr.String())
	}
}

// Bytes that are no frame end the solver with a sentence and without a stack.
func TestGarbageEndsTheSolver(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"text":       []byte(strings.Repeat("GET / HTTP/1.1\r\n", 4)),
		"wrong kind": framed(answer, []byte("x")),
		"half":       framed(question, make([]byte, 100))[:50],
	} {
		r := startRaw(t)
		if _, err := r.in.Write(bytes); err != nil {
			t.Fatal(err)
		}
		r.in.Close()
		if code := r.end(t, 2*time.Second); code != 1 || !strings.HasPrefix(r.stderr.String(), "headroom-solver: read a program: ") {
			t.Errorf("%s: ended with %d: %s", name, code, r.stderr.String())
		}
	}
}

// The end of its input ends the solver at once, even during work in C++.
func TestEndOfInputEndsASolveUnderWay(t *testing.T) {
	r := startRaw(t)
	if err := writeFrame(r.in, question, encodeRequest(request{program: endless()})); err != nil {
		t.Fatal(err)
	}
	await.Until(t, 5*time.Second, "the solver works", func() bool { return ticks(r.command.Process.Pid) >= 5 })
	began := time.Now()
	r.in.Close()
	if code := r.end(t, 2*time.Second); code != 0 {
		t.Errorf("ended with %d: %s", code, r.stderr.String())
	}
	t.Logf("gone after %s", time.Since(began))
}

func TestLimitsAreSet(t *testing.T) {
	pool, events := newPool(t, Config{Processes: 1, MemoryMB: 700})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var caller sync.WaitGroup
	caller.Go(func() { _, _ = pool.Solve(ctx, endless(), lp.Options{Seconds: 10}) })
	var limits string
	await.Until(t, 5*time.Second, "a limit of its processor time", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", events.events[0].Process))
		limits = strings.Join(strings.Fields(string(text)), " ")
		return err == nil && !strings.Contains(limits, "Max cpu time unlimited")
	})
	cancel()
	caller.Wait()
	// Twice the rest of ten seconds and two seconds more, rounded up.
	for _, want := range []string{"Max cpu time (1[5-9]|2[0-3]) ", "Max data size 734003200 734003200 ", "Max core file size 0 0 "} {
		if !regexp.MustCompile(want).MatchString(limits) {
			t.Errorf("got %q, want %q in it", limits, want)
		}
	}
}

func TestVersionNamesTheEngines(t *testing.T) {
	path := os.Getenv(ProgramVariable)
	output, err := exec.Command(path, "--version").Output()
	if err != nil || !strings.Contains(string(output), "cbc 2.") || !strings.Contains(string(output), "clp 1.") {
		t.Errorf("got %q, %v", output, err)
	}
	if output, err := exec.Command(path, "file.mps").CombinedOutput(); err == nil || !strings.Contains(string(output), "headroom-solver: ") {
		t.Errorf("with an argument: got %q, %v", output, err)
	}
}

// BenchmarkEcho measures one question too short to mean anything, and its refusal.
func BenchmarkEcho(b *testing.B) {
	path, err := Find()
	if err != nil {
		b.Fatal(err)
	}
	p, err := start(b.Context(), path, 2048)
	if err != nil {
		b.Fatal(err)
	}
	defer p.end()
	for b.Loop() {
		if _, err := p.exchange(newFrame(0), maxText); err == nil {
			b.Fatal("an empty question was answered")
		}
	}
}

func BenchmarkStart(b *testing.B) {
	path, err := Find()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := start(b.Context(), path, 2048)
		if err != nil {
			b.Fatal(err)
		}
		p.end()
	}
}

// BenchmarkPlanning1000 measures a whole solve of 1,000 classes; package coin has the same without a process.
func BenchmarkPlanning1000(b *testing.B) {
	pool, _ := newPool(b, Config{Processes: 1})
	p := planning(1000, 1, true)
	for b.Loop() {
		if _, err := pool.Solve(b.Context(), p, lp.Options{Gap: 1e-4}); err != nil {
			b.Fatal(err)
		}
	}
}
