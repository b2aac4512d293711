package docs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
)

// GuideHome is the address of the first page of the documentation.
const GuideHome = "/docs/about/readme"

// rendered holds the documentation as scripts/guide renders it for make ui. It is not part of the repository.
//
//go:embed all:dist
var rendered embed.FS

// Page is a page of the documentation.
type Page struct {
	Address, Title string
	Chapter        string // the folder of its file
	Body           string // HTML
	Parts          []Part
}

// Part is the text below one heading. A search finds parts.
type Part struct{ ID, Title, Text string }

// Pages returns all pages of the documentation, in the order of the contents.
func Pages() (pages []Page, err error) {
	file, err := rendered.Open("dist/guide.json.gz")
	if err != nil {
		return nil, fmt.Errorf("this program was built without its documentation, which make ui renders: %w", err)
	}
	defer file.Close() // cannot fail in memory
	z, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(z).Decode(&pages)
	}
	if err != nil {
		return nil, fmt.Errorf("read the rendered documentation: %w", err)
	}
	return pages, nil
}

type guideChapter struct {
	Title string
	Pages []*Page
}

// library holds all pages, by address, and the chapters of the contents.
type library struct {
	pages    map[string]*Page
	order    []*Page
	Chapters []guideChapter
}

// books reads the documentation once, when it is first asked for.
var books = sync.OnceValues(func() (*library, error) {
	pages, err := Pages()
	l := &library{pages: map[string]*Page{}}
	for i := range pages {
		l.pages[pages[i].Address] = &pages[i]
		l.order = append(l.order, &pages[i])
	}
	for _, c := range []struct{ chapter, title string }{{"about", "About"}, {"tutorials", "Tutorials"}, {"concepts", "Concepts"}, {"how-to", "How to"}, {"reference", "Reference"}, {"research", "Research"}} {
		chapter := guideChapter{Title: c.title}
		for _, p := range l.order {
			if p.Chapter == c.chapter {
				chapter.Pages = append(chapter.Pages, p)
			}
		}
		l.Chapters = append(l.Chapters, chapter)
	}
	return l, err
})

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
		shown.Body = template.HTML(p.Body) // #nosec G203 -- the pages are ours, and scripts/guide leaves HTML in them out
	}
	var b bytes.Buffer
	if err := Templates().ExecuteTemplate(&b, "guide.html", shown); err != nil {
		return nil, false, fmt.Errorf("render the page %s: %w", page, err)
	}
	return b.Bytes(), true, nil
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
		for _, part := range p.Parts {
			title, body := strings.ToLower(p.Title+" "+part.Title), strings.ToLower(part.Text)
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
			if p.Chapter == "decisions" {
				score = 1 // reasons of the past come after what holds now
			}
			hits = append(hits, scored{guideHit{p.Address + "#" + part.ID, p.Title, part.Title, excerpt(part.Text, words[0])}, score})
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
