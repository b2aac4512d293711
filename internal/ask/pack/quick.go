package pack

import (
	"math"

	"example.org/headroom/internal/core/perf"
)

const (
	// manyJobs is the number of kinds of jobs from which a quick look at a phase pays.
	manyJobs = 12
	// maxExactFit bounds kinds times VMs for a longer look where the quick one leaves open whether jobs fit. Beyond,
	// they count as not fitting.
	maxExactFit = 1_000_000
	// quickSteps is the number of shares of a quick look.
	quickSteps = 8
	// never is more VMs than there are.
	never = 1 << 40
)

// quick looks whether jobs fit a rung, in roles that cost least where extra VMs make up a share of the cost. They do
// where those roles fit. They do not where even the least costs of all jobs add up to more than all machines. In
// between it is not known.
func (f *fitter) quick(c contents, rung int) (fits, known bool) {
	f.effort += len(c)
	least := func(share float64) float64 {
		cost, t := f.cheapest(c, rung, share)
		fits = fits || f.fits(t)
		return -cost
	}
	share := golden(least, quickSteps, func(value float64) bool { return fits || value < -1-rounding })
	switch {
	case fits:
		return true, true
	case least(share) < -1-rounding:
		return false, true
	}
	return fits, fits
}

// cheapest adds up the least costs of jobs, and the VMs of the roles that cost them.
func (f *fitter) cheapest(c contents, rung int, share float64) (cost float64, t taken) {
	plain, special := f.at(rung)
	disk, extra := (1-share)/float64(f.vms), share/float64(f.extras)
	each := disk + extra*float64(f.perMachine)/float64(f.disks)
	for _, x := range c {
		p, q, n := plain[x.kind], special[x.kind], float64(x.count)
		if p == impossible {
			return math.Inf(1), taken{plain: never}
		}
		best := float64(p) * each
		switch role := f.kinds[x.kind].role; {
		case q != impossible && role == perf.HostRole && float64(q)*disk < best:
			best = float64(q) * disk
			t.hosts += int(q) * x.count
		case q != impossible && role == perf.GuestRole && float64(q)*extra < best:
			best = float64(q) * extra
			t.extras += int(q) * x.count
		default:
			t.plain += int(p) * x.count
		}
		cost += best * n
	}
	return cost, t
}

// golden returns where from 0 to 1 a function is lowest that first falls, then rises. It ends early at a value of
// which it is told that it is enough.
func golden(value func(float64) float64, steps int, enough func(float64) bool) float64 {
	const ratio = 0.6180339887498949
	low, high := 0.0, 1.0
	x, y := 1-ratio, ratio
	atX, atY := value(x), value(y)
	for ; steps > 0 && !enough(min(atX, atY)); steps-- {
		if atX <= atY {
			high, y, atY = y, x, atX
			x = high - ratio*(high-low)
			atX = value(x)
		} else {
			low, x, atX = x, y, atY
			y = low + ratio*(high-low)
			atY = value(y)
		}
	}
	if atY < atX {
		return y
	}
	return x
}
