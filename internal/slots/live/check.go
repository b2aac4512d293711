package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/perf"
	"headroom/internal/core/strict"
	"headroom/internal/slots/dispatch"
)

// The largest live clusters.
const (
	MaxLiveNodes   = 5_000
	MaxLiveJobs    = 2_000 // active ones
	MaxLiveTasks   = 100_000
	MaxSlotsOfNode = 500
	maxLocalNodes  = 10
	maxShares      = 1_000
	maxCores       = 100_000
	maxAttempts    = 100
	maxWeight      = 1e6
)

func sortedNames[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// Validate checks the settings.
func (s LiveSettings) Validate() error {
	return strict.Check(func(c *strict.Checker) {
		if s.Slots != SlotsShared && s.Slots != SlotsSeparate {
			c.Refuse("slots", "choice", "%q says nothing of slots; write shared or separate.", fault.Clip(string(s.Slots)))
		}
		if s.Admission != dispatch.LiveOpen && s.Admission != dispatch.LivePaper && s.Admission != dispatch.LiveStrict {
			c.Refuse("admission", "choice", "%q says nothing of which jobs are taken in; write open, paper or strict.", fault.Clip(string(s.Admission)))
		}
		c.InRange("heartbeat_s", "The time between heartbeats in seconds", s.HeartbeatSeconds, 0.1, 3600)
		c.InRange("node_timeout_s", "The time in seconds after which a silent node counts as dead", s.NodeTimeoutSeconds, 1, 86_400)
		if s.NodeTimeoutSeconds < 2*s.HeartbeatSeconds {
			c.Refuse("node_timeout_s", "order", "A node would count as dead after %v s without a heartbeat, and they come each %v s; give at least twice that.", s.NodeTimeoutSeconds, s.HeartbeatSeconds)
		}
		c.Enter("policy")
		s.Policy.Check(c)
		c.Leave()
		strict.AtMost(c, "shares", "shares", len(s.Shares), maxShares)
		named := map[string]bool{}
		strict.Each(c, "shares", s.Shares, func(share *SlotShare) {
			c.Label("class", share.Class)
			if named[share.Class] {
				c.Refuse("class", "duplicate", "The class %q is there twice; keep one.", fault.Clip(share.Class))
			}
			named[share.Class] = true
			c.InRange("weight", "The weight", share.Weight, 0, maxWeight)
			c.Whole("min", "The smallest number", "slots", share.Min, 0, MaxLiveTasks)
			c.Whole("most", "The largest number", "slots", share.Most, 0, MaxLiveTasks)
			c.Whole("most_per_job", "The largest number", "slots", share.MaxPerJob, 0, MaxLiveTasks)
		})
	})
}

// Validate checks the declaration of a node.
func (n LiveNode) Validate() error {
	return strict.Check(func(c *strict.Checker) {
		c.StoredName(n.Name)
		c.Label("type", n.Type)
		c.InRange("cores", "The number of cores", n.Cores, 0.01, maxCores)
		c.InRange("compute_units", "The number of compute units", n.ComputeUnits, 0, maxCores)
		c.Enter("slots")
		c.Whole("map", "The number of map slots", "slots", n.Slots.Map, 0, MaxSlotsOfNode)
		c.Whole("reduce", "The number of reduce slots", "slots", n.Slots.Reduce, 0, MaxSlotsOfNode)
		c.Leave()
	})
}

// UnmarshalJSON fills in defaults.
func (r *LiveJobRequest) UnmarshalJSON(text []byte) error {
	type plain LiveJobRequest
	*r = LiveJobRequest{Slowstart: 1, MaxAttempts: 4, Weight: 1}
	if err := json.Unmarshal(text, (*plain)(r)); err != nil {
		return err
	}
	if r.Class == "" {
		r.Class = r.Name
	}
	return nil
}

// Validate checks a job. A deadline in the past is allowed: such a job is late from the start.
func (r LiveJobRequest) Validate(now time.Time) error {
	return strict.Check(func(c *strict.Checker) {
		c.Label("name", r.Name)
		c.Label("class", r.Class)
		c.Whole("maps", "The number of maps", "maps", r.Maps, 0, MaxLiveTasks)
		c.Whole("reduces", "The number of reduces", "reduces", r.Reduces, 0, MaxLiveTasks)
		if r.Maps == 0 && r.Reduces == 0 {
			c.Refuse("maps", "range", "The job has no tasks; give at least one map or one reduce.")
		}
		c.InRange("slowstart", "The part of the maps that must be done before reduces start", r.Slowstart, 0, 1)
		c.Whole("max_attempts", "The number of attempts of a task", "attempts", r.MaxAttempts, 1, maxAttempts)
		c.InRange("weight", "The weight", r.Weight, 1e-6, maxWeight)
		c.InRange("min_share", "The smallest share", r.MinShare, 0, 1)
		c.InRange("read_mb_s", "What a task reads in MB/s", r.ReadMBPerS, 0, MaxMBPerS)
		if utf8.RuneCountInString(r.UsageFrom) > strict.MaxNameLength || strings.ContainsFunc(r.UsageFrom, unicode.IsControl) {
			c.Refuse("usage_from", "text", "Where the usage comes from is said in at most %d characters, without control characters.", strict.MaxNameLength)
		}
		c.Enter("usage")
		for _, u := range []struct {
			kind string
			of   perf.TaskUsage
		}{{"map", r.Usage.Map}, {"reduce", r.Usage.Reduce}} {
			c.Enter(u.kind)
			c.InRange("cpu", "The use of processors", u.of.CPU, 0, 10)
			c.InRange("memory", "The use of memory", u.of.Memory, 0, 10)
			c.InRange("disk", "The use of disks", u.of.Disk, 0, 10)
			c.InRange("network", "The use of the network", u.of.Network, 0, 10)
			c.Leave()
		}
		c.Leave()
		c.Enter("utility")
		c.InRange("worth", "The worth of a task", r.Utility.Worth, 0, dispatch.MaxUtility)
		c.InRange("budget", "The budget", r.Utility.Budget, 0, dispatch.MaxMetric)
		c.InRange("price", "The price of a task", r.Utility.Price, 0, dispatch.MaxMetric)
		c.InRange("promised", "The promised part of running tasks", r.Utility.Promised, 0, 1)
		c.InRange("revenue", "The revenue", r.Utility.Revenue, 0, dispatch.MaxUtility)
		c.Leave()
		c.InRange("deadline_s", "The deadline in seconds from now", r.DeadlineSeconds, 0, capacity.MaxSeconds)
		if r.DeadlineAt != nil {
			c.Moment("deadline_at", *r.DeadlineAt)
			if r.DeadlineSeconds > 0 {
				c.Refuse("deadline_s", "conflict", "The deadline is given twice; keep deadline_at or deadline_s.")
			}
		}
		seen := map[int64]bool{}
		c.Enter("local")
		for i, l := range r.Local {
			c.Element(i)
			switch {
			case l.Task < 0 || l.Task >= r.Maps:
				c.Refuse("task", "range", "The job has no map %d; they are numbered from 0 to %d.", l.Task, r.Maps-1)
			case seen[l.Task]:
				c.Refuse("task", "duplicate", "The map %d is named twice; keep one.", l.Task)
			case len(l.Nodes) > maxLocalNodes:
				c.Refuse("nodes", "too_many", "%d nodes are named; at most %d are looked at.", len(l.Nodes), maxLocalNodes)
			}
			seen[l.Task] = true
			c.Leave()
		}
		c.Leave()
	})
}
