package dispatch

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// Why explains a choice to people, and to programs that learn from decisions. The reason says just what the rule, the
// figures, Of, Tie and InClass say.
type Why struct {
	Rule    string   `json:"rule"`         // a stable name of the deciding rule: deadline, share, order, probe, idle
	Reason  string   `json:"reason"`       // a sentence with the figures that decided
	Of      string   `json:"of,omitempty"` // the other job, or the type of nodes, that the reason names
	Tie     Tie      `json:"tie,omitempty"`
	InClass InClass  `json:"in_class,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// Tie says what decided where others come as first as the choice by the rule; "" if none does. Under fair and capacity
// the others are classes.
type Tie string

// The ties, in the order in which they are tried.
const (
	TieSlowdown Tie = "average_slowdown" // under max-progress
	TieDeadline Tie = "deadline"         // likewise
	TieOrder    Tie = "submitted"
	TieKind     Tie = "kind" // under learned
	TieName     Tie = "name"
	TieNumber   Tie = "number"
)

// InClass says, under fair and capacity, what decided among the jobs of the class with a task for the slot; "" if there
// is one alone.
type InClass string

// What decides among the jobs of a class. Under fair that is the fewest held slots, and then the order of submission.
const (
	InClassHeld   InClass = "held"
	InClassOrder  InClass = "submitted"
	InClassName   InClass = "name"
	InClassNumber InClass = "number"
)

// tieBetween returns what puts one job before another that is as first as it.
func tieBetween(j, other *Job) Tie {
	switch {
	case j.SubmittedSeconds != other.SubmittedSeconds:
		return TieOrder
	case j.Name != other.Name:
		return TieName
	default:
		return TieNumber
	}
}

// sayTie says what decided a tie, and among which of those that tie.
func (w *Why) sayTie() string {
	var alike []string
	if w.Rule == "progress" && w.Tie != TieSlowdown {
		alike = append(alike, "suffer as much elsewhere")
		if w.Tie != TieDeadline {
			alike = append(alike, "are due as soon")
		}
	}
	if w.Tie == TieKind || w.Tie == TieName || w.Tie == TieNumber {
		alike = append(alike, "were submitted no later")
	}
	if w.Tie == TieNumber {
		alike = append(alike, "have the same name")
	}
	among := "of these"
	if len(alike) > 0 {
		among = "of those that " + words.List(alike)
	}
	return among + map[Tie]string{TieSlowdown: " its tasks suffer most elsewhere", TieDeadline: " it is due first", TieOrder: " it was submitted first",
		TieKind: " maps go first", TieName: " its name comes first", TieNumber: " its number is the lowest"}[w.Tie] + "."
}

// first keeps the first of those offered, and of the others that tie with it by their key the next.
type first[T any] struct {
	best, next T
	some, tied bool
}

// offer compares by key, and where that ties by before.
func (f *first[T]) offer(x T, key func(a, b T) int, before func(a, b T) bool) {
	by := -1
	if f.some {
		by = key(x, f.best)
	}
	switch {
	case by < 0:
		*f = first[T]{best: x, some: true}
	case by > 0:
	case before(x, f.best):
		f.best, f.next, f.tied = x, f.best, true
	case !f.tied || before(x, f.next):
		f.next, f.tied = x, true
	}
}

// Figure is a number that decided a choice.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// because returns the reason of a rule in words.
func because(rule, of string, figures ...Figure) Why { return decidedBy(rule, of, "", figures...) }

// decidedBy returns the reason of a rule that may have tied.
func decidedBy(rule, of string, tie Tie, figures ...Figure) Why {
	w := Why{Rule: rule, Of: of, Tie: tie, Figures: figures}
	w.Reason = w.Say()
	return w
}

// idle explains a slot that stays idle because no job has a task that may start on it.
var idle = because("idle", "")

// figure returns the value of a figure, and whether it is there.
func (w *Why) figure(name string) (x float64, there bool) {
	for _, f := range w.Figures {
		if f.Name == name {
			return f.Value, true
		}
	}
	return 0, false
}

// ofClasses reports whether the rule puts classes in order.
func (w *Why) ofClasses() bool {
	_, job := w.figure("progress_share")
	return w.Rule == "minimum" || w.Rule == "share" && !job || w.Rule == "lent"
}

func (w *Why) sayClasses() string {
	if w.Tie == "" {
		return ""
	}
	return " Other classes tie with its own; " + w.sayTie()
}

func (w *Why) sayInClass() string {
	held, fair := w.figure("job_held")
	tie := (&Why{Tie: Tie(w.InClass)}).sayTie()
	switch {
	case w.InClass == "":
		return ""
	case w.InClass == InClassHeld:
		return fmt.Sprintf(" It holds %s, the fewest of its class's jobs with a task for this slot.", fault.Plural(int64(held), "slot"))
	case fair:
		return fmt.Sprintf(" It holds %s, and others of its class with a task for this slot hold as few; ", fault.Plural(int64(held), "slot")) + tie
	case w.InClass == InClassOrder:
		return " Of its class's jobs with a task for this slot it was submitted first."
	default:
		return " Of its class's jobs with a task for this slot none was submitted before it; " + tie
	}
}

// Say puts the rule, its figures, what it names and how ties fell into sentences.
func (w *Why) Say() string {
	switch {
	case w.ofClasses():
		return w.sayRule() + w.sayClasses() + w.sayInClass()
	case w.Tie == "":
		return w.sayRule()
	case w.Rule == "order": // the tie of submissions
		return "Of the jobs with a task for this slot none was submitted before it; " + w.sayTie()
	default:
		return w.sayRule() + " Others tie with it; " + w.sayTie()
	}
}

func (w *Why) sayRule() string {
	of := func(name string) float64 { x, _ := w.figure(name); return x }
	slots := func() string { return fault.Plural(int64(of("held")), "slot") }
	switch w.Rule {
	case "order":
		return "Of the jobs with a task for this slot it was submitted first."
	case "deadline":
		if _, atRisk := w.figure("left_s"); atRisk {
			return w.sayAtRisk()
		}
		return "Of the jobs with a task for this slot it has the earliest deadline."
	case "minimum":
		return fmt.Sprintf("Its class holds %s, and its minimum is %g: the smallest part of the classes with a task that may start here.", slots(), of("min"))
	case "share":
		if _, progress := w.figure("progress_share"); progress {
			return fmt.Sprintf("It has %.3g of the cluster's progress with a weight of %g, the least for its weight of the jobs with a task for this slot.", of("progress_share"), of("weight"))
		}
		return fmt.Sprintf("Its class holds %s with a weight of %g, the fewest for its weight of the classes with a task that may start here.", slots(), of("weight"))
	case "lent":
		return "No class with a share has a task that may start here."
	case "calibration":
		return fmt.Sprintf("No task of it was measured on nodes of %s, and none runs there.", w.Of)
	case "affinity":
		return fmt.Sprintf("The slot is worth %.3g of a mean slot to it, and %.3g to %q, whose turn it was and who has let %s before it.",
			of("affinity"), of("affinity_of_turn"), w.Of, fault.Plural(int64(of("skips")), "other"))
	case "skips":
		return fmt.Sprintf("It was its turn, and it has let %s before it, as many as it must.", fault.Plural(int64(of("skips")), "other"))
	case "min_share":
		return fmt.Sprintf("It has %.3g of the cluster's progress of a minimum of %.3g, the smallest part of the jobs with a task for this slot.", of("progress_share"), of("min_share"))
	case "residual":
		return fmt.Sprintf("Other work leaves %.3g of the node's processors, less than the %.3g from which tasks start.", of("residual"), of("least_residual"))
	case "io_cap":
		return fmt.Sprintf("Running tasks read %.3g MB/s from each data node, and no task reads so little that %.3g are not exceeded.",
			of("load_mb_s"), of("io_cap_mb_s"))
	case "progress":
		if relative, usual := w.figure("relative_slowdown"); usual {
			return fmt.Sprintf("Its tasks take %.3g times as long here as on the cluster's mean slot, the least of the tasks that may start; there they take %.3g times what they take on a dedicated node.",
				relative, of("average_slowdown"))
		}
		return fmt.Sprintf("Its tasks take %.3g times as long here as on a dedicated node, the least of the tasks that may start; on the cluster's mean slot they take %.3g times.",
			of("slowdown"), of("average_slowdown"))
	case "overload":
		return fmt.Sprintf("Any task is likely to overload the node: of %d candidates the best is good with a probability of %.3g.",
			int64(of("candidates")), of("p_good"))
	case "probe":
		return fmt.Sprintf("Nothing runs on the node, and of %d candidates, which all are likely to overload it, this is good with the highest probability, %.3g.",
			int64(of("candidates")), of("p_good"))
	case "expected_utility":
		return fmt.Sprintf("It is good with a probability of %.3g and has a utility of %.4g: the most is expected of it among the candidates that are likely not to overload the node.",
			of("p_good"), of("utility"))
	}
	return "No job has a task that may start on this slot."
}

// sayAtRisk says the reason of a deadline that is at risk. Nothing is completable where no task time is known.
func (w *Why) sayAtRisk() string {
	left, _ := w.figure("left_s")
	unfinished, _ := w.figure("unfinished")
	earliest, passed := "the earliest at risk", ""
	if w.Of != "" {
		earliest = "the earliest at risk that a task here can help"
		passed = fmt.Sprintf(" %q comes before it, but a task here would end too late for it.", w.Of)
	}
	switch completable, known := w.figure("completable"); {
	case left <= 0:
		return fmt.Sprintf("Its deadline passed %.3g s ago; it was %s.", math.Abs(left), earliest) + passed
	case !known:
		return fmt.Sprintf("Its deadline is in %s, %s: nothing says how long its tasks take.", timeLeft(left), earliest) + passed
	default:
		return fmt.Sprintf("Its running tasks' slots complete %.4g of its %s until its deadline in %s, %s.",
			completable, words.Counted(fault.Plain(unfinished), "unfinished task"), timeLeft(left), earliest) + passed
	}
}

// timeLeft writes a time that is left at least, with four digits.
func timeLeft(seconds float64) string {
	return precision(max(0, min(mostPrecise, 3-math.Floor(math.Log10(seconds))))).down(seconds)
}

// unitOf gives the units of figures; the others are plain numbers.
var unitOf = map[string]string{"submitted_s": "s", "deadline_s": "s", "left_s": "s", "held": "slots", "job_held": "slots", "min": "slots", "load_mb_s": "MB/s",
	"io_cap_mb_s": "MB/s", "least_mb_s": "MB/s", "completable": "tasks", "unfinished": "tasks", "candidates": "tasks", "skips": "turns"}

// Facts returns the reason as a fact about the job that was chosen.
func (w *Why) Facts(job string) words.Facts {
	f := capacity.Fact{Kind: w.Rule, Subject: job, Figures: []capacity.Figure{}, Claim: w.Reason}
	for _, x := range w.Figures {
		f.Figures = append(f.Figures, words.Count(x.Name, x.Value, unitOf[x.Name]))
	}
	if w.Of != "" {
		f.Figures = append(f.Figures, capacity.Figure{Name: "of", Value: w.Of, Unit: "name"})
	}
	if w.Tie != "" {
		f.Figures = append(f.Figures, capacity.Figure{Name: "tie", Value: string(w.Tie), Unit: "name"})
	}
	if w.InClass != "" {
		f.Figures = append(f.Figures, capacity.Figure{Name: "in_class", Value: string(w.InClass), Unit: "name"})
	}
	return words.Facts{f}
}
