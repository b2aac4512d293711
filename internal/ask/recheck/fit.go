package recheck

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
)

var fitsNotChecked = []string{
	"which of several curves of task times is the best, but for those near the one that is given and those of some rates",
	"whether a curve without constraints falls everywhere and never to nothing"}

// series are the measurements of one job and kind.
type series struct {
	job  string
	kind perf.FitKind
	all  []perf.MeasurementRequest
}

// fits checks what measurements come to.
func (c *checking) fits(q perf.FitQuestion, a perf.FitAnswer, got any) {
	c.NotChecked = fitsNotChecked
	byName := map[string]*series{}
	for _, m := range q.Measurements {
		name := m.Job + "\x00" + string(m.Kind)
		if byName[name] == nil {
			byName[name] = &series{job: m.Job, kind: m.Kind}
		}
		byName[name].all = append(byName[name].all, m)
	}
	names := slices.Sorted(maps.Keys(byName))
	if len(a.Fits) != len(names) {
		c.wrong("/fits", "are %d, and %d kinds of jobs were measured", len(a.Fits), len(names))
		c.end(FitsCheck, "")
		return
	}
	members, _ := got.(map[string]any)
	rows, _ := members["fits"].([]any)
	for i, name := range names {
		c.fit(fmt.Sprintf("/fits/%d", i), &q, byName[name], &a.Fits[i], rows[i])
	}
	c.end(FitsCheck, "%d fits are the best of their kinds near them; their counts, ranges, means and errors follow from %d measurements.", len(names), len(q.Measurements))
}

// fit checks one fit.
func (c *checking) fit(at string, q *perf.FitQuestion, s *series, f *perf.JobFit, got any) {
	var first, last any
	var moments []time.Time
	for _, m := range s.all {
		if m.At != nil {
			moments = append(moments, *m.At)
		}
	}
	if len(moments) == len(s.all) {
		first, last = slices.MinFunc(moments, time.Time.Compare), slices.MaxFunc(moments, time.Time.Compare)
	}
	want := map[string]any{"job": s.job, "kind": string(s.kind), "version": exact(whole(0)), "made_at": nil, "measurements": exact(whole(int64(len(s.all)))),
		"first_at": first, "last_at": last}
	given := 0
	for _, some := range []bool{f.Power != nil, f.TaskTime != nil, f.Rate != nil, f.Usage != nil} {
		if some {
			given++
		}
	}
	if (given == 1) != (f.Refused == "") || given > 1 {
		c.wrong(at, "is none of one fit and a reason why there is none")
		return
	}
	switch {
	case s.kind == perf.PowerFits && f.Power != nil:
		want["power"] = c.power(at+"/power", cmp.Or(q.Methods.Power, perf.LogChoice), s, f.Power)
	case s.kind == perf.TaskTimeFits && f.TaskTime != nil:
		want["task_time"] = c.taskTime(at+"/task_time", q.Methods.TaskTime, s, f.TaskTime)
	case s.kind == perf.RateFits && f.Rate != nil:
		want["rate"] = rates(s)
	case s.kind == perf.UsageFits && f.Usage != nil:
		want["usage"] = usage(s)
	case f.Refused == "":
		c.wrong(at, "is a fit of another kind")
	case s.kind == perf.PowerFits && sizes(s) == 1 && len(s.all) > 1:
		want["refused"] = words.OneSize(*s.all[0].VMs)
	case s.kind == perf.PowerFits && sizes(s) == 1:
		want["refused"] = words.OneMeasurement
	case s.kind == perf.PowerFits:
		c.steep(at+"/refused", cmp.Or(q.Methods.Power, perf.LogChoice), s, f.Refused)
	default:
		c.wrong(at+"/refused", "says that nothing can be fitted, and there are measurements")
	}
	if q.VMs != nil && f.Power != nil {
		want["predicted"] = map[string]any{"vms": about(number(*q.VMs)), "seconds": alikeTo(f.Power.A * math.Pow(*q.VMs, f.Power.B)),
			"interval": predictedBetween(f.Power, *q.VMs),
			"warnings": warnings(told{*q.VMs < f.Power.MinVMs || *q.VMs > f.Power.MaxVMs, words.ExtrapolatedWarning, words.ExtrapolatedTo(*q.VMs, f.Power.MinVMs, f.Power.MaxVMs)})}
	} else if f.Predicted != nil {
		c.wrong(at+"/predicted", "was not asked for")
	}
	if q.Residual != nil && f.TaskTime != nil {
		seconds := secondsAt(&f.TaskTime.TaskTime, *q.Residual)
		want["predicted_task"] = map[string]any{"residual": about(number(*q.Residual)), "seconds": alikeTo(seconds),
			"normed":   alikeTo(seconds / secondsAt(&f.TaskTime.TaskTime, 1)),
			"warnings": beyondParts(f.TaskTime, *q.Residual)}
	} else if f.PredictedAt != nil {
		c.wrong(at+"/predicted_task", "was not asked for")
	}
	c.differ(at, got, want)
}

