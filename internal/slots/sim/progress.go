package sim

import "math"

// progress sums up progress shares over time. A class's share is the part of all slots' rates at its maps that its
// slots have.
type progress struct {
	classes []classProgress
	warmUp  float64
	jobs    int64 // in the system
	sum     float64
	since   float64 // end of the summed time
	busy    float64 // seconds with jobs
	below   float64 // of those, with a sum of shares below 1
	sums    float64 // share seconds
}

type classProgress struct {
	held     float64 // rates of the slots that its maps hold
	capacity float64 // of all slots
	peak     float64 // the largest capacity so far
	part     float64 // of the weights
	jobs     int64
	since    float64
	present  float64 // seconds with jobs
	below    float64 // of those, with less than its part
	shares   float64 // share seconds
}

// shareSlack is the tolerance for rounding errors of a share.
const shareSlack = 1e-9

// share returns the class's present share. Rounding errors of a cluster whose nodes all stand still count as 0.
func (c *classProgress) share() float64 {
	if c.capacity <= shareSlack*c.peak {
		return 0
	}
	return c.held / c.capacity
}

// catchUp adds up a class's share until now, before anything about it changes.
func (g *progress) catchUp(class int, now float64) {
	c := &g.classes[class]
	if from := max(c.since, g.warmUp); now > from && c.jobs > 0 {
		share := c.share()
		c.present += now - from
		c.shares += float64(share * (now - from))
		if share < c.part-shareSlack {
			c.below += now - from
		}
	}
	c.since = now
}

// advance adds up the sum of the shares until a moment, before any event of it.
func (g *progress) advance(now float64) {
	if from := max(g.since, g.warmUp); now > from && g.jobs > 0 {
		g.busy += now - from
		g.sums += float64(g.sum * (now - from))
		if g.sum < 1-shareSlack {
			g.below += now - from
		}
	}
	g.since = now
}

// hold changes the rate that a class holds.
func (g *progress) hold(class int, now, rate float64) {
	g.catchUp(class, now)
	c := &g.classes[class]
	g.sum -= c.share()
	if c.held = max(0, c.held+rate); c.held <= shareSlack*math.Abs(rate) {
		c.held = 0
	}
	g.sum += c.share()
}

// grow changes the capacity for a class.
func (g *progress) grow(class int, now, rate float64) {
	g.catchUp(class, now)
	c := &g.classes[class]
	g.sum -= c.share()
	c.capacity = max(0, c.capacity+rate)
	c.peak = max(c.peak, c.capacity)
	g.sum += c.share()
}

// count updates the jobs in the system.
func (g *progress) count(class int, now float64, change int64) {
	g.catchUp(class, now)
	g.classes[class].jobs += change
	g.jobs += change
	if g.jobs == 0 {
		g.sum = 0
	}
}

// reading sums up the reads of running tasks from each data node.
type reading struct {
	cap           float64 // 0: none
	warmUp, since float64
	now, peak     float64
	amount        float64 // MB
	over          float64 // seconds above the cap
}

func (r *reading) add(change float64) {
	r.now += change
	if r.now < shareSlack {
		r.now = 0
	}
}

// advance adds up until a moment.
func (r *reading) advance(now float64) {
	if from := max(r.since, r.warmUp); now > from {
		r.peak = max(r.peak, r.now)
		r.amount += float64(r.now * (now - from))
		if r.cap > 0 && r.now > r.cap*(1+shareSlack) {
			r.over += now - from
		}
	}
	r.since = now
}

// typeUse sums up the use of a type's nodes.
type typeUse struct {
	held     [2]float64 // slot seconds by kind of task
	tasks    int64      // ended
	residual float64    // node seconds
}
