package docs

import (
	"html"
	"strconv"
	"strings"
)

// The pages are files of assets with places such as {{title}}. What fills them is written here, and not by
// html/template: that calls methods by their names, so that the linker keeps every method of the program.

// markup is HTML.
type markup string

// text returns text as HTML.
func text(s string) markup { return markup(html.EscapeString(s)) }

// fill returns a page of assets with its places filled: names and HTML in turn.
func fill(name string, places map[string]markup) ([]byte, error) {
	page, err := Assets.ReadFile("assets/" + name)
	if err != nil {
		return nil, err
	}
	pairs := make([]string, 0, 2*len(places))
	for place, filling := range places {
		pairs = append(pairs, "{{"+place+"}}", string(filling))
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(page))), nil
}

// each joins the HTML of every element.
func each[T any](list []T, write func(T) markup) markup {
	var b strings.Builder
	for _, x := range list {
		b.WriteString(string(write(x)))
	}
	return markup(b.String())
}

// some returns HTML where a condition holds.
func some(holds bool, shown markup) markup {
	if holds {
		return shown
	}
	return ""
}

// listing returns texts as HTML with something between them.
func listing(list []string, between string) markup { return text(strings.Join(list, between)) }

// ProblemPage returns the page of a kind of problem.
func ProblemPage(p Problem) ([]byte, error) {
	return fill("problem.html", map[string]markup{"title": text(p.Title), "status": text(strconv.Itoa(p.Status)), "name": text(p.Name),
		"meaning": text(p.Meaning), "cure": text(p.Cure)})
}

// SignInPage returns the page where people sign in. elsewhere says that they may at an issuer's page, too, and trouble
// is what went wrong before.
func SignInPage(elsewhere bool, trouble string) ([]byte, error) {
	key := markup("Key")
	if elsewhere {
		key = "Or a key"
	}
	return fill("sign-in.html", map[string]markup{"trouble": text(trouble), "hidden": some(trouble == "", " hidden"), "key": key,
		"elsewhere": some(elsewhere, `<p><a class="button" href="/sign-in/issuer">Sign in with your organisation</a></p>`)})
}

// page returns the reference page.
func (p docsPage) page() ([]byte, error) {
	return fill("docs.html", map[string]markup{
		"version": text(p.Version), "solves": text(strconv.Itoa(p.Limits.SolvesPerSecond)), "requests": text(strconv.Itoa(p.Limits.RequestsPerSecond)),
		"megabytes": text(strconv.Itoa(p.Limits.BodyMB)), "classes": text(p.Limits.InWords()),
		"contents": each(p.Chapters, func(c docsChapter) markup {
			return some(c.Title != "", `<li><a href="#`+text(c.ID)+`">`+text(c.Title)+"</a></li>\n    ")
		}),
		"lead": each(p.Chapters, func(c docsChapter) markup { return some(c.Title == "", `<div class="lead">`+c.Text+`</div>`) }),
		"chapters": each(p.Chapters, func(c docsChapter) markup {
			return some(c.Title != "", `<section id="`+text(c.ID)+"\" class=\"intro\">\n<h2>"+text(c.Title)+"</h2>\n"+c.Text+"\n</section>\n")
		}),
		"groups": each(p.Groups, docsGroup.contents),
		"types": each(p.Types, func(t docsType) markup {
			return `<li><a href="#type-` + text(t.Name) + `">` + text(t.Name) + "</a></li>\n    "
		}),
		"problems": each(p.Problems, func(x Problem) markup {
			return `<div id="problem-` + text(x.Name) + `" class="problem"><h3><span class="status">` + text(strconv.Itoa(x.Status)) + `</span> ` + text(x.Title) +
				` <code>/problems/` + text(x.Name) + `</code></h3><p>` + text(x.Meaning) + `</p><p>` + text(x.Cure) + "</p></div>\n"
		}),
		"operations": each(p.Groups, func(g docsGroup) markup {
			return "\n<section class=\"group\" id=\"" + text(g.ID) + "\">\n<h2>" + text(g.Name) + "</h2>\n" + g.About + "\n" + each(g.Operations, docsOperation.article) + "\n</section>\n"
		}),
		"shapes": each(p.Types, docsType.article),
	})
}

func (g docsGroup) contents() markup {
	return "\n  <h2><a href=\"#" + text(g.ID) + `">` + text(g.Name) + "</a></h2>\n  <ul class=\"operations\">\n    " +
		each(g.Operations, func(o docsOperation) markup {
			return `<li><a href="#` + text(o.ID) + `"><span class="method ` + text(o.Method) + `">` + text(o.Method) + `</span><span>` + text(o.Summary) + "</span></a></li>\n    "
		}) + "\n  </ul>\n  "
}

func (t docsType) article() markup {
	return "\n<article id=\"type-" + text(t.Name) + "\" class=\"type\">\n<h3>" + text(t.Name) + anchorLink("type-"+t.Name, t.Name) + "</h3>\n" + t.Meaning + "\n" +
		some(len(t.Type) > 0, `<p>`+words(t.Type)+`</p>`) + "\n" +
		each(t.Notes, func(n string) markup { return `<p class="note">` + text(n) + `</p>` }) + "\n" + listed(t.Members) + "\n" +
		some(t.Example != "", code(t.Example)) + "\n</article>\n"
}

