package plan

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// checkLayout says what is wrong with a layout: a VM that carries more than itself, counted
// exactly, or totals that are not the slots wanted. It answers the VMs the layout takes.
func checkLayout(vms []capacity.VMLayout, perVM map[string]capacity.SlotsPerVM, want map[string]capacity.ClassSlots) (count int64, err error) {
	got := make(map[string]capacity.ClassSlots)
	for _, v := range vms {
		if v.VMs < 1 || len(v.Slots) == 0 {
			return 0, fmt.Errorf("%+v stands for no VM or no slots", v)
		}
		count += v.VMs
		used := new(big.Rat)
		for _, s := range v.Slots {
			c, known := perVM[s.Class]
			if !known || s.Map < 0 || s.Reduce < 0 || s.Map+s.Reduce == 0 {
				return 0, fmt.Errorf("%+v is of no class or empty", s)
			}
			used.Add(used, big.NewRat(s.Map, c.Map)).Add(used, big.NewRat(s.Reduce, c.Reduce))
			g := got[s.Class]
			got[s.Class] = capacity.ClassSlots{Class: s.Class, Map: g.Map + v.VMs*s.Map, Reduce: g.Reduce + v.VMs*s.Reduce}
		}
		if used.Cmp(big.NewRat(1, 1)) > 0 {
			return 0, fmt.Errorf("%+v takes %s VMs", v, used)
		}
	}
	for name, w := range want {
		if g := got[name]; g.Map != w.Map || g.Reduce != w.Reduce {
			return 0, fmt.Errorf("class %s has %d map and %d reduce slots, want %d and %d", name, g.Map, g.Reduce, w.Map, w.Reduce)
		}
		delete(got, name)
	}
	for name, g := range got {
		if g.Map+g.Reduce > 0 {
			return 0, fmt.Errorf("class %s has slots nobody asked for: %+v", name, g)
		}
	}
	return count, nil
}

// inputOf returns the input of checkLayout for slot kinds.
func inputOf(kinds []slotKind) (perVM map[string]capacity.SlotsPerVM, want map[string]capacity.ClassSlots, sum *big.Rat) {
	perVM, want, sum = make(map[string]capacity.SlotsPerVM), make(map[string]capacity.ClassSlots), new(big.Rat)
	for _, k := range kinds {
		c, w := perVM[k.class], want[k.class]
		if k.reduce {
			c.Reduce, w.Reduce = k.perVM, k.count
		} else {
			c.Map, w.Map = k.perVM, k.count
		}
		c.Map, c.Reduce = max(1, c.Map), max(1, c.Reduce)
		perVM[k.class], want[k.class] = c, w
		sum.Add(sum, big.NewRat(k.count, k.perVM))
	}
	return perVM, want, sum
}

func roundUp(x *big.Rat) int64 {
	n := new(big.Int).Add(x.Num(), new(big.Int).Sub(x.Denom(), big.NewInt(1)))
	return n.Div(n, x.Denom()).Int64()
}

// residue counts the odd slots of each size: index k holds those of 1/(k+2) VM.
type residue [5]int64

// unit makes the sizes 1/2 to 1/6 whole.
const unit = 60

// fewest is the fewest VMs that carry the odd slots: the VM with the largest slot is filled in
// every possible way.
func (r residue) fewest(known map[residue]int64) int64 {
	largest := 0
	for largest < len(r) && r[largest] == 0 {
		largest++
	}
	if largest == len(r) {
		return 0
	}
	if n, is := known[r]; is {
		return n
	}
	best := int64(math.MaxInt64)
	var fill func(size int, room int64, rest residue)
	fill = func(size int, room int64, rest residue) {
		if size == len(r) {
			if rest != r {
				best = min(best, 1+rest.fewest(known))
			}
			return
		}
		for {
			fill(size+1, room, rest)
			if room -= unit / int64(size+2); room < 0 || rest[size] == 0 {
				return
			}
			rest[size]--
		}
	}
	first := r
	first[largest]--
	fill(largest, unit-unit/int64(largest+2), first)
	known[r] = best
	return best
}

