package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// served is a real server process.
type served struct {
	*exec.Cmd
	address  string
	dataDir  string
	localKey string // set where there is no private database, whose server would give one
	greeted  string // its standard output until it was ready
	began    time.Time
	ready    time.Duration // from the start of the process
	words    chan string   // what it says until it serves
	stderr   *lockedBuffer
	ended    chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// testPort is a free port outside the range from which clients get theirs.
func testPort(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// dataDirectory is a directory that an unprivileged database can reach.
func dataDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(pgtest.RoomyMemory(), "headroom-data-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// startServing starts headroom serve and waits until it says that it serves.
func startServing(t *testing.T, dataDir string, args ...string) *served {
	t.Helper()
	return startServingWith(t, dataDir, nil, args...)
}

// startServingWith is startServing with variables besides those of the test.
func startServingWith(t *testing.T, dataDir string, variables []string, args ...string) *served {
	t.Helper()
	return launch(t, dataDir, variables, args...).await(t)
}

// launch starts headroom serve.
func launch(t *testing.T, dataDir string, variables []string, args ...string) *served {
	t.Helper()
	return launchProgram(t, "headroom", dataDir, variables, args...)
}

// launchProgram starts another headroom.
func launchProgram(t *testing.T, program, dataDir string, variables []string, args ...string) *served {
	t.Helper()
	s := &served{dataDir: dataDir, address: testPort(t), stderr: &lockedBuffer{}, words: make(chan string, 1), ended: make(chan error, 1)}
	s.Cmd = exec.Command(program, append([]string{"serve", "--listen", s.address, "--data-dir", dataDir}, args...)...)
	for _, v := range variables {
		s.Env = append(s.Env, strings.Replace(v, "{address}", s.address, 1))
	}
	s.Env = append(os.Environ(), s.Env...)
	s.Stderr = s.stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.began = time.Now()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	go func() {
		var all strings.Builder
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			fmt.Fprintln(&all, lines.Text())
			if strings.HasPrefix(lines.Text(), "Documentation:") {
				s.ready = time.Since(s.began)
				break
			}
		}
		s.words <- all.String()
		_, _ = io.Copy(io.Discard, out)
		s.ended <- s.Wait()
	}()
	return s
}

// await waits until a server says that it serves.
func (s *served) await(t *testing.T) *served {
	t.Helper()
	select {
	case s.greeted = <-s.words:
	case <-time.After(90 * time.Second):
	}
	if !strings.Contains(s.greeted, "Documentation:") {
		s.stop(t)
		t.Fatalf("the server did not start:\n%s%s", s.greeted, s.stderr)
	}
	return s
}

// stop ends the server as an operator does; it is called again at the test's end.
func (s *served) stop(t *testing.T) {
	t.Helper()
	if s.ended == nil {
		return
	}
	_ = s.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		if err != nil && s.ProcessState.ExitCode() != -1 && !t.Failed() {
			t.Errorf("the server ended with %v:\n%s", err, s.stderr)
		}
	case <-time.After(patience(30 * time.Second)):
		_ = s.Process.Kill()
		t.Errorf("the server did not end within 30 s:\n%s", s.stderr)
	}
	s.ended = nil
}

// kill ends the server as a crash does.
func (s *served) kill(t *testing.T) {
	t.Helper()
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	s.ended = nil
}

// key returns the key that the server left for other commands on this machine.
func (s *served) key(t *testing.T) string {
	t.Helper()
	if s.localKey != "" {
		return s.localKey
	}
	text, err := os.ReadFile(filepath.Join(s.dataDir, remote.ClientFile))
	if err != nil {
		t.Fatal(err)
	}
	var access remote.ClientAccess
	if err := json.Unmarshal(text, &access); err != nil || access.URL != "http://"+s.address {
		t.Fatalf("%s holds %s (%v)", remote.ClientFile, text, err)
	}
	return access.Key
}

// ask sends a request with the key; a body that is not "" is posted.
func (s *served) ask(ctx context.Context, key, path, body string) (status int, answer string, err error) {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func (s *served) get(t *testing.T, path string) string {
	t.Helper()
	status, answer, err := s.ask(t.Context(), s.key(t), path, "")
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: got %d, %v: %s", path, status, err, answer)
	}
	return answer
}

// voted gets a plan once CBC has voted on it: after that it stays as it is.
func (s *served) voted(t *testing.T, path string) (plan string) {
	t.Helper()
	await.Until(t, patience(20*time.Second), "CBC has voted on the plan", func() bool {
		plan = s.get(t, path)
		return !strings.Contains(plan, `"state":"waiting"`)
	})
	return plan
}

// The whole first minute of somebody new, and what a crash of either process leaves.
func TestServeWithItsOwnDatabase(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	s := startServing(t, dir, "--demo")
	t.Logf("first start until ready, with a plan: %v", s.ready.Round(time.Millisecond))
	if s.ready > patience(20*time.Second) {
		t.Errorf("the first start took %v", s.ready)
	}
	if !regexp.MustCompile(`http://127\.0\.0\.1:\d+/sign-in#hrl_[\w-]{43}\n`).MatchString(s.greeted) {
		t.Errorf("no sign-in link in\n%s", s.greeted)
	}
	again, err := exec.Command("headroom", "server", "sign-in", "--data-dir", dir).Output()
	address, token, _ := strings.Cut(strings.TrimSpace(string(again)), "#")
	for _, want := range []int{http.StatusCreated, http.StatusUnauthorized} { // a link works once
		answer, wrong := http.Post(strings.TrimSuffix(address, "/sign-in")+"/v1/session", "application/json", strings.NewReader(`{"token":"`+token+`"}`))
		if err = errors.Join(err, wrong); err != nil || answer.StatusCode != want {
			t.Fatalf("headroom server sign-in printed %q; signing in with it: %v, %v; want %d", again, answer, err, want)
		}
		_ = answer.Body.Close()
	}
	if info, err := os.Stat(filepath.Join(dir, remote.ClientFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: got %v, %v; want mode 0600", remote.ClientFile, info, err)
	}
	if current := s.get(t, "/v1/clusters/demo/plans/current"); !strings.Contains(current, `"number":2`) {
		t.Errorf("the current plan: got %s", current)
	}
	plan := s.voted(t, "/v1/clusters/demo/plans/2")
	if !strings.Contains(plan, `"status":"optimal"`) || !strings.Contains(plan, `"number":2`) {
		t.Errorf("the demonstration's plan: got %s", plan)
	}
	table, err := exec.Command("headroom", "plan", "get", "demo", "--data-dir", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(table), "nightly-etl") {
		t.Errorf("headroom plan get demo: %v\n%s", err, table)
	}
	if out, err := exec.Command("headroom", "serve", "--listen", s.address, "--data-dir", dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "cannot listen") {
		t.Errorf("a second server on the same address: %v\n%s", err, out)
	}
	if out, err := exec.Command("headroom", "serve", "--listen", testPort(t), "--data-dir", dir).CombinedOutput(); err == nil || !strings.Contains(string(out), dir) {
		t.Errorf("a second server on the same data: %v\n%s", err, out)
	}

	laid := map[string]string{}
	for path, holds := range map[string]string{
		"/v1/clusters/demo/executions?limit=1000":                         `"execution":"demo_nightly-etl_`,
		"/v1/clusters/demo/forecasts?limit=1000":                          `"class":"ad-hoc-queries"`,
		"/v1/clusters/demo/measurements?limit=1000":                       `"job":"ml-features"`,
		"/v1/clusters/demo/offers":                                        `"name":"one more year"`,
		"/v1/clusters/demo/packings":                                      `"algorithm":"multi"`,
		"/v1/clusters/demo/scenarios":                                     `"name":"a busier spring"`,
		"/v1/clusters/demo-spot/prices?limit=1000":                        `"price":"0.118"`,
		"/v1/clusters/demo-spot/classes/thumbnails":                       `"vms_per_job":"0.5"`,
		"/v1/clusters/demo/classes/dashboards/calibration?job=dashboards": `"executions":30`,
	} {
		if laid[path] = s.get(t, path); !strings.Contains(laid[path], holds) {
			t.Errorf("the demonstration: %s has no %s:\n%.500s", path, holds, laid[path])
		}
	}

	s.kill(t)
	s = startServing(t, dir, "--demo")
	t.Logf("next start, after kill -9 of the server: %v", s.ready.Round(time.Millisecond))
	for path, before := range laid {
		if again := s.get(t, path); again != before {
			t.Errorf("the demonstration is laid again: %s was\n%.500s\nand is\n%.500s", path, before, again)
		}
	}
	if again := s.get(t, "/v1/clusters/demo/plans/2"); again != plan {
		t.Errorf("the plan after a crash differs:\n%s\n%s", plan, again)
	}
	s.stop(t)
	if _, err := os.Stat(filepath.Join(dir, remote.ClientFile)); err == nil {
		t.Errorf("%s is left after the stop", remote.ClientFile)
	}
	s = startServing(t, dir)
	t.Logf("next start, after a stop: %v", s.ready.Round(time.Millisecond))
	if s.ready > patience(10*time.Second) {
		t.Errorf("a later start took %v", s.ready)
	}

	pids, err := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
	if err != nil || len(pids) != 1 {
		t.Fatalf("got %v, %v; want one postmaster.pid", pids, err)
	}
	running := func() (pid int) {
		text, _ := os.ReadFile(pids[0]) // while a database starts there is none
		_, _ = fmt.Sscan(string(text), &pid)
		return pid
	}
	pid := running()
	if pid < 2 {
		t.Fatalf("%s names the process %d", pids[0], pid)
	}
	key := s.key(t)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	// The server starts its database again. Polls are answered from memory all the while.
	for last := range await.Tries(patience(30 * time.Second)) {
		if status, answer, err := s.ask(t.Context(), key, "/v1/clusters/demo/plans/current", ""); err != nil || status != http.StatusOK {
			t.Fatalf("a poll while the database is away: got %d, %v: %s", status, err, answer)
		}
		status, answer, err := s.ask(t.Context(), key, "/v1/clusters/demo", "")
		if now := running(); err == nil && status == http.StatusOK && now > 1 && now != pid {
			break
		}
		if err != nil || status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Fatalf("while the database is away: got %d, %v: %s", status, err, answer)
		}
		if last {
			t.Fatalf("the database is still away: %s\n%s", answer, s.stderr)
		}
	}
	t.Logf("the database is back %v after its kill -9", time.Since(began).Round(time.Millisecond))
	if again := s.get(t, "/v1/clusters/demo/plans/2"); again != plan {
		t.Errorf("the plan after the database's crash differs:\n%s\n%s", plan, again)
	}
}

// SIGTERM loses nothing: what was acknowledged is there, and what was accepted is answered.
func TestServeStopsGracefully(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	s := startServing(t, dir)
	key := s.key(t)
	var acknowledged sync.Map
	var count, broken atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("c-%d-%d", c, i)
				status, answer, err := s.ask(ctx, key, "/v1/clusters", `{"name":"`+name+`"}`)
				switch {
				case err != nil && strings.Contains(err.Error(), "connection refused"), ctx.Err() != nil:
					return
				case err != nil && !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "closed idle"):
					broken.Add(1)
					t.Errorf("%s: %v", name, err)
					return
				case err != nil: // a kept connection was closed before the request was accepted
				case status == http.StatusCreated:
					acknowledged.Store(name, true)
					count.Add(1)
				case status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
					t.Errorf("%s: got %d: %s", name, status, answer)
					return
				}
			}
		})
	}
	for range await.Tries(patience(30 * time.Second)) {
		if count.Load() >= 60 {
			break
		}
	}
	began := time.Now()
	s.stop(t)
	t.Logf("stopped in %v after %d acknowledged writes", time.Since(began).Round(time.Millisecond), count.Load())
	cancel()
	clients.Wait()
	if count.Load() < 60 {
		t.Fatalf("only %d writes in 30 s", count.Load())
	}
	s = startServing(t, dir)
	acknowledged.Range(func(name, _ any) bool {
		s.get(t, "/v1/clusters/"+name.(string))
		return true
	})
}

