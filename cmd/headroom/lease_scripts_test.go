package main

import (
	"encoding/json"
	"strings"
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
