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
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"headroom/internal/test/await"
)

// Words of money mean the bill. A figure beside one of them is a figure of the bill, unless the words say that it is a
// value or both together.
var (
	moneyWord = regexp.MustCompile(`(?i)(^|[^a-z])(bill|cost|costs|save|saves|saved|saving|savings|total|balance|cash|payback|pays?|paid|spent|dearest|cheapest)([^a-z]|$)`)
	valueWord = regexp.MustCompile(`(?i)valu|worth|together|penalt`)
	countWord = regexp.MustCompile(`(?i)vms?\b|slot|time|hour|jobs?\b|gap|share|factor|utilis|deadline|used|forecast`)
	counted   = regexp.MustCompile(`^ (VMs?|jobs?|job-hours|map|reduce|s|%|slots?|times)\b|^ %`)
	figure    = regexp.MustCompile(`-?\d+(\.\d+)?`)
)

// moneyBook holds the figures of one answer: those of the bill, and those that count the value of refused jobs.
type moneyBook struct {
	bill, tainted map[string]decimal.Decimal
}

// hold adds a figure to a set.
func hold(set map[string]decimal.Decimal, d decimal.Decimal) {
	if !d.IsZero() {
		set[d.Abs().String()] = d.Abs()
	}
}

// Names of members whose money is on the bill, and of those that count refused jobs. Contracts of JSON keep their
// names; people never read these.
var (
	billNames = regexp.MustCompile(`^(bill.*|best_bill|today_bill|recommended_bill|on_demand.*|spot.*|reserved.*|upfront|paid|obligation|price.*|vm_cost|vms_per_hour)$`)
	bothNames = regexp.MustCompile(`^(total|total_cost|penalt.*|cost|best_cost|today_cost|recommended_cost|per_hour|per_month|cost_per_hour|saving|saving_against_on_demand|saved|balance|regret|extra|value_refused.*|best_value_refused)$`)
)

// read takes the figures of an answer. It checks that every bill is the sum of its lines, and that bill and value are
// the total.
func (b *moneyBook) read(t *testing.T, place string, x any, under string) {
	switch x := x.(type) {
	case map[string]any:
		if name, _ := x["name"].(string); x["from"] != nil && x["to"] != nil && name != "" { // a line of two plans
			for _, part := range []string{"from", "to", "values", "decisions", "change"} {
				b.read(t, place, x[part], name)
			}
		}
		if _, both := x["total"].(string); both && x["penalties"] != nil && x["on_demand"] != nil {
			checkSum(t, place, x)
		}
		for name, value := range x {
			if nested, is := value.(map[string]any); is && nested["amount"] != nil {
				b.read(t, place, nested["amount"], name)
			}
			b.read(t, place, value, name)
		}
	case []any:
		for _, each := range x {
			b.read(t, place, each, under)
		}
	case string:
		d, err := decimal.NewFromString(x)
		switch {
		case err != nil:
		case billNames.MatchString(under):
			hold(b.bill, d)
		case bothNames.MatchString(under):
			hold(b.tainted, d)
		}
	}
}

func checkSum(t *testing.T, place string, cost map[string]any) {
	t.Helper()
	amount := func(name string) decimal.Decimal {
		text, _ := cost[name].(string)
		d, _ := decimal.NewFromString(text)
		return d
	}
	lines := decimal.Sum(amount("on_demand"), amount("spot"), amount("reserved"), amount("reserved_idle"))
	if !amount("bill").Equal(lines) || !amount("total").Equal(lines.Add(amount("penalties"))) {
		t.Errorf("%s: the lines come to %s, and with what is refused to %s: %v", place, lines, lines.Add(amount("penalties")), cost)
	}
}

// checkFocus adds up an export of months: what is billed is the bill with upfront payments, and the value of refused
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
		Upfront decimal.Decimal
		Total   struct {
			Cost struct{ Bill, Penalties decimal.Decimal }
		}
	}
	again, err := json.Marshal(answer)
	if err != nil || json.Unmarshal(again, &a) != nil {
		t.Fatalf("%s: no totals (%v)", place, err)
	}
	billed := a.Total.Cost.Bill.Add(a.Upfront)
	for name, want := range map[string]decimal.Decimal{"BilledCost": billed, "EffectiveCost": billed, "x_RejectionPenalty": a.Total.Cost.Penalties} {
		if !sums[name].Equal(want) {
			t.Errorf("%s as focus: %s adds up to %s, want %s", place, name, sums[name], want)
		}
	}
}

