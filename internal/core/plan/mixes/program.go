// Package mixes solves the linear program of a fleet. Every class mixes some of its choices, every type rents VMs along a
// convex line, and few rows bind them: one of capacity for each type and one of the budget. The simplex method solves it
// over choices that are made when they are needed. All but as many classes as there are rows keep to a single choice, the
// class's key. So the basis that has to be inverted is no larger than the rows (generalised upper bounds). No promise rests
// on it: any prices give a bound, and these give a good one.
package mixes

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/plan/integer"
)

// Choice is one choice of a class: VMs of each type, and jobs.
type Choice struct {
	VMs  []float64
	Jobs []float64
	All  float64 // jobs
}

// column is a variable beside the choices: VMs along a piece of a type's line, or what a row leaves.
type column struct {
	row           int     // of the type, or the budget's
	onRow         float64 // coefficient there
	spend         float64 // coefficient in the budget
	cost          float64
	upper         float64
	missing       bool // VMs or money that is not there, what phase one does away with
	atUpper, used bool // used: in the basis
}

// basic is a basic variable that is no key: a column, or a class's choice (class >= 0).
type basic struct {
	column, class int
	choice        Choice
}

// Oracle writes down the choice of a class that is worth least.
type Oracle func(class int, nu []float64, penalty float64, choice *Choice) (worth float64, ok bool)

// Program is a linear program over choices, and its solution.
type Program struct {
	penalty  []float64
	best     Oracle
	types    int
	budgeted bool
	columns  []column
	free     []float64 // the right-hand side left by keys and by columns at their upper bound
	keys     []Choice
	basis    []basic
	value    []float64 // of the basis
	inverse  [][]float64
	replaced int // columns of the basis since the inverse was made; negative where it must be made
	PhaseOne bool
	Lacking  float64 // VMs and money that phase one left missing, also where that is noise
	random   integer.SplitMix
	work     *int
	ended    func() bool
	block    int    // classes from here on are priced next
	tried    Choice // room for the one that is priced
	found    Choice // the best of those priced
	Solved   bool   // the basis is the best one, and inverse its inverse

	Nu []float64
	Mu float64
}

// Stands says that the solution keeps its prices where a row has a little more, or less: the basis stays feasible.
func (p *Program) Stands(row int, by float64) bool {
	if !p.Solved {
		return false
	}
	n := len(p.basis)
	rest := map[int]float64{} // of the classes that mix choices: the part of the key
	for k := range p.basis {
		b, change := &p.basis[k], p.inverse[k][n+row]*by
		value := p.value[k] + change
		if value < 0 {
			return false
		}
		if b.class < 0 {
			if value > p.columns[b.column].upper {
				return false
			}
			continue
		}
		if _, known := rest[b.class]; !known {
			rest[b.class] = 1
		}
		rest[b.class] -= value
	}
	for _, part := range rest {
		if part < 0 {
			return false
		}
	}
	return true
}

// pricesStep, relative to the costs, is the gain below which a step is not worth it.
const pricesStep = 1e-10

// Parts is a linear program before it is solved: classes with their penalties and choices, types with their lines.
type Parts struct {
	Penalty []float64
	Best    Oracle
	Nu      []float64 // prices to begin at
	Rent    func(v int, dst []Segment) (line Line, ok bool)
	Budget  float64 // infinite if there is none
	Work    *int
	Ended   func() bool
}

// Line holds the VMs of a type that are there in any case, what they cost, and a convex line for more.
type Line struct {
	Free, Besides float64 // VMs that are there, and those that nobody pays for
	Paid          float64 // what the first ones cost
	More          []Segment
}

// New sets up a linear program, its classes at what is cheapest at the prices to begin at; false where a class has
// no choice, or a type no VMs.
func New(of Parts) (p *Program, ok bool) {
	n := len(of.Nu)
	p = &Program{penalty: of.Penalty, best: of.Best, types: n, budgeted: !math.IsInf(of.Budget, 1), keys: make([]Choice, len(of.Penalty)), Nu: slices.Clone(of.Nu), random: 1, work: of.Work, ended: of.Ended}
	rows := n
	if p.budgeted {
		rows++
	}
	p.free = make([]float64, rows)
	room := make([]float64, 2*n*(len(p.keys)+2))
	choice := func() (c Choice) {
		c.VMs, c.Jobs, room = room[:n:n], room[n:2*n:2*n], room[2*n:]
		return c
	}
	p.tried, p.found = choice(), choice()
	for i := range p.keys {
		p.keys[i] = choice()
		if _, ok = of.Best(i, p.Nu, p.penalty[i], &p.keys[i]); !ok {
			return nil, false
		}
		for v, x := range p.keys[i].VMs {
			p.free[v] -= x
		}
	}
	spend, left := 0.0, of.Budget
	var line Line
	for v := range n {
		if line, ok = of.Rent(v, line.More[:0]); !ok {
			return nil, false
		}
		spend += line.Paid
		left -= line.Paid
		p.free[v] += line.Besides
		p.free[v] += line.Free
		spend = p.follow(v, line.More, spend)
	}
	if p.budgeted {
		p.columns = append(p.columns,
			column{row: n, onRow: 1, upper: math.Inf(1)},
			column{row: n, onRow: -1, upper: math.Inf(1), missing: true})
		in := len(p.columns) - 2
		if spend > of.Budget {
			in++
		}
		p.columns[in].used = true
		p.basis = append(p.basis, basic{column: in, class: -1})
		p.free[n] = left
		for _, c := range p.columns {
			if c.atUpper {
				p.free[n] -= c.upper * c.spend
			}
		}
	}
	p.value = make([]float64, rows)
	for range rows {
		p.inverse = append(p.inverse, make([]float64, 2*rows))
	}
	return p, true
}

