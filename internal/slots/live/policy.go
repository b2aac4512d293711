package live

import (
	"example.org/headroom/internal/slots/dispatch"
)

// chooser holds a policy and its limit per heartbeat.
type chooser struct {
	dispatch.Policy
	learned *dispatch.Learned // the policy, if it is of that kind
	// maxPerHeartbeat is the largest number of tasks per heartbeat, for a policy that judges itself how much a node bears. 0
	// means that the free slots limit them.
	maxPerHeartbeat int
}

// newPolicy makes the policy that the settings describe, or another one of its kind.
func newPolicy(s LiveSettings, other *dispatch.PolicyConfig) (chooser, error) {
	if other != nil {
		s.Policy = *other
	}
	setting := dispatch.Setting{Layout: layoutOf(s.Slots)}
	for _, share := range s.Shares {
		both := func(x int64) [dispatch.Kinds]int { return [dispatch.Kinds]int{int(x), int(x)} }
		setting.Shares = append(setting.Shares, dispatch.Share{Weight: [dispatch.Kinds]float64{share.Weight, share.Weight},
			Min: [dispatch.Kinds]float64{float64(share.Min), float64(share.Min)}, Most: both(share.Most), MaxPerJob: both(share.MaxPerJob)})
	}
	p, err := dispatch.New(s.Policy, setting)
	c := chooser{Policy: p}
	if err != nil {
		return c, err
	}
	c.learned, _ = p.(*dispatch.Learned)
	c.setLimit(s.Policy)
	return c, nil
}

// setLimit sets the limit per heartbeat that a policy's document gives.
func (c *chooser) setLimit(p dispatch.PolicyConfig) {
	if c.maxPerHeartbeat = 0; p.Kind == dispatch.PolicyLearned {
		c.maxPerHeartbeat = int(*p.Filled().TasksPerHeartbeat)
	}
}

func layoutOf(s SlotLayout) dispatch.Layout {
	if s == SlotsSeparate {
		return dispatch.Separate
	}
	return dispatch.Shared
}
