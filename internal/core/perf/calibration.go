package perf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
)

// Measured is one past execution of a class that ended well.
type Measured struct {
	ID          string
	At          time.Time // of its submission
	Seconds     float64   // from submission to end, so that waiting for slots is in it
	MapSlots    int64     // the most attempts of the phase at once
	ReduceSlots int64
	IdleSeconds *float64 // of Seconds, in which no attempt ran; nil is not on record
}

// Place is where a measured time lies among the bounds.
type Place string

// The places. What equals a bound lies within.
const (
	BelowLower Place = "below"
	Within     Place = "within"
	AboveUpper Place = "above"
)

// Judged is an execution with what the model says of it for the slots it had.
type Judged struct {
	Measured
	LowerSeconds   float64 // never below the overhead
	AverageSeconds float64
	UpperSeconds   float64
	Place          Place

	planned [3]float64 // the times that plans take, by bound (see planBounds)
}

// planBounds is the bounds that a factor can be for; the first is taken where others are hardly better.
var planBounds = [3]capacity.Bound{capacity.AverageBound, capacity.LowerBound, capacity.UpperBound}

// PlannedSeconds is what a plan takes the execution for under a bound. Lower may fall below the overhead and
// even below nothing (E7), where only the shown bound is raised.
func (j Judged) PlannedSeconds(bound capacity.Bound) float64 {
	return j.planned[slices.Index(planBounds[:], bound)]
}

// ratio is how many times a bound's planned time the execution took. No factor makes a time of nothing hold.
func (j Judged) ratio(bound int) float64 {
	if !(j.planned[bound] > 0) {
		return math.Inf(1)
	}
	return j.Seconds / j.planned[bound]
}

