package postgres_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/migrations"
)

// addedUp is the statement that adds up the bills of the plans in force that were there before the sums were.
func addedUp(t testing.TB) string {
	t.Helper()
	text, err := migrations.Files.ReadFile("00037_reigns_billed.sql")
	check(t, err)
	_, statement, found := strings.Cut(string(text), "\nWITH known AS")
	if !found {
		t.Fatal("the step of the sums has no statement that adds up")
	}
	return "WITH known AS" + statement
}

// Lists of plans in force say since when and until when each was, the latest first, and of a range also the plan that was in
// force at its beginning. Plans for other moments, and those that wait for a pin to end, are in none.
func TestPlansInForce(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	must(s.KeepPlan(ctx, record(night)))(t)
	must(s.SavePlan(ctx, record(night)))(t)
	must(s.PinPlan(ctx, night, plans.PlanRef{Number: 1}, time.Now().Add(time.Hour)))(t)
	must(s.SavePlan(ctx, record(night)))(t)
	start := time.Now().UTC().Truncate(time.Hour).Add(-60 * 24 * time.Hour)
	at := func(hours float64) time.Time { return start.Add(time.Duration(hours * float64(time.Hour))) }
	// As if plan 1 held from hour 10, plan 3 from hour 20, and plan 1 again from hour 30.
	for _, hours := range []float64{10, 20, 30} {
		execute(t, conn, `UPDATE plan_reigns SET since = $1 WHERE since = (SELECT since FROM plan_reigns WHERE since > now() - interval '1 day' ORDER BY since LIMIT 1)`, at(hours))
	}
	said := func(list []plans.PlanSummary) (all []string) {
		for _, p := range list {
			until := "now"
			if p.Until != nil {
				until = fmt.Sprint(p.Until.Sub(start).Hours())
			}
			all = append(all, fmt.Sprintf("%d from %v until %s", p.Number, p.Since.Sub(start).Hours(), until))
		}
		return all
	}
	first, second, third := "1 from 10 until 20", "3 from 20 until 30", "1 from 30 until now"
	never := time.Time{}
	for _, c := range []struct {
		from, until time.Time
		want        []string
	}{
		{never, never, []string{third, second, first}},
		{at(5), never, []string{third, second, first}},
		{at(10), at(20), []string{first}},
		{at(15), at(15.001), []string{first}},
		{at(20), at(30.5), []string{third, second}},
		{at(29), never, []string{third, second}},
		{at(40), never, []string{third}},
		{at(40), at(41), []string{third}},
		{never, at(25), []string{second, first}},
		{never, at(10), nil},
		{time.Now().Add(time.Hour), never, nil},
		{at(1), at(2), nil},
	} {
		for _, size := range []int{1, 2, 100} {
			got := said(pages(t, size, func(p storage.Page) (storage.Listed[plans.PlanSummary], error) {
				return s.PlansInForce(ctx, night, c.from, c.until, p)
			}))
			if !slices.Equal(got, c.want) {
				t.Errorf("from %v until %v in pages of %d: %q, want %q", c.from, c.until, size, got, c.want)
			}
		}
	}
	one := must(s.PlansInForce(ctx, night, at(40), never, storage.Page{}))(t).Items[0]
	one.Since = nil
	same(t, one, must(s.Plan(ctx, night, plans.PlanRef{Number: 1}))(t).PlanSummary)
}

