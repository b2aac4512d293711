package recheck

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// classReport is what a class's report says of the class beside its executions.
type classReport struct {
	Job      string                `json:"job"`
	Profile  json.RawMessage       `json:"profile"`
	InUse    *capacity.Calibration `json:"in_use"`
	Adoption *struct {
		perf.Basis
		Job     string          `json:"job"`
		Profile json.RawMessage `json:"profile"`
		Drift   perf.Drift      `json:"drift"`
	} `json:"adoption"`
}

// adoption checks the data behind a calibration in use, and what later executions say of it. Figures of executions are worked
// out where as many of them are in the question, of the same job and profile.
func (c *checking) adoption(q *perf.CalibrationQuestion, answer []byte) {
	var report classReport
	if err := json.Unmarshal(answer, &report); err != nil || report.Adoption == nil {
		if err != nil {
			c.wrong("/adoption", "cannot be read: %v", err)
		}
		c.end(AdoptionCheck, "No data behind a calibration are on record.")
		return
	}
	of := report.Adoption
	d := &of.Drift
	bound := slices.Index(boundNames[:], string(of.Bound))
	switch {
	case bound < 0 || !(of.Factor > 0) || !(of.Coverage > 0 && of.Coverage < 1):
		c.wrong("/adoption", "has the bound %q, the factor %v and the coverage %v", of.Bound, of.Factor, of.Coverage)
	case report.InUse == nil || report.InUse.Bound != of.Bound || report.InUse.Factor != of.Factor:
		c.wrong("/in_use", "is not what was adopted, %s × %v", of.Bound, of.Factor)
	}
	if of.Executions < 1 || of.Exceeded < 0 || of.Exceeded > of.Executions || of.Faster < 0 || 2*of.Faster > of.Executions || !(of.MedianRatio > 0) {
		c.wrong("/adoption/executions", "are %d, of which %d exceeded their time and %d are faster than the median %v", of.Executions, of.Exceeded, of.Faster, of.MedianRatio)
	}
	changed := d.State != perf.Unchanged
	if !slices.Contains([]perf.DriftState{perf.Unchanged, perf.Slower, perf.Faster}, d.State) || changed != (d.Since != nil) || d.Executions < 0 || d.Exceeded < 0 || d.Exceeded > d.Executions {
		c.wrong("/adoption/drift", "is %q since %v, with %d of %d executions", d.State, d.Since, d.Exceeded, d.Executions)
	}
	c.differ("/adoption/drift/expected", tree(marshalled(d.Expected)), alikeTo((1-of.Coverage)*float64(d.Executions)))
	if len(c.faults) > 0 {
		c.end(AdoptionCheck, "")
		return
	}
	ratio := 0.0 // of a drift, which stands in its fact
	for _, f := range d.Facts {
		for _, x := range f.Figures {
			if x.Name == "ratio" {
				ratio, _ = strconv.ParseFloat(x.Value, 64)
			}
		}
	}
	if of.Job == report.Job && string(marshalled(tree(of.Profile))) == string(marshalled(tree(report.Profile))) {
		if r, known := c.adopted(executionsOf(q).all, &of.Basis, d, bound); known && d.State == perf.Faster && math.Abs(r-ratio) > 1e-8 {
			c.wrong("/adoption/drift/facts", "says the median is %v times the calibration's, and it is %v", ratio, r)
		}
	}
	told := d.Retold(ratio)
	c.differ("/adoption/drift", tree(marshalled(d)), map[string]any{"detail": told.Detail, "facts": tree(marshalled(told.Facts))})
	c.end(AdoptionCheck, "The data behind the calibration in use and its drift follow from the executions that are there.")
}

// adopted works the figures of an adoption and of its drift out from executions, as far as those are there. It returns the
// median since a change as a part of the calibration's.
func (c *checking) adopted(all []timed, of *perf.Basis, d *perf.Drift, bound int) (ratio float64, known bool) {
	n := 0
	for n < len(all) && !all[n].At.After(of.Until) {
		n++
	}
	over := func(some []timed) (exceeded int64) {
		for i := range some {
			if some[i].ratio(bound, some[i].Seconds) > of.Factor*(1+near) {
				exceeded++
			}
		}
		return exceeded
	}
	median := func(some []timed) float64 {
		var ratios []float64
		for i := range some {
			ratios = append(ratios, some[i].ratio(bound, some[i].Seconds))
		}
		slices.Sort(ratios)
		return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
	}
	if before := all[:n]; int64(n) == of.Executions {
		middle, faster := median(before), int64(0)
		for i := range before {
			if middle > before[i].ratio(bound, before[i].Seconds)*(1+near) {
				faster++
			}
		}
		if math.Abs(of.MedianRatio-middle) > 1e-9*middle || of.Exceeded != over(before) || of.Faster != faster || !of.Until.Equal(before[n-1].At) {
			c.wrong("/adoption", "says that %d exceeded their time and %d are faster than the median %v, until %s; the executions say %d, %d, %v and %s",
				of.Exceeded, of.Faster, of.MedianRatio, of.Until, over(before), faster, middle, before[n-1].At)
		}
	}
	later := all[n:]
	if d.Since != nil {
		at := slices.IndexFunc(later, func(e timed) bool { return e.At.Equal(*d.Since) })
		if at < 0 {
			return 0, false
		}
		later = later[at:]
	}
	if len(later) == 0 || int64(len(later)) != d.Executions {
		return 0, false
	}
	if is := over(later); is != d.Exceeded {
		c.wrong("/adoption/drift/exceeded", "is %d, and %d of the executions took longer", d.Exceeded, is)
	}
	return median(later) / of.MedianRatio, true
}