// Whole VMs of equal slots are filled first, so what is left of each size decides everything. Up to
// 4 slots a VM the sum of sizes always suffices; with 5 and 6 the fewest VMs are always found, and
// they are one more than the sum in one case alone.
func TestLayoutOfEveryResidue(t *testing.T) {
	known := make(map[residue]int64)
	count, more := 0, 0
	var r residue
	for r[0] = 0; r[0] < 2; r[0]++ {
		for r[1] = 0; r[1] < 3; r[1]++ {
			for r[2] = 0; r[2] < 4; r[2]++ {
				for r[3] = 0; r[3] < 5; r[3]++ {
					for r[4] = 0; r[4] < 6; r[4]++ {
						count++
						var kinds []slotKind
						for size, n := range r {
							c := int64(size + 2)
							kinds = append(kinds, slotKind{fmt.Sprint(c), size%2 == 0, c, n + c*int64(count%3)})
						}
						perVM, want, sum := inputOf(kinds)
						vms, n := layout(kinds)
						got, err := checkLayout(vms, perVM, want)
						if err != nil || got != n || vmCount(kinds) != n {
							t.Fatalf("%v: %d VMs counted as %d and as %d: %v", r, got, n, vmCount(kinds), err)
						}
						full := 5 * int64(count%3)
						if best := r.fewest(known); n != full+best {
							t.Errorf("%v: got %d VMs beside the full ones, want %d", r, n-full, best)
						}
						if least := roundUp(sum); n > least {
							more++
							if r != (residue{1, 2, 0, 4, 0}) {
								t.Errorf("%v: got %d VMs, want %d, the sum of sizes", r, n, least)
							}
						}
					}
				}
			}
		}
	}
	if count != 720 || more != 1 {
		t.Errorf("%d of %d cases took a VM more than the sum, want 1 of 720", more, count)
	}
}

func TestRandomLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	more := make(map[int64]int) // VMs above the sum of sizes, by cases
	for range plantest.Trials(500, 30_000) {
		most := []int64{4, 6, 8, 12, 64, 1000}[r.IntN(6)]
		var kinds []slotKind
		for i := range 1 + r.IntN(12) {
			name := fmt.Sprintf("class-%d", i)
			slots := r.Int64N([]int64{3, 20, 100_000}[r.IntN(3)])
			kinds = append(kinds,
				slotKind{name, false, 1 + r.Int64N(most), slots},
				slotKind{name, true, 1 + r.Int64N(most), r.Int64N(1 + slots)})
		}
		perVM, want, sum := inputOf(kinds)
		vms, n := layout(kinds)
		got, err := checkLayout(vms, perVM, want)
		if err != nil || got != n || vmCount(kinds) != n {
			t.Fatalf("%+v: %d VMs counted as %d and as %d: %v", kinds, got, n, vmCount(kinds), err)
		}
		above := n - roundUp(sum)
		if above < 0 || most <= 4 && above > 0 || above > 1 {
			t.Errorf("%+v: got %d VMs, want %d", kinds, n, n-above)
		}
		more[above]++
	}
	t.Logf("VMs above the sum of sizes: %v", more)
}

// carriedBy says whether slots of sizes 1/1 to 1/16 fit so many VMs: every way to fill the VM with the largest of them is tried.
func carriedBy(left [17]int64, vms int64, known map[[17]int64]int64) bool {
	const unit = 720_720 // makes all sizes whole
	largest, sum := 0, int64(0)
	for perVM := 16; perVM > 0; perVM-- {
		if sum += left[perVM] * (unit / int64(perVM)); left[perVM] > 0 {
			largest = perVM
		}
	}
	if largest == 0 || sum > vms*unit {
		return largest == 0
	}
	if few, is := known[left]; is && few >= vms {
		return false
	}
	var fill func(perVM int, room int64, rest [17]int64) bool
	fill = func(perVM int, room int64, rest [17]int64) bool {
		if perVM > 16 {
			return rest != left && carriedBy(rest, vms-1, known)
		}
		for n := min(rest[perVM], room*int64(perVM)/unit); n >= 0; n-- {
			if perVM == largest && n == 0 {
				break
			}
			next := rest
			next[perVM] -= n
			if fill(perVM+1, room-n*(unit/int64(perVM)), next) {
				return true
			}
		}
		return false
	}
	if fill(largest, unit, left) {
		return true
	}
	known[left] = vms
	return false
}

