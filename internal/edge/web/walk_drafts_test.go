package web_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.org/headroom/internal/test/pgtest"
)

// draft is a form with a field, and what is typed into it.
type draft struct {
	form, path string
	reveal     string // a button that shows the form; "" where it is there
	field      string // a selector
	text       string
	address    bool   // the address keeps it, so that nobody is asked on leaving
	other      string // a change of the same thing by somebody else: the path
	change     map[string]any
	before     func(t *testing.T, s *server) // makes the form appear
}

// drafts are all forms of the page in which something can be typed and lost.
func drafts(price string) []draft {
	long := "/c/demo/explore?x=" + strings.Repeat("a", 4000) // too long for a link
	demo := "/v1/clusters/demo"
	return []draft{
		{form: "a class", path: "/c/demo/plan/classes/nightly-etl", field: "#field-class-deadline-s", text: "50 min",
			other: demo + "/classes/nightly-etl", change: map[string]any{"deadline_s": 2800}},
		{form: "settings of a cluster", path: "/settings/clusters?cluster=demo", field: "#one ~ form #field-description", text: "typed",
			other: demo, change: map[string]any{"description": "by somebody else"}},
		{form: "a price", path: "/settings/prices?cluster=demo", reveal: "[aria-label^='Change the price']", field: "#field-price", text: "0.4",
			other: demo + "/prices/" + price, change: map[string]any{"price": "0.41"}},
		{form: "a new class", path: "/c/demo/plan/classes?new=1", field: "#field-class-name", text: "typed"},
		{form: "a column of classes", path: "/c/demo/plan/classes", reveal: "Change a column", field: "[placeholder^='+10 %']", text: "x1.3"},
		{form: "classes to change", path: "/c/demo/plan/classes", reveal: "Change a column", field: "[aria-label='Pick dashboards']", text: "on"},
		{form: "a new cluster", path: "/settings/clusters", field: "[aria-labelledby=make] #field-name", text: "typed"},
		{form: "a new price", path: "/settings/prices?cluster=demo", reveal: "Add a price", field: "#field-price", text: "0.123"},
		{form: "a key", path: "/settings/keys", field: "#field-name", text: "typed"},
		{form: "the role of a key", path: "/settings/keys", field: "#field-role", text: "operator"},
		{form: "an offer", path: "/c/demo/commitments?tab=buy", reveal: "Add an offer", field: "#field-name", text: "typed"},
		{form: "a problem", path: "/welcome?way=paste", field: "#problem", text: `{"typed": 1}`},
		{form: "one class", path: "/welcome?way=class", field: "#field-figures-map-tasks", text: "77"},
		{form: "a batch", path: "/c/demo/operate/batch", reveal: "Bring a batch", field: "#batch-text", text: "typed"},
		{form: "a scenario's name", path: long, reveal: "Copy link", field: "#scenario", text: "typed"},
		{form: "a policy", path: "/c/demo/operate", field: "[aria-labelledby=policy] select", text: "fair"},
		{form: "a range", path: "/c/demo/explore?x=deadline", field: "form .inline input", text: "33"},
		{form: "jobs without a class", path: "/c/demo/plan/classes/import", field: "[aria-label='Make a class of dashboards']", text: "off", before: withoutAClass},
		{form: "machines", path: "/c/demo/operate/batch", field: "#machines", text: "13", address: true},
		{form: "plans to compare", path: "/c/demo/plan/history", field: "main input[type=checkbox]", text: "on", address: true},
	}
}

// withoutAClass leaves runs of a job that no class has, on machines whose processors are known.
func withoutAClass(t *testing.T, s *server) {
	t.Helper()
	const class, machine = "/v1/clusters/demo/classes/dashboards", "/v1/clusters/demo/vm-types/m-8cpu-32gb"
	s.text(t, http.MethodDelete, class, "", "If-Match", s.etag(t, class))
	var vm map[string]any
	s.get(t, machine, &vm)
	vm["vcpu"] = 8
	s.put(t, machine, vm, s.etag(t, machine))
}

// walkDrafts types something into every form, and leaves it, loads its page anew, signs out and in, and is slower than
// somebody else: what was typed is there each time.
func walkDrafts(t *testing.T, _ *server, browser context.Context) {
	s := start(t, freeAddress(t), pgtest.Database(t), "--demo")
	var prices struct{ Items []struct{ ID string } }
	s.get(t, "/v1/clusters/demo/prices", &prices)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/demo/operate")
	until(t, ctx, `document.querySelector("h1").textContent.includes("alive")`)
	saved, all := 0, drafts(prices.Items[0].ID)
	if !long() { // two with versions, of which one is behind a button, one that is ticked, and one that the address keeps
		all = slices.Concat(all[:1], all[2:3], all[5:6], all[18:19])
	}
	for _, d := range all {
		if d.before != nil {
			d.before(t, s)
		}
		if t.Run(d.form, func(t *testing.T) { isKept(t, ctx, s, d) }) {
			saved++
		}
	}
	t.Logf("%d forms of %d keep what was typed", saved, len(all))
}

