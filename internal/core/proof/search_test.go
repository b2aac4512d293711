package proof

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// TestTrim compares trim with sorting all states.
func TestTrim(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		room, grain, cut := 1+r.IntN(60), 1+r.Int64N(20), int64(1000)
		var states []state
		for weight := range int64(r.IntN(100)) {
			states = append(states, state{weight: weight, regret: r.Int64N(1 + r.Int64N(300))})
		}
		want := slices.Clone(states)
		slices.SortFunc(want, func(x, y state) int {
			return cmp.Or(cmp.Compare(x.regret/grain, y.regret/grain), cmp.Compare(scattered(x.weight), scattered(y.weight)))
		})
		least := cut
		for _, st := range want[min(room, len(want)):] {
			least = min(least, st.regret)
		}
		want = want[:min(room, len(want))]
		slices.SortFunc(want, func(x, y state) int { return cmp.Compare(x.weight, y.weight) })
		got, cut := trim(states, room, grain, cut)
		if !slices.Equal(got, want) || cut != least {
			t.Fatalf("got %v and %d, want %v and %d", got, cut, want, least)
		}
	}
}

// TestLowest checks that enough states are below what lowest returns, and not all where there are many.
func TestLowest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	fewer := 0
	for range 1000 {
		budget := 1 + r.Int64N(1+r.Int64N(1<<r.IntN(50)))
		before, options := make([]state, 1+r.IntN(40)), make([]option, 1+r.IntN(10))
		for p := range before {
			before[p].regret = r.Int64N(budget)
		}
		for k := range options {
			options[k].regret = r.Int64N(budget)
		}
		enough := 1 + r.IntN(50)
		below := lowest(before, options, budget, enough)
		found, all := 0, 0
		for p := range before {
			for k := range options {
				sum := before[p].regret + options[k].regret
				if sum < below {
					found++
				}
				if sum < budget {
					all++
				}
			}
		}
		if below > budget || found < min(enough, all) {
			t.Fatalf("%d of %d are below %d of %d, and %d are enough", found, all, below, budget, enough)
		}
		if found < all {
			fewer++
		}
	}
	if fewer < 300 {
		t.Errorf("only %d of 1000 leave anything out", fewer)
	}
}

// TestRerank moves one class and compares with ranking all.
func TestRerank(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		p := plantest.Sample{Classes: 2 + r.IntN(8), Width: 4, Slots: 4, Integrality: capacity.Integer, Sharing: capacity.Shared}.Problem(r)
		m := newModel(p, nil)
		i := r.IntN(len(m.classes))
		m.classes[i].penalty = m.classes[r.IntN(len(m.classes))].penalty
		if r.IntN(4) == 0 {
			m.classes[i].low = zero()
		}
		m.rerank(i)
		got := slices.Clone(m.byWorth)
		if m.rank(); !slices.Equal(got, m.byWorth) {
			t.Fatalf("got %v, want %v", got, m.byWorth)
		}
	}
}

// TestFollowers compares merging with sorting all states.
func TestFollowers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var made, spare []state
	kept := 0
	for range 2000 {
		before := make([]state, 1+r.IntN(30))
		for p := range before {
			before[p] = state{weight: r.Int64N(40), cost: r.Int64N(40), regret: r.Int64N(20)}
		}
		before = undominated(before)
		options := make([]option, 1+r.IntN(9))
		for k := range options {
			options[k] = option{weight: r.Int64N(20), cost: -r.Int64N(20), regret: r.Int64N(20)}
		}
		below := 1 + r.Int64N(40)
		var all []state
		for p, st := range before {
			for k := range options {
				if st.regret+options[k].regret < below {
					all = append(all, st.with(p, k, &options[k]))
				}
			}
		}
		want := undominated(all)
		made, spare = followers(before, options, below, made[:0], spare[:0])
		if kept += len(made); !slices.Equal(made, want) {
			t.Fatalf("got %v, want %v", made, want)
		}
	}
	if kept < 2000 {
		t.Errorf("only %d states were kept", kept)
	}
}
