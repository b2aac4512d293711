package plans

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"headroom/internal/core/capacity"
)

// Freshness is how fresh a current plan is, as it stands beside it.
type Freshness struct {
	ConfirmedAt     time.Time `json:"confirmed_at"`
	ValidUntil      time.Time `json:"valid_until"`
	Stale           bool      `json:"stale"`
	InputsVersion   int64     `json:"inputs_version"`
	InputsChangedAt time.Time `json:"inputs_changed_at"`
	Pin             *Pin      `json:"pin"`
	LastAttempt     *Attempt  `json:"last_attempt"`
}

// Freshness is how fresh the plan is at a moment.
func (c Current) Freshness(now time.Time) Freshness {
	return Freshness{ConfirmedAt: c.ConfirmedAt.UTC(), ValidUntil: c.ValidUntil().UTC(), Stale: c.Stale(now),
		InputsVersion: c.InputsVersion, InputsChangedAt: c.InputsChangedAt.UTC(), Pin: c.Pin, LastAttempt: c.LastAttempt}
}

// Tag is another one whenever the plan, or anything of its freshness but being stale, is: that alone
// changes without anybody doing anything.
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

// InputsSum is the same for problems that ask the same: they may differ in the previous plan alone,
// which only chooses among plans that are equally good.
func InputsSum(p capacity.Problem) ([]byte, error) {
	p.Options.Near = nil
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}
