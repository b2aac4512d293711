package words

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/test/plantest"
)

// Amounts in sentences are rounded as strconv does, which is much slower: also those that lie between
// two hundredths, or next to there.
func TestCentsAreRoundedAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	check := func(x float64) {
		want := strconv.FormatFloat(x, 'f', 2, 64)
		if got := twoPlaces(x); got != want {
			t.Fatalf("%b: got %s, want %s", x, got, want)
		}
	}
	for range plantest.Trials(200_000, 20_000_000) {
		halfway := (float64(r.IntN(1<<20)) + 0.5) / 100
		check(halfway)
		check(math.Nextafter(halfway, 0))
		check(math.Nextafter(halfway, 1e9))
		check(float64(r.IntN(1<<12)) / 8)
		check(r.Float64() * math.Pow(10, float64(r.IntN(12))))
		check(math.Ldexp(r.Float64(), -r.IntN(1000)))
	}
}

// Small amounts are written without an exponent.
func TestSmallAmountsHaveNoExponent(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{6e-9: "0.000000006", 0.0012345: "0.00123", -1e-7: "-0.0000001", 0.005: "0.005", 1e-13: "0.00"} {
		if got := Cents(x); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func BenchmarkCents(b *testing.B) {
	x := 17.1049382716
	for b.Loop() {
		x += float64(len(Cents(x))) / 1e6
	}
}

// Of whole VMs the prices of the relaxation are told by no sentence.
func TestWholePlansTellNoPricesOfTheRelaxation(t *testing.T) {
	t.Parallel()
	amount := func(x int64) *money.Amount { a := money.Amount{Decimal: decimal.New(x, -2)}; return &a }
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Classes: []capacity.Class{{Name: "a", Jobs: capacity.JobRange{Max: 3}, Penalty: *amount(50)}}}
	p.Supply.OnDemand = capacity.OnDemand{Price: *amount(20), Quota: new(int64(2))}
	pl := capacity.Plan{
		VMs:     capacity.VMs{Total: 3, OnDemand: 2, Contracts: []capacity.ContractUse{{Name: "own", VMs: 1, Used: 1}}},
		Classes: []capacity.ClassPlan{{Name: "a", Admitted: 2, Refused: 1, VMsPerJob: 1.5}},
		Prices: &capacity.Prices{Capacity: capacity.CapacityPrice{Low: *amount(20), High: amount(30)}, Budget: amount(7),
			Contracts: []capacity.ContractWorth{{Name: "own", Worth: *amount(10)}}},
	}
	for integrality, want := range map[capacity.Integrality][]string{
		capacity.Relaxed:    {"quota_that_binds", "vm_worth", "next_to_be_served", "contract_that_binds", "budget_worth"},
		capacity.Integer:    {"quota_that_binds"},
		capacity.Executable: {"quota_that_binds"},
	} {
		var kinds []string
		p.Options.Integrality = integrality
		for _, f := range Drivers(&p, &pl) {
			if kinds = append(kinds, f.Kind); f.Claim == "" {
				t.Errorf("%s: %s says nothing", integrality, f.Kind)
			}
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s plans tell %v, want %v", integrality, kinds, want)
		}
	}
}
