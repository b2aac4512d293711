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

	"headroom/internal/data/history"
)

// Limits of what a history server is asked for.
const (
	atOnce       = 8 // requests
	mostTries    = 4 // of a request that no answer comes to
	mostDown     = 3 // executions one after the other that nothing could be learnt of, for want of answers
	documentTime = 2 * time.Minute
	longestPause = 30 * time.Second // that a server may ask for
)

// visit is the questions that one import asks a history server. Its connections are kept from one to the
// next, as long as the list's entry for the host stays as it is: each request asks for that.
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

// transport is that of the visit; nil is one of its own for each request.
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

// end closes what the visit has kept open.
func (v *visit) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.line != nil {
		v.line.CloseIdleConnections()
	}
}

// document asks for one, again and again where there is hope. read may be called more than once, and keeps
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
		if err == nil || ctx.Err() != nil || !errors.As(err, &own) || own.Final || try == mostTries {
			return cmp.Or(ctx.Err(), err)
		}
		pause := time.NewTimer(max(v.client.config.Pause<<(try-1), min(own.After, longestPause)))
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
	d, err := v.client.fetch(bounded, address, 1<<62, v) // whoever reads it has a limit
	if err == nil {
		err = read(d)
		d.Close()
	}
	if ctx.Err() == nil && bounded.Err() != nil {
		return &Error{Final: true, Sentence: fmt.Sprintf("An answer took longer than %s.", documentTime)}
	}
	return err
}

// together does n things at once, as far as there is room, and gives up when one fails.
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

// execution is what came of asking for one.
type execution struct {
	*history.Execution
	err error
}

// inOrder asks for executions, some at once, and hands them on in their order.
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
