package perf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// The check below shares nothing with calibrations but their types. By paper 4 map-only jobs with work W take from W/s to
// (W - 2·max)/s + 2·max seconds on s slots, and the overhead; all of W where it is less than 2·max.
type again struct {
	profile    capacity.Profile
	executions []Measured // by submission
	coverage   float64
	facts      words.Facts
	wrong      []string
}

func (a *again) bounds(m Measured) (lower, upper float64) {
	work, longest, slots := float64(a.profile.MapTasks)*a.profile.MapAvgSeconds, a.profile.MapMaxSeconds, float64(m.MapSlots)
	if upper = work; work > 2*longest {
		upper = (work-2*longest)/slots + 2*longest
	}
	return a.profile.OverheadSeconds + work/slots, a.profile.OverheadSeconds + upper
}

// figures compares a fact's figures, all of them.
func (a *again) figures(kind, subject string, want map[string]any) {
	for _, f := range a.facts {
		if f.Kind != kind {
			continue
		}
		if f.Subject != subject || len(f.Figures) != len(want) {
			a.wrong = append(a.wrong, fmt.Sprintf("%s is about %q with %d figures", kind, f.Subject, len(f.Figures)))
		}
		for _, x := range f.Figures {
			switch is := want[x.Name].(type) {
			case float64:
				if got, err := strconv.ParseFloat(x.Value, 64); err != nil || math.Abs(got-is) > 2e-9+1e-9*math.Abs(is) {
					a.wrong = append(a.wrong, fmt.Sprintf("%s of %s is %s, and %v follows", x.Name, kind, x.Value, is))
				}
			case time.Time:
				if x.Value != is.UTC().Format("2006-01-02T15:04Z") {
					a.wrong = append(a.wrong, fmt.Sprintf("%s of %s is %s, and %v follows", x.Name, kind, x.Value, is))
				}
			default:
				a.wrong = append(a.wrong, fmt.Sprintf("%s of %s is not known", x.Name, kind))
			}
		}
		return
	}
	if want != nil {
		a.wrong = append(a.wrong, kind+" is missing")
	}
}

// rank is the ratio of the wanted rank: among n and one more, so many lie below.
func rank(ratios []float64, coverage float64) float64 {
	sorted := slices.Sorted(slices.Values(ratios))
	for k := 1; k <= len(sorted); k++ {
		if float64(k)/float64(len(sorted)+1) >= coverage-1e-12 {
			return sorted[k-1]
		}
	}
	return sorted[len(sorted)-1]
}

// upTo four digits, never down.
func upTo(x float64) float64 {
	digits := int(math.Floor(math.Log10(x))) - 3
	text := strconv.FormatFloat(math.Ceil(x/math.Pow10(digits)*(1-1e-12)), 'f', 0, 64) + fmt.Sprintf("e%d", digits)
	y, _ := strconv.ParseFloat(text, 64)
	return y
}

