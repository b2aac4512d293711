package plans

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"headroom/internal/core/capacity"
)

// Freshness describes how up to date a current plan is.
type Freshness struct {
	ConfirmedAt     time.Time `json:"confirmed_at"`
	ValidUntil      time.Time `json:"valid_until"`
	Stale           bool      `json:"stale"`
	InputsVersion   int64     `json:"inputs_version"`
	InputsChangedAt time.Time `json:"inputs_changed_at"`
	Pin             *Pin      `json:"pin"`
	LastAttempt     *Attempt  `json:"last_attempt"`
}

// Freshness returns the plan's freshness at a moment.
func (c Current) Freshness(now time.Time) Freshness {
	return Freshness{ConfirmedAt: c.ConfirmedAt.UTC(), ValidUntil: c.ValidUntil().UTC(), Stale: c.Stale(now),
		InputsVersion: c.InputsVersion, InputsChangedAt: c.InputsChangedAt.UTC(), Pin: c.Pin, LastAttempt: c.LastAttempt}
}

// Tag changes with the plan and with every member of its freshness except Stale, which changes by the passing of time
// alone.
func (c Current) Tag() string {
	f := c.Freshness(time.Time{})
	f.Stale = false
	text, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("write how fresh a plan is: %v", err)) // it holds times, numbers and sentences alone
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%d-%x", c.Record.Number, sum[:4])
}

// InputsSum returns the same hash for problems that differ only in the previous plan, which merely chooses among
// equally good plans.
func InputsSum(p capacity.Problem) ([]byte, error) {
	p.Options.Near = nil
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}
