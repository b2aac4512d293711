package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Purchase returns a row for each offer: the number of VMs to buy, their cost and their utilization.
func Purchase(a horizon.PurchaseAnswer) Table {
	in := "_" + a.Currency
	columns := []string{"offer", "buy_vms", "max_vms", "paid_upfront" + in, "upfront_share" + in, "reserved" + in, "reserved_idle" + in, billColumn + in, "term_in_horizon", "utilisation", "obligation" + in, "forecast_share_of_term"}
	return tableOf(columns, a.Offers, func(o horizon.OfferAnswer) []Cell {
		total := money.Amount{Decimal: decimal.Sum(o.Upfront.Decimal, o.Reserved.Decimal, o.Idle.Decimal)}
		return []Cell{text(o.Name), whole(o.VMs), whole(o.Most), amount(&o.Paid), amount(&o.Upfront), amount(&o.Reserved), amount(&o.Idle), amount(&total),
			number(o.Share), optional(o.Utilisation), amount(&o.Obligation), number(o.ForecastShare)}
	})
}

// purchaseMonths returns a row for each month: the reduction of the bill, upfront payments by their share in it and in full,
// and the balance since the start. Then come the reduction of refused jobs' value and the balance that includes it.
func purchaseMonths(a horizon.PurchaseAnswer) Table {
	in := "_" + a.Currency
	columns := []string{"month", "bill_saved" + in, "upfront_share" + in, "paid_upfront" + in, "bill_balance" + in, "value_refused_less" + in, "bill_and_value_refused_balance" + in}
	return tableOf(columns, a.Months, func(m horizon.SavingMonth) []Cell {
		avoided := money.Amount{Decimal: m.Saved.Sub(m.BillSaved.Decimal)}
		return []Cell{Time(m.Month), amount(&m.BillSaved), amount(&m.Upfront), amount(&m.Paid), amount(&m.BillBalance), amount(&avoided), amount(&m.Balance)}
	})
}

// purchaseCurve returns a row for each tried number of VMs of an offer, the others as recommended.
func purchaseCurve(a horizon.PurchaseAnswer) Table {
	in := "_" + a.Currency
	t := Table{Columns: []string{"offer", "vms", billColumn + in, "bill_saving" + in, valueColumn + in, togetherColumn + in, "recommended", "exact"}}
	for k, c := range a.Curves {
		for _, p := range c.Points {
			t.Rows = append(t.Rows, []Cell{text(c.Offer), whole(p.VMs), amount(p.Bill), amount(p.BillSaving), amount(valued(p.Cost, p.Bill)), amount(p.Cost), flag(p.VMs == a.Offers[k].VMs), flag(c.Exact || p.VMs == a.Offers[k].VMs)})
		}
	}
	return t
}

