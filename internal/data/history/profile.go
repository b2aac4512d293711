package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// Sample describes one execution of maps and reduces.
type Sample struct {
	ID      string           `json:"id"`
	Name    string           `json:"name"`
	Profile capacity.Profile `json:"profile"`
	Seconds *float64         `json:"seconds"` // from submission to end; null means unknown
	Map     Durations        `json:"map"`
	First   Durations        `json:"first_shuffle"` // the rest of it when the last map had ended
	Shuffle Durations        `json:"shuffle"`       // of attempts that started after the last map
	Reduce  Durations        `json:"reduce"`
	// MapSlots and ReduceSlots are the largest numbers of concurrent attempts, of any outcome; 0 means unknown.
	MapSlots    int64    `json:"map_slots"`
	ReduceSlots int64    `json:"reduce_slots"`
	Left        LeftOut  `json:"left_out"`
	Notes       []string `json:"notes"`
}

// Durations describes the durations of a phase's tasks, in seconds.
type Durations struct {
	Count  int64   `json:"count"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	Median float64 `json:"p50"`
	P95    float64 `json:"p95"`
	// Quantiles holds the 0, 5, 10, … and 100 % quantiles, from which similar tasks can be drawn; none without tasks.
	Quantiles []float64 `json:"quantiles"`
}

// QuantileCount is the number of stored quantiles.
const QuantileCount = 21

// LeftOut counts attempts that are no part of a profile.
type LeftOut struct {
	Failed      int64 `json:"failed"`
	Killed      int64 `json:"killed"`
	Speculative int64 `json:"speculative"` // succeeded second, or ran beside one that did
	Unfinished  int64 `json:"unfinished"`
	Repeated    int64 `json:"repeated"` // recorded twice
	Retried     int64 `json:"retried"`  // of further tries of a stage, with no record of the repeated tasks
	Other       int64 `json:"other"`    // set-up and clean-up
}

// Take makes a profile of an execution of maps and reduces. If that is impossible it returns a Refusal with the
// reason.
//
// A task's time is that of the successful attempt that ended first. A reduce attempt's shuffle ends when its input is
// sorted. Shuffles of attempts that started before the last map ended overlap the map phase; of these the first wave
// counts the part after it (paper, 3.1).
func Take(e *Execution) (Sample, error) {
	refuse := func(format string, args ...any) (Sample, error) { return Sample{}, e.refusal(format, args...) }
	if err := e.endedWell(); err != nil {
		return Sample{}, err
	}
	if len(e.Stages) > 0 {
		return refuse("It is a chain of %d stages and not one of maps and reduces.", len(e.Stages))
	}
	s := Sample{ID: e.ID, Name: e.Name, MapSlots: e.slots(Map), ReduceSlots: e.slots(Reduce), Notes: append([]string{}, e.Notes...)}
	chosen, err := e.chosen(&s.Left)
	if err != nil {
		return Sample{}, err
	}
	t, err := e.taskTimes(chosen)
	if err != nil {
		return Sample{}, err
	}
	if len(t.maps) == 0 {
		return refuse("It has no map task that succeeded.")
	}
	if e.Reduces > 0 && len(t.reduces) == 0 {
		return refuse("It declared %d reduces, of which none that succeeded is on record; the history is not whole.", e.Reduces)
	}
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	if e.Maps >= 0 && e.Maps != int64(len(t.maps)) || e.Reduces >= 0 && e.Reduces != int64(len(t.reduces)) {
		note("The job declared %d maps and %d reduces; %d and %d that succeeded are on record.", e.Maps, e.Reduces, len(t.maps), len(t.reduces))
	}
	s.Map, s.First, s.Shuffle, s.Reduce = durations(t.maps), durations(t.first), durations(t.typical), durations(t.reduces)
	p := &s.Profile
	p.MapTasks, p.ReduceTasks = s.Map.Count, s.Reduce.Count
	p.MapAvgSeconds, p.MapMaxSeconds = s.Map.Mean, s.Map.Max
	p.ReduceAvgSeconds, p.ReduceMaxSeconds = s.Reduce.Mean, s.Reduce.Max
	one, more := s.First, s.Shuffle
	switch {
	case len(t.reduces) == 0:
	case e.Unsplit:
		note("Shuffles are not on record: the whole time of a reduce attempt is taken for its reduce phase, with what it waited for maps.")
	case e.Clock == Untimed:
		one = more
		note("When attempts started is not on record, so that a first shuffle is taken to be like the others.")
	case one.Count == 0:
		one = more
		note("No reduce started before the last map ended, so that a first shuffle is taken to be like the others.")
	case more.Count == 0:
		waves := chosen.mapWaves()
		more = durations(chosen.guessed(t.lastMap, waves))
		note("All reduces started before the last map ended, so that how long a later shuffle takes is not on record. It is guessed from what the first ones had left then, times the %d waves of maps, and from how long they took in all.", waves)
	}
	p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds = one.Mean, one.Max
	p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = more.Mean, more.Max
	if took, known := e.Seconds(); known {
		s.Seconds = &took
		p.OverheadSeconds = max(0, took-e.busy())
		if p.OverheadSeconds > took/2 && p.OverheadSeconds > 60 {
			note("In %.0f of its %.0f seconds no attempt ran; most of them were probably spent waiting for slots, and are no fixed overhead of the job.", p.OverheadSeconds, took)
		}
	} else {
		note("When it was submitted or ended is not on record, so that its fixed overhead is not known and taken for 0.")
	}
	if findings := p.Findings(""); len(findings) > 0 {
		return refuse("Its figures are no profile: %s", findings[0].Detail)
	}
	return s, nil
}

// taskTimes holds the seconds of the chosen attempts, by phase.
type taskTimes struct {
	maps, first, typical, reduces []float64
	lastMap                       int64 // the end of the last map
}

// taskTimes splits the chosen attempts into phases.
func (e *Execution) taskTimes(chosen *choice) (*taskTimes, error) {
	t := &taskTimes{lastMap: math.MinInt64}
	for a := range chosen.All() {
		if a.Kind == Map {
			t.lastMap = max(t.lastMap, a.Finish)
		}
	}
	t.maps, t.reduces = make([]float64, 0, chosen.tasks[group{Map, 0}]), make([]float64, 0, chosen.tasks[group{Reduce, 0}])
	for a := range chosen.All() {
		switch {
		case a.Kind == Map:
			t.maps = append(t.maps, a.Seconds())
		case a.Kind == Reduce:
			if e.Unsplit {
				a.Shuffled = a.Start
			}
			if a.Shuffled < a.Start || a.Shuffled > a.Finish {
				return nil, e.refusal("A reduce attempt on record from %s to %s has no end of its shuffle between them, so that its phases cannot be told apart.",
					at(a.Start), at(a.Finish))
			}
			t.reduces = append(t.reduces, float64(a.Finish-a.Shuffled)/1000)
			switch {
			case e.Unsplit:
			case a.Start < t.lastMap && e.Clock != Untimed:
				t.first = append(t.first, float64(max(0, a.Shuffled-t.lastMap))/1000)
			default:
				t.typical = append(t.typical, float64(a.Shuffled-a.Start)/1000)
			}
		}
	}
	return t, nil
}

func (e *Execution) refusal(format string, args ...any) error {
	return Refusal{Where: cmp.Or(e.ID, "an execution"), Detail: fmt.Sprintf(format, args...)}
}

// endedWell refuses executions that nothing can be learned from.
func (e *Execution) endedWell() error {
	why := ""
	if e.Diagnosis != "" {
		why = ": " + strings.TrimSuffix(e.Diagnosis, ".")
	}
	switch e.Outcome {
	case Failed:
		return e.refusal("It failed%s. What did not end well says nothing about how long the job takes.", why)
	case Killed:
		return e.refusal("It was killed%s. What did not end well says nothing about how long the job takes.", why)
	case Unfinished:
		return e.refusal("Its end is not on record; it still ran, or the history was cut off. Import it again when it has ended.")
	}
	if e.Submitted > 0 && e.Finished > 0 && e.Finished < e.Submitted {
		return e.refusal("It ends at %s, before it was submitted at %s; the record is damaged.", at(e.Finished), at(e.Submitted))
	}
	return nil
}

// what names the task of an attempt.
func (a Attempt) what() string {
	switch {
	case a.Task >= unnumbered:
		return "a " + a.Kind.String() + " task"
	case a.Kind == Stage:
		return fmt.Sprintf("task %d of a stage", a.Task)
	}
	return fmt.Sprintf("%s task %d", a.Kind, a.Task)
}

// mapWaves returns the number of waves of maps, from their largest concurrency.
func (c *choice) mapWaves() int64 {
	highest := maxAtOnce(func(yield func(Attempt) bool) {
		for a := range c.All() {
			if a.Kind == Map && !yield(a) {
				return
			}
		}
	})
	return (int64(c.tasks[group{Map, 0}]) + highest - 1) / highest
}

// guessed estimates the duration of shuffles that find all maps done, from those of the first wave.
func (c *choice) guessed(lastMap, waves int64) (all []float64) {
	for a := range c.All() {
		if a.Kind == Reduce {
			left := float64(max(0, a.Shuffled-lastMap)) / 1000
			all = append(all, min(left*float64(waves), float64(a.Shuffled-a.Start)/1000))
		}
	}
	return all
}

// durations describes seconds, which it sorts. A quantile is the smallest value that this part does not exceed.
func durations(seconds []float64) Durations {
	n := len(seconds)
	if n == 0 {
		return Durations{Quantiles: []float64{}}
	}
	slices.Sort(seconds)
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	d := Durations{Count: int64(n), Mean: sum / float64(n), Max: seconds[n-1], Median: perf.Median(seconds), P95: quantile(seconds, 0.95)}
	d.Mean = min(d.Mean, d.Max) // the sum of equal values may round up
	for i := range QuantileCount {
		d.Quantiles = append(d.Quantiles, quantile(seconds, float64(i)/(QuantileCount-1)))
	}
	return d
}

// quantile returns the smallest of sorted numbers that the given part of them does not exceed.
func quantile(sorted []float64, part float64) float64 {
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))))-1)]
}
