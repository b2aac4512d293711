package docs

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	guides "example.org/headroom/docs"
)

// GuideHome is the address of the first page of the documentation.
const GuideHome = "/docs/about/readme"

// markdown renders the pages of the documentation: GitHub's tables, ids for headings, and no HTML of their own.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// guide is one page of the documentation.
type guide struct {
	Address, Title string
	name, chapter  string // of its file
	source         []byte
	parts          []guidePart
}

// guidePart holds the text below one heading. A search finds parts.
type guidePart struct{ id, title, text string }

type guideChapter struct {
	Title string
	Pages []*guide
}

// library holds all pages, by address, and the chapters of the contents.
type library struct {
	pages    map[string]*guide
	order    []*guide
	Chapters []guideChapter
}

// books reads the documentation once, when it is first asked for.
var books = sync.OnceValues(func() (*library, error) {
	l := &library{pages: map[string]*guide{}}
	err := fs.WalkDir(guides.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		source, err := fs.ReadFile(guides.Files, name)
		if err == nil {
			p := readGuide(name, source)
			l.pages[p.Address] = p
			l.order = append(l.order, p)
		}
		return err
	})
	if home := l.pages[GuideHome]; home != nil { // its lists order the contents
		slices.SortStableFunc(l.order, func(a, b *guide) int {
			return cmp.Compare(bytes.Index(home.source, []byte("("+a.name)), bytes.Index(home.source, []byte("("+b.name)))
		})
	}
	for _, c := range []struct{ chapter, title string }{{"about", "About"}, {"tutorials", "Tutorials"}, {"concepts", "Concepts"}, {"how-to", "How to"}, {"reference", "Reference"}, {"research", "Research"}} {
		chapter := guideChapter{Title: c.title}
		for _, p := range l.order {
			if p.chapter == c.chapter {
				chapter.Pages = append(chapter.Pages, p)
			}
		}
		l.Chapters = append(l.Chapters, chapter)
	}
	return l, err
})

// guideAddress returns where the page of a file is shown.
func guideAddress(name string) string {
	chapter, page := path.Split(strings.TrimSuffix(name, ".md"))
	return "/docs/" + cmp.Or(strings.TrimSuffix(chapter, "/"), "about") + "/" + strings.ToLower(page)
}

func readGuide(name string, source []byte) *guide {
	p := &guide{Address: guideAddress(name), name: name, source: source}
	p.chapter = strings.Split(p.Address, "/")[2]
	tree := markdown().Parser().Parse(text.NewReader(source))
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			part := guidePart{id: string(id.([]byte)), title: plain(h, source)}
			if len(p.parts) == 0 {
				p.Title = part.title
			}
			p.parts = append(p.parts, part)
		} else if len(p.parts) > 0 {
			p.parts[len(p.parts)-1].text += plain(n, source) + " "
		}
	}
	return p
}

// plain returns the words of a part of a page.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch {
		case !enter && n.Type() == ast.TypeBlock:
			b.WriteByte(' ')
		case !enter:
		case n.Kind() == ast.KindText:
			b.Write(n.(*ast.Text).Value(source))
			if n.(*ast.Text).SoftLineBreak() {
				b.WriteByte(' ')
			}
		case n.Type() == ast.TypeBlock && n.IsRaw():
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// guidePage holds all that the template shows.
type guidePage struct {
	Version  string
	Here     string
	Title    string
	Chapters []guideChapter
	Body     template.HTML
	Query    string
	Found    []guideHit
}

// guideHit is a place that a search found.
type guideHit struct{ Address, Page, Title, Text string }

// Guide renders a page of the documentation, or the places where words of a query stand; false where there is no such page.
func Guide(version, chapter, page, query string) ([]byte, bool, error) {
	l, err := books()
	if err != nil {
		return nil, false, err
	}
	shown := guidePage{Version: version, Chapters: l.Chapters, Query: query}
	if chapter == "about" && page == "search" {
		shown.Title, shown.Found = "Search", l.search(query)
	} else {
		p := l.pages["/docs/"+chapter+"/"+page]
		if p == nil {
			return nil, false, nil
		}
		shown.Here, shown.Title = p.Address, p.Title
		if shown.Body, err = l.render(p); err != nil {
			return nil, false, err
		}
	}
	var b bytes.Buffer
	if err := Templates().ExecuteTemplate(&b, "guide.html", shown); err != nil {
		return nil, false, fmt.Errorf("render the page %s: %w", page, err)
	}
	return b.Bytes(), true, nil
}

// render returns a page as HTML. Links to other pages lead there; those to files that are not shown become plain words.
// Pictures come from this server.
func (l *library) render(p *guide) (template.HTML, error) {
	tree := markdown().Parser().Parse(text.NewReader(p.source))
	var leaving []*ast.Link
	_ = ast.Walk(tree, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Image:
			n.Destination = []byte("/assets/" + path.Base(string(n.Destination)))
		case *ast.Link:
			if !enter {
				break
			}
			if to := l.target(p, string(n.Destination)); to != "" {
				n.Destination = []byte(to)
			} else {
				leaving = append(leaving, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range leaving {
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
	var b bytes.Buffer
	err := markdown().Renderer().Render(&b, p.source, tree)
	return template.HTML(b.String()), err // #nosec G203 -- the pages are ours, and goldmark leaves HTML in them out
}

// target returns where a link of a page leads on this server, or "" where it leads to a file that is not shown.
func (l *library) target(p *guide, link string) string {
	to, anchor, _ := strings.Cut(link, "#")
	switch {
	case strings.Contains(link, "://"), to == "":
		return link
	case path.Base(to) == "openapi.yaml":
		return "/openapi.yaml"
	}
	dir := p.chapter
	if dir == "about" {
		dir = "."
	}
	address := guideAddress(path.Join(dir, to))
	if l.pages[address] == nil || path.Ext(to) != ".md" {
		return ""
	}
	if anchor != "" {
		address += "#" + anchor
	}
	return address
}

// maxHits is the maximum number of places that a search shows.
const maxHits = 30

// search returns the parts that hold every word of a query, those with the words in their titles first.
func (l *library) search(query string) (found []guideHit) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	type scored struct {
		guideHit
		score int
	}
	var hits []scored
	for _, p := range l.order {
		for _, part := range p.parts {
			title, body := strings.ToLower(p.Title+" "+part.title), strings.ToLower(part.text)
			score := 0
			for _, w := range words {
				n := 10*strings.Count(title, w) + strings.Count(body, w)
				if n == 0 {
					score = 0
					break
				}
				score += n
			}
			if score == 0 {
				continue
			}
			if p.chapter == "decisions" {
				score = 1 // reasons of the past come after what holds now
			}
			hits = append(hits, scored{guideHit{p.Address + "#" + part.id, p.Title, part.title, excerpt(part.text, words[0])}, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, h := range hits[:min(len(hits), maxHits)] {
		found = append(found, h.guideHit)
	}
	return found
}

// excerpt returns the words of a text around the first place of a word.
func excerpt(body, word string) string {
	const around = 90
	at := max(0, strings.Index(strings.ToLower(body), word))
	from, to := max(0, at-around), min(len(body), at+around)
	if from > 0 {
		from += strings.IndexByte(body[from:], ' ') + 1
	}
	if to < len(body) {
		to = from + strings.LastIndexByte(body[from:to], ' ')
	}
	return strings.ToValidUTF8(body[from:max(from, to)], "")
}
