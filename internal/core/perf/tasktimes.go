package perf

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

const (
	// sameResidual is the distance from which two r are distinguished: a node's load is known no better, and a curve
	// through two closer times says nothing of the rest.
	sameResidual = 0.01
	// remembered is the number of tasks at about the same r that are remembered. Later ones make earlier ones fade,
	// so that changes of a job show, and memory does not grow with the tasks.
	remembered = 500
)

// TaskTimes holds the task times of one kind of job by residual: enough to fit TaskTime at any moment, in memory that
// does not grow with the tasks. Its zero value is ready; as JSON it outlives the process.
type TaskTimes struct {
	Parts []TaskPart `json:"parts"` // by r; at most one for each percent of a node
	Added int64      `json:"added"`
}

// TaskPart is a group of tasks with about the same r.
type TaskPart struct {
	Percent  int     `json:"percent"`
	Count    float64 `json:"count"`
	Residual float64 `json:"residual"` // their mean
	Seconds  float64 `json:"seconds"`  // their mean
	Squares  float64 `json:"squares"`  // of the seconds about their mean
	Least    float64 `json:"least"`
	Most     float64 `json:"most"`
}

// Add counts a task that succeeded after the given seconds at r. It ignores impossible values.
func (t *TaskTimes) Add(r, seconds float64) (counted bool) {
	if !(r >= 0 && r <= 1) || !isTime(seconds) {
		return false
	}
	percent := int(math.Round(100 * r))
	i, found := slices.BinarySearchFunc(t.Parts, percent, func(p TaskPart, percent int) int { return cmp.Compare(p.Percent, percent) })
	if !found {
		t.Parts = slices.Insert(t.Parts, i, TaskPart{Percent: percent, Least: seconds, Most: seconds})
	}
	p := &t.Parts[i]
	if p.Count == remembered {
		p.Squares *= 1 - 1/p.Count
	} else {
		p.Count++
	}
	from := seconds - p.Seconds
	p.Residual += (r - p.Residual) / p.Count
	p.Seconds += from / p.Count
	p.Squares += from * (seconds - p.Seconds)
	p.Least, p.Most = min(p.Least, seconds), max(p.Most, seconds)
	t.Added++
	return true
}

// Fit returns the constrained fit of the added tasks, or false without any.
func (t *TaskTimes) Fit() (f TaskTimeFit, some bool) {
	if len(t.Parts) == 0 {
		return f, false
	}
	return fitParts(slices.Clone(t.Parts), false), true
}

// Due reports whether enough tasks were added since a fit to change it: a tenth more, or any while there are few.
func (t *TaskTimes) Due(fittedAt int64) bool {
	return t.Added > fittedAt && (t.Added-fittedAt)*10 >= min(fittedAt, 10*remembered)
}

// FitTaskTime fits TaskTime to measurements. If that is impossible it returns an *InputError whose pointers begin at
// the list. The fit's warnings name doubts about it. Unconstrained fits, which may have any signs, are used only if
// they are positive and never grow with r.
func FitTaskTime(samples []TaskSample, unconstrained bool) (TaskTimeFit, error) {
	findings := unfitTasks(samples)
	if len(samples) == 0 {
		findings = []fault.Finding{{Code: "too_few", Detail: "There is no measurement; give at least one task's time and what was left of its node."}}
	}
	if len(findings) > 0 {
		return TaskTimeFit{}, &fault.InputError{Findings: findings}
	}
	samples = slices.Clone(samples)
	slices.SortFunc(samples, func(a, b TaskSample) int {
		return cmp.Or(cmp.Compare(a.Residual, b.Residual), cmp.Compare(a.Seconds, b.Seconds))
	})
	var parts []TaskPart // one for each r
	for from := 0; from < len(samples); {
		p := TaskPart{Residual: samples[from].Residual, Least: samples[from].Seconds}
		to := from
		var seconds, squares money.Sum
		for ; to < len(samples) && samples[to].Residual == p.Residual; to++ {
			seconds.Add(samples[to].Seconds)
		}
		p.Count, p.Most = float64(to-from), samples[to-1].Seconds
		p.Seconds = seconds.Value() / p.Count
		for _, s := range samples[from:to] {
			squares.Add((s.Seconds - p.Seconds) * (s.Seconds - p.Seconds))
		}
		p.Squares = squares.Value()
		parts = append(parts, p)
		from = to
	}
	return fitParts(parts, unconstrained), nil
}