// contractPrice holds the hourly price of a contract's VMs.
type contractPrice struct {
	Name, Billing string
	VMs           int64
	Price         decimal.Decimal
}

// contracts adds what each contract of a plan comes to in a period.
func (b *moneyBook) contracts(answer any, all []contractPrice, period int64) {
	plan, _ := answer.(map[string]any)["plan"].(map[string]any)
	vms, _ := plan["vms"].(map[string]any)
	used, _ := vms["contracts"].([]any)
	for _, of := range used {
		for _, c := range all {
			if x := of.(map[string]any); x["name"] == c.Name {
				n := decimal.NewFromFloat(x["used"].(float64))
				if c.Billing == "always" {
					n = decimal.NewFromInt(c.VMs)
				}
				hold(b.bill, n.Mul(c.Price).Mul(decimal.NewFromInt(period)).DivRound(decimal.NewFromInt(3600), 9))
			}
		}
	}
}

// close adds what texts make of the figures of the bill: differences, sums with upfront payments, and months.
func (b *moneyBook) close(period int64) {
	var all []decimal.Decimal
	for _, d := range b.bill {
		all = append(all, d)
	}
	slices.SortFunc(all, decimal.Decimal.Cmp)
	for i, x := range all {
		hold(b.bill, x.Mul(decimal.NewFromInt(730*3600)).DivRound(decimal.NewFromInt(period), 9))
		hold(b.bill, x.Mul(decimal.NewFromInt(3600)).DivRound(decimal.NewFromInt(period), 9))
		for _, y := range all[:min(i, 300)] {
			if len(all) <= 300 {
				hold(b.bill, x.Sub(y))
				hold(b.bill, x.Add(y))
			}
		}
	}
}

// has reports whether a figure, as it is printed, is one of a set.
func has(set map[string]decimal.Decimal, text string) bool {
	d, err := decimal.NewFromString(text)
	if err != nil {
		return false
	}
	d = d.Abs()
	if _, exact := set[d.String()]; exact {
		return true
	}
	places := -d.Exponent()
	for _, known := range set {
		if known.Round(places).Equal(d) || known.Sub(d).Abs().LessThan(decimal.New(1, -places)) && places >= 2 && known.RoundBank(places).Equal(d) {
			return true
		}
	}
	return false
}

// judge looks at one figure under its words. It returns what is wrong.
func (b *moneyBook) judge(words, text string) string {
	d, err := decimal.NewFromString(text)
	if err != nil || d.IsZero() || d.Exponent() > -2 || valueWord.MatchString(words) { // money has two places at least
		return ""
	}
	switch inBill := has(b.bill, text); {
	case has(b.tainted, text) && !inBill && (moneyWord.MatchString(words) || !countWord.MatchString(words)):
		return fmt.Sprintf("%s counts refused jobs and stands under %q", text, words)
	case moneyWord.MatchString(words) && !inBill && !strings.Contains(words, "share"):
		return fmt.Sprintf("%s is no figure of the bill and stands under %q", text, words)
	}
	return ""
}

// sentences judges a text: each figure under the clause that it stands in.
func (b *moneyBook) sentences(text string) (wrong []string) {
	for _, sentence := range regexp.MustCompile(`[.;!?](\s|$)|\n`).Split(text, -1) {
		sentence = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(sentence, "")
		for _, at := range figure.FindAllStringIndex(sentence, -1) {
			if counted.MatchString(sentence[at[1]:]) {
				continue
			}
			if fault := b.judge(sentence, sentence[at[0]:at[1]]); fault != "" {
				wrong = append(wrong, fault)
			}
		}
	}
	return wrong
}

// columns judges a table: each figure under its column and the first cells of its row, and texts in it by themselves.
func (b *moneyBook) columns(rows [][]string) (wrong []string) {
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows[1:] {
		for j, cell := range row {
			switch _, err := decimal.NewFromString(cell); {
			case err != nil && strings.Contains(cell, " ") && !strings.HasPrefix(cell, "{"):
				wrong = append(wrong, b.sentences(cell)...)
			case err == nil && j < len(rows[0]):
				words := strings.ReplaceAll(rows[0][j], "_", " ")
				if rows[0][j] == "value" && rows[0][0] == "figure" { // a sheet of single figures: the word stands in the row
					words = row[0]
				} else if rows[0][0] == "" || rows[0][0] == "fact" || rows[0][0] == "Supply" {
					words = strings.ReplaceAll(strings.Join(row[:min(3, j)], " "), "_", " ")
				}
				if fault := b.judge(words, cell); fault != "" {
					wrong = append(wrong, fault)
				}
			}
		}
	}
	return wrong
}

