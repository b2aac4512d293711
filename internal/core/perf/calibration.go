package perf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// Measured is one past execution of a class that succeeded.
type Measured struct {
	ID          string    `json:"id,omitempty"`
	At          time.Time `json:"submitted_at"`
	Seconds     float64   `json:"seconds"`             // from submission to end, including waiting for slots
	MapSlots    int64     `json:"map_slots,omitempty"` // largest number of concurrent attempts of the phase; 0 means unknown
	ReduceSlots int64     `json:"reduce_slots,omitempty"`
	IdleSeconds *float64  `json:"idle_s,omitempty"` // part of Seconds in which no attempt ran; nil means unknown
}

// Place is the place of a measured time among the bounds.
type Place string

// The places. A time equal to a bound lies within.
const (
	BelowLower Place = "below"
	Within     Place = "within"
	AboveUpper Place = "above"
)

// Judged is an execution with the model's times for the slots it had.
type Judged struct {
	Measured
	LowerSeconds   float64 // at least the overhead
	AverageSeconds float64
	UpperSeconds   float64
	Place          Place

	planned [3]float64 // times used by plans, by bound (see planBounds)
}

// planBounds lists the bounds that a factor can apply to; the first is chosen unless another is clearly better.
var planBounds = [3]capacity.Bound{capacity.AverageBound, capacity.LowerBound, capacity.UpperBound}

// PlannedSeconds returns the time that a plan expects of the execution under a bound. Unlike the shown bound, Lower
// may fall below the overhead and even below 0 (E7).
func (j Judged) PlannedSeconds(bound capacity.Bound) float64 {
	return j.planned[slices.Index(planBounds[:], bound)]
}

// ratio returns the measured time as a multiple of a bound's planned time. No factor makes a planned time of 0 hold.
func (j Judged) ratio(bound int) float64 {
	if !(j.planned[bound] > 0) {
		return math.Inf(1)
	}
	return j.Seconds / j.planned[bound]
}

// Judge compares an execution with a class's demands. Its error is a sentence that explains why that is impossible.
func Judge(d JobDemands, overheadSeconds float64, m Measured) (Judged, error) {
	j := Judged{Measured: m}
	switch {
	case !(m.Seconds > 0) || math.IsInf(m.Seconds, 0):
		return j, fmt.Errorf("it took %g s, which is no time", m.Seconds)
	case m.MapSlots < 0 || m.ReduceSlots < 0:
		return j, fmt.Errorf("it had %d map and %d reduce slots", m.MapSlots, m.ReduceSlots)
	case m.MapSlots == 0 && d.Average.MapWorkSeconds > 0:
		return j, errors.New(words.NoMapSlots)
	case m.ReduceSlots == 0 && d.Average.ReduceWorkSeconds > 0:
		return j, errors.New(words.NoReduceSlots)
	}
	for i, demand := range [...]capacity.Demand{d.Average, d.Lower, d.Upper} {
		j.planned[i] = Time(demand, 1, float64(m.MapSlots), float64(m.ReduceSlots))
	}
	j.LowerSeconds = max(j.PlannedSeconds(capacity.LowerBound), overheadSeconds)
	j.AverageSeconds, j.UpperSeconds = j.PlannedSeconds(capacity.AverageBound), j.PlannedSeconds(capacity.UpperBound)
	if !(j.AverageSeconds > 0) || !(j.UpperSeconds > 0) || math.IsInf(j.AverageSeconds+j.UpperSeconds+j.LowerSeconds, 0) || math.IsNaN(j.LowerSeconds) {
		return j, errors.New(words.NoTimes(j.LowerSeconds, j.AverageSeconds, j.UpperSeconds))
	}
	switch {
	case above(m.Seconds, j.UpperSeconds):
		j.Place = AboveUpper
	case above(j.LowerSeconds, m.Seconds):
		j.Place = BelowLower
	default:
		j.Place = Within
	}
	return j, nil
}

// Calibration compares a class's measured execution times with its bounds, and recommends a bound and factor to plan
// with.
//
// Executions count from their submission, as deadlines do. The bounds count from the first slot, and of the start and
// the end they include only the profile's overhead. So the factors include waiting for slots, as much as the
// executions had.
type Calibration struct {
	Coverage   float64    `json:"coverage"` // part of executions that should keep their calibrated time
	From       *time.Time `json:"from"`     // the first execution's submission; null without executions
	Until      *time.Time `json:"until"`    // the last execution's submission
	Fit        Fit        `json:"fit"`
	Bands      []Band     `json:"bands"`
	Waiting    *Waiting   `json:"waiting"` // null means unknown
	Factors    []Factor   `json:"factors"`
	Recommends *Factor    `json:"recommended"` // null without executions
	Tested     *Tested    `json:"tested"`      // null with too few executions

	LeftOut  int64              `json:"left_out"` // executions that cannot be judged
	Warnings []capacity.Warning `json:"warnings"`
	Facts    words.Facts        `json:"facts"`
	Judged   []Judged           `json:"-"` // by submission
}

