package recheck

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
)

// classMembers are those that the report of a stored class has in addition.
var (
	classMembers    = []string{"class", "job", "profile", "unfit", "in_use", "adoption"}
	classNotChecked = []string{
		"which executions are the class's",
		"executions behind the calibration in use that the question does not have",
		"the coverage it was adopted for, where no execution is later",
		"whether and since when executions drift from it"}
)

// ofExecutions takes what a class's report says of the class off an answer. It reports whether there was any.
func ofExecutions(answer []byte) ([]byte, bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(answer, &all) != nil || all["class"] == nil {
		return answer, false
	}
	for _, name := range classMembers {
		delete(all, name)
	}
	return marshalled(all), true
}

const (
	lowest, average, uppermost = 0, 1, 2 // the bounds, as proof has them
	mostBands                  = 4
	closest                    = 0.97 // of the average's spread; that of another bound must be smaller
	comparable                 = 40   // executions, from which on bounds are compared
	hair                       = 1e-12
)

var boundNames = [...]string{lowest: "lower", average: "average", uppermost: "upper"}

// tried is the order in which bounds are compared and listed.
var tried = [...]int{average, lowest, uppermost}

// timed is an execution with the times of the three bounds on its slots.
type timed struct {
	perf.Measured
	bounds [3]float64
	shown  float64 // the lower bound, which is the overhead at least
	waited float64 // for slots; below 0 where it is not on record
}

// ratio is a time as a multiple of a bound's, infinite where the bound is no time.
func (e *timed) ratio(bound int, seconds float64) float64 {
	if e.bounds[bound] <= 0 {
		return math.Inf(1)
	}
	return seconds / e.bounds[bound]
}

// missed is the bound that the execution lies outside of, or 0.
func (e *timed) missed() float64 {
	switch {
	case e.Seconds > e.bounds[uppermost]*(1+near):
		return e.bounds[uppermost]
	case e.shown > e.Seconds*(1+near):
		return e.shown
	}
	return 0
}

// executed are executions by submission, and those that nothing can be said of.
type executed struct {
	all  []timed
	left int64
	why  string // of the first
}

func executionsOf(q *perf.CalibrationQuestion) (x executed) {
	b := proof.BoundsOf(&q.Profile)
	overhead := q.Profile.OverheadSeconds
	for _, m := range q.Executions {
		e, why := timed{Measured: m, waited: -1}, ""
		switch {
		case b.HasMaps() && m.MapSlots == 0:
			why = words.NoMapSlots
		case b.HasReduces() && m.ReduceSlots == 0:
			why = words.NoReduceSlots
		default:
			for i, t := range b.Times(m.MapSlots, m.ReduceSlots) {
				e.bounds[i] = float(t)
			}
			if e.shown = max(e.bounds[lowest], overhead); e.bounds[average] <= 0 || e.bounds[uppermost] <= 0 {
				why = words.NoTimes(e.shown, e.bounds[average], e.bounds[uppermost])
			}
		}
		if m.IdleSeconds != nil {
			e.waited = max(0, min(*m.IdleSeconds, m.Seconds)-overhead)
		}
		switch {
		case why == "":
			x.all = append(x.all, e)
		case x.left == 0:
			x.left, x.why = 1, words.OfExecution(m.ID, why)
		default:
			x.left++
		}
	}
	slices.SortStableFunc(x.all, func(a, b timed) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Seconds, b.Seconds))
	})
	return x
}

