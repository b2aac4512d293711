package proof

import (
	"iter"
	"math"
)

// dense is the plain dynamic program over every weight that the open classes can have together: the smallest cost for
// each. It leaves nothing out, and is worth its memory if weights are coarse.
type dense struct {
	open    []choice
	base    state // the settled classes, with the open classes at their lightest
	grain   int64 // all weights are multiples of it, counted from the base
	cells   int
	cost    []int64    // of the last layer, math.MaxInt64 for impossible weights
	options [][]uint16 // by layer and cell
	light   []int64    // the lightest weight of each class
}

const (
	denseSteps = 100 // steps allowed for each node a search may keep
	denseCells = 100 // the same for bytes
)

// newDense lays out the table, or returns nil if it would be too large.
func newDense(open []choice, base state, nodes int) *dense {
	d := &dense{open: open, base: base}
	span := int64(0)
	for _, ch := range open {
		light, heavy := int64(math.MaxInt64), int64(0)
		for _, o := range ch.options {
			light, heavy = min(light, o.weight), max(heavy, o.weight)
		}
		for _, o := range ch.options {
			d.grain = gcd(d.grain, o.weight-light)
		}
		d.light = append(d.light, light)
		d.base.weight += light
		span += heavy - light
		if len(ch.options) > math.MaxUint16 {
			return nil
		}
	}
	d.grain = max(1, d.grain)
	cells, steps := span/d.grain+1, int64(0)
	for _, ch := range open {
		steps += int64(len(ch.options))
	}
	if cells > int64(nodes)*denseSteps/max(1, steps) || cells > int64(nodes)*denseCells/int64(2*len(open)+1) {
		return nil
	}
	d.cells = int(cells)
	return d
}

func (d *dense) fill(rest func()) {
	row := func() []int64 {
		r := make([]int64, d.cells)
		for i := range r {
			r[i] = math.MaxInt64
		}
		return r
	}
	d.cost = row()
	d.cost[0] = d.base.cost
	reach := 1 // cells beyond it cannot be reached yet
	for l, ch := range d.open {
		rest()
		next, taken, farthest := row(), make([]uint16, d.cells), 0
		for k, o := range ch.options {
			step := d.step(l, k)
			farthest = max(farthest, step)
			for i, cost := range d.cost[:reach] {
				if cost != math.MaxInt64 && cost+o.cost < next[i+step] {
					next[i+step], taken[i+step] = cost+o.cost, uint16(k)
				}
			}
		}
		d.cost, d.options, reach = next, append(d.options, taken), reach+farthest
	}
}

// step returns the cells by which an option of a layer is heavier than the lightest.
func (d *dense) step(layer, option int) int {
	return int((d.open[layer].options[option].weight - d.light[layer]) / d.grain)
}

// ends returns the complete selections, one for each weight.
func (d *dense) ends() iter.Seq[state] {
	return func(yield func(state) bool) {
		for i, cost := range d.cost {
			if !yield(state{weight: d.base.weight + int64(i)*d.grain, cost: cost}) {
				return
			}
		}
	}
}

// back returns the option that led to a cell of a layer, and the cell before; layers count from 1.
func (d *dense) back(at, layer int) (option, parent int) {
	k := int(d.options[layer-1][at])
	return k, at - d.step(layer-1, k)
}
