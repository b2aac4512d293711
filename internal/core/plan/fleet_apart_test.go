package plan

import (
	"encoding/json"
	"math"
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
		a := s.setApart(s.best.vms)
		s.raise(t.Context(), a, 8*apartWork*s.columns())
		s.sharpen(t.Context(), a, 8*apartWork*s.columns())
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

// A pool of all types never bounds a small fleet above what trying everything finds, also with spot VMs and budgets, and
// meets it in many.
func TestPoolsBoundEveryPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 163))
	all, met := 0, 0
	for trial := range plantest.Trials(200, 8_000) {
		kind := plantest.FleetKinds[[]string{"mixed", "quota", "spot", "budget"}[trial%4]]
		p := plantest.DrawFleet(r, kind, 3, 5)
		p.Options.Integrality, p.Options.Sharing = capacity.Integer, capacity.Shared
		if p.Budget != nil && p.Budget.Total != nil {
			continue
		}
		for i := range p.Classes { // alike on all types
			p.Classes[i].Speed = nil
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
		s.root.mu = relaxed.mu
		s.bound = relaxed.bound
		s.effort, s.most = math.MaxInt, math.MaxInt
		s.pool(t.Context(), s.setApart(s.best.vms))
		want := float64(objective)/1e6 - f.committed()
		if s.bound > want+2e-6 {
			text, _ := json.Marshal(p)
			t.Fatalf("trial %d: the bound is %.9g, the best plan costs %.9g\n%s", trial, s.bound, want, text)
		}
		all++
		if s.bound > want-2e-6 {
			met++
		}
	}
	t.Logf("%d of %d met", met, all)
	if met < all/6 || all < plantest.Trials(50, 2_000) {
		t.Errorf("%d of %d bounds meet the best plan", met, all)
	}
}
