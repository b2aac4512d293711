package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

// An option adds to a request, such as a header or a body.
type Option func(*http.Request) error

// Call sends a request and reads the answer.
func (s *Service) Call(ctx context.Context, r openapi.Request, options ...Option) (Answer, error) {
	return s.ReadReply(s.Send(ctx, r, options...))
}

// CallWithin asks a question whose answer is wanted soon or not at all. A run that it becomes is waited for as long as the
// patience, then cancelled, and the answer is not there.
func (s *Service) CallWithin(
	ctx context.Context, stderr io.Writer, patience time.Duration, r openapi.Request, into any, options ...Option,
) (there bool, err error) {
	response, err := s.Send(ctx, r, options...)
	later := err == nil && response.StatusCode == http.StatusAccepted
	a, err := s.ReadReply(response, err)
	if err != nil {
		return false, err
	}
	if later {
		run, _, err := ReadRun(a, nil)
		if err != nil {
			return false, err
		}
		if a, there, err = s.outcomeWithin(ctx, stderr, patience, run.ID); err != nil || !there {
			return false, err
		}
	}
	err = a.Into(into)
	return err == nil, err
}

// outcomeWithin waits for what a run makes, and cancels one that takes longer.
func (s *Service) outcomeWithin(ctx context.Context, stderr io.Writer, patience time.Duration, id string) (a Answer, there bool, err error) {
	if patience > 0 {
		short, stop := context.WithTimeout(ctx, patience)
		defer stop()
		run, _, err := s.WatchRun(short, stderr, id)
		switch {
		case err == nil && run.State.Over():
			if err = HowItEnded(run); err == nil {
				a, err = s.Call(ctx, openapi.GetRunResult(id, nil))
			}
			return a, err == nil, err
		case short.Err() == nil || ctx.Err() != nil:
			return a, false, err
		}
	}
	_, _ = s.Call(ctx, openapi.CancelRun(id)) // it may have ended
	return a, false, nil
}

// Send sends a request. The caller closes the response's body.
func (s *Service) Send(ctx context.Context, r openapi.Request, options ...Option) (*http.Response, error) {
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
	request.Header.Set("User-Agent", "headroom/"+shell.Version)
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

// WithoutTimeout returns a service that has no limit on how long one request may take.
func (s *Service) WithoutTimeout() *Service {
	long, client := *s, *s.client.client
	client.Timeout = 0
	long.client.client = &client
	return &long
}

func Header(name, value string) Option {
	return func(r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}
}

// IfMatch lets a change happen only to the version that was seen.
func IfMatch(version string) Option { return Header("If-Match", `"`+version+`"`) }

// RespondAsync asks for a run instead of an answer.
func RespondAsync() Option { return Header("Prefer", "respond-async") }

// Content sends a text, which can be sent again.
func Content(contentType string, text []byte) Option {
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

// JSONBody sends a text that is JSON.
func JSONBody(text []byte) Option { return Content("application/json", text) }

// JSONOf sends a value as JSON.
func JSONOf(value any) Option {
	return func(r *http.Request) error {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return JSONBody(text)(r)
	}
}

// Upload sends a file of this many bytes, or of an unknown length below 0. It cannot be sent again, so the request has
// no Idempotency-Key. The server may refuse it before gigabytes are sent.
func Upload(file io.Reader, size int64) Option {
	return func(r *http.Request) error {
		r.Body = io.NopCloser(file)
		r.ContentLength = size
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set("Expect", "100-continue")
		r.Header.Del("Idempotency-Key")
		return nil
	}
}