// Fit counts measured times by their place among the bounds. Shares and biases are proportions.
type Fit struct {
	Executions int64   `json:"executions"`
	Below      float64 `json:"below"`
	Within     float64 `json:"within"`
	Above      float64 `json:"above"`
	MeanBias   float64 `json:"mean_bias"` // of measured/average - 1
	MedianBias float64 `json:"median_bias"`
	Worst      *Miss   `json:"worst"` // null when all lie within
}

// Miss is an execution outside its bounds.
type Miss struct {
	ID           string    `json:"id"`
	At           time.Time `json:"at"`
	Seconds      float64   `json:"seconds"`
	BoundSeconds float64   `json:"bound_s"` // the missed bound
	Off          float64   `json:"off"`     // measured/bound - 1
}

// Band is the fit of the executions with a range of slots, counted in the phase that had more.
type Band struct {
	FromSlots int64 `json:"from_slots"`
	ToSlots   int64 `json:"to_slots"`
	Fit
}

// Waiting holds the executions' waiting times for slots: the time in which nothing of them ran, less the overhead.
type Waiting struct {
	Executions    int64   `json:"executions"` // with known waiting times
	MedianSeconds float64 `json:"p50_s"`
	P90Seconds    float64 `json:"p90_s"`
	MedianShare   float64 `json:"p50_share"` // of the measured time
}

// Factor makes a bound hold: the calibrated time is Factor times the bound's.
type Factor struct {
	Bound       capacity.Bound `json:"bound"`
	Factor      float64        `json:"factor"`
	MeanSeconds float64        `json:"mean_s"` // mean calibrated time of the executions
	// Holds is the probability that a further execution like these ends within its calibrated time.
	Holds float64 `json:"holds"`
	// Running is the factor without waiting for slots; null means unknown.
	Running *float64 `json:"running_factor"`
}

// Tested reports the success of the recommendation on executions it had not seen. Each later execution was compared
// with the recommendation of those before it.
type Tested struct {
	Executions int64   `json:"executions"`
	Held       int64   `json:"held"`
	Coverage   float64 `json:"coverage"`
	// Chance is the probability that so few held, or fewer, if each held with the wanted coverage.
	Chance float64 `json:"chance"`
}

const (
	// DefaultCoverage is the part of executions that should keep their calibrated time.
	DefaultCoverage = 0.95
	minCoverage     = 0.5
	maxCoverage     = 0.999
	// MaxCalibrated bounds the executions of a calibration; the latest count. Older ones say little of the future,
	// and the time for testing grows with the square of the number.
	MaxCalibrated = 5_000
	maxBands      = 4
	// chooseFrom is the number of executions needed to recommend another bound than the average. muchCloser is the
	// largest relative spread that its ratios may have, so that mere chance does not decide.
	chooseFrom = 40
	muchCloser = 0.97
	longWait   = 0.1 // part of an execution's time from which waiting is reported
	// unlikely is the probability below which a deviation is reported.
	unlikely = 0.01
)

// Codes of a calibration's warnings.
const (
	TooFewExecutionsWarning = "too_few_executions"
	LeftOutWarning          = "executions_left_out"
	NotHeldWarning          = "calibration_did_not_hold"
	WaitingWarning          = "waiting_for_slots"
)

// Calibrate compares executions with a class's demands, in any order. Coverage is the part of further executions that
// should keep their calibrated times; 0 means DefaultCoverage.
func Calibrate(d JobDemands, overheadSeconds float64, executions []Measured, coverage float64) (Calibration, error) {
	if coverage == 0 {
		coverage = DefaultCoverage
	}
	if !(coverage >= minCoverage && coverage <= maxCoverage) {
		return Calibration{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/coverage", Code: "out_of_range",
			Detail: fmt.Sprintf("The coverage is %g; it must be from %g to %g.", coverage, minCoverage, maxCoverage)}}}
	}
	c := Calibration{Coverage: coverage, Bands: []Band{}, Factors: []Factor{}, Warnings: []capacity.Warning{}, Facts: words.Facts{}}
	var why string
	for _, m := range executions {
		j, err := Judge(d, overheadSeconds, m)
		if err != nil {
			if c.LeftOut++; why == "" {
				why = words.OfExecution(m.ID, err.Error())
			}
			continue
		}
		c.Judged = append(c.Judged, j)
	}
	slices.SortStableFunc(c.Judged, func(a, b Judged) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Seconds, b.Seconds))
	})
	c.Judged = c.Judged[max(0, len(c.Judged)-MaxCalibrated):]
	if c.LeftOut > 0 {
		c.warn(LeftOutWarning, words.LeftOut(c.LeftOut, why))
	}
	if len(c.Judged) == 0 {
		c.warn(TooFewExecutionsWarning, words.NoExecution)
		return c, nil
	}
	from, until := c.Judged[0].At, c.Judged[len(c.Judged)-1].At
	c.From, c.Until = &from, &until
	c.Fit, c.Bands = fit(c.Judged), bands(c.Judged)
	c.recommend(overheadSeconds)
	c.tellWaiting(overheadSeconds)
	c.test()
	c.Facts = c.Retold()
	return c, nil
}

