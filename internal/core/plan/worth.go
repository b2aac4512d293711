package plan

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
)

// The jobs of a problem are worth something by the VMs there are for them. Each class's jobs and loads are replaced by
// the convex hull of its own (for whole slots the hull of the loads that whole slots really take, which is much nearer
// than gamma·jobs). What comes out is never dearer than any plan.

// Worth tells what jobs are worth by the VMs there are for them, convexified.
type Worth struct {
	Floor      float64 // VMs of the promised jobs
	Never      float64 // penalties of jobs that cannot be served at all
	All        float64 // penalties when nothing is served
	Most       int64   // no plan needs more VMs
	Steps      []WorthStep
	Rest       []float64 // penalties when the first steps are served: of none, of one, … of all, which leaves Never
	Impossible bool      // a promised class cannot meet its deadline
}

// Refused returns the penalties left when the steps before one are served and so many of its VMs are still missing.
// They are summed up and not what remains of a difference: penalties that say "never refuse" are so much larger
// than what VMs cost that a difference would have no digit of it.
func (c *Worth) Refused(step int, missing float64) float64 {
	if step == len(c.Steps) {
		return c.Rest[step]
	}
	return c.Rest[step+1] + c.Steps[step].Each*missing
}

// WorthStep holds VMs whose jobs avoid so much penalty each.
type WorthStep struct{ VMs, Each float64 }

// CapacityNoise, in VMs, is more than any grid lets a load exceed its VMs by: bounds allow for it.
const CapacityNoise = 1.5 * integer.LoadNoise

// hullMostJobs bounds the job counts of one class whose loads are looked at one by one; the straight line
// through gamma bounds those of larger classes.
const hullMostJobs = 1 << 12

// hulls works out the worth of jobs; what it has found out about a class with so many jobs is kept.
type hulls struct {
	model *model
	loads *slotLoads
	known map[[3]int64]classHull
}

// classHull is a class's part of it, where a job is worth 1.
type classHull struct {
	floor, most float64
	steps       []WorthStep
}

func newHulls(m *model) *hulls {
	h := &hulls{model: m, known: make(map[[3]int64]classHull)}
	if m.wholeLoads() {
		shared := *m
		shared.Problem = new(capacity.Problem)
		*shared.Problem = *m.Problem
		shared.Options.Sharing = capacity.Shared // whole VMs per class are made below, without a grid's tolerance
		in := shared.instance()
		h.loads, _ = shared.newSlotLoads(&in, m.Options.Integrality == capacity.Executable)
	}
	return h
}

// wholeLoads says that the load of a class's jobs is not a multiple of one job's.
func (m *model) wholeLoads() bool {
	return m.Options.Integrality == capacity.Executable || m.Options.Integrality == capacity.Integer && m.Options.Sharing == capacity.Dedicated
}

// load returns the smallest load of so many jobs, in VMs.
func (h *hulls) load(class int, jobs int64) float64 {
	if jobs == 0 {
		return 0
	}
	vms := float64(h.loads.Units(class, jobs)) / float64(h.loads.fine.PerVM)
	if h.model.Options.Sharing == capacity.Dedicated {
		return max(0, math.Ceil(vms-CapacityNoise))
	}
	return vms
}

func (h *hulls) class(i int, low, high float64) classHull {
	c := &h.model.classes[i]
	if h.loads == nil || high-low > hullMostJobs || c.gamma == 0 {
		line := classHull{floor: c.gamma * low, most: c.gamma * high}
		if c.gamma > 0 && high > low { // without load they are served for nothing
			line.steps = []WorthStep{{c.gamma * (high - low), 1 / c.gamma}}
		}
		if h.loads != nil {
			line.most += mostRounding
		}
		return line
	}
	key := [3]int64{int64(i), int64(low), int64(high)}
	if known, seen := h.known[key]; seen {
		return known
	}
	var found classHull
	found.floor, found.most = h.load(i, key[1]), h.load(i, key[2])
	// The jobs at the corners of their upper hull over load.
	jobs, loads := []int64{key[1]}, []float64{found.floor}
	for n := key[1] + 1; n <= key[2]; n++ {
		load := max(h.load(i, n), loads[len(loads)-1])
		for k := len(jobs) - 1; k >= 0; k-- {
			if load > loads[k] && (k == 0 || float64(n-jobs[k])*(loads[k]-loads[k-1]) <= float64(jobs[k]-jobs[k-1])*(load-loads[k])) {
				break
			}
			jobs, loads = jobs[:k], loads[:k]
		}
		jobs, loads = append(jobs, n), append(loads, load)
	}
	for k := 1; k < len(jobs); k++ {
		vms := loads[k] - loads[k-1]
		found.steps = append(found.steps, WorthStep{vms, float64(jobs[k]-jobs[k-1]) / vms})
	}
	h.known[key] = found
	return found
}

// worth returns the worth of the jobs of a demand.
func (h *hulls) worth(jobs []ClassDemand) Worth {
	var d Worth
	most := 1.0
	for i := range h.model.classes {
		c := &h.model.classes[i]
		j := jobs[c.index]
		penalty := j.Penalty.Float()
		d.All += penalty * j.Max
		if c.impossible {
			d.Never += penalty * j.Max
			d.Impossible = d.Impossible || j.Min > 0
			continue
		}
		part := h.class(i, j.Min, j.Max)
		d.Floor += part.floor
		most += part.most
		for _, s := range part.steps {
			if penalty > 0 {
				d.Steps = append(d.Steps, WorthStep{s.VMs, s.Each * penalty})
			}
		}
	}
	d.Most = int64(math.Ceil(most))
	slices.SortStableFunc(d.Steps, func(a, b WorthStep) int { return cmp.Compare(b.Each, a.Each) })
	d.Steps = slices.Clip(d.Steps)
	d.Rest = make([]float64, len(d.Steps)+1)
	d.Rest[len(d.Steps)] = d.Never
	for k := len(d.Steps) - 1; k >= 0; k-- {
		d.Rest[k] = d.Rest[k+1] + d.Steps[k].Each*d.Steps[k].VMs
	}
	return d
}
