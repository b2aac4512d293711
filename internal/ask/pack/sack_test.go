package pack

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// drawn returns batches of a size with a fitter each.
func drawn(t *testing.T, seed uint64, s sizes, count int) (all []*seen) {
	r := rand.New(rand.NewPCG(seed, seed))
	for len(all) < count {
		if b, err := ready(draw(r, s)); err == nil {
			all = append(all, newSeen(newFitter(b, newLadder(t.Context(), b))))
		}
	}
	return all
}

// everyPart calls visit with every part of a batch.
func everyPart(s *seen, visit func(c contents)) {
	counts := make([]int, len(s.kinds))
	for {
		at := 0
		for ; at < len(counts) && counts[at] == s.kinds[at].count; at++ {
			counts[at] = 0
		}
		if at == len(counts) {
			return
		}
		counts[at]++
		visit(without(counts, nil))
	}
}

// The most that jobs of a phase are worth, beside every choice of jobs.
func TestSacksHoldWhatIsWorthMost(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	loose := 0
	for _, s := range drawn(t, 31, small, 60) {
		left := make([]int, len(s.kinds))
		prices := make([]float64, len(s.kinds))
		for i := range left {
			left[i], prices[i] = s.kinds[i].count, r.ExpFloat64()
		}
		k := newSack(s.fitter, left)
		for range 5 {
			rung := r.IntN(s.never())
			want := 0.0
			everyPart(s, func(c contents) {
				if s.look(c, 0) <= rung {
					want = max(want, paid(prices, c))
				}
			})
			k.choices = 1_000_000
			most, c := k.worth(prices, rung, 0)
			if math.Abs(most-want) > 1e-9*want || want > 0 && (math.Abs(paid(prices, c)-want) > 1e-9*want || s.look(c, 0) > rung) {
				t.Fatalf("got %g for %v, want %g", most, c, want)
			}
			k.choices = 3
			if most, _ := k.worth(prices, rung, 0); most < want {
				t.Fatalf("after few choices %g, but %g is possible", most, want)
			} else if most > want*(1+1e-9) {
				loose++
			}
			if most, c := k.worth(prices, rung, want*1.1); most < want || len(c) > 0 {
				t.Fatalf("with enough got %g and %v", most, c)
			}
		}
	}
	if loose == 0 {
		t.Error("three choices always sufficed: the bound was not tried")
	}
}

// A quick look at a phase says the same as a long one, or nothing.
func TestQuickLooksAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	known, fitting, open := 0, 0, 0
	for _, s := range drawn(t, 32, sizes{12, 4, 20, 2}, 60) {
		c := s.everything()
		if !s.mixed(c) {
			continue
		}
		for range 40 {
			rung := r.IntN(s.never())
			_, _, want := s.roles(c, rung)
			want = want || s.plainFit(c, rung)
			switch fits, sure := s.quick(c, rung); {
			case !sure:
				open++
			case fits != want:
				t.Fatalf("rung %d: got %t, want %t", rung, fits, want)
			default:
				known++
				if fits {
					fitting++
				}
			}
		}
	}
	if known < 5*open || fitting == 0 || fitting == known {
		t.Errorf("%d known, of which %d fit, %d open", known, fitting, open)
	}
}

// No phase is shorter than the prices of its areas.
func TestAreasBoundEveryPhase(t *testing.T) {
	nearest := math.Inf(1)
	for _, s := range drawn(t, 33, small, 60) {
		area := s.area()
		everyPart(s, func(c contents) {
			rung := s.look(c, 0)
			if rung == s.never() {
				return
			}
			ratio := s.times[rung] / paid(area, c)
			if ratio < 1-1e-9 {
				t.Fatalf("a phase takes %g s, its areas are %g", s.times[rung], paid(area, c))
			}
			nearest = min(nearest, ratio)
		})
	}
	if nearest > 1.001 {
		t.Errorf("no phase is near its areas: %g", nearest)
	}
}

// Where rungs are missing, phases seem longer than they are. Their bounds must not.
func TestMissingRungsKeepBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		p := draw(r, small)
		b, err := ready(p)
		if err != nil {
			continue
		}
		want := packed(t, p, PackMulti).BusySeconds
		l := newLadder(t.Context(), b)
		highest := l.times[len(l.times)-1]
		thin := []float64{}
		for i := 0; i < len(l.times)-1; i += 9 {
			thin = append(thin, l.times[i])
		}
		l.times, l.whole = append(thin, highest), false
		l.plain, l.special = l.needs(t.Context(), b, 1), l.needs(t.Context(), b, b.penalty)
		got, err := b.large(t.Context(), newFitter(b, l), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.bound > want*(1+1e-9) {
			t.Fatalf("the bound is %g, but the shortest takes %g", got.bound, want)
		}
	}
}

// Two phases divided anew hold the same jobs and take less time.
func TestHalvesHoldTheSameJobs(t *testing.T) {
	divided := 0
	for _, s := range drawn(t, 34, sizes{12, 4, 20, 2}, 40) {
		d := s.division(t.Context(), s.oneByOne())
		before := d.time
		s.redivide(t.Context(), &d, s.effort+dividing)
		sum, left := 0.0, make([]int, len(s.kinds))
		for i, c := range d.phases {
			sum += s.times[s.shortest(c, 0)]
			if s.times[d.rungs[i]] != s.times[s.shortest(c, 0)] {
				t.Fatal("a phase has another time")
			}
			for _, x := range c {
				left[x.kind] += x.count
			}
		}
		for i, n := range left {
			if n != s.kinds[i].count {
				t.Fatalf("%d jobs of kind %d, want %d", n, i, s.kinds[i].count)
			}
		}
		if d.time > before || math.Abs(sum-d.time) > 1e-9*sum {
			t.Fatalf("took %g, takes %g, in all %g", before, d.time, sum)
		}
		if d.time < before {
			divided++
		}
	}
	if divided < 20 {
		t.Errorf("only %d got shorter", divided)
	}
}

func TestLargeBatchesPackTheSameAgain(t *testing.T) {
	var first Packing
	for i := range 2 {
		a, err := Pack(t.Context(), sixteen(20, 30, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = a
		} else if !reflect.DeepEqual(a, first) {
			t.Errorf("got %g s and a bound of %g s, first %g s and %g s", a.BusySeconds, a.LowerBoundSeconds, first.BusySeconds, first.LowerBoundSeconds)
		}
	}
}

// A packing is there soon after its time, wherever that ends.
func TestLargeBatchesKeepTheirTime(t *testing.T) {
	for _, limit := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		p := sixteen(100, 200, 1)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		began := time.Now()
		a, err := Pack(ctx, p, nil)
		took := time.Since(began)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if wrong := Recheck(p, a); len(wrong) > 0 {
			t.Fatal(wrong)
		}
		if took > limit+2*time.Second { // a busy machine may take one
			t.Errorf("with %s it took %s", limit, took)
		}
	}
}
