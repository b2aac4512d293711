package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// reply is the answer of an operation whose body is a T.
type reply[T any] struct {
	body     T
	created  string        // the last part of the address of the created thing; "" without one
	accepted string        // the address of the background work; "" without any
	applied  string        // the preference that was followed
	empty    bool          // there is no body, though other answers of the operation have one
	etag     string        // with its quotes; "" without one
	text     func() []byte // writes the body's JSON if it already exists; nil encodes body
	next     string        // of a list: the cursor of the next page
	hashed   bool          // the ETag is a hash of the body
	table    *tableReply   // in the place of the body
	retry    int64         // seconds until the request should be repeated; 0 is never
	repeat   *T            // the body for a repetition by Idempotency-Key, if it differs
}

// nothing is the body of answers without one.
type nothing struct{}

// versioned answers a stored thing with its version as its ETag.
func versioned[T any](body T, version int64, err error) (reply[T], error) {
	return reply[T]{body: body, etag: etagOf(version)}, err
}

// created answers a new thing, at an address of its own below that of the request.
func created[T any](body T, version int64, name string, err error) (reply[T], error) {
	return reply[T]{body: body, etag: etagOf(version), created: name}, err
}

// done answers without a body.
func done(err error) (reply[nothing], error) { return reply[nothing]{}, err }

// plain answers a body without a version.
func plain[T any](body T, err error) (reply[T], error) { return reply[T]{body: body}, err }

func etagOf(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// write answers the request; an error is one before anything was written.
func (a reply[T]) write(w http.ResponseWriter, r *http.Request) error {
	if a.table != nil {
		return a.table.write(w, r)
	}
	h := w.Header()
	if a.etag != "" {
		h.Set("ETag", a.etag)
		if reading(r) && matches(r.Header.Values("If-None-Match"), a.etag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if _, empty := any(a.body).(nothing); empty || a.empty {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	text, err := a.json(buffer, &a.body)
	if err != nil {
		return err
	}
	if a.hashed {
		sum := sha256.Sum256(text)
		etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`
		h.Set("ETag", etag)
		if matches(r.Header.Values("If-None-Match"), etag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if a.next != "" {
		h.Set("Link", nextLink(r.URL, a.next))
	}
	if a.retry > 0 {
		h.Set("Retry-After", strconv.FormatInt(a.retry, 10))
	}
	status := http.StatusOK
	if a.created != "" {
		status = http.StatusCreated
		h.Set("Location", r.URL.EscapedPath()+"/"+url.PathEscape(a.created))
	}
	if a.accepted != "" {
		status = http.StatusAccepted
		h.Set("Location", a.accepted)
	}
	if a.applied != "" {
		h.Set("Preference-Applied", a.applied)
	}
	if a.repeat != nil {
		sendAsIs(w, r)
	}
	if kept, ok := w.(*keeper); ok && a.repeat != nil {
		var other bytes.Buffer
		if kept.repeat, err = a.json(&other, a.repeat); err != nil {
			return err
		}
	}
	writeJSON(w, status, text)
	return nil
}

// json returns the body's text.
func (a reply[T]) json(into *bytes.Buffer, body *T) ([]byte, error) {
	if a.text != nil {
		return a.text(), nil
	}
	into.Reset()
	out := json.NewEncoder(into)
	out.SetEscapeHTML(false)
	if err := out.Encode(body); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return strict.WithoutMinusZero(into.Bytes()), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone needs no error
}

// nextLink returns the same request from another cursor (RFC 8288).
func nextLink(u *url.URL, cursor string) string {
	query := u.Query()
	query.Set("cursor", cursor)
	return "<" + u.EscapedPath() + "?" + query.Encode() + `>; rel="next"`
}

func reading(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// matches reports whether an If-None-Match names an ETag. It compares weakly (RFC 9110), because proxies that
// compress make ETags weak.
func matches(lines []string, etag string) bool {
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// seenVersion returns the version in If-Match.
func seenVersion(ifMatch *string) (int64, error) {
	tag, err := seenTag(ifMatch)
	if err != nil {
		return 0, err
	}
	if version, err := strconv.ParseInt(tag, 10, 64); err == nil && version > 0 && strconv.FormatInt(version, 10) == tag {
		return version, nil
	}
	return 0, noETag(*ifMatch)
}

// seenTag returns the text between the quotes of If-Match.
func seenTag(ifMatch *string) (string, error) {
	if ifMatch == nil {
		return "", refusal{versionNeeded.problem("The header If-Match is missing; send the ETag that you have read last, so that nobody's change is overwritten unseen.")}
	}
	tag, opened := strings.CutPrefix(*ifMatch, `"`)
	tag, closed := strings.CutSuffix(tag, `"`)
	switch {
	case opened && closed && !strings.Contains(tag, `"`):
		return tag, nil
	case *ifMatch == "*":
		return "", refusal{aboutParameter("If-Match", "type", "If-Match: * names no version; send the ETag that you have read last.", nil)}
	case strings.HasPrefix(*ifMatch, "W/"):
		return "", refusal{aboutParameter("If-Match", "type", "If-Match names a weak ETag; send the strong one, without W/.", nil)}
	case strings.Contains(*ifMatch, ","):
		return "", refusal{aboutParameter("If-Match", "type", "If-Match names several ETags; send the one that you have read last.", nil)}
	}
	if n, err := strconv.ParseInt(*ifMatch, 10, 64); err == nil {
		return "", refusal{aboutParameter("If-Match", "type", "An ETag stands in double quotes.", &fault.Hint{Detail: "Send " + etagOf(n) + ".", Value: etagOf(n)})}
	}
	return "", noETag(*ifMatch)
}

func noETag(ifMatch string) error {
	return refusal{outdated.problem(fmt.Sprintf("%.60q is no ETag of this thing; read it again and repeat your change.", ifMatch))}
}

// tableReply is a list as a table, whose rows need not all be in memory at once.
type tableReply struct {
	name      string // of the file
	mediaType string // default CSV
	next      string // the cursor of the next page, if only one is wanted
	first     []byte // the heading and the first rows: faults in these still become an error answer
	rest      func(w io.Writer) error
}

func (c *tableReply) write(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", cmp.Or(c.mediaType, tableType))
	h.Set("Content-Disposition", `attachment; filename="`+c.name+`"`)
	if c.next != "" {
		h.Set("Link", nextLink(r.URL, c.next))
	}
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(c.first)
	if err == nil && c.rest != nil && r.Method != http.MethodHead {
		err = c.rest(w)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the answer has begun: cut it off, so that nobody takes it for whole
	}
	return nil
}
