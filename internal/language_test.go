package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxSentence is the largest number of words in a sentence of a comment or a message.
const maxSentence = 35

// maxRiddles is the largest share of a package's comment sentences that may be riddles.
const maxRiddles = 0.01

// minMessage is the number of words from which a string literal counts as a message.
const minMessage = 6

// unmended lists the packages that are not checked yet. A package that passes is taken off.
var unmended []string

// language holds the figures of one package.
type language struct {
	sentences, riddles int
	complaints         []string
}

func (l *language) complain(at token.Position, format string, args ...any) {
	l.complaints = append(l.complaints, fmt.Sprintf("%s:%d: ", strings.TrimPrefix(filepath.ToSlash(at.Filename), "../"), at.Line)+
		fmt.Sprintf(format, args...))
}

// TestLanguageIsPlain checks the comments and messages of all hand-written Go files.
func TestLanguageIsPlain(t *testing.T) {
	packages := map[string]*language{}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") && base != ".."):
			return filepath.SkipDir
		case entry.IsDir() || path.Ext(base) != ".go":
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(path.Dir(filepath.ToSlash(name)), "../")
		if packages[pkg] == nil {
			packages[pkg] = &language{}
		}
		return packages[pkg].read(name, source)
	})
	if err != nil {
		t.Fatal(err)
	}
	sentences, riddles := 0, 0
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		l := packages[pkg]
		sentences, riddles = sentences+l.sentences, riddles+l.riddles
		t.Logf("%-30s %5d sentences, %4d riddles, %4d complaints", pkg, l.sentences, l.riddles, len(l.complaints))
		plain := len(l.complaints) == l.riddles && float64(l.riddles) <= maxRiddles*float64(l.sentences)
		switch skipped := slices.Contains(unmended, pkg); {
		case skipped && plain:
			t.Errorf("%s is plain now; take it off the list of unmended packages", pkg)
		case !skipped && !plain:
			t.Errorf("%s: of %d sentences of comments %d are riddles (at most %g %%)\n%s",
				pkg, l.sentences, l.riddles, 100*maxRiddles, strings.Join(l.complaints, "\n"))
		}
	}
	for _, pkg := range unmended {
		if packages[pkg] == nil {
			t.Errorf("%s is listed as unmended and has no Go files", pkg)
		}
	}
	t.Logf("%d of %d sentences of comments are riddles (%.1f %%)", riddles, sentences, 100*float64(riddles)/float64(max(1, sentences)))
}

// read adds one file's comments and messages. Generated files are left out.
func (l *language) read(name string, source []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	for _, group := range file.Comments {
		at := files.Position(group.Pos())
		for _, sentence := range sentencesOf(group.Text()) {
			l.sentences++
			if riddle.MatchString(sentence) {
				l.riddles++
				l.complain(at, "say what it does or holds: %s", sentence)
			}
			if n := wordsIn(sentence); n > maxSentence {
				l.complain(at, "%d words in one sentence of a comment: %s", n, sentence)
			}
		}
	}
	for _, m := range messagesOf(file) {
		for _, sentence := range sentencesOf(m.text) {
			if n := wordsIn(sentence); n > maxSentence {
				l.complain(files.Position(m.pos), "%d words in one sentence of a message: %s", n, sentence)
			}
		}
	}
	return nil
}

// riddle matches sentences that describe a thing by a question, or people by a clause.
var riddle = regexp.MustCompile(`(?i)\b(is|are|was|were)( (not|only|just|also|of|by|for|in|at|on|to|from|after|with))?` +
	` (what|how|who|whom|whose|whether|where|when|why|which)\b|^(whoever|whomever|whatever)\b`)

var (
	// listItem matches the mark before an item of a list.
	listItem = regexp.MustCompile(`^\s*([-*•]|\d+[.)]) `)
	// sentenceEnd matches the stop after a sentence and closing marks. A colon or semicolon is no end.
	sentenceEnd = regexp.MustCompile(`[.!?…]["')\]’”]*\s+`)
	// abbreviation matches text that ends with a stop and no sentence.
	abbreviation = regexp.MustCompile(`(?i)(^|[\s(])(e\.g|i\.e|eq|eqs|vs|cf|sec|fig|p|pp|no|vol|etc|approx|resp)\.$`)
	// address matches addresses, which count as one word.
	address = regexp.MustCompile(`\b[a-z]+://\S+`)
)

