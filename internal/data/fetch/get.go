package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	maxRedirects = 3
	// minArrives is the part of a file that must arrive within Config.Stall.
	minArrives = 256 << 10
)

var errStalled = errors.New("too little comes")

// Download is a file in transit. It has its announced length, or reading it ends in an *Error.
type Download struct {
	Size int64 // -1: not announced

	body    io.ReadCloser
	left    int64 // bytes that may still come
	window  int64 // bytes that must still arrive before the time is over
	timer   *time.Timer
	stall   time.Duration
	most    int64
	working context.Context // of the request that it answers
	end     func()
	release func()
	target  Target
}

// Get fetches a file of at most limit bytes, however long that takes as long as bytes arrive. It follows redirects on
// the same host alone. An error is an *Error, unless the caller went away or the list could not be read. The caller
// closes the Download.
func (c *Client) Get(ctx context.Context, address string, limit int64) (*Download, error) {
	return c.fetch(ctx, address, limit, nil)
}

// fetch is Get, over the connections of a visit if there is one.
func (c *Client) fetch(ctx context.Context, address string, limit int64, over *visit) (*Download, error) {
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-c.places }
	d, err := c.follow(ctx, address, limit, over)
	if err != nil {
		release()
		return nil, err
	}
	d.release = release
	return d, nil
}

func (c *Client) follow(ctx context.Context, address string, limit int64, over *visit) (*Download, error) {
	target, host, err := c.allowed(ctx, address)
	if err != nil {
		return nil, err
	}
	for range maxRedirects + 1 {
		d, next, err := c.get(ctx, target, host, limit, over)
		if err != nil || d != nil {
			return d, err
		}
		on, fault := ParseTarget(next)
		if fault == "" && (on.Host != target.Host || on.Port != target.Port || on.Scheme != target.Scheme) {
			fault = fmt.Sprintf("%s sends on to another place (%s://%s), where nothing is fetched from; give the address of the file itself.", target.Label(), on.Scheme, on.Label())
		}
		if fault != "" {
			return nil, refused(fault)
		}
		target = on
	}
	return nil, refused(fmt.Sprintf("%s sends on more than %d times.", target.Label(), maxRedirects))
}

// get asks once, and returns a file or the address to ask next.
func (c *Client) get(ctx context.Context, target Target, host AllowedHost, limit int64, over *visit) (d *Download, next string, err error) {
	working, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.config.Stall, func() { cancel(errStalled) })
	transport, leave := over.transport(host)
	if transport == nil {
		transport = c.transport(host, 1)
		leave = transport.CloseIdleConnections
	}
	end := func() {
		timer.Stop()
		cancel(nil)
		leave()
	}
	defer func() {
		if d == nil {
			end()
		}
	}()
	r, err := http.NewRequestWithContext(working, http.MethodGet, target.URL, nil)
	if err != nil {
		return nil, "", refused(fmt.Sprintf("The address of %s cannot be used.", target.Label()))
	}
	r.Header.Set("User-Agent", c.config.UserAgent)
	response, err := transport.RoundTrip(r) // follows no redirect
	if err != nil {
		if errors.Is(context.Cause(working), errStalled) {
			err = context.DeadlineExceeded
		}
		return nil, "", c.failed(ctx, target, c.config.Stall, err)
	}
	switch {
	case response.StatusCode == http.StatusOK:
	case response.StatusCode >= 300 && response.StatusCode < 400 && response.Header.Get("Location") != "":
		defer response.Body.Close()
		base, err := url.Parse(target.URL)
		var on *url.URL
		if err == nil {
			on, err = base.Parse(response.Header.Get("Location"))
		}
		if err != nil {
			return nil, "", refused(fmt.Sprintf("%s sends on to something that is no address.", target.Label()))
		}
		return nil, on.String(), nil
	default:
		response.Body.Close()
		again := response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusRequestTimeout
		return nil, "", &Error{Final: !again, After: retryAfter(response.Header.Get("Retry-After")), Sentence: fmt.Sprintf("%s answers %d %s instead of the file.", target.Label(), response.StatusCode, http.StatusText(response.StatusCode))}
	}
	d = &Download{Size: response.ContentLength, body: response.Body, left: limit, most: limit, window: minArrives, timer: timer, stall: c.config.Stall, working: working, end: end, target: target}
	if d.Size > limit {
		d.body.Close()
		end()
		return nil, "", d.tooLarge()
	}
	return d, "", nil
}

func (d *Download) tooLarge() *Error {
	return &Error{Final: true, Sentence: fmt.Sprintf("The file at %s has more than %d bytes, the most that are fetched (HEADROOM_IMPORT_MAX_BYTES).", d.target.Label(), d.most)}
}

// Read reads the next bytes.
func (d *Download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return n, d.tooLarge()
	}
	if d.window -= int64(n); d.window <= 0 {
		d.window = minArrives
		d.timer.Reset(d.stall)
	}
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case errors.Is(context.Cause(d.working), errStalled):
		return n, &Error{Sentence: fmt.Sprintf("%s sends too little: less than %d KiB in %s.", d.target.Label(), minArrives>>10, d.stall)}
	case d.working.Err() != nil:
		return n, d.working.Err()
	}
	return n, &Error{Sentence: d.target.Label() + " closed the connection before the file was complete.", cause: err}
}

// Close ends the download, with or without a rest.
func (d *Download) Close() error {
	d.end()
	err := d.body.Close()
	d.release()
	return err
}