// follow adds the columns of a type, its VMs following the load along the line, and returns the spending with them.
func (p *Program) follow(v int, line []Segment, spend float64) float64 {
	in := len(p.columns)
	p.columns = append(p.columns, column{row: v, onRow: 1, upper: math.Inf(1)}) // capacity not used
	for _, s := range line {
		p.columns = append(p.columns, column{row: v, onRow: -1, spend: s.Price, cost: s.Price, upper: s.Length})
	}
	p.columns = append(p.columns, column{row: v, onRow: -1, upper: math.Inf(1), missing: true})
	for need := -p.free[v]; need > 0; {
		in++
		c := &p.columns[in]
		if need <= c.upper {
			break
		}
		need -= c.upper
		c.atUpper = true
		spend += c.upper * c.spend
		p.free[v] += c.upper
	}
	p.columns[in].used = true
	p.basis = append(p.basis, basic{column: in, class: -1})
	if c := &p.columns[in]; c.onRow < 0 && !c.missing {
		spend += -p.free[v] * c.spend
	}
	return spend
}

// Solve finds the best prices; what is then missing is VMs or money without which the box has no
// plan, and none is missing where there may be one.
func (p *Program) Solve() (missing float64) {
	for k := range p.basis {
		p.PhaseOne = p.PhaseOne || p.columns[p.basis[k].column].missing
	}
	if p.PhaseOne {
		p.steps()
		for k, b := range p.basis {
			if b.class < 0 && p.columns[b.column].missing {
				missing += p.value[k]
			}
		}
		if p.Lacking = missing; missing > integer.LoadNoise {
			return missing
		}
		p.PhaseOne = false
	}
	for k := range p.columns {
		if p.columns[k].missing {
			p.columns[k].upper = 0
		}
	}
	p.steps()
	return 0
}

func (p *Program) cost(b *basic) float64 {
	switch {
	case b.class >= 0 && p.PhaseOne:
		return 0
	case b.class >= 0:
		return -p.penalty[b.class] * (b.choice.All - p.keys[b.class].All)
	case !p.PhaseOne:
		return p.columns[b.column].cost
	case p.columns[b.column].missing:
		return 1
	}
	return 0
}

// entries is a variable's coefficients; a choice's are the difference to its class's key.
func (p *Program) entries(b *basic, dst []float64) []float64 {
	dst = append(dst[:0], make([]float64, len(p.free))...)
	if b.class >= 0 {
		for v := range p.types {
			dst[v] = b.choice.VMs[v] - p.keys[b.class].VMs[v]
		}
		return dst
	}
	c := &p.columns[b.column]
	dst[c.row] = c.onRow
	if p.budgeted && c.spend != 0 {
		dst[p.types] = c.spend
	}
	return dst
}

// invert computes the inverse of the basis, its values and the prices of the rows; false where the
// basis cannot be inverted any more.
func (p *Program) invert() bool {
	n := len(p.basis)
	if n >= replacedFrom && p.replaced >= 0 && p.replaced < replacedMost {
		*p.work += 10 + n*n/4 + len(p.columns)/2
		p.price()
		return true
	}
	p.replaced = 0
	*p.work += 10 + n*n*n/10 + len(p.columns)/2
	var column []float64
	for r := range n {
		clear(p.inverse[r])
		p.inverse[r][n+r] = 1
	}
	for k := range p.basis {
		column = p.entries(&p.basis[k], column)
		for r := range n {
			p.inverse[r][k] = column[r]
		}
	}
	for k := range n {
		at := k
		for r := k + 1; r < n; r++ {
			if math.Abs(p.inverse[r][k]) > math.Abs(p.inverse[at][k]) {
				at = r
			}
		}
		p.inverse[k], p.inverse[at] = p.inverse[at], p.inverse[k]
		pivot := p.inverse[k][k]
		if math.Abs(pivot) < 1e-11 {
			return false
		}
		for c := k; c < 2*n; c++ {
			p.inverse[k][c] /= pivot
		}
		for r := range n {
			if factor := p.inverse[r][k]; r != k && factor != 0 {
				for c := k; c < 2*n; c++ {
					p.inverse[r][c] -= factor * p.inverse[k][c]
				}
			}
		}
	}
	p.price()
	return true
}

