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

// compressible are the kinds of answers that become smaller. Streams of events are not among them, so that no event
// waits in a compressor; nor are spreadsheets and archives, which are compressed already.
var compressible = []string{"application/json", "application/problem+json", "application/yaml", "text/csv", "text/html", "text/plain", "text/css", "text/javascript"}

// minCompressed is the least size of what is compressed: less fits one packet anyhow.
const minCompressed = 1024

// newCompressor makes the layer that sends answers with gzip to who accepts that. It puts itself below the answer that
// the other layers write to, so that an answer's pieces have their time limits before they are compressed.
//
// The length of a compressed answer gives no secret away (BREACH): other sites cannot have a browser ask for answers
// with somebody's session (its cookie is SameSite=Strict), and a secret is answered once, when it is drawn. Answers with
// secrets are sent as they are all the same.
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

// codings makes the header Accept-Encoding "gzip", or takes it away, so that nobody else need read it. ETags that a
// request names become those of answers as they are before they are compressed.
func codings(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[vary] = varies[:1:1]                                                        // shared by all answers; who sets another one replaces it
		if accepted := r.Header[acceptEncoding]; len(accepted) != 1 || accepted[0] != "gzip" { // as programs that poll say it
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

// acceptsGzip says whether an answer may be compressed, of a request that has passed codings.
func acceptsGzip(r *http.Request) bool { return r.Header[acceptEncoding] != nil }

// readsGzip reads Accept-Encoding (RFC 9110, 12.5.3): gzip by its name, or else what is said of all others. Nothing is
// compressed for who has said of neither that it will do, or would rather have it as it is.
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

// A compressed answer is another representation with an ETag of its own (RFC 9110, 8.8.3.3): that of the plain one, and
// zippedTag at its end. Handlers know the plain ones alone.
const zippedTag = "-gzip"

func ofZipped(etag string) string { return strings.TrimSuffix(etag, `"`) + zippedTag + `"` }

// plainTags are ETags without zippedTag.
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

// knownZipped answers somebody who has a compressed answer: that it still holds is said with its ETag.
type knownZipped struct{ http.ResponseWriter }

func (w *knownZipped) WriteHeader(status int) {
	if h := w.Header(); status == http.StatusNotModified && h["Etag"] != nil && !strings.HasSuffix(h["Etag"][0], zippedTag+`"`) {
		h["Etag"] = []string{ofZipped(h["Etag"][0])}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *knownZipped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sendAsIs keeps an answer from being compressed.
func sendAsIs(w http.ResponseWriter, r *http.Request) {
	if acceptsGzip(r) { // the compressor takes it away again
		w.Header()[gzhttp.HeaderNoCompression] = []string{"1"}
	}
}
