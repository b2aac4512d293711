// Package client asks a Headroom server: it solves problems, reads a cluster's plan and what autoscalers follow, asks for
// places of jobs, and imports past runs. It needs the standard library alone.
//
// What it sends and reads is part of v1 of the API, which docs/reference/compatibility.md promises to keep.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Client asks one server. Several goroutines may use it at once.
type Client struct {
	Server string       // the address, such as https://headroom.example.com
	Key    string       // begins with hrk_
	HTTP   *http.Client // nil is http.DefaultClient

	// Tries bounds how often a request is sent that the server refuses for the moment or does not answer; 0 is 4.
	// Between two the client waits as long as Retry-After says, or half a second and then twice as long each time.
	Tries int
}

// New returns a client of a server that asks with a key.
func New(server, key string) *Client { return &Client{Server: server, Key: key} }

// firstWait is the time to the second try where the server names none.
const firstWait = 500 * time.Millisecond

// maxAnswer bounds the answers that are read.
const maxAnswer = 64 << 20

// request is one operation.
type request struct {
	method, path string
	body         io.ReadSeeker // nil is none
	media        string
	once         bool // gets an Idempotency-Key, so that a repetition does nothing twice
}

// path joins parts of an address, each escaped.
func path(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return "/v1/" + strings.Join(escaped, "/")
}

// asJSON returns a request with a value as its body.
func asJSON(method, path string, value any) (request, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return request{}, fmt.Errorf("write the request as JSON: %w", err)
	}
	return request{method: method, path: path, body: bytes.NewReader(text), media: "application/json"}, nil
}

// send asks until the server answers, and reads the answer into a value unless that is nil.
func (c *Client) send(ctx context.Context, r request, into any) error {
	key := ""
	if r.once {
		key = rand.Text()
	}
	tries, wait := c.Tries, firstWait
	if tries < 1 {
		tries = 4
	}
	for try := 1; ; try++ {
		again, err := c.try(ctx, r, key, into)
		if err == nil || !again || try >= tries || ctx.Err() != nil {
			return err
		}
		pause := wait
		if p := (*Problem)(nil); errors.As(err, &p) && p.RetryAfter > 0 {
			pause = p.RetryAfter
		}
		if end, bounded := ctx.Deadline(); bounded && time.Until(end) < pause {
			return err // which says more than that the time is up
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(pause):
		}
		wait *= 2
	}
}

// try asks once. again says whether it may be asked once more.
func (c *Client) try(ctx context.Context, r request, key string, into any) (again bool, err error) {
	ask, err := http.NewRequestWithContext(ctx, r.method, strings.TrimSuffix(c.Server, "/")+r.path, nil)
	if err != nil {
		return false, err
	}
	if r.body != nil {
		if ask.ContentLength, err = r.body.Seek(0, io.SeekEnd); err == nil {
			_, err = r.body.Seek(0, io.SeekStart)
		}
		if err != nil {
			return false, fmt.Errorf("read the body: %w", err)
		}
		ask.Body = io.NopCloser(r.body) // nothing but its owner closes it
	}
	ask.Header.Set("Authorization", "Bearer "+c.Key)
	ask.Header.Set("Accept", "application/json")
	if r.media != "" {
		ask.Header.Set("Content-Type", r.media)
	}
	if key != "" {
		ask.Header.Set("Idempotency-Key", key)
	}
	doer := c.HTTP
	if doer == nil {
		doer = http.DefaultClient
	}
	answer, err := doer.Do(ask)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return true, fmt.Errorf("read the answer to %s %s: %w", r.method, r.path, err)
	case len(text) > maxAnswer:
		return false, fmt.Errorf("the answer to %s %s has more than %d MiB", r.method, r.path, maxAnswer>>20)
	case answer.StatusCode >= 400:
		return answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable, refusal(answer, text)
	case into == nil:
		return false, nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("read the answer to %s %s: %w", r.method, r.path, err)
	}
	return false, nil
}

// A Problem is a refusal by the server (RFC 9457). errors.As finds it.
type Problem struct {
	Type      string      `json:"type"` // such as /problems/infeasible, an address of the server that explains it
	Title     string      `json:"title"`
	Status    int         `json:"status"`
	Detail    string      `json:"detail"`
	Instance  string      `json:"instance"` // the request's id, which the server's log has as well
	Errors    []Fault     `json:"errors"`
	Conflicts []Fault     `json:"conflicts"` // why no plan meets the demands
	Hint      *Hint       `json:"hint"`
	Header    http.Header `json:"-"`

	RetryAfter time.Duration `json:"-"` // 0 where the server names no time
}

// A Fault is one thing that is wrong.
type Fault struct {
	Pointer   string `json:"pointer"`   // JSON pointer into the body
	Parameter string `json:"parameter"` // of the address, or a header
	Detail    string `json:"detail"`
	Code      string `json:"code"` // such as unknown_member
	Hint      *Hint  `json:"hint"`
}

// A Hint is a cure: put Value at Pointer.
type Hint struct {
	Detail  string          `json:"detail"`
	Pointer string          `json:"pointer"`
	Value   json.RawMessage `json:"value"`
}

// Kind returns the last part of the type, such as "infeasible", "not-found" or "too-many-requests".
func (p *Problem) Kind() string { return p.Type[strings.LastIndexByte(p.Type, '/')+1:] }

func (p *Problem) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s (%d): %s", p.Title, p.Status, p.Detail)
	for _, f := range append(p.Errors, p.Conflicts...) {
		if f.Detail != p.Detail {
			fmt.Fprintf(&s, "; %s: %s", f.Pointer+f.Parameter, f.Detail)
		}
	}
	return s.String()
}

// refusal reads a refusal; one without a problem document, such as a proxy's, has its status alone.
func refusal(answer *http.Response, text []byte) error {
	p := &Problem{Header: answer.Header}
	if err := json.Unmarshal(text, p); err != nil || p.Title == "" {
		p.Title, p.Detail = http.StatusText(answer.StatusCode), strings.TrimSpace(string(text[:min(len(text), 200)]))
	}
	p.Status = answer.StatusCode
	if seconds, err := strconv.ParseInt(answer.Header.Get("Retry-After"), 10, 32); err == nil && seconds >= 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}
