// Package moneytest judges whether figures of money stand under the right words. It knows no output but its words.
package moneytest

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// Words of money mean the bill. A figure beside one of them is a figure of the bill, unless the words say that it is a
// value or both together.
var (
	MoneyWord = regexp.MustCompile(`(?i)(^|[^a-z])(bill|cost|costs|save|saves|saved|saving|savings|total|balance|cash|payback|pays?|paid|spent|dearest|cheapest)([^a-z]|$)`)
	ValueWord = regexp.MustCompile(`(?i)valu|worth|together|penalt`)
	countWord = regexp.MustCompile(`(?i)vms?\b|slot|time|hour|jobs?\b|gap|share|factor|utilis|deadline|used|forecast`)
	counted   = regexp.MustCompile(`^ (VMs?|jobs?|job-hours|map|reduce|s|%|slots?|times)\b|^ %`)
	figure    = regexp.MustCompile(`-?\d+(\.\d+)?`)
)

// Book holds the figures of one answer: those of the bill, and those that count the value of refused jobs.
type Book struct {
	Bill, Tainted map[string]decimal.Decimal
	rounded       map[roundedKey]rounded
}

// New returns a book without figures.
func New() *Book {
	return &Book{Bill: map[string]decimal.Decimal{}, Tainted: map[string]decimal.Decimal{}}
}

// Add adds the figures of another book.
func (b *Book) Add(of *Book) {
	maps.Copy(b.Bill, of.Bill)
	maps.Copy(b.Tainted, of.Tainted)
}

// Hold adds a figure to a set.
func Hold(set map[string]decimal.Decimal, d decimal.Decimal) {
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

// Read takes the figures of an answer. It checks that every bill is the sum of its lines, and that bill and value are
// the total.
func (b *Book) Read(t testing.TB, place string, x any, under string) {
	switch x := x.(type) {
	case map[string]any:
		if name, _ := x["name"].(string); x["from"] != nil && x["to"] != nil && name != "" { // a line of two plans
			for _, part := range []string{"from", "to", "values", "decisions", "change"} {
				b.Read(t, place, x[part], name)
			}
		}
		if _, both := x["total"].(string); both && x["penalties"] != nil && x["on_demand"] != nil {
			checkSum(t, place, x)
		}
		if x["reserved"] != nil && x["upfront"] != nil && x["bill"] == nil { // what one contract comes to
			sum := decimal.Zero
			for _, line := range []string{"reserved", "reserved_idle", "upfront"} {
				text, _ := x[line].(string)
				d, _ := decimal.NewFromString(text)
				sum = sum.Add(d)
			}
			Hold(b.Bill, sum)
		}
		b.differences(x)
		for _, with := range []string{"recommended", "bought"} { // a purchase, as it is and as it was found
			if x["today"] != nil && x[with] != nil {
				today, bought := billOf(x["today"]), billOf(x[with])
				Hold(b.Bill, bought.Sub(today))
				Hold(b.Bill, bought.Round(2).Sub(today.Round(2))) // as sentences show both, so that a reader's sum is the same
			}
		}
		for name, value := range x {
			if nested, is := value.(map[string]any); is && nested["amount"] != nil {
				b.Read(t, place, nested["amount"], name)
			}
			b.Read(t, place, value, name)
		}
	case []any:
		for _, each := range x {
			b.Read(t, place, each, under)
		}
	case string:
		d, err := decimal.NewFromString(x)
		switch {
		case err != nil:
		case billNames.MatchString(under):
			Hold(b.Bill, d)
		case bothNames.MatchString(under):
			Hold(b.Tainted, d)
		}
	}
}

func billOf(x any) decimal.Decimal {
	cost, _ := x.(map[string]any)
	text, _ := cost["bill"].(string)
	d, _ := decimal.NewFromString(text)
	return d
}

// differences adds what the bills of one object differ by.
func (b *Book) differences(of map[string]any) {
	var bills []decimal.Decimal
	for name, value := range of {
		if text, is := value.(string); is && strings.HasSuffix(name, "bill") {
			if d, err := decimal.NewFromString(text); err == nil {
				bills = append(bills, d)
			}
		}
	}
	for i, x := range bills {
		for _, y := range bills[:i] {
			Hold(b.Bill, x.Sub(y))
		}
	}
}

// Differences adds what bills for an hour differ by in an hour, a day and a month.
func (b *Book) Differences(bills []decimal.Decimal) {
	for i, x := range bills {
		for _, y := range bills[:i] {
			for _, hours := range []int64{1, 24, 730} {
				Hold(b.Bill, x.Sub(y).Mul(decimal.NewFromInt(hours)))
			}
		}
	}
}

func checkSum(t testing.TB, place string, cost map[string]any) {
	t.Helper()
	amount := func(name string) decimal.Decimal {
		text, _ := cost[name].(string)
		d, _ := decimal.NewFromString(text)
		return d
	}
	lines := decimal.Sum(amount("on_demand"), amount("spot"), amount("reserved"), amount("reserved_idle"), amount("upfront"))
	if !amount("bill").Equal(lines) || !amount("total").Equal(lines.Add(amount("penalties"))) {
		t.Errorf("%s: the lines come to %s, and with what is refused to %s: %v", place, lines, lines.Add(amount("penalties")), cost)
	}
}

// Contract holds the hourly price of a contract's VMs.
type Contract struct {
	Name, Billing string
	VMs           int64
	Price         decimal.Decimal
}

// Contracts adds what each contract of a plan comes to in a period.
func (b *Book) Contracts(answer any, all []Contract, period int64) {
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
				Hold(b.Bill, n.Mul(c.Price).Mul(decimal.NewFromInt(period)).DivRound(decimal.NewFromInt(3600), 9))
			}
		}
	}
}