// Judge holds an execution against a class's demands; the error is a sentence that says why it cannot be.
func Judge(d JobDemands, overheadSeconds float64, m Measured) (Judged, error) {
	j := Judged{Measured: m}
	switch {
	case !(m.Seconds > 0) || math.IsInf(m.Seconds, 0):
		return j, fmt.Errorf("it took %g s, which is no time", m.Seconds)
	case m.MapSlots < 0 || m.ReduceSlots < 0:
		return j, fmt.Errorf("it had %d map and %d reduce slots", m.MapSlots, m.ReduceSlots)
	case m.MapSlots == 0 && d.Average.MapWorkSeconds > 0:
		return j, fmt.Errorf("how many of its maps ran at once is not on record")
	case m.ReduceSlots == 0 && d.Average.ReduceWorkSeconds > 0:
		return j, fmt.Errorf("how many of its reduces ran at once is not on record, and the class has reduces")
	}
	for i, demand := range [...]capacity.Demand{d.Average, d.Lower, d.Upper} {
		j.planned[i] = Time(demand, 1, float64(m.MapSlots), float64(m.ReduceSlots))
	}
	j.LowerSeconds = max(j.PlannedSeconds(capacity.LowerBound), overheadSeconds)
	j.AverageSeconds, j.UpperSeconds = j.PlannedSeconds(capacity.AverageBound), j.PlannedSeconds(capacity.UpperBound)
	if !(j.AverageSeconds > 0) || !(j.UpperSeconds > 0) || math.IsInf(j.AverageSeconds+j.UpperSeconds+j.LowerSeconds, 0) || math.IsNaN(j.LowerSeconds) {
		return j, fmt.Errorf("the class's bounds for its slots are no times: %g s, %g s and %g s", j.LowerSeconds, j.AverageSeconds, j.UpperSeconds)
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

// Calibration says how well a class's bounds fit what its executions took, and what to plan with.
//
// Executions count from their submission, as deadlines do; the bounds count from the first slot and know of
// the start and the end only the profile's overhead. Waiting for slots is therefore in the factors, as much
// of it as the executions had.
type Calibration struct {
	Coverage   float64    `json:"coverage"` // the part of executions that a calibrated time is to hold for
	From       *time.Time `json:"from"`     // the first execution's submission; null without executions
	Until      *time.Time `json:"until"`    // the last one's
	Fit        Fit        `json:"fit"`
	Bands      []Band     `json:"bands"`
	Waiting    *Waiting   `json:"waiting"` // null is not on record
	Factors    []Factor   `json:"factors"`
	Recommends *Factor    `json:"recommended"` // null without executions
	Tested     *Tested    `json:"tested"`      // null with too few executions

	LeftOut  int64              `json:"left_out"` // executions that nothing can be said of
	Warnings []capacity.Warning `json:"warnings"`
	Judged   []Judged           `json:"-"` // by submission
}

// Fit is how measured times lie among the bounds. Shares and biases are proportions.
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
	BoundSeconds float64   `json:"bound_s"` // that it missed
	Off          float64   `json:"off"`     // measured/bound - 1
}

// Band is the fit of the executions that had so many slots, of the phase that had more.
type Band struct {
	FromSlots int64 `json:"from_slots"`
	ToSlots   int64 `json:"to_slots"`
	Fit
}

// Waiting is how long executions waited for slots: time in which nothing of them ran, less the overhead.
type Waiting struct {
	Executions    int64   `json:"executions"` // of which it is on record
	MedianSeconds float64 `json:"p50_s"`
	P90Seconds    float64 `json:"p90_s"`
	MedianShare   float64 `json:"p50_share"` // of the measured time
}

// Factor makes a bound hold: the calibrated time is Factor times the bound's.
type Factor struct {
	Bound       capacity.Bound `json:"bound"`
	Factor      float64        `json:"factor"`
	MeanSeconds float64        `json:"mean_s"` // calibrated time of the executions on average
	// Holds is the chance that a further execution like these ends within its calibrated time.
	Holds float64 `json:"holds"`
	// Running is the factor with waiting for slots taken off the measured times; null is not on record.
	Running *float64 `json:"running_factor"`
}

// Tested is what the recommendation was worth on executions that it had not seen: each of the later ones was
// held against what those before it would have recommended.
type Tested struct {
	Executions int64   `json:"executions"`
	Held       int64   `json:"held"`
	Coverage   float64 `json:"coverage"`
	// Chance is that of so few held, or fewer, if each held with the coverage wanted.
	Chance float64 `json:"chance"`
}

const (
	// DefaultCoverage is the part of executions that a calibrated time is to hold for.
	DefaultCoverage = 0.95
	leastCoverage   = 0.5
	mostCoverage    = 0.999
	// MaxCalibrated is how many executions a calibration is made of, the latest; older ones say little of
	// what comes, and testing takes time that grows with their square.
	MaxCalibrated = 5_000
	maxBands      = 4
	// chooseFrom is how many executions are needed to recommend another bound than the average, and muchCloser
	// how much closer together its ratios must lie: what chance alone makes look better is not taken.
	chooseFrom = 40
	muchCloser = 0.97
	longWait   = 0.1 // the part of an execution's time from which waiting is told
	// unlikely is a chance below which something is told.
	unlikely = 0.01
)

// Codes of a calibration's warnings.
const (
	TooFewExecutionsWarning = "too_few_executions"
	LeftOutWarning          = "executions_left_out"
	NotHeldWarning          = "calibration_did_not_hold"
	WaitingWarning          = "waiting_for_slots"
)

// Calibrate compares executions with a class's demands, whatever their order. Coverage is the part of further
// executions that calibrated times are to hold for; 0 is DefaultCoverage.
func Calibrate(d JobDemands, overheadSeconds float64, executions []Measured, coverage float64) (Calibration, error) {
	if coverage == 0 {
		coverage = DefaultCoverage
	}
	if !(coverage >= leastCoverage && coverage <= mostCoverage) {
		return Calibration{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/coverage", Code: "out_of_range",
			Detail: fmt.Sprintf("The coverage is %g; it must be from %g to %g.", coverage, leastCoverage, mostCoverage)}}}
	}
	c := Calibration{Coverage: coverage, Bands: []Band{}, Factors: []Factor{}, Warnings: []capacity.Warning{}}
	var why string
	for _, m := range executions {
		j, err := Judge(d, overheadSeconds, m)
		if err != nil {
			if c.LeftOut++; why == "" {
				why = fmt.Sprintf("of %.100s: %s", cmp.Or(m.ID, "one without an id"), err)
			}
			continue
		}
		c.Judged = append(c.Judged, j)
	}
	slices.SortFunc(c.Judged, func(a, b Judged) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Seconds, b.Seconds))
	})
	c.Judged = c.Judged[max(0, len(c.Judged)-MaxCalibrated):]
	if c.LeftOut > 0 {
		c.warn(LeftOutWarning, "Nothing can be said of %d of the executions, for instance %s.", c.LeftOut, why)
	}
	if len(c.Judged) == 0 {
		c.warn(TooFewExecutionsWarning, "There is no execution to compare with the bounds; import the class's history.")
		return c, nil
	}
	from, until := c.Judged[0].At, c.Judged[len(c.Judged)-1].At
	c.From, c.Until = &from, &until
	c.Fit, c.Bands = fit(c.Judged), bands(c.Judged)
	c.recommend(overheadSeconds)
	c.tellWaiting(overheadSeconds)
	c.test()
	return c, nil
}

