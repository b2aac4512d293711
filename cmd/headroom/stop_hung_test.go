package main

import (
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A server whose private database hangs ends in time all the same, leaves no process, and starts again.
func TestStopWithAHungDatabase(t *testing.T) {
	if !wholeSamples {
		return // it takes ten seconds
	}
	dir := madeDirectory(t)
	s := startServing(t, dir, "--demo=still")
	all, _ := hang(t, dir)
	began := time.Now()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		s.ended = nil
		t.Attr("R20", fmt.Sprintf("with a database that hangs: ended with %v after %v", err, time.Since(began).Round(time.Millisecond)))
	case <-time.After(30 * time.Second):
		t.Fatalf("it goes on after 30 s\n%s", s.stderr)
	}
	if took := time.Since(began); took > 7*time.Second {
		t.Errorf("it took %s\n%s", took, s.stderr)
	}
	for _, pid := range all {
		waits(t, "the process "+strconv.Itoa(pid)+" is gone", 5*time.Second, func() bool { return !lives(pid) })
	}
	startServing(t, dir).stop(t)
}
