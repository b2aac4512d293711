package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const decisions = "../docs/decisions"

// The documents stay short enough to be read at once.
const (
	architectureLines, architectureWidth = 250, 160
	readmeLines, readmeWords             = 150, 900
	pictureBytes                         = 150_000
	decisionLines                        = 45
	conceptWords                         = 400
	pageSentence, pageMean               = 30, 15 // words of a sentence, at most and in the mean
)

var (
	decisionName = regexp.MustCompile(`^(\d{2,3})-[a-z0-9-]+\.md$`)
	shownBy      = regexp.MustCompile("^- `((?:Test|Fuzz|Benchmark|walk)[A-Z]\\w*)`$")
	relation     = regexp.MustCompile(`(?i)\b(superseded by|supersedes|extended by|extends|generalised by|generalises) \[(\d{2,3})\]`)
	codeSpan     = regexp.MustCompile("`([^`\n]+)`")
	ourPath      = regexp.MustCompile(`^(?:(?:cmd|deploy|docs|internal|migrations|openapi|scripts|tools)/[\w./-]+)$`)
	roomName     = regexp.MustCompile(`^(?:core|slots|data|ask|service|edge|test)/[a-z]+(?:/[a-z]+)?$`)
	goFile       = regexp.MustCompile(`^[\w*]+\.go$`)
)

// repositoryFiles are the Go files of the repository and the names of its test functions.
type repositoryFiles struct {
	paths []string
	tests map[string]bool
}

