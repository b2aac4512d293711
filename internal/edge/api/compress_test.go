package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
)

// asSent sends a request with a client that does not decompress answers by itself.
func (s *service) asSent(method, path, accepts string, headers ...string) answered {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	if accepts != "" {
		r.Header.Set("Accept-Encoding", accepts)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		s.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return answered{a, text}
}

func unzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func TestAnswersAreCompressedForWhoAcceptsIt(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	for i := range 30 {
		s.ask(s.admin, "POST", "/v1/clusters", fmt.Sprintf(`{"name":"one-%d"}`, i)).want(t, 201)
	}
	s.cluster("big")
	for i := range 15 {
		s.ask(s.admin, "POST", "/v1/clusters/big/classes", fmt.Sprintf(`{"name":"class-%02d","vms_per_job":"1.5","jobs":{"min":0,"max":3},"penalty":"5.00"}`, i)).want(t, 201)
	}
	s.ask(s.admin, "POST", "/v1/clusters/big/plans", nil).want(t, 201)
	s.shows("big", 1)
	report := "/v1/clusters/mine/reports/" + s.reportInMine() + "/file"
	for _, at := range []struct {
		path string
		zips bool
	}{
		{"/v1/clusters?limit=100", true},
		{"/v1/clusters?limit=100&format=csv", true},
		{"/v1/clusters?limit=100&format=xlsx", false}, // is compressed already
		{"/v1/clusters/big/plans/current", true},
		{"/v1/clusters/night/plans/current", false}, // are short, and polled
		{"/v1/clusters/night/plans/current/scaling", false},
		{"/v1/clusters/night/plans/1", true},
		{"/docs", true},
		{"/openapi.yaml", true},
		{"/v1/clusters/night", false}, // is short
		{"/v1/clusters/none", false},
		{report, false}, // parts of it can be requested
	} {
		plain := s.asSent("GET", at.path, "")
		if plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s for who accepts nothing: %v", at.path, plain.Header)
		}
		if got := len(plain.text) >= minCompressed; at.zips && !got {
			t.Errorf("%s has %d bytes only: the test proves less than it should", at.path, len(plain.text))
		}
		for _, accepts := range []string{"gzip", "br, GZIP;q=0.5", "*", "identity;q=0.5, *;q=0.7", "gzip;q=0", "*;q=0", "deflate", "identity, gzip;q=0.5", "gzip;q=2", "notgzip"} {
			want := at.zips && strings.Contains("|gzip|br, GZIP;q=0.5|*|identity;q=0.5, *;q=0.7|", "|"+accepts+"|")
			got := s.asSent("GET", at.path, accepts)
			if zips := got.Header.Get("Content-Encoding") == "gzip"; zips != want || got.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s for %q: %v", at.path, accepts, got.Header)
				continue
			}
			if got.StatusCode != plain.StatusCode || got.Header.Get("Content-Type") != plain.Header.Get("Content-Type") || got.Header.Get("No-Gzip-Compression") != "" {
				t.Errorf("%s for %q: %s %v", at.path, accepts, got.Status, got.Header)
			}
			if length := got.Header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(got.text)) {
				t.Errorf("%s for %q: %s bytes said, %d sent", at.path, accepts, length, len(got.text))
			}
			if !want {
				continue
			}
			// contains its age
			if text := unzipped(t, got.text); !bytes.Equal(text, plain.text) && !strings.HasSuffix(at.path, "/current") {
				t.Errorf("%s is another text when it is compressed", at.path)
			}
			if len(got.text) >= len(plain.text) {
				t.Errorf("%s: %d bytes become %d", at.path, len(plain.text), len(got.text))
			}
			head := s.asSent("HEAD", at.path, accepts)
			if len(head.text) != 0 || head.StatusCode != 200 {
				t.Errorf("HEAD %s: %s with %d bytes", at.path, head.Status, len(head.text))
			}
			// Both forms have a strong ETag of their own, and each is recognised whatever the request accepts.
			tag := got.Header.Get("ETag")
			if tag == "" {
				if !strings.Contains(at.path, "csv") {
					t.Errorf("%s has no ETag", at.path)
				}
				continue
			}
			if tag == plain.Header.Get("ETag") {
				t.Errorf("%s has the ETag %s in both forms", at.path, tag)
			}
			for _, known := range []string{tag, plain.Header.Get("ETag")} {
				again := s.asSent("GET", at.path, accepts, "If-None-Match", known)
				if again.StatusCode != 304 || again.Header.Get("ETag") != known || again.Header.Get("Content-Encoding") != "" {
					t.Errorf("%s unless %s: %s %v", at.path, known, again.Status, again.Header)
				}
			}
		}
	}
	// A part of a file is a part of the uncompressed file.
	whole := s.asSent("GET", report, "gzip")
	part := s.asSent("GET", report, "gzip", "Range", "bytes=5-", "If-Range", whole.Header.Get("ETag"))
	if part.StatusCode != 206 || !bytes.Equal(part.text, whole.text[5:]) {
		t.Errorf("a part of a report: %s %q of %q", part.Status, part.text, whole.text)
	}
}

// A version that was read compressed is good for a change.
func TestACompressedVersionCanBeChanged(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const at = "/v1/clusters/night/document"
	got := s.asSent("GET", at, "gzip")
	tag, text := got.Header.Get("ETag"), unzipped(t, got.text)
	if !strings.HasSuffix(tag, `-gzip"`) {
		t.Fatalf("the document has %d bytes and the ETag %s", len(text), tag)
	}
	s.ask(s.admin, "PUT", at, text, "If-Match", tag, "Accept-Encoding", "identity").want(t, 200)
}

// Newly drawn secrets are never compressed together with text of the request.
func TestSecretsAreSentAsTheyAre(t *testing.T) {
	t.Parallel()
	s := newService(t)
	clusters := make([]string, 60)
	for i := range clusters {
		clusters[i] = fmt.Sprintf("cluster-%020d", i)
	}
	body := map[string]any{"name": "many", "role": auth.Viewer, "clusters": clusters}
	made := s.ask(s.admin, "POST", "/v1/keys", body, "Accept-Encoding", "gzip").want(t, 201)
	if made.Header.Get("Content-Encoding") != "" || len(made.text) < minCompressed || !bytes.Contains(made.text, []byte(auth.KeyPrefix)) {
		t.Errorf("a new key comes with %v: %s", made.Header, made.text)
	}
}

// Events come as they happen, also to browsers, which accept gzip.
func TestEventsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	for _, path := range []string{"/v1/clusters/night/plans/events", s.planRun("night") + "/events"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.admin)
		r.Header.Set("Accept-Encoding", "gzip, br")
		a, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		came := make(chan string, 1)
		go func() {
			for lines := bufio.NewScanner(a.Body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event: ") {
					came <- lines.Text()
					return
				}
			}
			close(came)
		}()
		select {
		case line := <-came:
			if line == "" || a.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %q with %v", path, line, a.Header)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: no event comes", path)
		}
	}
}
