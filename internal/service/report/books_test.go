package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/service/plans"
)

// sheetsOf reads a workbook back: its sheets' rows as stored, with the types of the cells.
func sheetsOf(t testing.TB, book []byte) (*excelize.File, map[string][][]string) {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(book))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	sheets := make(map[string][][]string)
	for _, name := range f.GetSheetList() {
		if sheets[name], err = f.GetRows(name, excelize.Options{RawCellValue: true}); err != nil {
			t.Fatal(err)
		}
	}
	return f, sheets
}

// columnSum adds up a column of a sheet.
func columnSum(t testing.TB, rows [][]string, column string) float64 {
	t.Helper()
	j, sum := slices.Index(rows[0], column), 0.0
	if j < 0 {
		t.Fatalf("there is no column %q in %q", column, rows[0])
	}
	for _, row := range rows[1:] {
		if j < len(row) && row[j] != "" {
			x, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += x
		}
	}
	return sum
}

// figureIn returns a single figure of a summary.
func figureIn(t testing.TB, rows [][]string, what, of string) float64 {
	t.Helper()
	for _, row := range rows {
		if len(row) > 2 && row[0] == what && row[1] == of {
			x, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				t.Fatalf("%s is %q", what, row[2])
			}
			return x
		}
	}
	t.Fatalf("there is no %q of %q", what, of)
	return 0
}

// checkHorizonSheets compares the sums of a spreadsheet with the answer, within the precision of float64.
func checkHorizonSheets(t *testing.T, sheets map[string][][]string, a *horizon.Answer) {
	t.Helper()
	whole := a.Total.Cost.Total.Float()
	for _, line := range []struct {
		what      string
		got, want float64
	}{
		{"months", columnSum(t, sheets["months"], "bill_and_value_refused_EUR"), whole}, {"days", columnSum(t, sheets["days"], "bill_and_value_refused_EUR"), whole}, {"periods", columnSum(t, sheets["periods"], "bill_and_value_refused_EUR"), whole},
		{"contracts", columnSum(t, sheets["contracts"], "bill_EUR"), a.Total.Cost.Reserved.Add(a.Total.Cost.ReservedIdle.Decimal).Add(a.Upfront.Decimal).InexactFloat64()},
		{"classes", columnSum(t, sheets["classes"], "bill_EUR") + columnSum(t, sheets["classes"], "value_refused_EUR"), whole},
		{"billed VM-hours of classes", columnSum(t, sheets["classes"], "billed_vm_hours"), a.Total.VMHours},
	} {
		if math.Abs(line.got-line.want) > 1e-9*(1+line.want) {
			t.Errorf("%s: the sheet adds up to %v, want %v", line.what, line.got, line.want)
		}
	}
}