func (c *Calibration) warn(code, detail string) {
	c.Warnings = append(c.Warnings, capacity.Warning{Code: code, Detail: detail})
}

func fit(js []Judged) Fit {
	n := float64(len(js))
	f := Fit{Executions: int64(len(js))}
	biases := make([]float64, len(js))
	furthest := 0.0
	for i, j := range js {
		missed := 0.0
		switch j.Place {
		case Within:
			f.Within++
		case BelowLower:
			f.Below++
			missed = j.LowerSeconds
		case AboveUpper:
			f.Above++
			missed = j.UpperSeconds
		}
		// Half of a bound is as far off as twice a bound.
		if far := math.Abs(math.Log(j.Seconds / missed)); missed > 0 && far > furthest {
			furthest = far
			f.Worst = &Miss{ID: j.ID, At: j.At, Seconds: j.Seconds, BoundSeconds: missed, Off: j.Seconds/missed - 1}
		}
		biases[i] = j.Seconds/j.AverageSeconds - 1
		f.MeanBias += biases[i] / n
	}
	f.Below, f.Within, f.Above = f.Below/n, f.Within/n, f.Above/n
	slices.Sort(biases)
	f.MedianBias = Median(biases)
	return f
}

func (j Judged) slots() int64 { return max(j.MapSlots, j.ReduceSlots) }

// bands divides executions by their slots into a few parts of about the same size; those with equal slots stay
// together.
func bands(js []Judged) []Band {
	js = slices.Clone(js)
	slices.SortStableFunc(js, func(a, b Judged) int { return cmp.Compare(a.slots(), b.slots()) })
	all := []Band{}
	for from := 0; from < len(js); {
		parts := maxBands - len(all)
		to := from + (len(js)-from+parts-1)/parts
		for to < len(js) && js[to].slots() == js[to-1].slots() {
			to++
		}
		all = append(all, Band{js[from].slots(), js[to-1].slots(), fit(js[from:to])})
		from = to
	}
	return all
}

// conformalRank returns a rank among n sorted ratios. The next ratio lies below the ratio of that rank with the
// wanted probability, if all n+1 came in a random order. It is the smallest k with k/(n+1) at least that. With too
// few ratios there is none, and the largest must do.
func conformalRank(n int, coverage float64) (k int, enough bool) {
	k = int(math.Ceil(float64(n+1)*coverage - 1e-9)) // 100*0.55 is a rounding above 55
	return min(k, n), k <= n
}

// minExecutions returns the number of executions that a calibration for this coverage needs.
func minExecutions(coverage float64) int {
	n := max(1, int(coverage/(1-coverage))-2)
	for {
		if _, enough := conformalRank(n, coverage); enough {
			return n
		}
		n++
	}
}

// factorOf rounds a ratio for a recommendation: to four digits, never down.
func factorOf(ratio float64) float64 {
	if math.IsInf(ratio, 0) || ratio <= 0 {
		return ratio
	}
	unit := math.Pow(10, math.Floor(math.Log10(ratio))-3)
	f := math.Ceil(ratio/unit*(1-1e-12)) * unit
	// As a decimal it is the number nearest to the four digits; it must not lie below the ratio.
	return max(roundTo(f, unit), ratio*(1-1e-12))
}

func roundTo(f, unit float64) float64 {
	if unit >= 1 {
		return math.Round(f/unit) * unit
	}
	per := math.Round(1 / unit)
	return math.Round(f*per) / per
}

// ratios holds the executions' times as multiples of a bound's planned times.
type ratios struct {
	logs    []float64 // by size
	planned float64   // total seconds
}

func (r *ratios) add(j Judged, bound int) {
	log := math.Log(j.ratio(bound))
	at, _ := slices.BinarySearch(r.logs, log)
	r.logs, r.planned = slices.Insert(r.logs, at, log), r.planned+j.planned[bound]
}

// factor returns the conformal factor for a coverage.
func (r *ratios) factor(coverage float64) float64 {
	rank, _ := conformalRank(len(r.logs), coverage)
	return factorOf(math.Exp(r.logs[rank-1]))
}

