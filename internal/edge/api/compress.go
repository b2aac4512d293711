package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compressible lists the kinds of answers that compression makes smaller. It omits streams of events, so that no
// event waits in a compressor, and spreadsheets and archives, which are already compressed.
var compressible = []string{"application/json", "application/problem+json", "application/yaml", "text/csv", "text/html", "text/plain", "text/css", "text/javascript"}

// minCompressed is the smallest size to compress: smaller answers fit one packet anyhow.
const minCompressed = 1024

// newCompressor returns the layer that sends answers with gzip to clients that accept it. It is inserted below the
// answer that the other layers write to, so that an answer's pieces get their time limits before they are compressed.
//
// The length of a compressed answer reveals no secret (BREACH). Other sites cannot make a browser send requests with
// somebody's session (its cookie is SameSite=Strict), and a secret is answered once, when it is drawn. Answers with
// secrets are nevertheless sent uncompressed.
func newCompressor() (func(http.Handler) http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.ContentTypes(compressible), gzhttp.MinSize(minCompressed),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.SuffixETag(zippedTag), gzhttp.SetContentType(false))
	if err != nil {
		return nil, fmt.Errorf("make the compressor: %w", err)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a, ours := w.(*answer)
			if !ours || !acceptsGzip(r) {
				next.ServeHTTP(w, r)
				return
			}
			plain := a.ResponseWriter
			defer func() { a.ResponseWriter = plain }()
			delete(a.Header(), vary) // the wrapper adds it
			wrap(http.HandlerFunc(func(zipping http.ResponseWriter, r *http.Request) {
				a.ResponseWriter = zipping
				next.ServeHTTP(a, r)
			}))(plain, r)
		})
	}, nil
}

const acceptEncoding, vary = "Accept-Encoding", "Vary"

var varies, gzipCoding = []string{acceptEncoding}, []string{"gzip"}

// codings sets the header Accept-Encoding to "gzip", or removes it, so that no other layer need parse it. It turns
// ETags in a request into those of uncompressed answers.
func codings(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// shared by all answers; a handler that sets another one replaces it
		w.Header()[vary] = varies[:1:1]
		if accepted := r.Header[acceptEncoding]; len(accepted) != 1 || accepted[0] != "gzip" { // the form that polling programs send
			if readsGzip(accepted) {
				r.Header[acceptEncoding] = gzipCoding
			} else {
				delete(r.Header, acceptEncoding)
			}
		}
		for _, name := range [...]string{"If-None-Match", "If-Match"} {
			if plain, changed := plainTags(r.Header[name]); changed {
				r.Header[name] = plain
				w = &knownZipped{w}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// acceptsGzip reports whether an answer may be compressed, for a request that has passed codings.
func acceptsGzip(r *http.Request) bool { return r.Header[acceptEncoding] != nil }

// readsGzip reads Accept-Encoding (RFC 9110, 12.5.3): the entry for gzip, or otherwise that for all others. Without
// either, or with a preference for identity, nothing is compressed.
func readsGzip(lines []string) bool {
	gzip, identity, others := -1.0, 0.0, 0.0
	for one := range strings.SplitSeq(strings.ToLower(strings.Join(lines, ",")), ",") {
		coding, parameters, _ := strings.Cut(one, ";")
		q := 1.0
		if text, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
			var err error
			if q, err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || !(q >= 0 && q <= 1) {
				q = 0
			}
		}
		switch strings.TrimSpace(coding) {
		case "gzip", "x-gzip": // the same (RFC 9110, 8.4.1.3)
			gzip = q
		case "identity":
			identity = q
		case "*":
			others = q
		}
	}
	if gzip < 0 {
		gzip = others
	}
	return gzip > 0 && gzip >= identity
}

// A compressed answer is another representation with an ETag of its own (RFC 9110, 8.8.3.3): that of the plain one
// with zippedTag at its end. Handlers know only the plain ones.
const zippedTag = "-gzip"

func ofZipped(etag string) string { return strings.TrimSuffix(etag, `"`) + zippedTag + `"` }

// plainTags returns ETags without zippedTag.
func plainTags(lines []string) (plain []string, changed bool) {
	for i, line := range lines {
		if strings.Contains(line, zippedTag+`"`) {
			if !changed {
				plain, changed = slices.Clone(lines), true
			}
			plain[i] = strings.ReplaceAll(line, zippedTag+`"`, `"`)
		}
	}
	return plain, changed
}

// knownZipped answers a client that has a compressed answer: a 304 carries its ETag.
type knownZipped struct{ http.ResponseWriter }

func (w *knownZipped) WriteHeader(status int) {
	if h := w.Header(); status == http.StatusNotModified && h["Etag"] != nil && !strings.HasSuffix(h["Etag"][0], zippedTag+`"`) {
		h["Etag"] = []string{ofZipped(h["Etag"][0])}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (w *knownZipped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sendAsIs keeps an answer from being compressed.
func sendAsIs(w http.ResponseWriter, r *http.Request) {
	if acceptsGzip(r) { // the compressor takes it away again
		w.Header()[gzhttp.HeaderNoCompression] = []string{"1"}
	}
}
