package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/google/uuid"

	"headroom/openapi"
)

// An option adds to a request, such as a header or a body.
type option func(*http.Request) error

// call sends a request and reads the answer.
func (s *service) call(ctx context.Context, r openapi.Request, options ...option) (answer, error) {
	return s.said(s.send(ctx, r, options...))
}

// send sends a request. The caller closes the response's body.
func (s *service) send(ctx context.Context, r openapi.Request, options ...option) (*http.Response, error) {
	address, err := s.base.Parse("." + r.Path)
	if err != nil {
		return nil, err
	}
	address.RawQuery = r.Query.Encode()
	request, err := http.NewRequestWithContext(ctx, r.Method, address.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.client.key.Load().(string))
	request.Header.Set("Accept", "application/json, application/problem+json")
	request.Header.Set("User-Agent", "headroom/"+version)
	if r.Method == http.MethodPost {
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	for _, option := range options {
		if err := option(request); err != nil {
			return nil, err
		}
	}
	return s.client.Do(request)
}

// withoutTimeout returns a service that has no limit on how long one request may take.
func (s *service) withoutTimeout() *service {
	long, client := *s, *s.client.client
	client.Timeout = 0
	long.client.client = &client
	return &long
}

func header(name, value string) option {
	return func(r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}
}

// ifMatch lets a change happen only to the version that was seen.
func ifMatch(version string) option { return header("If-Match", `"`+version+`"`) }

// respondAsync asks for a run instead of an answer.
func respondAsync() option { return header("Prefer", "respond-async") }

// content sends a text, which can be sent again.
func content(contentType string, text []byte) option {
	return func(r *http.Request) error {
		r.Header.Set("Content-Type", contentType)
		if len(text) == 0 {
			return nil
		}
		r.ContentLength = int64(len(text))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
		var err error
		r.Body, err = r.GetBody()
		return err
	}
}

// jsonBody sends a text that is JSON.
func jsonBody(text []byte) option { return content("application/json", text) }

// jsonOf sends a value as JSON.
func jsonOf(value any) option {
	return func(r *http.Request) error {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return jsonBody(text)(r)
	}
}

// upload sends a file of this many bytes, or of an unknown length below 0. It cannot be sent again, so the request has
// no Idempotency-Key. The server may refuse it before gigabytes are sent.
func upload(file io.Reader, size int64) option {
	return func(r *http.Request) error {
		r.Body = io.NopCloser(file)
		r.ContentLength = size
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set("Expect", "100-continue")
		r.Header.Del("Idempotency-Key")
		return nil
	}
}
