package private

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// makeCluster runs initdb under another name and renames the finished cluster.
func (h *home) makeCluster(ctx context.Context, p programs, unsafe bool) error {
	making, err := os.MkdirTemp(h.dir, makingPrefix)
	if err != nil {
		return unusable(h.dir, err)
	}
	defer os.RemoveAll(making) // fails once it has its name
	if h.as.other {
		if err := os.Lchown(making, h.as.uid, h.as.gid); err != nil {
			return unusable(h.dir, err)
		}
	}
	var said tail
	command := exec.Command(p.path("initdb"), "-D", making, "-U", privateUser, "-A", "trust", "-E", "UTF8", "--locale=C",
		"--data-checksums", "--no-instructions", "--no-sync")
	command.Dir, command.Env = "/", programEnvironment()
	command.Stdout, command.Stderr = &said, &said
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: h.as.credential()}
	command.WaitDelay = time.Second
	if err := runToEnd(ctx, command); err != nil {
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("make a database in %s: %w", h.dir, context.Cause(ctx))
		case said.contains("No space left on device"), said.contains("Disk quota exceeded"):
			return noSpace(h.dir)
		}
		return fmt.Errorf("make a database in %s with %s: %w; it said: %s", h.dir, command.Path, err, said.String())
	}
	if !unsafe { // syncs all files at once; initdb would sync them one by one
		if err := syncDisk(making); err != nil {
			return unusable(h.dir, err)
		}
	}
	if err := os.Remove(h.cluster); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty folder is in the way
		return unusable(h.dir, err)
	}
	if err := os.Rename(making, h.cluster); err != nil {
		return unusable(h.dir, err)
	}
	if !unsafe {
		if err := syncDisk(h.dir); err != nil { // its name
			return unusable(h.dir, err)
		}
	}
	h.version = strconv.Itoa(p.major)
	return nil
}

// syncDisk returns once everything on the disk of a folder is written.
func syncDisk(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Syncfs(int(file.Fd()))
}

// runToEnd runs a command on one operating system thread that lives as long as the command: the
// kernel sends the death signal when the thread that started the child ends.
func runToEnd(ctx context.Context, command *exec.Cmd) error {
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			ended <- command.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) })()
	return <-ended
}

// server is one running postmaster.
type server struct {
	command *exec.Cmd
	log     *slog.Logger
	words   tail
	quiet   atomic.Bool   // starting or stopping: its messages are routine then
	asked   atomic.Bool   // we have asked it to stop
	ready   chan struct{} // closed when it accepts connections
	ended   chan struct{} // closed when it is gone
	err     error         // set before ended is closed: the reason of an unexpected end
}

// startServer starts Postgres and waits until it accepts connections. The data directory is ours alone. So a Postgres
// still running there belongs to a killed Headroom, and is about to end.
func startServer(ctx context.Context, h *home, p programs, socket string, unsafe bool, log *slog.Logger) (*server, error) {
	for {
		if err := waitForOrphan(ctx, h); err != nil {
			return nil, err
		}
		s, err := launch(h, p, socket, unsafe, log)
		if err != nil {
			return nil, fmt.Errorf("start %s as the user %s: %w", p.path("postgres"), h.as.name, err)
		}
		select {
		case <-s.ready:
			s.quiet.Store(false)
			return s, nil
		case <-ctx.Done():
			s.cutOff()
			return nil, fmt.Errorf("start the database in %s: %w; Postgres said: %s", h.dir, context.Cause(ctx), s.words.String())
		case <-s.ended:
		}
		switch {
		case s.words.contains("is still in use"): // by backends that have not noticed their postmaster's end
			if err := pause(ctx); err != nil {
				return nil, fmt.Errorf("start the database in %s: processes of a killed Postgres still run there: %s", h.dir, s.words.String())
			}
			continue
		case s.words.contains("No space left on device"), s.words.contains("Disk quota exceeded"):
			return nil, noSpace(h.dir)
		}
		return nil, fmt.Errorf("start the database in %s: %w", h.dir, s.err)
	}
}

const orphanPoll = 20 * time.Millisecond

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(orphanPoll):
		return nil
	}
}

// waitForOrphan waits until the Postgres of a killed Headroom is gone.
func waitForOrphan(ctx context.Context, h *home) error {
	for {
		pid, err := readPidFile(h.cluster)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return unusable(h.dir, err)
		case pid.runs(h.cluster):
		case pid.strange(h.cluster):
			// Its number belongs to another program by now, as happens in containers. Postgres would
			// take that for itself and refuse to start.
			return os.Remove(filepath.Join(h.cluster, "postmaster.pid"))
		default:
			return nil // stale: Postgres finds out by itself
		}
		if pause(ctx) != nil {
			return fmt.Errorf("a Postgres that no headroom started (process %d) runs in %s; stop it (kill -INT %d), or choose another --data-dir", pid.number, h.dir, pid.number)
		}
	}
}

func launch(h *home, p programs, socket string, unsafe bool, log *slog.Logger) (*server, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &server{log: log, ready: make(chan struct{}), ended: make(chan struct{})}
	s.quiet.Store(true)
	s.command = exec.Command(p.path("postgres"), serverArguments(h.cluster, socket, unsafe)...)
	s.command.Dir, s.command.Env = "/", programEnvironment()
	s.command.Stderr = writer
	s.command.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true, // a terminal's Ctrl-C is for us; Postgres stops when we are done with it
		Pdeathsig:  syscall.SIGINT,
		Credential: h.as.credential(),
	}
	started := make(chan error, 1)
	go s.keep(started, reader)
	err = <-started
	writer.Close()
	if err != nil {
		reader.Close()
		return nil, err
	}
	return s, nil
}

