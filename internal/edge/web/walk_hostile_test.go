package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hostile lists names that people might give to harm a page, or by chance.
var hostile = []string{
	`<img src=x onerror=alert(1)>`, `=1+1`, "\u202egnp.exe שלום", strings.Repeat("W", 200), `night 🌙👩‍👩‍👧‍👦`, `Same`, `same`, `a/b?c=d#e%41&"'`,
}

// named creates a cluster in which everything with a name has a hostile one, with two plans.
func (s *server) named(t *testing.T, cluster string) {
	t.Helper()
	at := "/v1/clusters/" + cluster
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	of := func(key string, i int) map[string]any { return document[key].([]any)[i].(map[string]any) }
	of("vm_types", 0)["name"] = hostile[0]
	of("prices", 0)["vm_type"] = hostile[0]
	for i := range document["offers"].([]any) {
		of("offers", i)["vm_type"], of("offers", i)["name"] = hostile[0], hostile[i]
	}
	var contracts []any
	for i, name := range hostile[:5] {
		contracts = append(contracts, map[string]any{"name": name, "vm_type": hostile[0], "vms": 4 + 4*i, "price": fmt.Sprintf("0.1%d", i), "billing": []string{"always", "used"}[i%2], "from": "2025-07-01T00:00:00Z", "until": "2028-07-01T00:00:00Z"})
	}
	document["contracts"] = contracts
	for i := range 5 {
		of("profiles", i)["name"] = hostile[i]
	}
	var classes []any
	var measured []map[string]any
	for i, name := range hostile {
		class := map[string]any{}
		for k, v := range of("classes", i%5) {
			class[k] = v
		}
		class["name"], class["profile"] = name, map[string]any{"name": hostile[i%5], "version": 1}
		class["jobs"] = map[string]int{"min": 0, "max": 4 + i}
		if i == 0 {
			class["deadline_s"] = 60 // no number of VMs is enough
		}
		classes = append(classes, class)
		for _, vms := range []float64{4, 16} {
			measured = append(measured, map[string]any{"job": name, "kind": "power", "vms": vms, "seconds": float64(9000+4000*i) * math.Pow(vms, -0.6)})
		}
	}
	document["classes"] = classes
	document["cluster"].(map[string]any)["name"] = cluster
	document["cluster"].(map[string]any)["description"] = hostile[0] + hostile[2]
	s.apply(t, cluster, document)
	s.planned(t, cluster, 1)
	of("prices", 0)["price"] = "0.399"
	of("classes", 3)["penalty"] = "0.11"
	s.put(t, at+"/document", document, s.etag(t, at+"/document"))
	s.planned(t, cluster, 2)
	s.send(t, "POST", at+"/measurements", map[string]any{"measurements": measured}, nil)
	for i, name := range hostile {
		s.send(t, "POST", "/v1/keys", map[string]any{"name": name, "role": "viewer"}, nil)
		s.send(t, "PUT", at+"/nodes/"+url.PathEscape(name), map[string]any{"type": hostile[i%5], "cores": 4, "slots": map[string]int{"map": 2, "reduce": 1}}, nil)
		s.send(t, "POST", at+"/jobs", map[string]any{"name": name, "maps": 5}, nil)
		s.beat(t, cluster, url.PathEscape(name), 1, []int{}, 0.5)
	}
}