// Close adds what texts make of the figures of the bill: differences, sums with upfront payments, and months.
func (b *Book) Close(period int64) {
	var all []decimal.Decimal
	for _, d := range b.Bill {
		all = append(all, d)
	}
	slices.SortFunc(all, decimal.Decimal.Cmp)
	for i, x := range all {
		Hold(b.Bill, x.Mul(decimal.NewFromInt(730*3600)).DivRound(decimal.NewFromInt(period), 9))
		Hold(b.Bill, x.Mul(decimal.NewFromInt(3600)).DivRound(decimal.NewFromInt(period), 9))
		for _, y := range all[:min(i, 300)] {
			if len(all) <= 300 {
				Hold(b.Bill, x.Sub(y))
				Hold(b.Bill, x.Add(y))
			}
		}
	}
}

// rounded holds the figures of a set in as many places as something printed has.
type rounded struct {
	figures int // of the set, when it was rounded
	to      map[string]bool
}

// has reports whether a figure, as it is printed, is one of a set.
func (b *Book) has(set map[string]decimal.Decimal, text string) bool {
	d, err := decimal.NewFromString(text)
	if err != nil {
		return false
	}
	d = d.Abs()
	if _, exact := set[d.String()]; exact {
		return true
	}
	places := -d.Exponent()
	key := roundedKey{reflect.ValueOf(set).Pointer(), places}
	r, ok := b.rounded[key]
	if !ok || r.figures != len(set) {
		r = rounded{len(set), make(map[string]bool, len(set))}
		for _, known := range set {
			r.to[known.Round(places).String()] = true
			if places >= 2 { // a part of a sum is rounded so that the parts add up to it
				r.to[known.RoundFloor(places).String()], r.to[known.RoundCeil(places).String()] = true, true
			}
		}
		if b.rounded == nil {
			b.rounded = map[roundedKey]rounded{}
		}
		b.rounded[key] = r
	}
	return r.to[d.String()]
}

// roundedKey names a set and a number of places.
type roundedKey struct {
	set    uintptr
	places int32
}

