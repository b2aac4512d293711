package recheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// drawnCalibration draws a profile of maps, of maps and reduces or of stages, and executions on some slots, some of which
// are not on record.
func drawnCalibration(r *rand.Rand) perf.CalibrationQuestion {
	q := perf.CalibrationQuestion{Coverage: []float64{0.5, 0.55, 0.8, 0.9, 0.95, 0.99}[r.IntN(6)]}
	p := &q.Profile
	average := func() float64 { return float64(1+r.IntN(120)) / 4 }
	longest := func(tasks int64, mean float64) float64 {
		if tasks == 1 {
			return mean
		}
		return min(mean*(1+3*r.Float64()), mean*float64(tasks))
	}
	switch kind := r.IntN(3); kind {
	case 2:
		for range 1 + r.IntN(3) {
			s := capacity.Stage{Tasks: 1 + r.Int64N(60), AvgSeconds: average()}
			s.MaxSeconds = longest(s.Tasks, s.AvgSeconds)
			p.Stages = append(p.Stages, s)
		}
	default:
		p.MapTasks, p.MapAvgSeconds = 1+r.Int64N(200), average()
		p.MapMaxSeconds = longest(p.MapTasks, p.MapAvgSeconds)
		if kind == 1 {
			p.ReduceTasks, p.ShuffleAvgSeconds, p.ReduceAvgSeconds, p.FirstShuffleAvgSeconds = 1+r.Int64N(40), average()/4, average(), average()/4
			if r.IntN(3) == 0 { // on many slots the lower form falls below the overhead, and below nothing
				p.MapTasks, p.MapAvgSeconds, p.MapMaxSeconds = 1, 0.25, 0.25
				p.ReduceTasks, p.ShuffleAvgSeconds, p.ReduceAvgSeconds, p.FirstShuffleAvgSeconds = 1+r.Int64N(3), average(), 0.25, 0.25
			}
			p.ShuffleMaxSeconds, p.ReduceMaxSeconds = longest(p.ReduceTasks, p.ShuffleAvgSeconds), longest(p.ReduceTasks, p.ReduceAvgSeconds)
			p.FirstShuffleMaxSeconds = longest(p.ReduceTasks, p.FirstShuffleAvgSeconds)
		}
	}
	p.OverheadSeconds = float64(r.IntN(3) * r.IntN(20))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	bounds, follows := proof.BoundsOf(p), r.IntN(3)
	slots, noise, known, drift := 1+r.Int64N(30), 0.4*r.Float64(), r.IntN(4), 1+0.01*float64(r.IntN(3))
	exactly := r.IntN(5) == 0 // executions take just what a bound says, and many are alike
	if exactly {
		slots, noise, drift = 1+r.Int64N(3), 0, 1
	}
	for i := range []int{r.IntN(4), r.IntN(40), 40 + r.IntN(120)}[r.IntN(3)] {
		at = at.Add(time.Duration(r.IntN(3)*r.IntN(500)) * time.Minute)
		m := perf.Measured{ID: fmt.Sprint("job_", (i*7)%11), At: at, MapSlots: 1 + r.Int64N(slots), ReduceSlots: r.Int64N(slots + 1)}
		if r.IntN(40) == 0 {
			m.MapSlots = 0
		}
		m.Seconds = float64(1 + r.IntN(300))
		if (m.MapSlots > 0 || !bounds.HasMaps()) && (m.ReduceSlots > 0 || !bounds.HasReduces()) {
			took := float(bounds.Times(m.MapSlots, m.ReduceSlots)[follows])
			if m.Seconds = took; !exactly || took <= 0 {
				m.Seconds = max(0.5, math.Round(100*took*math.Exp(noise*r.NormFloat64())*math.Pow(drift, float64(i)))/100)
			}
		}
		if known > 0 && r.IntN(known) == 0 {
			m.IdleSeconds = new(math.Round(m.Seconds * 1.2 * r.Float64() * float64(r.IntN(3)) / 2))
		}
		q.Executions = append(q.Executions, m)
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(q.Executions), func(i, k int) { q.Executions[i], q.Executions[k] = q.Executions[k], q.Executions[i] })
	}
	if q.Executions == nil {
		q.Executions = []perf.Measured{}
	}
	return q
}

