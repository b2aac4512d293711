package docs

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/openapi"
)

// Members are listed in the written order, with choices, ranges and defaults.
func TestReferenceReadsWell(t *testing.T) {
	t.Parallel()
	doc, err := Load([]byte(`
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
	page, err := Render(doc, "1", Limits{}, []Problem{{Name: "not-found", Status: 404}})
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

// Examples that are not the contract's own words are valid by the contract.
func TestExamplesKeepTheContract(t *testing.T) {
	t.Parallel()
	doc, err := Load(openapi.Document)
	if err != nil {
		t.Fatal(err)
	}
	contract, err := openapi3.NewLoader().LoadFromData(openapi.Document)
	if err != nil {
		t.Fatal(err)
	}
	known := readExamples(doc)
	checked := 0
	for _, item := range doc.Paths {
		for _, op := range item.Of.Operations() {
			path, method := item.Name, op.Name
			judge := contract.Paths.Value(path).GetOperation(method)
			bodies, judges := map[string]*mediaType{}, map[string]*openapi3.MediaType{}
			if op.Of.RequestBody != nil {
				bodies["request"], judges["request"] = op.Of.RequestBody.Content["application/json"], judge.RequestBody.Value.Content["application/json"]
			}
			for _, r := range op.Of.Responses {
				if media := r.Of.Value.Content["application/json"]; media != nil {
					bodies[r.Name], judges[r.Name] = media, judge.Responses.Value(r.Name).Value.Content["application/json"]
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
				} else if err := judges[which].Schema.Value.VisitJSON(value); err != nil {
					t.Errorf("%s %s, %s: %v in\n%s", method, path, which, err, text)
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("got %d examples, want most bodies to have one", checked)
	}
}

// An address that leads nowhere is refused, wherever it stands.
func TestLoadFollowsAddresses(t *testing.T) {
	t.Parallel()
	for _, place := range []string{
		"paths: {/x: {parameters: [{$ref: '#/components/parameters/Gone'}]}}",
		"paths: {/x: {get: {responses: {'200': {$ref: '#/components/responses/Gone'}}}}}",
		"paths: {/x: {get: {responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/Gone'}}}}}}}}",
		"components: {schemas: {A: {properties: {b: {items: {oneOf: [{$ref: '#/components/schemas/Gone'}]}}}}}}",
	} {
		if _, err := Load([]byte(place)); err == nil || !strings.Contains(err.Error(), "Gone leads nowhere") {
			t.Errorf("%s: got %v", place, err)
		}
	}
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