// alikeTo is a figure that went through other floating-point work.
func alikeTo(x float64) figure {
	return figure{number(x), number(1e-12 + 1e-7*math.Abs(x))}
}

func sizes(s *series) int {
	of := map[float64]bool{}
	for _, m := range s.all {
		of[*m.VMs] = true
	}
	return len(of)
}

// errorsOf are the errors of a curve: their squares, the squares about the mean, and what is measured.
func errorsOf(seconds []float64, curve func(i int) float64) (left, total, share, worst float64) {
	mean := 0.0
	for _, t := range seconds {
		mean += t / float64(len(seconds))
	}
	for i, t := range seconds {
		e := t - curve(i)
		left, total = left+e*e, total+(t-mean)*(t-mean)
		share, worst = share+math.Abs(e)/t/float64(len(seconds)), max(worst, math.Abs(e)/t)
	}
	return left, total, share, worst
}

// beaten reports whether a curve with one or two figures a little different leaves fewer squares.
func beaten(figures []float64, squares func(f []float64) float64, scale float64) bool {
	here := squares(figures)
	for i := range figures {
		for k := range figures {
			for _, step := range [][2]float64{{1, 0}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
				f := slices.Clone(figures)
				f[i] += 1e-4 * step[0] * max(math.Abs(f[i]), 1e-2)
				if k != i {
					f[k] += 1e-4 * step[1] * max(math.Abs(f[k]), 1e-2)
				}
				if squares(f) < here*(1-1e-6)-1e-12*scale {
					return true
				}
			}
		}
	}
	return false
}

// power checks a power of the number of VMs, and returns what follows from it.
func (c *checking) power(at string, method perf.FitChoice, s *series, f *perf.PowerFit) map[string]any {
	var vms, seconds, logs []float64
	for _, m := range s.all {
		vms, seconds, logs = append(vms, *m.VMs), append(seconds, *m.Seconds), append(logs, math.Log(*m.Seconds))
	}
	curve := func(i int) float64 { return f.A * math.Pow(vms[i], f.B) }
	left, total, share, worst := errorsOf(seconds, curve)
	line := func(x []float64) (squares float64) { // of the logarithms about a line
		for i, t := range logs {
			e := t - x[0] - x[1]*math.Log(vms[i])
			squares += e * e
		}
		return squares
	}
	times := func(x []float64) float64 {
		squares, _, _, _ := errorsOf(seconds, func(i int) float64 { return x[0] * math.Pow(vms[i], x[1]) })
		return squares
	}
	atLine := []float64{math.Log(f.A), f.B}
	switch _, scale, _, _ := errorsOf(seconds, func(int) float64 { return 0 }); {
	case !(f.A >= perf.MinPowerA && f.A <= perf.MaxPowerA && math.Abs(f.B) < perf.MaxPowerB):
		c.wrong(at, "is %v times the VMs to the power %v, which is refused", f.A, f.B)
	case method == perf.LogChoice && beaten(atLine, line, float64(len(logs))), method == perf.NLSChoice && beaten([]float64{f.A, f.B}, times, scale):
		c.wrong(at, "is not the best fit: there is a better one near it")
	}
	want := map[string]any{"method": string(method), "points": exact(whole(int64(len(vms)))), "least_vms": exact(number(slices.Min(vms))),
		"most_vms": exact(number(slices.Max(vms))), "rmse_s": smallOr(math.Sqrt(left/float64(len(vms))), slices.Max(seconds)), "mean_error": smallOr(share, 1), "worst_error": smallOr(worst, 1)}
	mean := 0.0
	for _, t := range logs {
		mean += t / float64(len(logs))
	}
	spread := line([]float64{mean, 0})
	if flat := spread <= 1e-20; !flat {
		want["r2_log"], want["r2"] = smallOr(1-line(atLine)/spread, 1), smallOr(1-left/total, 1)
	}
	powerSpread(want, method, f, vms, seconds)
	want["warnings"] = warnings(told{f.B > 0, words.IncreasingWarning, words.LongerOnMore(f.B)}, told{f.B < -1, words.SuperLinearWarning, words.MoreThanHalved(f.B)},
		told{len(vms) < 3, words.NoIntervalWarning, words.NoInterval})
	return want
}

