package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/edge/api/docs"
)

// The server shows the documentation of this state of the files.
func TestGuideIsFresh(t *testing.T) {
	t.Parallel()
	pages, err := render()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shown, pages); diff != "" {
		t.Errorf("the documentation has changed since make ui rendered it; run it again:\n%.2000s", diff)
	}
}

// No page but the one that make bench writes into has HTML of its own, which the server would leave out.
func TestGuideHasNoHTML(t *testing.T) {
	t.Parallel()
	pages, err := render()
	if err != nil || len(pages) < 100 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, p := range pages {
		if strings.Contains(p.Body, "raw HTML omitted") && p.Address != "/docs/about/benchmarks" {
			t.Errorf("%s has HTML of its own", p.Address)
		}
	}
}
