package inputs

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/data/inputs"
	desk "example.org/headroom/internal/service/clusters"
)

func TestDifferencesArePrinted(t *testing.T) {
	t.Parallel()
	var changes []inputs.Change
	if err := json.Unmarshal([]byte(`[
		{"action": "delete", "kind": "class", "name": "old \u202e one", "fields": []},
		{"action": "update", "kind": "cluster", "name": "shop", "fields": [{"pointer": "/currency", "before": "USD", "after": "EUR"}, {"pointer": "/options/max_solve_ms", "before": 2000, "after": 500}]},
		{"action": "create", "kind": "vm_type", "name": "small", "fields": []},
		{"action": "update", "kind": "price", "name": "small from 2026-01-01T00:00:00Z", "fields": [{"pointer": "/until", "before": null, "after": "2027-01-01T00:00:00Z"}]},
		{"action": "update", "kind": "class", "name": "etl", "fields": [{"pointer": "/demand", "before": null, "after": {"map_work_s": 1}}, {"pointer": "/a~1b", "before": true, "after": null}]}
	]`), &changes); err != nil {
		t.Fatal(err)
	}
	documents := []clusterDocument{{cluster: "shop", applied: desk.Applied{Changes: changes}}, {cluster: "same"},
		{cluster: "new", applied: desk.Applied{Created: true, Changes: []inputs.Change{{Action: "create", Kind: "cluster", Name: "new"}}}}}
	var b strings.Builder
	if err := differenceText(&b, documents); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/difference.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}