// isKept tries one form.
func isKept(t *testing.T, ctx context.Context, s *server, d draft) {
	value[bool](t, ctx, `sessionStorage.clear(), true`)
	reveal(t, ctx, s, d.path, d)
	fill(t, ctx, d)
	leave(t, ctx, d)
	at := d.path
	if d.address {
		do(t, ctx, chromedp.NavigateBack())
		until(t, ctx, `location.pathname === `+fmt.Sprintf("%q", strings.SplitN(d.path, "?", 2)[0]))
		at = value[string](t, ctx, "location.pathname + location.search")
	}
	reveal(t, ctx, s, at, d)
	stands(t, ctx, d, "leaving, and loading the page anew")
	if d.other != "" {
		conflict(t, ctx, s, d)
	}
	s.open(t, ctx, "/settings/about")
	press(t, ctx, "Sign out")
	until(t, ctx, `location.pathname === "/sign-in"`)
	becomes(t, ctx, s.key)
	reveal(t, ctx, s, at, d)
	stands(t, ctx, d, "signing out and in")
}

// reveal opens a page, and shows the form.
func reveal(t *testing.T, ctx context.Context, s *server, path string, d draft) {
	t.Helper()
	s.open(t, ctx, path)
	there := fmt.Sprintf(`document.querySelector(%q)`, d.field)
	if d.reveal != "" && !value[bool](t, ctx, `!!`+there) {
		button := fmt.Sprintf(`[...document.querySelectorAll("main button")].find((b) => b.textContent.trim() === %q && !b.disabled)`, d.reveal)
		if strings.HasPrefix(d.reveal, "[") {
			button = fmt.Sprintf(`document.querySelector(%q)`, d.reveal)
		}
		until(t, ctx, there+` || `+button+`?.click()`)
	}
	until(t, ctx, there)
}

// fill types into the field as people do, letter by letter or by a click.
func fill(t *testing.T, ctx context.Context, d draft) {
	t.Helper()
	value[bool](t, ctx, fmt.Sprintf(`((e, text) => {
		if (e.type === "checkbox") { if (e.checked !== (text === "on")) e.click(); return true; }
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value").set.call(e, text);
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})(document.querySelector(%q), %q)`, d.field, d.text))
	stands(t, ctx, d, "typing")
}

// stands checks that the field has what was typed.
func stands(t *testing.T, ctx context.Context, d draft, after string) {
	t.Helper()
	value[bool](t, ctx, painted)
	read := `((e) => e.type === "checkbox" ? (e.checked ? "on" : "off") : e.value)`
	if got := value[string](t, ctx, read+fmt.Sprintf(`(document.querySelector(%q))`, d.field)); got != d.text {
		t.Errorf("%s: after %s there is %q, want %q", d.form, after, got, d.text)
	}
}

// leave goes to another page. Where something would be lost without drafts, a question comes first, also from the browser
// when the tab is closed.
func leave(t *testing.T, ctx context.Context, d draft) {
	t.Helper()
	asks := value[bool](t, ctx, `!dispatchEvent(new Event("beforeunload", {cancelable: true}))`)
	if asks == d.address {
		t.Errorf("%s: closing the tab asks: %v", d.form, asks)
	}
	value[bool](t, ctx, `[...document.querySelectorAll("nav a")].find((a) => a.pathname !== location.pathname).click(), true`)
	if !d.address {
		until(t, ctx, `[...document.querySelectorAll("dialog h2")].some((h) => h.textContent === "What you typed is not saved")`)
		value[bool](t, ctx, `[...document.querySelectorAll("dialog button")].find((b) => b.textContent === "Leave and keep it").click(), true`)
	}
	until(t, ctx, fmt.Sprintf(`location.pathname !== %q`, strings.SplitN(d.path, "?", 2)[0]))
}

// conflict has somebody else change the thing: saving shows both versions in view, and keeps what was typed.
func conflict(t *testing.T, ctx context.Context, s *server, d draft) {
	t.Helper()
	var now map[string]any
	s.get(t, d.other, &now)
	for k, v := range d.change {
		now[k] = v
	}
	s.write(t, http.MethodPut, d.other, now, "If-Match", s.etag(t, d.other))
	value[bool](t, ctx, fmt.Sprintf(`document.querySelector(%q).form.requestSubmit(), true`, d.field))
	until(t, ctx, `((a, at) => a && a.innerText.includes("after you opened it") && a.querySelector("table") &&
		at.top >= 0 && at.bottom <= innerHeight)(
		...[document.querySelector("form [role=alert]")].flatMap((a) => [a, a?.getBoundingClientRect()]))`)
	stands(t, ctx, d, "a conflict")
	picture(t, ctx, "conflict-"+strings.ReplaceAll(d.form, " ", "-"))
}