// spread returns the mean distance from the median.
func (r *ratios) spread() (s float64) {
	n := len(r.logs)
	for i, log := range r.logs[:n/2] {
		s += (r.logs[n-1-i] - log) / float64(n)
	}
	return s
}

// choose returns the bound to recommend: the one whose ratios lie closest together, so that one factor fits them all
// and the calibrated times are short. Choosing the one with the shortest calibrated times would be biased, because
// they depend on few slow executions. With 20 executions only 93.4 of 100 calibrations would then keep a promise of
// 95.2.
func choose(all *[len(planBounds)]ratios) int {
	best := 0
	if len(all[0].logs) < chooseFrom {
		return best
	}
	for b := range all {
		if all[b].spread() < muchCloser*all[best].spread() {
			best = b
		}
	}
	return best
}

// recommend computes the factor of each bound and recommends a bound.
func (c *Calibration) recommend(overheadSeconds float64) {
	n := len(c.Judged)
	rank, enough := conformalRank(n, c.Coverage)
	if !enough {
		c.warn(TooFewExecutionsWarning, words.TooFewExecutions(n, c.Coverage, minExecutions(c.Coverage)))
	}
	var all, running [len(planBounds)]ratios
	for b, bound := range planBounds {
		for _, j := range c.Judged {
			all[b].add(j, b)
			if waited, known := j.waited(overheadSeconds); known {
				j.Seconds -= waited
				running[b].add(j, b)
			}
		}
		f := Factor{Bound: bound, Factor: all[b].factor(c.Coverage), Holds: float64(rank) / float64(n+1)}
		if f.MeanSeconds = f.Factor * all[b].planned / float64(n); math.IsInf(f.Factor, 0) || !(f.MeanSeconds > 0) {
			continue
		}
		if len(running[b].logs) > 0 {
			if r := running[b].factor(c.Coverage); r > 0 && !math.IsInf(r, 0) {
				f.Running = &r
			}
		}
		c.Factors = append(c.Factors, f)
	}
	chosen := planBounds[choose(&all)]
	for i := range c.Factors {
		if c.Factors[i].Bound == chosen {
			c.Recommends = &c.Factors[i]
		}
	}
}

// tellWaiting reports waiting times in figures that few extreme ones do not move.
func (c *Calibration) tellWaiting(overheadSeconds float64) {
	var waited, shares []float64
	for _, j := range c.Judged {
		if w, known := j.waited(overheadSeconds); known {
			waited, shares = append(waited, w), append(shares, w/j.Seconds)
		}
	}
	if len(waited) == 0 {
		return
	}
	slices.Sort(waited)
	slices.Sort(shares)
	c.Waiting = &Waiting{Executions: int64(len(waited)), MedianSeconds: Median(waited), MedianShare: Median(shares),
		P90Seconds: waited[int(math.Ceil(0.9*float64(len(waited))))-1]}
	if c.Waiting.MedianShare > longWait {
		c.warn(WaitingWarning, words.WaitedLong(c.Waiting.MedianShare, c.Waiting.Executions, int64(len(c.Judged))))
	}
}

// waited returns an execution's waiting time for slots; of the time in which nothing ran, the overhead is the job's
// own.
func (j Judged) waited(overheadSeconds float64) (s float64, known bool) {
	if j.IdleSeconds == nil || !(*j.IdleSeconds >= 0) {
		return 0, false
	}
	return max(0, min(*j.IdleSeconds, j.Seconds)-overheadSeconds), true
}

// test compares each execution, once enough precede it, with the recommendation of those before it. That finds errors
// that the factors alone hide: a biased choice of bound, and run times that change over time. None of those submitted
// at the same moment is before another.
func (c *Calibration) test() {
	var t Tested
	var before [len(planBounds)]ratios
	for first, i := 0, 0; i < len(c.Judged); first = i {
		for i++; i < len(c.Judged) && c.Judged[i].At.Equal(c.Judged[first].At); i++ {
		}
		together := c.Judged[first:i]
		if first >= minExecutions(c.Coverage) {
			b := choose(&before)
			factor := before[b].factor(c.Coverage)
			for _, j := range together {
				if t.Executions++; !above(j.ratio(b), factor) {
					t.Held++
				}
			}
		}
		for _, j := range together {
			for b := range planBounds {
				before[b].add(j, b)
			}
		}
	}
	if t.Executions == 0 {
		return
	}
	t.Coverage = float64(t.Held) / float64(t.Executions)
	t.Chance = BinomialChance(float64(t.Executions), float64(t.Held), c.Coverage)
	c.Tested = &t
	if t.Chance < unlikely {
		c.warn(NotHeldWarning, words.CalibrationsFailed(t.Held, t.Executions, c.Coverage))
	}
}