func TestHorizonWorkbook(t *testing.T) {
	q := twoMonths(t)
	a := plannedHorizon(t, q.Horizon)
	var b bytes.Buffer
	if err := HorizonWorkbook(&b, q.Horizon, a); err != nil {
		t.Fatal(err)
	}
	f, sheets := sheetsOf(t, b.Bytes())
	if diff := cmp.Diff([]string{"summary", "classes", "contracts", "months", "days", "periods", "assumptions"}, f.GetSheetList()); diff != "" {
		t.Error(diff)
	}
	checkHorizonSheets(t, sheets, &a)
	if got := figureIn(t, sheets["summary"], "VM bill", ""); got != 5.9 {
		t.Errorf("got the bill %g, want 5.9", got)
	}
	parts := 0.0
	for _, line := range []string{"on demand", "spot", "contracts, used hours", "contracts, idle hours", "upfront payments, share in the horizon"} {
		parts += figureIn(t, sheets["summary"], line, "")
	}
	if math.Abs(parts-5.9) > 1e-9 {
		t.Errorf("the lines under the bill of 5.9 come to %g", parts)
	}
	if got := figureIn(t, sheets["assumptions"], "upfront payment, in full", "+signed"); got != 3 {
		t.Errorf("got %g paid upfront, want 3", got)
	}
	// A moment is a date in a spreadsheet, a figure a number, and a name is text whatever it begins with.
	for at, want := range map[string]string{"A2": "2026-01-31 22:00", "A4": "2026-02-01 00:00"} {
		if got, err := f.GetCellValue("periods", at); got != want || err != nil {
			t.Errorf("%s reads %q (%v), want %q", at, got, err, want)
		}
	}
	for _, cell := range []struct {
		sheet, at string
		kind      excelize.CellType
	}{{"periods", "A2", excelize.CellTypeUnset}, {"periods", "C2", excelize.CellTypeInlineString}, {"periods", "K2", excelize.CellTypeUnset},
		{"classes", "A2", excelize.CellTypeInlineString}, {"contracts", "A2", excelize.CellTypeInlineString}} {
		kind, err := f.GetCellType(cell.sheet, cell.at)
		formula, wrong := f.GetCellFormula(cell.sheet, cell.at)
		if kind != cell.kind || err != nil || formula != "" || wrong != nil {
			t.Errorf("%s %s: got the type %d and the formula %q (%v, %v)", cell.sheet, cell.at, kind, formula, err, wrong)
		}
	}
	if got, _ := f.GetCellValue("classes", "A2"); got != "=etl" {
		t.Errorf("got the class %q", got)
	}
}