// smallOr is a figure that is known up to a part of another one.
func smallOr(x, of float64) figure { return figure{number(x), number(1e-7 * (math.Abs(x) + of))} }

// searched is the factor of squares by which a search for two exponentials may miss the best: it has many valleys.
const searched = 1.05

// fallingRates are those of the curves that a fit is compared with.
var fallingRates = []float64{-100, -64, -32, -16, -8, -4, -2, -1, -0.5, -0.25, -0.125, -0.0625, 0}

// amounts are the best of both exponentials of two rates, and of the first alone.
func amounts(parts, seconds []float64, b, d float64) (all [][2]float64) {
	var pp, pq, qq, py, qy float64
	for i, r := range parts {
		p, q := math.Exp(b*r), math.Exp(d*r)
		pp, pq, qq, py, qy = pp+p*p, pq+p*q, qq+q*q, py+p*seconds[i], qy+q*seconds[i]
	}
	if det := pp*qq - pq*pq; det > 1e-9*pp*qq {
		all = append(all, [2]float64{(py*qq - qy*pq) / det, (qy*pp - py*pq) / det})
	}
	return append(all, [2]float64{py / pp, 0})
}

// steepest is the largest rate at which a curve of task times may fall.
const steepest = 100

// taskTime checks a curve of task times, and returns what follows from it.
func (c *checking) taskTime(at string, method perf.FitChoice, s *series, f *perf.TaskTimeFit) map[string]any {
	var parts, seconds []float64
	for _, m := range s.all {
		r := 0.0
		if m.Residual != nil {
			r = *m.Residual
		} else if m.Utilization != nil {
			r = 1 - *m.Utilization
		}
		parts, seconds = append(parts, r), append(seconds, *m.Seconds)
	}
	squares := func(x []float64) float64 {
		if f.Constrained && (x[0] < 0 || x[1] > 0 || len(x) > 2 && (x[2] < 0 || x[3] > 0)) || slices.Min(x) < -steepest {
			return math.Inf(1)
		}
		t := perf.TaskTime{A: x[0], B: x[1]}
		if len(x) > 2 {
			t.C, t.D = x[2], x[3]
		}
		left, _, _, _ := errorsOf(seconds, func(i int) float64 { return secondsAt(&t, parts[i]) })
		return left
	}
	figures := []float64{f.A, f.B}
	if f.C != 0 {
		figures = append(figures, f.C, f.D)
	}
	left, total, _, _ := errorsOf(seconds, func(i int) float64 { return secondsAt(&f.TaskTime, parts[i]) })
	_, scale, _, _ := errorsOf(seconds, func(int) float64 { return 0 })
	least := total // of the squares that curves of some rates leave
	for _, b := range fallingRates {
		for _, d := range fallingRates {
			if b < d && (f.Residuals >= 5 || f.Residuals > 1 && d == 0) {
				for _, x := range amounts(parts, seconds, b, d) {
					if d != 0 || f.Residuals >= 5 || x[1] == 0 {
						least = min(least, squares([]float64{x[0], b, x[1], d}))
					}
				}
			}
		}
	}
	if f.C == 0 && f.D != 0 {
		c.wrong(at+"/d", "is %v, and there is no second exponential", f.D)
	}
	if left > least*searched+1e-12*scale {
		c.wrong(at, "is not the best fit: another curve is better")
	} else if beaten(figures, squares, scale) {
		c.wrong(at, "is not the best fit: there is a better one near it")
	}
	rmse := math.Sqrt(left / float64(len(parts)))
	want := map[string]any{"points": exact(whole(int64(len(parts)))), "least_residual": about(number(slices.Min(parts))), "most_residual": about(number(slices.Max(parts))),
		"rmse_s": smallOr(rmse, slices.Max(seconds)), "nrmse": nil}
	if span := slices.Max(seconds) - slices.Min(seconds); span > 0 {
		want["nrmse"] = smallOr(rmse/span, slices.Max(seconds)/span)
	}
	c.form(at, method, parts, seconds, f, want)
	return want
}

