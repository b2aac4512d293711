package plan

import (
	"math"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/plan/integer"
)

// fleetProgram is a fleet as a program for Clp or CBC. It has the VMs of every tier of every type, and spot VMs. For
// each class and type it has the jobs, or one yes or no for every number of them if whole slots give these different
// costs and that counts.
type fleetProgram struct {
	lp.Program
	start   []float64
	columns []jobColumn
	rented  [][]int // the columns of each type's VMs
}

// jobColumn is a column that puts so many jobs of a class on a type for each unit of it.
type jobColumn struct {
	index, class, kind int
	jobs               float64
}

// fidelity grades the truth of a program to the fleet.
type fidelity int

const (
	fractional fidelity = iota // jobs and VMs need not be whole
	averaged                   // both are whole, and every job of a class takes the mean of what all its jobs take
	faithful                   // as planned
)

// program leaves the free classes to choose and holds the others where they are.
func (f *fleet) program(as fidelity, free []int, jobs [][]int64) *fleetProgram {
	return f.programOf(as, free, jobs, func(int, int) bool { return true })
}

// programOf is program with the places of classes that are wanted.
func (f *fleet) programOf(as fidelity, free []int, jobs [][]int64, wanted func(i, v int) bool) *fleetProgram {
	p := &fleetProgram{}
	rows := f.addSupplies(p, as != fractional, free, jobs)
	for _, i := range free {
		total := p.Row(float64(f.classes[i].low), f.classes[i].high)
		for _, v := range f.on[i] {
			if !wanted(i, v) {
				continue
			}
			perVM := float64(f.types[v].loads.Grid.PerVM)
			if as != faithful || f.linear[i] {
				load := f.types[v].classes[i].gamma
				if as == averaged && !f.linear[i] && f.high[i] > 0 {
					load = float64(f.types[v].loads.Units(i, f.high[i])) / perVM / float64(f.high[i])
				}
				p.addJobs(f, i, v, 1, f.classes[i].high, as != fractional, float64(at(jobs, i, v)),
					lp.Entry{Row: rows[v], Coefficient: load}, lp.Entry{Row: total, Coefficient: 1})
				continue
			}
			one := p.Row(0, 1)
			for h := int64(1); h <= min(f.high[i], integer.MaxOptions); h++ {
				chosen := 0.0
				if h == at(jobs, i, v) {
					chosen = 1
				}
				p.addJobs(f, i, v, float64(h), 1, true, chosen,
					lp.Entry{Row: rows[v], Coefficient: float64(f.types[v].loads.Units(i, h)) / perVM},
					lp.Entry{Row: total, Coefficient: float64(h)}, lp.Entry{Row: one, Coefficient: 1})
			}
		}
	}
	return p
}

func at(jobs [][]int64, i, v int) int64 {
	if jobs == nil {
		return 0
	}
	return jobs[i][v]
}

func (p *fleetProgram) addJobs(f *fleet, class, kind int, jobs, upper float64, whole bool, start float64, entries ...lp.Entry) {
	index := p.Column(-f.penalty[class]*jobs, 0, upper, whole, entries...)
	p.columns = append(p.columns, jobColumn{index, class, kind, jobs})
	p.start = append(p.start, start)
}

// addSupplies adds the VMs of all types with their rows of capacity, shares of spot and the budget, and
// answers the rows of capacity.
func (f *fleet) addSupplies(p *fleetProgram, whole bool, free []int, jobs [][]int64) (rows []int) {
	budget := -1
	stays := make([]bool, len(jobs))
	for i := range stays {
		stays[i] = true
	}
	for _, i := range free {
		if jobs != nil {
			stays[i] = false
		}
	}
	if !math.IsInf(f.budget, 1) {
		budget = p.Row(math.Inf(-1), f.budget)
	}
	for v := range f.types {
		t := &f.types[v]
		held, total := 0.0, int64(0)
		for i := range jobs {
			units := t.loads.Units(i, jobs[i][v])
			total += units
			if stays[i] {
				held += float64(units)
			}
		}
		row := p.Row(math.Inf(-1), -(held-float64(t.loads.Grid.Tolerance))/float64(t.loads.Grid.PerVM))
		rows = append(rows, row)
		n := integer.CeilDiv(max(0, total-t.loads.Grid.Tolerance), t.loads.Grid.PerVM)
		spot := t.rental.SpotOf(n)
		share := -1
		if t.rental.Spot != nil {
			share = p.Row(math.Inf(-1), 0)
		}
		all := -1
		if whole && share >= 0 && t.rental.MostVMs < integer.Unlimited {
			all = p.Row(math.Inf(-1), float64(t.rental.MostVMs))
		}
		add := func(price, most, ofShare, start float64) {
			entries := []lp.Entry{{Row: row, Coefficient: -1}}
			if all >= 0 {
				entries = append(entries, lp.Entry{Row: all, Coefficient: 1})
			}
			if share >= 0 && ofShare != 0 {
				entries = append(entries, lp.Entry{Row: share, Coefficient: ofShare})
			}
			if budget >= 0 && price != 0 {
				entries = append(entries, lp.Entry{Row: budget, Coefficient: price})
			}
			p.rented[v] = append(p.rented[v], p.Column(price, 0, most, whole, entries...))
			p.start = append(p.start, start)
		}
		p.rented = append(p.rented, nil)
		left := n - spot
		for k, price := range t.rental.Supply.Price {
			from, to := t.rental.Supply.Tier(k)
			used := min(left, to-from)
			left -= used
			most := math.Min(float64(to-from), float64(t.rental.Limit))
			if share >= 0 {
				add(price, most, -t.rental.Spot.Share, float64(used))
			} else {
				add(price, most, 0, float64(used))
			}
		}
		if share >= 0 {
			add(t.rental.Spot.Price, float64(t.rental.Limit), 1-t.rental.Spot.Share, float64(spot))
		}
	}
	return rows
}

// read puts a solution's jobs of the free classes into a plan's.
func (p *fleetProgram) read(x []float64, free []int, jobs [][]int64) {
	for _, i := range free {
		clear(jobs[i])
	}
	for _, c := range p.columns {
		jobs[c.class][c.kind] += int64(math.Round(x[c.index] * c.jobs))
	}
}