func TestPurchaseWorkbook(t *testing.T) {
	q := twoMonths(t)
	a, err := horizon.Purchase(t.Context(), q, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := PurchaseWorkbook(&b, q, a); err != nil {
		t.Fatal(err)
	}
	_, sheets := sheetsOf(t, b.Bytes())
	checkHorizonSheets(t, sheets, &a.Horizon)
	// The bill comes first; the value of refused jobs is no saving of it.
	for i, want := range []struct {
		figure, of string
		value      float64
	}{
		{"VM bill, upfront payments by their share", "recommended", 6.2}, {"VM bill, upfront payments by their share", "today", 5.9}, {"VM bill, upfront payments by their share", "on demand only", 5.8},
		{"saving of the bill against", "today", -0.3}, {"saving of the bill against, share", "today", a.BillSaving.Share},
		{"saving of the bill against", "on demand only", -0.4}, {"saving of the bill against, share", "on demand only", a.BillOnly.Share},
		{"value of refused jobs, on no bill", "recommended", 0}, {"value of refused jobs, on no bill", "today", 4},
	} {
		if row := sheets["summary"][i+2]; row[0] != want.figure || row[1] != want.of || math.Abs(figureIn(t, sheets["summary"], want.figure, want.of)-want.value) > 1e-12 {
			t.Errorf("row %d of the summary is %q, want %q of %q, %g", i+3, row, want.figure, want.of, want.value)
		}
	}
	for what, got := range map[string]float64{
		"bought": columnSum(t, sheets["offers"], "buy_vms") - 10, "saved": columnSum(t, sheets["bill by month"], "bill_saved_EUR") - a.BillSaving.Amount.Float(), "avoided": columnSum(t, sheets["bill by month"], "value_refused_less_EUR") - 4,
		"paid": columnSum(t, sheets["bill by month"], "paid_upfront_EUR") - 2.4, "regret": columnSum(t, sheets["regret"], "regret_bill_and_value_refused_EUR"),
		"curve": columnSum(t, sheets["curves"], "vms") - 30,
	} {
		if math.Abs(got) > 1e-9 {
			t.Errorf("%s is off by %g", what, got)
		}
	}
}

func TestPlanWorkbook(t *testing.T) {
	p := twoMonths(t).Problem
	p.Supply.Contracts = []capacity.Contract{{Name: "@always", VMs: 4, Price: amountIn(5), Billing: capacity.BilledAlways}, {Name: "used", VMs: 4, Price: amountIn(10), Billing: capacity.BilledUsed}}
	pl, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := PlanWorkbook(&b, p, pl); err != nil {
		t.Fatal(err)
	}
	f, sheets := sheetsOf(t, b.Bytes())
	if diff := cmp.Diff([]string{"summary", "classes", "contracts", "assumptions"}, f.GetSheetList()); diff != "" {
		t.Error(diff)
	}
	want := pl.Cost.Reserved.Add(pl.Cost.ReservedIdle.Decimal).InexactFloat64()
	if got := columnSum(t, sheets["contracts"], "bill_per_period_EUR"); math.Abs(got-want) > 1e-9 || want == 0 {
		t.Errorf("contracts cost %g, want %g", got, want)
	}
	if got := figureIn(t, sheets["summary"], "bill and value refused together", ""); got != pl.Cost.Total.Float() {
		t.Errorf("got the total %g, want %v", got, pl.Cost.Total)
	}
	quota := int64(1)
	p.Supply.OnDemand.Quota, p.Classes[0].Jobs = &quota, capacity.JobRange{Min: 20, Max: 20}
	if pl, err = plan.Solve(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := PlanWorkbook(&b, p, pl); err != nil {
		t.Fatal(err)
	}
	if _, sheets = sheetsOf(t, b.Bytes()); sheets["summary"][2][2] != "infeasible" || sheets["summary"][3][0] != "conflict" {
		t.Errorf("got %q", sheets["summary"])
	}
}

// Tables longer than a sheet continue in the next one, and names become valid for spreadsheets.
func TestSheetsFit(t *testing.T) {
	row := []Cell{number(1)}
	long := Table{Columns: []string{"x"}, Rows: slices.Repeat([][]Cell{row}, 5)}
	sheets := []Sheet{{"periods", long}, {"Periods", Table{Columns: []string{"x"}}}, {"a/b:c*[d]?\\\n", long}, {"''", long}, {"History", long}, {strings.Repeat("🧮", 40), long}}
	var names []string
	rows := 0
	for _, s := range fitting(sheets, 2) {
		names = append(names, s.Name)
		rows += len(s.Rows)
		if units := len(utf16.Encode([]rune(s.Name))); units > 31 || len(s.Rows) > 2 {
			t.Errorf("%q has %d units and %d rows", s.Name, units, len(s.Rows))
		}
	}
	if want := []string{"periods", "periods (2)", "periods (3)", "Periods (4)", "a_b_c__d____", "a_b_c__d____ (2)"}; !slices.Equal(names[:6], want) || rows != 25 {
		t.Errorf("got %d rows in %q, want 25 in %q", rows, names, want)
	}
	var b bytes.Buffer
	if err := Workbook(&b, fitting(sheets, 2)...); err != nil {
		t.Fatal(err)
	}
	f, _ := sheetsOf(t, b.Bytes())
	if diff := cmp.Diff(names, f.GetSheetList()); diff != "" {
		t.Error(diff)
	}
	// The limit itself, with rows that are one and the same.
	most := fitting([]Sheet{{"x", Table{Columns: []string{"x"}, Rows: slices.Repeat([][]Cell{row}, excelize.TotalRows)}}}, excelize.TotalRows-1)
	if len(most) != 2 || len(most[0].Rows)+1 != 1_048_576 || len(most[1].Rows) != 1 {
		t.Errorf("got %d sheets, the first with %d rows", len(most), len(most[0].Rows))
	}
}

// A text too long for a cell is cut visibly, between characters.
func TestCellsFit(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 32_767), strings.Repeat("x", 32_768), strings.Repeat("🧮", 16_384), "=" + strings.Repeat("夜", 40_000), "x" + strings.Repeat("🧮", 20_000)} {
		got := cut(s, excelize.TotalCellChars)
		if units := len(utf16.Encode([]rune(got))); units > 32_767 || (got != s) != (len(utf16.Encode([]rune(s))) > 32_767) || got != s && !strings.HasSuffix(got, "…") || strings.ContainsRune(got, '\uFFFD') {
			t.Errorf("%.10q…: got %d units", s, units)
		}
		var b bytes.Buffer
		if err := Workbook(&b, Sheet{"x", Table{Columns: []string{"x"}, Rows: [][]Cell{{text(s)}}}}); err != nil {
			t.Fatal(err)
		}
		if _, sheets := sheetsOf(t, b.Bytes()); sheets["x"][1][0] != got {
			t.Errorf("%.10q… is read back as %d bytes", s, len(sheets["x"][1][0]))
		}
	}
}

