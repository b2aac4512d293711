package pack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/lp"
)

// drawCosts returns a symmetric matrix; few values make many ties, and nearness makes blossoms.
func drawCosts(r *rand.Rand, n int) [][]float64 {
	cost := make([][]float64, n)
	kind := r.IntN(3)
	at := make([][2]float64, n)
	for i := range cost {
		cost[i] = make([]float64, n)
		at[i] = [2]float64{r.Float64(), r.Float64()}
		for j := range i {
			switch kind {
			case 0:
				cost[i][j] = 1000 * r.Float64()
			case 1:
				cost[i][j] = float64(r.IntN(4))
			default:
				cost[i][j] = math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1])
			}
			cost[j][i] = cost[i][j]
		}
	}
	return cost
}

// costOf adds up a matching after checking that it is one.
func costOf(t *testing.T, cost [][]float64, partner []int) (total float64) {
	t.Helper()
	for i, j := range partner {
		if j < 0 || j == i || partner[j] != i {
			t.Fatalf("thing %d is paired with %d, which is paired with others: %v", i, j, partner)
		}
		if i < j {
			total += cost[i][j]
		}
	}
	return total
}

// enumerated returns the smallest cost over every matching.
func enumerated(cost [][]float64, used []bool) float64 {
	i := 0
	for i < len(used) && used[i] {
		i++
	}
	if i == len(used) {
		return 0
	}
	used[i] = true
	best := math.Inf(1)
	for j := i + 1; j < len(used); j++ {
		if !used[j] {
			used[j] = true
			best = min(best, cost[i][j]+enumerated(cost, used))
			used[j] = false
		}
	}
	used[i] = false
	return best
}

func TestMatchingsAreTheCheapestOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 2 * (1 + r.IntN(5))
		cost := drawCosts(r, n)
		want := enumerated(cost, make([]bool, n))
		for name, partner := range map[string][]int{"subsets": matchSubsets(cost), "blossom": blossom(t, cost)} {
			if got := costOf(t, cost, partner); math.Abs(got-want) > 1e-9*max(1, want) {
				t.Fatalf("%s: %d things cost %g, want %g: %v", name, n, got, want, cost)
			}
		}
	}
}

func blossom(t *testing.T, cost [][]float64) []int {
	t.Helper()
	partner, err := matchBlossom(t.Context(), cost)
	if err != nil {
		t.Fatal(err)
	}
	return partner
}

// The potentials prove a matching: no pair costs less than they allow, and their sum is its cost.
func TestPotentialsProveMatchings(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	blossoms := 0
	for range 400 {
		n := 2 * (1 + r.IntN(40))
		m := newMatching(drawCosts(r, n))
		for range n / 2 {
			m.round()
		}
		var proved, cost int64
		inside := map[[2]int]int64{} // own potentials of the blossoms around both
		for _, p := range m.potential {
			proved += p
		}
		var walk func(node int)
		walk = func(node int) {
			if node < n {
				return
			}
			blossoms++
			if m.own[node] < 0 {
				t.Fatalf("blossom %d has potential %d", node, m.own[node])
			}
			things := m.things[node]
			proved -= m.own[node] * int64(len(things)-1)
			for _, u := range things {
				for _, v := range things {
					inside[[2]int{u, v}] += 2 * m.own[node]
				}
			}
			for _, child := range m.ring[node] {
				walk(child)
			}
		}
		for node, outer := range m.outer {
			if outer {
				walk(node)
			}
		}
		for u := range n {
			if u < m.mate[u] {
				cost += m.cost[u][m.mate[u]]
			}
			for v := range u {
				if left := m.left(u, v) + inside[[2]int{u, v}]; left < 0 {
					t.Fatalf("%d and %d cost %d less than their potentials", u, v, -left)
				}
			}
		}
		if proved != cost {
			t.Fatalf("%d things cost %d, proved are %d", n, cost, proved)
		}
	}
	if blossoms < 100 {
		t.Errorf("only %d blossoms were met", blossoms)
	}
}

// CBC solves the set partition, whose optimum is the matching's.
func TestMatchingsAreWhatCBCFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{12, 20, 22, 30, 40, 50, 60} {
		cost := drawCosts(r, n)
		var p lp.Program
		for range n {
			p.Row(1, 1)
		}
		for i := range n {
			for j := range i {
				p.Column(cost[i][j], 0, 1, true, lp.Entry{Row: i, Coefficient: 1}, lp.Entry{Row: j, Coefficient: 1})
			}
		}
		s, err := cbc.Solve(t.Context(), &p, lp.Options{Gap: 1e-12})
		if err != nil || s.Status != lp.Optimal {
			t.Fatalf("CBC: %v, %v", s.Status, err)
		}
		partner, err := match(t.Context(), cost)
		if err != nil {
			t.Fatal(err)
		}
		if got := costOf(t, cost, partner); math.Abs(got-s.Objective) > 1e-6*max(1, got) {
			t.Errorf("%d things cost %.9g, CBC says %.9g", n, got, s.Objective)
		}
	}
}

// singles returns the smallest cost over every way to pair some jobs and leave the others alone.
func singles(b *batch, jobs []int) float64 {
	if len(jobs) == 0 {
		return 0
	}
	first, rest := jobs[0], jobs[1:]
	best := b.kinds[first].alone() + singles(b, rest)
	for i, j := range rest {
		others := append(append([]int{}, rest[:i]...), rest[i+1:]...)
		best = min(best, b.pair(first, j).seconds+singles(b, others))
	}
	return best
}

// Odd numbers of jobs leave one alone, and even ones may leave two.
func TestPairsOfBatchesAreTheCheapest(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	odd := 0
	for range 300 {
		p := draw(r, sizes{6, 3, 5, 2})
		b, err := ready(p)
		if err != nil || b.size() > 9 {
			continue
		}
		odd += b.size() % 2
		var jobs []int
		for i := range b.kinds {
			for range b.kinds[i].count {
				jobs = append(jobs, i)
			}
		}
		want := singles(b, jobs)
		f := newFitter(b, newLadder(t.Context(), b))
		for name, how := range map[string]matcher{"match": match, "blossom": matchBlossom, "greedy": matchGreedily} {
			phases, err := b.pairs(t.Context(), how)
			if err != nil {
				t.Fatal(err)
			}
			got := total(f.phases(phases))
			if got < want*(1-1e-9) || name != "greedy" && got > want*(1+1e-9) || got > b.sequential()*(1+1e-9) {
				t.Fatalf("%s: the pairs take %g s, want %g s: %+v", name, got, want, p)
			}
		}
	}
	if odd < 50 {
		t.Errorf("only %d batches are odd", odd)
	}
}

func BenchmarkMatching(b *testing.B) {
	for _, n := range []int{60, 200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cost := drawCosts(rand.New(rand.NewPCG(7, 8)), n)
			for b.Loop() {
				if _, err := matchBlossom(b.Context(), cost); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
