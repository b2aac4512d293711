package perf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"example.org/headroom/internal/core/capacity"
)

// adopted returns the recommendation of n executions, taken into use.
func adopted(t testing.TB, r *rand.Rand, n int, spread float64) Basis {
	t.Helper()
	c := calibrate(t, drawn(r, n, firstDay, 1, spread), 0)
	b, err := c.Basis(c.Recommends.Bound, c.Recommends.Factor)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func drift(executions []Measured, basis Basis) Drift {
	return Drifts(Demands(nightly), nightly.OverheadSeconds, executions, basis)
}

// A class with unchanged executions raises drift within 1,000 executions less than once in a hundred times, for any
// calibration, though it is checked after each.
func TestDriftRaisesFewFalseAlarms(t *testing.T) {
	const later = 1000
	runs := trials(80, 2_000)
	for _, n := range []int{20, 60, 240} {
		r := seeded(uint64(n))
		alarms := 0
		for range runs {
			basis := adopted(t, r, n, 0.2)
			after := drawn(r, later, basis.Until.Add(time.Hour), 1, 0.2)
			for at := lowerAfter; at <= later; at += lowerAfter { // a raised drift stays for about as long
				if d := drift(after[:at], basis); d.State != Unchanged {
					alarms++
					break
				}
			}
		}
		t.Logf("a calibration of %d: %d false alarms in %d times %d executions", n, alarms, runs, later)
		if float64(alarms) > 0.01*float64(runs)+3*math.Sqrt(0.01*float64(runs)) {
			t.Errorf("%d false alarms in %d times %d executions, want 1 %% at most", alarms, runs, later)
		}
	}
}

// seenAfter returns the number of executions of another scale that raise the state, the median of many.
func seenAfter(t *testing.T, r *rand.Rand, n int, scale, spread float64, state DriftState) int {
	var all []int
	for range trials(15, 400) {
		basis := adopted(t, r, n, spread)
		after := drawn(r, 30, basis.Until.Add(time.Hour), 1, spread)
		after = append(after, drawn(r, 2000, basis.Until.Add(31*time.Hour), scale, spread)...)
		low, high := 30, len(after)
		for i := range after {
			after[i].ID = "" // by time alone
		}
		for at := low; at <= high; at++ {
			if drift(after[:at], basis).State == state {
				all = append(all, at-30)
				break
			}
			if at == high {
				all = append(all, high)
			}
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func TestDriftSeesWhatChanged(t *testing.T) {
	for _, tt := range []struct {
		n             int
		scale, spread float64
		state         DriftState
		most          int
	}{
		{200, 1.2, 0.1, Slower, 30},
		{200, 1.2, 0.2, Slower, 150},
		{40, 1.5, 0.2, Slower, 40},
		{200, 0.7, 0.2, Faster, 40},
		{200, 0.8, 0.1, Faster, 40},
	} {
		got := seenAfter(t, seeded(21), tt.n, tt.scale, tt.spread, tt.state)
		t.Logf("a calibration of %d, spread %.0f %%, times × %g: %s after %d executions (median)", tt.n, 100*tt.spread, tt.scale, tt.state, got)
		if got > tt.most {
			t.Errorf("a calibration of %d, spread %g, times × %g: %s after %d executions, want %d at most", tt.n, tt.spread, tt.scale, tt.state, got, tt.most)
		}
	}
}

// Raised drift says since when, is withdrawn when executions fit again, and depends only on them.
func TestDriftComesAndGoes(t *testing.T) {
	r := seeded(22)
	basis := adopted(t, r, 200, 0.1)
	if d := drift(nil, basis); d.State != Unchanged || d.Executions != 0 || d.Since != nil {
		t.Errorf("without executions: got %+v", d)
	}
	start := basis.Until.Add(time.Hour)
	good := drawn(r, 100, start, 1, 0.1)
	bad := drawn(r, 60, start.Add(100*time.Hour), 1.3, 0.1)
	again := drawn(r, 200, start.Add(160*time.Hour), 1, 0.1)
	if d := drift(good, basis); d.State != Unchanged || d.Executions != 100 {
		t.Errorf("executions that fit: got %+v", d)
	}
	all := slices.Concat(good, bad)
	d := drift(all, basis)
	if d.State != Slower || d.Since == nil || d.Since.Sub(bad[0].At).Abs() > 5*time.Hour || d.Executions < 55 || d.Executions > 65 {
		t.Errorf("executions that are slower since %v: got %+v", bad[0].At, d)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if other := drift(all, basis); other.Detail != d.Detail {
		t.Errorf("in another order: got %+v, want %+v", other, d)
	}
	// Executions not later than the calibration are ignored.
	if other := drift(append(all, drawn(r, 100, firstDay, 3, 0.1)...), basis); other.Detail != d.Detail {
		t.Errorf("with executions from before: got %+v, want %+v", other, d)
	}
	if d := drift(append(all, again...), basis); d.State != Unchanged || d.Executions != 360 {
		t.Errorf("when executions fit again: got %+v", d)
	}
	if d := drift(slices.Concat(good, bad, again, drawn(r, 60, start.Add(400*time.Hour), 1.3, 0.1)), basis); d.State != Slower || d.Since.Sub(start.Add(400*time.Hour)).Abs() > 5*time.Hour {
		t.Errorf("when they are slower once more: got %+v", d)
	}
	// After a new calibration with the slower ones, they fit.
	c := calibrate(t, bad, 0)
	anew, err := c.Basis(c.Recommends.Bound, c.Recommends.Factor)
	if err != nil {
		t.Fatal(err)
	}
	if d := drift(drawn(r, 60, start.Add(160*time.Hour), 1.3, 0.1), anew); d.State != Unchanged {
		t.Errorf("calibrated anew: got %+v", d)
	}
	if _, err := new(Calibration).Basis(capacity.AverageBound, 1); err == nil {
		t.Error("a basis of no executions")
	}
}

// The distribution of later events after a calibration of k of n is Pólya's urn. For many executions that is the
// binomial one. For few it is the result of drawing both from one order.
func TestWatchKnowsWhatNoChangeLetsHappen(t *testing.T) {
	// The probability of each count of events in m later ones, by running through all sequences.
	counts := func(k, n int64, m int) []float64 {
		chances := make([]float64, m+1)
		for sequence := range 1 << m {
			w := newWatch(k, n, 0.05, 0.5)
			p, happened := 1.0, 0
			for i := range m {
				chance := w.happened / w.seen
				happens := sequence>>i&1 == 1
				if happens {
					p, happened = p*chance, happened+1
				} else {
					p *= 1 - chance
				}
				w.see(i, happens)
			}
			chances[happened] += p
		}
		return chances
	}
	known := distuv.Binomial{N: 10, P: 0.05}
	for k, got := range counts(0, 0, 10) {
		if want := known.Prob(float64(k)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d of 10 at 5 %%: got %v, want %v", k, got, want)
		}
	}
	const draws = 200_000
	r := seeded(23)
	seen := make([]float64, 11)
	for range draws {
		order := r.Perm(20 + 10)
		limit, above := slices.Max(order[:20]), 0 // the largest of 20: none of them exceeds it
		for _, x := range order[20:] {
			if x > limit {
				above++
			}
		}
		seen[above] += 1.0 / draws
	}
	for k, got := range counts(0, 20, 10) {
		if math.Abs(got-seen[k]) > 5*math.Sqrt(max(got, 1e-5)/draws) {
			t.Errorf("%d of 10 above the largest of 20: got %v, drawn %v", k, got, seen[k])
		}
	}
}

// The evidence, by its definition: a sum over all moments at which a change may have begun.
func TestWatchSumsOverAllBeginnings(t *testing.T) {
	r := seeded(24)
	w := newWatch(3, 60, 0.05, 0.1, 0.4)
	var happened []bool
	for i := range 40 {
		happens := r.Float64() < 0.3
		w.see(i, happens)
		happened = append(happened, happens)
		want := 0.0
		for _, higher := range []float64{0.1, 0.4} {
			for from := range happened {
				product, k := 1.0, 4.0
				for at, h := range happened {
					chance := k / float64(61+at)
					if h {
						k++
					}
					if at < from || higher <= chance {
						continue
					}
					if h {
						product *= higher / chance
					} else {
						product *= (1 - higher) / (1 - chance)
					}
				}
				want += product / 2
			}
		}
		if got := w.evidence(); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("after %d: got %v, want %v", i+1, got, want)
		}
	}
}
