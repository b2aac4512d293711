package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Config configures an agent.
type Config struct {
	Cluster, Node string
	Host          *Host
	Commands      *Commands // nil: this agent runs no tasks
	Dir           string    // state that must outlive the agent; owned by it alone (see Own)
	Cgroup        string    // the cgroup of tasks; "": the agent's own
	StopAfter     time.Duration
	// Beat sends a heartbeat and returns the response. A Refused error counts as a refusal of the server.
	Beat func(ctx context.Context, body []byte) (*http.Response, error)
	Log  func(message string, about ...any)
}

// Times and limits that nobody needs to configure.
const (
	firstInterval = 5 * time.Second // until the server names another
	minInterval   = 100 * time.Millisecond
	maxInterval   = 10 * time.Minute
	promptly      = 250 * time.Millisecond // shortest wait after a task has ended
	minBackoff    = 500 * time.Millisecond
	maxBackoff    = 30 * time.Second
	maxRetryAfter = time.Minute
	beatTimeout   = 30 * time.Second
	lastWords     = 10 * time.Second // shortest time for the last heartbeat
	minReading    = time.Second      // between readings of the machine
	maxReported   = 500              // ended tasks in one heartbeat
)

// agent is a running agent. Everything but the tasks themselves happens in one goroutine.
type agent struct {
	Config
	kept    kept
	file    string
	cores   int
	running map[int64]*task
	dropped map[int64]bool // running tasks that nobody wants any more
	ended   chan result
	starter *starter
	cgroup  *os.File

	interval time.Duration
	load     Load
	looked   time.Time
	cpuEnded float64 // seconds used by ended tasks
	cpuSeen  float64 // seconds used by all tasks at the last reading
	residual *float64
	leaving  bool
	answered bool // by the server, since the agent started
}

// kept is the state that must outlive the process.
type kept struct {
	Mark    string  `json:"mark"` // marks the processes of tasks
	Boot    string  `json:"boot"`
	Seq     int64   `json:"seq"`
	Pending []byte  `json:"pending,omitempty"` // the unanswered heartbeat
	Ended   []ended `json:"ended,omitempty"`   // not in any answered heartbeat
}

type ended struct {
	Assignment int64   `json:"assignment"`
	Seconds    float64 `json:"seconds"`
	Reason     string  `json:"reason,omitempty"` // why it failed
}

const keptFile = "agent.json"

// Run runs an agent until ctx ends. Then it waits a while for running tasks, ends the rest, and reports them. It
// returns an error if it cannot go on, and ends tasks then, too. After a Refused error the caller should not start it
// again automatically.
func Run(ctx context.Context, c Config) error {
	a := &agent{Config: c, file: filepath.Join(c.Dir, keptFile), running: map[int64]*task{}, dropped: map[int64]bool{}, ended: make(chan result), interval: firstInterval}
	cores, err := c.Host.Cores()
	if err != nil {
		return err
	}
	a.cores = cores
	if c.Commands != nil {
		if err := hideMemory(); err != nil {
			return err
		}
	}
	if _, err := load(a.file, &a.kept); err != nil {
		return err
	}
	if a.kept.Mark == "" {
		a.kept.Mark = rand.Text()
	}
	if n := killMarked(a.kept.Mark); n > 0 {
		a.Log("processes that an earlier agent left behind were ended", "processes", n)
	}
	if c.Cgroup != "" {
		if a.cgroup, err = openGroup(c.Cgroup); err != nil {
			return err
		}
		defer a.cgroup.Close()
	}
	a.starter = newStarter()
	defer a.starter.end()
	err = a.live(ctx)
	// The tasks that still run are no longer reported.
	a.endAll("The agent has ended.")
	for range len(a.running) {
		a.end(<-a.ended)
	}
	return errors.Join(err, save(a.file, a.kept))
}

// live sends heartbeats until ctx ends, and then until the tasks have ended.
func (a *agent) live(ctx context.Context) error {
	if err := a.sendPending(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it is saved
		}
		return err
	}
	stopping := ctx.Done()
	var patience <-chan time.Time
	leave := func() {
		stopping, a.leaving = nil, true
		ctx, patience = context.WithoutCancel(ctx), time.After(a.StopAfter)
		a.Log("no more tasks are taken", "running", len(a.running))
	}
	for {
		sent := time.Now()
		answered, err := a.beat(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil: // it was interrupted; its reports are sent again
			leave()
			continue
		default:
			return err
		}
		if a.leaving && len(a.running) == 0 && (len(a.kept.Ended) == 0 || !answered) {
			return nil
		}
		next := time.NewTimer(a.interval)
		for waiting := true; waiting; {
			select {
			case <-next.C:
				waiting = false
			case r := <-a.ended:
				if err := a.note(r); err != nil {
					return err
				}
				// A task that waits for a slot need not wait for the next regular heartbeat.
				next.Reset(time.Until(sent.Add(min(promptly, a.interval))))
			case <-stopping:
				leave()
				waiting = false
			case <-patience:
				patience = nil
				a.endAll("The agent ends.")
			}
		}
		next.Stop()
	}
}

