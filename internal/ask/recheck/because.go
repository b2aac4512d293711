package recheck

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

var counted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([0-9.]+) (?:VM|job)s?\b`) })

// because checks why decisions cannot be kept. Each sentence is one of a few about a class or a type that is there. The
// number of VMs or jobs in it is read. Promises, the plan's jobs and the amounts that exceed budgets must be right.
func (c *checking) because(at string, said []string, after *capacity.Problem, base *capacity.Plan, kept map[string]*big.Rat) {
	for i, sentence := range said {
		n := 0.0
		if m := counted().FindStringSubmatch(sentence); m != nil {
			n, _ = strconv.ParseFloat(m[1], 64)
		}
		if !slices.Contains(reasonsLike(sentence, n, len(said), after, base, kept), sentence) || slices.Contains(said[:i], sentence) {
			c.wrong(fmt.Sprintf("%s/kept_because/%d", at, i), "is %.200q, which does not say why decisions cannot be kept, or stands there twice", sentence)
		}
	}
}

// reasonsLike tells every reason about what a sentence names, with its number.
func reasonsLike(sentence string, n float64, reasons int, after *capacity.Problem, base *capacity.Plan, kept map[string]*big.Rat) (all []string) {
	say := func(sentence string, values ...any) { all = append(all, fmt.Sprintf(sentence, values...)) }
	types := after.Supply.Types()
	for i := range after.Classes {
		k := &after.Classes[i]
		if !strings.Contains(sentence, strconv.Quote(k.Name)) {
			continue
		}
		if base != nil {
			say("Of class %q %s %s promised now, and the plan admitted %s.", k.Name, words.Jobs(k.Jobs.Min), words.IsAre(k.Jobs.Min), words.Number(base.Classes[i].Admitted))
		} else if _, admitted, found := strings.Cut(sentence, "the plan admitted "); found {
			say("Of class %q %s %s promised now, and the plan admitted %s.", k.Name, words.Jobs(k.Jobs.Min), words.IsAre(k.Jobs.Min), strings.TrimSuffix(admitted, "."))
		}
		say("%s of class %q ran on a VM type that is gone.", words.Jobs(n), k.Name)
		if k.ArrivalsPerHour > 0 {
			say("Of class %q %s fewer run at once than had been admitted.", k.Name, words.Jobs(n))
		} else {
			say("%s of class %q had been admitted and %s no longer asked for.", words.Jobs(n), k.Name, words.IsAre(n))
		}
		say("No number of slots meets the new deadline of class %q.", k.Name)
		for _, t := range types {
			say("There is no room any more for %s of class %q on the VMs there are%s.", words.Jobs(n), k.Name, words.OfType(t.Name))
		}
	}
	for _, t := range types {
		say("%s%s can no longer be had from where they came.", words.VMs(n), words.OfType(t.Name))
		say("For the same jobs %s had to be rented anew%s.", words.VMs(n), words.OfType(t.Name))
	}
	amount := func(x *big.Rat) money.Amount { return money.Amount{Decimal: decimalOf(x)} }
	if b := after.Budget; b != nil && b.VMCost != nil {
		say("Its VMs would cost %s %s, and the budget for VMs is %s.", amount(sub(kept["total"], kept["penalties"])), after.Currency, *b.VMCost)
	}
	if b := after.Budget; b != nil && b.Total != nil {
		say("Bill and value refused would come to %s %s, and the budget for both is %s.", amount(kept["total"]), after.Currency, *b.Total)
	}
	if listed := 5; reasons == listed+1 && strings.HasPrefix(sentence, "And ") {
		all = append(all, sentence)
	}
	return all
}