// judge looks at one figure under its words. It returns what is wrong.
func (b *Book) judge(words, text string) string {
	d, err := decimal.NewFromString(text)
	if err != nil || d.IsZero() || d.Exponent() > -2 { // money has two places at least
		return ""
	}
	return b.weigh(words, text, countWord.MatchString(words))
}

// weigh looks at one figure, which may be a count.
func (b *Book) weigh(words, text string, mayCount bool) string {
	if ValueWord.MatchString(words) {
		return ""
	}
	money := MoneyWord.MatchString(words)
	switch {
	case !money && mayCount, b.has(b.Bill, text):
	case b.has(b.Tainted, text):
		return fmt.Sprintf("%s counts refused jobs and stands under %q", text, words)
	case money && !strings.Contains(words, "share"):
		return fmt.Sprintf("%s is no figure of the bill and stands under %q", text, words)
	}
	return ""
}

// sentence ends where a text begins another one.
var sentenceEnd = regexp.MustCompile(`[.;!?](\s|$)|\n`)

// amount is money as a page writes it: with a sign of its currency.
var amount = regexp.MustCompile(`[−-]?[$€]\d[\d,]*(\.\d+)?`)

// Page judges a text of a page under the words that stand above it. It returns what is wrong, and how many amounts it saw.
func (b *Book) Page(above, text string) (wrong []string, seen int) {
	for _, sentence := range sentenceEnd.Split(text, -1) {
		for _, found := range amount.FindAllString(sentence, -1) {
			seen++
			plain := strings.NewReplacer("$", "", "€", "", ",", "", "−", "-").Replace(found)
			if strings.Trim(plain, "-0.") == "" || strings.Contains(above+sentence, "relaxation") {
				continue // a dual price is no money that anybody pays
			}
			if fault := b.weigh(above+" "+sentence, plain, false); fault != "" {
				wrong = append(wrong, fault)
			}
		}
	}
	return wrong, seen
}

// Scale adds what the figures, which are of so many seconds, come to in an hour, a day and a month.
func (b *Book) Scale(period decimal.Decimal) {
	for _, set := range []map[string]decimal.Decimal{b.Bill, b.Tainted} {
		for _, x := range slices.Collect(maps.Values(set)) {
			for _, hours := range []int64{1, 24, 730} {
				Hold(set, x.Mul(decimal.NewFromInt(hours*3600)).DivRound(period, 9))
			}
		}
	}
}

// Sentences judges a text: each figure under the clause that it stands in.
func (b *Book) Sentences(text string) (wrong []string) {
	for _, sentence := range sentenceEnd.Split(text, -1) {
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

// Columns judges a table: each figure under its column and the first cells of its row, and texts in it by themselves.
func (b *Book) Columns(rows [][]string) (wrong []string) {
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows[1:] {
		for j, cell := range row {
			switch _, err := decimal.NewFromString(cell); {
			case err != nil && strings.Contains(cell, " ") && !strings.HasPrefix(cell, "{"):
				wrong = append(wrong, b.Sentences(cell)...)
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

// Printed judges what a terminal shows: paragraphs, and tables whose cells are two spaces apart at least.
func (b *Book) Printed(text string) (wrong []string) {
	gap := regexp.MustCompile(` {2,}`)
	var heads []string
	var ends []int
	for line := range strings.SplitSeq(text, "\n") {
		cells := gap.Split(strings.TrimSpace(line), -1)
		numbers := slices.IndexFunc(cells, func(c string) bool { _, err := decimal.NewFromString(strings.Fields(c + " x")[0]); return err == nil })
		switch {
		case len(cells) < 3:
			heads = nil
			wrong = append(wrong, b.Sentences(line)...)
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
				if strings.HasPrefix(heads[0], "Supply") || heads[0] == "As it is" {
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

// Clusters are three more clusters: much is refused under a quota, two types with spot VMs and a budget, and days
// with an upfront payment and idle contracts.
var Clusters = []string{
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
