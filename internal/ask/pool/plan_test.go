package pool

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/core/money"
)

// draw draws a small problem: few types with small limits, few hours, and rates that differ by job. Some types lack
// memory for some jobs, and deadlines lie within hours.
func draw(r *rand.Rand) PoolProblem {
	p := DefaultPool()
	p.Currency, p.Hours = "USD", 1+int64(r.IntN(3))
	if r.IntN(3) == 0 {
		p.StartupHours = float64(r.IntN(5)) / 10
	}
	for i := range 1 + r.IntN(3) {
		price := money.Round(float64(1+r.IntN(60)) / 100)
		highest := int64(1 + r.IntN(4))
		if r.IntN(12) == 0 {
			price = money.Amount{}
		}
		t := PoolType{Name: fmt.Sprintf("t%d", i), PerHour: &price, DiskGB: float64(100 * r.IntN(6)), MemoryGiB: float64(1 + r.IntN(8)), Slots: int64(1 + r.IntN(2)),
			ComputeUnits: float64(1 + r.IntN(8)), Core: true, Accelerator: r.IntN(4) > 0, Most: &highest}
		if r.IntN(4) == 0 {
			own := float64(r.IntN(7)) / 10
			t.StartupHours = &own
		}
		if i > 0 && r.IntN(3) == 0 {
			t.Core, t.Accelerator = false, true
		}
		p.Types = append(p.Types, t)
	}
	for j := range 1 + r.IntN(3) {
		job := PoolJob{Name: fmt.Sprintf("j%d", j), Work: float64(1+r.IntN(90)) / 10}
		if r.IntN(2) == 0 {
			job.DeadlineHours = max(0.5, float64(1+r.IntN(int(4*p.Hours)))/4)
		}
		if r.IntN(3) == 0 {
			job.MemoryGiBPerTask = float64(r.IntN(5))
		}
		if r.IntN(2) == 0 {
			job.Rates = map[string]float64{}
			for _, t := range p.Types {
				if r.IntN(5) > 0 {
					job.Rates[t.Name] = float64(r.IntN(80)) / 10
				}
			}
		}
		p.Jobs = append(p.Jobs, job)
	}
	if r.IntN(2) == 0 {
		p.Storage.DataGB = float64(r.IntN(400))
	}
	return p
}

// choice is the number of instances of a type: core instances, and accelerators by hour.
type choice struct {
	core  int64
	hours []int64
}

// choices returns all possible choices for a type.
func choices(t PoolType, hours int64) (all []choice) {
	var extend func(c choice)
	extend = func(c choice) {
		if int64(len(c.hours)) == hours {
			all = append(all, c)
			return
		}
		highest := *t.Most - c.core
		if n := len(c.hours); n > 0 {
			highest = c.hours[n-1]
		}
		if !t.Accelerator {
			highest = 0
		}
		for n := range highest + 1 {
			extend(choice{c.core, append(slices.Clone(c.hours), n)})
		}
	}
	for core := range *t.Most + 1 {
		if core == 0 || t.Core {
			extend(choice{core: core})
		}
	}
	return all
}

// enumerated returns the smallest cost of any possible mix; infinite if there is none. It computes that from the
// paper's program with work by hour, and its own simplex.
func enumerated(p PoolProblem, rates [][]float64) float64 {
	type bill struct {
		mix  []choice
		cost float64
	}
	bills := []bill{{}}
	for _, t := range p.Types {
		var more []bill
		for _, b := range bills {
			for _, c := range choices(t, p.Hours) {
				cost := float64(c.core * p.Hours)
				for _, n := range c.hours {
					cost += float64(n)
				}
				more = append(more, bill{append(slices.Clone(b.mix), c), b.cost + cost*t.PerHour.Float()})
			}
		}
		bills = more
	}
	slices.SortStableFunc(bills, func(x, y bill) int {
		switch {
		case x.cost < y.cost:
			return -1
		case x.cost > y.cost:
			return 1
		}
		return 0
	})
	for _, b := range bills {
		disks := 0.0
		for i, c := range b.mix {
			disks += float64(c.core) * p.Types[i].DiskGB
		}
		if disks >= p.Storage.NeededGB() && workable(p, rates, b.mix) {
			return b.cost
		}
	}
	return math.Inf(1)
}

