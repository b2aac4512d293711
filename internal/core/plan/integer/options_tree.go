package integer

import (
	"slices"
)

// How the tree moves the slot-exact program's Lagrangian point.

func (o *Options) until(done func() bool) { o.done = done }

func (o *Options) begin() *Search {
	return newSearch(o, o.supply.at(o.nu, o.Grid.PerVM), o.baseLoad, o.slack, o.done)
}

func (o *Options) fork() Terrain {
	f := *o
	f.all, f.spare, f.plain = o.supply, o.plenty, o.penalty
	f.penalty, f.low, f.high = slices.Clone(o.penalty), slices.Clone(o.low), slices.Clone(o.high)
	f.base, f.value = slices.Clone(o.base), slices.Clone(o.value)
	return &f
}

func (o *Options) at(nu float64, supply Supply) Terrain {
	f := *o
	f.supply, f.nu = supply, nu
	f.base, f.value = make([]int64, len(o.base)), make([]float64, len(o.value))
	f.settle()
	return &f
}

func (o *Options) limits() (low, high []int64) { return o.low, o.high }
func (o *Options) standing() []int64           { return o.base }
func (o *Options) penalties() []float64        { return o.plain }

func (o *Options) rent(least, most int64) {
	o.supply = o.all.within(least, most)
	o.plenty = o.spare && most >= o.all.Most()
}

func (o *Options) tilt(r row) {
	o.row = r
	r.takeOff(o.penalty, o.plain)
}

func (o *Options) broken() (class int, jobs, load float64, found bool) {
	return o.breaks.class, o.breaks.jobs, o.extraLoad, o.breaks.class != theVMs
}

func (o *Options) stand(jobs []int64) {
	copy(o.base, jobs)
	o.baseLoad, o.slack = o.Load(jobs), 0
	for i, h := range jobs {
		o.slack += max(0, o.worth(i, o.nu, h)-o.value[i])
	}
}

func (o *Options) extra(class int, jobs int64) float64 {
	return o.worth(class, o.nu, jobs) - o.value[class]
}
