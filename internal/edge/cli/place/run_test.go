package place

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/live"
)

// Heartbeats go on while the server is in trouble, and end when the lease is over.
func TestHeartbeatsOutliveTrouble(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answers := []int{200, 503, 500, 200, 410}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		status := answers[min(asked, len(answers)-1)]
		asked++
		if status >= 400 {
			w.Header().Set("Content-Type", "application/problem+json")
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"/problems/x","title":"x","status":%d,"detail":"So it is."}`, status)
	}))
	t.Cleanup(server.Close)
	to := remote.Connection{Server: server.URL, KeyFile: filepath.Join(t.TempDir(), "key"), Timeout: time.Minute}
	if err := os.WriteFile(to.KeyFile, []byte("hrk_x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := to.Open()
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	p := Place{Admission: live.Admission{ID: "x"}, Service: s, cluster: "shop", ttl: 600 * time.Millisecond, stopWhenLost: true,
		warn: func(format string, values ...any) {
			warnings = append(warnings, fmt.Sprintf(format, values...))
		}}
	// It is lost with the last answer, so the command is told to stop, and would run for a minute.
	err = p.Run(t.Context(), exec.Command("sleep", "60"))
	var f *shell.Failure
	if !errors.As(err, &f) || f.Code != exitSignalled+15 {
		t.Errorf("got %v", err)
	}
	if asked != len(answers) || len(warnings) != 3 || !strings.Contains(warnings[0], "trying on") ||
		!strings.Contains(warnings[1], "again") || !strings.Contains(warnings[2], "stopped") {
		t.Errorf("asked %d times: %q", asked, warnings)
	}
}

func TestPausesAreShortAndDiffer(t *testing.T) {
	seen := map[time.Duration]bool{}
	for _, seconds := range []int64{0, 1, 3, 60, -1} {
		for range 20 {
			p := pause(seconds)
			if most := 5 * time.Second; p < most/10 || p > most || seconds == 1 && p > time.Second {
				t.Errorf("%d: %s", seconds, p)
			}
			seen[p] = true
		}
	}
	if len(seen) < 90 {
		t.Errorf("%d different pauses of 100", len(seen))
	}
}

func TestWhoRunsIsNamed(t *testing.T) {
	long := ourselves(strings.Repeat("界", 300) + "\n\xff")
	if letters := len([]rune(long)); letters != 200 || strings.ContainsAny(long, "\n\uFFFD") {
		t.Errorf("%d letters: %q", letters, long)
	}
	if err := (live.AdmissionRequest{Class: "etl", Holder: long}).Validate(); err != nil {
		t.Error(err)
	}
}