func middle(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// check compares the facts with what follows from the executions. The recommended bound is taken as it is; it is the
// average where there are fewer than forty.
func (a *again) check() {
	var within, below, above float64
	var ratios, waited []float64
	for _, m := range a.executions {
		lower, upper := a.bounds(m)
		switch {
		case m.Seconds > upper*(1+1e-12):
			above++
		case m.Seconds < lower*(1-1e-12):
			below++
		default:
			within++
		}
		ratios = append(ratios, m.Seconds/((lower+upper)/2))
		if m.IdleSeconds != nil {
			waited = append(waited, max(0, min(*m.IdleSeconds, m.Seconds)-a.profile.OverheadSeconds))
		}
	}
	n := float64(len(a.executions))
	a.figures(AmongBounds, "", map[string]any{"executions": n, "from": a.executions[0].At, "until": a.executions[len(a.executions)-1].At,
		"within": within / n, "below": below / n, "above": above / n})
	a.figures(PlanWith, "average", map[string]any{"factor": upTo(rank(ratios, a.coverage))})
	least := 1 // executions that a factor for the coverage needs
	for float64(least)/float64(least+1) < a.coverage-1e-12 {
		least++
	}
	held, followed := 0., 0.
	for i := least; i < len(ratios); i++ {
		earlier := slices.IndexFunc(a.executions, func(m Measured) bool { return !m.At.Before(a.executions[i].At) })
		if earlier < least {
			continue
		}
		followed++
		if ratios[i] <= upTo(rank(ratios[:earlier], a.coverage))*(1+1e-12) {
			held++
		}
	}
	if followed > 0 {
		a.figures(RecommendationsHeld, "", map[string]any{"held": held, "followed": followed, "coverage": held / followed})
	} else {
		a.figures(RecommendationsHeld, "", nil)
	}
	if len(waited) > 0 {
		slices.Sort(waited)
		a.figures(WaitedForSlots, "", map[string]any{"known": float64(len(waited)), "median": middle(slices.Clone(waited)), "p90": waited[int(math.Ceil(0.9*float64(len(waited))))-1]})
	} else {
		a.figures(WaitedForSlots, "", nil)
	}
}

func drawnExecutions(r *rand.Rand) (p capacity.Profile, all []Measured, coverage float64) {
	p = capacity.Profile{MapTasks: 1 + r.Int64N(200), MapAvgSeconds: 1 + 30*r.Float64(), OverheadSeconds: float64(r.IntN(20))}
	p.MapMaxSeconds = p.MapAvgSeconds * (1 + 2*r.Float64())
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	known := r.IntN(3)
	for i := range 1 + r.IntN(38) {
		at = at.Add(time.Duration(1+r.IntN(300)) * time.Minute)
		m := Measured{ID: fmt.Sprint(i), At: at, MapSlots: 1 + r.Int64N(20)}
		lower, upper := (&again{profile: p}).bounds(m)
		if m.Seconds = max(1, lower+(upper-lower)*(1.6*r.Float64()-0.3)); known > 0 && r.IntN(known) == 0 {
			m.IdleSeconds = new(60 * r.Float64())
		}
		all = append(all, m)
	}
	return p, all, []float64{0.5, 0.8, 0.9, 0.95}[r.IntN(4)]
}

// Facts of drawn calibrations follow from the executions, and planted faults of the code that makes them are found:
// it then calibrates as if it had other executions.
func TestCalibrationFactsAreWorkedOutAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 41))
	each := func(change func(m *Measured)) func(p *capacity.Profile, all *[]Measured, c *float64) {
		return func(_ *capacity.Profile, all *[]Measured, _ *float64) {
			for i := range *all {
				change(&(*all)[i])
			}
		}
	}
	faults := map[string]func(p *capacity.Profile, all *[]Measured, coverage *float64){
		"the last is left out":      func(_ *capacity.Profile, all *[]Measured, _ *float64) { *all = (*all)[:max(1, len(*all)-1)] },
		"the first counts twice":    func(_ *capacity.Profile, all *[]Measured, _ *float64) { *all = append(*all, (*all)[0]) },
		"a slot more":               each(func(m *Measured) { m.MapSlots++ }),
		"a task more":               func(p *capacity.Profile, _ *[]Measured, _ *float64) { p.MapTasks++ },
		"the mean for the longest":  func(p *capacity.Profile, _ *[]Measured, _ *float64) { p.MapMaxSeconds = p.MapAvgSeconds },
		"no overhead":               func(p *capacity.Profile, _ *[]Measured, _ *float64) { p.OverheadSeconds = 0 },
		"waiting is left out":       each(func(m *Measured) { m.IdleSeconds = nil }),
		"waiting is taken off":      each(func(m *Measured) { m.Seconds -= min(m.Seconds/2, *orNothing(m.IdleSeconds)) }),
		"another coverage":          func(_ *capacity.Profile, _ *[]Measured, c *float64) { *c = 0.7 },
		"a per cent longer":         each(func(m *Measured) { m.Seconds *= 1.01 }),
		"a minute later":            each(func(m *Measured) { m.At = m.At.Add(time.Minute) }),
		"the order turned round":    each(func(m *Measured) { m.At = time.Unix(4e9-m.At.Unix(), 0) }),
		"a mean that is too small":  func(p *capacity.Profile, _ *[]Measured, _ *float64) { p.MapAvgSeconds *= 0.99 },
		"the overhead counts twice": each(func(m *Measured) { m.Seconds += 3 }),
	}
	differ := map[string]int{}
	for range 300 {
		p, all, coverage := drawnExecutions(r)
		calibrated := func(p capacity.Profile, all []Measured, coverage float64) words.Facts {
			c, err := Calibrate(Demands(p), p.OverheadSeconds, all, coverage)
			if err != nil {
				t.Fatal(err)
			}
			return c.Facts
		}
		right := calibrated(p, all, coverage)
		a := again{profile: p, executions: all, coverage: coverage, facts: right}
		if a.check(); a.wrong != nil {
			t.Fatalf("%v\n%+v\n%+v", a.wrong, p, right)
		}
		for name, fault := range faults {
			p, others, coverage := p, slices.Clone(all), coverage
			fault(&p, &others, &coverage)
			a := again{profile: a.profile, executions: all, coverage: a.coverage, facts: calibrated(p, others, coverage)}
			if slices.EqualFunc(a.facts, right, func(x, y capacity.Fact) bool { return fmt.Sprint(x) == fmt.Sprint(y) }) {
				continue
			}
			differ[name]++
			if a.check(); a.wrong == nil {
				t.Fatalf("the fault %q is not found:\n%+v\nright is\n%+v", name, a.facts, right)
			}
		}
	}
	for name := range faults {
		if differ[name] == 0 {
			t.Errorf("the fault %q changes nothing", name)
		}
	}
	t.Log(differ)
}

