package dispatch

import (
	"fmt"
	"math"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// AdmissionMode says whose deadlines an admission looks at.
type AdmissionMode string

// The modes. As printed, the paper lets a job in whose own deadline will be met, although jobs that are
// due later may miss theirs for it.
const (
	AdmissionPaper  AdmissionMode = "paper"
	AdmissionStrict AdmissionMode = "strict" // by the estimate no accepted job may miss its deadline for the new one
)

// DeadlineVerdict tells whether a job may be promised its deadline beside the jobs with earlier promises. The seconds
// belong to the estimate on which the rule rests, but for LatestSeconds and AloneSeconds, which count whole tasks.
type DeadlineVerdict struct {
	Kept            bool          `json:"kept"` // the rule lets it be promised
	Mode            AdmissionMode `json:"mode"`
	DeadlineSeconds float64       `json:"deadline_s"` // from now
	DemandSeconds   float64       `json:"demand_s"`   // time on all usable slots for the job and the accepted ones due no later
	LateSeconds     float64       `json:"late_s"`     // how late the job would be; 0 where it would not
	AloneSeconds    float64       `json:"alone_s"`    // what it needs if it gets every usable slot at once
	TaskSeconds     float64       `json:"task_s"`     // a task's time, mean over the usable slots
	// If slots go by earliest deadline and tasks take their known times, the job ends by LatestSeconds (0: nothing bounds
	// its end). Proved means that this is in time. Unproved counts the accepted jobs of which that is not certain.
	LatestSeconds float64 `json:"latest_s"`
	Proved        bool    `json:"proved"`
	Unproved      int64   `json:"unproved"`
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
	case v.TaskSeconds == 0 && v.LateSeconds == 0 && v.DeadlineSeconds != 0: // a job without tasks left is late, not unknown
		return Unmeasured
	default:
		return DeadlineMissed
	}
}

// maxNamed is the number of late jobs that a sentence names.
const maxNamed = 3

// The kinds of facts about promises.
const (
	PromiseKept      = "promise_kept"
	PromiseProved    = "promise_proved"   // what is certain of the job
	PromiseUnproved  = "promise_unproved" // or that it is not
	OthersUnproved   = "others_unproved"  // likewise of accepted jobs
	NoSlotsKnown     = "no_slots"
	TasksUnmeasured  = "unmeasured"
	DeadlinePassed   = "deadline_passed"
	TooLongAlone     = "too_long_alone"      // with every slot it would end too late
	LateBeside       = "late_beside_others"  // with the jobs due no later it would end too late
	TooLongAloneToo  = "too_long_alone_too"  // beside one of the two above
	LaterJobsLate    = "later_jobs_late"     // jobs due later would end too late
	LaterJobLate     = "later_job_late"      // one of these
	WouldBeAdmitted  = "would_be_admitted"   // each figure by itself cures the refusal
	TimesOfFitTaken  = "task_times_of_fit"   // a stored fit tells them
	TimesAssumedMean = "task_times_of_means" // the class's profile tells them
)

// Reason explains in words why a job of a class is refused, and lists remedies.
func (v *DeadlineVerdict) Reason(class string) string {
	if v.Kept {
		return ""
	}
	return v.Facts(class).Text()
}

