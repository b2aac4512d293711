package plan

import (
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

// certify re-checks a finished plan from its own figures: the VMs it rents, the jobs it admits and the slots it gives.
// It holds them against the problem, written down once more as one program whose rows are summed in exact decimals,
// and against the deadlines. It shares no sum with the search. A plan that fails is our mistake and is shown to nobody.
func (m *model) certify(pl *capacity.Plan) error {
	p, x, err := m.certificate(pl)
	if err != nil {
		return err
	}
	committed := 0.0
	for i, c := range m.Supply.Contracts {
		if c.Billing == capacity.BilledAlways { // paid in any case: not part of the program's cost
			committed += c.Price.Float() * float64(c.VMs) * m.hours
			if used := pl.VMs.Contracts[i].Used; used > float64(c.VMs) {
				return fmt.Errorf("the plan uses %g VMs of contract %q, which has %d", used, c.Name, c.VMs)
			}
		}
	}
	// Money is rounded to nine places if a period is not a whole number of hours. The objective may be off by that, on
	// five cost lines, and by the float error of the amounts whose difference it is.
	objective := pl.Objective.Float() - committed
	value, magnitude := 0.0, 0.0
	for j, c := range p.Cost {
		value += c * x[j]
		magnitude += math.Abs(c * x[j])
	}
	if allowed := 1e-8 + 1e-9*(math.Abs(objective)+committed) + 1e-15*magnitude; math.Abs(value-objective) > allowed {
		return fmt.Errorf("the plan says its objective is %v, and it adds up to %v", pl.Objective, value+committed)
	}
	return lp.Check(p, x, value)
}

// certificate writes the problem and the plan as a program and a point in it: VMs, then per class
// its jobs and its slots. Row 0 is capacity in units of which one VM has so many that every slot
// is a whole number of them.
func (m *model) certificate(pl *capacity.Plan) (*lp.Program, []float64, error) {
	whole := m.Options.Integrality != capacity.Relaxed
	exact := m.Options.Integrality == capacity.Executable
	dedicated := m.Options.Sharing == capacity.Dedicated && whole
	perVM := int64(1)
	if exact && !dedicated {
		perVM = m.unitsPerVM()
	}
	units := float64(perVM)
	columns := len(m.tiers) + len(m.classes)
	if exact || dedicated {
		columns += 2 * len(m.classes)
	}
	p, x := m.roomFor(columns)
	row := p.Row(math.Inf(-1), 0)
	high := make([]int64, len(m.classes))
	for i := range high {
		high[i] = int64(m.classes[i].high)
	}
	if g, _ := integer.NewGrid(directGammas(m.classes, exact), high, false); (g.Tolerance > 0 || g.Rounded > 0 || m.rounded(exact) || exact && m.coarse(g)) && !dedicated {
		p.RowUpper[row] = max(integer.LoadSlack, 1.001*float64(g.Rounded)/float64(g.PerVM)) * units
	}
	for k, t := range m.tiers {
		used := pl.VMs.OnDemand
		if s := m.source[k]; s != onDemand {
			used = pl.VMs.Contracts[s].Used
		}
		p.Column(t.Price, 0, float64(min(t.VMs, integer.Unlimited)), whole, lp.Entry{Row: row, Coefficient: -units})
		x = append(x, used)
	}
	if s := m.Supply.Spot; s != nil {
		p.Column(s.Price.Float()*m.hours, 0, integer.MostVMs, whole, lp.Entry{Row: row, Coefficient: -units})
		x = append(x, pl.VMs.Spot)
	}
	for i := range m.classes {
		c, out := &m.classes[i], &pl.Classes[m.classes[i].index]
		h := out.Admitted
		coefficient := c.gamma * units
		switch {
		case dedicated, exact && c.slotted: // counted below
			coefficient = 0
		case c.VMsPerJob != nil && perVM > 1: // multiplied as the decimal it is
			coefficient = money.Amount{Decimal: c.VMsPerJob.Mul(decimal.NewFromInt(perVM))}.Float()
		}
		p.Column(-c.penalty, c.low, c.high, whole, lp.Entry{Row: row, Coefficient: coefficient})
		x = append(x, h)
		switch {
		case dedicated:
			least := c.gamma * h
			if exact && c.slotted {
				least = c.shape.size(out.Slots.Map, out.Slots.Reduce)
			}
			if c.slotted || c.long {
				least -= integer.LoadNoise
			}
			p.Column(0, least-1e-15*least, math.Inf(1), true, lp.Entry{Row: row, Coefficient: units})
			x = append(x, out.VMs)
		case exact && c.slotted:
			leastMap, leastRed := c.shape.least(int64(h))
			if h == 0 {
				leastMap, leastRed = 0, 0
			}
			p.Column(0, float64(leastMap), math.Inf(1), true, lp.Entry{Row: row, Coefficient: units / c.shape.mapSlots})
			p.Column(0, float64(leastRed), math.Inf(1), true, lp.Entry{Row: row, Coefficient: units / c.shape.redSlots})
			x = append(x, out.Slots.Map, out.Slots.Reduce)
		}
		if c.slotted && h > 0 {
			if err := c.onTime(h, out.Slots); err != nil {
				return nil, nil, err
			}
		}
	}
	return p, x, nil
}

// unitsPerVM returns a number of units of which every slot is a whole number, as far as the grid is fine enough.
func (m *model) unitsPerVM() int64 {
	perVM := int64(1)
	for i := range m.classes {
		c := &m.classes[i]
		if !c.slotted {
			continue
		}
		for _, n := range [2]int64{c.SlotsPerVM.Map, c.SlotsPerVM.Reduce} {
			if next := perVM / integer.GCD(perVM, n) * n; float64(next) <= integer.FineGrid {
				perVM = next
			}
		}
	}
	return perVM
}

// coarse says that no grid of the loads carries all sizes of slots too, so that slots are rounded.
func (m *model) coarse(g integer.Grid) bool {
	perVM, most := g.PerVM, 1.0
	for i := range m.classes {
		most += m.classes[i].gamma*m.classes[i].high + mostRounding
	}
	for i := range m.classes {
		c := &m.classes[i]
		if !c.slotted {
			continue
		}
		for _, n := range [2]int64{c.SlotsPerVM.Map, c.SlotsPerVM.Reduce} {
			if perVM = perVM / integer.GCD(perVM, n) * n; perVM > integer.FineGrid || float64(perVM)*most >= integer.MaxLoad {
				return true
			}
		}
	}
	return false
}

// roomFor is an empty program with room for columns of one entry each, and for a point in it.
func (m *model) roomFor(columns int) (*lp.Program, []float64) {
	if m.known == nil {
		return roomFor(columns), make([]float64, 0, columns)
	}
	p := &m.known.program
	if cap(p.Cost) < columns {
		*p, m.known.point = *roomFor(columns), make([]float64, 0, columns)
	}
	*p = lp.Program{
		Cost: p.Cost[:0], Lower: p.Lower[:0], Upper: p.Upper[:0], Whole: p.Whole[:0], Start: p.Start[:0], RowIndex: p.RowIndex[:0],
		Coefficient: p.Coefficient[:0], RowLower: p.RowLower[:0], RowUpper: p.RowUpper[:0],
	}
	return p, m.known.point[:0]
}

func roomFor(columns int) *lp.Program {
	return &lp.Program{
		Cost: make([]float64, 0, columns), Lower: make([]float64, 0, columns), Upper: make([]float64, 0, columns), Whole: make([]bool, 0, columns),
		Start: make([]int, 0, columns+1), RowIndex: make([]int, 0, columns), Coefficient: make([]float64, 0, columns),
	}
}

// timeNoise, relative to the terms, is the float noise of a sum of times: a fixed time of -30,000 s cancels
// nearly all of the work of a class whose deadline is a millisecond.
const timeNoise = 1e-15

// onTime checks an execution's predicted time against the deadline: at most 1e-9 of it late.
func (c *class) onTime(jobs float64, slots *capacity.Slots) error {
	late := 1 + 1e-9
	time := c.shape.work.FixedSeconds
	noise := timeNoise * math.Abs(time)
	for _, phase := range [2]struct{ work, slots float64 }{
		{c.shape.work.MapWorkSeconds, slots.Map}, {c.shape.work.ReduceWorkSeconds, slots.Reduce},
	} {
		if phase.work > 0 {
			time += phase.work * jobs / phase.slots
			noise += timeNoise * phase.work * jobs / phase.slots
		}
	}
	if !(time <= c.DeadlineSeconds*late+noise) {
		return fmt.Errorf("class %q would take %v s on its slots, and its deadline is %v s", c.Name, time, c.DeadlineSeconds)
	}
	return nil
}
