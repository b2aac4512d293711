package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/service/plans"
)

// A plan as a table has its classes, and as a spreadsheet its own figures, typed and without formulas.
func TestPlansAsFiles(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/classes", `{"name":"=1+1","demand":{"map_work_s":10,"reduce_work_s":0,"fixed_s":-1},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":0,"max":1},"penalty":1}`).want(t, 201)
	made := s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	var record struct {
		plans.PlanSummary
		Plan capacity.Plan
	}
	if err := json.Unmarshal(made.text, &record); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{fmt.Sprint(record.Number), record.ID, "current"} {
		at := "/v1/clusters/night/plans/" + ref
		table := s.ask(s.admin, "GET", at+"?format=csv", nil).want(t, 200)
		rows, err := csv.NewReader(bytes.NewReader(table.text)).ReadAll()
		if err != nil || len(rows) != len(record.Plan.Classes)+1 || !strings.Contains(string(table.text), "'=1+1,") {
			t.Errorf("%s: %v %s", ref, err, table.text)
		}
		book := s.ask(s.admin, "GET", at+"?format=xlsx", nil).want(t, 200)
		if got, want := book.Header.Get("Content-Disposition"), fmt.Sprintf(`attachment; filename="night-plan-%d.xlsx"`, record.Number); got != want || book.Header.Get("Content-Type") != xlsxType {
			t.Errorf("%s: %v", ref, book.Header)
		}
		f, err := excelize.OpenReader(bytes.NewReader(book.text))
		if err != nil {
			t.Fatal(err)
		}
		total := ""
		figures, _ := f.GetRows("summary", excelize.Options{RawCellValue: true})
		for _, row := range figures {
			if len(row) > 2 && row[0] == "bill and value refused together" {
				total = row[2]
			}
		}
		if money, err := money.Parse(total); err != nil || !money.Equal(record.TotalCost.Decimal) {
			t.Errorf("%s: the total is %q, want %s", ref, total, record.TotalCost)
		}
		_ = f.Close()
		s.ask(s.admin, "GET", at+"?format=focus", nil).want(t, 400)
		if as := s.ask(s.admin, "GET", at+"?format=json", nil).want(t, 200); as.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", ref, as.Header)
		}
	}
	s.ask(s.admin, "GET", "/v1/clusters/night/plans/99?format=xlsx", nil).want(t, 404)
}