func TestServeRefusesToBeOpenToOthers(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	_, port, _ := net.SplitHostPort(testPort(t))
	for name, test := range map[string]struct {
		env  []string
		says string
	}{
		"without keys":             {nil, "there is no key yet"},
		"with a sample key":        {[]string{"HEADROOM_ADMIN_KEY=hrk_changemechangemechangemechangemechangemechan"}, "is a sample"},
		"with a sample password":   {[]string{"DATABASE_URL=postgres://headroom:changeme@127.0.0.1:1/x"}, "sample password"},
		"with settings that fail":  {[]string{"HEADROOM_CONNECTIONS=many", "HEADROOM_HOSTS=a b"}, "HEADROOM_CONNECTIONS cannot be read as a whole number"},
		"a password in a flag":     {nil, "can read in the list of processes"},
		"an issuer in the clear":   {[]string{"HEADROOM_OIDC_ISSUER=http://sso.example.com", "HEADROOM_OIDC_AUDIENCE=headroom"}, "HEADROOM_OIDC_ISSUER cannot be an issuer's: An issuer is asked over https://"},
		"tokens for anybody":       {[]string{"HEADROOM_OIDC_ISSUER=https://sso.example.com"}, "HEADROOM_OIDC_AUDIENCE is wrong: it is needed with HEADROOM_OIDC_ISSUER"},
		"metrics beyond this host": {[]string{"HEADROOM_METRICS_LISTEN=0.0.0.0:9"}, "not on loopback"},
	} {
		c := exec.Command("headroom", "serve", "--listen", "0.0.0.0:"+port, "--data-dir", dir)
		if strings.Contains(name, "flag") {
			c.Args = append(c.Args, "--database-url", "postgres://headroom:changeme@127.0.0.1:1/x")
		}
		c.Env = append(os.Environ(), test.env...)
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.says) {
			t.Errorf("%s: got %v, want %q in\n%s", name, err, test.says, out)
		}
		if strings.Contains(string(out), "changeme") {
			t.Errorf("%s: the secret is repeated:\n%s", name, out)
		}
	}
}
