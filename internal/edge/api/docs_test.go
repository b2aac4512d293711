package api

import (
	"bytes"
	"encoding/json"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"headroom/openapi"
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
			list, _ := properties(elements(body).Value)
			for _, p := range list {
				if !p.ref.Value.ReadOnly && !strings.Contains(article, "<code>"+p.name+"</code>") {
					t.Errorf("%s lacks the member %s", op.OperationID, p.name)
				}
			}
		}
	}
	for name, ref := range doc.Components.Schemas {
		if link(&openapi3.SchemaRef{Ref: "#/components/schemas/" + name, Value: ref.Value}) != "" {
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

// Members stand in the order they are written in, and choices, ranges and defaults are told.
func TestReferenceReadsWell(t *testing.T) {
	t.Parallel()
	doc, err := loadDocument([]byte(`
openapi: 3.0.3
info: {title: T, version: "1", description: "Short.\n\n## Long words\nOne.\nTwo <b>.\n- a ` + "`b`" + `\n- **c**\n\n| x | y |\n|---|---|\n| 1 | 2 |"}
paths:
  /things:
    post:
      operationId: make
      x-role: operator
      summary: Make <one>
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}, example: {size: 2, zebra: x}}}}
      responses:
        '201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
components:
  schemas:
    Thing:
      type: object
      required: [zebra]
      properties:
        zebra: {type: string, minLength: 3, maxLength: 3, description: "Comes first."}
        size: {type: integer, minimum: 1, maximum: 31622400, default: 3600}
        kind: {type: string, enum: [big, small]}
        when: {type: string, format: date-time, nullable: true}
        parts: {type: array, items: {$ref: '#/components/schemas/Part'}}
        inner: {type: object, properties: {deep: {type: boolean}}}
        version: {type: integer, readOnly: true}
    Part: {type: object, properties: {name: {type: string}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	page, err := renderDocs(doc, "1", docsLimits{})
	if err != nil {
		t.Fatal(err)
	}
	_, article, _ := strings.Cut(string(page), `<article id="make"`)
	article, _, _ = strings.Cut(article, "</article>")
	article = html.UnescapeString(article)
	at := 0
	for _, want := range []string{
		"Make <one>", "Needs the role <strong>operator</strong>",
		"<code>zebra</code>", "required", "Comes first.", "3 characters", "<code>size</code>", "whole number", "default 3600; 1 to 31,622,400",
		"<code>kind</code>", "one of big · small", "<code>when</code>", "time (RFC 3339) or null", "<code>parts</code>", `list of <a href="#type-Part">Part</a>`,
		"<code>inner</code>", "<code>deep</code>", "true or false", "curl -X POST \"$HEADROOM_URL/things\"", `"zebra": "x"`, `"size": 2`, "Answer 201", `"version": 1`,
	} {
		i := strings.Index(article[at:], want)
		if i < 0 {
			t.Fatalf("%q does not follow in\n%s", want, article[at:])
		}
		at += i + len(want)
	}
	if body, _, _ := strings.Cut(article, "<h4>Answers"); strings.Contains(body, "<code>version</code>") {
		t.Error("what the server sets stands among the members to send")
	}
	for _, want := range []string{`<section id="about-long-words"`, "<p>One.</p><p>Two &lt;b&gt;.</p>", "<ul><li>a <code>b</code></li><li><strong>c</strong></li></ul>", "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>"} {
		if !strings.Contains(string(page), want) {
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
	files, err := fs.ReadDir(assets, "assets")
	if err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile(`https?://|@import|url\(`)
	for _, e := range files {
		text, err := fs.ReadFile(assets, "assets/"+e.Name())
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

// Examples that are not the contract's own words are what the contract allows.
func TestExamplesKeepTheContract(t *testing.T) {
	t.Parallel()
	doc, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	known := readExamples(doc)
	checked := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			bodies := map[string]*openapi3.MediaType{}
			if op.RequestBody != nil {
				bodies["request"] = op.RequestBody.Value.Content["application/json"]
			}
			for status, r := range op.Responses.Map() {
				if media := r.Value.Content["application/json"]; media != nil {
					bodies[status] = media
				}
			}
			for which, media := range bodies {
				d := inAnswer
				if which == "request" {
					d = inRequest
				}
				text := known.of(media, d)
				if text == "" {
					continue
				}
				checked++
				var value any
				if err := json.Unmarshal([]byte(text), &value); err != nil {
					t.Errorf("%s %s, %s: %v in\n%s", method, path, which, err, text)
				} else if err := media.Schema.Value.VisitJSON(value); err != nil {
					t.Errorf("%s %s, %s: %v in\n%s", method, path, which, err, text)
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("got %d examples, want most bodies to have one", checked)
	}
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

func TestFoldShort(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":{"b":1,"c":[1,2]},"d":[]}`:                  "{\n  \"a\": {\"b\": 1, \"c\": [1, 2]},\n  \"d\": []\n}",
		`{"a":[{"b":"` + strings.Repeat("x", 70) + `"}]}`: "{\n  \"a\": [\n    {\n      \"b\": \"" + strings.Repeat("x", 70) + "\"\n    }\n  ]\n}",
	} {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(in), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := foldShort(b.String()); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