// Facts returns the verdict as facts, each with its sentence. Figures are exact; sentences round times up, and the time left down.
func (v *DeadlineVerdict) Facts(class string) words.Facts {
	var f words.Facts
	slots, them, in := "all "+fault.Plural(v.UsableSlots, "usable slot"), "all of them", v.precision()
	if v.UsableSlots == 1 {
		slots, them = "the 1 usable slot", "it"
	}
	usable, due := words.Count("usable_slots", float64(v.UsableSlots), "slots"), words.Count("deadline_s", v.DeadlineSeconds, "s")
	demand, alone := words.Count("demand_s", v.DemandSeconds, "s"), words.Count("alone_s", v.AloneSeconds, "s")
	switch v.Code() {
	case "":
		v.sayCertain(&f, in)
		f.Say(PromiseKept, "", fmt.Sprintf("By the estimate it needs %s of %s with the accepted jobs due no later, and it is due in %s.",
			in.up(v.DemandSeconds), slots, in.down(v.DeadlineSeconds)), demand, usable, due)
		return f
	case NoSlots:
		f.Say(NoSlotsKnown, "", "No usable slot is known, so no deadline can be promised. Register the cluster's nodes, or find out why no known node is alive, has slots for such tasks and leaves them a twentieth of its processors. Or ask without a deadline: then the plan alone decides.")
		return f
	case Unmeasured:
		f.Say(TasksUnmeasured, class, fmt.Sprintf("Nothing is known of how long tasks of class %q take, so no deadline can be promised. Give the class a profile, or ask without a deadline: then the plan alone decides.", fault.Clip(class)))
		return f
	}
	tooLong := v.AloneSeconds > v.DeadlineSeconds && v.Mode == AdmissionStrict
	switch {
	case v.DeadlineSeconds <= 0:
		f.Say(DeadlinePassed, "", fmt.Sprintf("Its deadline passed %s ago.", in.up(math.Abs(v.DeadlineSeconds))), due)
	case tooLong && v.AloneSeconds >= v.DemandSeconds:
		f.Say(TooLongAlone, "", fmt.Sprintf("Even with %s to itself it would need %s, and it is due in %s.",
			slots, in.up(v.AloneSeconds), in.down(v.DeadlineSeconds)), alone, usable, due)
	case v.LateSeconds > 0:
		f.Say(LateBeside, "", fmt.Sprintf("By the estimate it would be %s late: with the accepted jobs due no later it needs %s of %s, and it is due in %s.",
			in.up(v.LateSeconds), in.up(v.DemandSeconds), slots, in.down(v.DeadlineSeconds)),
			words.Count("late_s", v.LateSeconds, "s"), demand, usable, due)
		if tooLong {
			f.Say(TooLongAloneToo, "", fmt.Sprintf("Even with %s to itself it would need %s.", them, in.up(v.AloneSeconds)), alone)
		}
	}
	v.sayMissed(&f, in)
	if cures := v.Cures.words(v.Separate, in); cures != "" {
		f.Say(WouldBeAdmitted, "", "It would be admitted "+cures+".", v.Cures.figures(v.Separate)...)
	}
	for _, t := range v.Times {
		if t.From == TimesOfFit {
			f.Say(TimesOfFitTaken, string(t.Kind), fmt.Sprintf("The times of its %ss are those of version %d of the stored fit, of %s.",
				t.Kind, t.Version, fault.Plural(t.Tasks, "task")), words.Count("version", float64(t.Version), ""), words.Count("tasks", float64(t.Tasks), "tasks"))
		}
	}
	if v.Assumed {
		f.Say(TimesAssumedMean, class, "Its task times are the mean of the class's profile, the same on every slot, because they have not been measured by load.")
	}
	return f
}

// sayCertain tells what is certain of the ends of a job that may be promised and of the accepted ones.
func (v *DeadlineVerdict) sayCertain(f *words.Facts, in precision) {
	latest := words.Count("latest_s", v.LatestSeconds, "s")
	switch {
	case v.Proved:
		f.Say(PromiseProved, "", fmt.Sprintf("It can be promised: where slots go by earliest deadline and tasks take their known times, it ends within %s.",
			in.up(v.LatestSeconds)), latest)
	case v.LatestSeconds > 0:
		f.Say(PromiseUnproved, "", fmt.Sprintf("The rule admits it, and nothing proves that it ends in time: as whole tasks it may take up to %s.",
			in.up(v.LatestSeconds)), latest)
	default:
		f.Say(PromiseUnproved, "", "The rule admits it, and nothing proves that it ends in time: some tasks that may hold slots have no known time.")
	}
	if v.Unproved > 0 {
		f.Say(OthersUnproved, "", fmt.Sprintf("Nothing proves that %s in time.", ending(v.Unproved)), words.Count("unproved", float64(v.Unproved), "jobs"))
	}
}

