package main

import (
	"encoding/json"
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

	"github.com/rogpeppe/go-internal/testscript"

	"headroom/internal/slots/live"
)

// leases remembers the ids of holders, in the script's environment.
func leaseOf(ts *testscript.TestScript, holder string) string {
	variable := "LEASE_OF_" + strings.ReplaceAll(holder, " ", "_")
	if id := ts.Getenv(variable); id != "" {
		return id
	}
	ts.Check(ts.Exec("headroom", "admission", "list", "shop", "-o", "json"))
	var leases struct{ Items []live.Lease }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &leases))
	for _, l := range leases.Items {
		if l.Holder == holder {
			ts.Setenv(variable, l.ID)
			return l.ID
		}
	}
	return ""
}

// ended ends the lease of a holder: ended 'cron 1'
func ended(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("headroom", "admission", "end", "shop", leaseOf(ts, args[0])))
}

// beats renews the lease of a holder; "! beats" wants that to fail.
func beats(ts *testscript.TestScript, neg bool, args []string) {
	if err := ts.Exec("headroom", "admission", "heartbeat", "shop", leaseOf(ts, args[0])); (err != nil) != neg {
		ts.Fatalf("heartbeat: %v", err)
	}
}

// held waits until a holder has a lease.
func held(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(10 * time.Second); leaseOf(ts, args[0]) == ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("%s holds no lease", args[0])
		}
	}
}

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
	to := connection{server: server.URL, keyFile: filepath.Join(t.TempDir(), "key"), timeout: time.Minute}
	if err := os.WriteFile(to.keyFile, []byte("hrk_x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := to.open()
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	j := job{service: s, cluster: "shop", lease: "x", ttl: 600 * time.Millisecond, stopWhenLost: true, warn: func(format string, values ...any) {
		warnings = append(warnings, fmt.Sprintf(format, values...))
	}}
	// It is lost with the last answer, so the command is told to stop, and would run for a minute.
	err = j.run(t.Context(), exec.Command("sleep", "60"))
	var f *failure
	if !errors.As(err, &f) || f.code != exitSignalled+15 {
		t.Errorf("got %v", err)
	}
	if asked != len(answers) || len(warnings) != 3 || !strings.Contains(warnings[0], "trying on") || !strings.Contains(warnings[1], "again") || !strings.Contains(warnings[2], "stopped") {
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
