package plans

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/ask/pool"
)

// PoolFreshness describes how up to date a pool's current plan is.
type PoolFreshness struct {
	ConfirmedAt time.Time  `json:"confirmed_at"` // when its basis was last found unchanged
	ValidUntil  time.Time  `json:"valid_until"`
	Stale       bool       `json:"stale"`
	ChangedAt   *time.Time `json:"changed_at"`   // the first change since the plan; null without one
	LastAttempt *Attempt   `json:"last_attempt"` // to make a newer one, if it failed or changed nothing
}

// CurrentPool is a pool's current plan with its freshness.
type CurrentPool struct {
	Record      pool.PoolPlanRecord
	ConfirmedAt time.Time
	Boundary    *time.Time // when the next round begins
	ChangedAt   *time.Time
	LastAttempt *Attempt
}

// PoolConfirmed is the longest time between two checks of a pool.
const PoolConfirmed = time.Hour

// validUntil returns the beginning of the next round, or two hours after the plan was last confirmed, whichever comes
// first.
func (c CurrentPool) validUntil() time.Time {
	until := c.ConfirmedAt.Add(2 * PoolConfirmed)
	if c.Boundary != nil && c.Boundary.Before(until) {
		until = *c.Boundary
	}
	return until
}

// Freshness returns the plan's freshness at a moment.
func (c CurrentPool) Freshness(now time.Time) PoolFreshness {
	f := PoolFreshness{ConfirmedAt: c.ConfirmedAt.UTC(), ValidUntil: c.validUntil().UTC(), ChangedAt: c.ChangedAt, LastAttempt: c.LastAttempt}
	f.Stale = !now.Before(f.ValidUntil) || c.ChangedAt != nil && now.Sub(*c.ChangedAt) > inputsGrace
	return f
}

// Tag changes with the plan and with every member of its freshness except Stale.
func (c CurrentPool) Tag() string {
	f := c.Freshness(time.Time{})
	f.Stale = false
	text, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("write how fresh a plan is: %v", err)) // it holds times and sentences alone
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%d-%x", c.Record.Number, sum[:4])
}

// PoolScaling holds the targets for an autoscaler of machines of several types.
type PoolScaling struct {
	PlanID      string          `json:"plan_id"`
	Number      int64           `json:"number"`
	GeneratedAt time.Time       `json:"generated_at"`
	ConfirmedAt time.Time       `json:"confirmed_at"`
	ValidUntil  time.Time       `json:"valid_until"`
	AgeSeconds  int64           `json:"age_s"`
	Stale       bool            `json:"stale"`
	Status      pool.PoolStatus `json:"status"`

	Machines PoolCount            `json:"machines"` // of all types
	Types    map[string]PoolCount `json:"types"`
	Items    []PoolItem           `json:"items"` // the types as rows, by name
	Next     []pool.PoolStep      `json:"next"`  // the next machines to rent and to return, at their moment; none if nothing remains
}

// PoolCount counts the machines that should run.
type PoolCount struct {
	Total        int64 `json:"total"`
	Core         int64 `json:"core"`
	Accelerators int64 `json:"accelerators"`
}

// PoolItem is a PoolCount in a row.
type PoolItem struct {
	Type string `json:"type"`
	PoolCount
}

// scalingAt returns the targets for autoscalers from a pool's current plan at a moment. s is its schedule. After the
// schedule's end its last targets apply.
func (c CurrentPool) ScalingAt(now time.Time, s pool.PoolSchedule) PoolScaling {
	f := c.Freshness(now)
	out := PoolScaling{PlanID: c.Record.ID, Number: c.Record.Number, GeneratedAt: c.Record.CreatedAt.UTC(), ConfirmedAt: f.ConfirmedAt, ValidUntil: f.ValidUntil,
		AgeSeconds: max(0, int64(now.Sub(c.Record.CreatedAt)/time.Second)), Stale: f.Stale, Status: s.Status, Types: map[string]PoolCount{}, Items: []PoolItem{}, Next: []pool.PoolStep{}}
	for _, t := range s.Targets {
		n := out.Types[t.Type]
		if !t.At.After(now) {
			if t.As == pool.AsCore {
				n.Core = t.Count
			} else {
				n.Accelerators = t.Count
			}
		}
		out.Types[t.Type] = n
	}
	for name, n := range out.Types {
		n.Total = n.Core + n.Accelerators
		out.Types[name] = n
		out.Items = append(out.Items, PoolItem{name, n})
		out.Machines.Core += n.Core
		out.Machines.Accelerators += n.Accelerators
		out.Machines.Total += n.Total
	}
	slices.SortFunc(out.Items, func(a, b PoolItem) int { return cmp.Compare(a.Type, b.Type) })
	for _, x := range s.Steps {
		if x.At.After(now) && (len(out.Next) == 0 || x.At.Equal(out.Next[0].At)) {
			out.Next = append(out.Next, x)
		}
	}
	return out
}