// ending counts accepted jobs that end.
func ending(jobs int64) string {
	if jobs == 1 {
		return "1 accepted job ends"
	}
	return fault.Plural(jobs, "accepted job") + " end"
}

// sayMissed tells how many accepted jobs due later would be late, and by how much the first of them.
func (v *DeadlineVerdict) sayMissed(f *words.Facts, in precision) {
	n := len(v.Missed)
	if n == 0 {
		return
	}
	f.Say(LaterJobsLate, "", fmt.Sprintf("By the estimate %s due later would be too late.", fault.Plural(int64(n), "accepted job")), words.Count("jobs", float64(n), "jobs"))
	for _, late := range v.Missed[:min(n, maxNamed)] {
		figures := []capacity.Figure{words.Count("late_s", late.LateSeconds, "s")}
		anyway := ""
		if late.AnywaySeconds > 0 {
			anyway = fmt.Sprintf(", and %s without this job", in.up(late.AnywaySeconds))
			figures = append(figures, words.Count("late_anyway_s", late.AnywaySeconds, "s"))
		}
		f.Say(LaterJobLate, late.Name, fmt.Sprintf("%q would be %s late%s.", fault.Clip(late.Name), in.up(late.LateSeconds), anyway), figures...)
	}
}

func (c *DeadlineCures) words(separate bool, in precision) string {
	if c == nil {
		return ""
	}
	var ways []string
	if c.DeadlineSeconds > 0 {
		ways = append(ways, fmt.Sprintf("with a deadline in %s", in.up(c.DeadlineSeconds)))
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

// figures are those that the words name.
func (c *DeadlineCures) figures(separate bool) (named []capacity.Figure) {
	unit := "slots"
	if separate {
		unit = "slots of each kind"
	}
	for _, x := range []capacity.Figure{words.Count("deadline_s", c.DeadlineSeconds, "s"),
		words.Count("dedicated_slots", float64(c.DedicatedSlots), unit), words.Count("maps", float64(c.Maps), "tasks")} {
		if x.Value != "0" {
			named = append(named, x)
		}
	}
	return named
}

// precision is the decimals with which a sentence writes times, so that those near each other are told apart.
type precision int

const (
	mostPrecise = 6    // decimals
	nearTimes   = 2    // s: from there on whole seconds, one up and one down, tell times apart
	timeNoise   = 1e-9 // of a time: nearer ones are the same
)

// precision returns as many decimals as tell the time left from those that it is compared with.
func (v *DeadlineVerdict) precision() (in precision) {
	times := []float64{v.DemandSeconds, v.AloneSeconds, v.LatestSeconds}
	if v.Cures != nil {
		times = append(times, v.Cures.DeadlineSeconds)
	}
	for _, t := range times {
		if far := math.Abs(t - v.DeadlineSeconds); t > 0 && far > timeNoise*t {
			in = max(in, precision(max(0, min(mostPrecise, math.Ceil(math.Log10(nearTimes/far))))))
		}
	}
	return in
}

// up writes a time that nothing exceeds. Below ten seconds it has tenths at least.
func (p precision) up(seconds float64) string {
	if seconds < 10 {
		p = max(p, 1)
	}
	scale := math.Pow10(int(p))
	return fault.Plain(math.Ceil(seconds*scale*(1-timeNoise))/scale) + " s"
}

// down writes a time that is left at least, in the same way.
func (p precision) down(seconds float64) string {
	if seconds < 10 {
		p = max(p, 1)
	}
	scale := math.Pow10(int(p))
	return fault.Plain(math.Floor(seconds*scale*(1+timeNoise))/scale) + " s"
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
