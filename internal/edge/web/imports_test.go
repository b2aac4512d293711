package web_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page's folders from the ground up: a file imports files of its own folder and of those before it.
var floors = []string{"api", "model", "state", "parts", "charts", "pages", "."}

// importsOf returns the page's own files that each of its files imports, also for types and on demand.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	imported := regexp.MustCompile(`(?:from|import\()\s*"(\.[^"]*)"`)
	files := map[string][]string{}
	for name, text := range sources(t) {
		if !strings.HasSuffix(name, ".ts") && !strings.HasSuffix(name, ".tsx") {
			continue
		}
		files[name] = []string{}
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			if to := path.Join(path.Dir(name), m[1]); strings.HasPrefix(to, "ui/src/") {
				files[name] = append(files[name], to)
			}
		}
	}
	return files
}

// floorOf returns the place of a file's folder in floors, or -1.
func floorOf(name string) int {
	return slices.Index(floors, path.Dir(strings.TrimPrefix(name, "ui/src/")))
}

func TestThePagesImportsPointDown(t *testing.T) {
	t.Parallel()
	count := 0
	for name, all := range importsOf(t) {
		for _, to := range all {
			if count++; floorOf(to) < 0 || floorOf(to) > floorOf(name) {
				t.Errorf("%s imports %s, which stands above it.", name, to)
			}
		}
	}
	if count < 100 {
		t.Errorf("read only %d imports", count)
	}
}

func TestThePagesImportsMakeNoCircle(t *testing.T) {
	t.Parallel()
	files := importsOf(t)
	done := map[string]bool{}
	var walk func(name string, above []string)
	walk = func(name string, above []string) {
		if i := slices.Index(above, name); i >= 0 {
			t.Errorf("these import each other: %s", strings.Join(append(above[i:], name), " → "))
			return
		}
		if done[name] {
			return
		}
		for _, to := range files[name] {
			walk(to, append(slices.Clip(above), name))
		}
		done[name] = true
	}
	for name := range files {
		walk(name, nil)
	}
}