// rates are the means of types of nodes, compared with the slowest.
func rates(s *series) map[string]any {
	of := map[string][]float64{}
	for _, m := range s.all {
		of[m.NodeType] = append(of[m.NodeType], *m.Seconds)
	}
	mean, slowest := map[string]float64{}, 0.0
	for kind, seconds := range of {
		for _, t := range seconds {
			mean[kind] += t / float64(len(seconds))
		}
		slowest = max(slowest, mean[kind])
	}
	types, few := []any{}, []string{}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		row := map[string]any{"type": kind, "tasks": exact(whole(int64(len(of[kind])))), "mean_s": about(number(mean[kind])), "rate": about(number(slowest / mean[kind])), "deviation_s": nil}
		if n := len(of[kind]); n > 1 {
			_, squares, _, _ := errorsOf(of[kind], func(int) float64 { return 0 })
			row["deviation_s"] = smallOr(math.Sqrt(squares/float64(n-1)), 0)
			if squares == 0 {
				row["deviation_s"] = smallOr(0, mean[kind])
			}
		}
		if types = append(types, row); len(of[kind]) < enoughTasks {
			few = append(few, kind)
		}
	}
	return map[string]any{"types": types, "warnings": warnings(told{len(types) == 1, words.OneTypeWarning, words.OneType(s.all[0].NodeType)},
		told{len(few) > 0, words.FewTasksWarning, words.FewTasks(enoughTasks, few)})}
}

// usage is the mean use of resources on the number of VMs nearest to six, to which the thresholds belong.
func usage(s *series) map[string]any {
	off := func(n float64) float64 { return math.Abs(math.Floor(n) - 6) }
	nearest := math.Inf(1)
	for _, m := range s.all {
		if n := math.Floor(*m.VMs); math.IsInf(nearest, 1) || off(n) < off(nearest) || off(n) == off(nearest) && n < nearest {
			nearest = n
		}
	}
	cpu, io, n := 0.0, 0.0, 0.0
	for _, m := range s.all {
		if math.Floor(*m.VMs) == nearest {
			cpu, io, n = cpu+*m.CPUPercent, io+*m.IOMBPerS, n+1
		}
	}
	cpu, io = cpu/n, io/n
	want := map[string]any{"points": exact(number(n)), "vms": exact(number(nearest)), "cpu_percent": about(number(cpu)), "io_mb_s": about(number(io)),
		"warnings": warnings(told{nearest != 6, words.OffReferenceWarning, words.OffReference(int64(nearest), 6)})}
	known := func(x, threshold float64) bool { return x == threshold || !nearly(x, threshold) }
	if known(cpu, 60) {
		want["cpu"] = cpu > 60
	}
	if known(io, 100) {
		want["io"] = io > 100
	}
	if known(cpu, 60) && known(io, 100) {
		want["role"] = string(perf.PlainRole)
		if cpu > 60 && io <= 100 {
			want["role"] = string(perf.GuestRole)
		} else if io > 100 && cpu <= 60 {
			want["role"] = string(perf.HostRole)
		}
	}
	return want
}
