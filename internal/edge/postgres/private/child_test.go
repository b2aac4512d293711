package private

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childVariable makes this test program a process that runs the private cluster of a data directory. It prints its
// address on standard output, and stops the cluster when standard input ends.
const childVariable = "HEADROOM_TEST_PRIVATE_DIR"

func init() {
	if dir := os.Getenv(childVariable); dir != "" {
		os.Exit(runChild(dir))
	}
}

// TestMain lets twice as many tests run at once as there are processors: they wait for Postgres. The flag -parallel overrides it.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func runChild(dir string) int {
	if os.Getenv("HEADROOM_TEST_PRIVATE_ATTACH") != "" {
		url, running, err := Attach(dir)
		fmt.Println(url, running, err)
		return 0
	}
	p, err := Start(context.Background(), Config{
		Dir: dir, Unsafe: os.Getenv("HEADROOM_TEST_PRIVATE_DURABLE") == "", Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(p.URL(""))
	_, _ = io.Copy(io.Discard, os.Stdin)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	if err := goleak.Find(goleak.IgnoreTopFunction("testing.runFuzzing")); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// child is such a process.
type child struct {
	t       *testing.T
	command *exec.Cmd
	input   io.Closer
	output  *bufio.Reader
}

// startChild starts one, as another user unless uid is -1.
func startChild(t *testing.T, dir string, uid int, env ...string) *child {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t}
	if uid >= 0 {
		program = copyProgram(t, program)
	}
	c.command = exec.Command(program)
	if uid >= 0 {
		c.command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	c.command.Dir = "/"
	c.command.Env = append(append(os.Environ(), childVariable+"="+dir), env...)
	var words tail
	c.command.Stderr = &words
	c.input, _ = c.command.StdinPipe()
	output, _ := c.command.StdoutPipe()
	c.output = bufio.NewReader(output)
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.command.ProcessState == nil {
			c.kill()
		}
		if t.Failed() {
			t.Log("the child said: ", words.String())
		}
	})
	return c
}

// copyProgram copies the program to a place from which every user can start it: go test builds it in a closed folder.
func copyProgram(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(openDir(t), "postgres.test")
	text, err := os.ReadFile(from)
	if err == nil {
		syscall.ForkLock.RLock() // another test's child that has it open would make it busy
		err = os.WriteFile(to, text, 0o755)
		syscall.ForkLock.RUnlock()
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// says returns the child's first line: an address or an error.
func (c *child) says() string {
	c.t.Helper()
	line, err := c.output.ReadString('\n')
	if err != nil {
		c.t.Fatalf("the child ended without a word: %v", err)
	}
	return strings.TrimSpace(line)
}

func (c *child) address() string {
	c.t.Helper()
	line := c.says()
	if !strings.HasPrefix(line, "postgres://") {
		c.t.Fatalf("got %q, want an address", line)
	}
	return line
}

func (c *child) kill() {
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// end stops the child as it wants to be stopped.
func (c *child) end() {
	c.t.Helper()
	c.input.Close()
	rest, _ := io.ReadAll(c.output)
	if err := c.command.Wait(); err != nil {
		c.t.Errorf("the child ended with %v and said %q", err, rest)
	}
}
