package horizon

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
)

// calendar is a horizon cut into stints in which nothing changes: at the ends of its periods, at midnight
// (UTC, so that days add up) and wherever a contract or an offer begins or ends. Stints that differ in
// nothing but their time are one situation, which is solved once.
type calendar struct {
	horizon    *Horizon
	stints     []stint
	situations []situation
	jobs       [][]plan.ClassDemand // the distinct demands, by class of the problem
	filled     [][]float64          // of each demand, where jobs arrive: how many jobs each of its jobs stands for (see Horizon.filled)
}

// stint is some time of a period.
type stint struct {
	period    int
	situation int
	alone     int // the situation of its time by itself
	start     time.Time
	seconds   int64
}

// situation is a demand, prices and what is in force.
type situation struct {
	demand  int            // in calendar.jobs
	prices  *HorizonPeriod // whose prices they are
	inForce []bool         // by term
	seconds int64          // of all its stints
	period  int            // one that has this demand
}

// term is a time in which something is in force.
type term struct{ from, until time.Time }

func (t term) covers(at time.Time) bool { return !at.Before(t.from) && at.Before(t.until) }

// within is the seconds of the term that lie in another one.
func (t term) within(other term) int64 {
	from, until := t.from, t.until
	if from.Before(other.from) {
		from = other.from
	}
	if until.After(other.until) {
		until = other.until
	}
	return max(0, until.Unix()-from.Unix())
}

// newCalendar cuts a valid horizon at the ends of the terms.
func newCalendar(h *Horizon, terms []term) *calendar {
	carried := h.Carried()
	h = &carried
	c := &calendar{horizon: h, stints: make([]stint, 0, len(h.Periods))}
	var cuts []time.Time
	for _, t := range terms {
		cuts = append(cuts, t.from, t.until)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	type key struct {
		demand  int
		price   string
		inForce string
	}
	demands, known := newDemands(c), make(map[key]int)
	inForce, mask, next := []bool(nil), "", 0
	for i := range h.Periods {
		p := &h.Periods[i]
		k := key{demand: demands.of(i), price: p.PriceKey()}
		end := p.End()
		for at := p.Start; at.Before(end); {
			until := midnightAfter(at)
			if end.Before(until) {
				until = end
			}
			if inForce == nil || next < len(cuts) && !cuts[next].After(at) {
				for next < len(cuts) && !cuts[next].After(at) {
					next++
				}
				inForce, mask = inForceAt(terms, at)
			}
			if next < len(cuts) && cuts[next].Before(until) {
				until = cuts[next]
			}
			k.inForce = mask
			s, seen := known[k]
			if !seen {
				s = len(c.situations)
				known[k] = s
				c.situations = append(c.situations, situation{demand: k.demand, prices: p, inForce: inForce, period: i})
			}
			seconds := until.Unix() - at.Unix()
			c.situations[s].seconds += seconds
			c.stints = append(c.stints, stint{i, s, s, at.UTC(), seconds})
			at = until
		}
	}
	return c
}

func midnightAfter(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, time.UTC)
}

func inForceAt(terms []term, at time.Time) (inForce []bool, mask string) {
	inForce, text := make([]bool, len(terms)), make([]byte, len(terms))
	for i, t := range terms {
		if inForce[i] = t.covers(at); inForce[i] {
			text[i] = 1
		}
	}
	return inForce, string(text)
}

// demands finds periods of the same demand.
type demands struct {
	calendar *calendar
	byValue  map[string]int
	byPlace  map[*float64]int // periods that share their jobs need no second look
	text     []byte
}

func newDemands(c *calendar) *demands {
	return &demands{c, make(map[string]int), make(map[*float64]int), nil}
}

func (d *demands) of(period int) int {
	h := d.calendar.horizon
	var place *float64
	if p := &h.Periods[period]; len(p.Running) > 0 {
		place = &p.Running[0]
	} else if len(p.Jobs) > 0 {
		place = &p.Jobs[0]
	}
	if known, seen := d.byPlace[place]; seen {
		return known
	}
	d.text = d.text[:0]
	for i := range h.Problem.Classes {
		d.text = binary.LittleEndian.AppendUint64(d.text, significant(h.JobsIn(period, i).Max))
		if h.parts != nil {
			d.text = binary.LittleEndian.AppendUint64(d.text, significant(h.filled(period, i)))
		}
	}
	demand, seen := d.byValue[string(d.text)]
	if !seen {
		demand = len(d.calendar.jobs)
		d.byValue[string(d.text)] = demand
		jobs := make([]plan.ClassDemand, len(h.Problem.Classes))
		for i := range jobs {
			jobs[i] = plan.ClassDemand{JobRange: h.JobsIn(period, i), Penalty: h.Problem.Classes[i].Penalty}
		}
		if h.parts != nil {
			filled := make([]float64, len(jobs))
			for i := range jobs {
				filled[i] = h.filled(period, i)
				jobs[i].Penalty = h.worth(i, filled[i])
			}
			d.calendar.filled = append(d.calendar.filled, filled)
		}
		d.calendar.jobs = append(d.calendar.jobs, jobs)
	}
	d.byPlace[place] = demand
	return demand
}

// significant returns the bits of a number that count: sums of the same jobs at once in another order differ in the last ones.
func significant(x float64) uint64 {
	const noise = 12
	return (math.Float64bits(x) + 1<<(noise-1)) >> noise
}

// problem is a situation as a problem of its own. The terms are those of the contracts.
func (c *calendar) problem(s *situation, contracts []TermContract) capacity.Problem {
	p := c.horizon.Problem
	p.Options.Near = nil
	p.Classes = slices.Clone(p.Classes)
	for i, jobs := range c.jobs[s.demand] {
		p.Classes[i].Jobs, p.Classes[i].Penalty = jobs.JobRange, jobs.Penalty
	}
	p.Supply = s.prices.Priced(p.Supply)
	p.Supply.Contracts = slices.Clip(p.Supply.Contracts)
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	for i := range p.Supply.VMTypes {
		t := &p.Supply.VMTypes[i]
		t.Contracts = slices.Clip(t.Contracts)
		for k, contract := range contracts {
			if s.inForce[k] && contract.VMType == t.Name {
				t.Contracts = append(t.Contracts, contract.Contract)
			}
		}
	}
	if len(p.Supply.VMTypes) == 0 {
		for k, contract := range contracts {
			if s.inForce[k] {
				p.Supply.Contracts = append(p.Supply.Contracts, contract.Contract)
			}
		}
	}
	return p
}

// filledOf returns how many jobs of each class a job of a situation's problem counts for; nil is one.
func (c *calendar) filledOf(s *situation) []float64 {
	if c.filled == nil {
		return nil
	}
	return c.filled[s.demand]
}
