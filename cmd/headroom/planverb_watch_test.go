package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// pipe runs a command whose reader goes away after the first line, then makes it write another one: it
// must end without a word.
func pipe(ts *testscript.TestScript, neg bool, args []string) {
	c := exec.Command(args[0], args[1:]...)
	for _, name := range []string{"HEADROOM_URL", "HEADROOM_API_KEY", "HOME"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	var said bytes.Buffer
	c.Stderr = &said
	reader, writer, err := os.Pipe()
	ts.Check(err)
	c.Stdout = writer
	ts.Check(c.Start())
	writer.Close()
	_, err = reader.Read(make([]byte, 1))
	ts.Check(err)
	reader.Close()
	ts.Check(ts.Exec("headroom", "plan", "create", "shop"))
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil || said.Len() > 0 {
			ts.Fatalf("it ended with %v and said %q", err, said.String())
		}
	case <-time.After(patience(10 * time.Second)):
		_ = c.Process.Kill()
		ts.Fatalf("it goes on after its reader is gone")
	}
}

// speaker is a server of streams, each of which says something and ends; it keeps what was asked.
type speaker struct {
	streams []string
	asked   []string // the header Last-Event-ID of each
}

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/plans/events") {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	s.asked = append(s.asked, r.Header.Get("Last-Event-Id"))
	n := len(s.asked)
	if n > len(s.streams) {
		<-r.Context().Done()
		return
	}
	status, text, _ := strings.Cut(s.streams[n-1], " ")
	w.Header().Set("Content-Type", "text/event-stream")
	if status != "200" {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	var code int
	_, _ = fmt.Sscan(status, &code)
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

func planEvent(t *testing.T, number int64) string {
	t.Helper()
	p := plans.PlanSummary{ID: fmt.Sprint("id", number), Number: number, Cluster: "c", VMs: float64(10 * number), Currency: "USD", Status: capacity.Optimal}
	row, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("id: %d\nevent: plan\ndata: %s\n\n", number, row)
}

// A stream that ends is taken up where it ended, whatever the server does meanwhile; Ctrl-C is a good end.
func TestWatchingGoesOn(t *testing.T) {
	const soon = "retry: 1\n\n"
	s := &speaker{streams: []string{
		"200 " + soon + ":\n\n" + planEvent(t, 1) + planEvent(t, 2),
		"503 {\"title\":\"It cannot be answered at the moment\",\"detail\":\"No.\"}",
		"200 " + soon + planEvent(t, 2) + "event: strange\ndata: {}\n\nid: 3\nevent: plan\ndata: {\"number\":3", // cut off
		"200 " + soon + "event: reset\ndata: {}\n\n" + planEvent(t, 4),
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	t.Setenv("HEADROOM_URL", server.URL)
	t.Setenv("HEADROOM_API_KEY", "hrk_x")
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr lockedBuffer
	done := make(chan int, 1)
	go func() { done <- run(ctx, []string{"plan", "watch", "c"}, strings.NewReader(""), &stdout, &stderr) }()
	for last := range await.Tries(20 * time.Second) {
		if strings.Contains(stdout.String(), " 4 ") {
			break
		}
		if last {
			t.Fatalf("plan 4 is not printed: %s\n%s", stdout.String(), stderr.String())
		}
	}
	cancel()
	select {
	case code := <-done:
		if code != shell.ExitOK {
			t.Errorf("got exit code %d after an interrupt", code)
		}
	case <-time.After(patience(10 * time.Second)):
		t.Fatal("it does not end")
	}
	var numbers []string
	for i, line := range strings.Split(strings.TrimSpace(stdout.String()), "\n") {
		if f := strings.Fields(line); i > 0 {
			numbers = append(numbers, f[1])
		}
	}
	if got := strings.Join(numbers, " "); got != "1 2 4" {
		t.Errorf("printed are the plans %s, want 1, 2 and 4\n%s", got, stdout.String())
	}
	if !strings.Contains(stdout.String(), "+20") || !strings.Contains(stderr.String(), "may have come that are not printed") || strings.Count(stderr.String(), "\n") > 3 {
		t.Errorf("got %s\n%s", stdout.String(), stderr.String())
	}
	if got := strings.Join(s.asked[:4], ","); got != ",2,2,2" {
		t.Errorf("asked for what came after %q", got)
	}
}

// What is no stream of plans is said, not waited for.
func TestWatchingSaysWhatIsWrong(t *testing.T) {
	for name, answer := range map[string]string{
		"no number": "200 event: plan\ndata: {\"number\":-3}\n\n", "no JSON": "200 event: plan\ndata: plan\n\n",
		"refused": "403 {\"title\":\"The key may not do this\",\"detail\":\"It may not.\"}",
	} {
		server := httptest.NewServer(&speaker{streams: []string{answer, answer, answer, answer, answer, answer}})
		t.Setenv("HEADROOM_URL", server.URL)
		t.Setenv("HEADROOM_API_KEY", "hrk_x")
		ctx, cancel := context.WithTimeout(t.Context(), patience(20*time.Second))
		var stdout, stderr lockedBuffer
		go func() { // who watches goes on until somebody ends it
			for range await.Tries(patience(20 * time.Second)) {
				if ctx.Err() != nil || stderr.String() != "" {
					break
				}
			}
			cancel()
		}()
		code := run(ctx, []string{"plan", "watch", "c"}, strings.NewReader(""), &stdout, &stderr)
		if refused := name == "refused"; refused && code == shell.ExitOK || stderr.String() == "" || stdout.String() != "" {
			t.Errorf("%s: got exit code %d, %q, %q", name, code, stdout.String(), stderr.String())
		}
		cancel()
		server.Close()
	}
}
