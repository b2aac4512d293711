package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The pages hold what the generator makes of the code.
func TestPagesAreFresh(t *testing.T) {
	made, err := pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range made {
		got, err := os.ReadFile(filepath.Join("../..", folder, name))
		if err != nil || string(got) != want {
			t.Errorf("%s/%s is not what the code says (%v); run make generate, and commit what it writes", folder, name, err)
		}
	}
}

// What a search of the code's text finds has its line, so that the generator overlooks nothing.
func TestNothingIsOverlooked(t *testing.T) {
	made, err := pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	searched := map[string]*regexp.Regexp{
		"settings.md": regexp.MustCompile(`env:"([A-Z_]+)"`),
		"metrics.md":  regexp.MustCompile(`"((?:headroom|http)_[a-z_]+_(?:total|seconds|ratio|vms|jobs|bytes|rows|flight|info|touch))"`),
	}
	found := map[string]int{}
	for name, pattern := range searched {
		err := filepath.WalkDir("../../internal", func(file string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := os.ReadFile(file)
			for _, m := range pattern.FindAllStringSubmatch(string(source), -1) {
				found[name]++
				if !strings.Contains(made[name], "| `"+m[1]+"` |") {
					t.Errorf("%s has no line for %s, which stands in %s", name, m[1], file)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found["settings.md"] < 30 || found["metrics.md"] < 30 {
		t.Errorf("the search finds %v", found)
	}
	for name, want := range map[string]string{
		"errors.md": "| `unknown_member` |", "alerts.md": "## HeadroomDrift", "events.md": "- `vm_type`", "commands.md": "### headroom whatif months",
		"problem-members.md": "| `max_solve_ms` |", "plan-members.md": "| `verdict`",
	} {
		if !strings.Contains(made[name], want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}
