package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/edge/api/docs"
	"example.org/headroom/openapi"
)

// pageCache holds the pages that are made once.
type pageCache struct {
	docs            func() (page, error) // made on the first request, so that no start waits for it
	contract        page
	problems, files map[string]page // by kind, by name
	signIn          map[string]page // by what went wrong
}

// page is a body with its headers.
type page struct {
	body        []byte
	contentType string
	policy      string // of its content
	etag        string
}

func newPage(body []byte, contentType, policy string) page {
	sum := sha256.Sum256(body)
	return page{body, contentType, policy, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

func (p page) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", p.contentType)
	h.Set("Content-Security-Policy", p.policy)
	h.Set("ETag", p.etag)
	if matches(r.Header.Values("If-None-Match"), p.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(p.body)))
	_, _ = w.Write(p.body) // as it is, for readers that are slow; a client that is gone needs no error
}

const htmlType = "text/html; charset=utf-8"

// renderPages makes the pages.
func (s *server) renderPages() error {
	limits := docs.Limits{SolvesPerSecond: s.config.SolvesPerSecond, RequestsPerSecond: s.config.RequestsPerSecond,
		BodyMB: s.config.Limits.Bytes >> 20, Classes: s.config.Limits.Classes}
	reference := sync.OnceValues(func() (page, error) {
		doc, err := docs.Load(openapi.Document)
		if err != nil {
			return page{}, err
		}
		text, err := docs.Render(doc, s.config.Version, limits, Problems())
		debug.FreeOSMemory() // reading the contract takes 60 MB, once
		return newPage(text, htmlType, policyOfPages), err
	})
	s.pages = pageCache{
		docs: reference, contract: newPage(openapi.Document, "application/yaml", policyOfData),
		problems: map[string]page{}, files: map[string]page{},
	}
	for _, p := range Problems() {
		var b bytes.Buffer
		if err := docs.Templates().ExecuteTemplate(&b, "problem.html", p); err != nil {
			return fmt.Errorf("render the page of the problem %s: %w", p.Name, err)
		}
		s.pages.problems[p.Name] = newPage(b.Bytes(), htmlType, policyOfPages)
	}
	if err := s.renderSignIn(); err != nil {
		return err
	}
	return s.loadFiles()
}

// loadFiles reads the files that the pages load.
func (s *server) loadFiles() error {
	files, err := docs.Files()
	for name, body := range files {
		s.pages.files[name] = newPage(body, fileType(name), policyOfData)
	}
	return err
}

// fileType does not leave the types our pages need to the system's tables, which differ.
func fileType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func (s *server) docs(w http.ResponseWriter, r *http.Request) {
	reference, err := s.pages.docs()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reference.serve(w, r)
}

func (s *server) guide(w http.ResponseWriter, r *http.Request) {
	text, found, err := docs.Guide(s.config.Version, chi.URLParam(r, "chapter"), chi.URLParam(r, "page"), r.URL.Query().Get("q"))
	switch {
	case err != nil:
		s.fail(w, r, err)
	case !found:
		s.notFound(w, r)
	default:
		newPage(text, htmlType, policyOfGuides).serve(w, r)
	}
}

func (s *server) openapi(w http.ResponseWriter, r *http.Request) { s.pages.contract.serve(w, r) }

func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	s.oneOf(s.pages.files, chi.URLParam(r, "file"), w, r)
}

// problemPage answers the address that is a problem's type.
func (s *server) problemPage(w http.ResponseWriter, r *http.Request) {
	s.oneOf(s.pages.problems, chi.URLParam(r, "kind"), w, r)
}

func (s *server) oneOf(pages map[string]page, name string, w http.ResponseWriter, r *http.Request) {
	p, ok := pages[name]
	if !ok {
		s.notFound(w, r)
		return
	}
	p.serve(w, r)
}
