package report

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

func TestSweepTables(t *testing.T) {
	high := money.Round(0.2)
	a := whatif.SweepAnswer{
		Vary: []whatif.Vary{{What: whatif.ChangeDemand, Class: "=evil", By: whatif.ByFactor}}, Currency: "USD", Total: 2, Complete: true, Explanation: "+All.",
		Points: []whatif.SweepPoint{
			{Parameters: []float64{0.5}, Status: capacity.Optimal, VMs: plan.RentedVMs{Total: 3}, Price: &capacity.CapacityPrice{Low: high, High: &high}},
			{Parameters: []float64{2}, Status: capacity.InfeasibleStatus, Conflict: "=no"},
		},
		Curve: &plan.Curve{Points: []plan.CurvePoint{{At: 1, Cost: high}}},
		Facts: words.Facts{{Kind: "least_cost", Figures: []capacity.Figure{{Name: "cost", Value: "0.20", Unit: "USD"}}}},
	}
	var b bytes.Buffer
	if err := Sweep(a).CSV(&b); err != nil {
		t.Fatal(err)
	}
	want := "demand =evil factor,status,currency,bill,on_demand,spot,reserved,reserved_idle,value_refused,bill_and_value_refused,vms,vms_on_demand,vms_reserved,vms_spot,admitted,refused,gap,vm_price_low,vm_price_high,conflict\n" +
		"0.5,optimal,USD,0.00,0.00,0.00,0.00,0.00,0.00,0.00,3,0,0,0,0,0,0,0.20,0.20,\n" +
		"2,infeasible,USD,,,,,,,,,,,,,,,,,'=no\n"
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
	if got, _ := f.GetCellValue("points", "T3"); got != "=no" {
		t.Errorf("got %q", got)
	}
}