// workable reports whether a mix can do all work in time: z hours of each type on each job between breakpoints.
func workable(p PoolProblem, rates [][]float64, mix []choice) bool {
	ends := []float64{}
	for h := range p.Hours {
		ends = append(ends, float64(h+1))
	}
	deadline := func(j PoolJob) float64 {
		if j.DeadlineHours > 0 {
			return j.DeadlineHours
		}
		return float64(p.Hours)
	}
	for _, j := range p.Jobs {
		ends = append(ends, deadline(j))
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	var columns [][3]int // type, job, interval
	for i := range p.Types {
		for j, job := range p.Jobs {
			for t, end := range ends {
				if rates[j][i] > 0 && end <= deadline(job) {
					columns = append(columns, [3]int{i, j, t})
				}
			}
		}
	}
	var rows [][]float64 // a·z <= b, b last
	for i := range p.Types {
		from := 0.0
		for t, end := range ends {
			n := mix[i].core + mix[i].hours[int(math.Ceil(end))-1]
			row := make([]float64, len(columns)+1)
			row[len(columns)] = float64(n) * max(0, end-max(from, p.Startup(p.Types[i])))
			for k, c := range columns {
				if c[0] == i && c[2] == t {
					row[k] = 1
				}
			}
			rows = append(rows, row)
			from = end
		}
	}
	for j, job := range p.Jobs {
		row := make([]float64, len(columns)+1)
		row[len(columns)] = -job.Work
		for k, c := range columns {
			if c[1] == j {
				row[k] = -rates[j][c[0]]
			}
		}
		rows = append(rows, row)
	}
	return solvable(rows)
}

// solvable reports whether a·z <= b has a solution z >= 0, by the first phase of a simplex with Bland's rule.
func solvable(rows [][]float64) bool {
	n := len(rows[0]) - 1
	lacking := 0
	for _, row := range rows {
		if row[n] < 0 {
			lacking++
		}
	}
	width := n + len(rows) + lacking + 1 // slacks, artificials, right-hand side
	table := make([][]float64, len(rows)+1)
	basis := make([]int, len(rows))
	goal := make([]float64, width) // minus the sum of the artificials
	a := n + len(rows)
	for i, row := range rows {
		line := make([]float64, width)
		sign := 1.0
		if row[n] < 0 {
			sign = -1
		}
		for k := range n {
			line[k] = sign * row[k]
		}
		line[n+i], line[width-1] = sign, sign*row[n]
		basis[i] = n + i
		if sign < 0 {
			line[a], basis[i] = 1, a
			a++
			for k := range goal {
				goal[k] += line[k]
			}
			goal[basis[i]] = 0
		}
		table[i] = line
	}
	const tiny = 1e-9
	for {
		in := -1
		for k := range n + len(rows) {
			if goal[k] > tiny {
				in = k
				break
			}
		}
		if in < 0 {
			return goal[width-1] < 1e-7
		}
		out, lowest := -1, math.Inf(1)
		for i := range rows {
			if table[i][in] > tiny {
				if ratio := table[i][width-1] / table[i][in]; ratio < lowest-1e-12 || ratio < lowest+1e-12 && (out < 0 || basis[i] < basis[out]) {
					out, lowest = i, ratio
				}
			}
		}
		if out < 0 {
			return false
		}
		pivot := table[out][in]
		for k := range table[out] {
			table[out][k] /= pivot
		}
		for _, line := range append(table[:len(rows):len(rows)], goal) {
			if factor := line[in]; factor != 0 && &line[0] != &table[out][0] {
				for k := range line {
					line[k] -= factor * table[out][k]
				}
			}
		}
		basis[out] = in
	}
}

func TestPlansAreThoseOfEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	cases, proved, impossible := 200, 0, 0
	for n := range cases {
		p := draw(r)
		m, err := ready(p)
		if err != nil {
			t.Fatal(err)
		}
		want := enumerated(p, m.rates)
		a, err := Plan(t.Context(), p, cbc)
		if err != nil {
			t.Fatalf("case %d: %v: %+v", n, err, p)
		}
		if wrong := RecheckPool(p, a); len(wrong) > 0 {
			t.Fatalf("case %d: %v\n%+v\n%+v", n, wrong, p, a)
		}
		if a.Status == PoolInfeasible {
			impossible++
			if !math.IsInf(want, 1) {
				t.Errorf("case %d: infeasible, but a mix for %g does: %v\n%+v", n, want, a.Conflicts, p)
			}
			continue
		}
		if a.Status == PoolOptimal {
			proved++
		}
		if math.Abs(a.Cost.Float()-want) > 1e-9 || a.LowerBound.Float() > want+1e-9 {
			t.Errorf("case %d: got %s, at least %s (%s), the least is %g: %+v\n%+v", n, a.Cost, a.LowerBound, a.Status, want, p, a.Mix)
		}
	}
	t.Logf("%d cases: %d proved, %d infeasible", cases, proved, impossible)
	if proved+impossible < cases*95/100 || impossible > cases/2 {
		t.Errorf("only %d of %d are proved, and %d are infeasible", proved, cases-impossible, impossible)
	}
}