func answeredCalibration(t *testing.T, q perf.CalibrationQuestion) (question, answer []byte) {
	t.Helper()
	question = marshalled(q)
	read, err := perf.ReadCalibration(question)
	if err != nil {
		t.Fatalf("%v\n%s", err, question)
	}
	a, err := perf.Calibrated(read)
	if err != nil {
		t.Fatal(err)
	}
	return question, marshalled(a)
}

func TestDrawnCalibrationsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 5))
	kinds := map[string]int{}
	for range plantest.Trials(200, 40_000) {
		q, text := answeredCalibration(t, drawnCalibration(r))
		if report := verified(t, q, text); report.Outcome != proof.OK {
			t.Fatalf("%s\n%s\n%s", report, q, text)
		}
		var a perf.Calibration
		decoded(t, text, &a)
		for _, w := range a.Warnings {
			kinds[w.Code]++
		}
		for _, f := range a.Facts {
			kinds[f.Kind+" "+f.Subject]++
		}
	}
	t.Log(kinds)
	for _, kind := range []string{perf.TooFewExecutionsWarning, perf.LeftOutWarning, perf.NotHeldWarning, perf.WaitingWarning, "plan_with average",
		"plan_with lower", "plan_with upper", "recommendations_held ", "waited_for_slots "} {
		if kinds[kind] < 8 {
			t.Errorf("%d of %q", kinds[kind], kind)
		}
	}
}

// Faults of the code that calibrates answer as if it had been asked about other executions.
func TestPlantedFaultsOfExecutions(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 6))
	each := func(change func(m *perf.Measured)) func(q *perf.CalibrationQuestion) {
		return func(q *perf.CalibrationQuestion) {
			for i := range q.Executions {
				change(&q.Executions[i])
			}
		}
	}
	eachFound(t, func() perf.CalibrationQuestion { return drawnCalibration(r) }, func(q perf.CalibrationQuestion) []byte {
		a, err := perf.Calibrated(q)
		if err != nil {
			t.Fatal(err)
		}
		return marshalled(a)
	}, []planted[perf.CalibrationQuestion]{
		{"the last is left out", func(q *perf.CalibrationQuestion) { q.Executions = q.Executions[:max(1, len(q.Executions))-1] }},
		{"the first counts twice", func(q *perf.CalibrationQuestion) {
			if len(q.Executions) > 0 {
				q.Executions = append(q.Executions, q.Executions[0])
			}
		}},
		{"a slot more", each(func(m *perf.Measured) { m.MapSlots++ })},
		{"maps for reduces", each(func(m *perf.Measured) { m.MapSlots, m.ReduceSlots = m.ReduceSlots, m.MapSlots })},
		{"slots of no record are one", each(func(m *perf.Measured) { m.MapSlots, m.ReduceSlots = max(1, m.MapSlots), max(1, m.ReduceSlots) })},
		{"the mean for the longest", func(q *perf.CalibrationQuestion) { q.Profile.MapMaxSeconds = q.Profile.MapAvgSeconds }},
		{"no shuffle", func(q *perf.CalibrationQuestion) { q.Profile.ShuffleAvgSeconds = 0 }},
		{"the first shuffle is left out", func(q *perf.CalibrationQuestion) { q.Profile.FirstShuffleMaxSeconds = 0 }},
		{"a stage is left out", func(q *perf.CalibrationQuestion) {
			if s := q.Profile.Stages; len(s) > 1 {
				q.Profile.Stages = s[1:]
			}
		}},
		{"no overhead", func(q *perf.CalibrationQuestion) { q.Profile.OverheadSeconds = 0 }},
		{"waiting is taken off", each(func(m *perf.Measured) {
			if m.IdleSeconds != nil {
				m.Seconds = max(0.1, m.Seconds-*m.IdleSeconds)
			}
		})},
		{"another coverage", func(q *perf.CalibrationQuestion) { q.Coverage = 0.7 }},
		{"the order turned round", each(func(m *perf.Measured) { m.At = time.Unix(4e9-m.At.Unix(), 0) })},
	})
}