// printed judges what a terminal shows: paragraphs, and tables whose cells are two spaces apart at least.
func (b *moneyBook) printed(text string) (wrong []string) {
	gap := regexp.MustCompile(` {2,}`)
	var heads []string
	var ends []int
	for line := range strings.SplitSeq(text, "\n") {
		cells := gap.Split(strings.TrimSpace(line), -1)
		numbers := slices.IndexFunc(cells, func(c string) bool { _, err := decimal.NewFromString(strings.Fields(c + " x")[0]); return err == nil })
		switch {
		case len(cells) < 3:
			heads = nil
			wrong = append(wrong, b.sentences(line)...)
		case numbers < 0 || heads == nil:
			heads, ends = nil, nil
			for _, at := range regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(line, -1) {
				heads, ends = append(heads, line[at[0]:at[1]]), append(ends, at[1])
			}
		default:
			for _, at := range regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(line, -1) {
				words := strings.Fields(line[at[0]:at[1]])
				k := 0
				for i := range ends { // figures end where their head ends
					if ends[i] <= at[1] || ends[i]-at[1] < 2 {
						k = i
					}
				}
				under := heads[k]
				if strings.HasPrefix(heads[0], "Supply") || heads[0] == "base" {
					under = cells[0]
				}
				if fault := b.judge(under, words[0]); fault != "" {
					wrong = append(wrong, fault+" in "+strings.TrimSpace(line))
				}
			}
		}
	}
	return wrong
}

// moneyClusters are three more clusters: much is refused under a quota, two types with spot VMs and a budget, and days
// with an upfront payment and idle contracts.
var moneyClusters = []string{
	`{"cluster":{"name":"scarce","currency":"USD"},"vm_types":[{"name":"m","in_use":true,"quota":3}],"prices":[{"vm_type":"m","price":"0.317","from":"2020-01-01T00:00:00Z"}],
	"contracts":[{"name":"old","vm_type":"m","vms":4,"price":"0.121","billing":"always","from":"2020-01-01T00:00:00Z","until":"2040-01-01T00:00:00Z"}],
	"offers":[{"name":"year","vm_type":"m","price":"0.153","upfront":"37.00","billing":"always","term_years":1,"max":5}],
	"classes":[{"name":"etl","vms_per_job":1.7,"jobs":{"min":1,"max":9},"penalty":"2.39"},{"name":"adhoc","vms_per_job":1,"jobs":{"min":0,"max":6},"penalty":"0.23"}]}`,
	`{"cluster":{"name":"typed","currency":"USD","budget":{"vm_cost":"2.71"}},"vm_types":[{"name":"a","in_use":true,"spot":{"max_share":0.5}},{"name":"b","in_use":true,"quota":4}],
	"prices":[{"vm_type":"a","price":"0.293","from":"2020-01-01T00:00:00Z"},{"vm_type":"a","purchase":"spot","price":"0.113","from":"2020-01-01T00:00:00Z"},{"vm_type":"b","price":"0.219","from":"2020-01-01T00:00:00Z"}],
	"offers":[{"name":"year","vm_type":"b","price":"0.137","billing":"always","term_years":1,"max":3}],
	"classes":[{"name":"etl","vms_per_job":1.3,"jobs":{"min":2,"max":9},"penalty":"1.87"},{"name":"adhoc","vms_per_job":1,"jobs":{"min":0,"max":7},"penalty":"0.31"}]}`,
	`{"cluster":{"name":"daily","currency":"EUR","period_s":86400},"vm_types":[{"name":"d","in_use":true}],"prices":[{"vm_type":"d","price":"0.271","from":"2020-01-01T00:00:00Z"}],
	"contracts":[{"name":"paid","vm_type":"d","vms":6,"price":"0.053","billing":"always","upfront":"811.00","from":"2026-01-01T00:00:00Z","until":"2029-01-01T00:00:00Z"}],
	"offers":[{"name":"three","vm_type":"d","price":"0.041","upfront":"523.00","billing":"always","term_years":3,"max":9}],
	"classes":[{"name":"etl","vms_per_job":2.3,"jobs":{"min":0,"max":4},"penalty":"41.30"},{"name":"adhoc","vms_per_job":1,"jobs":{"min":0,"max":5},"penalty":"4.70"}]}`,
}

