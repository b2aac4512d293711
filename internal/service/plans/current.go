package plans

import (
	"time"

	"headroom/internal/core/fault"
)

// Current is a cluster's current plan and what is known about how fresh it is.
type Current struct {
	Record PlanRecord
	// ConfirmedAt is when the inputs were last seen to be those of the plan; of a pinned plan, when it
	// was last seen what the inputs ask for, be it another plan.
	ConfirmedAt      time.Time
	ConfirmedVersion int64       // the inputs' version that was seen then
	Boundary         *time.Time  // the next moment at which a price, contract or forecast changes or a pin ends; nil is none in sight
	InputsVersion    int64       // the cluster's, now
	InputsChangedAt  time.Time   // when they became that
	Pin              *Pin        // an operator's word that this plan stays
	LastAttempt      *Attempt    // the last try to make a newer plan, where it failed or changed nothing
	HoldSeconds      int64       // how long a decrease of VMs is held back from autoscalers
	Past             []PastTotal // what was current before, within that time
}

// Pin keeps a plan current until a moment, whatever changes.
type Pin struct {
	Number int64     `json:"number"`
	Until  time.Time `json:"until"`
	By     string    `json:"by"`
}

// Attempt is a try to re-plan. A failed one leaves the last good plan current and says why.
type Attempt struct {
	At        time.Time       `json:"at"`
	Reason    string          `json:"reason"` // what asked for it: inputs, boundary, confirmation, request
	Failed    bool            `json:"failed"`
	Detail    string          `json:"detail"` // why the old plan was kept, as a sentence
	Conflicts []fault.Finding `json:"conflicts,omitempty"`
}

// InputsGrace is how long a plan may be older than its inputs before it counts as stale: planning
// anew takes a moment.
const InputsGrace = time.Minute

// ValidUntil is the next moment in time that changes something, or two periods after the plan was
// last confirmed, whichever comes first.
func (c Current) ValidUntil() time.Time {
	until := c.ConfirmedAt.Add(2 * time.Duration(c.Record.PeriodSeconds) * time.Second)
	if c.Boundary != nil && c.Boundary.Before(until) {
		until = *c.Boundary
	}
	return until
}

// Stale says whether the plan should be taken with care at a moment: it is past its validity, or its
// inputs have been newer for longer than planning takes.
func (c Current) Stale(now time.Time) bool {
	return !now.Before(c.ValidUntil()) ||
		c.InputsVersion > max(c.Record.InputsVersion, c.ConfirmedVersion) && now.Sub(c.InputsChangedAt) > InputsGrace
}