func (c *Calibration) warn(code, format string, args ...any) {
	c.Warnings = append(c.Warnings, capacity.Warning{Code: code, Detail: fmt.Sprintf(format, args...)})
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
	f.MedianBias = median(biases)
	return f
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (j Judged) slots() int64 { return max(j.MapSlots, j.ReduceSlots) }

// bands divides executions by their slots into a few parts of about the same size; those with the same
// number stay together.
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

// conformalRank is the place, among n ratios by size, of the one below which the next lies with the chance
// wanted, if all n+1 came in a random order: the smallest k with k/(n+1) at least that. With too few ratios
// there is none, and the largest has to do.
func conformalRank(n int, coverage float64) (k int, enough bool) {
	k = int(math.Ceil(float64(n+1)*coverage - 1e-9)) // 100*0.55 is a rounding above 55
	return min(k, n), k <= n
}

// leastExecutions is how many a calibration for this coverage needs.
func leastExecutions(coverage float64) int {
	n := max(1, int(coverage/(1-coverage))-2)
	for {
		if _, enough := conformalRank(n, coverage); enough {
			return n
		}
		n++
	}
}

// factorOf is a ratio as it is recommended: four digits, never less.
func factorOf(ratio float64) float64 {
	if math.IsInf(ratio, 0) || ratio <= 0 {
		return ratio
	}
	unit := math.Pow(10, math.Floor(math.Log10(ratio))-3)
	f := math.Ceil(ratio/unit*(1-1e-12)) * unit
	// Written in decimals it is the number nearest to the four digits; it must not lie below the ratio.
	return max(roundTo(f, unit), ratio*(1-1e-12))
}

func roundTo(f, unit float64) float64 {
	if unit >= 1 {
		return math.Round(f/unit) * unit
	}
	per := math.Round(1 / unit)
	return math.Round(f*per) / per
}

// ratios is how many times a bound's planned times executions took.
type ratios struct {
	logs    []float64 // by size
	planned float64   // seconds in all
}

func (r *ratios) add(j Judged, bound int) {
	log := math.Log(j.ratio(bound))
	at, _ := slices.BinarySearch(r.logs, log)
	r.logs, r.planned = slices.Insert(r.logs, at, log), r.planned+j.planned[bound]
}

// factor is the conformal one.
func (r *ratios) factor(coverage float64) float64 {
	rank, _ := conformalRank(len(r.logs), coverage)
	return factorOf(math.Exp(r.logs[rank-1]))
}

// spread is the mean distance from the median.
func (r *ratios) spread() (s float64) {
	n := len(r.logs)
	for i, log := range r.logs[:n/2] {
		s += (r.logs[n-1-i] - log) / float64(n)
	}
	return s
}

// choose is the bound to recommend: the one whose ratios lie closest together, so that one factor fits them all
// and the times it makes are short. Taking the one whose calibrated times are shortest would flatter, because
// they hang on few slow executions: of 20 executions' calibrations 93.4 of 100 would hold that promise 95.2.
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

// recommend finds the factor of each bound and the bound to take.
func (c *Calibration) recommend(overheadSeconds float64) {
	n := len(c.Judged)
	rank, enough := conformalRank(n, c.Coverage)
	if !enough {
		c.warn(TooFewExecutionsWarning, "There are %d executions; a time that holds for %g of 100 needs %d. The factor is that of the slowest, which a further execution keeps in %.0f of 100 cases.",
			n, 100*c.Coverage, leastExecutions(c.Coverage), 100*float64(n)/float64(n+1))
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

// tellWaiting says how long executions waited, by figures that few extreme ones do not move.
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
	c.Waiting = &Waiting{Executions: int64(len(waited)), MedianSeconds: median(waited), MedianShare: median(shares),
		P90Seconds: waited[int(math.Ceil(0.9*float64(len(waited))))-1]}
	if c.Waiting.MedianShare > longWait {
		c.warn(WaitingWarning, "Half of the executions spent %.0f of 100 seconds or more waiting for slots, which is in the factors. Where plans give the class its slots at once, running_factor is nearer to the truth.", 100*c.Waiting.MedianShare)
	}
}

// waited is how long an execution waited for slots; of the time in which nothing ran, the overhead is the job's own.
func (j Judged) waited(overheadSeconds float64) (s float64, known bool) {
	if j.IdleSeconds == nil || !(*j.IdleSeconds >= 0) {
		return 0, false
	}
	return max(0, min(*j.IdleSeconds, j.Seconds)-overheadSeconds), true
}

// test holds each execution, from the first that has enough before it, against what those before it would
// have recommended. That finds what the factors alone cannot: a choice of bound that flatters, and run times
// that change as time goes by.
func (c *Calibration) test() {
	least := leastExecutions(c.Coverage)
	if len(c.Judged) <= least {
		return
	}
	t := Tested{Executions: int64(len(c.Judged) - least)}
	var before [len(planBounds)]ratios
	for i, j := range c.Judged {
		if i >= least {
			if b := choose(&before); !above(j.ratio(b), before[b].factor(c.Coverage)) {
				t.Held++
			}
		}
		for b := range planBounds {
			before[b].add(j, b)
		}
	}
	t.Coverage = float64(t.Held) / float64(t.Executions)
	t.Chance = distuv.Binomial{N: float64(t.Executions), P: c.Coverage}.CDF(float64(t.Held))
	c.Tested = &t
	if t.Chance < unlikely {
		c.warn(NotHeldWarning, "Calibrations made as the executions came would have held for %d of the %d that followed, %.0f of 100 instead of %g: the run times change as time goes by. Calibrate with the latest executions alone, and look at what changed.",
			t.Held, t.Executions, 100*t.Coverage, 100*c.Coverage)
	}
}
