package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// walkHeader gives a cluster the longest name that there is, and opens an address with a longer one: the header keeps
// its place at every width, and the rest of it is seen.
func walkHeader(t *testing.T, s *server, browser context.Context) {
	long := strings.Repeat("analytics-", 6) + "eu1"
	var document map[string]any
	s.get(t, "/v1/clusters/demo/document", &document)
	document["cluster"].(map[string]any)["name"] = long
	s.apply(t, long, document)
	s.planned(t, long, 1)
	ctx := s.tab(t, browser)
	for name, cluster := range map[string]string{"63": long, "200": strings.Repeat("w", 200)} {
		s.open(t, ctx, "/c/"+cluster+"/now")
		if cluster == long {
			until(t, ctx, `document.querySelector("header.top").textContent.includes("Plan 1 · computed ")`)
		} else {
			until(t, ctx, `document.querySelector(".banner.error")`)
		}
		looks(t, ctx, "header-"+name)
		for _, width := range []int64{1280, 390, 320} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			room := value[float64](t, ctx, painted+`.then(() => document.querySelector("header.top [aria-label=Cluster]").getBoundingClientRect().width)`)
			if colours := value[float64](t, ctx, `document.querySelector("header.top .end").getBoundingClientRect().top`); width == 1280 && colours > 40 {
				t.Errorf("the header takes a second line, at %g, where there is room for one", colours)
			}
			if most := min(float64(width)-32, 260); room > most || room < 100 {
				t.Errorf("at %d pixels the list of clusters is %g wide, want %g at most", width, room, most)
			}
		}
		if got := value[string](t, ctx, `document.querySelector("header.top [aria-label=Cluster]").title`); got != cluster {
			t.Errorf("the whole name is told as %q", got)
		}
		until(t, ctx, fmt.Sprintf(`document.querySelector("header.top [aria-label=Cluster]").value === %q`, cluster))
	}
}