// The bill of this month equals a sum over the plans in force in fractions, for drawn plans, periods and currencies. It holds
// for the sums made by the step of the schema, and for those that go on with each new plan.
func TestBillOfTheMonth(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
	ctx := filled(t, s)
	r := rand.New(rand.NewPCG(14, 37))
	draw := func(currency string) (since time.Time) { // on a busy machine a plan is in force a while after it was made
		p := record(night)
		p.TotalCost, p.Penalties = money.Amount{Decimal: decimal.New(1e13+r.Int64N(1e13), -9)}, money.Amount{Decimal: decimal.New(r.Int64N(1e12), -9)}
		p.PeriodSeconds, p.Currency = []int64{7, 1800, 3600, 86400}[r.IntN(4)], currency
		must(s.SavePlan(ctx, p))(t)
		if err := conn.QueryRow(ctx, "SELECT max(since) FROM plan_reigns").Scan(&since); err != nil {
			t.Fatal(err)
		}
		return since
	}
	checked := func(now time.Time) {
		t.Helper()
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		o := must(s.Overview(ctx, []string{night}, now, storage.Page{}))(t).Items[0]
		stints, _, err := s.PlansOf(ctx, night, month.AddDate(0, -3, 0), now)
		check(t, err)
		from, want := now, new(big.Rat)
		for _, x := range slices.Backward(stints) {
			if x.Currency != o.Plan.Currency || !x.Until.After(month) {
				break
			}
			if from = x.Since; from.Before(month) {
				from = month
			}
			rate := new(big.Rat).Quo(x.TotalCost.Sub(x.Penalties.Decimal).Rat(), big.NewRat(x.PeriodSeconds, 1))
			want.Add(want, rate.Mul(rate, big.NewRat(x.Until.Sub(from).Microseconds(), 1e6)))
		}
		if o.Month == nil || !o.Month.From.Equal(from) || !o.Month.Until.Equal(now) {
			t.Fatalf("the month is %+v, want one from %s until %s", o.Month, from, now)
		}
		off, _ := new(big.Rat).Sub(o.Month.Bill.Rat(), want).Float64()
		if off > 1e-9 || off < -1e-9 {
			t.Errorf("at %s the month's bill is %s, %g too much", now, o.Month.Bill, off)
		}
	}
	last := draw("USD")
	for range 40 {
		last = draw([]string{"USD", "USD", "USD", "USD", "EUR"}[r.IntN(5)])
	}
	later := func() time.Time { return last.UTC().Add(50 * time.Millisecond).Truncate(time.Microsecond) }
	passes := func() { // the record of the past ends with the present, and the clock is the database's
		await.Until(t, time.Minute, "a moment passes", func() bool { return !time.Now().Before(later()) })
	}
	passes()
	checked(later()) // sums of each new plan

	for round := range 8 {
		hours := 1 + r.IntN(60)*r.IntN(30)
		execute(t, conn, `
			UPDATE plan_reigns r SET since = n.since, counted = NULL, billed = NULL FROM (
			    SELECT since AS was, clock_timestamp() - (1 + count(*) OVER (ORDER BY since DESC)) * make_interval(secs => $1 * (0.5 + random() / 2) / 45) - interval '1 hour' AS since FROM plan_reigns) n
			WHERE r.since = n.was`, hours*3600)
		execute(t, conn, addedUp(t))
		now := time.Now().UTC().Truncate(time.Microsecond)
		checked(now)
		checked(now.Add(-30 * time.Minute))
		last = draw("USD") // whose sum goes on from those
		passes()
		checked(later())
		if t.Failed() {
			t.Fatalf("round %d of %d hours", round, hours)
		}
	}
}

// However many plans were in force, a page of them and the month's bill are read at once.
func TestVeryManyPlansInForce(t *testing.T) {
	t.Parallel()
	number := int64(20_000)
	if long() {
		number = 1_000_000
	}
	url := pgtest.Database(t)
	s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	many(t, conn, 10, number, number)
	execute(t, conn, `INSERT INTO plan_reigns (cluster_id, since, number) SELECT cluster_id, created_at, number FROM stored_plans WHERE number >= 10`)
	began := time.Now()
	execute(t, conn, addedUp(t))
	t.Logf("the bills of %d plans in force are added up in %v", number, time.Since(began).Round(time.Millisecond))
	execute(t, conn, `VACUUM ANALYZE plan_reigns`)
	now := time.Now()
	var slowest time.Duration
	for place := range 21 { // ranges of all ages
		from := now.Add(-time.Duration(number) * 90 * time.Second * time.Duration(place) / 20)
		for _, until := range []time.Time{{}, from.Add(7 * 24 * time.Hour)} {
			began := time.Now()
			must(s.PlansInForce(ctx, night, from, until, storage.Page{Limit: 100}))(t)
			slowest = max(slowest, time.Since(began))
		}
	}
	began = time.Now()
	must(s.Overview(ctx, nil, now, storage.Page{}))(t)
	t.Logf("of %d plans in force a page of 100 takes %v at most, the overview %v", number, slowest.Round(100*time.Microsecond), time.Since(began).Round(100*time.Microsecond))
	if slowest > 50*time.Millisecond && long() || slowest > time.Second {
		t.Errorf("a page takes %v", slowest)
	}
}