// calibration checks how well bounds fit executions, and the factors with which they hold.
func (c *checking) calibration(q perf.CalibrationQuestion, a perf.Calibration, got any) {
	x := executionsOf(&q)
	n := len(x.all)
	want := map[string]any{"coverage": about(number(q.Coverage)), "from": nil, "until": nil, "left_out": exact(whole(x.left)),
		"fit": fitted(x.all, a.Fit.Worst), "waiting": waiting(x.all)}
	if n > 0 {
		want["from"], want["until"] = x.all[0].At, x.all[n-1].At
	}
	bands := []any{}
	for i, band := range bandsOf(x.all) {
		var said perf.Band
		if i < len(a.Bands) {
			said = a.Bands[i]
		}
		row := fitted(band, said.Worst)
		row["from_slots"], row["to_slots"] = exact(whole(slotsOf(&band[0]))), exact(whole(slotsOf(&band[len(band)-1])))
		bands = append(bands, row)
	}
	want["bands"] = bands
	c.differ("", got, want)
	c.end(ExecutionsCheck, "Places, biases, bands and waiting follow from %d executions and the bounds on their slots; %d are left out.",
		n, x.left)

	factors, chosen := factorsOf(x.all, q.Coverage)
	rows, recommended := []any{}, any(nil)
	for _, b := range tried {
		row, there := factors[b]
		if !there {
			continue
		}
		rows = append(rows, row)
		if chosen[b] && (recommended == nil || a.Recommends != nil && string(a.Recommends.Bound) == boundNames[b]) {
			recommended = row
		}
	}
	c.differ("", got, map[string]any{"factors": rows, "recommended": recommended})
	c.end(FactorsCheck, "With each factor its bound holds for as many executions as it must, and with none a digit smaller.")
	c.tested(x.all, &q, &a, got)
	c.listed(a.Facts, calibrationFigures(&a))
	if !c.tells() {
		c.end(SentencesCheck, "")
		return
	}
	told := a.Retold()
	c.differ("", got, map[string]any{"facts": tree(marshalled(told)), "warnings": tree(marshalled(x.warnings(&q, &a)))})
	c.end(SentencesCheck, "The warnings and the sentences of %d facts say the figures of the answer.", len(told))
}

// calibrationFigures are the figures of the facts, from the members that were checked.
func calibrationFigures(a *perf.Calibration) figures {
	among := perf.AmongBounds + "/"
	f := figures{among + "executions": whole(a.Fit.Executions), among + "within": number(a.Fit.Within),
		among + "below": number(a.Fit.Below), among + "above": number(a.Fit.Above)}
	if r := a.Recommends; r != nil {
		f[perf.PlanWith+" "+string(r.Bound)+"/factor"] = number(r.Factor)
	}
	if t := a.Tested; t != nil {
		f[perf.RecommendationsHeld+"/held"], f[perf.RecommendationsHeld+"/followed"] = whole(t.Held), whole(t.Executions)
		f[perf.RecommendationsHeld+"/coverage"] = number(t.Coverage)
	}
	if w := a.Waiting; w != nil {
		f[perf.WaitedForSlots+"/known"] = whole(w.Executions)
		f[perf.WaitedForSlots+"/median"], f[perf.WaitedForSlots+"/p90"] = number(w.MedianSeconds), number(w.P90Seconds)
	}
	return f
}

// fitted is the fit of executions. Of several that miss their bounds by as much, any may be named.
func fitted(all []timed, said *perf.Miss) map[string]any {
	n := max(1, float64(len(all)))
	var below, above, sum, furthest float64
	var biases []float64
	var worst *timed
	for i := range all {
		e := &all[i]
		missed := e.missed()
		if missed > e.Seconds {
			below++
		} else if missed > 0 {
			above++
		}
		biases = append(biases, e.Seconds/e.bounds[average]-1)
		sum += biases[i] / n
		far := 1.0
		if missed > 0 {
			far = max(missed/e.Seconds, e.Seconds/missed)
		}
		named := said != nil && said.ID == e.ID && said.At.Equal(e.At) && nearly(said.Seconds, e.Seconds)
		if missed > 0 && (far > furthest*(1+near) || named && far > furthest*(1-near)) {
			furthest, worst = far, e
		}
	}
	count := float64(len(all))
	row := map[string]any{"executions": exact(number(count)), "below": about(number(below / n)), "above": about(number(above / n)),
		"within": about(number((count - below - above) / n)), "mean_bias": about(number(sum)), "median_bias": about(number(middle(biases))), "worst": nil}
	if worst != nil {
		bound := worst.missed()
		row["worst"] = map[string]any{"id": worst.ID, "at": worst.At, "seconds": about(number(worst.Seconds)), "bound_s": about(number(bound)),
			"off": about(number(worst.Seconds/bound - 1))}
	}
	return row
}

// middle is the median; of none it is 0.
func middle(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func slotsOf(e *timed) int64 { return max(e.MapSlots, e.ReduceSlots) }

// bandsOf parts executions by their slots. A band ends where the slots change and it has its part of those that were
// left.
func bandsOf(all []timed) (bands [][]timed) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(slotsOf(&a), slotsOf(&b)) })
	from := 0
	for i := range all {
		ends := i+1 == len(all) || slotsOf(&all[i]) != slotsOf(&all[i+1])
		if ends && (i+1-from)*(mostBands-len(bands)) >= len(all)-from {
			bands = append(bands, all[from:i+1])
			from = i + 1
		}
	}
	return bands
}