// fitParts fits the means of parts, which are sorted by r, each with the weight of its tasks: that is the least
// squares of the tasks themselves. It may change parts.
func fitParts(parts []TaskPart, unconstrained bool) TaskTimeFit {
	f := TaskTimeFit{Constrained: true, Warnings: []capacity.Warning{}}
	highest := 0.0
	for _, p := range parts {
		highest = max(highest, p.Seconds)
	}
	clusters := distinct(parts)
	f.Residuals = len(clusters)
	s := newExponentials(parts, parts[0].Residual, highest)
	switch {
	case f.Residuals == 1:
		f.Form, f.TaskTime = ConstantTime, s.constant()
	case f.Residuals == 2:
		f.Form, f.TaskTime = OneExponential, newExponentials(clusters, clusters[0].Residual, highest).one()
	case f.Residuals < 5:
		f.Form, f.TaskTime = OneExponential, s.one()
	default:
		f.Form, f.TaskTime = TwoExponentials, s.two()
		if unconstrained {
			if free, fault := s.free(); fault == "" {
				f.TaskTime, f.Constrained = free, false
			} else {
				f.warn(words.ConstrainedWarning, words.Constrained(fault))
			}
		}
	}
	f.MinResidual, f.MaxResidual = parts[0].Residual, parts[len(parts)-1].Residual
	if f.B == 0 && f.D == 0 && f.Form != ConstantTime {
		f.Form = ConstantTime
	}
	f.judge(parts)
	f.doubt(parts)
	return f
}

// distinct joins parts that lie so close that their r are about the same.
func distinct(parts []TaskPart) (clusters []TaskPart) {
	first := math.Inf(-1)
	for _, p := range parts {
		if p.Residual-first < sameResidual {
			c := &clusters[len(clusters)-1]
			n := c.Count + p.Count
			c.Residual += (p.Residual - c.Residual) * p.Count / n
			c.Seconds += (p.Seconds - c.Seconds) * p.Count / n
			c.Count = n
			continue
		}
		first = p.Residual
		clusters = append(clusters, p)
	}
	return clusters
}

// judge computes the distances of the measurements from the fit.
func (f *TaskTimeFit) judge(parts []TaskPart) {
	var squares, count money.Sum
	lowest, highest := math.Inf(1), 0.0
	for _, p := range parts {
		e := p.Seconds - f.Seconds(p.Residual)
		squares.Add(p.Squares + p.Count*e*e)
		count.Add(p.Count)
		lowest, highest = min(lowest, p.Least), max(highest, p.Most)
	}
	f.Points = int64(math.Round(count.Value()))
	f.RMSESeconds = math.Sqrt(squares.Value() / count.Value())
	if highest > lowest {
		f.NRMSE = new(f.RMSESeconds / (highest - lowest))
	}
}

func (f *TaskTimeFit) warn(code, detail string) {
	f.Warnings = append(f.Warnings, capacity.Warning{Code: code, Detail: detail})
}

// nearlyDedicated is the residual from which a node counts as dedicated.
const nearlyDedicated = 0.9

func (f *TaskTimeFit) doubt(parts []TaskPart) {
	first, last := parts[0], parts[len(parts)-1]
	switch f.Residuals {
	case 1:
		f.warn(words.OneResidualWarning, words.OneResidual(f.MinResidual))
	case 2, 3, 4:
		f.warn(words.FewResidualsWarning, words.FewResiduals(f.Residuals))
	}
	if f.Form == ConstantTime && f.Residuals > 1 && last.Seconds > first.Seconds {
		f.warn(words.IncreasingWarning, words.LongerWithMore(first.Seconds, first.Residual, last.Seconds, last.Residual))
	}
	if f.MaxResidual < nearlyDedicated && f.Residuals > 1 {
		f.warn(words.NotDedicatedWarning, words.NotDedicated(f.MaxResidual))
	}
}
