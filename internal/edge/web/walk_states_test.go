package web_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"example.org/headroom/internal/test/pgtest"
)

// gate is a proxy before a database: while it is shut nobody gets through, and open connections are cut.
type gate struct {
	address   string // the database's, through the gate
	place, to string
	network   string
	mu        sync.Mutex
	listener  net.Listener
	open      map[net.Conn]bool
}

func newGate(t *testing.T, address string) *gate {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	port := cmp.Or(query.Get("port"), "5432")
	g := &gate{place: filepath.Join(t.TempDir(), ".s.PGSQL."+port), network: "tcp", to: at.Host, open: map[net.Conn]bool{}}
	if dir := query.Get("host"); dir != "" {
		g.network, g.to = "unix", filepath.Join(dir, ".s.PGSQL."+port)
	}
	query.Set("host", filepath.Dir(g.place))
	at.Host, at.RawQuery = "", strings.ReplaceAll(query.Encode(), "+", "%20")
	g.address = at.String()
	g.openUp(t)
	t.Cleanup(g.shut)
	return g
}

func (g *gate) openUp(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("unix", g.place)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.listener = listener
	g.mu.Unlock()
	go func() {
		for {
			one, err := listener.Accept()
			if err != nil {
				return
			}
			other, err := net.Dial(g.network, g.to)
			if err != nil {
				one.Close()
				continue
			}
			g.mu.Lock()
			g.open[one], g.open[other] = true, true
			g.mu.Unlock()
			go func() { _, _ = io.Copy(one, other); one.Close() }()
			go func() { _, _ = io.Copy(other, one); other.Close() }()
		}
	}()
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener.Close()
	for c := range g.open {
		c.Close()
	}
	clear(g.open)
}

// banner waits for a banner with this text.
func banner(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	until(t, ctx, fmt.Sprintf(`[...document.querySelectorAll(".banner")].some((b) => b.textContent.includes(%q))`, text))
}

func noBanner(t *testing.T, ctx context.Context) {
	t.Helper()
	until(t, ctx, `!document.querySelector(".banner")`)
}

// walkFaults stops the database and the server under an open page. The page keeps what it shows, reports the fault
// and the time of the next try, and recovers without a reload.
func walkFaults(t *testing.T, _ *server, b context.Context) {
	g := newGate(t, pgtest.Database(t))
	address := freeAddress(t)
	s := serveAt(t, address, g.address)
	ctx := s.tab(t, b)
	s.open(t, ctx, "/c/demo/what-if?ch=demand%3A*%3Ax1.1&base=1")
	until(t, ctx, `document.querySelector("#answer") && window.kept !== 1 && (window.kept = 1)`)
	press(t, ctx, "Plan")
	until(t, ctx, `document.querySelector("h1")?.textContent.includes("at once")`)
	if got := value[string](t, ctx, `document.activeElement.tagName`); got != "H1" {
		t.Errorf("the focus is on %s after another page was opened, want its h1", got)
	}
	lead := value[string](t, ctx, `document.querySelector("h1").textContent`)

	g.shut()
	value[bool](t, ctx, look)
	banner(t, ctx, "The database cannot be reached. You see the last good plan; changes cannot be saved.")
	until(t, ctx, `/Trying again in \d+ s\./.test(document.querySelector(".banner").textContent)`)
	if got := value[string](t, ctx, `document.querySelector("h1").textContent + document.querySelectorAll("[role=alert]").length`); got != lead+"1" {
		t.Errorf("without the database the page leads with %q", got)
	}
	g.openUp(t)
	noBanner(t, ctx)

	s.end(t)
	banner(t, ctx, "Headroom does not answer. You see what was here at ")
	until(t, ctx, `/at \d\d:\d\d:\d\d\. Trying again in \d+ s\.Try now$/.test(document.querySelector(".banner").textContent)`)
	picture(t, ctx, "server-away")
	press(t, ctx, "Try now") // in vain
	banner(t, ctx, "Headroom does not answer.")
	again := serveAt(t, address, g.address)
	value[bool](t, ctx, look)
	noBanner(t, ctx)
	if got := value[string](t, ctx, `document.querySelector("h1").textContent + window.kept`); got != lead+"1" {
		t.Errorf("after everything is back the page leads with %q", got)
	}

	// After signing out, changes stay, and signing in leads back to them.
	press(t, ctx, "Explore")
	until(t, ctx, `document.querySelector("#answer")`)
	slide := func(place int) {
		t.Helper()
		before := value[string](t, ctx, `location.href`)
		value[bool](t, ctx, fmt.Sprintf(`(() => { const x = document.querySelector('[aria-label="Jobs of all classes"]'); x.value = "%d"; x.dispatchEvent(new Event("input", {bubbles: true})); x.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`, place))
		until(t, ctx, fmt.Sprintf(`location.search.includes("demand") && location.href !== %q`, before))
	}
	slide(200)
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("Having 50 % more jobs of all classes ")`)
	value[bool](t, ctx, `fetch("/v1/session", {method: "DELETE"}).then((a) => a.ok)`)
	slide(300) // never answered
	shown := value[string](t, ctx, `location.href`)
	value[bool](t, ctx, look)
	banner(t, ctx, "You were signed out. Your changes on this page are kept.")
	press(t, ctx, "Sign in")
	do(t, ctx, chromedp.WaitVisible(chromedp.CSS("#key")), chromedp.SendKeys(chromedp.CSS("#key"), again.key+"\r"))
	noBanner(t, ctx)
	if got := value[string](t, ctx, `location.href + window.kept`); got != shown+"1" {
		t.Errorf("after signing in again it is at %s, want %s without a reload", got, shown)
	}
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("Having 125 % more jobs of all classes ")`)
}

