package report

import (
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// With several VM types a class has a row for each it runs on, and the rows add up.
func TestRowsOfAFleet(t *testing.T) {
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Classes: []capacity.Class{{Name: "etl"}, {Name: "none"}},
		Supply: capacity.Supply{VMTypes: []capacity.VMTypeSupply{{Name: "small"}, {Name: "large", Spot: &capacity.Spot{MaxShare: 0.5}}}}}
	pl := capacity.Plan{Status: capacity.Optimal,
		Classes: []capacity.ClassPlan{
			{Name: "etl", Admitted: 5, Refused: 2, Types: []capacity.ClassOnType{{VMType: "small", Admitted: 3}, {VMType: "large", Admitted: 2}}},
			{Name: "none", Refused: 1}},
		VMs: capacity.VMs{Total: 7, OnDemand: 4, Spot: 3, Types: []capacity.TypeVMs{{Name: "small", OnDemand: 4}, {Name: "large", Spot: 3}}},
	}
	var got []string
	for _, row := range Classes(p, pl).Rows {
		got = append(got, strings.Join([]string{row[0].Text, row[1].Text, row[2].Text, row[len(row)-1].Text}, " "))
	}
	if want := "etl 3 2 small|etl 2 0 large|none 0 1 "; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var b strings.Builder
	if err := Plan(&b, p, pl); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"Rent 7 VMs (0 reserved, 4 on demand, 3 spot)", "VM type\n", "On demand of small", "Spot of large", "small\n", "large\n"} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("got\n%s\nwant %q in it", b.String(), words)
		}
	}
	if p.Supply = (capacity.Supply{}); len(Classes(p, capacity.Plan{}).Columns) != 19 {
		t.Error("a problem with one kind of VM has other columns than before")
	}
}
