package dispatch

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"example.org/headroom/internal/core/perf"
)

// byMaxProgress implements the rule of section 3.3 literally, with sets and sorted lists.
type byMaxProgress struct {
	PolicyConfig
	rules map[string]int
}

func (b *byMaxProgress) choose(w *world, s Slot) (*Job, Kind) {
	r := min(max(s.Node.Residual, 0), 1)
	if r < *b.MinResidual {
		b.rules["residual"]++
		return nil, 0
	}
	fit := func(j *Job) *perf.TaskTime {
		if t := j.TaskTime; t != nil && t.Seconds(0) > 0 && t.Seconds(1) > 0 {
			return t
		}
		return nil
	}
	normed := func(j *Job, r float64) float64 {
		if t := fit(j); t != nil {
			return t.Normed(r)
		}
		return 1
	}
	var ready []*Job
	for _, j := range w.jobs {
		if j.pending(w.layout, s.Pool) > 0 {
			ready = append(ready, j)
		}
	}
	if len(ready) == 0 {
		return nil, 0
	}
	deadline := func(j *Job) float64 {
		if j.DeadlineSeconds == 0 || b.Late == LateDemote && w.now >= j.DeadlineSeconds {
			return math.Inf(1)
		}
		return j.DeadlineSeconds
	}
	// Rule 1: deadlines at risk.
	risk := slices.DeleteFunc(slices.Clone(ready), func(j *Job) bool {
		if math.IsInf(deadline(j), 1) {
			return true
		}
		var slots perf.Slots
		for _, h := range w.held {
			if h.job == j {
				slots = append(slots, min(max(h.slot.Node.Residual, 0), 1))
			}
		}
		if fit(j) == nil {
			return perf.OnTrack(0, float64(j.Unfinished))
		}
		real, whole := perf.Completable(fit(j), slots, (j.DeadlineSeconds-w.now) / *b.TimeFactor)
		if *b.WholeTasks {
			real = float64(whole)
		}
		return perf.OnTrack(real, float64(j.Unfinished))
	})
	if b.Mode == ProgressDefault {
		fitting := slices.DeleteFunc(slices.Clone(risk), func(j *Job) bool {
			t := fit(j)
			return t != nil && w.now+t.Seconds(r) > j.DeadlineSeconds+1e-9 && j.DeadlineSeconds-w.now > t.Seconds(1)+1e-9
		})
		if len(fitting) > 0 {
			risk = fitting
		} else if len(risk) < len(ready) {
			risk = nil
		}
	}
	if len(risk) > 0 {
		slices.SortFunc(risk, func(j, k *Job) int { return order([]float64{j.DeadlineSeconds}, []float64{k.DeadlineSeconds}, j, k) })
		b.rules["deadline"]++
		return risk[0], risk[0].next(w.layout, s.Pool)
	}
	// Rule 2: progress.
	average := func(j *Job) float64 {
		total, slots := 0.0, 0
		for _, n := range w.nodes {
			total += float64(n.Slots[0]+n.Slots[1]) * normed(j, min(max(n.Residual, 0), 1))
			slots += n.Slots[0] + n.Slots[1]
		}
		return total / float64(slots)
	}
	load := 0.0
	for _, h := range w.held {
		load += h.job.ReadMBPerSecond / normed(h.job, min(max(h.slot.Node.Residual, 0), 1))
	}
	keys := func(j *Job) []float64 {
		key := normed(j, r)
		if b.Mode == ProgressDefault {
			key /= average(j)
		}
		return []float64{math.Round(key * 1e9), -math.Round(average(j) * 1e9), deadline(j)}
	}
	slices.SortFunc(ready, func(j, k *Job) int { return order(keys(j), keys(k), j, k) })
	for _, j := range ready {
		if b.IOCap == nil || load+j.ReadMBPerSecond/normed(j, r) <= *b.IOCap*(1+1e-12) {
			b.rules["progress"]++
			return j, j.next(w.layout, s.Pool)
		}
	}
	b.rules["io_cap"]++
	return nil, 0
}

func order(a, b []float64, j, k *Job) int {
	if less(a, b, j, k) {
		return -1
	}
	return 1
}

func TestMaxProgressChoosesByItsRule(t *testing.T) {
	for name, document := range map[string]string{
		"default":             `{"kind":"max-progress"}`,
		"paper":               `{"kind":"max-progress","mode":"paper","io_cap_mb_s":25}`,
		"whole, late, capped": `{"kind":"max-progress","whole_tasks":true,"late":"demote","io_cap_mb_s":40}`,
	} {
		p, err := ReadPolicy([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		for _, layout := range []Layout{Separate, Shared} {
			t.Run(fmt.Sprintf("%s/%d", name, layout), func(t *testing.T) {
				rules := map[string]int{}
				chosen, recalls := 0, 0
				for seed := range uint64(wholeSamples(8, 300)) {
					b := &byMaxProgress{p.Filled(), rules}
					w := newWorld(t, seed, layout, func() Policy { return MaxProgress(layout, p) })
					w.choose = b.choose
					known := families(w.r)
					w.refit = func() { // a fit follows its measurements
						if f := &known[w.r.IntN(len(known))]; f.TaskTime != nil && f.TaskTime.A > 0 {
							f.TaskTime.A *= 0.9 + 0.2*w.r.Float64()
						}
					}
					for range 300 {
						w.step(known)
					}
					chosen, recalls = chosen+w.chosen, recalls+w.recalls
				}
				t.Logf("%d choices, %d policies that recalled, %v", chosen, recalls, rules)
				want := []string{"deadline", "progress", "residual"}
				if p.IOCap != nil {
					want = append(want, "io_cap")
				}
				for _, rule := range want {
					if rules[rule] < 100 {
						t.Errorf("%d choices by %s: the test decides nothing", rules[rule], rule)
					}
				}
			})
		}
	}
}

// Numbers that come and go in any order leave the exact sum of those that remain.
func TestExactSums(t *testing.T) {
	r := seeded(1)
	var s exactSum
	var there []float64
	want := new(big.Float).SetPrec(300)
	for i := range 20_000 {
		if len(there) > 0 && r.IntN(2) == 0 {
			k := r.IntN(len(there))
			s.remove(there[k])
			want.Sub(want, big.NewFloat(there[k]))
			there = slices.Delete(there, k, k+1)
		} else {
			x := math.Ldexp(r.Float64(), r.IntN(65)-27)
			x = math.Ldexp(math.Trunc(math.Ldexp(x, 80)), -80)
			s.add(x)
			want.Add(want, big.NewFloat(x))
			there = append(there, x)
		}
		if f, _ := want.Float64(); math.Abs(s.value()-f) > 4.5e-16*f {
			t.Fatalf("after %d: got %g, want %g", i, s.value(), f)
		}
	}
	for _, x := range there {
		s.remove(x)
	}
	if s != (exactSum{}) {
		t.Errorf("nothing is there, and the sum is %+v", s)
	}
	for x, want := range map[float64]float64{0: 0, -1: 0, math.NaN(): 0, math.Inf(1): maxOfSum, 1e300: maxOfSum, math.SmallestNonzeroFloat64: 0, 1e-40: 0} {
		var s exactSum
		if s.add(x); s.value() != want {
			t.Errorf("of %g: got %g, want %g", x, s.value(), want)
		}
	}
}
