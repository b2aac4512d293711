package words

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// Amounts in sentences are rounded as decimals are, half a cent up: also those that binary numbers lie next to.
func TestCentsAreRoundedAsDecimals(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{3.925: "3.93", 0.445: "0.45", 1.125: "1.13", -3.925: "-3.93", 1.005: "1.01", 2.675: "2.68", 1e15: "1000000000000000.00",
		3.9249999: "3.92", 3_000_000.005: "3000000.01"} {
		if got := Cents(x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
	r := rand.New(rand.NewPCG(3, 1))
	for range plantest.Trials(200_000, 20_000_000) {
		billionths := r.Int64N(2e15)
		if r.IntN(2) == 0 {
			billionths -= billionths % 5e6 // whole and half cents
		}
		x, _ := strconv.ParseFloat(decimal.New(billionths, -9).String(), 64)
		cents := billionths / 1e7
		if billionths%1e7 >= 5e6 {
			cents++
		}
		if got, want := Cents(x), fmt.Sprintf("%d.%02d", cents/100, cents%100); x >= 0.01 && got != want {
			t.Fatalf("%v: got %s, want %s", x, got, want)
		}
	}
}

// Bounds are rounded away from what they bound, so that what is said is true.
func TestBoundsAreRoundedOutwards(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"0.5625": {"0.56", "0.57"}, "0.285": {"0.28", "0.29"}, "1.12": {"1.12", "1.12"}, "60610.156248717": {"60610.15", "60610.16"}, "0.00": {"0.00", "0.00"},
		"0.000123456": {"0.000123", "0.000124"}, "0.009999": {"0.00999", "0.01"}, "0.000000001": {"0.000000001", "0.000000001"}, "-1.005": {"-1.01", "-1.00"},
	} {
		m, err := money.Parse(text)
		if err != nil {
			m.Decimal, err = decimal.NewFromString(text)
		}
		if got := [2]string{CentsDown(m), CentsUp(m)}; err != nil || got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	for share, want := range map[float64]string{0.0603: "6.1 %", 0.06: "6 %", 0.0001: "0.01 %", 0.00012345: "0.013 %", 1.2345: "124 %", 0: "0 %", 1e-9: "0.0000001 %"} {
		if got := PercentUp(decimal.NewFromFloat(share)); got != want {
			t.Errorf("%v: got %s, want %s", share, got, want)
		}
	}
}

// A share that is not all is never told as 100 %, and one that is something never as 0 %.
func TestSharesAreNeitherAllNorNothing(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64][2]string{
		1: {"100 %", "100.0 %"}, 0.99957: {"99.96 %", "99.96 %"}, 0.9996: {"99.96 %", "99.96 %"}, 0.9994: {"99.9 %", "99.9 %"}, 0.999999: {"99.9999 %", "99.9999 %"}, 1.0004: {"100 %", "100.0 %"},
		0: {"0 %", "0.0 %"}, 0.0004: {"0.04 %", "0.04 %"}, 0.00000123: {"0.0001 %", "0.0001 %"}, 0.125: {"12.5 %", "12.5 %"}, 0.12: {"12 %", "12.0 %"}, -0.0001: {"-0.01 %", "-0.01 %"},
		1 - 1e-15: {"100 %", "100.0 %"}, 1e-15: {"0 %", "0.0 %"},
	} {
		if got := [2]string{Percent(share), Share(share)}; got != want {
			t.Errorf("%v: got %v, want %v", share, got, want)
		}
	}
	if got := OfHundred(0.998, 0); got != "99.8" {
		t.Errorf("got %s, want 99.8", got)
	}
}

// An amount is written with the digits that it has, also where a binary number has fewer.
func TestAmountsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1250087999987499.12": "1250087999987499.12", "0.005": "0.005", "3.925": "3.93", "-3.925": "-3.93", "0.0012345": "0.00123", "0": "0.00"} {
		if got := CentsOf(plantest.AmountIn(t, text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// One spot VM is spoken of as one.
func TestOneSpotVM(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{1: "The plan rents 1 spot VM. It can be taken away", 2.5: "The plan rents 2.5 spot VMs. They can be taken away"} {
		if got := Interrupted(n).Detail; !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
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

func TestLengthsOfTime(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 s", 1: "1 s", 59.5: "59.5 s", 60: "1 minute", 900: "15 minutes", 3600: "1 hour", 32400: "9 hours", 5400: "90 minutes", 3601: "3601 s"} {
		if got := Length(seconds); got != want {
			t.Errorf("%g seconds are told as %q, want %q", seconds, got, want)
		}
	}
}
