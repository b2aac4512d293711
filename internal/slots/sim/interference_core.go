package sim

import (
	"math"
)

// core is one core under a policy. Requests are served in order, so it is enough to track the moment when all are
// done. The batch work's time in between is computed in one step, for any number of slices. All times are
// milliseconds from the arrival of the latest request.
type core struct {
	policy CorePolicy
	free   float64 // end of all requests; below 0 the core has been without requests since then
	batch  float64 // time of the batch work so far

	left float64 // fair: rest of the requests' slice at free

	room float64 // anti-starvation: rest of the window at free
	ran  float64 // time of the batch work in that window
}

func newCore(p CorePolicy) *core { return &core{policy: p, left: p.SliceMs, room: p.WindowMs} }

// request serves a request that arrives gap after the last one, and returns its response time.
func (c *core) request(gap, service float64) float64 {
	c.free -= gap
	if c.free < 0 {
		c.idle()
	}
	switch c.policy.Kind {
	case FairOnCore:
		c.serveInTurn(service)
	case AntiStarvation:
		c.serveInWindows(service)
	default:
		c.free += service
	}
	return c.free
}

// idle lets the batch work run until the request that has just arrived gets the core.
func (c *core) idle() {
	switch c.policy.Kind {
	case AloneOnCore:
		c.free = 0
	case BackgroundOnCore:
		c.batch -= c.free
		c.free = 0
	case Nonpreemptive, FairOnCore:
		run := math.Ceil(-c.free/c.policy.SliceMs) * c.policy.SliceMs
		c.batch += run
		c.free = max(0, c.free+run)
		c.left = c.policy.SliceMs
	case AntiStarvation:
		c.idleInWindows()
	}
}

// serveInTurn serves a request while the batch work takes every other slice. A request that ends with its slice
// leaves the core to the batch work.
func (c *core) serveInTurn(service float64) {
	if service <= c.left {
		c.left -= service
		c.free += service
		return
	}
	turns := math.Ceil((service - c.left) / c.policy.SliceMs)
	c.batch += turns * c.policy.SliceMs
	c.free += service + float64(turns*c.policy.SliceMs)
	c.left = max(0, c.left+float64(turns*c.policy.SliceMs)-service)
}

// idleInWindows runs the batch work in the background. If a window ends before the batch work has had its floor, it
// runs on until it has, even if requests arrive.
func (c *core) idleInWindows() {
	for c.free < 0 {
		if -c.free <= c.room {
			c.room += c.free
			c.ran -= c.free
			c.batch -= c.free
			c.free = 0
			return
		}
		c.ran += c.room
		c.batch += c.room
		c.free += c.room
		c.close()
		// In whole windows of its own the batch work has its floor, which is no longer than they are.
		if whole := math.Floor(-c.free / c.policy.WindowMs); whole > 0 {
			c.batch += whole * c.policy.WindowMs
			c.free += whole * c.policy.WindowMs
		}
	}
}

// close ends the window at free.
func (c *core) close() {
	rest := max(0, c.policy.FloorMs-c.ran)
	c.batch += rest
	c.free += rest
	c.room, c.ran = c.policy.WindowMs, 0
}

func (c *core) serveInWindows(service float64) {
	if service > c.room {
		service -= c.room
		c.free += c.room
		c.close()
		if whole := math.Ceil(service/c.policy.WindowMs) - 1; whole > 0 { // windows of this request alone
			service -= whole * c.policy.WindowMs
			c.batch += whole * c.policy.FloorMs
			c.free += whole * (c.policy.WindowMs + c.policy.FloorMs)
		}
	}
	c.free += service
	c.room -= service
}
