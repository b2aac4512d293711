package docs

import (
	"strings"
	"testing"
)

// Pages show what they are given as text, and leave no place empty.
func TestPagesShowTextAsText(t *testing.T) {
	t.Parallel()
	const hostile = `<script>"a" & 'b'{{title}}`
	const shown = `&lt;script&gt;&#34;a&#34; &amp; &#39;b&#39;{{title}}`
	problem, err := ProblemPage(Problem{Name: hostile, Status: 404, Title: hostile, Meaning: hostile, Cure: hostile})
	if err != nil {
		t.Fatal(err)
	}
	signIn, err := SignInPage(true, hostile)
	if err != nil {
		t.Fatal(err)
	}
	search, _, err := Guide(hostile, "about", "search", hostile)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := docsPage{Version: hostile, Chapters: []docsChapter{{hostile, hostile, ""}}, Problems: []Problem{{hostile, 1, hostile, hostile, hostile}},
		Groups: []docsGroup{{ID: hostile, Name: hostile, Operations: []docsOperation{{
			ID: hostile, Method: hostile, Path: hostile, Summary: hostile, Role: hostile, Curl: hostile, BodyFile: hostile, Example: hostile, ExampleStatus: hostile,
			Parameters: []docsMember{{Name: hostile, Type: []docsWord{{hostile, hostile}}, Notes: []string{hostile}}},
			Body:       docsBody{Type: []docsWord{{hostile, ""}}, Example: hostile}, Refusals: []docsWord{{hostile, hostile}},
			Answers: []docsAnswer{{Status: hostile, Formats: []string{hostile}, Headers: []string{hostile}}}}}}},
		Types: []docsType{{Name: hostile, Type: []docsWord{{hostile, hostile}}, Notes: []string{hostile}, Example: hostile}}}.page()
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]struct {
		text  []byte
		times int
	}{"problem": {problem, 6}, "sign-in": {signIn, 1}, "search": {search, 2}, "reference": {reference, 53}} {
		text := string(page.text)
		if strings.Contains(text, "<script>") || strings.Count(text, shown) != page.times {
			t.Errorf("%s: the text stands there %d times, want %d, or as HTML", name, strings.Count(text, shown), page.times)
		}
		if left := strings.ReplaceAll(text, shown, ""); strings.Contains(left, "{{") {
			t.Errorf("%s: a place is empty: %s", name, left[strings.Index(left, "{{"):][:20])
		}
	}
}
