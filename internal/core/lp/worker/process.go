package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"example.org/headroom/internal/core/lp"
)

// process is one running solver. It serves one caller at a time; kill may be called from anywhere.
type process struct {
	command *exec.Cmd
	in      *os.File // programs go in here
	out     *os.File // solutions come out here
	errors  tail
	version string
	solves  int

	lock   sync.Mutex
	killed bool          // we ended it; fixed once it is reaped
	reaped bool          // its process id may belong to another process by now
	ended  chan struct{} // closed when reaped
	told   sync.Once     // that it crashed
}

// startTimeout bounds the time until a solver's greeting, which takes a few milliseconds.
const startTimeout = 10 * time.Second

// start starts a solver and waits for its greeting. The returned process is alive and must be ended.
func start(ctx context.Context, path string, memoryMB int) (*process, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, err
	}
	p := &process{in: in, out: out, ended: make(chan struct{})}
	p.command = &exec.Cmd{
		Path: path, Args: []string{path, "-memory-mb", strconv.Itoa(memoryMB)},
		Dir: "/", Env: environment(), // none of the service's secrets
		Stdin: childIn, Stdout: childOut, Stderr: &p.errors,
		WaitDelay:   time.Second,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	started := make(chan error, 1)
	go p.keep(started)
	err = <-started
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	if err := p.greet(ctx); err != nil {
		p.end()
		if output := p.errors.String(); output != "" {
			err = fmt.Errorf("%w: it said %q", err, output)
		}
		return nil, err
	}
	return p, nil
}

// nicer is added to the service's niceness for a solver. The solver gives way to the service, whose polls must stay
// fast, and still gets a tenth of a busy processor.
const nicer = 10

// keep starts the child and waits for its end on one operating system thread. The kernel sends the child its death
// signal when the thread that started it ends, not only when the service does. All threads of a child inherit the
// niceness of that thread. It is never unlocked and ends with this goroutine, because nobody may lower niceness
// again.
func (p *process) keep(started chan<- error) {
	runtime.LockOSThread()
	if raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // 20 less the niceness
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(19, 20-raw+nicer)) // a solver that is not nice solves as well
	}
	err := p.command.Start()
	started <- err
	if err != nil {
		return
	}
	// Wait without reaping first: until it is reaped its process id stays its own, so that no kill can reach a
	// stranger.
	for {
		err := unix.Waitid(unix.P_PID, p.command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	p.lock.Lock()
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) // any processes it may have started
	p.reaped = true
	_ = p.command.Wait() // the manner of its end does not matter, only its answer
	p.lock.Unlock()
	close(p.ended)
}

// environment lets the child find its shared libraries, and nothing else.
func environment() []string {
	env := []string{"GOTRACEBACK=none", "LC_ALL=C"} // numbers are written and read with a point
	if path, set := os.LookupEnv("LD_LIBRARY_PATH"); set {
		env = append(env, "LD_LIBRARY_PATH="+path)
	}
	return env
}

func (p *process) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, p.kill)()
	k, payload, err := readFrame(p.out, maxText)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("wait for its greeting: %w", ctx.Err())
	case errors.Is(err, errFrame) || err == nil && k != hello:
		return errors.New("it is not the headroom-solver that belongs to this headroom")
	case err != nil:
		return errors.New("it ended at once")
	}
	d := decoder{rest: payload}
	p.version = d.text()
	return d.end()
}

// kill ends the child and its process group without waiting. It also ends all waiting on its pipes, which a process
// in a group of its own may hold open.
func (p *process) kill() {
	p.lock.Lock()
	defer p.lock.Unlock()
	_ = p.in.SetDeadline(time.Now())
	_ = p.out.SetDeadline(time.Now())
	if !p.reaped {
		p.killed = true
		_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	}
}

// end kills the child, waits until it is gone, and closes its files.
func (p *process) end() {
	p.kill()
	<-p.ended
	p.in.Close()
	p.out.Close()
}

// alive reports whether the child has neither ended nor been killed.
func (p *process) alive() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return !p.killed && !p.reaped
}

// refusal is a solver's report that it could not solve the program; the process is still good.
type refusal struct{ reason string }

func (r refusal) Error() string { return "the solver gave up: " + r.reason }

// ask sends one question and reads its answer. When ctx ends, the child is killed and ask returns the cause. After
// any error but a refusal the child cannot be used again.
func (p *process) ask(ctx context.Context, frame []byte, limit int) (lp.Solution, error) {
	stop := context.AfterFunc(ctx, p.kill)
	s, err := p.exchange(frame, limit)
	if !stop() && err != nil {
		return lp.Solution{}, context.Cause(ctx)
	}
	p.solves++
	return s, err
}

func (p *process) exchange(frame []byte, limit int) (lp.Solution, error) {
	if err := writeFrame(p.in, question, frame); err != nil {
		return lp.Solution{}, fmt.Errorf("send the program: %w", err)
	}
	k, payload, err := readFrame(p.out, limit)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return lp.Solution{}, errors.New("the solver ended without an answer")
	case err != nil:
		return lp.Solution{}, fmt.Errorf("read the answer: %w", err)
	case k == failure:
		d := decoder{rest: payload}
		return lp.Solution{}, refusal{d.text()}
	case k != answer:
		return lp.Solution{}, fmt.Errorf("read the answer: a frame of kind %d: %w", k, errFrame)
	}
	s, err := decodeSolution(payload)
	if err != nil {
		return lp.Solution{}, fmt.Errorf("read the answer: %w", err)
	}
	return s, nil
}

// memoryMB returns the memory the child has in use, 0 if it is gone.
func (p *process) memoryMB() int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.command.Process.Pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pages * os.Getpagesize() >> 20
}

// tail keeps the last bytes written to it: the last output of a dying solver.
type tail struct {
	lock sync.Mutex
	text []byte
}

const tailBytes = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return strings.TrimSpace(string(t.text))
}
