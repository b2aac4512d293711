package perf

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

var firstDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// drawn makes executions of the documentation's class an hour apart, on 10 to 60 slots, with times spread about the
// average times scale.
func drawn(r *rand.Rand, n int, from time.Time, scale, spread float64) []Measured {
	d := Demands(nightly)
	all := make([]Measured, n)
	for i := range all {
		m := Measured{ID: fmt.Sprintf("job_%05d", i), At: from.Add(time.Duration(i) * time.Hour), MapSlots: 10 + r.Int64N(51)}
		m.ReduceSlots = 1 + m.MapSlots/2
		m.Seconds = scale * Time(d.Average, 1, float64(m.MapSlots), float64(m.ReduceSlots)) * math.Exp(spread*r.NormFloat64())
		all[i] = m
	}
	return all
}

func calibrate(t testing.TB, executions []Measured, coverage float64) Calibration {
	t.Helper()
	c, err := Calibrate(Demands(nightly), nightly.OverheadSeconds, executions, coverage)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every figure again, from the bounds' own answer and by counting.
func TestCalibrationByCounting(t *testing.T) {
	r := seeded(11)
	for range 200 {
		coverage := []float64{0, 0.5, 0.55, 0.9, 0.95, 0.99}[r.IntN(6)]
		executions := drawn(r, 1+r.IntN(150), firstDay, 0.8+0.4*r.Float64(), 0.3*r.Float64())
		r.Shuffle(len(executions), func(i, j int) { executions[i], executions[j] = executions[j], executions[i] })
		c := calibrate(t, executions, coverage)
		if coverage == 0 {
			coverage = 0.95
		}
		n := float64(len(executions))
		var below, above, bias float64
		var worst Measured
		furthest := 1.0
		times := map[capacity.Bound][]float64{}
		for _, m := range executions {
			a := ask[JobAnswer](t, BoundsQuestion{Job: &JobQuestion{Profile: nightly, Jobs: 1,
				Slots: SlotPools{Map: m.MapSlots, Reduce: m.ReduceSlots}, Share: PhaseShare{Map: 1, Reduce: 1}}})
			off := 1.0
			if m.Seconds < a.LowerSeconds {
				below, off = below+1, a.LowerSeconds/m.Seconds
			}
			if m.Seconds > a.UpperSeconds {
				above, off = above+1, m.Seconds/a.UpperSeconds
			}
			if off > furthest {
				furthest, worst = off, m
			}
			bias += m.Seconds/a.AverageSeconds - 1
			times[capacity.LowerBound] = append(times[capacity.LowerBound], a.LowerSeconds)
			times[capacity.AverageBound] = append(times[capacity.AverageBound], a.AverageSeconds)
			times[capacity.UpperBound] = append(times[capacity.UpperBound], a.UpperSeconds)
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
		near("below", c.Fit.Below, below/n)
		near("above", c.Fit.Above, above/n)
		near("within", c.Fit.Within, 1-below/n-above/n)
		near("mean bias", c.Fit.MeanBias, bias/n)
		if (c.Fit.Worst == nil) != (furthest == 1) || c.Fit.Worst != nil && c.Fit.Worst.ID != worst.ID {
			t.Errorf("worst miss: got %+v, want %s", c.Fit.Worst, worst.ID)
		}
		// At least half are no slower and half no faster than the median.
		var slower, faster float64
		for _, j := range c.Judged {
			switch b := j.Seconds/j.AverageSeconds - 1; {
			case b > c.Fit.MedianBias+1e-12:
				slower++
			case b < c.Fit.MedianBias-1e-12:
				faster++
			}
		}
		if slower > n/2 || faster > n/2 {
			t.Errorf("median bias %v has %v above and %v below of %v", c.Fit.MedianBias, slower, faster, n)
		}
		for _, f := range c.Factors {
			// By counting: the factor holds for the requested number, and one that is a digit smaller does not.
			wanted := min(n, math.Ceil((n+1)*coverage-1e-9))
			holds := func(factor float64) (k float64) {
				for i, m := range executions {
					if m.Seconds <= factor*times[f.Bound][i] {
						k++
					}
				}
				return k
			}
			if holds(f.Factor) < wanted || holds(f.Factor*(1-1.001e-3)) >= wanted {
				t.Errorf("%s × %v holds for %v of %v, a little less for %v; want just %v", f.Bound, f.Factor, holds(f.Factor), n, holds(f.Factor*(1-1.001e-3)), wanted)
			}
			if digits := strings.TrimLeft(strings.ReplaceAll(fmt.Sprint(f.Factor), ".", ""), "0"); len(digits) > 4 {
				t.Errorf("the factor %v has more than four digits", f.Factor)
			}
			sum := 0.0
			for _, s := range times[f.Bound] {
				sum += s
			}
			near("mean of "+string(f.Bound), f.MeanSeconds, f.Factor*sum/n)
		}
		// Another bound than the average is chosen if its ratios lie closer to their median.
		spread := func(bound capacity.Bound) (sum float64) {
			var logs []float64
			for i, m := range executions {
				logs = append(logs, math.Log(m.Seconds/times[bound][i]))
			}
			slices.Sort(logs)
			for _, log := range logs {
				sum += math.Abs(log - logs[len(logs)/2])
			}
			return sum
		}
		for _, f := range c.Factors {
			if n >= 40 && spread(f.Bound) < 0.96*spread(c.Recommends.Bound) || n < 40 && c.Recommends.Bound != capacity.AverageBound {
				t.Errorf("of %v executions the recommended bound is %s, whose spread is %v; that of %s is %v", n, c.Recommends.Bound, spread(c.Recommends.Bound), f.Bound, spread(f.Bound))
			}
		}
		if c.Recommends.Bound != capacity.AverageBound && spread(c.Recommends.Bound) > 0.98*spread(capacity.AverageBound) {
			t.Errorf("%s is recommended, whose spread is hardly smaller than the average's", c.Recommends.Bound)
		}
		inBands := int64(0)
		for i, b := range c.Bands {
			inBands += b.Executions
			if i > 0 && b.FromSlots <= c.Bands[i-1].ToSlots {
				t.Errorf("bands %v overlap", c.Bands)
			}
		}
		if inBands != int64(n) || len(c.Bands) > 4 {
			t.Errorf("%d bands hold %d of %v executions", len(c.Bands), inBands, n)
		}
	}
}

// Each later execution is compared with a new calibration from those before it.
func TestCalibrationIsTestedForward(t *testing.T) {
	executions := drawn(seeded(12), 120, firstDay, 1, 0.2)
	held := int64(0)
	for i := 19; i < len(executions); i++ {
		before := calibrate(t, executions[:i], 0)
		j, err := Judge(Demands(nightly), 0, executions[i])
		if err != nil {
			t.Fatal(err)
		}
		if j.Seconds <= before.Recommends.Factor*j.PlannedSeconds(before.Recommends.Bound) {
			held++
		}
	}
	c := calibrate(t, executions, 0)
	if c.Tested == nil || c.Tested.Executions != 101 || c.Tested.Held != held {
		t.Fatalf("got %+v, want %d of 101 held", c.Tested, held)
	}
	// The probability that so few hold, summed up term by term.
	chance := 0.0
	for k := range held + 1 {
		term := 1.0
		for i := range k {
			term *= float64(101-i) / float64(i+1) * 0.95
		}
		chance += term * math.Pow(0.05, float64(101-k))
	}
	if math.Abs(c.Tested.Chance-chance) > 1e-9 {
		t.Errorf("chance: got %v, want %v", c.Tested.Chance, chance)
	}
}

// Growing run times are in no random order, and the test in their order shows it.
func TestCalibrationOfChangingTimesWarns(t *testing.T) {
	executions := drawn(seeded(13), 200, firstDay, 1, 0.1)
	for i := range executions {
		executions[i].Seconds *= 1 + float64(i)/100
	}
	c := calibrate(t, executions, 0)
	if !warned(c, NotHeldWarning) {
		t.Errorf("no warning with %+v", c.Tested)
	}
	if steady := calibrate(t, drawn(seeded(13), 200, firstDay, 1, 0.1), 0); warned(steady, NotHeldWarning) {
		t.Errorf("a warning with %+v", steady.Tested)
	}
}

func warned(c Calibration, code string) bool {
	return slices.ContainsFunc(c.Warnings, func(w capacity.Warning) bool { return w.Code == code })
}

// The promise holds for an execution that the calibration has not seen, for any distribution of times, though the
// bound is chosen after the fact.
func TestCalibrationKeepsItsPromise(t *testing.T) {
	d := Demands(nightly)
	draws := trials(1500, 50_000)
	for _, n := range []int{20, 50, 200} {
		for name, noise := range map[string]func(*rand.Rand) float64{
			"normal":     func(r *rand.Rand) float64 { return math.Exp(0.2 * r.NormFloat64()) },
			"long tails": func(r *rand.Rand) float64 { return 0.5 + math.Pow(r.Float64(), -0.4) },
			"two modes":  func(r *rand.Rand) float64 { return 1 + float64(r.IntN(2)) + 0.1*r.Float64() },
		} {
			r := seeded(uint64(n))
			held, promised := 0, 0.0
			for range draws {
				executions := drawn(r, n+1, firstDay, 1, 0)
				for i := range executions {
					executions[i].Seconds *= noise(r)
				}
				c := Calibration{Coverage: 0.95}
				for _, m := range executions {
					j, err := Judge(d, 0, m)
					if err != nil {
						t.Fatal(err)
					}
					c.Judged = append(c.Judged, j)
				}
				fresh := c.Judged[n]
				c.Judged = c.Judged[:n]
				c.recommend(0)
				if fresh.Seconds <= c.Recommends.Factor*fresh.PlannedSeconds(c.Recommends.Bound) {
					held++
				}
				promised = c.Recommends.Holds
			}
			got := float64(held) / float64(draws)
			t.Logf("n = %d, %s: %.2f %% of %d held, %.2f %% promised", n, name, 100*got, draws, 100*promised)
			if slack := 3 * math.Sqrt(0.05*0.95/float64(draws)); got < 0.95-slack {
				t.Errorf("n = %d, %s: %.2f %% of fresh executions held, want 95 %%", n, name, 100*got)
			}
		}
	}
}

func TestCalibrationOfBadInput(t *testing.T) {
	good := drawn(seeded(14), 30, firstDay, 1, 0.1)
	with := func(change func(m *Measured)) []Measured {
		all := slices.Clone(good)
		change(&all[7])
		return all
	}
	for name, executions := range map[string][]Measured{
		"no time":      with(func(m *Measured) { m.Seconds = 0 }),
		"less":         with(func(m *Measured) { m.Seconds = -1 }),
		"NaN":          with(func(m *Measured) { m.Seconds = math.NaN() }),
		"for ever":     with(func(m *Measured) { m.Seconds = math.Inf(1) }),
		"no slots":     with(func(m *Measured) { m.MapSlots = 0 }),
		"no reduces":   with(func(m *Measured) { m.ReduceSlots = 0 }),
		"minus a slot": with(func(m *Measured) { m.ReduceSlots = -1 }),
	} {
		c := calibrate(t, executions, 0)
		if c.LeftOut != 1 || c.Fit.Executions != 29 || !warned(c, LeftOutWarning) || !strings.Contains(c.Warnings[0].Detail, "job_00007") {
			t.Errorf("%s: left out %d of 30 with %+v", name, c.LeftOut, c.Warnings)
		}
	}
	if c := calibrate(t, nil, 0); c.Recommends != nil || c.From != nil || c.Tested != nil || !warned(c, TooFewExecutionsWarning) {
		t.Errorf("no executions: got %+v", c)
	}
	if c := calibrate(t, good[:18], 0); !warned(c, TooFewExecutionsWarning) || c.Recommends.Holds != 18.0/19 || c.Tested != nil {
		t.Errorf("18 executions: got %+v", c)
	}
	if c := calibrate(t, good[:19], 0); warned(c, TooFewExecutionsWarning) || c.Recommends.Holds != 0.95 {
		t.Errorf("19 executions: got %+v", c)
	}
	for _, coverage := range []float64{-1, 0.49, 1, math.NaN(), math.Inf(1)} {
		var refused *fault.InputError
		if _, err := Calibrate(Demands(nightly), 0, good, coverage); !errors.As(err, &refused) {
			t.Errorf("coverage %v: got %v", coverage, err)
		}
	}
	// A class with a typed demand has one bound; one whose bounds are not positive has none.
	typed := capacity.Demand{MapWorkSeconds: 1000, FixedSeconds: 10}
	c, _ := Calibrate(JobDemands{Lower: typed, Average: typed, Upper: typed}, 0, good, 0)
	if c.Recommends == nil || c.Recommends.Bound != capacity.AverageBound {
		t.Errorf("a typed demand: got %+v", c.Recommends)
	}
	nothing := capacity.Demand{}
	if c, _ := Calibrate(JobDemands{Lower: nothing, Average: nothing, Upper: nothing}, 0, good, 0); c.LeftOut != 30 || c.Recommends != nil {
		t.Errorf("a demand of nothing: got %+v", c)
	}
	// The lower bound of many slots is negative, and no factor makes it hold (E7).
	many := slices.Clone(good)
	for i := range many {
		many[i].MapSlots, many[i].ReduceSlots = 100_000, 100_000
	}
	if c := calibrate(t, many, 0); len(c.Factors) != 2 || slices.ContainsFunc(c.Factors, func(f Factor) bool { return f.Bound == capacity.LowerBound }) {
		t.Errorf("a lower bound below nothing: got %+v", c.Factors)
	}
}

// The factor includes waiting for slots, and the one without stands beside it.
func TestCalibrationTellsWaiting(t *testing.T) {
	executions := drawn(seeded(15), 60, firstDay, 1, 0)
	for i := range executions {
		idle := 30 + executions[i].Seconds/2
		executions[i].Seconds += idle
		executions[i].IdleSeconds = &idle
	}
	c, err := Calibrate(Demands(nightly), 30, executions, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Factors {
		if f.Bound != capacity.AverageBound {
			continue
		}
		if f.Factor < 1.5 || f.Running == nil || *f.Running < 1 || *f.Running > 1.2 {
			t.Errorf("factor %v, running %v; want above 1.5 and little above 1", f.Factor, *f.Running)
		}
	}
	if c.Waiting == nil || c.Waiting.MedianShare < 0.25 || c.Waiting.MedianShare > 1.0/3 || !warned(c, WaitingWarning) {
		t.Errorf("waiting: got %+v", c.Waiting)
	}
	var waits []float64
	for _, m := range executions {
		waits = append(waits, *m.IdleSeconds-30)
	}
	slices.Sort(waits)
	if got, want := c.Waiting.P90Seconds, waits[53]; got != want {
		t.Errorf("90 %% waited %v s at most, want %v", got, want)
	}
	if got, want := c.Waiting.MedianSeconds, (waits[29]+waits[30])/2; got != want {
		t.Errorf("half waited %v s at most, want %v", got, want)
	}
}

func BenchmarkCalibrate(b *testing.B) {
	executions := drawn(seeded(16), MaxCalibrated, firstDay, 1, 0.2)
	for b.Loop() {
		calibrate(b, executions, 0)
	}
}

// A question is read strictly: each mistake has its place.
func TestReadCalibration(t *testing.T) {
	profile := `"profile":{"map_tasks":100,"reduce_tasks":0,"map_avg_s":10,"map_max_s":20}`
	q, err := ReadCalibration([]byte(`{` + profile + `,"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":118,"map_slots":10,"idle_s":4}]}`))
	if err != nil || q.Coverage != DefaultCoverage || len(q.Executions) != 1 || *q.Executions[0].IdleSeconds != 4 {
		t.Fatalf("%+v, %v", q, err)
	}
	if c, err := Calibrated(q); err != nil || c.Fit.Within != 1 || c.Recommends.Factor != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	many := strings.Repeat(`{"submitted_at":"2026-03-01T22:00:00Z","seconds":1},`, MaxCalibrated)
	for text, pointer := range map[string]string{
		`{` + profile + `}`: "/executions",
		`{"executions":[]}`: "/profile",
		`{"profile":{"map_tasks":0,"reduce_tasks":0,"map_avg_s":10,"map_max_s":20},"executions":[]}`:                                    "/profile/map_tasks",
		`{` + profile + `,"executions":[{"seconds":1}]}`:                                                                                "/executions/0/submitted_at",
		`{` + profile + `,"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":-1}]}`:                                         "/executions/0/seconds",
		`{` + profile + `,"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":1,"map_slots":-1}]}`:                           "/executions/0/map_slots",
		`{` + profile + `,"executions":[{"submitted_at":"1926-03-01T22:00:00Z","seconds":1}]}`:                                          "/executions/0/submitted_at",
		`{` + profile + `,"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":1,"idle_s":-2}]}`:                              "/executions/0/idle_s",
		`{` + profile + `,"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":1,"id":"` + strings.Repeat("x", 1001) + `"}]}`: "/executions/0/id",
		`{` + profile + `,"executions":[{"submitted_at":"2026-03-01T22:00:00Z","seconds":1,"slots":3}]}`:                                "/executions/0/slots",
		`{` + profile + `,"executions":[],"coverage":1}`:                                                                                "/coverage",
		`{` + profile + `,"executions":[` + many + `{"submitted_at":"2026-03-01T22:00:00Z","seconds":1}]}`:                              "/executions",
	} {
		_, err := ReadCalibration([]byte(text))
		var input *fault.InputError
		if !errors.As(err, &input) || input.Findings[0].Pointer != pointer {
			t.Errorf("%.200s: %v, not at %s", text, err, pointer)
		}
	}
}

// Executions that were all submitted at the same moment follow none, and nothing is said of changes over time. Where
// several share their moments, those of one moment are judged by the earlier moments alone.
func TestNoneFollowsAtTheSameMoment(t *testing.T) {
	executions := drawn(seeded(14), 120, firstDay, 1, 0.2)
	for i := range executions {
		executions[i].At = executions[0].At
	}
	if c := calibrate(t, executions, 0); c.Tested != nil || warned(c, NotHeldWarning) {
		t.Errorf("got %+v", c.Tested)
	}
	for i := range executions {
		executions[i].At = executions[0].At.Add(time.Duration(i/30) * time.Hour)
	}
	held := int64(0)
	for i := 30; i < len(executions); i++ {
		before := calibrate(t, executions[:i/30*30], 0)
		j, err := Judge(Demands(nightly), 0, executions[i])
		if err != nil {
			t.Fatal(err)
		}
		if j.Seconds <= before.Recommends.Factor*j.PlannedSeconds(before.Recommends.Bound) {
			held++
		}
	}
	if c := calibrate(t, executions, 0); c.Tested == nil || c.Tested.Executions != 90 || c.Tested.Held != held {
		t.Errorf("got %+v, want %d of 90 held", c.Tested, held)
	}
}

// Who did not wait is not said to have waited 0 s.
func TestNoWaitingIsTold(t *testing.T) {
	t.Parallel()
	for want, waits := range map[string]func(i int) float64{
		"Half of the executions did not wait for slots, nor did 9 of 10.":                func(int) float64 { return 0 },
		"Half of the executions did not wait for slots, and 9 of 10 waited 7 s or less.": func(i int) float64 { return []float64{0, 7}[i/15] },
		"Half of the executions waited 3 s or less for slots, 9 of 10 7 s or less.":      func(i int) float64 { return []float64{3, 7}[i/15] },
	} {
		executions := drawn(seeded(15), 20, firstDay, 1, 0.2)
		for i := range executions {
			executions[i].IdleSeconds = new(waits(i))
		}
		if text := calibrate(t, executions, 0).Facts.Text(); !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

// Waiting that is known of one execution alone is not told of all.
func TestWaitingSaysOfHowMany(t *testing.T) {
	executions := drawn(seeded(15), 20, firstDay, 1, 0.2)
	for i := range executions {
		executions[i].IdleSeconds = nil
	}
	executions[3].IdleSeconds = new(executions[3].Seconds / 2)
	c := calibrate(t, executions, 0)
	text := c.Facts.Text()
	for _, w := range c.Warnings {
		text += w.Detail
	}
	if n := strings.Count(text, "Of 1 of the 20 executions it is known how long they waited: half of those"); n != 2 {
		t.Errorf("%d times in %s", n, text)
	}
}