// Up to 16 slots a VM no layout takes more VMs than the fewest.
func TestLayoutsTakeTheFewestVMs(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	above := 0
	for trial := range plantest.Trials(900, 20_000) {
		most := []int64{6, 8, 12, 16}[trial%4]
		var slots, odd [17]int64
		for range 1 + r.IntN(24) {
			slots[1+r.Int64N(most)] += r.Int64N(20)
		}
		var kinds []slotKind
		full := int64(0)
		for perVM := int64(1); perVM <= 16; perVM++ {
			kinds = append(kinds, slotKind{fmt.Sprint(perVM), false, perVM, slots[perVM]})
			full += slots[perVM] / perVM
			odd[perVM] = slots[perVM] % perVM
		}
		_, _, sum := inputOf(kinds)
		n := vmCount(kinds)
		if n == roundUp(sum) {
			continue
		}
		if above++; carriedBy(odd, n-1-full, map[[17]int64]int64{}) {
			t.Errorf("%v: got %d VMs, and one less carries them", slots, n)
		}
	}
	if above == 0 {
		t.Error("no layout took more VMs than the sum of its slots; some must")
	}
}

// oddSlots is a problem whose slots of three sizes add up to 1.967 VMs and cannot stand on two:
// map-only jobs of one slot each.
func oddSlots(min [3]float64, penalty [3]string, quota *int64) capacity.Problem {
	p := capacity.Problem{
		Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(),
		Supply: capacity.Supply{OnDemand: capacity.OnDemand{Price: plantest.Amount("0.10"), Quota: quota}},
	}
	p.Options.Engine = capacity.EngineExact
	for i, c := range []struct{ slots, jobs int64 }{{2, 1}, {3, 2}, {5, 4}} {
		p.Classes = append(p.Classes, capacity.Class{
			Name: fmt.Sprintf("class-%d", i), Demand: &capacity.Demand{MapWorkSeconds: 100}, DeadlineSeconds: 100,
			SlotsPerVM: capacity.SlotsPerVM{Map: c.slots, Reduce: c.slots},
			Jobs:       capacity.JobRange{Min: min[i], Max: float64(c.jobs)}, Penalty: plantest.Amount(penalty[i]),
		})
	}
	return p
}

// Odd slots of three sizes take a VM more than they add up to. It is rented where there is one;
// where there is none a plan without it is found. The bound never forgets the cheaper plan that
// cannot be laid out, so that the gap tells what that may cost.
func TestOddSlotsTakeAVMMore(t *testing.T) {
	two := int64(2)
	for _, c := range []struct {
		name    string
		min     [3]float64
		penalty [3]string
		quota   *int64
		best    float64 // the cheapest plan that can be laid out, found by hand
	}{
		{"is rented where there is one", [3]float64{}, [3]string{"1", "1", "1"}, nil, -6.70},
		{"is held back where there is none", [3]float64{}, [3]string{"5", "1", "1"}, &two, -9.80},
		{"is held back where most is promised", [3]float64{1, 2, 3}, [3]string{"5", "1", "1"}, &two, -9.80},
	} {
		p := oddSlots(c.min, c.penalty, c.quota)
		pl := answered(t, p)
		checkPlanLayout(t, c.name, p, pl)
		bound, objective := pl.Proof.Bound.Float(), pl.Objective.Float()
		if bound > c.best || objective < c.best-1e-9 {
			t.Errorf("%s: got %g and the bound %g, and the cheapest plan is %g", c.name, objective, bound, c.best)
		}
		if objective > c.best+1e-9 && (pl.Status == capacity.Optimal || pl.Proof.Gap < (objective-c.best)/-objective) {
			t.Errorf("%s: got %s, %g with a gap of %g, and the cheapest plan is %g", c.name, pl.Status, objective, pl.Proof.Gap, c.best)
		}
	}
	// All of them promised: two VMs are not enough, whatever the sum of sizes is.
	p := oddSlots([3]float64{1, 2, 4}, [3]string{"1", "1", "1"}, &two)
	pl := answered(t, p)
	if pl.Status != capacity.InfeasibleStatus || len(pl.Conflicts) == 0 {
		t.Errorf("all promised: got %s with %g VMs, want infeasible", pl.Status, pl.VMs.Total)
	}
}