// large returns a problem of the size of real services.
func large(r *rand.Rand, types, jobs int, hours int64, startup float64) PoolProblem {
	p := DefaultPool()
	p.Currency, p.Hours, p.StartupHours = "USD", hours, startup
	for i := range types {
		units := math.Round(10*math.Exp(3*r.Float64())) / 10
		price := money.Round(math.Round(1000*0.04*units*(0.7+0.6*r.Float64())) / 1000)
		p.Types = append(p.Types, PoolType{Name: fmt.Sprintf("t%d", i), PerHour: &price, DiskGB: math.Round(200 * r.Float64() * units), MemoryGiB: 2 * units,
			Slots: int64(1 + units/2), ComputeUnits: units, Core: i%3 != 2, Accelerator: i%5 != 0 || i%3 == 2})
	}
	for j := range jobs {
		job := PoolJob{Name: fmt.Sprintf("j%d", j), Work: math.Round(10*math.Exp(6*r.Float64())) / 10, DeadlineHours: math.Round(4*(1+float64(hours-1)*r.Float64())) / 4,
			MemoryGiBPerTask: float64(r.IntN(4)), Rates: map[string]float64{}}
		for _, t := range p.Types {
			if r.IntN(2) == 0 {
				job.Rates[t.Name] = t.ComputeUnits * math.Exp(r.NormFloat64()/2)
			}
		}
		p.Jobs = append(p.Jobs, job)
	}
	p.Storage.DataGB = 20_000
	return p
}

func TestTwentyTypesFiftyJobsADay(t *testing.T) {
	seeds := uint64(2)
	if wholeSamples {
		seeds = 6
	}
	for seed := range seeds {
		startup := []float64{0, 0.1}[seed%2]
		p := large(rand.New(rand.NewPCG(seed, 1)), 20, 50, 24, startup)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
		began := time.Now()
		a, err := Plan(ctx, p, cbc)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if wrong := RecheckPool(p, a); len(wrong) > 0 {
			t.Fatal(wrong)
		}
		t.Logf("seed %d, start-up %g h: %s, %s, at least %s, gap %.4f %%, %v", seed, startup, a.Status, a.Cost, a.LowerBound, 100*a.Gap, time.Since(began).Round(10*time.Millisecond))
		if a.Gap > 0.05 || time.Since(began) > 60*time.Second {
			t.Errorf("the gap is %g after %v", a.Gap, time.Since(began))
		}
	}
}
