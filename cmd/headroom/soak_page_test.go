package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.org/headroom/internal/test/chromium"
)

// openPage is the page of a cluster in a browser that stays open.
type openPage struct {
	ctx context.Context

	mu    sync.Mutex
	wrong []string
}

// openNow opens the page of the demonstration cluster.
func openNow(t *testing.T, s *served) *openPage {
	t.Helper()
	ctx := chromium.Start(t)
	p := &openPage{ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.note("it threw: " + e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				p.note("the console says: " + e.Entry.Text + " " + e.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("http://"+s.address+"/sign-in")); err != nil {
		t.Fatal(err)
	}
	pageValue[bool](t, p, fmt.Sprintf(`fetch("/v1/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token: %q})}).then((a) => a.ok || Promise.reject(a.status))`, s.key(t)))
	if err := chromedp.Do(ctx, chromedp.Navigate("http://"+s.address+"/c/demo/now")); err != nil {
		t.Fatal(err)
	}
	waits(t, "the page shows a plan", 30*time.Second, func() bool {
		return pageValue[bool](t, p, `!!document.querySelector("h1")?.textContent.includes("at once")`)
	})
	return p
}

func (p *openPage) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, text)
}

func pageValue[T any](t *testing.T, p *openPage, script string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// weight returns the number of nodes of the page and the memory of its scripts.
func (p *openPage) weight(t *testing.T) (nodes, megabytes float64) {
	t.Helper()
	return pageValue[float64](t, p, `document.querySelectorAll("*").length`), pageValue[float64](t, p, `performance.memory.usedJSHeapSize`) / 1e6
}
