package capacity

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The largest live clusters.
const (
	MaxLiveNodes   = 5_000
	MaxLiveJobs    = 2_000 // active ones
	MaxLiveTasks   = 100_000
	MaxSlotsOfNode = 500
	maxLocalNodes  = 10
	maxShares      = 1_000
	mostCores      = 100_000
	mostAttempts   = 100
	mostWeight     = 1e6
)

func sortedNames[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// inRange refuses what is not from low to high, and NaN.
func (c *checker) inRange(member, what string, x, low, high float64) {
	if !(x >= low && x <= high) {
		c.refuse(member, "range", "%s is from %.15g to %.15g, not %v.", what, low, high, x)
	}
}

// Validate says what is wrong with settings.
func (s LiveSettings) Validate() error {
	return findingsOf(func(c *checker) {
		if s.Slots != SlotsShared && s.Slots != SlotsSeparate {
			c.refuse("slots", "choice", "%q says nothing of slots; write shared or separate.", clip(string(s.Slots)))
		}
		if s.Admission != LiveOpen && s.Admission != LivePaper && s.Admission != LiveStrict {
			c.refuse("admission", "choice", "%q says nothing of which jobs are taken in; write open, paper or strict.", clip(string(s.Admission)))
		}
		c.inRange("heartbeat_s", "The time between heartbeats in seconds", s.HeartbeatSeconds, 0.1, 3600)
		c.inRange("node_timeout_s", "The time in seconds after which a silent node counts as dead", s.NodeTimeoutSeconds, 1, 86_400)
		if s.NodeTimeoutSeconds < 2*s.HeartbeatSeconds {
			c.refuse("node_timeout_s", "order", "A node would count as dead after %v s without a heartbeat, and they come each %v s; give at least twice that.", s.NodeTimeoutSeconds, s.HeartbeatSeconds)
		}
		c.enter("policy")
		s.Policy.check(c)
		c.leave()
		atMost(c, "shares", "shares", len(s.Shares), maxShares)
		named := map[string]bool{}
		each(c, "shares", s.Shares, func(share *SlotShare) {
			c.label("class", share.Class)
			if named[share.Class] {
				c.refuse("class", "duplicate", "The class %q is there twice; keep one.", clip(share.Class))
			}
			named[share.Class] = true
			c.inRange("weight", "The weight", share.Weight, 0, mostWeight)
			c.whole("min", "The smallest number", "slots", share.Min, 0, MaxLiveTasks)
			c.whole("most", "The largest number", "slots", share.Most, 0, MaxLiveTasks)
			c.whole("most_per_job", "The largest number", "slots", share.MostPerJob, 0, MaxLiveTasks)
		})
	})
}

// Validate says what is wrong with what is declared of a node.
func (n LiveNode) Validate() error {
	return findingsOf(func(c *checker) {
		c.storedName(n.Name)
		c.label("type", n.Type)
		c.inRange("cores", "The number of cores", n.Cores, 0.01, mostCores)
		c.inRange("compute_units", "The number of compute units", n.ComputeUnits, 0, mostCores)
		c.enter("slots")
		c.whole("map", "The number of map slots", "slots", n.Slots.Map, 0, MaxSlotsOfNode)
		c.whole("reduce", "The number of reduce slots", "slots", n.Slots.Reduce, 0, MaxSlotsOfNode)
		c.leave()
	})
}

// label is a name that is no part of an address.
func (c *checker) label(member, text string) {
	if plainName(text) {
		return
	}
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxNameLength || strings.ContainsFunc(text, unicode.IsControl) {
		c.refuse(member, "text", "%q is no name: give 1 to %d characters without control characters.", clip(text), MaxNameLength)
	}
}

// UnmarshalJSON fills in what is left out.
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

// Validate says what is wrong with a job. A deadline in the past is none of it: such a job is late from the start.
func (r LiveJobRequest) Validate(now time.Time) error {
	return findingsOf(func(c *checker) {
		c.label("name", r.Name)
		c.label("class", r.Class)
		c.whole("maps", "The number of maps", "maps", r.Maps, 0, MaxLiveTasks)
		c.whole("reduces", "The number of reduces", "reduces", r.Reduces, 0, MaxLiveTasks)
		if r.Maps == 0 && r.Reduces == 0 {
			c.refuse("maps", "range", "The job has no tasks; give at least one map or one reduce.")
		}
		c.inRange("slowstart", "The part of the maps that must be done before reduces start", r.Slowstart, 0, 1)
		c.whole("max_attempts", "The number of attempts of a task", "attempts", r.MaxAttempts, 1, mostAttempts)
		c.inRange("weight", "The weight", r.Weight, 1e-6, mostWeight)
		c.inRange("min_share", "The smallest share", r.MinShare, 0, 1)
		c.inRange("read_mb_s", "What a task reads in MB/s", r.ReadMBPerS, 0, mostMBPerS)
		if utf8.RuneCountInString(r.UsageFrom) > MaxNameLength || strings.ContainsFunc(r.UsageFrom, unicode.IsControl) {
			c.refuse("usage_from", "text", "Where the usage comes from is said in at most %d characters, without control characters.", MaxNameLength)
		}
		c.enter("usage")
		for _, u := range []struct {
			kind string
			of   TaskUsage
		}{{"map", r.Usage.Map}, {"reduce", r.Usage.Reduce}} {
			c.enter(u.kind)
			c.inRange("cpu", "The use of processors", u.of.CPU, 0, 10)
			c.inRange("memory", "The use of memory", u.of.Memory, 0, 10)
			c.inRange("disk", "The use of disks", u.of.Disk, 0, 10)
			c.inRange("network", "The use of the network", u.of.Network, 0, 10)
			c.leave()
		}
		c.leave()
		c.enter("utility")
		c.inRange("worth", "The worth of a task", r.Utility.Worth, 0, MaxUtility)
		c.inRange("budget", "The budget", r.Utility.Budget, 0, MaxMetric)
		c.inRange("price", "The price of a task", r.Utility.Price, 0, MaxMetric)
		c.inRange("promised", "The promised part of running tasks", r.Utility.Promised, 0, 1)
		c.inRange("revenue", "The revenue", r.Utility.Revenue, 0, MaxUtility)
		c.leave()
		c.inRange("deadline_s", "The deadline in seconds from now", r.DeadlineSeconds, 0, MaxSeconds)
		if r.DeadlineAt != nil {
			c.moment("deadline_at", *r.DeadlineAt)
			if r.DeadlineSeconds > 0 {
				c.refuse("deadline_s", "conflict", "The deadline is given twice; keep deadline_at or deadline_s.")
			}
		}
		seen := map[int64]bool{}
		c.enter("local")
		for i, l := range r.Local {
			c.element(i)
			switch {
			case l.Task < 0 || l.Task >= r.Maps:
				c.refuse("task", "range", "The job has no map %d; they are numbered from 0 to %d.", l.Task, r.Maps-1)
			case seen[l.Task]:
				c.refuse("task", "duplicate", "The map %d is named twice; keep one.", l.Task)
			case len(l.Nodes) > maxLocalNodes:
				c.refuse("nodes", "too_many", "%d nodes are named; at most %d are looked at.", len(l.Nodes), maxLocalNodes)
			}
			seen[l.Task] = true
			c.leave()
		}
		c.leave()
	})
}
