package capacity

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// standard returns the text of encoding/json, without escapes for HTML.
func standard(t testing.TB, x any) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(x); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// fill gives a value and everything in it random contents: also members that are added to a plan one
// day, so that one the encoder does not know is found.
func fill(t testing.TB, r *rand.Rand, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[decimal.Decimal]() {
		v.Set(reflect.ValueOf(anyDecimal(r)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, r, v.Field(i))
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(6); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n))
			for i := range n - 1 {
				fill(t, r, v.Index(i))
			}
		}
	case reflect.Interface:
		if value := [...]any{nil, "a<b", 2.5, int64(7), []string{"x"}, false}[r.IntN(6)]; value != nil {
			v.Set(reflect.ValueOf(value))
		}
	case reflect.String:
		v.SetString(anyText(r))
	case reflect.Float64:
		v.SetFloat(anyFloat(r))
	case reflect.Int, reflect.Int64:
		v.SetInt([...]int64{0, 1, -1, math.MaxInt64, math.MinInt64, r.Int64N(1e6)}[r.IntN(6)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		t.Fatalf("a plan holds a %s, which this test does not know; teach it and AppendPlan", v.Type())
	}
}

func anyDecimal(r *rand.Rand) decimal.Decimal {
	switch r.IntN(8) {
	case 0:
		return decimal.Decimal{}
	case 1: // longer than an int64
		return decimal.New(r.Int64()-math.MaxInt64/2, -int32(r.IntN(12))).Mul(decimal.New(r.Int64(), int32(r.IntN(5))-2))
	case 2: // at the end of an int64
		return decimal.New([]int64{math.MaxInt64, math.MinInt64, 1e18, -1e18, 1e18 - 1, 9223372036, -9223372036, 9223372037}[r.IntN(8)], int32(r.IntN(14))-11)
	case 3:
		return decimal.New(r.Int64N(2000)-1000, int32(r.IntN(30))-15)
	default:
		return decimal.New(r.Int64N(1e9)*r.Int64N(1e6)-1e12, -int32(r.IntN(10)))
	}
}

func anyText(r *rand.Rand) string {
	pieces := []string{"", "a", "Class 7", `"`, `\`, "/", "<&>", "\x00", "\b\f\n\r\t", "\x1f", "\x7f", "é", "水", "😀", "\u2028", "\u2029", "\u2027", "\xff", "\xe2\x80", "\xed\xa0\x80", "\ufffd"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func anyFloat(r *rand.Rand) float64 {
	switch r.IntN(6) {
	case 0:
		ends := []float64{0, 1e-6, 9.99e-7, 1e15, 1e15 - 1, 1e20, 1e21, 9.9e20, 1e-9, 1e-10, 1e-100, 1.5e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, -123}
		return ends[r.IntN(len(ends))]
	case 1:
		return float64(r.IntN(1000))
	case 2:
		for {
			if x := math.Float64frombits(r.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
				return x
			}
		}
	case 3:
		return float64(r.IntN(100_000)) / 100
	default:
		return (r.Float64() - 0.3) * math.Pow(10, float64(r.IntN(12)))
	}
}

func TestPlansAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	longest := 0
	for range many(2000, 5000) {
		var p Plan
		fill(t, r, reflect.ValueOf(&p).Elem())
		want := standard(t, p)
		if got := string(AppendPlan([]byte("before"), p)); got != "before"+want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		var pieces bytes.Buffer
		if err := WritePlan(&pieces, p); err != nil || pieces.String() != want {
			t.Fatalf("in pieces: %s, %v\nwant %s", &pieces, err, want)
		}
		longest = max(longest, len(want))
	}
	if longest < 3000 {
		t.Errorf("the longest plan has %d bytes; the plans are no sample", longest)
	}
	if got, want := string(AppendPlan(nil, Plan{})), standard(t, Plan{}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNumbersAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 100_000 {
		x := anyFloat(r)
		if got, want := string(strict.AppendNumber(nil, x)), standard(t, x); got != want {
			t.Fatalf("%b: got %s, want %s", x, got, want)
		}
	}
	if got := string(strict.AppendNumber(nil, math.Copysign(0, -1))); got != "0" { // the library writes -0
		t.Errorf("a negative zero: got %s", got)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := string(strict.AppendNumber(nil, x)); got != "null" {
			t.Errorf("%v: got %s, want null", x, got)
		}
	}
}

// TestMoneyAgreesWithDecimals: the arithmetic in int64 does what the decimals do.
func TestMoneyAgreesWithDecimals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	short := 0
	for range 100_000 {
		m := money.Amount{Decimal: anyDecimal(r)}
		if got, want := m.String(), string(m.AppendLong(nil)); got != want {
			t.Fatalf("%s: written %s, want %s", m.Decimal, got, want)
		}
		if got, want := m.Float(), m.InexactFloat64(); got != want {
			t.Fatalf("%s: the nearest float64 is said to be %v, want %v", m.Decimal, got, want)
		}
		n, exact := m.Billionths()
		if exact && !m.Equal(decimal.New(n, -money.Places)) {
			t.Fatalf("%s: %d billionths", m.Decimal, n)
		}
		if exact {
			short++
		}
	}
	if short < 50_000 || short > 95_000 {
		t.Errorf("%d of 100,000 amounts were counted in an int64; want most, not all", short)
	}
}

func BenchmarkAppendPlan(b *testing.B) {
	p := bulkPlan(1000)
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		text = AppendPlan(nil, p)
	}
	b.SetBytes(int64(len(text)))
}

// bulkPlan is a plan of n full classes.
func bulkPlan(n int) Plan {
	r := rand.New(rand.NewPCG(9, 10))
	amount := func() *money.Amount { m := money.Round(r.Float64() * 100); return &m }
	number := func() *float64 { x := r.Float64() * 1000; return &x }
	p := Plan{Status: Optimal, Objective: *amount(), Relaxed: &RelaxedPlan{}, Warnings: []Warning{}, Conflicts: []fault.Finding{}}
	for range n {
		p.Classes = append(p.Classes, ClassPlan{
			Name: "class-000123", Admitted: 20, VMs: *number(), VMsPerJob: *number(), Slots: &Slots{*number(), *number()}, Time: &Times{Lower: number(), Average: number(), Upper: number()},
			Verdict: VerdictFull, Reason: "One more job costs 1.71 an hour in VMs; refused, it is valued at 17.10.", BreakEvenPenalty: amount(), Flips: Flips{amount(), number(), amount()},
		})
		p.Relaxed.Jobs = append(p.Relaxed.Jobs, 20)
	}
	return p
}
