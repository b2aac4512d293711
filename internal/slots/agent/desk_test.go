package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk hands out tasks to one node as the service does: it answers by sequence numbers, and repeats the answer to a
// repeated heartbeat.
type desk struct {
	t     *testing.T
	mu    sync.Mutex
	slots int
	queue []Assignment
	open  map[int64]Assignment
	over  map[int64]string // reason of failure, "" is success
	twice []int64          // reported as ended more than once, or started after the end
	stop  map[int64]string

	boot, last string
	seq        int64
	answer     []byte
	beats      int
	seen       []heartbeat
	trouble    func(beat int) (before, after error) // errors before and after a heartbeat arrives
	instead    func(beat int) *http.Response
	changed    chan struct{}
}

func newDesk(t *testing.T, slots int, tasks ...Assignment) *desk {
	return &desk{t: t, slots: slots, queue: tasks, open: map[int64]Assignment{}, over: map[int64]string{}, stop: map[int64]string{}, changed: make(chan struct{}, 1)}
}

func tasks(job string, n int) (all []Assignment) {
	for i := range n {
		all = append(all, Assignment{Assignment: int64(i + 1), Job: 7, JobName: job, Kind: "map", Task: int64(i), Attempt: 1})
	}
	return all
}

func says(status int, text string) *http.Response {
	return &http.Response{StatusCode: status, Status: strconv.Itoa(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
}

func (d *desk) beat(_ context.Context, body []byte) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() {
		select {
		case d.changed <- struct{}{}:
		default:
		}
	}()
	d.beats++
	if d.instead != nil {
		if r := d.instead(d.beats); r != nil {
			return r, nil
		}
	}
	var before, after error
	if d.trouble != nil {
		if before, after = d.trouble(d.beats); before != nil {
			return nil, before
		}
	}
	var h heartbeat
	if err := json.Unmarshal(body, &h); err != nil {
		return nil, err
	}
	if h.Boot == d.boot && h.Seq == d.seq {
		if string(body) != d.last {
			d.t.Errorf("heartbeat %d has become another one: %s, before %s", h.Seq, body, d.last)
		}
		return says(200, string(d.answer)), after
	}
	if h.Boot == d.boot && h.Seq < d.seq {
		return says(409, `{"title":"late","detail":"It comes late."}`), nil
	}
	d.seen = append(d.seen, h)
	finish := func(id int64, why string) {
		if _, is := d.open[id]; !is {
			d.twice = append(d.twice, id)
			return
		}
		delete(d.open, id)
		d.over[id] = why
	}
	for _, f := range h.Finished {
		finish(f.Assignment, "")
	}
	for _, f := range h.Failed {
		finish(f.Assignment, f.Reason)
	}
	for id, a := range d.open { // handed out again
		if !slices.Contains(h.Running, id) {
			delete(d.open, id)
			d.queue = append(d.queue, a)
		}
	}
	var answer struct {
		Answer
		Stop []map[string]any `json:"stop"`
	}
	answer.Seq, answer.HeartbeatSeconds = h.Seq, 0.2
	for id, why := range d.stop {
		if slices.Contains(h.Running, id) {
			answer.Stop = append(answer.Stop, map[string]any{"assignment": id, "reason": why})
			delete(d.open, id)
		}
	}
	for len(d.queue) > 0 && len(d.open) < d.slots && !h.Leaving {
		a := d.queue[0]
		d.queue = d.queue[1:]
		d.open[a.Assignment] = a
		answer.Assignments = append(answer.Assignments, a)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	d.boot, d.seq, d.last, d.answer = h.Boot, h.Seq, string(body), text
	if after != nil {
		return nil, after
	}
	return says(200, string(text)), nil
}

// until waits until the desk sees an event.
func (d *desk) until(what string, is func() bool) {
	d.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		d.mu.Lock()
		done := is()
		d.mu.Unlock()
		if done {
			return
		}
		select {
		case <-d.changed:
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			d.t.Fatalf("%s did not come about: open %v, over %v", what, d.open, d.over)
		}
	}
}

// script writes a program that runs for every job.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "task")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

type at struct {
	*testing.T
	config Config
	logged *bytes.Buffer
	mu     *sync.Mutex
}

func newAgent(t *testing.T, d *desk, command Command) *at {
	a := &at{T: t, logged: new(bytes.Buffer), mu: new(sync.Mutex)}
	a.config = Config{Cluster: "c", Node: "n", Host: NewHost("/"), Dir: t.TempDir(), StopAfter: 5 * time.Second, Beat: d.beat,
		Commands: &Commands{Jobs: map[string]Command{"job*": command}},
		Log: func(message string, about ...any) {
			a.mu.Lock()
			defer a.mu.Unlock()
			fmt.Fprintln(a.logged, append([]any{message}, about...)...)
		}}
	return a
}

// runs starts the agent; end stops it and returns the result of Run.
func (a *at) runs() (end func() error) {
	ctx, stop := context.WithCancel(a.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, a.config) }()
	var once sync.Once
	var err error
	end = func() error {
		once.Do(func() {
			stop()
			select {
			case err = <-done:
			case <-time.After(30 * time.Second):
				a.Error("the agent does not end")
			}
		})
		return err
	}
	a.Cleanup(func() {
		_ = end()
		if a.Failed() {
			a.mu.Lock()
			a.Logf("the agent logged:\n%s", a.logged)
			a.mu.Unlock()
		}
	})
	return end
}
