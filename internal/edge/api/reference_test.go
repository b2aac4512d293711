package api

import (
	"bytes"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/edge/api/docs"
	"example.org/headroom/openapi"
)

func TestReferenceIsWhole(t *testing.T) {
	t.Parallel()
	f := newFront(t, func(c *Config) { c.SolvesPerSecond, c.Version = 17, "1.2.3-test" })
	w := f.do("GET", "/docs", "")
	wantStatus(t, w, http.StatusOK)
	page := w.Body.String()
	doc, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"1.2.3-test", "17 solves", "10,000 classes"}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			wanted = append(wanted, `<article id="`+op.OperationID+`"`, html.EscapeString(op.Summary))
			_, article, _ := strings.Cut(page, `<article id="`+op.OperationID+`"`)
			article, _, _ = strings.Cut(article, "</article>")
			for _, want := range []string{method, "<code>" + html.EscapeString(path) + "</code>", "curl "} {
				if !strings.Contains(article, want) {
					t.Errorf("%s lacks %s", op.OperationID, want)
				}
			}
			for _, p := range slices.Concat(item.Parameters, op.Parameters) {
				if !strings.Contains(article, "<code>"+p.Value.Name+"</code>") {
					t.Errorf("%s lacks the parameter %s", op.OperationID, p.Value.Name)
				}
			}
			if op.RequestBody == nil {
				continue
			}
			body := op.RequestBody.Value.Content["application/json"].Schema
			for body.Ref == "" && body.Value.Items != nil {
				body = body.Value.Items
			}
			for name, member := range membersIn(body.Value) {
				if !member.ReadOnly && !strings.Contains(article, "<code>"+name+"</code>") {
					t.Errorf("%s lacks the member %s", op.OperationID, name)
				}
			}
		}
	}
	for name, ref := range doc.Components.Schemas {
		page := ref.Value.Properties["items"] != nil && ref.Value.Properties["next_cursor"] != nil
		if ref.Value.Type.Is("object") && !page || len(ref.Value.AllOf) > 0 {
			wanted = append(wanted, `<article id="type-`+name+`"`)
		}
	}
	for _, k := range problemKinds {
		wanted = append(wanted, `id="problem-`+k.name+`"`)
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// The pages keep the policy they are sent with: no script, style or handler inside them, nothing from
// elsewhere; and no link leads nowhere.
func TestPagesKeepTheirPolicy(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	paths := []string{"/docs", "/sign-in"}
	for _, k := range problemKinds {
		paths = append(paths, "/problems/"+k.name)
	}
	inline := regexp.MustCompile(`(?i)<script(>|[^>]*[^r]>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:`)
	loaded := regexp.MustCompile(`(?:src|href)="([^"#]+)(#[^"]*)?"`)
	anchors := map[string]bool{}
	for _, id := range regexp.MustCompile(`\sid="([^"]+)"`).FindAllStringSubmatch(f.do("GET", "/docs", "").Body.String(), -1) {
		if anchors[id[1]] {
			t.Errorf("the id %s stands twice in the reference", id[1])
		}
		anchors[id[1]] = true
	}
	for _, path := range paths {
		w := f.do("GET", path, "")
		wantStatus(t, w, http.StatusOK)
		page := w.Body.String()
		if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
			t.Errorf("%s: got content type %q", path, got)
		}
		if found := inline.FindString(page); found != "" {
			t.Errorf("%s has something inline: %s", path, found)
		}
		for _, m := range loaded.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(m[1], "/") || strings.HasPrefix(m[1], "//") {
				t.Errorf("%s leads elsewhere: %s", path, m[1])
			} else if f.do("GET", m[1], "").Code != http.StatusOK {
				t.Errorf("%s leads to %s, which is not there", path, m[1])
			}
			if m[2] != "" && !anchors[m[2][1:]] {
				t.Errorf("%s leads to %s%s, which is not there", path, m[1], m[2])
			}
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(f.do("GET", "/docs", "").Body.String(), -1) {
		if !anchors[m[1]] {
			t.Errorf("the reference leads to #%s, which is not there", m[1])
		}
	}
	files, err := fs.ReadDir(docs.Assets, "assets")
	if err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile(`https?://|@import|url\(`)
	for _, e := range files {
		text, err := fs.ReadFile(docs.Assets, "assets/"+e.Name())
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte(`xmlns="http://www.w3.org/2000/svg"`), nil)
		text = bytes.ReplaceAll(text, []byte("http://127.0.0.1:8080"), nil) // in an example
		if found := outside.Find(text); found != nil {
			t.Errorf("assets/%s has an outside address: %s", e.Name(), found)
		}
	}
}

func TestEveryProblemIsExplained(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	var names []string
	for _, k := range problemKinds {
		names = append(names, k.name)
		page := f.do("GET", "/problems/"+k.name, "").Body.String()
		help := problemHelps[k.name]
		for _, want := range []string{k.title, help.Meaning, help.Cure} {
			if want == "" || !strings.Contains(page, html.EscapeString(want)) && !strings.Contains(html.UnescapeString(page), want) {
				t.Errorf("the page of %s lacks %q", k.name, want)
			}
		}
	}
	explained := slices.Sorted(maps.Keys(problemHelps))
	slices.Sort(names)
	if !slices.Equal(names, explained) {
		t.Errorf("explained are %v, the kinds are %v", explained, names)
	}
	wantStatus(t, f.do("GET", "/problems/nothing", ""), http.StatusNotFound)
}

func TestFiles(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	for path, want := range map[string]string{
		"/assets/style.css": "text/css; charset=utf-8", "/assets/docs.js": "text/javascript; charset=utf-8", "/assets/sign-in.js": "text/javascript; charset=utf-8",
		"/assets/icon.svg": "image/svg+xml", "/openapi.yaml": "application/yaml",
	} {
		w := f.do("GET", path, "")
		wantStatus(t, w, http.StatusOK)
		if got := w.Header().Get("Content-Type"); got != want {
			t.Errorf("%s: got content type %q, want %q", path, got, want)
		}
		if w.Header().Get("ETag") == "" {
			t.Errorf("%s has no ETag", path)
		}
	}
	if got := f.do("GET", "/openapi.yaml", "").Body.Bytes(); !bytes.Equal(got, openapi.Document) {
		t.Error("/openapi.yaml is not the contract")
	}
	wantStatus(t, f.do("GET", "/assets/nothing.css", ""), http.StatusNotFound)
}
