package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/moneytest"
)

// checkFocus adds up an export of months: what is billed is the bill, and the value of refused
// jobs stands in rows of its own that cost nothing.
func checkFocus(t *testing.T, place string, answer any, text string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s as focus: %d rows (%v)", place, len(rows), err)
	}
	sums := map[string]decimal.Decimal{}
	for _, row := range rows[1:] {
		of := map[string]decimal.Decimal{}
		for _, name := range []string{"BilledCost", "EffectiveCost", "x_RejectionPenalty"} {
			of[name], _ = decimal.NewFromString(row[slices.Index(rows[0], name)])
			sums[name] = sums[name].Add(of[name])
		}
		if !of["x_RejectionPenalty"].IsZero() && !(of["BilledCost"].IsZero() && of["EffectiveCost"].IsZero()) {
			t.Errorf("%s as focus: a row has a cost and the value of refused jobs: %v", place, row)
		}
	}
	var a struct {
		Total struct {
			Cost struct{ Bill, Penalties decimal.Decimal }
		}
	}
	again, err := json.Marshal(answer)
	if err != nil || json.Unmarshal(again, &a) != nil {
		t.Fatalf("%s: no totals (%v)", place, err)
	}
	billed := a.Total.Cost.Bill
	for name, want := range map[string]decimal.Decimal{"BilledCost": billed, "EffectiveCost": billed, "x_RejectionPenalty": a.Total.Cost.Penalties} {
		if !sums[name].Equal(want) {
			t.Errorf("%s as focus: %s adds up to %s, want %s", place, name, sums[name], want)
		}
	}
}

