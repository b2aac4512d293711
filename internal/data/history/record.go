package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Forms of executions.
const (
	MapReduce = "map_reduce"
	Stages    = "stages"
)

// Facts holds the facts about an execution besides its tasks.
type Facts struct {
	Job       string `json:"job"`       // groups executions
	Execution string `json:"execution"` // its own id, or one made of its content
	User      string `json:"user"`
	Queue     string `json:"queue"`
	// SubmittedAt is the time of its submission, or else of its first attempt's start. It and FinishedAt are null if
	// a history is undated or does not say.
	SubmittedAt *time.Time `json:"submitted_at"`
	FinishedAt  *time.Time `json:"finished_at"`
	Seconds     *float64   `json:"seconds"` // from submission to end; null means unknown
	Outcome     string     `json:"outcome"`
	Form        string     `json:"form"`
	Refused     string     `json:"refused"` // reason why it gives no profile; "" if it gives one
}

// Record is the stored form of an execution: a sample, a chain, or a reason for neither. Failed executions count for
// concurrency, but never for a profile.
type Record struct {
	Facts
	Sample *Sample `json:"sample"` // of maps and reduces
	Chain  *Chain  `json:"chain"`  // of stages
}

// Keep returns the record of an execution with any outcome. job names it if its history does not.
func Keep(e *Execution, job string) Record {
	var r Record
	r.Job, r.Execution, r.User, r.Queue = clip(cmp.Or(e.Name, job)), clip(e.ID), clip(e.User), clip(e.Queue)
	r.Outcome, r.Form = e.Outcome.String(), MapReduce
	var err error
	if len(e.Stages) > 0 {
		r.Form = Stages
		var c Chain
		if c, err = TakeChain(e); err == nil {
			r.Chain = &c
		}
	} else {
		var s Sample
		if s, err = Take(e); err == nil {
			r.Sample = &s
		}
	}
	var refusal Refusal
	if errors.As(err, &refusal) {
		r.Refused = clipTo(refusal.Detail, maxReason)
	}
	if e.Clock == Dated {
		span, _ := e.Span()
		r.SubmittedAt = moments(span.From)
		if span.Until >= span.From {
			r.FinishedAt = moments(span.Until)
		}
	}
	if seconds, known := e.Seconds(); known {
		r.Seconds = &seconds
	}
	r.settle()
	if e.Clock == Relative && e.ID != "" { // such ids begin at 1 in each trace
		r.Execution += " " + r.contentID()
		r.settle()
	}
	return r
}

func moments(ms int64) *time.Time {
	if ms <= 0 {
		return nil
	}
	return new(time.UnixMilli(ms).UTC())
}

// settle makes repeated facts agree, and gives an execution without an id one made of its content.
func (r *Record) settle() {
	if r.Execution == "" {
		r.Execution = r.contentID()
	}
	if s := r.Sample; s != nil {
		s.ID, s.Name, r.Form, r.Seconds = r.Execution, r.Job, MapReduce, s.Seconds
		s.Notes = orNone(s.Notes)
		for _, d := range []*Durations{&s.Map, &s.First, &s.Shuffle, &s.Reduce} {
			d.Quantiles = orNone(d.Quantiles)
		}
	}
	if c := r.Chain; c != nil {
		c.ID, c.Name, r.Form, r.Seconds = r.Execution, r.Job, Stages, c.Seconds
		c.Notes = orNone(c.Notes)
		for i := range c.Phases {
			p := &c.Phases[i]
			p.After, p.Task.Quantiles = orNone(p.After), orNone(p.Task.Quantiles)
		}
	}
}