func orNothing(x *float64) *float64 {
	if x == nil {
		return new(0.0)
	}
	return x
}

// A drift's detail says the figures that stand in it, which are counted again.
func TestDriftFactsAreCountedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 42))
	kinds := map[string]int{}
	for range 60 {
		p, before, _ := drawnExecutions(r)
		c, err := Calibrate(Demands(p), p.OverheadSeconds, before, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		basis, err := c.Basis(capacity.AverageBound, c.Recommends.Factor)
		if err != nil {
			t.Fatal(err)
		}
		var later []Measured
		slower := []float64{0.3, 1, 1, 2}[r.IntN(4)]
		for i := range r.IntN(2) * 300 {
			m := before[r.IntN(len(before))]
			m.ID, m.At, m.Seconds = fmt.Sprint("later ", i), basis.Until.Add(time.Duration(i+1)*time.Hour), m.Seconds*slower
			later = append(later, m)
		}
		d := Drifts(Demands(p), p.OverheadSeconds, later, basis)
		if d.Detail != d.Facts.Text() || len(d.Facts) != 1 {
			t.Fatalf("%+v", d)
		}
		kinds[d.Facts[0].Kind]++
		changed, exceeded := later, 0.
		if d.Since != nil {
			changed = later[slices.IndexFunc(later, func(m Measured) bool { return m.At.Equal(*d.Since) }):]
		}
		var ratios []float64
		a := again{profile: p, facts: d.Facts}
		for _, m := range changed {
			lower, upper := a.bounds(m)
			ratio := m.Seconds / ((lower + upper) / 2)
			if ratios = append(ratios, ratio); ratio > basis.Factor*(1+1e-12) {
				exceeded++
			}
		}
		want := map[string]any{"executions": float64(len(changed)), "exceeded": exceeded, "expected": (1 - 0.9) * float64(len(changed))}
		switch d.Facts[0].Kind {
		case NoneLater:
			want = map[string]any{"executions": 0.}
		case TookLonger:
			want["since"] = *d.Since
		case TookLess:
			var were []float64
			for _, m := range before {
				lower, upper := a.bounds(m)
				were = append(were, m.Seconds/((lower+upper)/2))
			}
			want = map[string]any{"executions": float64(len(changed)), "since": *d.Since, "ratio": middle(ratios) / middle(were)}
		}
		if a.figures(d.Facts[0].Kind, "", want); a.wrong != nil {
			t.Errorf("%v\n%+v", a.wrong, d)
		}
	}
	if len(kinds) != 4 {
		t.Errorf("only the kinds %v", kinds)
	}
}
