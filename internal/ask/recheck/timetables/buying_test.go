package timetables_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// offering makes a question about offers of a schedule's, with a price of VMs on demand by which offers are cheap or dear.
func offering(t *testing.T, schedule []byte, price float64, vmType string) timetable.Buying {
	t.Helper()
	q := readSchedule(t, schedule)
	hours := q.End().Sub(q.Start()).Hours()
	var offers []capacity.Offer
	text := fmt.Sprintf(`[{"name":"upfront","upfront":"%.2f","billing":"always","term_hours":%d,"max":40},{"name":"used","price":"%.3f","upfront":"%.2f","billing":"used","term_years":1,"max":40},
		{"name":"hourly","price":"%.3f","billing":"always","term_hours":%d,"max":3,"from":"%s"}]`,
		price*hours*2*0.6, int(2*hours), price/4, price*8760*0.3, price/2, int(hours/2), q.Start().Add(2*time.Hour).Format(time.RFC3339))
	if err := json.Unmarshal([]byte(text), &offers); err != nil {
		t.Fatal(err)
	}
	return timetable.Buying{Question: q, Offers: offers, VMType: vmType, End: q.End().Add(-3 * time.Hour)}
}

// buy tries purchases until all is done.
func buy(t *testing.T, b timetable.Buying, atOnce []int64, engine lp.Solver) horizon.PurchaseWithWaiting {
	t.Helper()
	x := timetable.NewBuyer(b, atOnce)
	steps := 0
	for x.Step(t.Context(), engine) {
		if steps++; steps > timetable.Steps {
			t.Fatalf("there are %d steps", steps)
		}
	}
	w, err := x.Answer()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Purchases with their schedules pass the check of another program, on one kind of VM and on several, and save what is far above their
// gaps. The long form tries more clusters.
func TestPurchasesWithWaitingPassTheirCheck(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	saving, of := 0, uint64(plantest.Trials(3, 12))
	for seed := range of {
		types, name := 0, ""
		if seed%3 == 2 {
			types, name = 2, typeName(1)
		}
		b := offering(t, scheduleOn(study.DrawCluster(seed, 36, 6, 20, 8), types), 0.15, name)
		began := time.Now()
		w := buy(t, b, []int64{1, 2, 0}, pool)
		took := time.Since(began)
		for _, f := range timetables.CheckBuying(b, &w) {
			t.Errorf("seed %d: %s %s", seed, f.Pointer, f.Detail)
		}
		nothing := slices.IndexFunc(w.Tried, func(x horizon.PurchaseScheduled) bool { return x.Why == horizon.TriedNothing })
		t.Logf("seed %d: of %d tried %v, %s; %s saved of %s, at least %s; gap %s; %v", seed, len(w.Tried), w.Tried[0].VMs, w.Tried[0].Total, w.Saved, w.Tried[nothing].Total, w.SavedAtLeast, w.Gap, took)
		if gap := w.Gap.Float() / w.Tried[0].Total.Float(); gap > 0.2 || w.Saved.IsNegative() || len(w.Tried) < 2 {
			t.Errorf("seed %d: %d purchases are tried, the gap is %g, and %s are saved", seed, len(w.Tried), gap, w.Saved)
		}
		if w.SavedAtLeast.IsPositive() {
			saving++
		}
	}
	if saving < int(of)/2 {
		t.Errorf("in %d of %d clusters a purchase is proved to save something", saving, of)
	}
}

// Of tiny questions no purchase with any starts is cheaper than the bound, and nearly always none is cheaper than what is recommended.
func TestTinyPurchasesAreTheCheapestOfAll(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	s := &study.Stream{State: 5}
	cases, dearer, bought, proved := plantest.Trials(40, 300), 0, 0, 0
	for n := range cases {
		hours, jobs := int(s.Whole(4, 6)), int(s.Whole(1, 4))
		prices, arrivals := make([]float64, hours), make([]int64, hours)
		due := int(s.Whole(3, 4))
		for h := range prices {
			prices[h] = float64(s.Whole(1, 9))
		}
		for range jobs {
			arrivals[s.Whole(0, int64(hours-due))]++
		}
		of := [2]float64{float64(s.Whole(0, 8)), float64(s.Whole(0, 3))} // upfront and by the hour, for one VM
		most, always, penalty := s.Whole(1, 4), s.Whole(0, 1) == 0, float64(s.Whole(2, 12))
		billing := "used"
		if always {
			billing = "always"
		}
		var periods []string
		for h := range prices {
			periods = append(periods, fmt.Sprintf(`{"start":"2026-03-02T%02d:00:00Z","hours":1,"arrivals":[%d],"on_demand_price":"%g"}`, h, arrivals[h], prices[h]))
		}
		q := readSchedule(t, fmt.Appendf(nil, `{"problem":{"currency":"EUR","supply":{"on_demand":{"price":"9"}},"classes":[{"name":"etl","vms_per_job":"0.5","deadline_s":3600,"due_s":%d,"jobs":{"min":0,"max":0},"penalty":"%g"}]},"periods":[%s]}`,
			3600*due, penalty, strings.Join(periods, ",")))
		var offers []capacity.Offer
		if err := json.Unmarshal(fmt.Appendf(nil, `[{"name":"o","upfront":"%g","price":"%g","billing":"%s","term_hours":%d,"max":%d}]`, of[0], of[1], billing, hours, most), &offers); err != nil {
			t.Fatal(err)
		}
		b := timetable.Buying{Question: q, Offers: offers, End: q.End()}
		w := buy(t, b, nil, pool)
		if found := timetables.CheckBuying(b, &w); len(found) > 0 {
			t.Fatalf("case %d: %v", n, found)
		}
		best := math.Inf(1)
		var arrived []int
		for h, n := range arrivals {
			for range n {
				arrived = append(arrived, h)
			}
		}
		for vms := range most + 1 {
			started := make([]int, hours)
			var try func(n int, cost float64)
			try = func(n int, cost float64) {
				if n < len(arrived) {
					try(n+1, cost+penalty)
					for at := arrived[n] + 1; at < arrived[n]+due; at++ {
						started[at]++
						try(n+1, cost)
						started[at]--
					}
					return
				}
				cost += float64(vms) * of[0]
				for h, jobs := range started {
					need := int64(jobs+1) / 2
					own := vms
					if always {
						cost += of[1] * float64(vms)
					} else {
						if of[1] > prices[h] {
							own = 0
						}
						cost += of[1] * float64(min(need, own))
					}
					cost += prices[h] * float64(max(0, need-own))
				}
				best = min(best, cost)
			}
			try(0, 0)
		}
		got := w.Tried[0].Total.Float()
		if w.Bound.Float() > best+1e-9 || got < best-1e-9 {
			t.Errorf("case %d: %g is recommended and the bound is %s; the cheapest of all costs %g", n, got, w.Bound, best)
		}
		if got > best+1e-9 {
			dearer++
			if w.Gap.Float() < got-best-1e-9 {
				t.Errorf("case %d: the gap is %s, and %g costs %g", n, w.Gap, got, best)
			}
		}
		if w.Tried[0].VMs[0] > 0 {
			bought++
		}
		if w.Gap.Float() < 1e-6 {
			proved++
		}
	}
	t.Logf("of %d tiny questions %d recommend a purchase, %d are proved by their bound, and %d are not the cheapest", cases, bought, proved, dearer)
	if dearer > cases/10 || bought < cases/10 || proved < cases/10 {
		t.Errorf("%d of %d are not the cheapest, %d buy something, and %d are proved", dearer, cases, bought, proved)
	}
}

// uncheckedPurchase are changes of purchases that pass: prices that prove as much, and why a purchase was tried.
var uncheckedPurchase = regexp.MustCompile(`/prices(/|$)|/why$|/bound$`)

// A change of any figure of purchases with waiting is found, but for what says less and other prices that prove as much.
func TestChangedPurchasesWithWaitingAreFound(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	b := offering(t, scheduleOf(study.DrawCluster(4, 12, 5, 5, 6)), 0.15, "")
	w := buy(t, b, []int64{0, 1, 0}, pool)
	if nothing := slices.IndexFunc(w.Tried, func(x horizon.PurchaseScheduled) bool { return x.Why == horizon.TriedNothing }); nothing <= 0 || len(w.Tried[0].Schedule) == 0 {
		t.Fatalf("nothing is bought: %+v", w.Tried)
	}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	tried, found, every := 0, 0, plantest.Trials(4, 1)
	for i, m := range mutation.Of(t, text) {
		var changed horizon.PurchaseWithWaiting
		if i%every != 0 || json.Unmarshal(m.Text(), &changed) != nil {
			continue
		}
		tried++
		if again, err := json.Marshal(changed); err == nil && string(again) == string(text) || len(timetables.CheckBuying(b, &changed)) > 0 {
			found++
			continue
		}
		said := m.Path() != "/tried" && !(strings.HasSuffix(m.Path(), "/refused") && m.How == "removed") // fewer purchases, and the list that nobody reads
		if said && !uncheckedPurchase.MatchString(m.Path()) && m.How != "null for no entry" && m.How != "a billionth" {
			t.Errorf("this passes: %s", m)
		}
	}
	t.Logf("%d of %d changes are found", found, tried)
	for name, change := range map[string]func(w *horizon.PurchaseWithWaiting){
		"/bound":         func(w *horizon.PurchaseWithWaiting) { w.Bound = w.Tried[0].Total },
		"/tried/0/bound": func(w *horizon.PurchaseWithWaiting) { w.Tried[0].Bound = w.Tried[len(w.Tried)-1].Total },
		"/tried/0/vms/0": func(w *horizon.PurchaseWithWaiting) { w.Tried[0].VMs = []int64{41, 0, 0} },
		"/tried/0/upfront": func(w *horizon.PurchaseWithWaiting) {
			w.Tried[0].Upfront.Decimal = w.Tried[0].Upfront.Add(w.Gap.Decimal)
		},
		"/saved":                 func(w *horizon.PurchaseWithWaiting) { w.Saved = nil },
		"/tried/1/total":         func(w *horizon.PurchaseWithWaiting) { w.Tried[0], w.Tried[1] = w.Tried[1], w.Tried[0] },
		"/tried/0/schedule":      func(w *horizon.PurchaseWithWaiting) { w.Tried[0].Schedule = w.Tried[0].Schedule[1:] },
		"/tried/0/schedule/0":    func(w *horizon.PurchaseWithWaiting) { w.Tried[0].Schedule[0].Class = "another" },
		"/tried/0/value_refused": func(w *horizon.PurchaseWithWaiting) { w.Tried[0].ValueRefused.Decimal = w.Tried[0].Bill.Decimal },
		"/until":                 func(w *horizon.PurchaseWithWaiting) { w.Until = w.Until.Add(time.Hour) },
		"/prices":                func(w *horizon.PurchaseWithWaiting) { w.Prices = w.Prices[1:] },
		"/tried":                 func(w *horizon.PurchaseWithWaiting) { w.Tried = nil },
		"/tried/1/vms":           func(w *horizon.PurchaseWithWaiting) { w.Tried[1] = w.Tried[0] },
		"/saved_at_least":        func(w *horizon.PurchaseWithWaiting) { w.SavedAtLeast = w.Saved },
	} {
		var changed horizon.PurchaseWithWaiting
		if err := json.Unmarshal(text, &changed); err != nil {
			t.Fatal(err)
		}
		change(&changed)
		all := timetables.CheckBuying(b, &changed)
		if !slices.ContainsFunc(all, func(f fault.Finding) bool { return f.Pointer == name }) {
			t.Errorf("a fault in %s is not found: %v", name, all)
		}
	}
}
