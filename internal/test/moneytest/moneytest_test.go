package moneytest

import (
	"testing"

	"github.com/shopspring/decimal"
)

// The judge finds labels that are wrong.
func TestWrongWordsOfMoneyAreFound(t *testing.T) {
	t.Parallel()
	set := func(all ...string) map[string]decimal.Decimal {
		m := map[string]decimal.Decimal{}
		for _, x := range all {
			Hold(m, decimal.RequireFromString(x))
		}
		return m
	}
	b := &Book{Bill: set("5.60", "4.40", "0.30"), Tainted: set("9.60", "4.00", "0.65")}
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
		if got := b.Sentences(text); (len(got) > 0) != wrong {
			t.Errorf("%q: got %q, want a fault: %v", text, got, wrong)
		}
	}
	for head, wrong := range map[string]bool{"bill_USD": true, "total_USD": true, "value_refused_USD": false, "bill_and_value_refused_USD": false, "saved_USD": true, "amount": true} {
		if got := b.Columns([][]string{{"month", head}, {"2026-01", "9.60"}}); (len(got) > 0) != wrong {
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
		if got := b.Printed(c.text); (len(got) > 0) != c.wrong {
			t.Errorf("%q: got %q, want a fault: %v", c.text, got, c.wrong)
		}
	}
	for _, c := range []struct {
		above, text string
		wrong       bool
	}{
		{"VM bill", "$5.60", false},
		{"VM bill", "$9.60", true},
		{"Bill and value refused", "$9.60", false},
		{"", "The VM bill rises by €4.40 a month. Refused jobs are valued at €4.00.", false},
		{"", "The VM bill rises by €4.40 a month; in all −€9.60.", true},
		{"One more VM in the relaxation", "$0.65", false},
		{"Idle", "$0.00", false},
	} {
		if got, seen := b.Page(c.above, c.text); (len(got) > 0) != c.wrong || seen == 0 {
			t.Errorf("%q under %q: got %q of %d amounts, want a fault: %v", c.text, c.above, got, seen, c.wrong)
		}
	}
}
