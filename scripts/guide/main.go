// Command guide renders the documentation of docs for the server, which shows it below /docs. The server's program then
// needs no Markdown:
//
//	go run ./scripts/guide > internal/edge/api/docs/dist/guide.json.gz
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	sources "example.org/headroom/docs"
	"example.org/headroom/internal/edge/api/docs"
)

// markdown reads GitHub's tables and gives headings ids. It leaves out HTML.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

func main() {
	pages, err := render()
	if err == nil {
		err = write(os.Stdout, pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guide:", err)
		os.Exit(1)
	}
}

// write writes pages as the server reads them.
func write(w io.Writer, pages []docs.Page) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return cmp.Or(json.NewEncoder(z).Encode(pages), z.Close())
}

// source is one file of the documentation.
type source struct {
	docs.Page
	name string
	text []byte
}

// render returns all pages, in the order of the contents on the first one.
func render() ([]docs.Page, error) {
	files, addresses := []*source{}, map[string]bool{}
	err := fs.WalkDir(sources.Pages, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(sources.Pages, name)
		f := &source{Page: docs.Page{Address: address(name)}, name: name, text: body}
		f.Chapter = strings.Split(f.Address, "/")[2]
		files, addresses[f.Address] = append(files, f), true
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		f.split()
		if err := f.render(addresses); err != nil {
			return nil, fmt.Errorf("render %s: %w", f.name, err)
		}
	}
	if i := slices.IndexFunc(files, func(f *source) bool { return f.Address == docs.GuideHome }); i >= 0 {
		contents := files[i].text
		slices.SortStableFunc(files, func(a, b *source) int {
			return cmp.Compare(bytes.Index(contents, []byte("("+a.name)), bytes.Index(contents, []byte("("+b.name)))
		})
	}
	pages := make([]docs.Page, len(files))
	for i, f := range files {
		pages[i] = f.Page
	}
	return pages, nil
}

// address returns where the page of a file is shown.
func address(name string) string {
	chapter, page := path.Split(strings.TrimSuffix(name, ".md"))
	return "/docs/" + cmp.Or(strings.TrimSuffix(chapter, "/"), "about") + "/" + strings.ToLower(page)
}

// split reads the title and the parts below headings, which a search finds.
func (f *source) split() {
	tree := markdown.Parser().Parse(text.NewReader(f.text))
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			part := docs.Part{ID: string(id.([]byte)), Title: plain(h, f.text)}
			if len(f.Parts) == 0 {
				f.Title = part.Title
			}
			f.Parts = append(f.Parts, part)
		} else if len(f.Parts) > 0 {
			f.Parts[len(f.Parts)-1].Text += plain(n, f.text) + " "
		}
	}
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

// render makes the page's HTML. Links to other pages lead there; those to files that are not shown become plain words.
// Pictures come from the server.
func (f *source) render(addresses map[string]bool) error {
	tree := markdown.Parser().Parse(text.NewReader(f.text))
	var leaving []*ast.Link
	_ = ast.Walk(tree, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Image:
			n.Destination = []byte("/assets/" + path.Base(string(n.Destination)))
		case *ast.Link:
			if !enter {
				break
			}
			if to := f.target(string(n.Destination), addresses); to != "" {
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
	var b strings.Builder
	err := markdown.Renderer().Render(&b, f.text, tree)
	f.Body = b.String()
	return err
}

// target returns where a link of a page leads on the server, or "" where it leads to a file that is not shown.
func (f *source) target(link string, addresses map[string]bool) string {
	to, anchor, _ := strings.Cut(link, "#")
	switch {
	case strings.Contains(link, "://"), to == "":
		return link
	case path.Base(to) == "openapi.yaml":
		return "/openapi.yaml"
	}
	page := address(path.Join(path.Dir(f.name), to))
	if !addresses[page] || path.Ext(to) != ".md" {
		return ""
	}
	if anchor != "" {
		page += "#" + anchor
	}
	return page
}