func orNone[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// contentID returns an id that is the same whenever the execution is read again.
func (r *Record) contentID() string {
	type content struct {
		Facts
		Phases []Durations
	}
	c := content{Facts: r.Facts}
	c.Refused, c.Seconds = "", nil // their words may change
	if s := r.Sample; s != nil {
		c.Seconds = s.Seconds
		c.Phases = []Durations{s.Map, s.First, s.Shuffle, s.Reduce}
	}
	if r.Chain != nil {
		c.Seconds = r.Chain.Seconds
		for _, p := range r.Chain.Phases {
			c.Phases = append(c.Phases, p.Task)
		}
	}
	for i := range c.Phases {
		c.Phases[i].Quantiles = nil
	}
	text, _ := json.Marshal(c) // of numbers, texts and times
	sum := sha256.Sum256(text)
	return "content-" + hex.EncodeToString(sum[:12])
}

// Usable reports whether it gives a profile.
func (r *Record) Usable() bool { return r.Sample != nil || r.Chain != nil }

// Values of Worth.
const (
	stillRunning = iota
	hasEnded
	isUsable
)

// Worth rates the knowledge of the execution. A record of more worth replaces one of less.
func (r *Record) Worth() int {
	switch {
	case r.Usable():
		return isUsable
	case r.Outcome != Unfinished.String():
		return hasEnded
	}
	return stillRunning
}

// Nameless is the fault of an execution without a job. The caller learns by other means which job it is.
const Nameless = "Its history does not name its job."

// maxPhases bounds the phases of a stored chain.
const maxPhases = 10_000

// Check validates a record from elsewhere, and fills in defaults.
func (r *Record) Check() error {
	r.Outcome, r.Form = cmp.Or(r.Outcome, Succeeded.String()), cmp.Or(r.Form, MapReduce)
	wrong := func(format string, args ...any) error {
		return Refusal{Where: cmp.Or(r.Execution, "an execution"), Detail: fmt.Sprintf(format, args...)}
	}
	for _, t := range []struct{ what, text string }{{"job", r.Job}, {"execution", r.Execution}, {"user", r.User}, {"queue", r.Queue}} {
		if len(t.text) > maxText || !utf8.ValidString(t.text) || strings.ContainsRune(t.text, 0) {
			return wrong("Its %s is no text of at most %d bytes.", t.what, maxText)
		}
	}
	if strings.TrimSpace(r.Job) == "" {
		return wrong(Nameless)
	}
	switch r.Outcome {
	case Succeeded.String():
	case Failed.String(), Killed.String(), Unfinished.String():
		if r.Usable() {
			return wrong("It is %s and has a sample; what did not end well says nothing about how long the job takes.", r.Outcome)
		}
		r.Refused = cmp.Or(r.Refused, "It did not end well.")
	default:
		return wrong("Its outcome is %q; it is succeeded, failed, killed or unfinished.", clip(r.Outcome))
	}
	switch {
	case r.Form != MapReduce && r.Form != Stages:
		return wrong("Its form is %q; it is map_reduce or stages.", clip(r.Form))
	case r.Sample != nil && r.Chain != nil:
		return wrong("It has a sample and a chain; leave the one that it is not.")
	case r.Usable() && r.Refused != "":
		return wrong("It has a sample and a reason why none can be made; leave one out.")
	case !r.Usable() && r.Refused == "":
		return wrong("It has no sample, no chain and no reason why.")
	}
	for _, t := range []*time.Time{r.SubmittedAt, r.FinishedAt} {
		if t != nil && moment(t.UnixMilli()) == 0 {
			return wrong("Its times are before 1990 or after 2200.")
		}
	}
	if r.SubmittedAt != nil && r.FinishedAt != nil && r.FinishedAt.Before(*r.SubmittedAt) {
		return wrong("It ends at %s, before it was submitted at %s.", r.FinishedAt.UTC().Format(time.RFC3339Nano), r.SubmittedAt.UTC().Format(time.RFC3339Nano))
	}
	if fault := r.fault(); fault != "" {
		return wrong("%s", fault)
	}
	r.settle()
	return nil
}

// fault describes what is wrong with the figures.
func (r *Record) fault() string {
	if r.Seconds != nil && !isSeconds(*r.Seconds) {
		return "Its seconds are no number of seconds."
	}
	if s := r.Sample; s != nil {
		for _, f := range []struct {
			phase string
			d     Durations
		}{{"map", s.Map}, {"first shuffle", s.First}, {"shuffle", s.Shuffle}, {"reduce", s.Reduce}} {
			if fault := f.d.fault(f.phase); fault != "" {
				return fault
			}
		}
		if s.Profile.Stages != nil {
			return "Its sample is of maps and reduces and its profile has stages; give a chain."
		}
		if s.MapSlots < 0 || s.ReduceSlots < 0 || s.Seconds != nil && !isSeconds(*s.Seconds) {
			return "Its slots or seconds are negative."
		}
		if findings := s.Profile.Findings(""); len(findings) > 0 {
			return "Its figures are no profile: " + findings[0].Detail
		}
		if fault := s.atOdds(); fault != "" {
			return fault
		}
	}
	if c := r.Chain; c != nil {
		if len(c.Phases) == 0 || len(c.Phases) > maxPhases {
			return fmt.Sprintf("It has %d phases; a chain has from 1 to %d.", len(c.Phases), maxPhases)
		}
		if c.MapSlots < 0 || !isSeconds(c.OverheadSeconds) || c.Seconds != nil && !isSeconds(*c.Seconds) {
			return "Its slots, overhead or seconds are negative."
		}
		for i, p := range c.Phases {
			if fault := p.Task.fault(fmt.Sprintf("phase %d", i+1)); fault != "" {
				return fault
			}
			if p.Tasks < p.Task.Count || p.Task.Count < 1 || p.Tasks > maxAttempts {
				return fmt.Sprintf("Phase %d has %d tasks, of which %d were measured; that cannot be.", i+1, p.Tasks, p.Task.Count)
			}
			for _, before := range p.After {
				if before < 0 || before >= i {
					return fmt.Sprintf("Phase %d waits for phase %d, which does not stand before it.", i+1, before+1)
				}
			}
		}
	}
	return ""
}

// atOdds describes a difference between the profile and the durations of the same tasks.
func (s *Sample) atOdds() string {
	const rounding = 1e-3 // for figures written with few digits
	p := &s.Profile
	for _, f := range []struct {
		kind         string
		d            Durations
		tasks        int64
		avg, longest float64
	}{{"map", s.Map, p.MapTasks, p.MapAvgSeconds, p.MapMaxSeconds}, {"reduce", s.Reduce, p.ReduceTasks, p.ReduceAvgSeconds, p.ReduceMaxSeconds}} {
		near := func(x, y float64) bool { return math.Abs(x-y) <= rounding*max(1, x, y) }
		if f.d.Count > 0 && (f.d.Count != f.tasks || !near(f.d.Mean, f.avg) || !near(f.d.Max, f.longest)) {
			return fmt.Sprintf("Its profile has %d %s tasks of %g s on average and %g s at most, and its durations say %d, %g s and %g s; they are of the same tasks.",
				f.tasks, f.kind, f.avg, f.longest, f.d.Count, f.d.Mean, f.d.Max)
		}
	}
	return ""
}

func isSeconds(x float64) bool { return x >= 0 && x <= float64(latest)/1000 }

func (d Durations) fault(phase string) string {
	switch {
	case d.Count < 0 || d.Count > maxAttempts:
		return fmt.Sprintf("Its count of %s tasks is %d.", phase, d.Count)
	case !isSeconds(d.Mean) || !isSeconds(d.Max) || !isSeconds(d.Median) || !isSeconds(d.P95):
		return fmt.Sprintf("The seconds of its %s tasks are no numbers of seconds.", phase)
	case d.Count > 0 && (d.Mean > d.Max*(1+1e-9) || d.Median > d.Max || d.P95 > d.Max):
		return fmt.Sprintf("The mean, median or 95 %% of its %s tasks is above the longest.", phase)
	case len(d.Quantiles) != 0 && len(d.Quantiles) != QuantileCount:
		return fmt.Sprintf("Its %s tasks have %d quantiles; it is %d, for 0, 5, … and 100 %%, or none.", phase, len(d.Quantiles), QuantileCount)
	}
	last := 0.0
	for _, q := range d.Quantiles {
		if !(q >= last) || math.IsInf(q, 0) || q > d.Max*(1+1e-9) {
			return fmt.Sprintf("The quantiles of its %s tasks do not go up to the longest.", phase)
		}
		last = q
	}
	return ""
}
