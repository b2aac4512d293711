package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// A relaxed plan says of one more VM what it would take off bill and value refused together. Solved again with so small a
// part of a VM more, at no price, that the plan bends nowhere, that is what comes out; and with as much less, one less.
func TestOneMoreVMIsWorthWhatASolveSaves(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	kinks := 0
	for range plantest.Trials(75, 4000) {
		const scale = 1000 // a VM is a thousandth of what there is
		quota := r.IntN(9)
		solved := func(free int) capacity.Plan {
			classes := make([]string, 3)
			draw := rand.New(rand.NewPCG(uint64(quota), 3))
			for i := range classes {
				classes[i] = fmt.Sprintf(`{"name":"c%d","vms_per_job":1,"jobs":{"min":0,"max":%d},"penalty":"%d"}`, i, scale*(1+draw.IntN(3)), 2+draw.IntN(8))
			}
			text := fmt.Sprintf(`{"currency":"USD","period_s":3600,"classes":[%s],"supply":{"contracts":[{"name":"free","vms":%d,"price":"0"}],"on_demand":{"price":"1","quota":%d}},"options":{"integrality":"relaxed","engine":"exact"}}`,
				strings.Join(classes, ","), scale+free, quota*scale)
			p, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			pl, err := Solve(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range words.Drivers(&p, &pl) {
				if free == 0 && f.Kind == "vm_price" && !strings.Contains(f.Claim, "One more VM is worth "+words.Cents(pl.Prices.Capacity.Low.Float())+" USD an hour") {
					t.Fatalf("got %q", f.Claim)
				}
			}
			return pl
		}
		now, more, less := solved(0), solved(1), solved(-1)
		low, high := now.Prices.Capacity.Low, now.Prices.Capacity.High
		if saved := now.Cost.Total.Sub(more.Cost.Total.Decimal); !saved.Equal(low.Decimal) {
			t.Fatalf("quota %d: one more VM saves %s and is said to be worth %s", quota, saved, low)
		}
		if costs := less.Cost.Total.Sub(now.Cost.Total.Decimal); high != nil && !costs.Equal(high.Decimal) {
			t.Fatalf("quota %d: one less costs %s, said %s", quota, costs, high)
		}
		if high != nil && !low.Equal(high.Decimal) {
			kinks++
		}
	}
	if kinks < 5 {
		t.Errorf("%d plans at a kink", kinks)
	}
}
