package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/edge/web"
	"example.org/headroom/openapi"
)

// sources returns the source files of the page, by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir("ui/src", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The compiler refuses operations that the contract lacks; this test finds addresses written by hand.
func TestThePageAsksForWhatTheContractHas(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Document)
	if err != nil {
		t.Fatal(err)
	}
	literal := regexp.MustCompile("[\"`](?:(GET|POST|PUT|DELETE|PATCH) )?(/v1/[^\"`?]*)")
	blank := regexp.MustCompile(`\$?\{[^}]*\}+`)
	known := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			known[method+" "+blank.ReplaceAllString(path, "*")] = true
		}
	}
	found := 0
	for name, text := range sources(t) {
		if name == "ui/src/api/contract.ts" {
			continue
		}
		for _, m := range literal.FindAllStringSubmatch(text, -1) {
			found++
			method := m[1]
			if method == "" {
				method = "GET"
			}
			if path := blank.ReplaceAllString(m[2], "*"); !known[method+" "+path] {
				t.Errorf("%s asks for %s %s, which openapi.yaml does not have", name, method, m[2])
			}
		}
	}
	if found < 3 {
		t.Errorf("%d requests found in the page's sources: the test looks at nothing", found)
	}
}

// Styles as text and markup from data would need a weaker policy of content.
func TestNoMarkupIsMadeOfData(t *testing.T) {
	for name, text := range sources(t) {
		for _, word := range []string{"dangerouslySetInnerHTML", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=\"", "new Function"} {
			if strings.Contains(text, word) && !strings.HasSuffix(name, "contract.ts") {
				t.Errorf("%s uses %s", name, word)
			}
		}
	}
}

// The page first loads what its own scripts import directly; the rest comes when it is needed.
func TestTheBuiltPageIsLight(t *testing.T) {
	weights, texts := map[string]int{}, map[string]string{}
	entries, err := os.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".js" && ext != ".css" {
			continue
		}
		body, err := os.ReadFile("dist/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(body)
		_ = z.Close()
		weights[e.Name()], texts[e.Name()] = zipped.Len(), string(body)
		all += zipped.Len()
	}
	first := map[string]bool{}
	var load func(string)
	load = func(name string) {
		if first[name] {
			return
		}
		first[name] = true
		for _, m := range regexp.MustCompile(`(?:from|import)"\./([^"]+)"`).FindAllStringSubmatch(texts[name], -1) {
			load(m[1])
		}
	}
	atFirst := 0
	for name := range weights {
		if strings.HasPrefix(name, "main-") {
			load(name)
		}
	}
	for name := range first {
		atFirst += weights[name]
	}
	t.Logf("first load %d bytes of gzip, all %d", atFirst, all)
	if len(first) < 2 {
		t.Fatal("the page is not built: make test builds it first")
	}
	if len(first) > 2 { // each wave of six costs a slow line its time there and back
		t.Errorf("the first load takes %d files, want a script and a style sheet", len(first))
	}
	if atFirst > 55_000 || all > 250_000 {
		t.Errorf("first load %d bytes of gzip (at most 55,000), all %d (at most 250,000)", atFirst, all)
	}
	for name, weight := range weights {
		if limit := 8_000; !first[name] && !strings.HasPrefix(name, "chunk-") && weight > limit {
			t.Errorf("%s weighs %d bytes of gzip (at most %d)", name, weight, limit)
		}
	}
}

func TestAddressesOfThePage(t *testing.T) {
	page := web.New()
	for path, want := range map[string]bool{"/": true, "/c/x/now": true, "/c/x/plan/classes": true, "/overview": true, "/settings/keys": true, "/welcome": true, "/v1/clusters": false, "/ui/none.js": false, "/cc": false} {
		w := httptest.NewRecorder()
		if got := page.Serve(w, httptest.NewRequest(http.MethodGet, path, nil)); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
		if want && !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self';") {
			t.Errorf("%s has the policy %q", path, w.Header().Get("Content-Security-Policy"))
		}
	}
	w := httptest.NewRecorder()
	if page.Serve(w, httptest.NewRequest(http.MethodPost, "/", nil)) {
		t.Error("a POST is no request for the page")
	}
	page.Serve(w, httptest.NewRequest(http.MethodGet, "/", nil))
	for _, file := range regexp.MustCompile(`/ui/[^"]+`).FindAllString(w.Body.String(), -1) {
		r := httptest.NewRequest(http.MethodGet, file, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		if !page.Serve(w, r) || w.Header().Get("Content-Encoding") != "gzip" || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", file, w.Code, w.Header())
		}
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		again := httptest.NewRecorder()
		if page.Serve(again, r); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d", file, again.Code)
		}
	}
}

// colours returns the colour tokens of a theme.
func colours(t *testing.T, theme string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("ui/src/style/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), theme+" {")
	if !found {
		t.Fatalf("tokens.css has no %s", theme)
	}
	block, _, _ = strings.Cut(block, "}")
	tokens := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
		tokens[m[1]] = m[2]
	}
	return tokens
}

// luminance returns the relative luminance of WCAG 2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestColoursCanBeToldApart(t *testing.T) {
	const text, graphic = 4.5, 3.0
	type pair struct {
		front, back string
		least       float64
	}
	pairs := []pair{
		{front: "text", back: "page", least: text}, {front: "text", back: "surface", least: text}, {front: "text", back: "sunken", least: text}, {front: "muted", back: "page", least: text}, {front: "muted", back: "surface", least: text},
		{front: "accent", back: "page", least: text}, {front: "accent", back: "surface", least: text}, {front: "on-accent", back: "accent", least: text},
		{front: "on-reserved", back: "reserved", least: text}, {front: "on-demand", back: "demand", least: text}, {front: "on-refused", back: "refused", least: text},
		{front: "good", back: "surface", least: text}, {front: "good", back: "page", least: text}, {front: "on-warning", back: "warning", least: text}, {front: "on-bad", back: "bad", least: text}, {front: "on-notice", back: "notice", least: text}, {front: "on-error", back: "error", least: text},
		{front: "control", back: "surface", least: graphic}, {front: "control", back: "page", least: graphic}, {front: "focus", back: "surface", least: graphic}, {front: "focus", back: "page", least: graphic},
		{front: "reserved", back: "surface", least: graphic}, {front: "demand", back: "surface", least: graphic}, {front: "refused", back: "surface", least: graphic}, {front: "idle", back: "surface", least: graphic}, {front: "fifth", back: "surface", least: graphic}, {front: "bad", back: "surface", least: graphic},
	}
	for step := range 7 {
		pairs = append(pairs, pair{front: fmt.Sprintf("on-heat-%d", step+1), back: fmt.Sprintf("heat-%d", step+1), least: text})
	}
	for _, theme := range []string{":root", `[data-theme="dark"]`} {
		tokens := colours(t, theme)
		for _, p := range pairs {
			if tokens[p.front] == "" || tokens[p.back] == "" {
				t.Errorf("%s lacks %s or %s", theme, p.front, p.back)
				continue
			}
			a, b := luminance(t, tokens[p.front]), luminance(t, tokens[p.back])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < p.least {
				t.Errorf("%s: %s on %s has a contrast of %s, want %g", theme, p.front, p.back, fmt.Sprintf("%.2f", ratio), p.least)
			}
		}
	}
}