// officeSheets opens a workbook in another program, if that is installed. It returns the sheets' rows, with values as
// stored, not as shown.
func officeSheets(t *testing.T, book []byte) map[string][][]string {
	t.Helper()
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "book.xlsx"), book, 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), office, "-env:UserInstallation=file://"+dir+"/profile", "--headless",
		"--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1", "--outdir", dir, filepath.Join(dir, "book.xlsx")) // every sheet in UTF-8
	run.WaitDelay = 10 * time.Second
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	files, err := filepath.Glob(filepath.Join(dir, "book-*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	sheets := make(map[string][][]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "book-"), ".csv")
		if sheets[name], err = csv.NewReader(bytes.NewReader(text)).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return sheets
}

func TestLibreOfficeReadsTheSameTotals(t *testing.T) {
	q := twoMonths(t)
	q.Problem.Classes[0].Name, q.Contracts[0].Name = `=HYPERLINK("http://x","y")`, "＝1+1"
	for i := range 700 {
		q.Periods = append(q.Periods, horizon.HorizonPeriod{Start: q.Periods[len(q.Periods)-1].End(), Hours: 1, Jobs: []float64{float64(i % 17)}})
	}
	q.Problem.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(123456789, -9)}
	a := plannedHorizon(t, q.Horizon)
	a.Warnings = []capacity.Warning{{Code: "x", Detail: "Said with the answer."}}
	var b bytes.Buffer
	if err := HorizonWorkbook(&b, q.Horizon, a); err != nil {
		t.Fatal(err)
	}
	sheets := officeSheets(t, b.Bytes())
	checkHorizonSheets(t, sheets, &a)
	if got, want := figureIn(t, sheets["summary"], "total with upfront payments", ""), a.Total.Cost.Total.Add(a.Upfront.Decimal).InexactFloat64(); math.Abs(got-want) > 1e-9*want {
		t.Errorf("got the total %v, want %v", got, want)
	}
	if got := sheets["classes"][1][0]; got != q.Problem.Classes[0].Name {
		t.Errorf("the class is called %q", got)
	}
	if got := sheets["periods"][1][0]; got != "2026-01-31 22:00:00" {
		t.Errorf("the first period begins at %q", got)
	}
	if got := sheets["months"][1][0]; got != "2026-01-01" {
		t.Errorf("the first month is %q", got)
	}
	if got := sheets["summary"][len(sheets["summary"])-1]; got[0] != "warning" || got[2] != a.Warnings[0].Detail {
		t.Errorf("the summary ends with %q", got)
	}
}

