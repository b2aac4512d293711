package live

import (
	"fmt"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/dispatch"
)

// PolicyTrialRequest asks for the decisions of another policy.
type PolicyTrialRequest struct {
	Policy dispatch.PolicyConfig `json:"policy"`
	Shares []SlotShare           `json:"shares"` // null: those that hold
	// Seconds is the age of the oldest heartbeats that count; default DefaultDryRunSeconds.
	Seconds float64 `json:"window_s"`
}

// DefaultDryRunSeconds is the time that a dry run looks back.
const DefaultDryRunSeconds = 3600

// PolicyTrial compares another policy with the real decisions at past heartbeats. Each decision is repeated in the
// true state of the cluster, so that all can be compared; consequences of other decisions are not followed.
type PolicyTrial struct {
	Policy     dispatch.PolicyConfig `json:"policy"`
	From       time.Time             `json:"from"`
	Until      time.Time             `json:"until"`
	Heartbeats int64                 `json:"heartbeats"`

	Decisions int64 `json:"decisions"` // tasks that were handed out
	Same      int64 `json:"same"`      // the policy would have handed out one of the same job and kind
	Other     int64 `json:"other"`     // of another
	Idle      int64 `json:"idle"`      // none
	Extra     int64 `json:"extra"`     // heartbeats at which it would have filled a slot that stayed idle

	Differences []PolicyTrialDifference `json:"differences"` // the first ones
	Deadlines   []PolicyTrialDeadline   `json:"deadlines"`   // jobs with a deadline, by number
	Sentence    string                  `json:"sentence"`
	Warnings    []capacity.Warning      `json:"warnings"`
}

// PolicyTrialDifference is a slot that another policy would have used differently.
type PolicyTrialDifference struct {
	At    time.Time          `json:"at"`
	Node  string             `json:"node"`
	Was   *PolicyTrialChoice `json:"was"`   // null: the slot stayed idle
	Would *PolicyTrialChoice `json:"would"` // likewise
	Why   string             `json:"why"`   // that the policy would have left it idle
}

// PolicyTrialChoice is a job's task for a slot, with the reason.
type PolicyTrialChoice struct {
	Job     int64             `json:"job"`
	JobName string            `json:"job_name"`
	Kind    dispatch.TaskKind `json:"kind"`
	Decided
}

// PolicyTrialDeadline compares the real service of a job with a deadline with that under the other policy.
type PolicyTrialDeadline struct {
	Job        int64     `json:"job"`
	Name       string    `json:"name"`
	DeadlineAt time.Time `json:"deadline_at"`
	// Missed reports that it was not done by its deadline; null while it can still be.
	Missed     *bool      `json:"missed"`
	Slots      int64      `json:"slots"`       // that it got
	WouldSlots int64      `json:"would_slots"` // that it would have got at the same heartbeats
	FirstAt    *time.Time `json:"first_at"`    // the time of the first of them; null: none
	WouldAt    *time.Time `json:"would_at"`    // the same under the other policy
}

// Sooner reports whether the job would have got its first slot earlier.
func (d *PolicyTrialDeadline) Sooner() bool {
	return d.WouldAt != nil && (d.FirstAt == nil || d.WouldAt.Before(*d.FirstAt))
}

// Say writes the figures as a sentence.
func (d *PolicyTrial) Say() {
	var s strings.Builder
	say := func(format string, values ...any) { fmt.Fprintf(&s, format, values...) }
	switch {
	case d.Decisions+d.Extra == 0:
		say("Nothing was handed out from %s until %s, so there is nothing to compare.", d.From.Format(time.RFC3339), d.Until.Format(time.RFC3339))
	default:
		say("From %s until %s %s would have decided %d of %s alike, handed out another job's task %s and left %s idle.", d.From.Format(time.RFC3339), d.Until.Format(time.RFC3339),
			d.Policy.Kind, d.Same, fault.Plural(d.Decisions, "decision"), times(d.Other), fault.Plural(d.Idle, "slot"))
		if d.Extra > 0 {
			say(" It would have used an idle slot %s.", times(d.Extra))
		}
	}
	if n := len(d.Deadlines); n > 0 {
		missed, sooner, more := 0, 0, 0
		for i := range d.Deadlines {
			j := &d.Deadlines[i]
			if j.Missed != nil && *j.Missed {
				missed++
				if j.Sooner() {
					sooner++
				}
				if j.WouldSlots > j.Slots {
					more++
				}
			}
		}
		say(" Of %s with a deadline %d missed it.", fault.Plural(int64(n), "job"), missed)
		if missed > 0 {
			say(" It would have served %d of these %d earlier and chosen %d of them more often. The heartbeats cannot tell whether they would have been in time: after its first other choice the cluster would have developed differently.", sooner, missed, more)
		}
	}
	d.Sentence = s.String()
}

func times(n int64) string { return fault.Plural(n, "time") }
