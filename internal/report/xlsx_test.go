package report

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"headroom/internal/capacity"
	"headroom/internal/plan"
)

// TestNothingInAWorkbookIsAFormula writes what spreadsheets take for formulas and reads it back as text.
func TestNothingInAWorkbookIsAFormula(t *testing.T) {
	bad := []string{`=HYPERLINK("http://x","y")`, "+1+2", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠x", "=1\x00", "'x", "1e5", "TRUE"}
	table := Table{Columns: []string{"text", "number", "none", "flag"}}
	for i, s := range bad {
		table.Rows = append(table.Rows, []Cell{text(s), {fmt.Sprintf("-%d.25", i), true}, {"", true}, flag(true)})
	}
	var b bytes.Buffer
	if err := Workbook(&b, Sheet{"first", table}, Sheet{"=second", table}); err != nil {
		t.Fatal(err)
	}
	for range 50 { // more than a map's order could meet by chance
		var again bytes.Buffer
		if err := Workbook(&again, Sheet{"first", table}, Sheet{"=second", table}); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatalf("the same tables are written in two ways (%v)", err)
		}
	}
	f, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if diff := cmp.Diff([]string{"first", "=second"}, f.GetSheetList()); diff != "" {
		t.Error(diff)
	}
	for i, s := range bad {
		for j, want := range []excelize.CellType{excelize.CellTypeInlineString, excelize.CellTypeUnset, excelize.CellTypeUnset, excelize.CellTypeBool} {
			at := fmt.Sprintf("%c%d", 'A'+j, i+2)
			kind, err := f.GetCellType("first", at)
			formula, wrong := f.GetCellFormula("first", at)
			if kind != want || err != nil || formula != "" || wrong != nil {
				t.Errorf("%s (%q) has the type %d and the formula %q (%v, %v)", at, s, kind, formula, err, wrong)
			}
		}
		if got, _ := f.GetCellValue("first", fmt.Sprintf("B%d", i+2)); got != fmt.Sprintf("-%d.25", i) {
			t.Errorf("got the number %q", got)
		}
		if got, _ := f.GetCellValue("first", fmt.Sprintf("A%d", i+2)); i < 4 && got != s {
			t.Errorf("got the text %q, want %q", got, s)
		}
	}
}

func TestSweepTables(t *testing.T) {
	high := capacity.RoundMoney(0.2)
	a := plan.SweepAnswer{
		Vary: []capacity.Vary{{What: capacity.ChangeDemand, Class: "=evil", By: capacity.ByFactor}}, Currency: "USD", Total: 2, Complete: true, Explanation: "+All.",
		Points: []plan.SweepPoint{
			{Parameters: []float64{0.5}, Status: capacity.Optimal, VMs: plan.RentedVMs{Total: 3}, Price: &capacity.CapacityPrice{Low: high, High: &high}},
			{Parameters: []float64{2}, Status: capacity.InfeasibleStatus, Conflict: "=no"},
		},
		Curve: &plan.Curve{Points: []plan.CurvePoint{{At: 1, Cost: high}}},
		Facts: []plan.Fact{{Name: "least_cost", Value: "0.20", Unit: "USD"}},
	}
	var b bytes.Buffer
	if err := Sweep(a).CSV(&b); err != nil {
		t.Fatal(err)
	}
	want := "demand =evil factor,status,currency,total,on_demand,spot,reserved,reserved_idle,penalties,vms,vms_on_demand,vms_reserved,vms_spot,admitted,refused,gap,vm_price_low,vm_price_high,conflict\n" +
		"0.5,optimal,USD,0.00,0.00,0.00,0.00,0.00,0.00,3,0,0,0,0,0,0,0.20,0.20,\n" +
		"2,infeasible,USD,,,,,,,,,,,,,,,,'=no\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := SweepWorkbook(&b, a); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if diff := cmp.Diff([]string{"points", "curve", "about", "facts"}, f.GetSheetList()); diff != "" {
		t.Error(diff)
	}
	if got, _ := f.GetCellValue("points", "S3"); got != "=no" {
		t.Errorf("got %q", got)
	}
}