// Every output of the demonstration and of three more clusters says of each figure whether it is the bill or counts
// what refused jobs are worth.
func TestMoneyIsTheBill(t *testing.T) {
	t.Parallel()
	s := startServing(t, madeDirectory(t), "--demo=still")
	send := func(method, path, body, form string) string {
		for range await.Tries(time.Minute) {
			r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+s.key(t))
			if method == http.MethodPut {
				r.Header.Set("If-None-Match", "*")
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(a.Body)
			a.Body.Close()
			switch {
			case a.StatusCode == http.StatusTooManyRequests:
				continue // a key may ask so often
			case a.StatusCode == http.StatusAccepted: // longer work
				method, path, body = http.MethodGet, a.Header.Get("Location")+"/result", ""
				if form != "" {
					path += "?format=" + form
				}
				continue
			case a.StatusCode == http.StatusConflict && strings.HasSuffix(strings.Split(path, "?")[0], "/result"):
				continue // it is not done yet
			case err != nil || a.StatusCode >= 300:
				t.Fatalf("%s %s %s: %d %s (%v)", method, path, form, a.StatusCode, text, err)
			}
			return string(text)
		}
		t.Fatalf("%s %s: the key asks too often", method, path)
		return ""
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	from, until := today.AddDate(0, 0, 1), today.AddDate(0, 0, 29)
	names := []string{"demo"}
	sent := listen(t, send)
	for _, doc := range moneytest.Clusters {
		var d struct{ Cluster struct{ Name string } }
		if err := json.Unmarshal([]byte(doc), &d); err != nil {
			t.Fatal(err)
		}
		name := d.Cluster.Name
		send(http.MethodPut, "/v1/clusters/"+name+"/document", doc, "")
		for class, week := range map[string]string{"etl": "mon-fri 8-18: 7; else 2", "adhoc": "else 3"} {
			send(http.MethodPost, "/v1/clusters/"+name+"/forecasts/weekly", fmt.Sprintf(`{"class":%q,"from":%q,"until":%q,"week":%q}`, class, from.Format(time.RFC3339), until.Format(time.RFC3339), week), "")
		}
		send(http.MethodPost, "/v1/clusters/"+name+"/plans", `{}`, "")
		names = append(names, name)
	}
	figures, refused := 0, 0
	for _, name := range names {
		at := "/v1/clusters/" + name
		span := fmt.Sprintf(`"from":%q,"until":%q`, from.Format(time.RFC3339), until.Format(time.RFC3339))
		leave := ""
		if name == "typed" {
			leave = `,"vm_type":"b","leave_out":["budget"]`
		}
		budget := map[string]string{"demo": "14.00"}[name]
		if budget == "" {
			budget = "3.00"
		}
		class := map[string]string{"demo": "ad-hoc-queries"}[name]
		if class == "" {
			class = "adhoc"
		}
		var problem struct {
			Period   int64 `json:"period_s"`
			Currency string
			Supply   struct{ Contracts []moneytest.Contract }
		}
		if err := json.Unmarshal([]byte(send(http.MethodGet, at+"/plans/current/problem", "", "")), &problem); err != nil {
			t.Fatal(err)
		}
		verb := func(args ...string) string {
			var out, trouble bytes.Buffer
			if code := run(t.Context(), append(args, "--data-dir", s.dataDir), strings.NewReader(""), &out, &trouble); code != 0 {
				t.Fatalf("%v: %d %s", args, code, trouble.String())
			}
			return out.String()
		}
		for _, q := range []struct {
			path, body string
			forms      []string
			verbs      [][]string
		}{
			{"/plans/current", "", []string{"csv", "xlsx"}, [][]string{{"plan", "get", name}, {"plan", "explain", name}}},
			{"/plans", "", []string{"csv"}, [][]string{{"plan", "list", name}}},
			{"/what-if", `{"scenarios":[{"name":"more","changes":[{"what":"demand","factor":1.5}]},{"name":"dear","changes":[{"what":"price","factor":1.4}]},{"name":"strict","changes":[{"what":"penalty","factor":0.5}]}]}`, []string{"csv"}, [][]string{{"whatif", "--cluster", name, "--demand", "*=x1.5"}}},
			{"/sweeps", `{"vary":[{"what":"demand","by":"factor","from":"0.5","to":"2","steps":4}]}`, []string{"csv", "xlsx"}, [][]string{{"sweep", "--cluster", name, "--vary", "demand:*=0.5..2/4"}}},
			{"/sweeps", `{"vary":[{"what":"penalty","by":"factor","from":"0.5","to":"2","steps":4}]}`, []string{"csv"}, [][]string{{"sweep", "--cluster", name, "--vary", "penalty:*=x0.5..2/4"}}},
			{"/questions", fmt.Sprintf(`{"question":"most_for_budget","budget":{"amount":%q}}`, budget), []string{"csv", "xlsx"}, [][]string{{"ask", "budget", "--cluster", name, "--amount", budget}}},
			{"/questions", `{"question":"cheapest_for_all"}`, []string{"xlsx"}, nil},
			{"/questions", fmt.Sprintf(`{"question":"one_more_job","class":%q}`, class), []string{"xlsx"}, [][]string{{"ask", "one-more", "--cluster", name, "--class", class}}},
			{"/horizons", fmt.Sprintf(`{%s}`, span), []string{"csv&per=month", "csv&per=day", "xlsx"}, [][]string{{"months", "--cluster", name, "--from", from.Format(time.DateOnly), "--until", until.Format(time.DateOnly)}}},
			{"/purchases", fmt.Sprintf(`{%s%s,"assume":"flat","factors":[1.5]}`, span, leave), []string{"csv", "xlsx"}, nil},
		} {
			if (name == "typed" || name == "scarce") && strings.Contains(q.body, "cheapest_for_all") { // which no plan can do
				continue
			}
			if name == "typed" && strings.Contains(q.body, "most_for_budget") { // it has a budget of its own
				continue
			}
			method := http.MethodPost
			if q.body == "" {
				method = http.MethodGet
			}
			place := name + q.path
			text := send(method, at+q.path, q.body, "")
			var answer any
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatalf("%s: %v", place, err)
			}
			b := &moneytest.Book{Bill: map[string]decimal.Decimal{}, Tainted: map[string]decimal.Decimal{}}
			b.Read(t, place, answer, "")
			for _, extra := range []string{"/plans/current/problem", "/offers"} { // the prices that texts name
				var given any
				if err := json.Unmarshal([]byte(send(http.MethodGet, at+extra, "", "")), &given); err != nil {
					t.Fatal(err)
				}
				(&moneytest.Book{Bill: b.Bill, Tainted: map[string]decimal.Decimal{}}).Read(t, place, given, "")
			}
			if q.path == "/plans/current" { // whose explanation begins with the bill of two months
				now := time.Now().UTC()
				end := time.Date(now.Year(), now.Month()+2, 1, 0, 0, 0, 0, time.UTC)
				var ahead any
				if err := json.Unmarshal([]byte(send(http.MethodPost, at+"/horizons", fmt.Sprintf(`{"until":%q,"detail":"summary"}`, end.Format(time.RFC3339)), "")), &ahead); err != nil {
					t.Fatal(err)
				}
				b.Read(t, place, ahead, "")
			}
			b.Contracts(answer, problem.Supply.Contracts, problem.Period)
			if strings.Contains(q.body, "most_for_budget") { // of which so much is left
				for _, of := range []int64{3600, problem.Period} {
					for _, x := range b.Bill {
						moneytest.Hold(b.Bill, decimal.RequireFromString(budget).Mul(decimal.NewFromInt(of)).Div(decimal.NewFromInt(3600)).Sub(x.Mul(decimal.NewFromInt(of)).Div(decimal.NewFromInt(problem.Period))))
					}
				}
			}
			b.Close(problem.Period)
			figures, refused = figures+len(b.Bill), refused+len(b.Tainted)
			report := func(form string, wrong []string) {
				for _, w := range wrong {
					t.Errorf("%s as %s: %s", place, form, w)
				}
				if told, is := answer.(map[string]any); is && len(wrong) > 0 {
					t.Logf("the answer is %v: %v", told["status"], told["explanation"])
				}
			}
			var texts func(x any, under string)
			texts = func(x any, under string) {
				switch x := x.(type) {
				case map[string]any:
					for name, value := range x {
						texts(value, name)
					}
				case []any:
					for _, each := range x {
						texts(each, under)
					}
				case string:
					if under == "explanation" || under == "answer" || under == "sentence" || under == "reason" || under == "claim" || under == "means" {
						report("json "+under, b.Sentences(x))
					}
				}
			}
			texts(answer, "")
			if q.path == "/horizons" {
				checkFocus(t, place, answer, send(method, at+q.path+"?format=focus", q.body, "focus"))
			}
			for _, form := range q.forms {
				body := send(method, at+q.path+"?format="+form, q.body, form)
				if form != "xlsx" {
					rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
					if err != nil {
						t.Fatal(err)
					}
					report(form, b.Columns(rows))
					continue
				}
				names, sheets := sheetsOf(t, body)
				for i, sheet := range names {
					rows := sheets[i]
					if k := slices.Index(rows[0], "bill_"+problem.Currency); sheet == "classes" && k >= 0 { // shares of it, which add up
						sum := decimal.Zero
						for _, row := range rows[1:] {
							sum = sum.Add(decimal.RequireFromString(row[k]))
							row[k] = ""
						}
						rows = append(rows, slices.Concat(make([]string, k), []string{sum.Round(6).String()}))
					}
					report("xlsx "+sheet, b.Columns(rows))
				}
			}
			for _, args := range q.verbs {
				report(strings.Join(args[:2], " "), b.Printed(verb(args...)))
			}
		}
	}
	checkMetrics(t, send, names)
	if seen, refusing := sent.check(t, send, names[1:]); seen < 3 || refusing < 2 {
		t.Errorf("messages told %d plans, %d of which refuse jobs", seen, refusing)
	}
	if figures < 500 || refused < 100 {
		t.Errorf("%d figures of bills and %d that count refused jobs are too few to judge by", figures, refused)
	}
	t.Logf("%d figures of bills, %d that count refused jobs", figures, refused)
}

// sheetsOf reads the names of a workbook's sheets and the values in their rows. A library for that would weigh on each
// start of the program by a test: this binary is both.
func sheetsOf(t *testing.T, book string) (names []string, sheets [][][]string) {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string, to any) {
		text, err := fs.ReadFile(archive, name)
		if err == nil {
			err = xml.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var contents struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
		} `xml:"sheets>sheet"`
	}
	read("xl/workbook.xml", &contents)
	for i, s := range contents.Sheets {
		var sheet struct {
			Rows []struct {
				Cells []struct {
					At    string `xml:"r,attr"`
					Value string `xml:"v"`
					Text  string `xml:"is>t"`
				} `xml:"c"`
			} `xml:"sheetData>row"`
		}
		read(fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1), &sheet)
		var rows [][]string
		for _, r := range sheet.Rows {
			var row []string
			for _, c := range r.Cells {
				column := 0
				for _, letter := range strings.TrimRight(c.At, "0123456789") {
					column = column*26 + int(letter-'A') + 1
				}
				row = append(row, make([]string, column-len(row))...)
				row[column-1] = c.Value + c.Text
			}
			rows = append(rows, row)
		}
		names, sheets = append(names, s.Name), append(sheets, rows)
	}
	return names, sheets
}
