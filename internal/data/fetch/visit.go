package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"time"

	"example.org/headroom/internal/data/history"
)

// Limits of requests to a history server.
const (
	atOnce       = 8 // concurrent requests
	maxTries     = 4 // of a request without an answer
	maxDown      = 3 // consecutive executions that failed for lack of answers
	documentTime = 2 * time.Minute
	maxPause     = 30 * time.Second // wait that a server may ask for
)

// visit holds the requests of one import to a history server. Connections are kept between requests as long as the
// list's entry for the host does not change; each request checks that.
type visit struct {
	client *Client
	base   string
	places chan struct{}

	mu   sync.Mutex
	host AllowedHost
	line *http.Transport
}

func (c *Client) visit(base string) *visit {
	return &visit{client: c, base: base, places: make(chan struct{}, atOnce)}
}

// transport returns the transport of the visit; a nil visit gets one per request.
func (v *visit) transport(host AllowedHost) (*http.Transport, func()) {
	if v == nil {
		return nil, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.line == nil || !reflect.DeepEqual(v.host, host) {
		if v.line != nil {
			v.line.CloseIdleConnections()
		}
		v.host, v.line = host, v.client.transport(host, atOnce)
	}
	return v.line, func() {}
}

// end closes the visit's connections.
func (v *visit) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.line != nil {
		v.line.CloseIdleConnections()
	}
}

// document fetches one document, again and again while there is hope. read may be called more than once, and keeps
// nothing when it fails.
func (v *visit) document(ctx context.Context, path string, query url.Values, read func(io.Reader) error) error {
	select {
	case v.places <- struct{}{}:
		defer func() { <-v.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	address := v.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	for try := 1; ; try++ {
		err := v.ask(ctx, address, read)
		var own *Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &own) || own.Final || try == maxTries {
			return cmp.Or(ctx.Err(), err)
		}
		pause := time.NewTimer(max(v.client.config.Pause<<(try-1), min(own.After, maxPause)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

func (v *visit) ask(ctx context.Context, address string, read func(io.Reader) error) error {
	bounded, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	d, err := v.client.fetch(bounded, address, 1<<62, v) // readers set their own limit
	if err == nil {
		err = read(d)
		d.Close()
	}
	if ctx.Err() == nil && bounded.Err() != nil {
		return &Error{Final: true, Sentence: fmt.Sprintf("An answer took longer than %s.", documentTime)}
	}
	return err
}

// together calls do for n items, some at once, and gives up when one fails.
func together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	next := make(chan int)
	for range min(n, atOnce) {
		all.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}

// execution is the result of a request for one.
type execution struct {
	*history.Execution
	err error
}

// inOrder fetches executions, some at once, and hands them on in their order.
func inOrder(ctx context.Context, all []history.Listed, ask func(context.Context, history.Listed) (*history.Execution, error), take func(history.Listed, *history.Execution, error) error) error {
	ctx, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer stop()
	answers := make(chan chan execution, atOnce-1)
	asking.Go(func() {
		defer close(answers)
		for _, one := range all {
			answer := make(chan execution, 1)
			select {
			case answers <- answer:
			case <-ctx.Done():
				return
			}
			asking.Go(func() {
				e, err := ask(ctx, one)
				answer <- execution{e, err}
			})
		}
	})
	for _, one := range all {
		answer, is := <-answers
		if !is {
			return ctx.Err()
		}
		got := <-answer
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := take(one, got.Execution, got.err); err != nil {
			return err
		}
	}
	return nil
}
