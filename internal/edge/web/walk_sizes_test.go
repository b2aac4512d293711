package web_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// widths are those of small and large telephones, a tablet and two desks.
var widths = []int64{320, 390, 720, 1024, 1440}

// walkSizes opens every page of clusters with nothing in them, with 3, 30 and 1,000 classes, and with names that are long
// or are read from right to left, at every width. None is wider than the screen, reports errors, or draws axes around
// nothing. The short form tries the narrowest and the widest, and two clusters, of which the empty one has fewer pages.
func walkSizes(t *testing.T, s *server, browser context.Context) {
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	clusters := []string{"size-bare", "size-empty", "size-3", "size-30", "size-1000", strings.Repeat("w", 63), "size-rtl"}
	sizes := widths
	if !long() {
		clusters, sizes = []string{"size-bare", strings.Repeat("w", 63)}, []int64{widths[0], widths[len(widths)-1]}
	}
	for _, name := range clusters {
		if name == "size-bare" {
			s.send(t, "POST", "/v1/clusters", map[string]any{"name": name}, nil)
			continue
		}
		s.apply(t, name, sized(document, name))
		if name != "size-empty" {
			s.planned(t, name, 1)
		}
	}
	ctx := s.tab(t, browser)
	pages := []string{"plan", "explore", "explore?x=deadline", "commitments", "commitments?tab=buy", "commitments?tab=months", "commitments?tab=wait", "plan/classes", "plan/classes?new=1",
		"plan/classes/import", "operate/batch", "operate", "operate/pool", "plan/history"}
	tried := 0
	for _, page := range []string{"/welcome", "/welcome?way=class", "/settings/clusters?cluster=size-bare",
		"/settings/clusters?cluster=" + strings.Repeat("w", 63), "/settings/prices?cluster=size-bare", "/settings/keys", "/settings/audit",
		"/settings/about"} {
		s.open(t, ctx, page)
		tried += fits(t, ctx, page, sizes)
	}
	for _, name := range clusters {
		at := pages
		if first := firstClass(name); first != "" {
			at = append(append([]string{}, pages...), "plan/classes/"+url.PathEscape(first), "plan/classes/"+url.PathEscape(first)+"?tab=versions")
		}
		if !long() && name == "size-bare" {
			at = []string{"plan", "explore", "commitments", "plan/classes", "operate"}
		}
		for _, page := range at {
			s.open(t, ctx, "/c/"+url.PathEscape(name)+"/"+page)
			tried += fits(t, ctx, fmt.Sprintf("%s of %.20s", page, name), sizes)
			picture(t, ctx, "size-"+strings.NewReplacer("/", "-", "?", "-", "%", "-").Replace(fmt.Sprintf("%.12s-%.30s", name, page)))
		}
	}
	t.Logf("%d sizes of pages", tried)
}

// fits tries widths, and counts them.
func fits(t *testing.T, ctx context.Context, page string, widths []int64) int {
	t.Helper()
	settled(t, ctx)
	for _, width := range widths {
		do(t, ctx, chromedp.EmulateViewport(width, 900))
		for _, what := range value[[]string](t, ctx, painted+".then(() => ["+spilled+", "+disturbed+"].flat())") {
			t.Errorf("%s at %d pixels: %s", page, width, what)
		}
	}
	return len(widths)
}

// sized is a document like that of the demonstration, for a cluster of a name, with as many classes as the name says.
func sized(document map[string]any, name string) map[string]any {
	d := map[string]any{}
	for k, v := range document {
		d[k] = v
	}
	d["cluster"] = map[string]any{"name": name, "currency": "USD", "time_zone": "UTC"}
	of, n := document["classes"].([]any), 3
	_, _ = fmt.Sscanf(name, "size-%d", &n)
	if name == "size-empty" {
		n = 0
	}
	classes := []any{}
	for i := range n {
		class := map[string]any{}
		for k, v := range of[i%len(of)].(map[string]any) {
			class[k] = v
		}
		class["jobs"] = map[string]any{"min": 0, "max": 1 + i%4} // so that the quota is enough
		if class["name"] = fmt.Sprintf("%s-%d", class["name"], i); i == 0 {
			class["name"] = firstClass(name)
		}
		classes = append(classes, class)
	}
	d["classes"] = classes
	return d
}

// firstClass is the first class of a cluster for sizes; "" where there is none.
func firstClass(cluster string) string {
	switch {
	case cluster == "size-bare", cluster == "size-empty":
		return ""
	case cluster == "size-rtl":
		return "עיבוד לילה گزارش شبانه"
	case strings.HasPrefix(cluster, "size-"):
		return "nightly"
	}
	return strings.Repeat("m", 63)
}

// settled waits until a page has asked and drawn all that it does by itself.
func settled(t *testing.T, ctx context.Context) {
	t.Helper()
	until(t, ctx, `document.querySelector("main h1") &&
		!/^(Reading|Packing) …|is being computed/.test(document.querySelector("main h1").textContent) &&
		!document.querySelector("main .waiting, main .computing")`)
	value[bool](t, ctx, `new Promise((then) => setTimeout(() => then(true), 150))`) // what is asked for after what was asked first
}

// disturbed finds what looks like a failure: more than one thing that is wrong, and axes without anything in them.
const disturbed = `(() => {
	const said = [...document.querySelectorAll("main [role=alert], main .banner.error")]
		.filter((e) => !e.querySelector("[role=alert]") && e.innerText.trim() !== "").map((e) => "it is red: " + e.innerText.slice(0, 120));
	const axes = [...document.querySelectorAll("main .axes svg")].filter((e) => !e.querySelector("path.line, rect, circle"));
	return [...said, ...axes.map((e) => "axes around nothing: " + e.outerHTML.slice(0, 120))];
})()`