// tried waits until planning a cluster has failed, or has not.
func (s *server) tried(t *testing.T, cluster string, failed bool) {
	t.Helper()
	var current struct {
		Freshness struct {
			LastAttempt *struct{ Failed bool } `json:"last_attempt"`
		}
	}
	s.eventually(t, "/v1/clusters/"+cluster+"/plans/current", &current, func() bool {
		a := current.Freshness.LastAttempt
		return a != nil && a.Failed == failed
	})
}

// walkStates visits the states in which the page has sentences before it has figures.
func walkStates(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "empty"}, nil)
	s.open(t, ctx, "/c/empty/now")
	until(t, ctx, `document.querySelector("h1").textContent === "Nothing to plan yet. Add a class and the first plan follows by itself."`)
	if got := value[string](t, ctx, `[...document.querySelectorAll("main a")].map((a) => a.textContent + " " + a.pathname).join(", ")`); got != "Add a class /c/empty/plan/classes, Import /c/empty/plan/classes/import" {
		t.Errorf("the ways out are %q", got)
	}
	s.send(t, "POST", "/v1/clusters/empty/vm-types", map[string]any{"name": "m", "quota": 20}, nil)
	s.send(t, "POST", "/v1/clusters/empty/classes", map[string]any{"name": "etl", "vms_per_job": "1", "jobs": map[string]any{"min": 0, "max": 3}, "penalty": "1"}, nil)
	do(t, ctx, chromedp.Navigate(s.address+"/c/empty/now"))
	until(t, ctx, `document.querySelector("h1")?.textContent === "There is no plan yet, because prices are missing."`)
	s.send(t, "POST", "/v1/clusters/empty/prices", map[string]any{"vm_type": "m", "price": "0.5", "from": "2026-01-01T00:00:00Z"}, nil)
	until(t, ctx, `document.querySelector("h1").textContent.includes("at once")`)
	until(t, ctx, `document.title === "Plan · empty · Headroom"`)

	// After a change that cannot be planned the plan stays; the change is shown and undone.
	s.send(t, "POST", "/v1/clusters/empty/classes", map[string]any{"name": "month-end", "vms_per_job": "10", "jobs": map[string]any{"min": 3, "max": 3}, "penalty": "1"}, nil)
	// An open page asks every five seconds, and at once when somebody returns to it.
	s.tried(t, "empty", true)
	value[bool](t, ctx, look)
	banner(t, ctx, "could not be planned:")
	until(t, ctx, `/^The change of \d\d:\d\d UTC could not be planned: .*[^.]\. Plan \d+ stays in force\./.test(document.querySelector(".banner").textContent)`)
	until(t, ctx, `document.querySelector("header.top").textContent.includes("holds until it can be planned anew") && document.querySelector("header.top").textContent.includes("Of older inputs")`)
	press(t, ctx, "Show the change")
	until(t, ctx, `document.querySelector("dialog td")?.textContent.includes("class month-end")`)
	press(t, ctx, "Undo it")
	s.tried(t, "empty", false)
	value[bool](t, ctx, look)
	noBanner(t, ctx)
	var classes struct{ Items []struct{ Name string } }
	s.get(t, "/v1/clusters/empty/classes", &classes)
	if len(classes.Items) != 1 {
		t.Errorf("after the change was undone the classes are %+v", classes)
	}

	// When a change arrives, unchanged elements stay the same, and the change is spoken.
	value[bool](t, ctx, `window.row = document.querySelector("table.classes tbody tr"), true`)
	s.put(t, "/v1/clusters/empty/classes/etl", map[string]any{"name": "etl", "vms_per_job": "1", "jobs": map[string]any{"min": 0, "max": 5}, "penalty": "1"}, s.etag(t, "/v1/clusters/empty/classes/etl"))
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("5 jobs run at once on 5 VMs.")`)
	until(t, ctx, `/^Plan \d+: \$1,825 a month at this hour's rate, 2 more jobs served$/.test(document.querySelector("#spoken").textContent)`)
	if !value[bool](t, ctx, `window.row === document.querySelector("table.classes tbody tr")`) {
		t.Error("the row is another element after the change")
	}

	// A cluster deleted elsewhere: the page names the person and the time.
	s.delete(t, "/v1/clusters/empty")
	value[bool](t, ctx, look)
	until(t, ctx, `/^The cluster empty was deleted at \d\d:\d\d UTC by key .+\.Other clusters$/.test(document.querySelector(".banner")?.textContent)`)
	if lead := value[string](t, ctx, `document.querySelector("h1").textContent`); !strings.HasPrefix(lead, "5 jobs") {
		t.Errorf("what was seen of a deleted cluster is %q", lead)
	}
	press(t, ctx, "Other clusters")
	until(t, ctx, `location.pathname === "/overview"`)
}