// sentencesOf splits a comment or a message. Code blocks (indented lines), commands and tables are left out; a blank line, a
// heading and an item of a list begin a new sentence.
func sentencesOf(text string) (sentences []string) {
	var paragraph []string
	flush := func() {
		rest := address.ReplaceAllString(strings.Join(strings.Fields(strings.Join(paragraph, " ")), " "), "URL")
		paragraph = nil
		from := 0
		for _, end := range sentenceEnd.FindAllStringIndex(rest, -1) {
			if s := strings.TrimSpace(rest[from:end[1]]); !abbreviation.MatchString(s) {
				sentences, from = append(sentences, s), end[1]
			}
		}
		if s := strings.TrimSpace(rest[from:]); s != "" {
			sentences = append(sentences, s)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch bare := strings.TrimSpace(line); {
		case bare == "", strings.HasPrefix(bare, "|"), strings.HasPrefix(bare, "+build"):
			flush()
		case listItem.MatchString(line):
			flush()
			paragraph = append(paragraph, listItem.ReplaceAllString(line, ""))
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "    "), strings.HasPrefix(line, "  headroom "):
			flush()
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return sentences
}

// wordsIn counts the words that hold a letter, a digit or a verb of a format.
func wordsIn(sentence string) (n int) {
	for word := range strings.FieldsSeq(sentence) {
		if strings.ContainsFunc(word, func(r rune) bool {
			return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 || r == '%'
		}) {
			n++
		}
	}
	return n
}

// message is a string literal that people read.
type message struct {
	pos  token.Pos
	text string
}

// code matches string literals that machines read: SQL, JSON, HTML, expressions, and rows of numbers.
var code = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|LOCK)\s|\b(WHERE|FROM|ORDER BY|SET) ` +
	`|[{}<>|]|\\[bds.]|\(\?|^\s*-\S*\s+-|(\d+ ){6}`)

// messagesOf returns the string literals of at least minMessage words. Literals joined by + are one message, with
// "x" for each other operand. Raw strings of several lines and code are left out.
func messagesOf(file *ast.File) (found []message) {
	add := func(n ast.Expr) {
		text := textOf(n)
		if wordsIn(text) >= minMessage && !code.MatchString(text) {
			found = append(found, message{pos: n.Pos(), text: text})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if n.Op == token.ADD && joinsText(n) {
				add(n)
				return false
			}
		case *ast.BasicLit:
			add(n)
		}
		return true
	})
	return found
}

// joinsText reports whether a sum has a string literal in it.
func joinsText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (joinsText(e.X) || joinsText(e.Y))
	case *ast.BasicLit:
		return e.Kind == token.STRING
	}
	return false
}

// textOf returns the text of literals and of sums of them.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.BasicLit:
		if e.Kind != token.STRING || strings.HasPrefix(e.Value, "`") && strings.Contains(e.Value, "\n") {
			return ""
		}
		text, _ := strconv.Unquote(e.Value)
		return text
	}
	return "x"
}

func TestRiddlesAreFound(t *testing.T) {
	for _, c := range []struct {
		situation, source       string
		sentences, riddles, bad int
	}{
		{"a plain sentence", "// VMs counts the machines a plan rents.", 1, 0, 0},
		{"a riddle", "// VMs is what is rented.", 1, 1, 1},
		{"a riddle in the middle", "// The share is, as a part, how many there are. It is by how much it grows.", 2, 1, 1},
		{"a clause for people", "// Whoever asks waits.", 1, 1, 1},
		{"a colon ends no sentence", "// It fails: the file is gone (eq. 3, e.g. here). So what?", 2, 0, 0},
		{"two lines", "// VMs is\n// what is rented.", 1, 1, 1},
		{"a unit ends a sentence", "// It takes 5 s. Then it ends.", 2, 0, 0},
		{"a code block", "// Like this:\n//\n//\tx is what is rented", 1, 0, 0},
		{"a list", "// Two things:\n//   - one, which is small\n//   - x is what is rented", 3, 1, 1},
		{"a directive", "//go:noinline\nfunc f() {}", 0, 0, 0},
		{"a long comment", "// " + strings.Repeat("word ", 36), 1, 0, 1},
		{"a comment that just fits", "// " + strings.Repeat("word ", 35), 1, 0, 0},
		{"a long message", `var e = errors.New("` + strings.Repeat("word ", 36) + `")`, 0, 0, 1},
		{"a long message in two parts", `var e = "` + strings.Repeat("word ", 20) + `" + "` + strings.Repeat("word ", 20) + `"`, 0, 0, 1},
		{"two sentences in a message", `var e = "` + strings.Repeat("word ", 20) + `. ` + strings.Repeat("word ", 20) + `"`, 0, 0, 0},
		{"a statement", `var q = "SELECT ` + strings.Repeat("word, ", 40) + `"`, 0, 0, 0},
		{"generated code", "// Code generated by hand. DO NOT EDIT.", 0, 0, 0},
	} {
		source := "package x\n\n" + c.source + "\n"
		if strings.HasPrefix(c.source, "// Code") {
			source = c.source + "\n\npackage x\n"
		}
		l := &language{}
		if err := l.read("x.go", []byte(source)); err != nil {
			t.Fatal(err)
		}
		if l.sentences != c.sentences || l.riddles != c.riddles || len(l.complaints) != c.bad {
			t.Errorf("%s: got %d sentences, %d riddles, %d complaints %q; want %d, %d, %d",
				c.situation, l.sentences, l.riddles, len(l.complaints), l.complaints, c.sentences, c.riddles, c.bad)
		}
	}
}