// Reports of the time behind come out alike, with hours of several plans and of none.
func TestLibreOfficeReadsReportsOfThePast(t *testing.T) {
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	stint := func(n int64, begin, end time.Duration, cost int64) plans.PlanStint {
		return plans.PlanStint{Number: n, Since: from.Add(begin), Until: from.Add(end), Currency: "EUR", PeriodSeconds: 3600, VMs: 1234, VMsOnDemand: 1000, TotalCost: amountIn(cost)}
	}
	p := plans.NewPast(from, from.Add(5*time.Hour), []plans.PlanStint{stint(7, 0, 90*time.Minute, 123_456), stint(8, 90*time.Minute, 4*time.Hour, 98_765_432)}, nil)
	var b bytes.Buffer
	if err := PastWorkbook(&b, "=shop", p); err != nil {
		t.Fatal(err)
	}
	sheets := officeSheets(t, b.Bytes())
	want := p.Total[0].TotalCost.Float()
	if got := columnSum(t, sheets["hours"], "bill_and_value_refused"); math.Abs(got-want) > 1e-6 || figureIn(t, sheets["summary"], "bill and value refused together", "EUR") != want || want == 0 {
		t.Errorf("the hours come to %v, want %v", got, want)
	}
	if got := sheets["summary"][1][2]; got != "=shop" {
		t.Errorf("the cluster is %q", got)
	}
	if got := sheets["hours"]; len(got) != 6 || got[1][0] != "2026-03-01 00:00:00" || got[2][1] != "7 8" {
		t.Errorf("the hours are %q", got)
	}
}

// The contents of a sheet fit into its columns: nothing is cut or becomes ####. Amounts show their significant
// places, moments only the needed parts of a clock, and the cells hold full values.
func TestSheetsAreLegible(t *testing.T) {
	tiny, long := 1.0/81, strings.Repeat("word ", 60)
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rows := [][]Cell{
		{Time(begin), Time(begin), Time(begin), number(1_234_567_890.123456789), {"12345678901234.50", true}, number(tiny), whole(987_654_321), text("x"), flag(true)},
		{Time(begin.AddDate(0, 1, 0)), Time(begin.Add(time.Hour)), Time(begin.Add(time.Second)), number(-2), {"-0.10", true}, number(0), {"", true}, text(long), flag(false)},
	}
	var f figureSheet
	f.add("in words", "", text(long), "")
	f.add("total", "", Cell{"-1234567.891", true}, "USD")
	f.add("begin", "", Time(begin), "UTC")
	var b bytes.Buffer
	if err := Workbook(&b, Sheet{"it's", Table{Columns: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, Rows: rows}}, f.sheet("figures")); err != nil {
		t.Fatal(err)
	}
	book, _ := sheetsOf(t, b.Bytes())
	for sheet, want := range map[string][][]string{
		"it's": {
			{"2026-03-01", "2026-03-01 00:00", "2026-03-01 00:00:00", "1,234,567,890.12", "12,345,678,901,234.50", "0.01235", "987,654,321", "x", "TRUE"},
			{"2026-04-01", "2026-03-01 01:00", "2026-03-01 00:00:01", "-2.00", "-0.10", "0.00000", "", long, "FALSE"},
		},
		"figures": {{"in words", "", long, ""}, {"total", "", "-1,234,567.891", "USD"}, {"begin", "", "2026-03-01", "UTC"}},
	} {
		rows, err := book.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range want {
			for j, shown := range row {
				at, _ := excelize.CoordinatesToCellName(j+1, i+2)
				if got := slices.Concat(rows[i+1], make([]string, len(row)))[j]; got != shown {
					t.Errorf("%s %s shows %q, want %q", sheet, at, got, shown)
				}
				column, _ := excelize.ColumnNumberToName(j + 1)
				width, err := book.GetColWidth(sheet, column)
				height, wrong := book.GetRowHeight(sheet, i+2)
				if lines := height / lineHeight; err != nil || wrong != nil || float64(len(shown)) > width*lines {
					t.Errorf("%s %s: %q does not fit into %g by %g (%v, %v)", sheet, at, shown, width, height, err, wrong)
				}
			}
		}
		panes, err := book.GetPanes(sheet)
		layout, wrong := book.GetPageLayout(sheet)
		if err != nil || wrong != nil || !panes.Freeze || panes.YSplit != 1 || *layout.Orientation != "landscape" || *layout.FitToHeight != 0 {
			t.Errorf("%s: the panes are %+v and the page %+v (%v, %v)", sheet, panes, layout, err, wrong)
		}
	}
}
