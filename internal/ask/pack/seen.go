package pack

import (
	"context"
	"slices"

	"example.org/headroom/internal/core/capacity"
)

// seen holds every phase that was tried, with its rung: nothing is computed twice, and the phases are columns to
// combine later.
type seen struct {
	*fitter
	index map[string]int32
	list  []column // in the order of their discovery
	name  []byte
}

// column is a phase; its rung is never if its jobs do not fit at all.
type column struct {
	contents
	rung int
}

func newSeen(f *fitter) *seen { return &seen{fitter: f, index: map[string]int32{}} }

// key returns a phase's contents as text.
func (s *seen) key(c contents) []byte {
	s.name = s.name[:0]
	for _, x := range c {
		s.name = append(s.name, byte(x.kind>>8), byte(x.kind), byte(x.count>>8), byte(x.count))
	}
	return s.name
}

// look returns a phase's rung, which is at least low.
func (s *seen) look(c contents, low int) int {
	if len(c) == 0 {
		return -1
	}
	if i, known := s.index[string(s.key(c))]; known {
		return s.list[i].rung
	}
	rung := s.shortest(c, max(0, low))
	s.index[string(s.key(c))] = int32(len(s.list))
	s.list = append(s.list, column{slices.Clone(c), rung})
	return rung
}

// at returns a rung's time; an empty phase takes 0.
func (s *seen) at(rung int) float64 {
	if rung < 0 {
		return 0
	}
	return s.times[rung]
}

// with returns some jobs and more of a kind.
func (c contents) with(kind, more int, into contents) contents {
	into = into[:0]
	done := false
	for _, x := range c {
		if !done && x.kind >= kind {
			done = true
			if x.kind == kind {
				if x.count += more; x.count > 0 {
					into = append(into, x)
				}
				continue
			}
			into = append(into, some{kind, more})
		}
		into = append(into, x)
	}
	if !done {
		into = append(into, some{kind, more})
	}
	return into
}

// division is a division of the batch into phases.
type division struct {
	phases []contents
	rungs  []int
	time   float64
}

func (s *seen) division(ctx context.Context, phases []contents) (d division) {
	for _, c := range phases {
		_ = capacity.Pause(ctx)
		d.phases = append(d.phases, slices.Clone(c))
		d.rungs = append(d.rungs, s.look(c, 0))
	}
	s.settle(&d)
	return d
}

// settle drops empty phases and adds up the times.
func (s *seen) settle(d *division) {
	n := 0
	d.time = 0
	for i := range d.phases {
		if len(d.phases[i]) > 0 {
			d.phases[n], d.rungs[n] = d.phases[i], d.rungs[i]
			d.time += s.at(d.rungs[n])
			n++
		}
	}
	d.phases, d.rungs = d.phases[:n], d.rungs[:n]
}

func (d *division) clone() division {
	c := division{rungs: slices.Clone(d.rungs), time: d.time}
	for _, p := range d.phases {
		c.phases = append(c.phases, slices.Clone(p))
	}
	return c
}
