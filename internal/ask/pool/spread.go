package pool

import (
	"context"
	"math"

	"example.org/headroom/internal/core/lp"
)

// spread divides the work to minimise the largest share of a type's capacity by a deadline that the work due by then
// takes. That share is at most 1 if all deadlines can be met. lowest is a lower bound for every division, so more
// than 1 proves that none meets them.
func (m *model) spread(ctx context.Context, solver lp.Solver, supplies []supply) (d division, share, lowest float64, err error) {
	var p lp.Program
	work := make([]int, len(m.Jobs))
	for j := range m.Jobs {
		work[j] = p.Row(1, math.Inf(1))
	}
	var shared []lp.Entry
	rows := make([][]int, len(m.Types))
	dues := make([][]float64, len(m.Types))
	for i := range m.Types {
		dues[i] = m.due(i)
		for range dues[i] {
			row := p.Row(math.Inf(-1), 0)
			rows[i] = append(rows[i], row)
			shared = append(shared, lp.Entry{Row: row, Coefficient: -1})
		}
	}
	p.Column(1, 0, math.Inf(1), false, shared...)
	parts := make([][]int, len(m.Jobs))
	for j, job := range m.Jobs {
		parts[j] = make([]int, len(m.Types))
		runs := false
		for i := range m.Types {
			parts[j][i] = -1
			if m.rates[j][i] == 0 || supplies[i].by(m.deadlines[j]) <= 0 {
				continue
			}
			entries := []lp.Entry{{Row: work[j], Coefficient: 1}}
			for k, end := range dues[i] {
				if end >= m.deadlines[j] {
					entries = append(entries, lp.Entry{Row: rows[i][k], Coefficient: job.Work / m.rates[j][i] / supplies[i].by(end)})
				}
			}
			parts[j][i] = p.Column(0, 0, 1, false, entries...)
			runs = true
		}
		if !runs { // nobody works on it before its deadline
			return nil, math.Inf(1), math.Inf(1), nil
		}
	}
	answer, err := solver.Solve(ctx, &p, lp.Options{})
	if err != nil {
		return nil, 0, 0, err
	}
	if answer.Status != lp.Optimal || len(answer.X) != p.Columns() {
		return nil, 0, 0, unsolved(answer)
	}
	d = m.nothing()
	for j, job := range m.Jobs {
		total := 0.0
		for _, column := range parts[j] {
			if column >= 0 && answer.X[column] > 0 {
				total += answer.X[column]
			}
		}
		if !(total > 0) { // written this way so that NaN fails too
			return nil, 0, 0, lp.ErrCrashed
		}
		for i, column := range parts[j] {
			if column >= 0 && answer.X[column] > 0 {
				d[j][i] = answer.X[column] / total * job.Work / m.rates[j][i]
			}
		}
	}
	return d, m.share(supplies, d), lp.DualBound(&p, answer.RowDual) * (1 - boundTolerance), nil
}

// share returns the largest share of a type's capacity by a deadline that a division uses.
func (m *model) share(supplies []supply, d division) (share float64) {
	for i := range m.Types {
		worked := 0.0
		for _, j := range m.order {
			if worked += d[j][i]; d[j][i] > 0 {
				share = max(share, worked/supplies[i].by(m.deadlines[j]))
			}
		}
	}
	return share
}

// divide divides the work among a mix's instances: each takes the first job it can run if that meets all deadlines,
// else spread divides. met reports whether all deadlines are met, and proved whether that is certain.
func (m *model) divide(ctx context.Context, solver lp.Solver, supplies []supply) (d division, met, proved bool, err error) {
	d = m.inOrder(supplies)
	if m.inTime(supplies, d) {
		return d, true, true, nil
	}
	if len(m.Jobs) == 1 {
		return d, false, true, nil // every instance that can work on it does
	}
	if solver == nil {
		return d, false, false, lp.ErrUnavailable
	}
	other, _, lowest, err := m.spread(ctx, solver, supplies)
	switch {
	case err != nil:
		return d, false, false, err
	case other != nil && m.inTime(supplies, other):
		return other, true, true, nil
	}
	return d, false, lowest > 1, nil
}

// inTime reports whether all jobs end by their deadlines.
func (m *model) inTime(supplies []supply, d division) bool {
	finish, _ := m.finishes(supplies, d)
	for j, at := range finish {
		if m.late(j, at) {
			return false
		}
	}
	return true
}

func (m *model) late(j int, finish float64) bool {
	return !(finish <= m.deadlines[j]*(1+poolLateTolerance))
}
