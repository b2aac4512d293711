package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/test/pgtest"
)

// A server whose database is behind PgBouncer in transaction mode plans, works and writes as without. Every
// transaction gets another session.
func TestServeBehindAPooler(t *testing.T) {
	address := pgtest.Database(t)
	pooled := pgtest.Pooler(t, address, "transaction")
	for name, value := range map[string]string{"DATABASE_URL": pooled, "DATABASE_DIRECT_URL": "", "MIGRATE_DATABASE_URL": ""} {
		t.Setenv(name, value)
	}
	if _, trouble := say(t, shell.ExitError, "serve", "--listen", testPort(t), "--data-dir", dataDirectory(t)); !strings.Contains(trouble, "DATABASE_DIRECT_URL") {
		t.Errorf("without a direct address the server says %q", trouble)
	}
	t.Setenv("DATABASE_DIRECT_URL", address)
	if found := findings(t, shell.ExitOK); !found["database"].OK || !strings.Contains(found["pooler"].Detail, "shares sessions") {
		t.Errorf("doctor finds %+v", found)
	}
	s := startServingWith(t, dataDirectory(t), []string{"HEADROOM_ADMIN_KEY=" + crashKey, "HEADROOM_PEER_ADDRESS={address}"}, "--demo=still")
	s.localKey = crashKey
	took := s.planned(t, 8)
	run := s.change(t, "POST", "/v1/clusters/demo/simulations", `{"options":{"hours":24,"replications":2}}`, http.StatusAccepted, "Prefer", "respond-async").Get("Location")
	waits(t, "a simulation is done", time.Minute, func() bool { return strings.Contains(s.get(t, run), `"state":"succeeded"`) })
	for n := range 20 {
		s.change(t, "POST", "/v1/clusters", fmt.Sprintf(`{"name":"c%d","currency":"USD"}`, n), http.StatusCreated)
	}
	t.Logf("a plan after p50 %v, %v at worst", share(took, 0.5), took[len(took)-1])
	t.Attr("poolers", fmt.Sprintf("8 plans behind PgBouncer in transaction mode, p50 %v after the change", share(took, 0.5).Round(time.Millisecond)))
	if found := findings(t, shell.ExitOK)["database"].Detail; !strings.HasSuffix(found, "Servers that share live clusters: "+s.address+". "+found[strings.LastIndex(found, "It answered"):]) {
		t.Errorf("doctor says %q", found)
	}
	s.stop(t)
	if found := findings(t, shell.ExitOK)["database"].Detail; strings.Contains(found, s.address) {
		t.Errorf("doctor says %q of a server that has stopped", found)
	}
}
