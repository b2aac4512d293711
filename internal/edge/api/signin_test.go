package api

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/chromium"
)

// A real browser opens the sign-in link.
func TestSignInWithABrowser(t *testing.T) {
	t.Parallel()
	browser := chromium.Program(t)
	f := newFront(t)
	server := httptest.NewServer(f.handler)
	defer server.Close()
	visit := func(address string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		home := t.TempDir()
		c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
			"--no-first-run", "--user-data-dir="+filepath.Join(home, "profile"), "--virtual-time-budget=5000", "--dump-dom", address)
		c.Env = append(os.Environ(), "HOME="+home)
		page, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return string(page)
	}
	link, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// It leads to the page, which the API alone does not have.
	if page := visit(server.URL + "/sign-in#" + link); !strings.Contains(page, `There is nothing at \"/\"`) {
		t.Errorf("after signing in the browser shows\n%.2000s", page)
	}
	if len(f.store.sessions) != 1 || len(f.store.links) != 0 {
		t.Errorf("got %d sessions and %d links, want 1 and 0", len(f.store.sessions), len(f.store.links))
	}
	again := visit(server.URL + "/sign-in#" + link)
	if !strings.Contains(again, "This link opens nothing any more") || !strings.Contains(again, `<form id="form" method="post">`) {
		t.Errorf("with a used link the browser shows\n%s\nwant a sentence and the form", again)
	}
	if fresh := visit(server.URL + "/sign-in"); !strings.Contains(fresh, `<form id="form" method="post">`) || !strings.Contains(fresh, `role="alert" hidden=""`) {
		t.Errorf("without a link the browser shows\n%s\nwant the form alone", fresh)
	}
	if log := f.log.String(); strings.Contains(log, link) || strings.Contains(log, link[4:16]) {
		t.Errorf("the link is in the log:\n%s", log)
	}
}
