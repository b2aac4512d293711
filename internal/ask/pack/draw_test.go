package pack

import (
	"fmt"
	"math"
	"math/rand/v2"

	"example.org/headroom/internal/core/perf"
)

// sizes bounds drawn batches; tiny and usual are two of them.
type sizes struct{ machines, disks, kinds, count int }

var (
	tiny  = sizes{machines: 3, disks: 3, kinds: 4, count: 1}
	small = sizes{machines: 12, disks: 4, kinds: 7, count: 2}
)

// draw draws a batch: jobs from nearly serial to more than linear, some of which need several VMs, and clusters with
// and without extra VMs.
func draw(r *rand.Rand, s sizes) PackingProblem {
	p := PackingProblem{Options: DefaultPackingOptions()}
	m := &p.Machines
	m.Count, m.Disks, m.Penalty = 1+int64(r.IntN(s.machines)), 1+int64(r.IntN(s.disks)), 1
	if r.IntN(5) > 0 {
		m.HostsPerExtra = 1 + int64(r.IntN(int(m.Disks)))
		if r.IntN(4) > 0 {
			m.Penalty = 1 + math.Round(100*r.Float64())/200
		}
	}
	for i := range 1 + r.IntN(s.kinds) {
		j := BatchJob{
			Name: fmt.Sprintf("job %d", i), Count: 1 + int64(r.IntN(s.count)),
			Model:  &perf.PowerModel{A: math.Exp(3 + 6*r.Float64()), B: -1.3 * r.Float64()},
			MinVMs: 1 + int64(r.IntN(int(min(m.VMs(), 1+m.VMs()/2)))),
			Role:   []perf.JobRole{perf.PlainRole, perf.HostRole, perf.GuestRole, ""}[r.IntN(4)],
		}
		switch r.IntN(10) {
		case 0:
			j.Model.B = 0
		case 1:
			j.Model.B = r.Float64()
		case 2:
			j.Model = nil
			for n := range 2 + r.IntN(4) {
				j.Measurements = append(j.Measurements, perf.Measurement{VMs: float64(1 + n), Seconds: 10 + 1000*r.Float64()/float64(1+n)})
			}
			j.Fit = []perf.FitMethod{perf.FitLog, perf.FitNLS}[r.IntN(2)]
		}
		if j.Role == "" {
			j.Usage = &perf.Usage{CPUPercent: 100 * r.Float64(), IOMBPerS: 200 * r.Float64()}
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// timed gives some jobs releases and deadlines near their possible ends.
func timed(r *rand.Rand, p *PackingProblem) {
	span := 0.0
	for _, j := range p.Jobs {
		if j.Model != nil {
			span += float64(j.Count) * j.Model.A * math.Pow(float64(p.Machines.VMs()), min(0, j.Model.B))
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if r.IntN(4) == 0 {
			j.ReleaseSeconds = math.Round(span * r.Float64())
		}
		if r.IntN(2) == 0 {
			j.DeadlineSeconds = 1 + j.ReleaseSeconds + math.Round(span*r.Float64())
		}
	}
}
