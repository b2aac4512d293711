package web_test

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// readFacts reads the changes that would change the plan, and tries each.
func (s *server) readFacts(t *testing.T, ctx context.Context, cluster string, c *current) {
	t.Helper()
	hour := big.NewRat(3600, c.problem.Period)
	unit := func(text string) string { // from two to four places, as many as it needs
		x := new(big.Rat).Mul(amount(t, text), hour)
		for digits := 2; ; digits++ {
			if n := new(big.Rat).Mul(x, big.NewRat(int64(math.Pow10(digits)), 1)); n.IsInt() || digits == 4 {
				return "$" + x.FloatString(digits)
			}
		}
	}
	if got := value[[]string](t, ctx, `[...document.querySelectorAll(".facts .value")].map((e) => e.textContent)`); len(got) > 0 {
		t.Errorf("%s: the facts are %q, though prices of the relaxation can be far off in whole VMs", cluster, got)
	}
	all := c.changes(t)
	if cluster == "demo" && len(all) < 3 {
		t.Fatalf("%s: %d values are near a change", cluster, len(all))
	}
	lines := value[[][]string](t, ctx, `[...document.querySelectorAll(".changes li")].map((e) => [e.querySelector("bdi").textContent, e.querySelector("span > span").textContent, new URL(e.querySelector("a").href).searchParams.get("ch")])`)
	if len(lines) != min(len(all), 5) {
		t.Fatalf("%s: %d changes of mind are listed, of %d", cluster, len(lines), len(all))
	}
	for i, line := range lines {
		k, beyond := all[i], big.NewRat(101, 100)
		word := "above "
		if k.at.Cmp(k.now) <= 0 {
			word, beyond = "below ", big.NewRat(99, 100)
		}
		if k.at.Sign() == 0 {
			word = "at " // nothing is below
		} else if !k.exact {
			word += "about "
		}
		said := map[string]string{"penalty": "refused jobs valued ", "deadline": "a deadline ", "price": "a price "}[k.what] + word
		if k.what != "deadline" {
			said += unit(k.at.FloatString(9)) + " an hour"
		}
		name, key := k.name, k.name
		if k.what == "price" {
			name, key = "On demand", "on_demand"
		}
		if line[0] != name || line[1] != said && (k.what != "deadline" || !strings.HasPrefix(line[1], said)) {
			t.Errorf("%s: change of mind %d is said to be %q, want %s %q", cluster, i+1, line, name, said)
		}
		digits, found := strings.CutPrefix(line[2], k.what+":"+key+":=")
		to, ok := new(big.Rat).SetString(digits)
		if want := new(big.Rat).Mul(k.at, beyond); !found || !ok || near(to, want) > 1e-4 {
			t.Errorf("%s: Try it leads to %s, the plan changes its mind at %s", cluster, line[2], k.at.FloatString(9))
		}
	}
}

// near tells by which share one value differs from another.
func near(x, from *big.Rat) float64 {
	if from.Sign() == 0 {
		far, _ := x.Float64()
		return math.Abs(far)
	}
	far, _ := new(big.Rat).Quo(new(big.Rat).Sub(x, from), from).Float64()
	return math.Abs(far)
}

// turn is a value beyond which a plan decides otherwise.
type turn struct {
	what, name string
	now, at    *big.Rat
	exact      bool
}

// changes returns the values beyond which the plan decides otherwise, the closest to what is now first.
func (c *current) changes(t *testing.T) []turn {
	t.Helper()
	var all []turn
	var price *turn
	for i, k := range c.Plan.Classes {
		is := c.problem.Classes[i]
		if p := k.Flips.Penalty; p != nil && amount(t, is.Penalty).Sign() > 0 {
			all = append(all, turn{"penalty", k.Name, amount(t, is.Penalty), amount(t, *p), k.Stays != nil && k.Stays.Penalty != nil})
		}
		if d := k.Flips.Deadline; d != nil && is.Deadline > 0 && is.Arrivals == 0 {
			all = append(all, turn{"deadline", k.Name, new(big.Rat).SetFloat64(is.Deadline), new(big.Rat).SetFloat64(*d), k.Stays != nil && k.Stays.Deadline != nil})
		}
		if p := k.Flips.OnDemand; p != nil {
			now := amount(t, c.problem.Supply.OnDemand.Price)
			if next := (turn{"price", "on_demand", now, amount(t, *p), c.Plan.Stays != nil && c.Plan.Stays.OnDemand != nil}); price == nil || near(next.at, now) < near(price.at, now) {
				price = &next
			}
		}
	}
	if price != nil {
		all = append(all, *price)
	}
	slices.SortStableFunc(all, func(a, b turn) int { return cmp.Compare(near(a.at, a.now), near(b.at, b.now)) })
	return all
}
