package web_test

import (
	"context"
	"testing"
)

// walkExamples takes over what pages without data show as an example, each by one click.
func walkExamples(t *testing.T, s *server, browser context.Context) {
	s.send(t, "POST", "/v1/clusters", map[string]any{"name": "bare"}, nil)
	ctx := s.tab(t, browser)
	for _, e := range []struct{ path, button, then string }{
		{"operate/batch", "Pack this example", `document.querySelectorAll(".gantt rect.job").length === 4`},
		{"operate", "Declare these three nodes", `document.querySelectorAll("[data-node]").length === 3`},
		{"commitments?tab=buy", "Add this offer and its VM type", `document.querySelectorAll("main table tbody tr").length === 1`},
		{"plan/classes", "Add this class", `document.querySelector("h1").textContent.startsWith("1 class is planned") &&
			document.querySelectorAll("main table.data tbody tr").length === 1`},
		{"commitments?tab=buy", "Take this as the forecast", `/^(Buy \d|Nothing is worth)/.test(document.querySelector("h1").textContent)`},
	} {
		s.open(t, ctx, "/c/bare/"+e.path)
		press(t, ctx, e.button)
		until(t, ctx, e.then)
		until(t, ctx, `!document.querySelector("main .example")`)
		calm(t, ctx, e.path)
		picture(t, ctx, "example-taken-"+e.button[:8])
	}
	s.planned(t, "bare", 1) // of the class, at the offer's VM type
}
