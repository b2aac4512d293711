package perf

import (
	"fmt"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// The kinds of facts about a calibration and about its drift.
const (
	AmongBounds         = "executions_among_bounds"
	PlanWith            = "plan_with"
	RecommendationsHeld = "recommendations_held"
	WaitedForSlots      = "waited_for_slots"
	NoneLater           = "no_later_executions"
	KeptTimes           = "kept_calibrated_times"
	TookLonger          = "took_longer_since"
	TookLess            = "took_less_since"
)

// Retold puts the figures of a calibration into sentences.
func (c *Calibration) Retold() words.Facts {
	told := words.Facts{}
	if c.From == nil || c.Until == nil {
		return told
	}
	f, n := &c.Fit, float64(c.Fit.Executions)
	told.Say(AmongBounds, "", fmt.Sprintf("Of %s from %s to %s, %s lay between the lower and the upper bound, %s below and %s above.",
		fault.Plural(c.Fit.Executions, "execution"), minute(*c.From), minute(*c.Until), words.Percent(f.Within), words.Percent(f.Below), words.Percent(f.Above)),
		words.Count("executions", n, "executions"), moment("from", *c.From), moment("until", *c.Until),
		words.Count("within", f.Within, "share"), words.Count("below", f.Below, "share"), words.Count("above", f.Above, "share"))
	if r := c.Recommends; r != nil {
		told.Say(PlanWith, string(r.Bound), fmt.Sprintf("Plan with %s × %g.", r.Bound, r.Factor), words.Count("factor", r.Factor, ""))
	}
	if t := c.Tested; t != nil {
		told.Say(RecommendationsHeld, "", fmt.Sprintf("Such recommendations, made as the executions came, held for %d of the %d that followed (%s).",
			t.Held, t.Executions, words.Percent(t.Coverage)), words.Count("held", float64(t.Held), "executions"),
			words.Count("followed", float64(t.Executions), "executions"), words.Count("coverage", t.Coverage, "share"))
	}
	if w := c.Waiting; w != nil {
		told.Say(WaitedForSlots, "", words.HalfThatWaited(w.Executions, f.Executions)+waited(w.MedianSeconds, w.P90Seconds), words.Count("median", w.MedianSeconds, "s"), words.Count("p90", w.P90Seconds, "s"),
			words.Count("known", float64(w.Executions), "executions"))
	}
	return told
}

// waited says how long half of the executions waited for slots, and 9 of 10 of them.
func waited(median, p90 float64) string {
	switch {
	case p90 == 0:
		return " did not wait for slots, nor did 9 of 10."
	case median == 0:
		return fmt.Sprintf(" did not wait for slots, and 9 of 10 waited %.3g s or less.", p90)
	}
	return fmt.Sprintf(" waited %.3g s or less for slots, 9 of 10 %.3g s or less.", median, p90)
}

func moment(name string, t time.Time) capacity.Figure {
	return capacity.Figure{Name: name, Value: minute(t), Unit: "time"}
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// Retold is the drift with its sentence made anew from its figures, for whoever has checked those. ratio is as in say.
func (d Drift) Retold(ratio float64) Drift {
	d.Facts = nil
	d.say(ratio)
	return d
}

// say puts a drift into a sentence. ratio is the median time since a change as a part of the calibration's.
func (d *Drift) say(ratio float64) {
	figures := []capacity.Figure{words.Count("executions", float64(d.Executions), "executions")}
	exceeded, expected := words.Count("exceeded", float64(d.Exceeded), "executions"), words.Count("expected", d.Expected, "executions")
	switch {
	case d.Executions == 0:
		d.Facts.Say(NoneLater, "", "No execution is later than those the calibration was made of.", figures...)
	case d.State == Slower:
		d.Facts.Say(TookLonger, "", fmt.Sprintf("Of the %s since %s, %d took longer than their calibrated time; %.3g were to be expected. Look at what changed; if it stays so, calibrate anew.",
			fault.Plural(d.Executions, "execution"), minute(*d.Since), d.Exceeded, d.Expected), append(figures, moment("since", *d.Since), exceeded, expected)...)
	case d.State == Faster:
		d.Facts.Say(TookLess, "", fmt.Sprintf("Half of the %s since %s took less than %.3g times what the calibration's took; the plan pays for time that is not needed. Calibrate anew.",
			fault.Plural(d.Executions, "execution"), minute(*d.Since), ratio), append(figures, moment("since", *d.Since), words.Count("ratio", ratio, ""))...)
	default:
		d.Facts.Say(KeptTimes, "", fmt.Sprintf("Of the %s since the calibration, %d took longer than their calibrated time; %.3g were to be expected.",
			fault.Plural(d.Executions, "execution"), d.Exceeded, d.Expected), append(figures, exceeded, expected)...)
	}
	d.Detail = d.Facts.Text()
}