// Every output of the demonstration and of three more clusters says of each figure whether it is the bill or counts
// what refused jobs are worth.
func TestMoneyIsTheBill(t *testing.T) {
	t.Parallel()
	s := startServing(t, dataDirectory(t), "--demo")
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
	for _, doc := range moneyClusters {
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
			Supply   struct{ Contracts []contractPrice }
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
			b := &moneyBook{map[string]decimal.Decimal{}, map[string]decimal.Decimal{}}
			b.read(t, place, answer, "")
			for _, extra := range []string{"/plans/current/problem", "/offers"} { // the prices that texts name
				var given any
				if err := json.Unmarshal([]byte(send(http.MethodGet, at+extra, "", "")), &given); err != nil {
					t.Fatal(err)
				}
				(&moneyBook{b.bill, map[string]decimal.Decimal{}}).read(t, place, given, "")
			}
			b.contracts(answer, problem.Supply.Contracts, problem.Period)
			if strings.Contains(q.body, "most_for_budget") { // of which so much is left
				for _, of := range []int64{3600, problem.Period} {
					for _, x := range b.bill {
						hold(b.bill, decimal.RequireFromString(budget).Mul(decimal.NewFromInt(of)).Div(decimal.NewFromInt(3600)).Sub(x.Mul(decimal.NewFromInt(of)).Div(decimal.NewFromInt(problem.Period))))
					}
				}
			}
			b.close(problem.Period)
			figures, refused = figures+len(b.bill), refused+len(b.tainted)
			report := func(form string, wrong []string) {
				for _, w := range wrong {
					t.Errorf("%s as %s: %s", place, form, w)
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
						report("json "+under, b.sentences(x))
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
					report(form, b.columns(rows))
					continue
				}
				names, sheets := sheetsOf(t, body)
				for i, sheet := range names {
					rows := sheets[i]
					if k := slices.Index(rows[0], "bill_with_upfront_"+problem.Currency); sheet == "classes" && k >= 0 { // shares of it, which add up
						sum := decimal.Zero
						for _, row := range rows[1:] {
							sum = sum.Add(decimal.RequireFromString(row[k]))
							row[k] = ""
						}
						rows = append(rows, slices.Concat(make([]string, k), []string{sum.Round(6).String()}))
					}
					report("xlsx "+sheet, b.columns(rows))
				}
			}
			for _, args := range q.verbs {
				report(strings.Join(args[:2], " "), b.printed(verb(args...)))
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

// The judge finds labels that are wrong.
func TestWrongWordsOfMoneyAreFound(t *testing.T) {
	t.Parallel()
	set := func(all ...string) map[string]decimal.Decimal {
		m := map[string]decimal.Decimal{}
		for _, x := range all {
			hold(m, decimal.RequireFromString(x))
		}
		return m
	}
	b := &moneyBook{set("5.60", "4.40", "0.30"), set("9.60", "4.00", "0.65")}
	for text, wrong := range map[string]bool{
		"The VM bill is 5.60 USD.":                                false,
		"The cost is 9.60 USD.":                                   true,
		"Refused jobs, which are on no bill, are valued at 4.00.": false,
		"Refused jobs cost 4.00.":                                 true,
		"A price of 0.14 saves 0.65 USD an hour.":                 true,
		"Bill and value refused together come to 9.60.":           false,
		"The dearest month is May, with a bill of 4.40.":          false,
		"The dearest month is May, 8.40.":                         true,
		"That pays 7.77 back.":                                    true,
		"One more job costs 0.30 in VMs; it is valued at 4.00.":   false,
		"Of 8 jobs 12.50 are about 3.30 VMs.":                     false,
	} {
		if got := b.sentences(text); (len(got) > 0) != wrong {
			t.Errorf("%q: got %q, want a fault: %v", text, got, wrong)
		}
	}
	for head, wrong := range map[string]bool{"bill_USD": true, "total_USD": true, "value_refused_USD": false, "bill_and_value_refused_USD": false, "saved_USD": true, "amount": true} {
		if got := b.columns([][]string{{"month", head}, {"2026-01", "9.60"}}); (len(got) > 0) != wrong {
			t.Errorf("9.60 under %s: got %q, want a fault: %v", head, got, wrong)
		}
	}
	for _, c := range []struct {
		text  string
		wrong bool
	}{
		{"Month    bill EUR  value refused EUR\n2026-01      5.60               4.00\n", false},
		{"Month    bill EUR  value refused EUR\n2026-01      9.60               4.00\n", true},
		{"Supply     VMs  Amount an hour\nVM bill      7        5.60 USD\nValue refused 1       4.00 USD\n", false},
	} {
		if got := b.printed(c.text); (len(got) > 0) != c.wrong {
			t.Errorf("%q: got %q, want a fault: %v", c.text, got, c.wrong)
		}
	}
}
