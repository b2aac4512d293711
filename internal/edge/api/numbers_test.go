package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/service/plans"
)

// Every list whose rows have exact amounts writes them as numbers on request, and nothing else changes.
func TestRowsWithNumbers(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	s.ask(s.admin, "POST", "/v1/clusters/night/classes", `{"name":"gamma \"quoted\": 1","vms_per_job":"0.3333333333333333","jobs":{"min":1,"max":2},"penalty":"123456789.123456789"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/offers", `{"name":"one-year","vm_type":"small","price":"0.123456789","upfront":400,"term_years":1}`).want(t, 201)
	s.ask(s.admin, "PUT", "/v1/clusters/night/vm-types/small", `{"name":"small","quota":100,"start_price":"0.123456789"}`, "If-Match", `"1"`).want(t, 200)
	s.planned("night")
	lists := 0
	each(s.doc, func(method, path string, _ *openapi3.PathItem, op *openapi3.Operation) {
		amounts, takes := amountsInRows(op), false
		for _, p := range op.Parameters {
			takes = takes || p.Value.Name == "numbers"
		}
		if takes != (len(amounts) > 0) {
			t.Errorf("%s: rows have the amounts %v; it takes the parameter \"numbers\": %t", op.OperationID, amounts, takes)
		}
		if !takes {
			return
		}
		lists++
		at := strings.Replace(path, "{cluster}", "night", 1)
		usual, drawn := s.ask(s.admin, "GET", at, nil).want(t, 200), s.ask(s.admin, "GET", at+"?numbers=float&limit=5000", nil).want(t, 200)
		var exact, numbers list[map[string]json.RawMessage]
		usual.into(t, &exact)
		drawn.into(t, &numbers)
		if len(exact.Items) == 0 || len(exact.Items) != len(numbers.Items) {
			t.Fatalf("%s: %d rows, and %d with numbers", op.OperationID, len(exact.Items), len(numbers.Items))
		}
		seen := 0
		for i, row := range exact.Items {
			for member, value := range row {
				want := string(value)
				if text, quoted := strings.CutPrefix(want, `"`); quoted && amounts[member] {
					want, seen = strings.TrimSuffix(text, `"`), seen+1
				} else if amounts[member] && want != "null" {
					t.Errorf("%s: %s is %s without being asked to be a number", op.OperationID, member, want)
				}
				if got := string(numbers.Items[i][member]); got != want {
					t.Errorf("%s: %s is %s, want %s", op.OperationID, member, got, want)
				}
			}
			if len(numbers.Items[i]) != len(row) {
				t.Errorf("%s: row %d has other members: %s", op.OperationID, i, drawn.text)
			}
		}
		if seen == 0 {
			t.Errorf("%s: no amounts in %s", op.OperationID, usual.text)
		}
		if same := s.ask(s.admin, "GET", at+"?numbers=decimal", nil).want(t, 200); string(same.text) != string(usual.text) || drawn.etag() == usual.etag() {
			t.Errorf("%s: the usual answer is another, or has the ETag of the numbers", op.OperationID)
		}
		s.ask(s.admin, "GET", at+"?numbers=float", nil, "If-None-Match", s.ask(s.admin, "GET", at+"?numbers=float", nil).etag()).want(t, 304)
		for _, query := range []string{"numbers=double", "numbers=", "numbers=float&numbers=float", "limit=5001"} {
			s.ask(s.admin, "GET", at+"?"+query, nil).want(t, 400)
		}
	})
	if lists < 4 {
		t.Errorf("%d lists have amounts", lists)
	}
	if next := s.ask(s.admin, "GET", "/v1/clusters/night/classes?numbers=float&limit=1", nil).Header.Get("Link"); !strings.Contains(next, "numbers=float") {
		t.Errorf("the next page is %s, want numbers there too", next)
	}
}

// amountsInRows returns the members of a list's rows that are exact amounts by the contract.
func amountsInRows(op *openapi3.Operation) map[string]bool {
	amounts := map[string]bool{}
	answer := op.Responses.Value("200")
	if answer == nil || answer.Value.Content["application/json"] == nil || !strings.HasPrefix(op.OperationID, "list") {
		return amounts
	}
	for name, kind := range propertiesOf(answer.Value.Content["application/json"].Schema.Value.Properties["items"].Value.Items.Value) {
		if kind == "decimal" {
			amounts[name] = true
		}
	}
	return amounts
}

// Five thousand rows are a page.
func BenchmarkRowsWithNumbers(b *testing.B) {
	l := list[plans.PlanSummary]{Items: make([]plans.PlanSummary, 5000)}
	for i := range l.Items {
		l.Items[i].ID = fmt.Sprint(i)
	}
	float := "float"
	for b.Loop() {
		if _, err := withNumbers(&float, reply[list[plans.PlanSummary]]{body: l}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
