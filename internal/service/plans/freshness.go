package plans

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/strict"
)

// Freshness describes how up to date a current plan is.
type Freshness struct {
	ConfirmedAt     time.Time `json:"confirmed_at"`
	ValidUntil      time.Time `json:"valid_until"`
	Stale           bool      `json:"stale"`
	InputsVersion   int64     `json:"inputs_version"`
	InputsChangedAt time.Time `json:"inputs_changed_at"`
	Pin             *Pin      `json:"pin"`
	Waiting         *int64    `json:"waiting"`
	LastAttempt     *Attempt  `json:"last_attempt"`
}

// Freshness returns the plan's freshness at a moment.
func (c Current) Freshness(now time.Time) Freshness {
	return Freshness{ConfirmedAt: c.ConfirmedAt.UTC(), ValidUntil: c.ValidUntil().UTC(), Stale: c.Stale(now),
		InputsVersion: c.InputsVersion, InputsChangedAt: c.InputsChangedAt.UTC(), Pin: c.Pin, Waiting: c.Waiting, LastAttempt: c.LastAttempt}
}

// Held says that a plan is pinned, and which waits; "" where it is not.
func (f Freshness) Held() string {
	if f.Pin == nil {
		return ""
	}
	said := fmt.Sprintf("Plan %d is pinned until %s by %s.", f.Pin.Number, f.Pin.Until.UTC().Format(time.RFC3339), f.Pin.By)
	if f.Waiting != nil {
		said += fmt.Sprintf(" Plan %d waits until then.", *f.Waiting)
	}
	return said
}

// Trouble says why an older plan stays in force, and what to do; "" where none does. number is the plan's.
func (f Freshness) Trouble(number int64) string {
	return strings.TrimSpace(f.Held() + " " + f.unplanned(number))
}

// unplanned says why there is no newer plan, and what to do; "" where none is needed.
func (f Freshness) unplanned(number int64) string {
	switch a := f.LastAttempt; {
	case a != nil && a.Failed:
		what := "The attempt of " + a.At.UTC().Format(time.RFC3339) + " to plan anew failed"
		if a.Reason == "inputs" {
			what = "The change of " + f.InputsChangedAt.UTC().Format(time.RFC3339) + " could not be planned"
		}
		why, cure := a.Detail, ""
		if len(a.Conflicts) > 0 {
			why = a.Conflicts[0].Detail
			if hint := a.Conflicts[0].Hint; hint != nil && !strings.Contains(why, hint.Detail) {
				cure = " " + strings.TrimSuffix(hint.Detail, ".") + "."
			}
		}
		return fmt.Sprintf("%s: %s.%s Plan %d, of older inputs, stays in force.", what, strings.TrimSuffix(why, "."), cure, number)
	case f.Stale:
		return fmt.Sprintf("Plan %d is stale: it was due to be renewed at %s, for inputs of %s. \"headroom server doctor\" says whether a server can plan.",
			number, f.ValidUntil.UTC().Format(time.RFC3339), f.InputsChangedAt.UTC().Format(time.RFC3339))
	}
	return ""
}

// Tag changes with the plan, its vote and every member of its freshness except Stale, which changes by the passing of time
// alone.
func (c Current) Tag() string {
	f := c.Freshness(time.Time{})
	f.Stale = false
	text, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("write how fresh a plan is: %v", err)) // it holds times, numbers and sentences alone
	}
	if v := c.Record.Vote; v != nil {
		text = append(text, v.State...)
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%d-%x", c.Record.Number, sum[:4])
}

// textOf writes a problem. The sum is the same hash for problems that differ only in the previous plan, which merely
// chooses among equally good plans.
func textOf(p capacity.Problem) (text, sum []byte, err error) {
	near := p.Options.Near
	p.Options.Near = nil
	if text, err = json.Marshal(p); err != nil {
		return nil, nil, err
	}
	text = strict.WithoutMinusZero(text)
	hash := sha256.Sum256(text)
	if near == nil {
		return text, hash[:], nil
	}
	// The options are the last member, so that only they are written again.
	old, err := json.Marshal(p.Options)
	if err != nil {
		return nil, nil, err
	}
	old = strict.WithoutMinusZero(old)
	p.Options.Near = near
	whole, err := json.Marshal(p.Options)
	return slices.Concat(text[:len(text)-len(old)-len("}")], whole, []byte("}")), hash[:], err
}
