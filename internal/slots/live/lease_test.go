package live

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"example.org/headroom/internal/slots/dispatch"
)

// Each sentence of a refusal says the figures of its fact, and the facts say the admission's own figures.
func TestRefusalsSayTheirFacts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	numbers, codes := regexp.MustCompile(`\d+`), map[dispatch.RefusalReason]int{}
	for range 2000 {
		a := Admission{Class: []string{"etl", "etll", "nightly", "zzz"}[r.IntN(4)], PlanNumber: 1 + r.Int64N(40), Running: r.Int64N(5), Limit: r.Int64N(5)}
		known := r.IntN(3) > 0
		if a.Limit > a.Running {
			a.Running = a.Limit
		}
		a.Refuse("shop", known, []string{"etlx", "report"}, 5)
		codes[a.Code]++
		if a.Facts.Text() != a.Reason || len(a.Facts) == 0 || len(a.Facts[0].Figures) == 0 {
			t.Fatalf("%+v", a)
		}
		own := map[string]string{"plan_number": fmt.Sprint(a.PlanNumber), "running": fmt.Sprint(a.Running), "limit": fmt.Sprint(a.Limit), "cluster": "shop"}
		var said []string
		for _, f := range a.Facts[0].Figures {
			if f.Value != own[f.Name] {
				t.Errorf("the figure %+v of %+v", f, a)
			}
			if f.Name != "cluster" && !(f.Name == "limit" && a.Running == a.Limit) {
				said = append(said, f.Value)
			}
		}
		got := numbers.FindAllString(a.Facts[0].Claim, -1)
		if slices.Sort(got); a.Facts[0].Kind == "" || !slices.Equal(got, slices.Sorted(slices.Values(said))) {
			t.Errorf("%q says %v, and its figures are %v", a.Facts[0].Claim, got, said)
		}
		if !known && (a.Class == "etl" || a.Class == "etll") != (a.Facts[1].Kind == "class_of_like_name" && a.Facts[1].Subject == "etlx") {
			t.Errorf("%+v", a.Facts)
		}
	}
	if len(codes) != 3 {
		t.Errorf("refused by %v", codes)
	}
}
