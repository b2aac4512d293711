package plans

import (
	"time"

	"example.org/headroom/internal/core/fault"
)

// Current is a cluster's current plan with its freshness.
type Current struct {
	Record PlanRecord
	// ConfirmedAt is the moment when the inputs were last found equal to those of the plan. For a pinned plan it is
	// the moment when the inputs were last planned, whatever the result.
	ConfirmedAt      time.Time
	ConfirmedVersion int64      // the inputs' version that was seen then
	Boundary         *time.Time // the next change of a price, contract or forecast, or the end of a pin; nil if none is known
	InputsVersion    int64      // the cluster's, now
	InputsChangedAt  time.Time  // when they became that
	Pin              *Pin       // an operator's word that this plan stays
	Waiting          *int64     // the newest plan, while it waits for the pin's end
	LastAttempt      *Attempt   // the last try to make a newer plan, if it failed or changed nothing
	HoldSeconds      int64      // time for which a decrease of VMs is held back from autoscalers
	Past             []PastVMs  // earlier plans within that time
}

// Pin keeps a plan current until a moment in spite of any changes.
type Pin struct {
	Number int64     `json:"number"`
	Until  time.Time `json:"until"`
	By     string    `json:"by"`
}

// Attempt is a try to re-plan. A failed one leaves the last good plan current and records the reason.
type Attempt struct {
	At        time.Time       `json:"at"`
	Reason    string          `json:"reason"` // the trigger: inputs, boundary, confirmation, request
	Failed    bool            `json:"failed"`
	Detail    string          `json:"detail"` // the reason why the old plan was kept, as a sentence
	Conflicts []fault.Finding `json:"conflicts,omitempty"`
}

// inputsGrace is the time for which a plan may be older than its inputs before it counts as stale: planning takes a
// moment.
const inputsGrace = time.Minute

// validUntil returns the next moment that changes something, or two periods after the plan was last confirmed,
// whichever comes first.
func (c Current) ValidUntil() time.Time {
	until := c.ConfirmedAt.Add(2 * time.Duration(c.Record.PeriodSeconds) * time.Second)
	if c.Boundary != nil && c.Boundary.Before(until) {
		until = *c.Boundary
	}
	return until
}

// Stale reports whether the plan should be used with care at a moment: it is past its validity, or its inputs have
// been newer for longer than planning takes.
func (c Current) Stale(now time.Time) bool {
	return !now.Before(c.ValidUntil()) ||
		c.InputsVersion > max(c.Record.InputsVersion, c.ConfirmedVersion) && now.Sub(c.InputsChangedAt) > inputsGrace
}
