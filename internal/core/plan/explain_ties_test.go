package plan

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// priceSaid finds prices of the relaxation in sentences, and what stands before their figure.
var priceSaid = regexp.MustCompile(`(?:[Oo]ne more job (?:costs|takes)|[Oo]ne more VM(?: of type "\w+")? (?:is|would be) worth|and one more would be worth|the last one|(?:in it|in the budget) would be worth|serving one more takes|a job (?:more|less) (?:takes|frees) what is worth|a job takes what is worth|would be worth its VMs at|a job would take|runs on \w+ \() ?(about )?\d`)

// A sentence speaks of a tie only where another decision costs the same, which a solve that is forced to take it shows.
// Prices of the relaxation are said to be about right in plans of whole VMs.
func TestTiesAreTiesAndPricesOfTheRelaxationAreAbout(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	ties, wrong, prices := 0, 0, 0
	for trial := range plantest.Trials(250, 60_000) {
		p := drawTying(t, r, trial)
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		drivers := words.Drivers(&p, &pl).Text()
		said := []string{drivers}
		for i, c := range pl.Classes {
			if c.OneMore == nil || !c.OneMore.Exact { // otherwise it is a difference of two plans
				said = append(said, c.Reason)
			}
			if !strings.Contains(c.Reason, "as much as it is valued at") && !strings.Contains(c.Reason, "tie") {
				continue
			}
			ties++
			// Refused jobs tie if one more costs the same, served ones if one less does.
			forced := p
			forced.Classes = append([]capacity.Class{}, p.Classes...)
			jobs := &forced.Classes[i].Jobs
			var missing decimal.Decimal
			if c.Refused > 0 {
				jobs.Min = c.Admitted + 1
			} else {
				jobs.Max = c.Admitted - 1
				jobs.Min = min(jobs.Min, jobs.Max)
				missing = p.Classes[i].Penalty.Decimal
			}
			other, err := Solve(t.Context(), forced, nil)
			if err != nil {
				t.Fatal(err)
			}
			if other.Status == capacity.InfeasibleStatus || !other.Cost.Total.Add(missing).Equal(pl.Cost.Total.Decimal) {
				wrong++
				t.Errorf("trial %d: %q says %q, and the other decision costs %v and %v, not %v", trial, c.Name, c.Reason, other.Cost.Total, missing, pl.Cost.Total)
			}
		}
		for _, found := range priceSaid.FindAllStringSubmatch(strings.Join(said, " "), -1) {
			prices++
			if whole := p.Options.Integrality != capacity.Relaxed; (found[1] != "") != whole {
				t.Fatalf("trial %d: a %s plan says %q", trial, p.Options.Integrality, found[0])
			}
		}
	}
	t.Logf("%d sentences speak of a tie, %d wrongly; %d prices of the relaxation", ties, wrong, prices)
	if ties == 0 || prices == 0 {
		t.Error("the problems have no ties, or no prices are said")
	}
}

// drawTying draws a small problem whose penalties are often what whole VMs cost.
func drawTying(t *testing.T, r *rand.Rand, trial int) capacity.Problem {
	t.Helper()
	price := func() string { return fmt.Sprintf("%.2f", float64(2+r.IntN(5))/20) }
	market := func() string {
		quota, contracts := "null", ""
		if r.IntN(3) == 0 {
			quota = fmt.Sprint(r.IntN(9))
		}
		for k := range r.IntN(3) {
			contracts += fmt.Sprintf(`,{"name":"%c","vms":%d,"price":%q,"billing":%q}`, 'p'+k, 1+r.IntN(6), "0.05", []string{"used", "always"}[r.IntN(2)])
		}
		return fmt.Sprintf(`"on_demand":{"price":%q,"quota":%s},"contracts":[%s]`, price(), quota, strings.TrimPrefix(contracts, ","))
	}
	supply := market()
	if trial%3 == 2 {
		supply = fmt.Sprintf(`"vm_types":[{"name":"x",%s},{"name":"y",%s}]`, market(), strings.NewReplacer(`"p"`, `"s"`, `"q"`, `"t"`).Replace(market()))
	}
	classes := ""
	for k := range 1 + r.IntN(3) {
		most := 1 + r.IntN(4)
		least := 0
		if r.IntN(3) == 0 {
			least = r.IntN(most + 1)
		}
		takes := []string{"1", "1.5", "2", "2.5", "3"}[r.IntN(5)]
		what := fmt.Sprintf(`"vms_per_job":%q`, takes)
		if trial%5 == 4 {
			what = fmt.Sprintf(`"demand":{"map_work_s":%d,"reduce_work_s":%d,"fixed_s":10},"deadline_s":110,"slots_per_vm":{"map":2,"reduce":2}`, 50*(1+r.IntN(4)), 50*r.IntN(3))
		}
		penalty := fmt.Sprintf("%.2f", float64((1+r.IntN(3))*(2+r.IntN(5)))/20)
		classes += fmt.Sprintf(`,{"name":"%c",%s,"jobs":{"min":%d,"max":%d},"penalty":%q}`, 'a'+k, what, least, most, penalty)
	}
	integrality := []string{"integer", "executable", "executable", "relaxed"}[r.IntN(4)]
	text := fmt.Sprintf(`{"currency":"USD","supply":{%s},"classes":[%s],"options":{"integrality":%q,"engine":"exact","max_solve_ms":60000}}`, supply, classes[1:], integrality)
	p, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}
