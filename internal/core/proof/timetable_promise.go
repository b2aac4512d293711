package proof

import "example.org/headroom/internal/core/proof/exact"

// promise counts by hour the arrivals that a class without a window promises, where it promises a number of jobs. An arrival is
// promised as long as fewer jobs of the class than that run in each hour of its longest run: those that arrived earlier, and
// those that are promised already. Parts of one count as one.
func (c *TimedClass) promise(hours int) {
	c.promised = nil
	longest := zero()
	for _, run := range c.run {
		if run != nil {
			longest = larger(longest, run)
		}
	}
	if c.waits() || c.Class.Jobs.All || c.Class.Jobs.Min <= 0 || longest.Sign() == 0 {
		return
	}
	share := sharesOf(longest)
	atWork := make([]*exact.Rat, hours+len(share))
	for h := range atWork {
		atWork[h] = zero()
		for ago, n := range c.Earlier {
			if at := h + ago + 1; at < len(share) {
				atWork[h].Add(atWork[h], mul(exact.Of(n), share[at]))
			}
		}
	}
	for a, n := range c.Arrivals {
		room := whole(n)
		for h, part := range share {
			if part.Sign() > 0 {
				room = smaller(room, quo(sub(number(c.Class.Jobs.Min), atWork[a+h]), part))
			}
		}
		count := larger(zero(), new(exact.Rat).SetInt(sub(room, exact.New(1, 1e6)).Ceil()))
		for h, part := range share {
			atWork[a+h].Add(atWork[a+h], mul(count, part))
		}
		c.promised = append(c.promised, count.Num().Int64())
	}
}
