package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// task is an assignment at work.
type task struct {
	Assignment
	command Command
	process *exec.Cmd
	output  tail
	began   time.Time

	stopOnce sync.Once // guards stopped
	stopped  chan string
}

// result is the end of a task; an empty reason means success.
type result struct {
	id      int64
	seconds float64
	reason  string
	cpu     float64 // seconds used
	output  string  // the end of its output
}

// inherited lists the variables that a task gets from the agent's environment. The server's key is not among them.
var inherited = []string{"PATH", "HOME", "LANG", "TZ"}

// markVariable marks the processes of an agent's tasks, and the children of those.
const markVariable = "HEADROOM_AGENT"

// start runs a command for an assignment. cgroup, unless 0, is the open directory of its cgroup.
func start(a Assignment, c Command, environment []string, cgroup int) (*task, error) {
	t := &task{Assignment: a, command: c, stopped: make(chan string, 1), began: time.Now()}
	t.process = exec.Command(c.Command[0], c.Command[1:]...)
	p := t.process
	if p.Dir = c.Directory; p.Dir == "" {
		p.Dir = "/"
	}
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			p.Env = append(p.Env, name+"="+value)
		}
	}
	for name, value := range c.Environment {
		p.Env = append(p.Env, name+"="+value)
	}
	p.Env = append(append(p.Env, environment...), "HEADROOM_JOB="+a.JobName, "HEADROOM_CLASS="+a.Class, "HEADROOM_JOB_NUMBER="+strconv.FormatInt(a.Job, 10),
		"HEADROOM_TASK="+strconv.FormatInt(a.Task, 10), "HEADROOM_TASK_KIND="+string(a.Kind), "HEADROOM_ATTEMPT="+strconv.FormatInt(a.Attempt, 10),
		"HEADROOM_ASSIGNMENT="+strconv.FormatInt(a.Assignment, 10))
	p.Stdout, p.Stderr = &t.output, &t.output
	// A group of its own, so that its children can be ended with it; it ends with the agent.
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, UseCgroupFD: cgroup != 0, CgroupFD: cgroup}
	// Processes it leaves behind may hold its output open; nobody waits for those.
	p.WaitDelay = time.Second
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w", c.Command[0], innermost(err))
	}
	return t, nil
}

func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// wait waits for the end of the task, and ends it when its time is over or stop was called.
func (t *task) wait() result {
	ended := make(chan error, 1)
	go func() { ended <- t.process.Wait() }()
	limit := time.NewTimer(t.command.limit())
	defer limit.Stop()
	why := ""
	var err error
	select {
	case err = <-ended:
	case <-limit.C:
		why = fmt.Sprintf("It took longer than its limit of %g s.", t.command.limit().Seconds())
		err = t.finish(ended)
	case why = <-t.stopped:
		err = t.finish(ended)
	}
	t.signal(syscall.SIGKILL) // children left behind
	r := result{id: t.Assignment.Assignment, seconds: time.Since(t.began).Seconds(), reason: why, output: t.output.text()}
	if state := t.process.ProcessState; state != nil {
		r.cpu = (state.UserTime() + state.SystemTime()).Seconds()
	}
	if why == "" && err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		r.reason = endedHow(err)
	}
	if r.reason != "" && r.output != "" {
		r.reason += " Its last words: " + r.output
	}
	r.reason = cut(r.reason, maxReason)
	return r
}

// endedHow describes the end of a process that failed.
func endedHow(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return fmt.Sprintf("A signal ended it (%s).", status.Signal())
		}
		return fmt.Sprintf("It ended with exit code %d.", exit.ExitCode())
	}
	return "It could not be waited for: " + err.Error() + "."
}

// finish ends the task, gently first.
func (t *task) finish(ended <-chan error) error {
	t.signal(syscall.SIGTERM)
	grace := time.NewTimer(t.command.grace())
	defer grace.Stop()
	select {
	case err := <-ended:
		return err
	case <-grace.C:
		t.signal(syscall.SIGKILL)
		return <-ended
	}
}

func (t *task) signal(s syscall.Signal) { _ = syscall.Kill(-t.process.Process.Pid, s) }

// stop asks the task to end; the first reason counts.
func (t *task) stop(why string) { t.stopOnce.Do(func() { t.stopped <- why }) }

// Lengths of a task's output and reasons of failure that are kept.
const (
	keptOutput  = 4 << 10
	shownOutput = 300
	maxReason   = 480
)

// tail keeps the end of its input.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(text)
	if len(text) > keptOutput {
		text = text[len(text)-keptOutput:]
	}
	if over := len(t.kept) + len(text) - keptOutput; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.kept = append(t.kept, text...)
	return n, nil
}

// text returns the end of the input, as one printable line.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	words := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0x7f {
			return ' '
		}
		return r
	}, string(t.kept))), " ")
	if len(words) <= shownOutput {
		return words
	}
	words = words[len(words)-shownOutput:]
	for words != "" && !utf8.RuneStart(words[0]) {
		words = words[1:]
	}
	return "…" + words
}

// cut shortens a text to a number of bytes, between characters.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}
