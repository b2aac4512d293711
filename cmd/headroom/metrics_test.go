package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	listedMetric  = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| (.*?) \\|")
	exposedSeries = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	labelName     = regexp.MustCompile(`(?:^|,)([a-z_]+)="(?:[^"\\]|\\.)*"`)
)

// labelsListed compares the labels of every series that the server exposes with those that the reference lists.
func (s *served) labelsListed(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	listed, kinds := map[string]string{}, map[string]string{}
	for _, m := range listedMetric.FindAllStringSubmatch(string(page), -1) {
		labels := strings.FieldsFunc(m[3], func(c rune) bool { return strings.ContainsRune("`, ", c) })
		slices.Sort(labels)
		listed[m[1]], kinds[m[1]] = strings.Join(labels, " "), m[2]
	}
	compared, labelled := map[string]bool{}, map[string]bool{}
	for _, m := range exposedSeries.FindAllStringSubmatch(s.get(t, "/metrics"), -1) {
		name := m[1]
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "promhttp_") {
			continue
		}
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if of := strings.TrimSuffix(name, part); kinds[of] == "histogram" {
				name = of
			}
		}
		var labels []string
		for _, label := range labelName.FindAllStringSubmatch(m[2], -1) {
			if label[1] != "le" || kinds[name] != "histogram" {
				labels = append(labels, label[1])
			}
		}
		slices.Sort(labels)
		want, known := listed[name]
		if got := strings.Join(labels, " "); !known || got != want {
			t.Errorf("%s has the labels %q, and the reference lists %q (listed at all: %v)", m[0], got, want, known)
		}
		compared[name] = true
		labelled[name] = labelled[name] || len(labels) > 0
	}
	with := 0
	for _, has := range labelled {
		if has {
			with++
		}
	}
	if t.Logf("%d metrics of %d, %d with labels", len(compared), len(listed), with); len(compared) < 40 || with < 25 {
		t.Errorf("only %d metrics are exposed, %d of them with labels", len(compared), with)
	}
}