// keep starts Postgres, waits for its end and reports it. It keeps its thread for all that time: the kernel sends
// Postgres its death signal when the thread that started it ends.
func (s *server) keep(started chan<- error, words *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := s.command.Start()
	started <- err
	if err != nil {
		return
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.listen(words)
	}()
	err = s.command.Wait()
	_ = words.SetReadDeadline(time.Now().Add(time.Second)) // backends of a killed postmaster may hold it open
	<-read
	words.Close()
	if err == nil && !s.asked.Load() {
		err = errors.New("it was stopped by somebody else")
	}
	if err != nil {
		s.err = fmt.Errorf("the private Postgres ended (%w); it said last: %s", err, s.words.String())
	}
	close(s.ended)
}

func (s *server) signal(signal syscall.Signal) {
	s.asked.Store(true)
	s.quiet.Store(true)
	_ = s.command.Process.Signal(signal) // fails if Postgres is already gone
}

// cutOff kills Postgres and returns when it is gone. Hanging processes do not notice that their postmaster ended, and
// would block the data directory for the next one.
func (s *server) cutOff() {
	s.signal(syscall.SIGQUIT)
	select {
	case <-s.ended:
		return
	case <-time.After(lastWait):
	}
	left := childrenOf(s.command.Process.Pid)
	s.signal(syscall.SIGKILL)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // fails if the process is already gone
	}
	<-s.ended
}

// childrenOf lists the processes that a process has started.
func childrenOf(parent int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent)) // the pattern is right
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a gone thread has none
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				children = append(children, pid)
			}
		}
	}
	return children
}

// serverArguments returns the settings of a small server that shares its machine with others. They allow copies
// (pg_basebackup) and upgrades (pg_upgrade).
func serverArguments(cluster, socket string, unsafe bool) []string {
	settings := []string{
		"listen_addresses=",
		`unix_socket_directories="` + strings.ReplaceAll(socket, `"`, `""`) + `"`,
		"unix_socket_permissions=0700",
		"port=" + privatePort,
		"cluster_name=headroom",
		"max_connections=100",
		"shared_buffers=64MB",
		"max_wal_size=256MB",
		"jit=off",                          // our queries are short
		"recovery_init_sync_method=syncfs", // after a crash: not a thousand files one by one
		"timezone=UTC", "log_timezone=UTC",
		"log_destination=stderr", "logging_collector=off",
		"log_line_prefix=%b" + prefixEnd, // the speaker
		"log_min_messages=warning",
		"log_min_error_statement=panic", "log_error_verbosity=terse", // statements and values are not for a log
		"log_checkpoints=off", "log_autovacuum_min_duration=-1",
	}
	if unsafe {
		settings = append(settings, "fsync=off", "full_page_writes=off", "max_connections=600") // of all tests together
	}
	arguments := []string{"-D", cluster}
	for _, setting := range settings {
		arguments = append(arguments, "-c", setting)
	}
	return arguments
}

// prefixEnd separates the speaker from the message in a line of Postgres' log.
const prefixEnd = "|"

// listen reads Postgres' messages until nobody holds its standard error any longer.
func (s *server) listen(words *os.File) {
	lines := bufio.NewReaderSize(words, 4096)
	accepting := false
	for {
		line, err := lines.ReadSlice('\n')
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			s.hear(text)
			if !accepting && strings.Contains(text, "ready to accept connections") {
				accepting = true
				close(s.ready)
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) { // a very long line is heard in pieces
			return
		}
	}
}

// hear passes a line on to the log. Errors of a statement go to the client that sent it, which knows better what they
// mean, so the log has them only for debugging.
func (s *server) hear(line string) {
	speaker, said, found := strings.Cut(line, prefixEnd)
	if !found {
		speaker, said = "", line
	}
	severity, text, found := strings.Cut(said, ":  ")
	if !found {
		severity, text = "", said
	}
	s.words.add(strings.TrimSpace(said))
	level := slog.LevelInfo
	switch severity {
	case "PANIC", "FATAL", "ERROR":
		level = slog.LevelError
		if speaker == "client backend" {
			level = slog.LevelWarn
			if severity == "ERROR" {
				level = slog.LevelDebug
			}
		}
	case "WARNING":
		level = slog.LevelWarn
	case "LOG":
		if strings.Contains(text, "not properly shut down") {
			s.log.Warn("postgres was not shut down properly and recovers")
			return
		}
	}
	if s.quiet.Load() && (severity == "LOG" || severity == "FATAL" && speaker == "client backend") { // the latter: cut off by a stop
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, "postgres said", "severity", severity, "by", speaker, "text", text)
}

// tail holds the last lines of a message, for an error message.
type tail struct {
	lock  sync.Mutex
	lines []string
	rest  string
}

const tailLines = 12

func (t *tail) add(line string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// Write takes the output of a short program.
func (t *tail) Write(b []byte) (int, error) {
	t.lock.Lock()
	whole := t.rest + string(b)
	lines := strings.Split(whole, "\n")
	t.rest = lines[len(lines)-1]
	t.lock.Unlock()
	for _, line := range lines[:len(lines)-1] {
		if line = strings.TrimSpace(line); line != "" {
			t.add(line)
		}
	}
	return len(b), nil
}

func (t *tail) contains(text string) bool { return strings.Contains(t.String(), text) }

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	if len(t.lines) == 0 {
		return "nothing"
	}
	return strings.Join(t.lines, " / ")
}
