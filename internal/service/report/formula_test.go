package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/data/inputs"
)

// formulas lists names that some spreadsheet may take for formulas.
var formulas = []string{
	"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x", `=HYPERLINK("http://x","y")`, `-2+3+cmd|' /C calc'!A0`,
	" =1", "\u00a0+1", "\u3000＝1", "=1,2", "=\"a\"\n\"b\"", "\u2003-1", "@", "\tx",
}

// notFormulas lists names that are written unchanged.
var notFormulas = []string{"", "nightly-etl", "a=b", `quo"te`, "com,ma", "two\nlines", "'=1", `"=1"`, " x", "5", "1e5", "TRUE", "'x", "#REF!", "a_x0041_x0042_", "_xyz"}

// wantGuarded checks that a name went into a table as a text.
func wantGuarded(t *testing.T, of, got, name string) {
	t.Helper()
	want := strings.ReplaceAll(name, "\r\n", "\n")
	for _, bad := range formulas {
		if bad == name {
			want = "'" + want
		}
	}
	if got != want {
		t.Errorf("%s: %q is written as %q, want %q", of, name, got, want)
	}
}

func TestCSVStartsNoFormula(t *testing.T) {
	names := append(formulas[:len(formulas):len(formulas)], notFormulas...)
	table := Table{Columns: append([]string{"number"}, names...)}
	for _, s := range names {
		row := []Cell{number(-1.5)}
		for range names {
			row = append(row, text(s))
		}
		table.Rows = append(table.Rows, row)
	}
	var b bytes.Buffer
	if err := table.CSV(&b); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range names {
		if records[i+1][0] != "-1.5" {
			t.Errorf("the number is written as %q", records[i+1][0])
		}
		wantGuarded(t, "a heading", records[0][i+1], s)
		wantGuarded(t, "the first cell", records[i+1][1], s)
		wantGuarded(t, "the last cell", records[i+1][len(names)], s)
		if again := inputs.UnguardFormula(inputs.GuardFormula(s)); again != s && s != "'=1" {
			t.Errorf("%q is read as %q", s, again)
		}
	}
	t.Attr("S3", fmt.Sprintf("CSV: %d hostile names start no formula, in headings and cells", len(formulas)))
}

// All names given by people are texts in a FOCUS export.
func TestFocusStartsNoFormula(t *testing.T) {
	for _, s := range formulas {
		q := twoMonths(t)
		q.Problem.Classes[0].Name, q.Contracts[0].Name, q.Offers[0].Name = s, s+"1", s+"2"
		a, err := horizon.Purchase(t.Context(), q, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		names := FocusNames{BillingAccountID: s, BillingAccountName: s, Provider: s, Publisher: s, InvoiceIssuer: s, Service: s, RegionID: s, RegionName: s,
			SubAccountID: s, SubAccountName: s, PlanID: s, Scenario: s, Tags: map[string]string{s: s}}
		if err := Focus(&b, a.Bought(&q), a.Horizon, names); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(records) < 3 {
			t.Fatalf("%d rows: %v", len(records), err)
		}
		for _, record := range records {
			for j, field := range record {
				if inputs.StartsFormula(field) && !plainNumber.MatchString(strings.TrimPrefix(field, "-")) {
					t.Errorf("%s of %q is written as %q", focusColumns[j], s, field)
				}
			}
		}
		wantGuarded(t, "the plan", records[1][focusColumn("x_PlanId")], s)
	}
	t.Attr("S3", fmt.Sprintf("FOCUS: %d hostile names of everything start no formula", len(formulas)))
}

// The cells of a workbook are typed: texts are texts, whatever they begin with, beside numbers, flags and moments.
func TestNothingInAWorkbookIsAFormula(t *testing.T) {
	names := append(formulas[:len(formulas):len(formulas)], notFormulas[1:]...)
	names = append(names, "=1\x00")
	table := Table{Columns: []string{"text", "number", "none", "flag", "moment", "=heading"}}
	for i, s := range names {
		table.Rows = append(table.Rows, []Cell{text(s), {fmt.Sprintf("-%d.25", i), true}, {"", true}, flag(true), Time(time.Unix(1e9, 0)), text(s)})
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
	typed := func(at string, want excelize.CellType) {
		kind, err := f.GetCellType("first", at)
		formula, wrong := f.GetCellFormula("first", at)
		if kind != want || err != nil || formula != "" || wrong != nil {
			t.Errorf("%s has the type %d and the formula %q (%v, %v)", at, kind, formula, err, wrong)
		}
	}
	for j := range table.Columns {
		typed(fmt.Sprintf("%c1", 'A'+j), excelize.CellTypeInlineString)
	}
	for i, s := range names {
		for j, want := range []excelize.CellType{excelize.CellTypeInlineString, excelize.CellTypeUnset, excelize.CellTypeUnset, excelize.CellTypeBool, excelize.CellTypeUnset, excelize.CellTypeInlineString} {
			typed(fmt.Sprintf("%c%d", 'A'+j, i+2), want)
		}
		if got, _ := f.GetCellValue("first", fmt.Sprintf("B%d", i+2)); got != fmt.Sprintf("-%d.25", i) {
			t.Errorf("got the number %q", got)
		}
		if got, _ := f.GetCellValue("first", fmt.Sprintf("F%d", i+2)); got != s && !strings.ContainsAny(s, "\r\x00") { // which XML does not keep
			t.Errorf("got the text %q, want %q", got, s)
		}
	}
	t.Attr("S3", fmt.Sprintf("XLSX: %d hostile names are typed as texts, beside numbers, flags and moments", len(formulas)))
}
