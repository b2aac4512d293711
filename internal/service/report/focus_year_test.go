package report

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// yearOfBooks returns hours of a weekly pattern for 50 classes and 5 contracts, with its answer.
func yearOfBooks(tb testing.TB, hours int) (horizon.Horizon, horizon.Answer) {
	tb.Helper()
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
	p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(1920, -4)}
	for i := range 50 {
		each := decimal.New(int64(31+17*i%200), -2)
		p.Classes = append(p.Classes, capacity.Class{Name: fmt.Sprintf("class-%02d", i), VMsPerJob: &each, Penalty: amountIn(5000), Jobs: capacity.JobRange{Max: 10}})
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := horizon.Horizon{Problem: p}
	week := make([][]float64, 168)
	for i := range week {
		for k := range p.Classes {
			week[i] = append(week[i], float64(1+(i*(k+3)+k*k)%9))
		}
	}
	for i := range hours {
		h.Periods = append(h.Periods, horizon.HorizonPeriod{Start: start.Add(time.Duration(i) * time.Hour), Hours: 1, Jobs: week[i%168]})
	}
	for i := range 5 {
		billing := capacity.BilledAlways
		if i%2 == 1 {
			billing = capacity.BilledUsed
		}
		h.Contracts = append(h.Contracts, horizon.TermContract{
			Contract: capacity.Contract{Name: fmt.Sprintf("contract-%d", i), VMs: 40, Price: amountIn(int64(4 + i)), Billing: billing},
			Upfront:  amountIn(1_000_000), From: start.AddDate(0, 0, -10*i), Until: start.AddDate(1+i, 0, 0),
		})
	}
	a, err := horizon.Plan(tb.Context(), h, nil, 2, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return h, a
}

// flatWriter counts the written bytes and, now and then, the size of the heap.
type flatWriter struct {
	bytes, next int64
	most        uint64
}

func (w *flatWriter) Write(p []byte) (int, error) {
	if w.bytes += int64(len(p)); w.bytes >= w.next {
		w.next += 32 << 20
		w.most = max(w.most, heap())
	}
	return len(p), nil
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A long export takes no more memory than a short one.
func TestFocusWritesInFlatMemory(t *testing.T) {
	hours := 24 * 28
	if os.Getenv("HEADROOM_LONG") != "" {
		hours = 8760
	}
	h, a := yearOfBooks(t, hours)
	var before, after runtime.MemStats
	start := heap()
	runtime.ReadMemStats(&before)
	w, began := flatWriter{}, time.Now()
	if err := Focus(&w, h, a, FocusNames{}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	t.Logf("%d hours: %d MB in %v, %.0f MB/s, %d allocations, at most %d KB more on the heap",
		hours, w.bytes>>20, took.Round(time.Millisecond), float64(w.bytes)/took.Seconds()/1e6, after.Mallocs-before.Mallocs, (max(w.most, start)-start)>>10)
	if w.most > start+16<<20 {
		t.Errorf("the heap grew from %d to %d KB", start>>10, w.most>>10)
	}
}

func BenchmarkFocus(b *testing.B) {
	h, a := yearOfBooks(b, 168)
	b.ReportAllocs()
	for b.Loop() {
		var w flatWriter
		w.next = 1 << 60
		if err := Focus(&w, h, a, FocusNames{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(w.bytes)
	}
}
