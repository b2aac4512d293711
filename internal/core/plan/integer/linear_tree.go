package integer

import (
	"math"
	"slices"
)

// How the tree moves the integer program's Lagrangian point.

func (l *Linear) until(done func() bool) { l.done = done }

func (l *Linear) begin() *Search {
	return newSearch(l, l.supply.at(l.nu, l.grid.PerVM), l.baseLoad, l.slack, l.done)
}

func (l *Linear) fork() Terrain {
	f := *l
	f.all, f.plain, f.scratch = l.supply, l.Penalty, scratch{}
	f.Penalty, f.Low, f.High, f.base = slices.Clone(l.Penalty), slices.Clone(l.Low), slices.Clone(l.High), slices.Clone(l.base)
	return &f
}

func (l *Linear) at(nu float64, supply Supply) Terrain {
	f := *l
	f.supply, f.nu, f.base, f.scratch = supply, nu, nil, scratch{}
	f.settle(f.Load(f.Low))
	return &f
}

func (l *Linear) limits() (low, high []int64) { return l.Low, l.High }
func (l *Linear) rent(least, most int64)      { l.supply = l.all.within(least, most) }
func (l *Linear) standing() []int64           { return l.base }
func (l *Linear) penalties() []float64        { return l.plain }
func (l *Linear) PerJob(class int) float64    { return l.gamma[class] }

func (l *Linear) tilt(r row) {
	l.row = r
	r.takeOff(l.Penalty, l.plain)
}

func (l *Linear) broken() (class int, jobs, load float64, found bool) {
	if l.breaks < 0 {
		return 0, 0, 0, false
	}
	return l.breaks, float64(l.base[l.breaks]) + l.part, l.part * float64(l.weight[l.breaks]), true
}

// stand counts all classes as tied that cost no more than those whose jobs are not their cheapest.
func (l *Linear) stand(jobs []int64) {
	for i, h := range jobs {
		if r := l.reduced(i); r > 0 && h > l.Low[i] || r < 0 && h < l.High[i] {
			l.tie = max(l.tie, math.Abs(r))
		}
	}
	l.slack = 0
	for i := range jobs {
		if r := math.Abs(l.nu*l.gamma[i] - l.Penalty[i]); l.ties(i, r) {
			l.slack += r * float64(l.High[i]-l.Low[i])
		}
	}
	copy(l.base, jobs)
	l.baseLoad = l.Load(jobs)
}

func (l *Linear) extra(class int, jobs int64) float64 {
	return (l.nu*l.gamma[class] - l.Penalty[class]) * float64(jobs-l.base[class])
}
