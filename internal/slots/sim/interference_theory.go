package sim

import (
	"math"
)

// Theory holds the closed forms of a policy; null if there is none.
type Theory struct {
	MeanMs *float64 `json:"mean_ms"`
	P95Ms  *float64 `json:"p95_ms"`
	P99Ms  *float64 `json:"p99_ms"`
	// BatchShare is the batch work's part of the core.
	BatchShare float64 `json:"batch_share"`
	// MinBatchShare is the batch work's guaranteed part of the core under any number of requests.
	MinBatchShare float64 `json:"least_batch_share"`
}

// left returns the largest part of the core that requests can have.
func left(p CorePolicy) float64 { return 1 - floor(p) }

// floor returns the part of the batch work when requests never end: e of every p + e.
func floor(p CorePolicy) float64 {
	switch p.Kind {
	case FairOnCore:
		return 0.5
	case AntiStarvation:
		return p.FloorMs / (p.WindowMs + p.FloorMs)
	default:
		return 0
	}
}

func (l coreLoad) unstable(p CorePolicy) bool { return l.use() >= left(p) }

// theory applies M/G/1 (Pollaczek and Khinchine): E[R] = S + lambda E[S²]/(2(1-rho)). It holds as it stands for
// requests that are alone or take the core at once. It adds half a slice if the core must first end a slice of the
// batch work (vacations decompose). The core is never idle, so the batch work gets the rest.
func (l coreLoad) theory(p CorePolicy) Theory {
	t := Theory{MinBatchShare: floor(p), BatchShare: floor(p)}
	if l.unstable(p) {
		return t
	}
	if p.Kind != AloneOnCore {
		t.BatchShare = 1 - l.use()
	}
	mean := l.mean + l.square/l.every/2/(1-l.use())
	switch p.Kind {
	case AloneOnCore, BackgroundOnCore:
		if l.service.Kind == ExponentialService { // then the response is exponential too
			p95, p99 := mean*math.Log(20), mean*math.Log(100)
			t.P95Ms, t.P99Ms = &p95, &p99
		}
	case Nonpreemptive:
		mean += p.SliceMs / 2
	default:
		return t
	}
	t.MeanMs = &mean
	return t
}