// Plans of many classes never need more VMs for their slots than they rent, whatever the sizes and
// however tight the quota.
func TestExecutablePlansFitTheirVMs(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	feasible, above := 0, 0
	for trial := range plantest.Trials(250, 30_000) {
		d := plantest.Sample{Classes: 6, Width: 6, Slots: 8, Integrality: capacity.Executable, Sharing: capacity.Shared}
		if trial%4 == 0 {
			d.Sharing = capacity.Dedicated
		}
		p := d.Problem(r)
		quota := r.Int64N(12)
		p.Supply.OnDemand.Quota = &quota
		for i := range p.Classes {
			if c := &p.Classes[i]; c.VMsPerJob == nil && trial%2 == 0 { // sizes that do not go together
				c.SlotsPerVM = capacity.SlotsPerVM{Map: []int64{2, 3, 5}[r.IntN(3)], Reduce: []int64{2, 3, 5, 7}[r.IntN(4)]}
			}
		}
		pl := answered(t, p)
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		feasible++
		checkPlanLayout(t, plantest.Text(p), p, pl)
		// Slots alone are not enough to beat the bound, with or without the odd ones' VM.
		want, _, is := plantest.NewBrute(p).Best()
		got := plantest.Millionths(pl.Objective.Decimal)
		if !is || got < want || pl.Proof.Bound.Float() > float64(want)/1e6+1e-9 {
			t.Fatalf("trial %d: got %s with the bound %s, and by the sum of slots %d millionths\n%s", trial, pl.Objective, pl.Proof.Bound, want, plantest.Text(p))
		}
		if got > want {
			above++
			if distance := float64(got-want) / math.Abs(float64(got)); got != 0 && distance > pl.Proof.Gap+1e-9 {
				t.Fatalf("trial %d: the plan is up to %g from optimal and says %g\n%s", trial, distance, pl.Proof.Gap, plantest.Text(p))
			}
		}
	}
	if feasible < plantest.Trials(80, 10_000) {
		t.Errorf("%d problems had a plan, want more", feasible)
	}
	if above == 0 {
		t.Errorf("none of %d plans cost more because of odd slots; some must", feasible)
	}
	t.Logf("%d plans, %d of them cost more because of odd slots", feasible, above)
}

// checkPlanLayout says where a plan's layout is not its slots on its VMs.
func checkPlanLayout(t *testing.T, name string, p capacity.Problem, pl capacity.Plan) {
	t.Helper()
	perVM, want := make(map[string]capacity.SlotsPerVM), make(map[string]capacity.ClassSlots)
	loose := 0.0
	for i := range p.Classes {
		c, out := &p.Classes[i], &pl.Classes[i]
		if out.Slots == nil {
			if p.Options.Sharing == capacity.Dedicated {
				loose += math.Ceil(out.VMsPerJob*out.Admitted - 1e-7)
			}
			continue
		}
		perVM[c.Name] = c.SlotsPerVM
		want[c.Name] = capacity.ClassSlots{Class: c.Name, Map: int64(out.Slots.Map), Reduce: int64(out.Slots.Reduce)}
	}
	n, err := checkLayout(pl.Layout, perVM, want)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if float64(n)+loose > pl.VMs.Total {
		t.Errorf("%s: the layout takes %d VMs besides %g without slots, and %g are rented", name, n, loose, pl.VMs.Total)
	}
	if p.Options.Sharing == capacity.Dedicated {
		for _, v := range pl.Layout {
			if len(v.Slots) != 1 {
				t.Errorf("%s: a dedicated VM serves %d classes", name, len(v.Slots))
			}
		}
	}
}