// waiting are the times that executions waited for slots, or nil.
func waiting(all []timed) any {
	var waited, shares []float64
	for i := range all {
		if e := &all[i]; e.waited >= 0 {
			waited, shares = append(waited, e.waited), append(shares, e.waited/e.Seconds)
		}
	}
	n := len(waited)
	if n == 0 {
		return nil
	}
	half := middle(waited)
	return map[string]any{"executions": exact(whole(int64(n))), "p50_s": about(number(half)), "p90_s": about(number(waited[(9*n+9)/10-1])),
		"p50_share": about(number(middle(shares)))}
}

// rankOf is the place of the ratio below which the next of n+1 lies with the chance wanted; the last of n where there is none.
func rankOf(n int, coverage float64) (rank int, enough bool) {
	for k := 1; k <= n; k++ {
		if float64(k)+near >= float64(n+1)*coverage {
			return k, true
		}
	}
	return n, false
}

// fourDigits rounds up to four digits.
func fourDigits(x float64) *big.Rat {
	ratio, ten, unit := number(x*(1-hair)), whole(10), big.NewRat(1, 1)
	for ratio.Cmp(mul(unit, whole(10_000))) >= 0 {
		unit = mul(unit, ten)
	}
	for ratio.Cmp(mul(unit, whole(1000))) < 0 {
		unit = quo(unit, ten)
	}
	units := quo(ratio, unit)
	down := new(big.Int).Div(new(big.Int).Neg(units.Num()), units.Denom()) // of its opposite, so that it rounds up
	return mul(unit, new(big.Rat).SetInt(down.Neg(down)))
}

// closely is a figure that may be small; the least float is nothing.
func closely(x *big.Rat) figure {
	return figure{x, add(number(math.SmallestNonzeroFloat64), mul(number(near), abs(x)))}
}

// factor is the ratio of the rank wanted, rounded up; nil where no factor will do.
func factor(ratios []float64, coverage float64) *big.Rat {
	if len(ratios) == 0 {
		return nil
	}
	rank, _ := rankOf(len(ratios), coverage)
	if r := ratios[rank-1]; r > 0 && !math.IsInf(r, 0) {
		return fourDigits(r)
	}
	return nil
}

// factorsOf are the rows of the bounds that can be made to hold, and the bounds that may be recommended: more than one
// only where their spreads are too near to tell.
func factorsOf(all []timed, coverage float64) (rows map[int]map[string]any, chosen map[int]bool) {
	rows = map[int]map[string]any{}
	n := len(all)
	if n == 0 {
		return rows, nil
	}
	rank, _ := rankOf(n, coverage)
	var sorted [3][]float64
	for b := range sorted {
		var running []float64
		total := 0.0
		for i := range all {
			e := &all[i]
			sorted[b] = append(sorted[b], e.ratio(b, e.Seconds))
			if total += e.bounds[b] / float64(n); e.waited >= 0 {
				running = append(running, e.ratio(b, e.Seconds-e.waited))
			}
		}
		slices.Sort(sorted[b])
		slices.Sort(running)
		f := factor(sorted[b], coverage)
		if f == nil || total <= 0 {
			continue
		}
		row := map[string]any{"bound": boundNames[b], "factor": closely(f), "mean_s": closely(mul(f, number(total))),
			"holds": about(big.NewRat(int64(rank), int64(n+1))), "running_factor": nil}
		if r := factor(running, coverage); r != nil {
			row["running_factor"] = closely(r)
		}
		rows[b] = row
	}
	return rows, choices(&sorted)
}

// choices are the bounds that may be recommended for sorted ratios: the average, unless those of another lie much closer
// together.
func choices(sorted *[3][]float64) map[int]bool {
	if len(sorted[average]) < comparable {
		return map[int]bool{average: true}
	}
	var spreads [3]float64
	for b, ratios := range sorted {
		spreads[b] = spreadOf(ratios)
	}
	best := map[int]bool{average: true}
	for _, b := range tried[1:] {
		surely, perhaps := true, false
		for other := range best {
			limit := closest * spreads[other]
			slack := hair + near*limit
			surely = surely && spreads[b] < limit-slack
			perhaps = perhaps || limit > hair && spreads[b] < limit+slack // where all are alike no bound is closer
		}
		switch {
		case surely:
			best = map[int]bool{b: true}
		case perhaps:
			best[b] = true
		}
	}
	return best
}