// walkHostile visits every page that shows names. They are shown unchanged, stay in their place at every width, and
// start nothing in files. The short form judges the colours of three of them.
func walkHostile(t *testing.T, s *server, browser context.Context) {
	s.named(t, "named")
	ctx := s.tab(t, browser)
	scenario := url.Values{"base": {"2"}, "ch": {"deadline:" + url.PathEscape(hostile[2]) + ":x1.5", "contract:" + url.PathEscape(hostile[3]) + ":=9"}}
	for i, letter := range []string{"A", "B", "C"} {
		scenario.Add("pin", letter+":"+url.PathEscape(hostile[i])+":penalty:"+url.PathEscape(hostile[i])+":x0")
	}
	all := strings.Join(hostile, "\n")
	for _, at := range []struct{ name, path, ready, names string }{
		{"now", "/c/named/now", `document.querySelectorAll("table.classes tbody tr").length >= 8 && document.querySelector(".vmbar")`, all},
		{"what-if", "/c/named/what-if?" + scenario.Encode(), `document.querySelector("#answer") && document.querySelectorAll(".pin").length === 4`, strings.Join(hostile[:4], "\n")},
		{"what-if-one", "/c/named/what-if?base=2&ch=" + url.QueryEscape("deadline:"+url.PathEscape(hostile[2])+":x1.5"), `document.querySelector("#answer") && document.querySelector("h1").textContent.startsWith("Giving ")`, hostile[2]},
		{"curves", "/c/named/curves?n=9&x=" + url.QueryEscape("contract:"+hostile[3]) + "&from=0&to=20", `document.querySelector(".axes path.line")`, hostile[3]},
		{"grid", "/c/named/curves?n=4&yn=3&from=50&to=150&yfrom=0&yto=20&x=" + url.QueryEscape("deadline:"+hostile[2]) + "&y=" + url.QueryEscape("contract:"+hostile[0]), `document.querySelectorAll(".heat td[data-at]").length === 12`, hostile[0] + "\n" + hostile[2]},
		{"contracts", "/c/named/contracts", `document.querySelectorAll("main figure .axes svg").length >= 1`, strings.Join(hostile[:5], "\n")},
		{"classes", "/c/named/classes", `document.querySelectorAll("table.data tbody tr").length === 8`, all},
		{"class", "/c/named/classes/" + url.PathEscape(hostile[3]), `document.querySelector("#gamma")`, hostile[3]},
		{"class-slash", "/c/named/classes/" + url.PathEscape(hostile[7]), `document.querySelector("#gamma")`, hostile[7]},
		{"versions", "/c/named/classes/" + url.PathEscape(hostile[2]) + "?tab=versions", `document.querySelector('[aria-label="Versions"] select')`, hostile[2]},
		{"batch", "/c/named/batch", `document.querySelectorAll(".gantt rect.job").length >= 8`, all},
		{"live", "/c/named/live", `document.querySelectorAll("[data-node]").length === 8 && document.querySelectorAll("#log").length === 1`, all},
		{"history", "/c/named/history?pick=2", `document.querySelectorAll("table.data tbody tr").length >= 2`, ""},
		{"difference", "/c/named/history/1..2", `document.querySelector(".bridge svg") && document.querySelector("#inputs")`, hostile[3]},
		{"keys", "/settings/keys", `document.querySelectorAll("table.data tbody tr").length >= 8`, all},
		{"clusters", "/settings/clusters?cluster=named", `document.querySelector("#field-description")`, ""},
		{"prices", "/settings/prices?cluster=named", `document.querySelectorAll("table.data tbody tr").length >= 1`, hostile[0]},
		{"audit", "/settings/audit?cluster=named", `document.querySelectorAll("table.data tbody tr").length >= 4`, ""},
	} {
		s.open(t, ctx, at.path)
		until(t, ctx, at.ready)
		seen := value[string](t, ctx, `document.body.textContent + [...document.querySelectorAll("input, option")].map((e) => e.value).join(" ")`)
		for _, name := range strings.Split(at.names, "\n") {
			if !strings.Contains(seen, name) {
				t.Errorf("%s does not show %q as it is called", at.name, name)
			}
		}
		if n := value[int](t, ctx, `document.querySelectorAll("main img, main script, main b").length`); n > 0 {
			t.Errorf("%s: a name has become markup", at.name)
		}
		for _, text := range value[[]string](t, ctx, fmt.Sprintf(turning, hostile[2])) {
			t.Errorf("%s: a name turns around what stands after it: %q", at.name, text)
		}
		if long() || slices.Contains([]string{"now", "contracts", "live"}, at.name) {
			calmInTheDark(t, ctx, at.name+" with hostile names")
		}
		looks(t, ctx, "hostile-"+at.name)
	}

	// Saved files: tables of the service and of the page, and pictures.
	for _, path := range []string{"/v1/clusters/named/plans/2", "/v1/clusters/named/plans", "/v1/clusters/named/classes", "/v1/clusters/named/contracts", "/v1/clusters/named/prices", "/v1/clusters/named/jobs", "/v1/clusters/named/decisions", "/v1/keys", "/v1/audit"} {
		inert(t, path, s.text(t, http.MethodGet, path+"?format=csv", ""))
		sheet(t, path, s.text(t, http.MethodGet, path+"?format=xlsx", ""))
	}
	s.open(t, ctx, "/c/named/contracts")
	until(t, ctx, `document.querySelectorAll("main figure .axes svg").length >= 1`)
	value[bool](t, ctx, saved)
	for _, button := range []string{"CSV", "SVG"} {
		value[bool](t, ctx, `window.saved = "", true`)
		press(t, ctx, button)
		until(t, ctx, `window.saved !== ""`)
		if button == "CSV" {
			inert(t, "the page's table of contracts", value[string](t, ctx, `window.saved`))
		} else if odd := value[int](t, ctx, `new DOMParser().parseFromString(window.saved, "image/svg+xml").querySelectorAll("parsererror, script, img, foreignObject").length`); odd > 0 {
			t.Errorf("the picture is no drawing alone: %s", value[string](t, ctx, `window.saved`))
		}
	}
	s.open(t, ctx, "/c/named/what-if?"+scenario.Encode())
	until(t, ctx, `document.querySelector("#answer")`)
	value[bool](t, ctx, saved)
	press(t, ctx, "Export ▾")
	press(t, ctx, "CSV")
	until(t, ctx, `window.saved !== ""`)
	inert(t, "the page's table of a scenario", value[string](t, ctx, `window.saved`))
}

// turning finds texts in which a name that is written from right to left stands beside our words without isolation of
// its direction.
const turning = `((name) => {
	const found = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const at = n.data.indexOf(name);
		if (at < 0 || n.parentElement.closest("bdi, option, text, textarea") || n.data.lastIndexOf("\u2068", at) > n.data.lastIndexOf("\u2069", at)) continue;
		if (n.data.slice(at + name.length).trim() || n.nextSibling?.textContent.trim()) found.push(n.parentElement.tagName + " " + n.data.slice(0, 120));
	}
	return found;
})(%q)`

// inert checks that a spreadsheet takes no cell of a table for a formula.
func inert(t *testing.T, of, text string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", of, len(rows), err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("%s: a spreadsheet takes %q for a formula", of, cell)
			}
		}
	}
}

// sheet checks that a spreadsheet has no formula in it.
func sheet(t *testing.T, of, text string) {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader([]byte(text)), int64(len(text)))
	if err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	found := false
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found = found || strings.HasPrefix(f.Name, "xl/worksheets/")
		if strings.Contains(string(body), "<f>") || strings.Contains(string(body), "<f ") {
			t.Errorf("%s: %s has a formula", of, f.Name)
		}
	}
	if !found {
		t.Errorf("%s: there is no sheet in it", of)
	}
}
