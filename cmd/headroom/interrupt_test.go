package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
)

// A command that waits for its input ends at once when it is interrupted.
func TestWaitingForInputCanBeInterrupted(t *testing.T) {
	for _, verb := range [][]string{{"solve"}, {"solve", "--stream"}, {"bounds", "-"}} {
		in, writer := io.Pipe() // nobody ever writes
		ctx, cancel := context.WithCancel(t.Context())
		var stdout, stderr bytes.Buffer
		done := make(chan int, 1)
		go func() { done <- run(ctx, verb, in, &stdout, &stderr) }()
		cancel()
		select {
		case code := <-done:
			if code != shell.ExitError || !strings.Contains(strings.ToLower(stderr.String()), "interrupted") || stdout.Len() > 0 {
				t.Errorf("%v: got exit code %d, %q on standard error", verb, code, stderr.String())
			}
		case <-time.After(patience(5 * time.Second)):
			t.Errorf("%v still waits", verb)
		}
		writer.Close()
	}
}

// An experiment that is interrupted prints no half of its answer.
func TestExperimentsCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"lab", "reproduce", "sharing", "--instances", "10000"}, nil, &stdout, &stderr)
	}()
	cancel()
	select {
	case code := <-done:
		if code != shell.ExitError || stderr.String() != "headroom: Interrupted; nothing was written.\n" || stdout.Len() > 0 {
			t.Errorf("got exit code %d, %q on standard error, %q", code, stderr.String(), stdout.String())
		}
	case <-time.After(patience(10 * time.Second)):
		t.Error("it goes on")
	}
}
