package history

import (
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// Merged is the profile of a job from several of its executions.
type Merged struct {
	Name       string             `json:"name"`
	Executions int64              `json:"executions"`
	Profile    capacity.Profile   `json:"profile"`
	Spread     map[string]Numbers `json:"spread"` // of the profile's figures and the seconds among the executions, by name
	Left       LeftOut            `json:"left_out"`
	Refused    []Refusal          `json:"refused"` // executions that do not fit the others
	Warnings   []string           `json:"warnings"`
}

// Numbers describes the spread of a figure among executions.
type Numbers struct {
	Count     int64   `json:"count"`
	Min       float64 `json:"min"`
	Median    float64 `json:"p50"`
	P95       float64 `json:"p95"`
	Max       float64 `json:"max"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // standard, of the executions measured
}

const (
	// overheadPart is the part of the executions whose overhead counts: those with the least waiting for slots in it,
	// which is no property of the job.
	overheadPart = 0.1
	// maxPart is the part of the executions whose longest task is no longer than the profile's; with fewer than
	// twenty it is all of them. The longest of all would grow with the number of executions.
	maxPart = 0.95
	// alike is a limit for warnings. A count of tasks above this multiple of its median suggests different inputs. So
	// does a longest task above this multiple of the profile's.
	alike = 2
)

// figures lists the figures of a profile, by their names in the contract.
var figures = []struct {
	name string
	of   func(*Sample) (x float64, measured bool)
}{
	{"map_tasks", func(s *Sample) (float64, bool) { return float64(s.Profile.MapTasks), true }},
	{"reduce_tasks", func(s *Sample) (float64, bool) { return float64(s.Profile.ReduceTasks), true }},
	{"map_avg_s", func(s *Sample) (float64, bool) { return s.Profile.MapAvgSeconds, true }},
	{"map_max_s", func(s *Sample) (float64, bool) { return s.Profile.MapMaxSeconds, true }},
	{"first_shuffle_avg_s", func(s *Sample) (float64, bool) { return s.Profile.FirstShuffleAvgSeconds, s.Profile.ReduceTasks > 0 }},
	{"first_shuffle_max_s", func(s *Sample) (float64, bool) { return s.Profile.FirstShuffleMaxSeconds, s.Profile.ReduceTasks > 0 }},
	{"shuffle_avg_s", func(s *Sample) (float64, bool) { return s.Profile.ShuffleAvgSeconds, s.Profile.ReduceTasks > 0 }},
	{"shuffle_max_s", func(s *Sample) (float64, bool) { return s.Profile.ShuffleMaxSeconds, s.Profile.ReduceTasks > 0 }},
	{"reduce_avg_s", func(s *Sample) (float64, bool) { return s.Profile.ReduceAvgSeconds, s.Profile.ReduceTasks > 0 }},
	{"reduce_max_s", func(s *Sample) (float64, bool) { return s.Profile.ReduceMaxSeconds, s.Profile.ReduceTasks > 0 }},
	{"overhead_s", func(s *Sample) (float64, bool) { return s.Profile.OverheadSeconds, s.Seconds != nil }},
	{"seconds", func(s *Sample) (float64, bool) {
		if s.Seconds == nil {
			return 0, false
		}
		return *s.Seconds, true
	}},
}

// Merge makes one profile of the samples of one job; a repeated execution counts once.
//
// Counts of tasks are the median execution's. Means are those of all tasks together, so that work is neither lost nor
// made. The longest task and the overhead are quantiles of the executions', see maxPart and overheadPart. Guessed
// shuffles count only if no execution has measured ones.
func Merge(samples []Sample) (Merged, error) {
	m := noneMerged()
	warn := m.warn
	all, err := distinct(samples)
	if err != nil {
		return m, err
	}
	m.Name, m.Executions = all[0].Name, int64(len(all))
	if twice := len(samples) - len(all); twice > 0 {
		warn("Samples of executions that are there already: %d; each counts once.", twice)
	}
	for _, s := range all {
		m.Left.add(s.Left)
	}
	for _, f := range figures {
		var xs []float64
		for _, s := range all {
			if x, measured := f.of(s); measured {
				xs = append(xs, x)
			}
		}
		if len(xs) > 0 {
			m.Spread[f.name] = numbers(xs)
		}
	}
	m.counts(warn)
	p := &m.Profile
	m.phases(all)
	var overheads []float64
	for _, s := range all {
		if s.Seconds != nil {
			overheads = append(overheads, s.Profile.OverheadSeconds)
		}
	}
	p.OverheadSeconds = m.overhead(overheads, warn)
	if findings := p.Findings(""); len(findings) > 0 {
		return m, Refusal{Where: "the merge", Detail: "Its figures are no profile: " + findings[0].Detail}
	}
	return m, nil
}

// distinct returns the samples of different executions, which must all be of one job.
func distinct(samples []Sample) ([]*Sample, error) {
	var all []*Sample
	seen := map[string]bool{}
	for i := range samples {
		s := &samples[i]
		if s.Name != samples[0].Name {
			return nil, Refusal{Where: s.ID, Detail: fmt.Sprintf("It is of the job %q and others are of %q; merge those of one job.", s.Name, samples[0].Name)}
		}
		if s.ID != "" && seen[s.ID] {
			continue
		}
		seen[s.ID] = true
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, Refusal{Where: "the merge", Detail: "There is no execution that can be merged."}
	}
	if all[0].Name == "" && len(all) > 1 {
		return nil, Refusal{Where: "the merge", Detail: "The history does not name the jobs, so that nothing says which executions belong together; name the job of those that do."}
	}
	return all, nil
}

// phases merges the task times of the phases.
func (m *Merged) phases(all []*Sample) {
	p := &m.Profile
	phase := func(name string, avg, longest *float64, tasks int64, of func(*Sample) (Durations, int)) {
		if tasks > 0 {
			*avg, *longest = m.phase(all, name, tasks, of, m.warn)
		}
	}
	measured := 2 // knowledge of a phase: 2 measured, 1 guessed
	known := func(d Durations, avg, longest float64, reduces int64) (Durations, int) {
		if d.Count > 0 {
			return d, measured
		}
		return Durations{Count: reduces, Mean: avg, Max: longest}, measured - 1
	}
	// Samples from elsewhere may have a profile alone.
	orProfile := func(d Durations, tasks int64, avg, longest float64) (Durations, int) {
		if d.Count > 0 {
			return d, measured
		}
		return Durations{Count: tasks, Mean: avg, Max: longest}, measured
	}
	phase("map", &p.MapAvgSeconds, &p.MapMaxSeconds, p.MapTasks, func(s *Sample) (Durations, int) {
		return orProfile(s.Map, s.Profile.MapTasks, s.Profile.MapAvgSeconds, s.Profile.MapMaxSeconds)
	})
	phase("first shuffle", &p.FirstShuffleAvgSeconds, &p.FirstShuffleMaxSeconds, p.ReduceTasks, func(s *Sample) (Durations, int) {
		return known(s.First, s.Profile.FirstShuffleAvgSeconds, s.Profile.FirstShuffleMaxSeconds, s.Profile.ReduceTasks)
	})
	phase("shuffle", &p.ShuffleAvgSeconds, &p.ShuffleMaxSeconds, p.ReduceTasks, func(s *Sample) (Durations, int) {
		return known(s.Shuffle, s.Profile.ShuffleAvgSeconds, s.Profile.ShuffleMaxSeconds, s.Profile.ReduceTasks)
	})
	phase("reduce", &p.ReduceAvgSeconds, &p.ReduceMaxSeconds, p.ReduceTasks, func(s *Sample) (Durations, int) {
		return orProfile(s.Reduce, s.Profile.ReduceTasks, s.Profile.ReduceAvgSeconds, s.Profile.ReduceMaxSeconds)
	})
}

func noneMerged() Merged {
	return Merged{Spread: map[string]Numbers{}, Refused: []Refusal{}, Warnings: []string{}}
}

func (m *Merged) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

// overhead returns the overhead of a job from its executions', and warns of few samples.
func (m *Merged) overhead(all []float64, warn func(string, ...any)) (seconds float64) {
	if slices.Sort(all); len(all) > 0 {
		seconds = quantile(all, overheadPart)
	} else {
		warn("No execution says when it was submitted and ended, so that the fixed overhead is not known and taken for 0.")
	}
	switch {
	case m.Executions == 1:
		warn("The profile is made of one execution; what differs from day to day is not in it. Ten or more tell.")
	case m.Executions < 3:
		warn("The profile is made of %d executions; what differs from day to day is not in it. Ten or more tell.", m.Executions)
	}
	return seconds
}

// wholeMedian rounds a median of counts, which may lie between two, up.
func wholeMedian(median float64) int64 { return int64(math.Ceil(median)) }

// counts sets the numbers of tasks.
func (m *Merged) counts(warn func(string, ...any)) {
	maps, reduces := m.Spread["map_tasks"], m.Spread["reduce_tasks"]
	m.Profile.MapTasks, m.Profile.ReduceTasks = wholeMedian(maps.Median), wholeMedian(reduces.Median)
	for _, c := range []struct {
		kind string
		n    Numbers
	}{{"map", maps}, {"reduce", reduces}} {
		if c.n.P95 > alike*c.n.Median || c.n.Min*alike < c.n.Median {
			warn("Executions have from %g to %g %s tasks, half of them %g or fewer: their inputs differ. Perhaps they are several classes; the profile is the middle one's.", c.n.Min, c.n.Max, c.kind, c.n.Median)
		}
	}
}

// phase returns the mean and the longest task of one phase, such that both are possible for this number of tasks.
func (m *Merged) phase(all []*Sample, name string, tasks int64, of func(*Sample) (Durations, int), warn func(string, ...any)) (avg, longest float64) {
	best := 0
	for _, s := range all {
		if d, how := of(s); d.Count > 0 {
			best = max(best, how)
		}
	}
	var measured []Durations
	for _, s := range all {
		if d, how := of(s); d.Count > 0 && how == best {
			measured = append(measured, d)
		}
	}
	return pooled(measured, name, tasks, warn)
}

// pooled returns the mean and the longest task of several executions' phases of a name, such that both are possible
// for this number of tasks.
func pooled(measured []Durations, name string, tasks int64, warn func(string, ...any)) (avg, longest float64) {
	var work, count float64
	var longests []float64
	for _, d := range measured {
		work, count = work+d.Mean*float64(d.Count), count+float64(d.Count)
		longests = append(longests, d.Max)
	}
	if count == 0 {
		return 0, 0
	}
	slices.Sort(longests)
	avg, longest = work/count, quantile(longests, maxPart)
	if highest := longests[len(longests)-1]; highest > alike*longest {
		warn("The longest %s task of all took %.1f s; 95 of 100 executions have none longer than %.1f s, which the profile says.", name, highest, longest)
	}
	longest = max(longest, avg) // a large execution may have most of the tasks
	if lowest := longest / float64(tasks); avg < lowest {
		warn("The %s tasks took %.1f s on average and %.1f s at most, which cannot both be so with %d of them; the mean is taken for %.1f s.", name, avg, longest, tasks, lowest)
		avg = lowest
	}
	if tasks == 1 {
		avg = longest
	}
	return avg, longest
}

func (l *LeftOut) add(o LeftOut) {
	l.Failed += o.Failed
	l.Killed += o.Killed
	l.Speculative += o.Speculative
	l.Unfinished += o.Unfinished
	l.Repeated += o.Repeated
	l.Retried += o.Retried
	l.Other += o.Other
}

// numbers describes figures, which it sorts.
func numbers(xs []float64) Numbers {
	slices.Sort(xs)
	n := float64(len(xs))
	sum, squares := 0.0, 0.0
	for _, x := range xs {
		sum += x
	}
	for _, x := range xs {
		squares += (x - sum/n) * (x - sum/n)
	}
	return Numbers{Count: int64(len(xs)), Min: xs[0], Median: perf.Median(xs), P95: quantile(xs, 0.95), Max: xs[len(xs)-1], Mean: sum / n, Deviation: math.Sqrt(squares / n)}
}
