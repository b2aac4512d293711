package dispatch

import (
	"fmt"
	"math"
	"strings"

	"headroom/internal/core/fault"
)

// AdmissionMode says whose deadlines an admission looks at.
type AdmissionMode string

// The modes. As printed, the paper lets a job in whose own deadline will be met, although jobs that are
// due later may miss theirs for it.
const (
	AdmissionPaper  AdmissionMode = "paper"
	AdmissionStrict AdmissionMode = "strict" // no accepted job may miss its deadline for the new one
)

// DeadlineVerdict tells whether a job can be promised its deadline beside the jobs with earlier promises. All seconds
// but AloneSeconds belong to the conservative estimate on which promises rest.
type DeadlineVerdict struct {
	Kept            bool          `json:"kept"` // it can be promised
	Mode            AdmissionMode `json:"mode"`
	DeadlineSeconds float64       `json:"deadline_s"` // from now
	DemandSeconds   float64       `json:"demand_s"`   // time on all usable slots for the job and the accepted ones due no later
	LateSeconds     float64       `json:"late_s"`     // how late the job would be; 0 where it would not
	AloneSeconds    float64       `json:"alone_s"`    // what it needs if it gets every usable slot at once
	TaskSeconds     float64       `json:"task_s"`     // a task's time, mean over the usable slots
	// Times lists the sources of task times, by kind of task. Assumed means that a time comes from the class's
	// profile, because nobody measured it by load.
	Times       []TaskTimesFrom `json:"times"`
	Assumed     bool            `json:"assumed"`
	UsableSlots int64           `json:"usable_slots"`
	Accepted    int64           `json:"accepted"`  // jobs with a deadline that were counted
	Uncounted   int64           `json:"uncounted"` // and those that could not be: nothing is known of their tasks
	Missed      []LateJob       `json:"missed"`    // accepted jobs that would miss their deadlines
	Cures       *DeadlineCures  `json:"cures,omitempty"`
	Separate    bool            `json:"-"` // slots are of either kind, so that further ones are so many of each
}

// TaskTimesFrom holds the source of the times of a job's tasks of one kind.
type TaskTimesFrom struct {
	Kind TaskKind `json:"kind"`
	TimesSource
}

// TimesSource describes a source of task times.
type TimesSource struct {
	From    TimesOrigin `json:"from"`
	Version int64       `json:"version,omitempty"` // of a stored fit
	Tasks   int64       `json:"tasks,omitempty"`   // that were measured
}

// TimesOrigin names a kind of source. Observations of the cluster take precedence over sent measurements, and these
// over planned figures.
type TimesOrigin string

// The origins.
const (
	TimesOfLive    TimesOrigin = "live"    // tasks that this cluster's nodes have ended
	TimesOfFit     TimesOrigin = "fit"     // the stored fit of measurements of the kind task_time
	TimesOfProfile TimesOrigin = "profile" // the mean of the class's profile, the same on every slot
)

// LateJob is an accepted job that would miss its deadline.
type LateJob struct {
	ID            string  `json:"id"`
	Name          string  `json:"name"`
	DueSeconds    float64 `json:"due_s"`         // from now
	LateSeconds   float64 `json:"late_s"`        // with the new job
	AnywaySeconds float64 `json:"late_anyway_s"` // without it; 0 if in time
}

// DeadlineCures lists changes, each of which alone would turn a refusal into an admission by the same rule. A 0 does
// not help.
type DeadlineCures struct {
	DeadlineSeconds float64 `json:"deadline_s"`      // the earliest later deadline
	DedicatedSlots  int64   `json:"dedicated_slots"` // additional slots that suffice
	Maps            int64   `json:"maps"`            // largest number that fits
}

// The codes of refusals for a deadline's sake.
const (
	DeadlineMissed RefusalReason = "deadline_missed" // a deadline would be missed
	NoSlots        RefusalReason = "no_slots"        // no usable slot is known
	Unmeasured     RefusalReason = "unmeasured"      // the job's task times are unknown
)

// Code returns the reason of a refusal, or "" for a kept promise.
func (v *DeadlineVerdict) Code() RefusalReason {
	switch {
	case v.Kept:
		return ""
	case v.UsableSlots == 0:
		return NoSlots
	case v.TaskSeconds == 0:
		return Unmeasured
	default:
		return DeadlineMissed
	}
}

// maxNamed is the number of late jobs that a sentence names.
const maxNamed = 3