// purchaseAssumptions returns a row for each assumption about the demand after the forecast, and for each moment at
// which demand may end.
func purchaseAssumptions(a horizon.PurchaseAnswer) Table {
	in := "_" + a.Currency
	columns := []string{"demand", billColumn + in, "best_bill" + in, "best_" + valueColumn + in, "best_obligation" + in}
	for _, o := range a.Offers {
		columns = append(columns, "best_vms "+o.Name)
	}
	t := Table{Columns: columns}
	add := func(what string, bill, best, value, obligation *money.Amount, vms []int64) {
		row := []Cell{text(what), amount(bill), amount(best), amount(value), amount(obligation)}
		for k := range a.Offers {
			if k < len(vms) {
				row = append(row, whole(vms[k]))
			} else {
				row = append(row, Cell{"", true})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for i := range a.Assumptions {
		s := &a.Assumptions[i]
		add(string(s.Assume)+" after the forecast", s.RecommendedBill, s.BestBill, s.BestValue, &s.Obligation, s.Best)
	}
	for i := range a.Ends {
		p := &a.Ends[i]
		add("ends "+p.Ends.UTC().Format(time.DateOnly), p.Bill, p.BestBill, valued(p.BestCost, p.BestBill), &p.Obligation, p.Best)
	}
	return t
}

// purchaseRegret returns a row for each demand at which the recommendation was tried, beside the best purchase there.
func purchaseRegret(a horizon.PurchaseAnswer) Table {
	in := "_" + a.Currency
	columns := []string{"demand_factor", "today_bill" + in, "bill" + in, "best_bill" + in, "today_" + togetherColumn + in, togetherColumn + in, "best_" + togetherColumn + in, "regret_" + togetherColumn + in, "best_gap"}
	for _, o := range a.Offers {
		columns = append(columns, "best_vms "+o.Name)
	}
	return tableOf(columns, a.Regret, func(r horizon.RegretPoint) []Cell {
		row := []Cell{number(r.Factor), amount(r.TodayBill), amount(r.Bill), amount(r.BestBill), amount(r.TodayCost), amount(r.Cost), amount(r.BestCost), amount(r.Regret), number(r.Gap)}
		for k := range a.Offers {
			if k < len(r.Best) {
				row = append(row, whole(r.Best[k]))
			} else {
				row = append(row, Cell{"", true})
			}
		}
		return row
	})
}

// valued returns the value of refused jobs: a cost without its bill, or nil if either is unknown.
func valued(cost, bill *money.Amount) *money.Amount {
	if cost == nil || bill == nil {
		return nil
	}
	return &money.Amount{Decimal: cost.Sub(bill.Decimal)}
}

// PurchaseText writes a recommendation for a terminal.
func PurchaseText(w io.Writer, a horizon.PurchaseAnswer) error {
	var b strings.Builder
	b.WriteString(visible(a.Explanation, 0) + "\n")
	tables := []struct {
		title string
		Table
	}{{"", offersBrief(a)}}
	if a.Status != capacity.InfeasibleStatus {
		how := ""
		if a.Found != nil {
			how = ", " + a.Found.Without()
		}
		tables = append(tables, []struct {
			title string
			Table
		}{
			{"", costsBrief(a)},
			{"Month by month, upfront payments when they are due:", brief(renamed(purchaseMonths(a), "month", "start"), "Month", a.Currency)},
			{"Other numbers of VMs of each offer" + how + ":", curveBrief(a)},
			{"The recommendation at other demands, beside the best purchase there" + how + ":", regretBrief(a)},
			{"Where demand goes on or ends otherwise" + how + ":", assumedBrief(a)},
			{"Where jobs wait, purchases that were tried, the cheapest first:", waitingBrief(a)},
		}...)
	}
	for _, t := range tables {
		if len(t.Rows) == 0 {
			continue
		}
		b.WriteByte('\n')
		if t.title != "" {
			b.WriteString(t.title + "\n")
		}
		if err := t.Text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func renamed(t Table, from, to string) Table {
	for j := range t.Columns {
		if t.Columns[j] == from {
			t.Columns[j] = to
		}
	}
	return t
}

func offersBrief(a horizon.PurchaseAnswer) Table {
	return tableOf([]string{"Offer", "Buy", "Of at most", "Paid upfront " + a.Currency, "Counted here", "By the hour " + a.Currency, "Used", "Obligation " + a.Currency, "Forecast"}, a.Offers, func(o horizon.OfferAnswer) []Cell {
		hourly := money.Amount{Decimal: o.Reserved.Add(o.Idle.Decimal)}
		return []Cell{text(o.Name), whole(o.VMs), whole(o.Most), {cents(o.Paid), true}, {cents(o.Upfront), true}, {cents(hourly), true}, share(o.Utilisation), {cents(o.Obligation), true}, share(&o.ForecastShare)}
	})
}

// costsBrief returns the recommendation beside today and on-demand alone, and what was found as offers were weighed.
func costsBrief(a horizon.PurchaseAnswer) Table {
	t := Table{Columns: []string{"In " + a.Currency, "On demand", "Spot", "Contracts", "Idle", "Upfront", "VM bill", "Value refused", "Together"}}
	lines := costLines(a)
	spot := slices.ContainsFunc(lines, func(l costLine) bool { return !l.cost.Cost.Spot.IsZero() })
	if !spot {
		t.Columns = slices.Delete(t.Columns, 2, 3)
	}
	for _, line := range lines {
		c := &line.cost.Cost
		row := []Cell{text(strings.ToUpper(line.name[:1]) + line.name[1:])}
		for i, part := range words.PartsOf(cents(line.cost.Bill), c.OnDemand, c.Spot, c.Reserved, c.ReservedIdle, line.cost.Upfront) {
			if i != 1 || spot {
				row = append(row, Cell{part, true})
			}
		}
		for _, m := range []money.Amount{line.cost.Bill, c.Penalties, line.cost.Total} {
			row = append(row, Cell{cents(m), true})
		}
		if line.cost.Status == capacity.InfeasibleStatus {
			row[0].Text += " (not all hours)"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// waitingBrief returns the purchases that were tried where jobs wait.
func waitingBrief(a horizon.PurchaseAnswer) (t Table) {
	if a.WithWaiting == nil {
		return t
	}
	for _, o := range a.Offers {
		t.Columns = append(t.Columns, "VMs of "+o.Name)
	}
	t.Columns = append(t.Columns, "VM bill "+a.Currency, "Of it upfront", "Value refused", "Together", "At least")
	for _, tried := range a.WithWaiting.Tried {
		var row []Cell
		for _, n := range tried.VMs {
			row = append(row, whole(n))
		}
		for _, m := range []money.Amount{tried.Bill, tried.Upfront, tried.ValueRefused, tried.Total} {
			row = append(row, Cell{cents(m), true})
		}
		row = append(row, Cell{words.CentsDown(tried.Bound), true})
		t.Rows = append(t.Rows, row)
	}
	return t
}

type costLine struct {
	name string
	cost *horizon.PurchaseCost
}

// costLines are the costs that stand beside each other.
func costLines(a horizon.PurchaseAnswer) []costLine {
	lines := []costLine{{"recommended", &a.Recommended}, {"today", &a.Today}, {"on demand only", &a.OnDemandOnly}}
	if f := a.Found; f != nil {
		if f.VMs != nil && slices.Max(f.VMs) > 0 {
			if !slices.EqualFunc(f.VMs, a.Offers, func(n int64, o horizon.OfferAnswer) bool { return n == o.VMs }) {
				lines = append(lines, costLine{bestBuy(a, f.VMs), &f.AsItIs})
			}
			lines = append(lines, costLine{bestBuy(a, f.VMs) + ", " + f.Without(), &f.Bought})
		}
		lines = append(lines, costLine{"today, " + f.Without(), &f.Today})
	}
	return lines
}

func curveBrief(a horizon.PurchaseAnswer) Table {
	t := Table{Columns: []string{"Offer", "VMs", "VM bill " + a.Currency, "Bill falls by " + a.Currency, "Value refused " + a.Currency, "Together " + a.Currency, ""}}
	for k, c := range a.Curves {
		for _, p := range c.Points {
			t.Rows = append(t.Rows, []Cell{text(c.Offer), whole(p.VMs), billCents(p, p.Bill), billCents(p, p.BillSaving), billCents(p, valued(p.Cost, p.Bill)), maybeCents(p.Cost), text(pick(p.VMs == a.Offers[k].VMs, "recommended", pick(c.Exact, "", "near")))})
		}
	}
	return t
}

func regretBrief(a horizon.PurchaseAnswer) Table {
	return tableOf([]string{"Demand", "Bill today " + a.Currency, "Bill " + a.Currency, "Best bill " + a.Currency, "Together today " + a.Currency, "Together " + a.Currency, "Together at best " + a.Currency, "Together more " + a.Currency, "Best purchase"}, a.Regret, func(r horizon.RegretPoint) []Cell {
		return []Cell{{words.Percent(r.Factor), true}, maybeCents(r.TodayBill), maybeCents(r.Bill), maybeCents(r.BestBill), maybeCents(r.TodayCost), maybeCents(r.Cost), maybeCents(r.BestCost), maybeCents(r.Regret), text(bestBuy(a, r.Best))}
	})
}

// assumedBrief returns what would be bought, its bill and its obligation, for each demand after or before the end.
func assumedBrief(a horizon.PurchaseAnswer) Table {
	t := Table{Columns: []string{"Demand", "VM bill " + a.Currency, "Best bill " + a.Currency, "Its obligation " + a.Currency, "Best purchase"}}
	for i := range a.Assumptions {
		s := &a.Assumptions[i]
		t.Rows = append(t.Rows, []Cell{text(strings.ReplaceAll(string(s.Assume), "_", " ")), maybeCents(s.RecommendedBill), maybeCents(s.BestBill), {cents(s.Obligation), true}, text(bestBuy(a, s.Best))})
	}
	for i := range a.Ends {
		p := &a.Ends[i]
		t.Rows = append(t.Rows, []Cell{text("ends " + p.Ends.UTC().Format(time.DateOnly)), maybeCents(p.Bill), maybeCents(p.BestBill), {cents(p.Obligation), true}, text(bestBuy(a, p.Best))})
	}
	return t
}

// bestBuy says how many VMs of each offer a purchase has.
func bestBuy(a horizon.PurchaseAnswer, vms []int64) string {
	var best []string
	for k, n := range vms {
		if n > 0 {
			best = append(best, fmt.Sprintf("%d of %q", n, visible(a.Offers[k].Name, 30)))
		}
	}
	if best == nil {
		return "nothing"
	}
	return strings.Join(best, ", ")
}

// billCents returns a part of the cost of a number of VMs, unknown to curves that are not exact.
func billCents(p horizon.SavingPoint, m *money.Amount) Cell {
	if m == nil && p.Cost != nil {
		return Cell{"-", true}
	}
	return maybeCents(m)
}

func maybeCents(m *money.Amount) Cell {
	if m == nil {
		return Cell{"does not fit", true}
	}
	return Cell{cents(*m), true}
}