// An inverse of so many rows is kept from step to step, for so many steps: to make it takes the cube of its rows.
const (
	replacedFrom, replacedMost = 16, 50
	replacedLeast              = 1e-7 // what a new column has at least in its place
)

// replace puts the column that now stands in a place of the basis into the inverse.
func (p *Program) replace(at int) {
	n := len(p.basis)
	if n < replacedFrom || p.replaced < 0 {
		return
	}
	entries, column := p.entries(&p.basis[at], nil), make([]float64, n)
	for k := range n {
		for r := range n {
			column[k] += p.inverse[k][n+r] * entries[r]
		}
	}
	pivot := column[at]
	if p.replaced++; math.Abs(pivot) < replacedLeast {
		p.replaced = -1
		return
	}
	own := p.inverse[at][n:]
	for r := range own {
		own[r] /= pivot
	}
	for k := range n {
		if factor := column[k]; k != at && factor != 0 {
			for r, x := range own {
				p.inverse[k][n+r] -= factor * x
			}
		}
	}
}

// price computes the values of the basis and the prices of the rows.
func (p *Program) price() {
	n := len(p.basis)
	dual := make([]float64, n)
	for k := range n {
		p.value[k] = 0
		cost := p.cost(&p.basis[k])
		for r := range n {
			p.value[k] += p.inverse[k][n+r] * p.free[r]
			dual[r] += cost * p.inverse[k][n+r]
		}
	}
	for v := range p.types {
		p.Nu[v] = -dual[v]
	}
	if p.Mu = 0; p.budgeted {
		p.Mu = -dual[p.types]
	}
}

// stepsMost bounds the steps of a linear program; the prices are good long before.
func (p *Program) stepsMost() int { return 2000 + 40*(len(p.keys)+len(p.columns)) }

func (p *Program) steps() {
	p.replaced = -1
	for range p.stepsMost() {
		if !p.invert() {
			return
		}
		if p.ended() { // with the values of the last basis
			break
		}
		enter, up, found := p.entering()
		if p.Solved = !found && !p.PhaseOne; !found || !p.step(enter, up) {
			break
		}
	}
	for v := range p.Nu {
		p.Nu[v] = max(0, p.Nu[v])
	}
	p.Mu = max(0, p.Mu)
}

// entering is a variable that makes the plan cheaper, and whether it grows.
func (p *Program) entering() (enter basic, up, found bool) {
	scale := p.Mu
	for _, x := range p.Nu {
		scale = max(scale, x)
	}
	most := pricesStep * max(scale, 1e-9)
	for k := range p.columns {
		c := &p.columns[k]
		if c.used || c.upper == 0 {
			continue
		}
		reduced := p.cost(&basic{column: k, class: -1}) + p.Mu*c.spend
		if c.row < p.types {
			reduced += p.Nu[c.row] * c.onRow
		} else {
			reduced += p.Mu * c.onRow
		}
		if c.atUpper {
			reduced = -reduced
		}
		if -reduced > most {
			most, found, enter, up = -reduced, true, basic{column: k, class: -1}, !c.atUpper
		}
	}
	if found {
		return enter, up, true
	}
	for v := range p.Nu {
		p.Nu[v] = max(0, p.Nu[v])
	}
	const together = 8
	for tried, n := 0, len(p.keys); tried < n; tried++ {
		i := p.block
		p.block = (p.block + 1) % n
		penalty := p.penalty[i]
		if p.PhaseOne {
			penalty = 0
		}
		worth, _ := p.best(i, p.Nu, penalty, &p.tried)
		key := -penalty * p.keys[i].All
		for v, x := range p.keys[i].VMs {
			key += p.Nu[v] * x
		}
		if gain := key - worth; gain > max(most, 1e-12*math.Abs(key)) {
			most, found, enter, up = gain, true, basic{class: i}, true
			p.tried, p.found = p.found, p.tried
		}
		if found && tried%together == together-1 {
			break
		}
	}
	if found {
		enter.choice = Choice{slices.Clone(p.found.VMs), slices.Clone(p.found.Jobs), p.found.All}
	}
	return enter, up, found
}

