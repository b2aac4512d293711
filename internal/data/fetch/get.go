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
	mostRedirects = 3
	// leastArrives is how much of a file must come within Config.Stall.
	leastArrives = 256 << 10
)

var errStalled = errors.New("too little comes")

// Download is a file on its way. It is as long as it was announced, or reading it ends in an *Error.
type Download struct {
	Size int64 // -1: not announced

	body    io.ReadCloser
	left    int64 // that may come
	window  int64 // that must still come before the time is up
	timer   *time.Timer
	stall   time.Duration
	most    int64
	working context.Context // of the one request it is the answer to
	end     func()
	release func()
	target  Target
}

// Get fetches a file of at most so many bytes, however long that takes as long as it comes. Redirects are
// followed on the same host alone. An error is an *Error, unless the caller went away or the list could not
// be read. The caller closes the Download.
func (c *Client) Get(ctx context.Context, address string, most int64) (*Download, error) {
	return c.fetch(ctx, address, most, nil)
}

// fetch is Get, over the connections of a visit where there is one.
func (c *Client) fetch(ctx context.Context, address string, most int64, over *visit) (*Download, error) {
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-c.places }
	d, err := c.follow(ctx, address, most, over)
	if err != nil {
		release()
		return nil, err
	}
	d.release = release
	return d, nil
}

func (c *Client) follow(ctx context.Context, address string, most int64, over *visit) (*Download, error) {
	target, host, err := c.allowed(ctx, address)
	if err != nil {
		return nil, err
	}
	for range mostRedirects + 1 {
		d, next, err := c.get(ctx, target, host, most, over)
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
	return nil, refused(fmt.Sprintf("%s sends on more than %d times.", target.Label(), mostRedirects))
}

// get asks once: for a file, or the address that it is at.
func (c *Client) get(ctx context.Context, target Target, host AllowedHost, most int64, over *visit) (d *Download, next string, err error) {
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
	response, err := transport.RoundTrip(r) // which follows no redirect
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
	d = &Download{Size: response.ContentLength, body: response.Body, left: most, most: most, window: leastArrives, timer: timer, stall: c.config.Stall, working: working, end: end, target: target}
	if d.Size > most {
		d.body.Close()
		end()
		return nil, "", d.tooLarge()
	}
	return d, "", nil
}

func (d *Download) tooLarge() *Error {
	return &Error{Final: true, Sentence: fmt.Sprintf("The file at %s has more than %d bytes, the most that are fetched (HEADROOM_IMPORT_MAX_BYTES).", d.target.Label(), d.most)}
}

// Read reads on.
func (d *Download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return n, d.tooLarge()
	}
	if d.window -= int64(n); d.window <= 0 {
		d.window = leastArrives
		d.timer.Reset(d.stall)
	}
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case errors.Is(context.Cause(d.working), errStalled):
		return n, &Error{Sentence: fmt.Sprintf("%s sends too little: less than %d KiB in %s.", d.target.Label(), leastArrives>>10, d.stall)}
	case d.working.Err() != nil:
		return n, d.working.Err()
	}
	return n, &Error{Sentence: d.target.Label() + " closed the connection before the file was complete.", cause: err}
}

// Close ends it, whatever is still to come.
func (d *Download) Close() error {
	d.end()
	err := d.body.Close()
	d.release()
	return err
}