// endAll ends the running tasks. Nobody is told how: the server hands them out again once no heartbeat mentions them.
func (a *agent) endAll(why string) {
	for id, t := range a.running {
		a.dropped[id] = true
		t.stop(why)
	}
}

// sendPending sends the unanswered heartbeat of an earlier agent, unchanged, and continues as that agent. A server
// that has it already answers the same. No task of the answer has begun. If there is none, or the server does not
// take it, another boot begins and the reports are sent again.
func (a *agent) sendPending(ctx context.Context) error {
	var was heartbeat
	if a.kept.Pending != nil && json.Unmarshal(a.kept.Pending, &was) == nil && was.Seq == a.kept.Seq && was.Boot == a.kept.Boot && !was.Leaving {
		answer, err := a.send(ctx, was)
		if err == nil {
			return a.follow(answer)
		}
		var t *trouble
		if !errors.As(err, &t) || !t.final() || t.status == http.StatusUnauthorized || t.status == http.StatusForbidden {
			return err
		}
	}
	a.kept.Pending, a.kept.Boot, a.kept.Seq = nil, rand.Text(), 0
	return nil
}

// beat reports on the machine and its tasks and follows the answer. A leaving agent does without an answer: its
// reports are saved, and the next agent sends them.
func (a *agent) beat(ctx context.Context) (answered bool, err error) {
	a.kept.Seq++
	h := heartbeat{Seq: a.kept.Seq, Boot: a.kept.Boot, At: time.Now().UTC(), State: a.report(), Running: slices.Sorted(maps.Keys(a.running)), Leaving: a.leaving}
	if h.Running == nil {
		h.Running = []int64{}
	}
	for _, e := range a.kept.Ended[:min(maxReported, len(a.kept.Ended))] {
		if e.Reason == "" {
			h.Finished = append(h.Finished, FinishedTask{e.Assignment, e.Seconds})
		} else {
			h.Failed = append(h.Failed, FailedTask{e.Assignment, e.Reason})
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		return false, fmt.Errorf("write a heartbeat: %w", err)
	}
	a.kept.Pending = text
	if err := save(a.file, a.kept); err != nil {
		return false, err
	}
	answer, err := a.send(ctx, h)
	if err != nil {
		if a.leaving {
			a.Log("a heartbeat of an agent that leaves was not answered", "error", err)
			return false, nil
		}
		return false, err
	}
	return true, a.follow(answer)
}

// follow carries out an answer.
func (a *agent) follow(answer Answer) error {
	if a.interval = time.Duration(within(minInterval.Seconds(), answer.HeartbeatSeconds, maxInterval.Seconds()) * float64(time.Second)); answer.HeartbeatSeconds == 0 {
		a.interval = firstInterval
	}
	for _, n := range answer.Notes {
		a.Log("the server notes", "assignment", n.Assignment, "code", n.Code, "detail", n.Detail)
	}
	for _, s := range answer.Stop {
		if t := a.running[s.Assignment]; t != nil {
			a.dropped[s.Assignment] = true
			t.stop("The server has stopped it: " + s.Reason)
		}
	}
	for _, x := range answer.Assignments {
		if a.running[x.Assignment] == nil && !a.leaving {
			if err := a.begin(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin starts a task, or records why it could not.
func (a *agent) begin(x Assignment) error {
	command, known := Command{}, false
	if a.Commands != nil {
		command, known = a.Commands.of(x.JobName, x.Class)
	}
	if !known {
		of := fmt.Sprintf("the job %q", x.JobName)
		if x.Class != "" && x.Class != x.JobName {
			of += fmt.Sprintf(" or its class %q", x.Class)
		}
		return a.fail(x, "The node has no command for "+of+".")
	}
	cgroup := 0
	if a.cgroup != nil {
		cgroup = int(a.cgroup.Fd())
	}
	t, err := a.starter.start(x, command, []string{markVariable + "=" + a.kept.Mark, "HEADROOM_CLUSTER=" + a.Cluster, "HEADROOM_NODE=" + a.Node}, cgroup)
	if err != nil {
		return a.fail(x, "It was not started: "+err.Error()+".")
	}
	a.running[x.Assignment] = t
	go func() { a.ended <- t.wait() }()
	return nil
}

func (a *agent) fail(x Assignment, why string) error {
	a.Log("a task was not started", "assignment", x.Assignment, "job", x.JobName, "reason", why)
	a.kept.Ended = append(a.kept.Ended, ended{Assignment: x.Assignment, Reason: cut(why, maxReason)})
	return save(a.file, a.kept)
}

// end removes a task from the running ones.
func (a *agent) end(r result) {
	delete(a.running, r.id)
	a.cpuEnded += r.cpu
	if a.dropped[r.id] {
		delete(a.dropped, r.id)
		return
	}
	a.kept.Ended = append(a.kept.Ended, ended{r.id, r.seconds, r.reason})
	if r.reason != "" {
		a.Log("a task failed", "assignment", r.id, "reason", r.reason)
	}
}

// note saves that a task has ended, before it is reported.
func (a *agent) note(r result) error {
	a.end(r)
	return save(a.file, a.kept)
}

// send sends a heartbeat until there is an answer, at growing intervals. Meanwhile tasks go on and end.
func (a *agent) send(ctx context.Context, h heartbeat) (Answer, error) {
	pause := minBackoff
	if h.Leaving {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, min(lastWords, max(time.Second, a.StopAfter)))
		defer done()
	}
	for {
		answer, err := a.ask(ctx, h.Seq)
		if err == nil {
			a.answered = true
			a.kept.Pending = nil
			reported := map[int64]bool{}
			for _, f := range h.Finished {
				reported[f.Assignment] = true
			}
			for _, f := range h.Failed {
				reported[f.Assignment] = true
			}
			a.kept.Ended = slices.DeleteFunc(a.kept.Ended, func(e ended) bool { return reported[e.Assignment] })
			return answer, save(a.file, a.kept)
		}
		var t *trouble
		if errors.As(err, &t) && t.final() && (!a.answered || t.status == http.StatusConflict || t.status == http.StatusNotFound) {
			return Answer{}, refusal(a.Node, t)
		}
		if ctx.Err() != nil {
			return Answer{}, err
		}
		wait := pause/2 + mathrand.N(pause/2)
		if t != nil && t.after > 0 {
			wait = min(t.after, maxRetryAfter)
		}
		a.Log("a heartbeat has no answer", "seq", h.Seq, "again_in", wait.Round(time.Millisecond), "error", err)
		again := time.NewTimer(wait)
		for waiting := true; waiting; {
			select {
			case r := <-a.ended:
				if err := a.note(r); err != nil {
					again.Stop()
					return Answer{}, err
				}
			case <-again.C:
				waiting = false
			case <-ctx.Done():
				waiting = false
			}
		}
		again.Stop()
		if ctx.Err() != nil {
			return Answer{}, err
		}
		pause = min(2*pause, maxBackoff)
	}
}

func (a *agent) ask(ctx context.Context, seq int64) (Answer, error) {
	ctx, done := context.WithTimeout(ctx, beatTimeout)
	defer done()
	type reply struct {
		answer Answer
		err    error
	}
	came := make(chan reply, 1)
	go func() {
		r, err := a.Beat(ctx, a.kept.Pending)
		if refused := (Refused{}); errors.As(err, &refused) {
			came <- reply{err: &trouble{status: http.StatusForbidden, err: refused}}
			return
		}
		if err != nil {
			came <- reply{err: &trouble{err: err}}
			return
		}
		answer, err := readAnswer(r, seq)
		came <- reply{answer, err}
	}()
	for {
		select {
		case s := <-came:
			return s.answer, s.err
		case r := <-a.ended:
			a.end(r) // saved with the answer, or before the heartbeat is sent again
		}
	}
}

// refusal explains a server's refusal to people.
func refusal(node string, t *trouble) error {
	switch t.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Refused{fmt.Errorf("the server does not take the heartbeats of node %q: %w. An agent needs a key of the role agent for this cluster (\"headroom server key create --role agent\")", node, t)}
	case http.StatusNotFound:
		return fmt.Errorf("the server does not know the node %q: %w. Whoever may edit the cluster declares it: \"headroom live node edit CLUSTER %s --slots N\"", node, t, node)
	case http.StatusConflict:
		return Refused{fmt.Errorf("another agent speaks for node %q by now: %w. Give each machine a name of its own with --node", node, t)}
	default:
		return fmt.Errorf("the server refuses the heartbeats of node %q: %w", node, t)
	}
}

// report returns the load of the machine, read once a second at most.
func (a *agent) report() Report {
	if now := time.Now(); now.Sub(a.looked) >= minReading {
		load, err := a.Host.Read(now)
		if err != nil {
			a.Log("the machine cannot be read", "error", err)
		}
		groups := map[int]bool{}
		for _, t := range a.running {
			groups[t.process.Process.Pid] = true
		}
		seen := a.cpuEnded
		if len(groups) > 0 {
			seen += a.Host.busySeconds(groups)
		}
		if load.CPUPercent != nil {
			others := load.BusyCores - max(0, seen-a.cpuSeen)/load.Seconds
			residual := within(0, 1-others/float64(a.cores), 1)
			a.residual = &residual
		}
		a.load, a.looked, a.cpuSeen = load, now, seen
	}
	l := a.load
	return Report{l.Load1, l.CPUPercent, l.MemoryPercent, l.NetMBPerS, l.DiskMBPerS, a.residual}
}