func anchorLink(id, title string) markup {
	return ` <a class="anchor" href="#` + text(id) + `" aria-label="Link to ` + text(title) + `">#</a>`
}

func code(s string) markup { return `<pre><code>` + text(s) + `</code></pre>` }

func (o docsOperation) article() markup {
	return "\n<article id=\"" + text(o.ID) + "\" class=\"operation\">\n<header>\n<h3>" + text(o.Summary) + anchorLink(o.ID, o.Summary) + "</h3>\n" +
		`<p class="address"><span class="method ` + text(o.Method) + `">` + text(o.Method) + `</span> <code>` + text(o.Path) + "</code></p>\n" +
		`<p class="role">` + o.access() + ` · <code>` + text(o.ID) + "</code></p>\n</header>\n<div class=\"text\">\n" + o.About + "\n" +
		some(len(o.Parameters) > 0, "<h4>Parameters</h4>"+listed(o.Parameters)) + "\n" + some(len(o.Body.Type) > 0, o.Body.part()) +
		"\n<h4>Answers</h4>\n<dl class=\"answers\">\n" + each(o.Answers, docsAnswer.entry) + "\n" +
		some(len(o.Refusals) > 0, `<div><dt>Problems</dt><dd>`+words(spaced(o.Refusals, " · "))+`</dd></div>`) +
		"\n</dl>\n</div>\n<div class=\"code\">\n" + code(o.Curl) + "\n" +
		some(o.BodyFile != "", `<p class="caption">`+text(o.BodyFile)+`</p>`+code(o.Body.Example)) + "\n" +
		some(o.Example != "", `<p class="caption">Answer `+text(o.ExampleStatus)+`</p>`+code(o.Example)) + "\n</div>\n</article>\n"
}

// access says who may ask for an operation.
func (o docsOperation) access() markup {
	switch o.Role {
	case "":
		return "Open to everybody"
	case "any":
		return "Any key"
	}
	return `Needs the role <strong>` + text(o.Role) + `</strong>` + some(o.Agent, ` or <strong>agent</strong>`)
}

func (b docsBody) part() markup {
	return "<h4>Body</h4>\n<p>" + words(b.Type) + some(!b.Required, " (optional)") + some(b.About != "", ": "+b.About) + "</p>\n" + listed(b.Members)
}

func (a docsAnswer) entry() markup {
	return `<div><dt><span class="status">` + text(a.Status) + `</span></dt><dd>` + a.Meaning + some(len(a.Type) > 0, ` <span class="kind">`+words(a.Type)+`</span>`) +
		each(a.Formats, func(f string) markup { return ` <span class="kind">` + text(f) + `</span>` }) + "\n" +
		some(len(a.Headers) > 0, ` <span class="note">with `+listing(a.Headers, ", ")+`</span>`) + "</dd></div>\n"
}

// listed returns members, or nothing where there are none.
func listed(members []docsMember) markup {
	return some(len(members) > 0, "<dl class=\"members\">\n"+each(members, func(m docsMember) markup {
		return `<div><dt><code>` + text(m.Name) + `</code> <span class="kind">` + words(m.Type) + `</span>` + some(m.Required, ` <span class="required">required</span>`) + "</dt>\n<dd>" +
			m.Meaning + some(len(m.Notes) > 0, ` <span class="note">`+listing(m.Notes, "; ")+`</span>`) + "\n" + listed(m.Members) + "</dd></div>\n"
	})+"</dl>")
}

// words returns a description with its links.
func words(list []docsWord) markup {
	return each(list, func(w docsWord) markup {
		if w.Link == "" {
			return text(w.Text)
		}
		return `<a href="` + text(w.Link) + `">` + text(w.Text) + `</a>`
	})
}

// spaced puts a text between words.
func spaced(list []docsWord, between string) (all []docsWord) {
	for i, w := range list {
		if i > 0 {
			all = append(all, docsWord{Text: between})
		}
		all = append(all, w)
	}
	return all
}

// page returns a page of the documentation.
func (g guidePage) page() ([]byte, error) {
	body := g.Body
	if body == "" {
		body = "<h1>Search</h1>\n" + each(g.Found, func(h guideHit) markup {
			return `<h3><a href="` + text(h.Address) + `">` + text(h.Title) + "</a></h3>\n<p class=\"note\">" + text(h.Page) + "</p>\n<p>" + text(h.Text) + " …</p>\n"
		})
		switch {
		case len(g.Found) > 0:
		case g.Query != "":
			body += "<p>No page has all of these words. Try fewer of them, or one of the pages in the contents.</p>\n"
		default:
			body += "<p>Write words into the field above.</p>\n"
		}
	}
	return fill("guide.html", map[string]markup{
		"title": text(g.Title), "version": text(g.Version), "query": text(g.Query), "body": body,
		"chapters": each(g.Chapters, func(c guideChapter) markup {
			return `<h2>` + text(c.Title) + "</h2>\n  <ul>\n    " + each(c.Pages, func(p *Page) markup {
				return `<li><a href="` + text(p.Address) + `"` + some(p.Address == g.Here, ` class="here" aria-current="page"`) + `>` + text(p.Title) + "</a></li>\n    "
			}) + "\n  </ul>\n  "
		}),
	})
}