// Reason explains in words why a job of a class is refused, and lists remedies.
func (v *DeadlineVerdict) Reason(class string) string {
	var s strings.Builder
	say := func(format string, values ...any) { fmt.Fprintf(&s, format, values...) }
	switch v.Code() {
	case "":
		return ""
	case NoSlots:
		return "No usable slot is known, so no deadline can be promised. Register the cluster's nodes, or find out why no known node is alive, has slots for such tasks and leaves them a twentieth of its processors. Or ask without a deadline: then the plan alone decides."
	case Unmeasured:
		return fmt.Sprintf("Nothing is known of how long tasks of class %q take, so no deadline can be promised. Give the class a profile, or ask without a deadline: then the plan alone decides.", fault.Clip(class))
	}
	alone := v.AloneSeconds > v.DeadlineSeconds && v.Mode == AdmissionStrict
	switch {
	case v.DeadlineSeconds <= 0:
		say("Its deadline passed %s ago.", inSeconds(-v.DeadlineSeconds))
	case alone && v.AloneSeconds >= v.DemandSeconds:
		say("Even with all %s to itself it would need %s, and it is due in %s.", fault.Plural(v.UsableSlots, "usable slot"), inSeconds(v.AloneSeconds), inSeconds(v.DeadlineSeconds))
	case v.LateSeconds > 0:
		say("It would be %s late: with the accepted jobs due no later it needs %s of all %s, and it is due in %s.",
			inSeconds(v.LateSeconds), inSeconds(v.DemandSeconds), fault.Plural(v.UsableSlots, "usable slot"), inSeconds(v.DeadlineSeconds))
		if alone {
			say(" Even with all of them to itself it would need %s.", inSeconds(v.AloneSeconds))
		}
	}
	if n := len(v.Missed); n > 0 {
		if s.Len() > 0 {
			say(" ")
		}
		say("%s due later would be too late: ", fault.Plural(int64(n), "accepted job"))
		for i, late := range v.Missed[:min(n, maxNamed)] {
			if i > 0 {
				say(", ")
			}
			say("%q by %s", fault.Clip(late.Name), inSeconds(late.LateSeconds))
			if late.AnywaySeconds > 0 {
				say(" (%s without it)", inSeconds(late.AnywaySeconds))
			}
		}
		if n > maxNamed {
			say(" and %d more", n-maxNamed)
		}
		say(".")
	}
	if cures := v.Cures.words(v.Separate); cures != "" {
		say(" It would be admitted %s.", cures)
	}
	for _, t := range v.Times {
		if t.From == TimesOfFit {
			say(" The times of its %ss are those of version %d of the stored fit, of %s.", t.Kind, t.Version, fault.Plural(t.Tasks, "task"))
		}
	}
	if v.Assumed {
		say(" Its task times are the mean of the class's profile, the same on every slot, because they have not been measured by load.")
	}
	return s.String()
}

func (c *DeadlineCures) words(separate bool) string {
	if c == nil {
		return ""
	}
	var ways []string
	if c.DeadlineSeconds > 0 {
		ways = append(ways, fmt.Sprintf("with a deadline in %s", inSeconds(c.DeadlineSeconds)))
	}
	if c.DedicatedSlots > 0 {
		way := "beside " + fault.Plural(c.DedicatedSlots, "more dedicated slot")
		if separate {
			way += " of each kind"
		}
		ways = append(ways, way)
	}
	if c.Maps > 0 {
		ways = append(ways, fmt.Sprintf("with at most %s", fault.Plural(c.Maps, "map")))
	}
	if n := len(ways); n > 1 {
		ways = []string{strings.Join(ways[:n-1], ", ") + " or " + ways[n-1]}
	}
	return strings.Join(ways, "")
}

// inSeconds writes a time rounded up: whole seconds from ten on, otherwise tenths.
func inSeconds(seconds float64) string {
	if seconds >= 10 {
		return fmt.Sprintf("%.0f s", math.Ceil(seconds))
	}
	return fmt.Sprintf("%g s", math.Ceil(seconds*10)/10)
}

// LiveAdmission selects the jobs that a live cluster accepts: all of them, or those that get a place of their class
// in the plan and whose deadlines can be promised.
type LiveAdmission string

// The rules.
const (
	LiveOpen   LiveAdmission = "open"
	LivePaper  LiveAdmission = "paper"
	LiveStrict LiveAdmission = "strict"
)

// Mode returns the mode in which deadlines are judged. If live jobs are all accepted, others are still judged
// strictly.
func (a LiveAdmission) Mode() AdmissionMode {
	if a == LivePaper {
		return AdmissionPaper
	}
	return AdmissionStrict
}
