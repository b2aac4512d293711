package docs

import (
	"html"
	"html/template"
	"regexp"
	"strings"
	"sync"
)

// The descriptions in openapi.yaml use a little Markdown: paragraphs (a line that ends in a full stop ends one, too),
// "## " headings, lists of "- ", tables, `code` and **strong**. Everything else is shown as it is written.
var (
	codeMark   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`]+)`") })
	strongMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\*\*([^*]+)\*\*`) })
	tableRule  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\|[-:| ]+\|$`) })
)

// prose returns a description as HTML.
func prose(text string) template.HTML {
	var w proseWriter
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		w.line(strings.TrimSpace(line))
	}
	w.end()
	return template.HTML(w.b.String()) // #nosec G203 -- inline has escaped it
}

// phrase returns a description of one paragraph as HTML, without the paragraph element.
func phrase(text string) template.HTML {
	return template.HTML(inline(strings.Join(strings.Fields(text), " "))) // #nosec G203 -- inline escapes it
}

func inline(text string) string {
	text = html.EscapeString(text)
	text = codeMark().ReplaceAllString(text, "<code>$1</code>")
	return strongMark().ReplaceAllString(text, "<strong>$1</strong>")
}

// proseWriter gathers lines into the block they belong to.
type proseWriter struct {
	b     strings.Builder
	block string   // p, ul, table, or "" for none
	lines []string // of the block
}

func (w *proseWriter) line(line string) {
	switch item, isItem := strings.CutPrefix(line, "- "); {
	case line == "":
		w.end()
	case isItem:
		w.begin("ul")
		w.lines = append(w.lines, item)
	case strings.HasPrefix(line, "|"):
		w.begin("table")
		w.lines = append(w.lines, line)
	case w.block == "ul":
		w.lines[len(w.lines)-1] += " " + line
	default:
		w.begin("p")
		w.lines = append(w.lines, line)
		if strings.HasSuffix(line, ".") {
			w.end()
		}
	}
}

func (w *proseWriter) begin(block string) {
	if w.block != block {
		w.end()
		w.block = block
	}
}

func (w *proseWriter) end() {
	switch w.block {
	case "p":
		w.b.WriteString("<p>" + inline(strings.Join(w.lines, " ")) + "</p>")
	case "ul":
		w.b.WriteString("<ul><li>")
		for i, item := range w.lines {
			if i > 0 {
				w.b.WriteString("</li><li>")
			}
			w.b.WriteString(inline(item))
		}
		w.b.WriteString("</li></ul>")
	case "table":
		w.table()
	}
	w.block, w.lines = "", nil
}

func (w *proseWriter) table() {
	w.b.WriteString("<table>")
	for i, line := range w.lines {
		if tableRule().MatchString(line) {
			continue
		}
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		w.b.WriteString("<tr>")
		for text := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			w.b.WriteString("<" + cell + ">" + inline(strings.TrimSpace(text)) + "</" + cell + ">")
		}
		w.b.WriteString("</tr>")
	}
	w.b.WriteString("</table>")
}

// docsChapter is a part of the introduction with a heading.
type docsChapter struct {
	ID, Title string
	Text      template.HTML
}

// chapters divides a description at its headings; the text before the first has no title.
func chapters(text string) (list []docsChapter) {
	for i, part := range strings.Split("\n"+text, "\n## ") {
		title, body := "", part
		if i > 0 {
			title, body, _ = strings.Cut(part, "\n")
		}
		list = append(list, docsChapter{ID: anchor("about", title), Title: title, Text: prose(body)})
	}
	return list
}

var noLetters = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// anchor returns an id for a heading.
func anchor(prefix, title string) string {
	return prefix + "-" + strings.Trim(noLetters().ReplaceAllString(strings.ToLower(title), "-"), "-")
}
