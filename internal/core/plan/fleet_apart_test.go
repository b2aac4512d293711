package plan

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// Types set apart never bound a small fleet above what trying everything finds, and often nearer to it than the linear program.
func TestTypesSetApartBoundEveryPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 4))
	nearer, all := 0, 0
	for trial := range plantest.Trials(150, 6_000) {
		kind := plantest.FleetKinds[[]string{"mixed", "quota", "spot", "budget"}[trial%4]]
		p := plantest.DrawFleet(r, kind, 3, 5)
		p.Options.Integrality, p.Options.Sharing = capacity.Integer, capacity.Shared
		if p.Budget != nil && p.Budget.Total != nil {
			continue
		}
		objective, _, feasible := plantest.NewBruteFleet(p).Best()
		f, err := newFleet(&p)
		if err != nil || !feasible {
			continue
		}
		relaxed := f.relax()
		if relaxed == nil {
			continue
		}
		s := f.search(t.Context(), f.target(), relaxed.nu)
		if s.best == nil {
			continue
		}
		s.bound = s.root.bound
		if s.proved() {
			continue
		}
		all++
		s.raise(t.Context(), s.setApart(s.best.vms), 8)
		if want := float64(objective)/1e6 - f.committed(); s.bound > want+2e-6 {
			text, _ := json.Marshal(p)
			t.Fatalf("trial %d: the bound is %.9g, the best plan costs %.9g\n%s", trial, s.bound, want, text)
		}
		if s.bound > s.root.bound+0.05*(s.best.cost-s.root.bound) {
			nearer++
		}
	}
	t.Logf("%d of %d nearer", nearer, all)
	if nearer < all/2 || all < plantest.Trials(25, 1_000) {
		t.Errorf("%d of %d bounds came nearer", nearer, all)
	}
}
