// Package web serves the page: files that make ui builds from ui, embedded. The page is a client of the HTTP API like
// any other; nothing here knows about planning.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:generate sh -c "go run example.org/headroom/scripts/contract > ui/src/api/contract.ts"

// dist has stub.html if the page has not been built, so that everything compiles without it.
//
//go:embed all:dist
var dist embed.FS

// Page answers the page's addresses.
type Page struct {
	index document
	files map[string]document // by name below /ui/
}

// document holds a body in both of its forms.
type document struct {
	body       []byte
	zipped     func() []byte
	kind, etag string
}

// policy lets the page load only its own files. Charts become pictures through data and blob addresses.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2"}

const index = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Headroom</title>
<link rel="icon" type="image/svg+xml" href="/ui/{{.Mark}}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="/ui/{{.Font}}">
<link rel="stylesheet" href="/ui/{{.Style}}">
<script type="module" src="/ui/{{.Script}}"></script>
<div id="app"></div>
<noscript>Headroom's page needs JavaScript; "headroom" on the command line and /docs do not.</noscript>
`

// New reads the built files. Without them the page explains how to build it.
func New() *Page {
	p := &Page{files: map[string]document{}}
	var main struct{ Script, Style, Mark, Font string }
	files := built()
	for name, body := range files {
		kind, ok := kinds[path.Ext(name)]
		if !ok {
			continue
		}
		p.files[name] = newDocument(body, kind)
		switch start, _, _ := strings.Cut(name, "-"); start + path.Ext(name) {
		case "main.js":
			main.Script = name
		case "main.css":
			main.Style = name
		case "mark.svg":
			main.Mark = name
		case "inter.woff2":
			main.Font = name
		}
	}
	text := files["stub.html"]
	if main.Script != "" {
		var b bytes.Buffer
		_ = template.Must(template.New("index").Parse(index)).Execute(&b, main) // four words into memory: it cannot fail
		text = b.Bytes()
	}
	p.index = newDocument(text, "text/html; charset=utf-8")
	return p
}

// built returns the files of dist. Reading embedded files cannot fail.
func built() map[string][]byte {
	files := map[string][]byte{}
	_ = fs.WalkDir(dist, "dist", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[path.Base(name)], err = dist.ReadFile(name)
		}
		return err
	})
	return files
}

func newDocument(body []byte, kind string) document {
	sum := sha256.Sum256(body)
	return document{body, sync.OnceValue(func() []byte { return zip(body) }), kind, hex.EncodeToString(sum[:8])}
}

func zip(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(body) // into memory: it cannot fail
	_ = z.Close()
	return out.Bytes()
}

// Serve answers a request for the page and reports whether it was one.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	at := r.URL.Path
	if name, ok := strings.CutPrefix(at, "/ui/"); ok {
		d, ok := p.files[name]
		if ok {
			// Its name contains a digest of its content, so that it never changes.
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			d.serve(w, r)
		}
		return ok
	}
	if at != "/" && at != "/welcome" && at != "/overview" && !strings.HasPrefix(at, "/c/") && at != "/settings" && !strings.HasPrefix(at, "/settings/") {
		return false
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", policy)
	p.index.serve(w, r)
	return true
}

func (d *document) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	plain, zipped := `"`+d.etag+`"`, `"`+d.etag+`-gzip"`
	body, etag := d.body, plain
	if r.Header.Get("Accept-Encoding") == "gzip" { // as internal/edge/api sets it, whatever was sent
		body, etag = d.zipped(), zipped
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", d.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", etag)
	if known := r.Header.Get("If-None-Match"); known == plain || known == zipped {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a client that is gone needs no error
	}
}