// spreadOf is the mean distance of ratios from their median, in logarithms.
func spreadOf(sorted []float64) (s float64) {
	n := len(sorted)
	if math.IsInf(sorted[n-1], 1) {
		return math.Inf(1)
	}
	median := (math.Log(sorted[(n-1)/2]) + math.Log(sorted[n/2])) / 2
	for _, r := range sorted {
		s += math.Abs(math.Log(r)-median) / float64(n)
	}
	return s
}

// tested recommends anew for each execution, from those that were submitted before it.
func (c *checking) tested(all []timed, q *perf.CalibrationQuestion, a *perf.Calibration, got any) {
	var before [3][]float64
	n, surely, perhaps, earlier := int64(0), int64(0), int64(0), 0
	for i := range all {
		e := &all[i]
		held, may := true, false
		for ; all[earlier].At.Before(e.At); earlier++ {
			for b := range before {
				r := all[earlier].ratio(b, all[earlier].Seconds)
				at, _ := slices.BinarySearch(before[b], r)
				before[b] = slices.Insert(before[b], at, r)
			}
		}
		if earlier >= needed(q.Coverage) {
			n++
			for b := range choices(&before) {
				f := factor(before[b], q.Coverage)
				within := f != nil && e.ratio(b, e.Seconds) <= float(f)*(1+near)
				held, may = held && within, may || within
			}
			if held {
				surely++
			}
			if may {
				perhaps++
			}
		}
	}
	if n == 0 {
		c.differ("", got, map[string]any{"tested": nil})
		c.end(TestedCheck, "Too few executions are before others for a test.")
		return
	}
	held := surely
	if t := a.Tested; t != nil && t.Held >= surely && t.Held <= perhaps {
		held = t.Held
	}
	c.differ("", got, map[string]any{"tested": map[string]any{"executions": exact(whole(n)), "held": exact(whole(held)),
		"coverage": about(big.NewRat(held, n)), "chance": closely(atMost(held, n, number(q.Coverage)))}})
	c.end(TestedCheck, "Recommended anew before each of the last %d executions, the factor held for %d, and their chance is right.", n, held)
}

// needed is the number of executions from which on a factor keeps its promise.
func needed(coverage float64) int {
	for n := 1; ; n++ {
		if _, enough := rankOf(n, coverage); enough {
			return n
		}
	}
}

// atMost is the chance that at most k of n hold if each does with a chance p: the binomial's terms, one from the other.
func atMost(k, n int64, p *big.Rat) *big.Rat {
	real := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(128).SetRat(x) }
	term, total, rest := real(whole(1)), real(whole(0)), sub(whole(1), p)
	for range n {
		term.Mul(term, real(rest))
	}
	for i := int64(0); ; i++ {
		if total.Add(total, term); i == k {
			break
		}
		term.Mul(term, real(mul(big.NewRat(n-i, i+1), quo(p, rest))))
	}
	chance, _ := total.Rat(nil)
	return chance
}

// warnings are those that follow from the figures of the answer, which were checked.
func (x *executed) warnings(q *perf.CalibrationQuestion, a *perf.Calibration) []capacity.Warning {
	all := []capacity.Warning{}
	warn := func(is bool, code string, detail func() string) {
		if is {
			all = append(all, capacity.Warning{Code: code, Detail: detail()})
		}
	}
	n := len(x.all)
	_, enough := rankOf(n, q.Coverage)
	warn(x.left > 0, perf.LeftOutWarning, func() string { return words.LeftOut(x.left, x.why) })
	warn(n == 0, perf.TooFewExecutionsWarning, func() string { return words.NoExecution })
	warn(n > 0 && !enough, perf.TooFewExecutionsWarning, func() string { return words.TooFewExecutions(n, q.Coverage, needed(q.Coverage)) })
	warn(a.Waiting != nil && a.Waiting.MedianShare > 0.1, perf.WaitingWarning, func() string {
		return words.WaitedLong(a.Waiting.MedianShare, a.Waiting.Executions, a.Fit.Executions)
	})
	warn(a.Tested != nil && a.Tested.Chance < 0.01, perf.NotHeldWarning, func() string {
		return words.CalibrationsFailed(a.Tested.Held, a.Tested.Executions, q.Coverage)
	})
	return all
}
