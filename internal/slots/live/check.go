package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// The largest live clusters.
const (
	maxLiveNodes = 5_000
	maxLiveJobs  = 2_000 // active ones
)

func sortedNames[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// Validate checks what the contract's rules for settings leave open.
func (s LiveSettings) Validate() error {
	return strict.Check(func(c *strict.Checker) {
		if s.NodeTimeoutSeconds < 2*s.HeartbeatSeconds {
			c.Refuse("node_timeout_s", "order", "A node would count as dead after %v s without a heartbeat, and they come each %v s; give at least twice that.", s.NodeTimeoutSeconds, s.HeartbeatSeconds)
		}
		c.Enter("policy")
		s.Policy.Check(c)
		c.Leave()
		named := map[string]bool{}
		strict.Each(c, "shares", s.Shares, func(share *SlotShare) {
			c.Label("class", share.Class)
			if named[share.Class] {
				c.Refuse("class", "duplicate", "The class %q is there twice; keep one.", fault.Clip(share.Class))
			}
			named[share.Class] = true
		})
	})
}

// Validate checks what the contract's rules for the declaration of a node leave open.
func (n LiveNode) Validate() error {
	return strict.Check(func(c *strict.Checker) {
		c.StoredName(n.Name)
		c.Label("type", n.Type)
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

// Validate checks what the contract's rules for a job leave open. A deadline in the past is allowed: such a job is late from the start.
func (r LiveJobRequest) Validate(now time.Time) error {
	return strict.Check(func(c *strict.Checker) {
		c.Label("name", r.Name)
		c.Label("class", r.Class)
		if r.Maps == 0 && r.Reduces == 0 {
			c.Refuse("maps", "range", "The job has no tasks; give at least one map or one reduce.")
		}
		if strings.ContainsFunc(r.UsageFrom, unicode.IsControl) {
			c.Refuse("usage_from", "text", "Where the usage comes from is said in at most %d characters, without control characters.", strict.MaxNameLength)
		}
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
			}
			seen[l.Task] = true
			c.Leave()
		}
		c.Leave()
	})
}