// answerFault is a fault that an answer shows in one place, with the sentences that follow.
type answerFault struct {
	name  string
	fault func(q *perf.CalibrationQuestion, a *perf.Calibration)
}

// ratiosOf are the measured times as multiples of a bound's, by size.
func ratiosOf(a *perf.Calibration, bound capacity.Bound) (ratios []float64) {
	for _, j := range a.Judged {
		ratios = append(ratios, j.Seconds/j.PlannedSeconds(bound))
	}
	slices.Sort(ratios)
	return ratios
}

// ranked takes the factor of another rank.
func ranked(by int) func(q *perf.CalibrationQuestion, a *perf.Calibration) {
	return func(q *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Factors {
			f := &a.Factors[i]
			ratios := ratiosOf(a, f.Bound)
			rank, _ := rankOf(len(ratios), q.Coverage)
			was := f.Factor
			f.Factor = float(fourDigits(ratios[min(max(rank-1+by, 0), len(ratios)-1)]))
			f.MeanSeconds *= f.Factor / was
		}
	}
}

var answerFaults = []answerFault{
	{"a rank too low", ranked(-1)},
	{"a rank too high", ranked(1)},
	{"the median for the rank wanted", func(q *perf.CalibrationQuestion, a *perf.Calibration) {
		rank, _ := rankOf(len(a.Judged), q.Coverage)
		ranked(len(a.Judged)/2-rank)(q, a)
	}},
	{"factors are rounded down", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Factors {
			unit := math.Pow10(int(math.Floor(math.Log10(a.Factors[i].Factor))) - 3)
			a.Factors[i].Factor -= unit
		}
	}},
	{"a chance of n where n+1 count", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Factors {
			a.Factors[i].Holds *= float64(len(a.Judged)+1) / float64(len(a.Judged))
		}
	}},
	{"times without their factor", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Factors {
			a.Factors[i].MeanSeconds /= a.Factors[i].Factor
		}
	}},
	{"the factor with waiting for the one without", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Factors {
			a.Factors[i].Running = &a.Factors[i].Factor
		}
	}},
	{"the smallest factor is recommended", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Factors {
			if a.Factors[i].Factor < a.Recommends.Factor {
				a.Recommends = &a.Factors[i]
			}
		}
	}},
	{"lower for upper", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		a.Fit.Below, a.Fit.Above = a.Fit.Above, a.Fit.Below
	}},
	{"what is above counts as within", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		a.Fit.Within, a.Fit.Above = a.Fit.Within+a.Fit.Above, 0
	}},
	{"the lower of two medians", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		ratios := ratiosOf(a, capacity.AverageBound)
		a.Fit.MedianBias = ratios[(len(ratios)-1)/2] - 1
	}},
	{"the mean bias against the upper bound", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		a.Fit.MeanBias = 0
		for _, x := range ratiosOf(a, capacity.UpperBound) {
			a.Fit.MeanBias += (x - 1) / float64(len(a.Judged))
		}
	}},
	{"the worst by seconds", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		furthest := 0.0
		for _, j := range a.Judged {
			missed := j.UpperSeconds
			if j.Place == perf.BelowLower {
				missed = j.LowerSeconds
			}
			if off := math.Abs(j.Seconds - missed); j.Place != perf.Within && off > furthest {
				furthest, a.Fit.Worst = off, &perf.Miss{ID: j.ID, At: j.At, Seconds: j.Seconds, BoundSeconds: missed, Off: j.Seconds/missed - 1}
			}
		}
	}},
	{"bands overlap", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for i := range a.Bands[1:] {
			a.Bands[i].ToSlots = a.Bands[i+1].FromSlots
		}
	}},
	{"one band less", func(_ *perf.CalibrationQuestion, a *perf.Calibration) { a.Bands = a.Bands[:len(a.Bands)-1] }},
	{"waiting with the overhead", func(q *perf.CalibrationQuestion, a *perf.Calibration) {
		var waited []float64
		for _, j := range a.Judged {
			if j.IdleSeconds != nil {
				waited = append(waited, min(*j.IdleSeconds, j.Seconds))
			}
		}
		if a.Waiting != nil {
			a.Waiting.MedianSeconds = middle(waited)
		}
	}},
	{"the slowest wait for the ninth of ten", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		for _, j := range a.Judged {
			if j.IdleSeconds != nil {
				a.Waiting.P90Seconds = max(a.Waiting.P90Seconds, min(*j.IdleSeconds, j.Seconds))
			}
		}
	}},
	{"the other tail", func(_ *perf.CalibrationQuestion, a *perf.Calibration) {
		if a.Tested != nil {
			a.Tested.Chance = 1 - a.Tested.Chance
		}
	}},
	{"fewer held, not as few", func(q *perf.CalibrationQuestion, a *perf.Calibration) {
		if t := a.Tested; t != nil && t.Held > 0 {
			t.Chance = float(atMost(t.Held-1, t.Executions, number(q.Coverage)))
		}
	}},
	{"a test with hindsight", func(q *perf.CalibrationQuestion, a *perf.Calibration) {
		if a.Tested == nil {
			return
		}
		a.Tested.Held = 0
		for _, j := range a.Judged[needed(q.Coverage):] {
			if j.Seconds <= a.Recommends.Factor*j.PlannedSeconds(a.Recommends.Bound) {
				a.Tested.Held++
			}
		}
		a.Tested.Coverage = float64(a.Tested.Held) / float64(a.Tested.Executions)
		a.Tested.Chance = float(atMost(a.Tested.Held, a.Tested.Executions, number(q.Coverage)))
	}},
	{"no test", func(_ *perf.CalibrationQuestion, a *perf.Calibration) { a.Tested = nil }},
	{"no warning", func(_ *perf.CalibrationQuestion, a *perf.Calibration) { a.Warnings = []capacity.Warning{} }},
}

