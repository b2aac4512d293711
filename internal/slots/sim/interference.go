package sim

import (
	"context"
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
)

// InterferenceAnswer reports the response times of requests on a core that also runs batch work, under each policy:
// simulated, and from queueing theory if that has an answer.
type InterferenceAnswer struct {
	Use      float64        `json:"use"` // part of the core that the requests need
	Requests int64          `json:"requests"`
	Seed     int64          `json:"seed"`
	Policies []Interference `json:"policies"` // none without a question about a core
	// DataNodes is set if the question has data nodes.
	DataNodes *DataNodesAnswer `json:"data_nodes,omitempty"`
}

// Interference is the result of a policy.
type Interference struct {
	Policy   CorePolicy  `json:"policy"`
	Unstable bool        `json:"unstable"` // requests pile up for ever and have no times
	Response *ResponseMs `json:"response_ms"`
	// BatchShare is the part of the core that the batch work got.
	BatchShare float64 `json:"batch_share"`
	Theory     Theory  `json:"theory"`
	// Hints sets up a Linux host like this; null if there is nothing to set.
	Hints    *HostHints         `json:"hints"`
	Warnings []capacity.Warning `json:"warnings"`
}

// ResponseMs is the time from a request's arrival to its end. The half widths are 95 % confidence intervals.
type ResponseMs struct {
	Mean          float64 `json:"mean"`
	MeanHalfWidth float64 `json:"mean_half_width"`
	P95           float64 `json:"p95"`
	P95HalfWidth  float64 `json:"p95_half_width"`
	P99           float64 `json:"p99"`
	P99HalfWidth  float64 `json:"p99_half_width"`
}

// parts is the number of pieces of a run; their spread gives the confidence. One more piece before them warms up.
const parts = 20

// roughBelow is the number of relaxation times that a part of a run must hold for the parts to be independent.
const roughBelow = 10

// EstimateInterference simulates a core under each policy with the same requests. The question's limits bound it, and
// it ends with the context.
func EstimateInterference(ctx context.Context, q InterferenceQuestion) (InterferenceAnswer, error) {
	if err := q.Validate(); err != nil {
		return InterferenceAnswer{}, err
	}
	answer := InterferenceAnswer{Requests: q.Requests, Seed: q.Seed, Policies: []Interference{}}
	if q.DataNodes != nil {
		answer.DataNodes = serve(q.DataNodes)
	}
	if !q.asksOfCore() {
		answer.Requests = 0
		return answer, nil
	}
	load := newCoreLoad(q.Interactive)
	answer.Use = load.use()
	for _, p := range q.Policies {
		one := Interference{Policy: p, Theory: load.theory(p), Hints: hintsFor(p, q.Host), Warnings: []capacity.Warning{}}
		one.Unstable = load.unstable(p)
		run, err := load.run(ctx, p, q.Requests, uint64(q.Seed))
		if err != nil {
			return InterferenceAnswer{}, err
		}
		one.BatchShare = run.batch / run.elapsed
		if !one.Unstable {
			one.Response = run.response()
		}
		one.warn(load, q.Requests)
		answer.Policies = append(answer.Policies, one)
	}
	return answer, nil
}

func (i *Interference) warn(load coreLoad, requests int64) {
	if i.Unstable {
		i.Warnings = append(i.Warnings, capacity.Warning{Code: "unstable", Detail: fmt.Sprintf(
			"The requests need %.4g %% of the core, and this policy leaves them %.4g %%: they pile up for ever, so that there is no time they take. Send fewer requests, or choose another policy.",
			100*load.use(), 100*left(i.Policy))})
		return
	}
	if forget := load.forgets(i.Policy); float64(requests)/(parts+1) < roughBelow*forget {
		i.Warnings = append(i.Warnings, capacity.Warning{Code: "rough", Detail: fmt.Sprintf(
			"So near the limit a core forgets a crowd only after some %.2g requests; %d of them say little, and the half widths too little. Simulate %.2g or more, or trust the theory where it says something.",
			forget, requests, forget*roughBelow*(parts+1))})
	}
}

// coreLoad describes the requests, in milliseconds.
type coreLoad struct {
	every        float64 // mean time between arrivals
	service      RequestTiming
	mean, square float64 // of a service: mean, and mean square
}

func newCoreLoad(i Interactive) coreLoad {
	l := coreLoad{every: 1000 / i.PerSecond, service: i.Service, mean: i.Service.MeanMs}
	switch i.Service.Kind {
	case ExponentialService:
		l.square = 2 * l.mean * l.mean
	case ConstantService:
		l.square = l.mean * l.mean
	default:
		n := float64(len(i.Service.SamplesMs))
		for _, ms := range i.Service.SamplesMs {
			l.mean += ms / n
			l.square += float64(ms*ms) / n
		}
	}
	return l
}

// use returns rho, the part of the core that the requests need.
func (l coreLoad) use() float64 { return l.mean / l.every }

func (l coreLoad) draw(s *stream) float64 {
	switch l.service.Kind {
	case ExponentialService:
		return s.exponential(l.mean)
	case ConstantService:
		return l.mean
	default:
		n := len(l.service.SamplesMs)
		return l.service.SamplesMs[min(n-1, int(s.unit()*float64(n)))]
	}
}

// forgets returns the relaxation time in requests: that of M/M/1, times the relative variability of services.
func (l coreLoad) forgets(p CorePolicy) float64 {
	root := 1 - math.Sqrt(l.use()/left(p))
	return max(1, (l.square/l.mean/l.mean)/2/(root*root))
}

// coreRun holds the results of a run after its warm-up.
type coreRun struct {
	parts          [parts]series // response times
	batch, elapsed float64       // time of the batch work, and of the whole
}

// watched is the number of requests between checks of the context: less than a millisecond.
const watched = 1 << 13

func (l coreLoad) run(ctx context.Context, p CorePolicy, requests int64, seed uint64) (*coreRun, error) {
	arrivals, services := child(seed, 0), child(seed, 1)
	c := newCore(p)
	r := &coreRun{}
	warmUp := requests / (parts + 1)
	var warm, gaps float64 // values that belong to the warm-up; arrivals so far
	for n := range requests {
		if n%watched == 0 && capacity.Pause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		gap := arrivals.exponential(l.every)
		gaps += gap
		response := c.request(gap, l.draw(&services))
		if n < warmUp {
			warm = gaps + response
			r.batch = -c.batch
			continue
		}
		r.parts[(n-warmUp)*parts/(requests-warmUp)].add(response)
		r.elapsed = gaps + response - warm
	}
	r.batch += c.batch
	return r, nil
}

func (r *coreRun) response() *ResponseMs {
	var all series
	for i := range r.parts {
		all.merge(&r.parts[i])
	}
	half := func(figure func(*series) float64) float64 {
		values := make([]float64, parts)
		for i := range r.parts {
			values[i] = figure(&r.parts[i])
		}
		return *estimated(values).HalfWidth
	}
	return &ResponseMs{
		Mean: all.mean(), MeanHalfWidth: half((*series).mean),
		P95: all.quantile(0.95), P95HalfWidth: half(func(s *series) float64 { return s.quantile(0.95) }),
		P99: all.quantile(0.99), P99HalfWidth: half(func(s *series) float64 { return s.quantile(0.99) }),
	}
}
