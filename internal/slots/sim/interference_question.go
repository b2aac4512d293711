package sim

import (
	"regexp"
	"strconv"
	"sync"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// InterferenceQuestion asks about one core that serves requests and, beside them, runs endless batch work. How much
// longer do the requests take, and how much of the core does the batch work get? It also asks about data nodes that
// batch work reads from: how many of its tasks do they serve? Either part may stand alone.
type InterferenceQuestion struct {
	Interactive Interactive   `json:"interactive,omitzero"`
	Policies    []CorePolicy  `json:"policies"` // left out: alone, background, nonpreemptive and fair
	Host        BatchHost     `json:"host"`
	Requests    int64         `json:"requests"` // simulated under each policy
	Seed        int64         `json:"seed"`
	DataNodes   *DataNodeLoad `json:"data_nodes,omitempty"`
}

// asksOfCore reports whether the question is about a core.
func (q *InterferenceQuestion) asksOfCore() bool {
	return q.DataNodes == nil || !q.Interactive.IsZero()
}

// Interactive describes requests that arrive at random (Poisson) and are served in their order.
type Interactive struct {
	PerSecond float64       `json:"per_second"`
	Service   RequestTiming `json:"service"`
}

// IsZero reports that no requests are described.
func (i Interactive) IsZero() bool {
	return i.PerSecond == 0 && i.Service.Kind == "" && i.Service.MeanMs == 0 && i.Service.SamplesMs == nil
}

// RequestTiming describes the time that a request needs the core.
type RequestTiming struct {
	Kind      ServiceKind `json:"kind"`
	MeanMs    float64     `json:"mean_ms,omitzero"`     // exponential, constant
	SamplesMs []float64   `json:"samples_ms,omitempty"` // samples: each as likely as any other
}

// ServiceKind names a distribution of the times of requests.
type ServiceKind string

// The distributions of service times.
const (
	ExponentialService ServiceKind = "exponential"
	ConstantService    ServiceKind = "constant"
	SampledService     ServiceKind = "samples"
)

// CorePolicy decides between requests and the batch work if both want the core.
type CorePolicy struct {
	Kind CorePolicyKind `json:"kind"`
	// SliceMs is the time that one runs before the other is considered: nonpreemptive, fair. Default: 30.
	SliceMs float64 `json:"slice_ms,omitzero"`
	// WindowMs and FloorMs, p and e of the paper, belong to anti_starvation. If the batch work ran less than e within
	// p, it runs until it has.
	WindowMs float64 `json:"window_ms,omitzero"`
	FloorMs  float64 `json:"floor_ms,omitzero"`
}

// CorePolicyKind is the policy's name.
type CorePolicyKind string

// The policies.
const (
	AloneOnCore      CorePolicyKind = "alone"           // without batch work
	BackgroundOnCore CorePolicyKind = "background"      // a request takes the core from the batch work at once
	Nonpreemptive    CorePolicyKind = "nonpreemptive"   // requests go first, but the batch work keeps its slice
	FairOnCore       CorePolicyKind = "fair"            // slices in turn
	AntiStarvation   CorePolicyKind = "anti_starvation" // background with a floor
)

// BatchHost describes the host for which hints are made.
type BatchHost struct {
	Cgroup string `json:"cgroup"` // the directory of the batch work's group
	// CeilingCores is the maximum number of cores for the batch work; 0: all cores.
	CeilingCores float64 `json:"ceiling_cores,omitzero"`
	// InteractiveWeight is cpu.weight of the group of the requests.
	InteractiveWeight int64 `json:"interactive_weight"`
}

// Limits of a question about interference.
const (
	minRequestsPerSecond    = 1e-6
	maxRequestsPerSecond    = 1_000_000
	minServiceMs            = 1e-6 // on average
	maxServiceMs            = 1e7
	minSliceMs              = 0.01
	maxSliceMs              = 60_000
	maxWindowMs             = 1e6
	maxServiceSamples       = 10_000
	maxCorePolicies         = 10
	minInterferenceRequests = 1_000
	// maxInterferenceRequests bounds the requests of all policies together, which take about a second to compute.
	maxInterferenceRequests = 10_000_000
	minCeilingCores         = 0.01 // the kernel takes no quota below a millisecond, of a period of 100
	maxCeilingCores         = 10_000
	maxCgroupWeight         = 10_000
	DefaultSliceMs          = 30 // of Xen's credit scheduler
)

// DefaultInterference returns the default question.
func DefaultInterference() InterferenceQuestion {
	return InterferenceQuestion{Requests: 1_000_000, Seed: 1, Host: BatchHost{Cgroup: "/sys/fs/cgroup/batch", InteractiveWeight: 100},
		Policies: []CorePolicy{{Kind: AloneOnCore}, {Kind: BackgroundOnCore}, {Kind: Nonpreemptive, SliceMs: DefaultSliceMs}, {Kind: FairOnCore, SliceMs: DefaultSliceMs}}}
}

var (
	interferenceShape  = strict.NewShape("a question about interference", nil, "interactive", "data_nodes", "policies", "host", "requests", "seed")
	interactiveShape   = strict.NewShape("the requests", []string{"per_second", "service"})
	requestTimingShape = strict.NewShape("the service", []string{"kind"}, "mean_ms", "samples_ms")
	corePolicyShape    = strict.NewShape("a policy", []string{"kind"}, "slice_ms", "window_ms", "floor_ms")
	batchHostShape     = strict.NewShape("the host", nil, "cgroup", "ceiling_cores", "interactive_weight")

	serviceKinds    = []ServiceKind{ExponentialService, ConstantService, SampledService}
	corePolicyKinds = []CorePolicyKind{AloneOnCore, BackgroundOnCore, Nonpreemptive, FairOnCore, AntiStarvation}
)

// ReadInterference reads a question about interference, as strictly as ReadProblem reads a problem.
func ReadInterference(data []byte) (InterferenceQuestion, error) {
	q := DefaultInterference()
	r := strict.NewReader(data)
	r.Object(interferenceShape, func(name string) {
		switch name {
		case "interactive":
			readInteractive(r, &q.Interactive)
		case "data_nodes":
			q.DataNodes = new(DataNodeLoad)
			readDataNodes(r, q.DataNodes)
		case "policies":
			q.Policies = strict.List(r, "of policies", maxCorePolicies, readCorePolicy)
		case "host":
			r.Fields(batchHostShape, &q.Host)
		default:
			r.Field(&q, name)
		}
	})
	r.End()
	if err := r.Result(q.check); err != nil {
		return InterferenceQuestion{}, err
	}
	return q, nil
}

func readInteractive(r *strict.Reader, i *Interactive) {
	r.Object(interactiveShape, func(name string) {
		if name == "per_second" {
			r.Float(&i.PerSecond)
			return
		}
		r.Object(requestTimingShape, func(name string) {
			if name == "samples_ms" {
				i.Service.SamplesMs = strict.List(r, "of times", maxServiceSamples, (*strict.Reader).Float)
			} else {
				r.Field(&i.Service, name)
			}
		})
	})
}

func readCorePolicy(r *strict.Reader, p *CorePolicy) {
	r.Fields(corePolicyShape, p)
	if p.SliceMs == 0 && p.takesSlices() {
		p.SliceMs = DefaultSliceMs
	}
}

// Validate checks the question. It reports all faults, as an *InputError.
func (q InterferenceQuestion) Validate() error { return strict.Check(q.check) }

func (q InterferenceQuestion) check(c *strict.Checker) {
	if q.DataNodes != nil {
		c.Enter("data_nodes")
		q.DataNodes.check(c)
		c.Leave()
	}
	if q.Interactive.IsZero() {
		if q.DataNodes == nil {
			c.Refuse("interactive", "missing", "Nothing is asked: say which requests a core answers, or in data_nodes what reads from which.")
		}
		return
	}
	c.Enter("interactive")
	if c.Number("per_second", "The number of requests", "a second", q.Interactive.PerSecond, maxRequestsPerSecond) && q.Interactive.PerSecond < minRequestsPerSecond {
		c.Refuse("per_second", "range", "There are %s requests a second, so that there is nothing to interfere with; give %s at least.", fault.Plain(q.Interactive.PerSecond), fault.Plain(minRequestsPerSecond))
	}
	c.Enter("service")
	q.Interactive.Service.check(c)
	c.Leave()
	c.Leave()
	c.Enter("policies")
	switch n := len(q.Policies); {
	case n == 0:
		c.Refuse("", "missing", "There is no policy; give one at least, or leave the list out.")
	case n > maxCorePolicies:
		c.Refuse("", "too_many", "Here are %d policies; at most %d are compared at once.", n, maxCorePolicies)
	}
	for i, p := range q.Policies {
		c.Element(i)
		p.check(c)
		c.Leave()
	}
	c.Leave()
	c.Enter("host")
	q.Host.check(c)
	c.Leave()
	c.Whole("requests", "The number of requests", "", q.Requests, minInterferenceRequests, maxInterferenceRequests)
	if n := int64(len(q.Policies)); n <= maxCorePolicies && q.Requests <= maxInterferenceRequests && n*q.Requests > maxInterferenceRequests {
		c.Refuse("requests", "premise", "%d requests under each of %d policies are more than %d; give %d at most, or fewer policies.", q.Requests, n, maxInterferenceRequests, maxInterferenceRequests/n)
	}
	c.Whole("seed", "The seed", "", q.Seed, 0, MaxSeed)
}

func (s RequestTiming) check(c *strict.Checker) {
	strict.OneOf(c, "kind", s.Kind, serviceKinds)
	if s.Kind != SampledService {
		if len(s.SamplesMs) > 0 {
			c.Refuse("samples_ms", "premise", "Times of requests are given, and the kind is %q, which has a mean alone; leave them out, or choose samples.", s.Kind)
		}
		if c.Number("mean_ms", "The mean time of a request", "ms", s.MeanMs, maxServiceMs) && s.MeanMs < minServiceMs {
			c.Refuse("mean_ms", "premise", "The mean time of a request is %s ms; give what it needs of the core, %s ms at least.", fault.Plain(s.MeanMs), fault.Plain(minServiceMs))
		}
		return
	}
	if s.MeanMs != 0 {
		c.Refuse("mean_ms", "premise", "The samples have a mean of their own; leave mean_ms out.")
	}
	c.Enter("samples_ms")
	defer c.Leave()
	switch n := len(s.SamplesMs); {
	case n == 0:
		c.Refuse("", "premise", "There are no times of requests; give one at least.")
	case n > maxServiceSamples:
		c.Refuse("", "too_many", "Here are %d times; give %d equally spaced quantiles of them at most.", n, maxServiceSamples)
	}
	sum := 0.0
	for i, ms := range s.SamplesMs {
		if !c.Number(strconv.Itoa(i), "The time of a request", "ms", ms, maxServiceMs) {
			return
		}
		sum += ms
	}
	if n := len(s.SamplesMs); n > 0 && sum < minServiceMs*float64(n) {
		c.Refuse("", "premise", "Requests take less than %s ms on average; give what they need of the core.", fault.Plain(minServiceMs))
	}
}

func (p CorePolicy) takesSlices() bool { return p.Kind == Nonpreemptive || p.Kind == FairOnCore }

func (p CorePolicy) check(c *strict.Checker) {
	strict.OneOf(c, "kind", p.Kind, corePolicyKinds)
	if p.takesSlices() {
		if c.Number("slice_ms", "The slice", "ms", p.SliceMs, maxSliceMs) && p.SliceMs < minSliceMs {
			c.Refuse("slice_ms", "premise", "The slice is %s ms; give %s at least.", fault.Plain(p.SliceMs), fault.Plain(minSliceMs))
		}
	} else if p.SliceMs != 0 {
		c.Refuse("slice_ms", "premise", "The policy %q has no slices; leave slice_ms out.", p.Kind)
	}
	if p.Kind != AntiStarvation {
		if p.WindowMs != 0 || p.FloorMs != 0 {
			c.Refuse("floor_ms", "premise", "The policy %q has no floor; leave window_ms and floor_ms out, or choose anti_starvation.", p.Kind)
		}
		return
	}
	window := c.Number("window_ms", "The window", "ms", p.WindowMs, maxWindowMs)
	if window && p.WindowMs < 1 {
		c.Refuse("window_ms", "premise", "The window is %s ms; give 1 at least.", fault.Plain(p.WindowMs))
		window = false
	}
	if c.Number("floor_ms", "The floor", "ms", p.FloorMs, maxWindowMs) && window && (p.FloorMs == 0 || p.FloorMs > p.WindowMs) {
		c.Refuse("floor_ms", "premise", "The floor is %s ms of a window of %s ms; give more than 0 and no more than the window.", fault.Plain(p.FloorMs), fault.Plain(p.WindowMs))
	}
}

// safePath matches paths that need no quoting in a command line.
var safePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/[A-Za-z0-9_@:][A-Za-z0-9_.@:-]*)+$`) })

func (h BatchHost) check(c *strict.Checker) {
	if len(h.Cgroup) > 1000 || !safePath().MatchString(h.Cgroup) {
		c.Refuse("cgroup", "text", "The directory %q cannot stand in a command; give an absolute path of letters, digits and _ . @ : - whose parts do not begin with a dot or a dash.", fault.Clip(h.Cgroup))
	}
	if c.Number("ceiling_cores", "The ceiling", "cores", h.CeilingCores, maxCeilingCores) && h.CeilingCores != 0 && h.CeilingCores < minCeilingCores {
		c.Refuse("ceiling_cores", "premise", "The ceiling is %s cores; the kernel takes %s at least.", fault.Plain(h.CeilingCores), fault.Plain(minCeilingCores))
	}
	c.Whole("interactive_weight", "The weight of the requests' group", "", h.InteractiveWeight, 1, maxCgroupWeight)
}