func readRepository(t *testing.T) repositoryFiles {
	t.Helper()
	r := repositoryFiles{tests: map[string]bool{}}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (base == "node_modules" || base == "testdata" || strings.HasPrefix(base, ".") && base != ".."):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(base, ".go"):
			return nil
		}
		r.paths = append(r.paths, filepath.ToSlash(name))
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				r.tests[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sections splits a page at its headings of the second level.
func sections(page string) (headings []string, bodies map[string]string) {
	bodies = map[string]string{}
	for i, part := range strings.Split("\n"+page, "\n## ") {
		if i == 0 {
			continue
		}
		heading, body, _ := strings.Cut(part, "\n")
		headings = append(headings, heading)
		bodies[heading] = strings.TrimSpace(body)
	}
	return headings, bodies
}

// decisionComplaints returns the faults of a decision's page.
func decisionComplaints(name, page string, tests map[string]bool) (found []string) {
	m := decisionName.FindStringSubmatch(name)
	if m == nil {
		return []string{"the name is not NN-short-name.md"}
	}
	if title := "# " + strings.TrimPrefix(m[1], "0") + ". "; !strings.HasPrefix(page, title) {
		found = append(found, fmt.Sprintf("the title does not begin with %q", title))
	}
	if n := strings.Count(page, "\n"); n > decisionLines {
		found = append(found, fmt.Sprintf("%d lines; %d are enough", n, decisionLines))
	}
	headings, bodies := sections(page)
	if want := []string{"Context", "Decision", "Consequence", "Shown by"}; !slices.Equal(headings, want) {
		found = append(found, fmt.Sprintf("the headings are %q, want %q", headings, want))
	}
	for heading, body := range bodies {
		if body == "" {
			found = append(found, heading+" is empty")
		}
	}
	if shown := bodies["Shown by"]; shown != "" && shown != "Nothing yet." {
		for line := range strings.SplitSeq(shown, "\n") {
			if m := shownBy.FindStringSubmatch(line); m == nil {
				found = append(found, fmt.Sprintf("%q names no test; write \"- `TestName`\" or \"Nothing yet.\"", line))
			} else if !tests[m[1]] {
				found = append(found, m[1]+" is no test of the repository")
			}
		}
	}
	return found
}

// Every decision has a page of one form, whose tests exist, and a row in the index.
func TestDecisionsAreShown(t *testing.T) {
	tests := readRepository(t).tests
	index, err := os.ReadFile(filepath.Join(decisions, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(decisions)
	if err != nil {
		t.Fatal(err)
	}
	pages, relations := map[string]string{}, map[[3]string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if name == "README.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(decisions, name))
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		number, _, _ := strings.Cut(name, "-")
		for _, complaint := range decisionComplaints(name, page, tests) {
			t.Errorf("docs/decisions/%s: %s", name, complaint)
		}
		if other := pages[number]; other != "" {
			t.Errorf("docs/decisions/%s: %s has the same number", name, other)
		}
		pages[number] = name
		title, _, _ := strings.Cut(page, "\n")
		_, title, _ = strings.Cut(title, ". ")
		if row := fmt.Sprintf("\n| %s | [%s](%s) |", strings.TrimPrefix(number, "0"), title, name); !strings.Contains(string(index), row) {
			t.Errorf("docs/decisions/README.md has no row that begins with %q", row[1:])
		}
		for _, m := range relation.FindAllStringSubmatch(page, -1) {
			relations[[3]string{number, strings.ToLower(m[1]), m[2]}] = true
		}
	}
	if rows := strings.Count(string(index), "\n| ") - 1; rows != len(pages) {
		t.Errorf("docs/decisions/README.md has %d rows for %d pages", rows, len(pages))
	}
	opposite := map[string]string{"superseded by": "supersedes", "extended by": "extends", "generalised by": "generalises"}
	for from, to := range opposite {
		opposite[to] = from
	}
	for r := range relations {
		from, words, to := r[0], r[1], r[2]
		if !relations[[3]string{to, opposite[words], from}] {
			t.Errorf("decision %s says %q of %s, which does not say %q", from, words, to, opposite[words])
		}
	}
}

func TestBadDecisionsAreFound(t *testing.T) {
	good := "# 7. Loads\n\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequence\n\nc\n\n## Shown by\n\n- `TestA`\n"
	for _, c := range []struct{ name, page, want string }{
		{"07-loads.md", good, ""},
		{"07-loads.md", strings.Replace(good, "- `TestA`", "Nothing yet.", 1), ""},
		{"loads.md", good, "the name"},
		{"08-loads.md", good, "the title"},
		{"07-loads.md", strings.Replace(good, "Consequence", "Result", 1), "the headings"},
		{"07-loads.md", strings.Replace(good, "\nb\n", "", 1), "Decision is empty"},
		{"07-loads.md", strings.Replace(good, "TestA", "TestB", 1), "TestB is no test"},
		{"07-loads.md", strings.Replace(good, "- `TestA`", "a measurement", 1), "names no test"},
		{"07-loads.md", strings.Replace(good, "\nc\n", strings.Repeat("\nc\n", decisionLines), 1), "lines"},
	} {
		got := strings.Join(decisionComplaints(c.name, c.page, map[string]bool{"TestA": true}), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// All paths, packages and Go files that ARCHITECTURE and the decisions name exist.
func TestArchitectureNamesWhatThereIs(t *testing.T) {
	repository := readRepository(t)
	pages, err := filepath.Glob(decisions + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range append(pages, "../ARCHITECTURE.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codeSpan.FindAllStringSubmatch(string(text), -1) {
			code := m[1]
			switch {
			case roomName.MatchString(code):
				code = "internal/" + code
				fallthrough
			case ourPath.MatchString(code):
				if name == "../ARCHITECTURE.md" {
					named[code] = true
				}
				if _, err := os.Stat(filepath.Join("..", code)); err != nil {
					t.Errorf("%s names %s, which does not exist", name, m[1])
				}
			case goFile.MatchString(code):
				if !slices.ContainsFunc(repository.paths, func(p string) bool {
					ok, err := filepath.Match(code, filepath.Base(p))
					return ok && err == nil
				}) {
					t.Errorf("%s names %s; no Go file has that name", name, code)
				}
			}
		}
	}
	for _, p := range repository.paths {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(p)), "../")
		if strings.HasPrefix(dir, "internal/") && !named[dir] {
			t.Errorf("ARCHITECTURE.md does not name the package %s", dir)
			named[dir] = true
		}
	}
}

var (
	fenced = regexp.MustCompile("(?ms)^```(.*?)^```$")
	linkTo = regexp.MustCompile(`\]\([^)\s]+\)`)
)

// Pages that people read through have short sentences. A concept has one drawing at least, and fits on a page.
func TestPagesReadWell(t *testing.T) {
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../docs/tutorials/*.md", "../docs/concepts/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, name := range pages {
			if filepath.Base(name) == "benchmarks.md" { // written by a program
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "/concepts/") {
				if n := len(strings.Fields(string(text))); n > conceptWords {
					t.Errorf("%s has %d words, more than %d", name, n, conceptWords)
				}
				if !strings.Contains(string(text), "\n```text\n") {
					t.Errorf("%s has no drawing", name)
				}
			}
			prose := linkTo.ReplaceAllString(fenced.ReplaceAllString(string(text), ""), "]")
			words, sentences := 0, sentencesOf(prose)
			for _, sentence := range sentences {
				n := wordsIn(sentence)
				words += n
				if n > pageSentence {
					t.Errorf("%s: %d words in one sentence: %s", name, n, sentence)
				}
			}
			if mean := float64(words) / float64(len(sentences)); mean > pageMean {
				t.Errorf("%s: a sentence has %.1f words in the mean, more than %d", name, mean, pageMean)
			}
		}
	}
}

// Pictures are small, as the server has them in it, and each is shown by a page.
func TestPicturesAreSmall(t *testing.T) {
	pictures, err := filepath.Glob("../docs/pictures/*")
	if err != nil || len(pictures) < 3 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	shown := ""
	for _, pattern := range []string{"../README.md", "../docs/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pages {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			shown += string(text)
		}
	}
	for _, name := range pictures {
		if info, err := os.Stat(name); err != nil || info.Size() > pictureBytes {
			t.Errorf("%s has more than %d bytes (%v)", name, pictureBytes, err)
		}
		if !strings.Contains(shown, "pictures/"+filepath.Base(name)+")") {
			t.Errorf("no page shows %s", name)
		}
	}
}

func TestDocumentsStayShort(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > architectureLines {
		t.Errorf("ARCHITECTURE.md has %d lines, more than %d", n, architectureLines)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > architectureWidth {
			t.Errorf("ARCHITECTURE.md:%d has %d characters, more than %d", number, n, architectureWidth)
		}
	}
	if text, err = os.ReadFile("../README.md"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, more than %d", n, readmeLines)
	}
	if n := len(strings.Fields(string(text))); n > readmeWords {
		t.Errorf("README.md has %d words, more than %d", n, readmeWords)
	}
}