// step brings a variable into the basis; false where nothing stops it, which only noise can do.
func (p *Program) step(enter basic, up bool) bool {
	const tiny = 1e-11
	n := len(p.basis)
	entries := p.entries(&enter, nil)
	if !up {
		for r := range entries {
			entries[r] = -entries[r]
		}
	}
	change := make([]float64, n) // of the basis, taken off per unit of the entering variable
	keyChange := make(map[int]float64, n+1)
	keyValue := make(map[int]float64, n+1)
	classes := make([]int, 0, n+1)
	note := func(class int) {
		if _, known := keyValue[class]; !known {
			keyValue[class] = 1
			classes = append(classes, class)
		}
	}
	for k := range n {
		for r := range n {
			change[k] += p.inverse[k][n+r] * entries[r]
		}
		if c := p.basis[k].class; c >= 0 {
			note(c)
			keyValue[c] -= p.value[k]
			keyChange[c] -= change[k]
		}
	}
	limit, leave, leaveKey, strength := math.Inf(1), -1, -1, 0.0
	if enter.class >= 0 {
		note(enter.class)
		keyChange[enter.class]++
	} else {
		limit = p.columns[enter.column].upper
	}
	consider := func(ratio, by float64, at, key int) {
		ratio = max(0, ratio)
		if ratio < limit-1e-12 || ratio <= limit+1e-12 && by > strength*(0.5+float64(p.random.Below(1024))/1024) {
			limit, leave, leaveKey, strength = min(ratio, limit), at, key, by
		}
	}
	leaveUpper := false
	for k := range n {
		switch {
		case change[k] > tiny:
			consider(p.value[k]/change[k], change[k], k, -1)
		case change[k] < -tiny && p.basis[k].class < 0:
			if upper := p.columns[p.basis[k].column].upper; !math.IsInf(upper, 1) {
				consider((upper-p.value[k])/-change[k], -change[k], k, -1)
			}
		}
	}
	for _, c := range classes {
		if keyChange[c] > tiny {
			consider(keyValue[c]/keyChange[c], keyChange[c], -1, c)
		}
	}
	if math.IsInf(limit, 1) {
		return false
	}
	if leave < 0 && leaveKey < 0 { // from one bound to the other
		p.flip(enter.column)
		return true
	}
	if enter.class < 0 {
		c := &p.columns[enter.column]
		if c.atUpper {
			p.flip(enter.column)
		}
		c.used = true
	}
	switch {
	case leave >= 0:
		leaveUpper = change[leave] < 0
		if out := p.basis[leave]; out.class < 0 {
			p.columns[out.column].used = false
			if leaveUpper {
				p.flip(out.column)
			}
		}
		p.basis[leave] = enter
		p.replace(leave)
	default:
		at := slices.IndexFunc(p.basis, func(b basic) bool { return b.class == leaveKey })
		if at < 0 { // the class changes its mind altogether
			p.setKey(leaveKey, enter.choice)
			return true
		}
		p.setKey(leaveKey, p.basis[at].choice)
		p.basis[at] = enter
		p.replace(at)
		for k := range p.basis {
			if k != at && p.basis[k].class == leaveKey { // it counts from another key now
				p.replaced = -1
			}
		}
	}
	return true
}

func (p *Program) flip(k int) {
	c := &p.columns[k]
	by := c.upper
	if c.atUpper {
		by = -by
	}
	c.atUpper = !c.atUpper
	p.free[c.row] -= by * c.onRow
	if p.budgeted && c.spend != 0 {
		p.free[p.types] -= by * c.spend
	}
}

func (p *Program) setKey(class int, to Choice) {
	for v := range p.types {
		p.free[v] += p.keys[class].VMs[v] - to.VMs[v]
	}
	p.keys[class] = to
}

// Share is a choice of a class and how much of it the linear program takes.
type Share struct {
	Choice
	Part float64
}

// Shares is the choices of a class in the solution.
func (p *Program) Shares(class int, dst []Share) []Share {
	rest := 1.0
	first := len(dst)
	dst = append(dst, Share{p.keys[class], 1})
	for k, b := range p.basis {
		if b.class == class {
			part := min(1, max(0, p.value[k]))
			rest -= part
			dst = append(dst, Share{b.choice, part})
		}
	}
	dst[first].Part = max(0, rest)
	return dst
}

// Rented is the VMs of a type beyond the box's lower limit.
func (p *Program) Rented(v int) (vms float64) {
	for k := range p.columns {
		if c := &p.columns[k]; c.row == v && c.onRow < 0 && c.atUpper {
			vms += c.upper
		}
	}
	for k, b := range p.basis {
		if b.class < 0 {
			if c := &p.columns[b.column]; c.row == v && c.onRow < 0 {
				vms += p.value[k]
			}
		}
	}
	return vms
}
