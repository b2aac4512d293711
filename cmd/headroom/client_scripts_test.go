package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/historytest"
	"example.org/headroom/internal/test/servertest"
)

// testServer is a server whose client is this program.
type testServer struct{ servertest.Server }

func startServer(t *testing.T) testServer {
	t.Helper()
	return testServer{servertest.Start(t)}
}

// The verbs that ask a server, each script with a server of its own.
func TestServiceScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/service/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	histories := httptest.NewServer(&historytest.Server{Jobs: historytest.Jobs(1, 20), Apps: historytest.Apps(1, 6, 10)})
	t.Cleanup(histories.Close)
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			server := startServer(t)
			testscript.Run(t, testscript.Params{
				Files:               []string{script},
				RequireExplicitExec: true,
				UpdateScripts:       *update,
				Setup: func(env *testscript.Env) error {
					env.Setenv(worker.ProgramVariable, os.Getenv(worker.ProgramVariable))
					env.Setenv("GOGC", "400") // a fifth less for each of nine hundred starts
					env.Setenv("HEADROOM_URL", server.URL)
					env.Setenv("SECURE", strings.Replace(server.URL, "http://", "https://", 1))
					env.Setenv("HEADROOM_API_KEY", server.Keys[auth.Admin])
					env.Setenv("VIEWER", server.Keys[auth.Viewer])
					env.Setenv("AGENT", server.Keys[auth.Agent])
					env.Setenv("DATABASE_URL", server.Database)
					env.Setenv("HISTORIES", strings.TrimPrefix(histories.URL, "http://"))
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "revoke": revoke, "denied": denied, "ended": ended, "beats": beats, "held": held, "keep": keep, "pipe": pipe, "executed": executed},
			})
		})
	}
}

// revoke revokes the key of a name: revoke me
func revoke(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("headroom", "server", "key", "list", "-o", "json"))
	var keys struct{ Items []auth.Key }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &keys))
	for _, k := range keys.Items {
		if k.Name == args[0] {
			ts.Check(ts.Exec("headroom", "server", "key", "revoke", k.ID, "--yes"))
			return
		}
	}
	ts.Fatalf("there is no key %s", args[0])
}

// denied waits until a command is refused.
func denied(ts *testscript.TestScript, neg bool, args []string) {
	for range await.Tries(10 * time.Second) {
		if err := ts.Exec(args[0], args[1:]...); err != nil {
			if _, exited := err.(*exec.ExitError); exited && strings.Contains(ts.ReadFile("stderr"), "The key came from") {
				return
			}
			ts.Fatalf("%v", err)
		}
	}
	ts.Fatalf("the key still opens the server")
}

// executed posts so many executions, half a second apart in how long they take and an hour in when they were:
// executed CLUSTER JOB N SECONDS
func executed(ts *testscript.TestScript, neg bool, args []string) {
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	least, err := strconv.ParseFloat(args[3], 64)
	ts.Check(err)
	ask := func(method, at, body string, into any) {
		r, err := http.NewRequest(method, ts.Getenv("HEADROOM_URL")+"/v1/clusters/"+args[0]+at, strings.NewReader(body))
		ts.Check(err)
		r.Header.Set("Authorization", "Bearer "+ts.Getenv("HEADROOM_API_KEY"))
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		ts.Check(err)
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		ts.Check(err)
		if a.StatusCode != http.StatusOK {
			ts.Fatalf("%s %s: %s", method, at, text)
		}
		ts.Check(json.Unmarshal(text, into))
	}
	var there, made struct{ Items []any }
	ask("GET", "/executions?limit=1000", "", &there)
	var batch []string
	for i := range count {
		at := time.Date(2026, 1, 1, len(there.Items)+i, 0, 0, 0, time.UTC)
		batch = append(batch, fmt.Sprintf(`{"job":%q,"execution":"job_%d","submitted_at":%q,"sample":{"seconds":%g,"map_slots":10,
			"map":{"count":120,"mean":24.5,"max":61},"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61,"overhead_s":11}}}`,
			args[1], len(there.Items)+i, at.Format(time.RFC3339), least+float64(i*7%count+1)/2))
	}
	ask("POST", "/executions", `{"executions":[`+strings.Join(batch, ",")+`]}`, &made)
}

// keep keeps what was printed last in a variable: keep RUN
func keep(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// leases remembers the ids of holders, in the script's environment.
func leaseOf(ts *testscript.TestScript, holder string) string {
	variable := "LEASE_OF_" + strings.ReplaceAll(holder, " ", "_")
	if id := ts.Getenv(variable); id != "" {
		return id
	}
	ts.Check(ts.Exec("headroom", "live", "admission", "list", "shop", "-o", "json"))
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
	ts.Check(ts.Exec("headroom", "live", "admission", "end", "shop", leaseOf(ts, args[0])))
}

// beats renews the lease of a holder; "! beats" wants that to fail.
func beats(ts *testscript.TestScript, neg bool, args []string) {
	if err := ts.Exec("headroom", "live", "admission", "heartbeat", "shop", leaseOf(ts, args[0])); (err != nil) != neg {
		ts.Fatalf("heartbeat: %v", err)
	}
}

// held waits until a holder has a lease.
func held(ts *testscript.TestScript, neg bool, args []string) {
	for range await.Tries(10 * time.Second) {
		if leaseOf(ts, args[0]) != "" {
			return
		}
	}
	ts.Fatalf("%s holds no lease", args[0])
}
