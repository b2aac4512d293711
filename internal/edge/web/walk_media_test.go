package web_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// media makes the browser show pages as on another medium, with the reader's own colours or not.
func media(t *testing.T, ctx context.Context, name, forced string) {
	t.Helper()
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name, Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: forced}}})
		return err
	}))
}

// walkMedia looks at every page at a middle width, at 200 % (640 of 1280 pixels), in the reader's own colours, and on
// paper. The short form looks at four pages of ten, one of each kind.
func walkMedia(t *testing.T, s *server, browser context.Context) {
	ctx := s.tab(t, browser)
	fits := func(name string, width int64) {
		t.Helper()
		do(t, ctx, chromedp.EmulateViewport(width, 900))
		value[bool](t, ctx, `new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(() => then(true))))`)
		if wide := value[float64](t, ctx, `document.documentElement.scrollWidth`); wide > float64(width) {
			t.Errorf("at %d pixels %s is %g wide: %s", width, name, wide, value[string](t, ctx, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.tagName + "." + e.getAttribute("class")).slice(0, 12).join(" ")`))
		}
		picture(t, ctx, fmt.Sprintf("%s-%d", name, width))
	}
	pages := map[string]string{
		"now": "/c/demo/now", "what-if": "/c/demo/what-if?ch=deadline:nightly-etl:%3D3600", "curves": "/c/demo/curves", "contracts": "/c/demo/contracts", "classes": "/c/demo/classes",
		"class": "/c/demo/classes/nightly-etl", "batch": "/c/demo/batch", "live": "/c/demo/live", "history": "/c/demo/history", "settings": "/settings/keys",
	}
	if !long() {
		maps.DeleteFunc(pages, func(name, _ string) bool { return !slices.Contains([]string{"now", "curves", "class", "batch"}, name) })
	}
	for name, path := range pages {
		media(t, ctx, "", "none")
		do(t, ctx, chromedp.EmulateViewport(1280, 900))
		s.open(t, ctx, path)
		until(t, ctx, `!document.querySelector(".waiting, .computing, main .asking") && !document.querySelector("main h1").textContent.endsWith("…")`)
		fits(name+"-between", 1000)
		fits(name+"-between", 720)
		fits(name+"-large", 640)
		media(t, ctx, "", "active")
		fits(name+"-forced", 1280)
		media(t, ctx, "print", "none")
		// On paper nothing is redrawn: drawings for a screen are scaled down.
		if over := value[[]string](t, ctx, `(() => { document.body.style.width = "718px"; const over = [...document.querySelectorAll("main svg")].filter((e) => e.getBoundingClientRect().right > 719).map((e) => e.outerHTML.slice(0, 120)); document.body.style.width = ""; return over; })()`); len(over) > 0 {
			t.Errorf("on paper %s is cut, or all of it small: %q", name, over)
		}
		fits(name+"-print", 718) // the width of A4 between its margins
		if left := value[[]string](t, ctx, `[...document.querySelectorAll("nav, button:not(.sort), input[type=range], .skip")].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80))`); len(left) > 0 {
			t.Errorf("on paper %s shows what can only be used on a screen: %q", name, left)
		}
	}
}
