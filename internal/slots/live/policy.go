package live

import (
	"headroom/internal/slots/dispatch"
)

// chooser is a policy and how it wants to be asked.
type chooser struct {
	dispatch.Policy
	learned *dispatch.Learned // the policy, where it is that one
	// atOnce is how many tasks a heartbeat gets at most, whatever slots are free, where the policy judges itself how
	// much a node bears; 0: the free slots decide.
	atOnce int
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
			Min: [dispatch.Kinds]float64{float64(share.Min), float64(share.Min)}, Most: both(share.Most), MostPerJob: both(share.MostPerJob)})
	}
	p, err := dispatch.New(s.Policy, setting)
	c := chooser{Policy: p}
	if err != nil {
		return c, err
	}
	c.learned, _ = p.(*dispatch.Learned)
	c.ask(s.Policy)
	return c, nil
}

// ask says how a policy of such a document wants to be asked.
func (c *chooser) ask(p dispatch.PolicyConfig) {
	if c.atOnce = 0; p.Kind == dispatch.PolicyLearned {
		c.atOnce = int(*p.Filled().TasksPerHeartbeat)
	}
}

func layoutOf(s SlotLayout) dispatch.Layout {
	if s == SlotsSeparate {
		return dispatch.Separate
	}
	return dispatch.Shared
}
