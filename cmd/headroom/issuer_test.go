package main

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/test/oidctest"
	"example.org/headroom/internal/test/pgtest"
)

// A server starts while the issuer of tokens is away, takes them once it answers, and the command line sends them.
func TestServeTakesTokensOfAnIssuer(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "", http.StatusBadGateway)
		return true
	})
	s := startServingWith(t, dataDirectory(t), []string{"DATABASE_URL=" + pgtest.Database(t), "HEADROOM_LOG_LEVEL=info",
		"HEADROOM_OIDC_ISSUER=" + issuer.URL, "HEADROOM_OIDC_AUDIENCE=" + oidctest.Audience})
	if s.ready > patience(30*time.Second) {
		t.Errorf("it took %s to start", s.ready)
	}
	token := issuer.Token("headroom:operator")
	if status, answer, err := s.ask(t.Context(), token, "/v1/session", ""); status != http.StatusServiceUnavailable || err != nil {
		t.Errorf("got %d, %v: %s", status, err, answer)
	}
	issuer.Answer(nil)
	waits(t, "the token opens the server", 30*time.Second, func() bool {
		status, _, err := s.ask(t.Context(), token, "/v1/session", "")
		return err == nil && status == http.StatusOK
	})
	run := func(key string, args ...string) (string, error) {
		c := exec.Command("headroom", args...)
		c.Env = append(os.Environ(), "HEADROOM_URL=http://"+s.address, "HEADROOM_API_KEY="+key)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(token, "cluster", "list", "-o", "json"); err != nil || !strings.Contains(out, "items") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(token, "webhook", "list"); err == nil || !strings.Contains(out, "role admin") {
		t.Errorf("an operator lists webhooks: %v: %s", err, out)
	}
	if out, err := run(token+"AA", "cluster", "list"); err == nil || strings.Contains(out, "eyJ") || !strings.Contains(out, "HEADROOM_API_KEY") {
		t.Errorf("got %v: %s", err, out)
	}
	if log := s.stderr.String(); strings.Contains(log, "eyJ") || !strings.Contains(log, "502") {
		t.Errorf("the log repeats a token, or does not say that the issuer was away:\n%s", log)
	}
}

func TestDoctorAsksTheIssuer(t *testing.T) {
	issuer := oidctest.New(t)
	t.Setenv("DATABASE_URL", pgtest.Database(t))
	if _, there := findings(t, shell.ExitOK)["token issuer"]; there {
		t.Error("an issuer that nobody has named was asked")
	}
	t.Setenv("HEADROOM_OIDC_ISSUER", issuer.URL)
	if e := findings(t, shell.ExitSolver)["settings"]; e.OK || !strings.Contains(e.Detail, "HEADROOM_OIDC_AUDIENCE") {
		t.Errorf("without an audience: %+v", e)
	}
	t.Setenv("HEADROOM_OIDC_AUDIENCE", "headroom")
	if e := findings(t, shell.ExitOK)["token issuer"]; !e.OK || !strings.Contains(e.Detail, issuer.URL) {
		t.Errorf("got %+v", e)
	}
	t.Setenv("HEADROOM_OIDC_CLIENT_ID", oidctest.ClientID)
	if e := findings(t, shell.ExitSolver)["sign-in page"]; e.OK || !strings.Contains(e.Cure, "authorization_endpoint") {
		t.Errorf("an issuer without a page: %+v", e)
	}
	issuer.Open(&oidctest.Page{})
	if e := findings(t, shell.ExitOK)["sign-in page"]; !e.OK || !strings.Contains(e.Detail, issuer.URL) {
		t.Errorf("got %+v", e)
	}
	issuer.Say("issuer", "https://sso.example.com")
	if e := findings(t, shell.ExitSolver)["token issuer"]; e.OK || !strings.Contains(e.Detail, "calls itself") || e.Cure == "" {
		t.Errorf("an issuer of another name: %+v", e)
	}
}
