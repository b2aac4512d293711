package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.org/headroom/internal/core/trace"
)

// contractOperations returns every operation with its parameters and body.
func contractOperations(tb testing.TB) []*operation {
	tb.Helper()
	byRoute, err := readOperations()
	if err != nil {
		tb.Fatal(err)
	}
	var all []*operation
	for _, o := range byRoute {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *operation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// named checks that an error is a refusal, and names the fault.
func named(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var r refusal
	if !errors.As(err, &r) {
		t.Fatalf("refused with %v, which is no problem document", err)
	}
	if r.problem.Status < 400 || r.problem.Status > 499 || r.problem.Detail == "" && len(r.problem.Errors) == 0 || !utf8.ValidString(r.problem.Detail) {
		t.Errorf("refused with %+v", r.problem)
	}
}

// Any body is checked against its operation's rules, and accepted or refused by name.
func FuzzBodies(f *testing.F) {
	var all []*operation
	for _, o := range contractOperations(f) {
		if o.Body != nil {
			all = append(all, o)
		}
	}
	for i := range all {
		for _, seed := range []string{someVMType, somePrice, someContract, someClass, adHoc, someProfile, `{"name":"x","role":"viewer","clusters":["a"],"expires_at":"2030-01-01T00:00:00Z"}`, `[]`, `{"a":1,"a":2}`} {
			f.Add(uint8(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		named(t, checkBody(text, all[int(which)%len(all)].Body))
	})
}

// Any query or header is accepted or refused by name.
func FuzzParameters(f *testing.F) {
	all := contractOperations(f)
	for i, o := range all {
		for _, p := range o.Parameters {
			for _, seed := range []string{"1", "-1", "2026-03-01T22:00:00+01:00", "csv", "a%20b", "%zz", "\xff"} {
				f.Add(uint16(i), p.Name+"="+seed, seed)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, query, header string) {
		o := all[int(which)%len(all)]
		r := httptest.NewRequest(http.MethodGet, "/x", nil)
		r.URL.RawQuery = query
		for _, p := range o.Parameters {
			if p.In == "header" {
				r.Header.Set(p.Name, header)
			}
		}
		err := o.checkParameters(r)
		named(t, err)
		if err == nil {
			for _, p := range o.Parameters {
				for _, value := range r.URL.Query()[p.Name] {
					if p.In == "query" && (!utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl)) {
						t.Errorf("%s: %q is taken for %s", o.ID, value, p.Name)
					}
				}
			}
		}
	})
}

// Headers are parsed by hand in some places: none of them breaks on invalid ones, and accepted values are those that
// were sent.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{`"1"`, `W/"1"`, `"1", "2"`, "*", "respond-async, wait=10", "wait=9999999999999999999", "text/csv;q=0.1", "application/json; charset=utf-8", "Bearer hrk_x", "[::1]:80", "hrk_AAAA", "9223372036854775807", ""} {
		f.Add(seed)
	}
	s := &server{config: Config{Hosts: []string{"plans.example.com"}}}
	f.Fuzz(func(t *testing.T, text string) {
		if version, err := seenVersion(&text); err == nil && etagOf(version) != text {
			t.Errorf("%q is the ETag of %d", text, version)
		}
		_, err := seenVersion(&text)
		named(t, err)
		r := httptest.NewRequest(http.MethodPost, "/x", nil)
		for _, name := range []string{"Last-Event-Id", "Prefer", "Accept", "Content-Type", "Content-Encoding", "Authorization", "Cookie", "Origin", "Sec-Fetch-Site", "If-None-Match"} {
			r.Header.Set(name, text)
		}
		_, err = lastEventID(r)
		named(t, err)
		if wait := preferredWait(text); wait < 0 || wait > longestWait {
			t.Errorf("%q is a wait of %v", text, wait)
		}
		_, _ = preferAsync(&text), wantsCSV(r)
		_, _ = plainJSON(r.Header.Values("Content-Type"))
		_, _ = plainCoding(r)
		_, _ = sentToken(r)
		_, _, _ = s.sessionToken(r), s.crossOrigin(r), matches([]string{text}, `"1"`)
		if id := newRequestID(text, trace.TraceIn(text)); len(id) > 64 || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
			t.Errorf("%q is the request's id %q", text, id)
		}
		if name := hostName(text); s.knowsHost(text) && strings.HasSuffix(name, ".example") {
			t.Errorf("the host %q is known as %q", text, name)
		}
	})
}
