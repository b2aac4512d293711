// Package chromium starts the browser that tests drive: Chromium without windows, which shows pages as Chromium does in
// two thirds of the time, or Chromium itself.
package chromium

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// Program returns the browser. Where there is none the test is skipped, or fails where CI is set.
func Program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "there is no Chromium: scripts/setup installs it"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// Start starts the browser, until the test ends. Its first tab is empty.
func Start(t testing.TB) context.Context {
	t.Helper()
	// Without the process that stands for a graphics card the same pixels take a tenth less processor time.
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(Program(t)),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("enable-precise-memory-info", true), chromedp.Flag("disable-gpu", true))...)
	t.Cleanup(end)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}
