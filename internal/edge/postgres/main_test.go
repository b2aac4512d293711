package postgres_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.TheyWait()
	pgtest.Main(m)
}

// long reports whether to run the full counts of the promises. Tests call it, so that go test notices a change of the
// variable.
func long() bool { return os.Getenv("HEADROOM_LONG") == "1" }

// somebody returns the context of a principal.
func somebody(t testing.TB) context.Context {
	return auth.With(t.Context(), auth.Principal{ID: "key-1", Name: "Ada", Role: auth.Admin})
}

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

func until(text string) *time.Time { at := moment(text); return &at }

func amountOf(text string) money.Amount {
	m, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return m
}

func gamma(text string) *decimal.Decimal {
	d := decimal.RequireFromString(text)
	return &d
}

// must stops the test at an error.
func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return x
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same compares two values as the API shows them.
func same(t testing.TB, got, want any, options ...cmp.Option) {
	t.Helper()
	money := cmp.Comparer(func(a, b money.Amount) bool { return a.Equal(b.Decimal) })
	number := cmp.Comparer(func(a, b decimal.Decimal) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, got, append(options, money, number)...); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// bare ignores members that the store sets.
var bare = cmp.FilterPath(func(p cmp.Path) bool {
	switch p.Last().String() {
	case ".Stamp", ".ID", ".CreatedAt":
		return true
	}
	return false
}, cmp.Ignore())

// raw returns a separate connection to a database, as its owner.
func raw(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// The parts of a cluster that tests begin with.

const night = "night-batch"

var (
	small    = inputs.VMType{Name: "small", Description: "2 cores", InUse: true}
	january  = inputs.PricePeriod{VMType: "small", Purchase: capacity.PurchaseOnDemand, Price: amountOf("0.20"), From: moment("2026-01-01T00:00:00Z"), Until: until("2026-02-01T00:00:00Z")}
	threeYrs = inputs.SignedContract{Name: "three-year", VMType: "small", VMs: 30, Price: amountOf("0.10"), Billing: capacity.BilledUsed,
		From: moment("2025-01-01T00:00:00Z"), Until: moment("2028-01-01T00:00:00Z")}
	oneYear = inputs.StandingOffer{Name: "one-year", VMType: "small", Price: amountOf("0.04"), Upfront: amountOf("400.00"), Billing: capacity.BilledAlways, TermYears: 1, Max: 200, Note: "typed in"}
	etl     = inputs.ProfileVersion{Name: "etl", Note: "typed in", Profile: capacity.Profile{MapTasks: 300, ReduceTasks: 40, MapAvgSeconds: 30, MapMaxSeconds: 60,
		FirstShuffleAvgSeconds: 12, FirstShuffleMaxSeconds: 20, ShuffleAvgSeconds: 40, ShuffleMaxSeconds: 90, ReduceAvgSeconds: 20, ReduceMaxSeconds: 50}}
	nightly = inputs.PlannedClass{Name: "nightly", Profile: &inputs.ProfileRef{Name: "etl"}, DeadlineSeconds: 2700,
		SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 9, Max: 10}, Penalty: amountOf("5")}
	adhoc = inputs.PlannedClass{Name: "ad-hoc", VMsPerJob: gamma("4.03"), Jobs: capacity.JobRange{Max: 12}, Penalty: amountOf("0.95")}
)

// filled adds one cluster with one thing of each kind to a store.
func filled(t testing.TB, s *postgres.Store) context.Context {
	t.Helper()
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	must(s.VMTypes().Create(ctx, night, small))(t)
	must(s.Prices().Create(ctx, night, january))(t)
	must(s.Contracts().Create(ctx, night, threeYrs))(t)
	must(s.CreateProfile(ctx, night, etl))(t)
	must(s.Classes().Create(ctx, night, nightly))(t)
	must(s.Classes().Create(ctx, night, adhoc))(t)
	check(t, putRows(ctx, s, inputs.Forecast{Class: "nightly", Hour: moment("2026-01-10T05:00:00Z"), Jobs: 7.5}))
	return ctx
}

// putRows writes forecasts of the cluster.
func putRows(ctx context.Context, s *postgres.Store, rows ...inputs.Forecast) error {
	_, err := s.PutForecasts(ctx, night, inputs.SeriesOf(rows), false)
	return err
}

// refused checks that an error is of kind Invalid and gives the fault and its place.
func refused(t testing.TB, err error, pointer string, words ...string) {
	t.Helper()
	var e *fault.InputError
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want findings", err, err)
	}
	if got := e.Findings[0].Pointer; got != pointer {
		t.Errorf("pointer %q, want %q (%v)", got, pointer, err)
	}
	says(t, err, words...)
}

// kindOf checks an error's kind and words, and that nothing of the inside is in the sentence.
func kindOf(t testing.TB, err error, kind fault.Kind, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v (%T), want kind %q", err, err, kind)
	}
	says(t, err, words...)
}

var inner = regexp.MustCompile(`SQLSTATE|postgres://|/tmp/|SELECT|INSERT|UPDATE|DELETE|headroom_test|_fkey|_key|_check|FATAL|ERROR|dial|socket`)

func says(t testing.TB, err error, words ...string) {
	t.Helper()
	if leak := inner.FindString(err.Error()); leak != "" {
		t.Errorf("the sentence lets %q out: %v", leak, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want it to say %q", err, w)
		}
	}
}

// wrongVersion checks that an error gives the present version.
func wrongVersion(t testing.TB, err error, have int64) {
	t.Helper()
	var e *storage.VersionError
	if !errors.As(err, &e) || !errors.Is(err, fault.Conflict) {
		t.Fatalf("got %v, want a wrong version", err)
	}
	if e.Have != have {
		t.Errorf("says version %d is there, want %d", e.Have, have)
	}
}

// pages reads a list in pages of a size and checks that they hold the same as one big page.
func pages[T any](t testing.TB, size int, list func(storage.Page) (storage.Listed[T], error)) []T {
	t.Helper()
	whole := must(list(storage.Page{Limit: 1000}))(t)
	if whole.Next != "" || whole.Items == nil {
		t.Errorf("the whole list: next %q, items nil %v", whole.Next, whole.Items == nil)
	}
	all := []T{}
	for page := (storage.Page{Limit: size}); ; {
		part := must(list(page))(t)
		all = append(all, part.Items...)
		if len(part.Items) > size {
			t.Errorf("a page of %d has %d items", size, len(part.Items))
		}
		if part.Next == "" {
			break
		}
		page.After = part.Next
	}
	if len(all) != len(whole.Items) {
		t.Errorf("%d items in pages of %d, %d in one", len(all), size, len(whole.Items))
	}
	for _, cursor := range []string{"!", "x", "bnVsbA", "WyIiLCIiLCIiLCIiXQ", "WzEsMiwzLDQsNV0", strings.Repeat("A", 5000)} {
		_, err := list(storage.Page{After: cursor, Limit: size})
		refused(t, err, "", `"cursor"`)
	}
	return all
}

// hostile lists names that break careless quoting, sorting and counting of letters.
var hostile = []string{
	`Robert'); DROP TABLE classes;--`, `"double" \back\ 'single'`, `$1 @name :name %s {{}}`, "名前 🦉 naïve", "e\u0301 and é", "%", "_", "null", "0",
	strings.Repeat("界", 200), `<script>alert(1)</script>`, "a/b?c#d&e=f", "-- ", "*/ /*", "\u202eright to left", "＝1+1",
}
