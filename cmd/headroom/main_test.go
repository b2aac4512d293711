package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/edge/cli/root"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/internal/test/solvertest"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// withSolver runs the tests with the real solver and a database. They must leave no goroutine behind.
type withSolver struct{ m *testing.M }

func (w withSolver) Run() int {
	pgtest.TheyWait()
	defer func() { _ = os.RemoveAll(madeAt) }()
	return solvertest.Run(func() int { return pgtest.Clean(pgtest.Run(w.m)) })
}

func TestMain(m *testing.M) {
	_ = os.Unsetenv("GOGC") // the programs that tests start collect garbage as shipped
	testscript.Main(withSolver{m}, map[string]func(){"headroom": func() { offerProfiles(); main() }})
}

// run runs a command in this process and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return root.Run(ctx, args, stdin, stdout, stderr)
}

// profileVariable names the file into which the tests' headroom writes, at SIGUSR1, what the processors do in the
// ten seconds that follow; beside it what is in memory and where all goroutines are. The program itself has no
// such door.
const profileVariable = "HEADROOM_TEST_PROFILE"

func offerProfiles() {
	name := os.Getenv(profileVariable)
	if name == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	write := func(name string, with func(io.Writer) error) {
		file, err := os.Create(name)
		if err == nil {
			err = errors.Join(with(file), file.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "profile:", err)
		}
	}
	go func() {
		for range asked {
			write(name, func(w io.Writer) error {
				if err := pprof.StartCPUProfile(w); err != nil {
					return err
				}
				lasts(10 * time.Second) // the profile covers this time
				pprof.StopCPUProfile()
				return nil
			})
			write(name+".heap", pprof.WriteHeapProfile)
			write(name+".goroutines", func(w io.Writer) error { return pprof.Lookup("goroutine").WriteTo(w, 1) })
		}
	}()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../openapi/examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv(worker.ProgramVariable, os.Getenv(worker.ProgramVariable))
			env.Setenv("GOGC", "400") // a fifth less for each of nine hundred starts
			env.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
	})
}

// code runs a command and demands its exit code, or one of several: code 3 headroom solve x.json
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code NUMBER command args...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], "|"), fmt.Sprint(got)) {
		ts.Fatalf("got exit code %d, want %s", got, args[0])
	}
}

// sequence is an input that blocks once its text is read, until it is closed.
type sequence struct {
	io.Reader
	read   func()
	closed chan struct{}
}

func (s sequence) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		s.read()
		<-s.closed
	}
	return n, err
}

func TestStreamStopsWhenInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	in := sequence{strings.NewReader("zebra\n"), interrupt, make(chan struct{})}
	var out, trouble bytes.Buffer
	if code := run(ctx, []string{"solve", "--stream", "--engine", "exact"}, in, &out, &trouble); code != shell.ExitError {
		t.Errorf("got exit code %d, want %d", code, shell.ExitError)
	}
	if !strings.Contains(trouble.String(), "interrupted") {
		t.Errorf("it said %q, want that it was interrupted", &trouble)
	}
	if s := out.String(); s != "" && !strings.HasSuffix(s, "}\n") {
		t.Errorf("it wrote half a line: %q", s)
	}
	close(in.closed)
}

// long is an input of one line that is too long, and a line after it.
type long struct{ left int }

func (l *long) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), l.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	if l.left -= n; l.left == 0 {
		p[n-1] = '\n'
	}
	return n, nil
}

func TestStreamPassesOverLinesThatAreTooLong(t *testing.T) {
	in := io.MultiReader(&long{64<<20 + 1}, strings.NewReader("{}\n"))
	var out, trouble bytes.Buffer
	if code := run(t.Context(), []string{"solve", "--stream"}, in, &out, &trouble); code != shell.ExitError {
		t.Errorf("got exit code %d, want %d", code, shell.ExitError)
	}
	said := strings.Split(out.String(), "\n")
	if len(said) != 3 || !strings.Contains(said[0], "longer than 64 MiB") || !strings.Contains(said[1], `"line":2`) {
		t.Errorf("got %q, want two lines of errors", out.String())
	}
}