func TestPlantedFaultsOfCalibrations(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 7))
	differ := make([]int, len(answerFaults))
	for range plantest.Trials(30, 2000) {
		q := drawnCalibration(r)
		question, right := answeredCalibration(t, q)
		for i, f := range answerFaults {
			a, err := perf.Calibrated(q)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Judged) == 0 {
				break
			}
			f.fault(&q, &a)
			a.Facts = a.Retold()
			text := marshalled(a)
			if alikeTrees(tree(text), tree(right)) {
				continue
			}
			differ[i]++
			if report, err := Answer(question, text, Options{}); err == nil && report.Accepted() {
				t.Fatalf("with the fault %q this passes:\n%s\n%s\n%s\nright is\n%s", f.name, report, question, text, right)
			}
		}
	}
	for i, f := range answerFaults {
		if differ[i] == 0 {
			t.Errorf("the fault %q changes no answer", f.name)
		}
	}
	t.Log(differ)
}

// Every figure, word, unit and place of calibrations is looked at.
func TestEveryChangeOfACalibrationIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 8))
	var all []mutated
	for range plantest.Trials(6, 300) {
		question, answer := answeredCalibration(t, drawnCalibration(r))
		all = append(all, mutated{"calibration", answer, func(text []byte) bool {
			report, err := Answer(question, text, Options{})
			return err == nil && report.Accepted()
		}})
	}
	t.Attr("R4", changesAreFound(t, r, all, plantest.Trials(30, 1000)))
}
