package words

import (
	"fmt"
	"strings"
)

// Codes of the warnings of fits and of what they predict.
const (
	IncreasingWarning   = "increasing"
	SuperLinearWarning  = "super_linear"
	NoIntervalWarning   = "no_interval"
	ExtrapolatedWarning = "extrapolated"
	ConstrainedWarning  = "constrained"
	OneResidualWarning  = "one_residual"
	FewResidualsWarning = "few_residuals"
	NotDedicatedWarning = "not_dedicated"
	OneTypeWarning      = "one_type"
	FewTasksWarning     = "few_tasks"
	OffReferenceWarning = "off_reference"
)

// NoInterval says that two measurements do not tell how far a power errs.
const NoInterval = "Two measurements are met exactly by any power, so that nothing is known of how far it errs; give a third."

// OneMeasurement says why no power can be fitted to a single time.
const OneMeasurement = "One measurement does not say how the time changes with the VMs; give at least two, on different numbers of VMs."

// Why a curve without constraints is not taken.
const (
	FallsToNothing = "falls to nothing"
	GrowsWithMore  = "grows with more of a node"
)

// LongerOnMore warns of a job that takes longer on more VMs.
func LongerOnMore(b float64) string {
	return fmt.Sprintf("The job took longer on more VMs (b is %.3g). It is planned as if more VMs changed nothing.", b)
}

// MoreThanHalved warns of a job that gains more from VMs than their number.
func MoreThanHalved(b float64) string {
	return fmt.Sprintf("Twice the VMs more than halve the time (b is %.3g). That happens where data come to fit into memory; beyond what was measured it is not to be relied on.", b)
}

// ExtrapolatedTo warns of a prediction for a number of VMs beyond those that were measured.
func ExtrapolatedTo(vms, least, most float64) string {
	return fmt.Sprintf("The time on %s is extrapolated: it was measured on %g to %g VMs.", VMs(vms), least, most)
}

// OneResidual warns of tasks that all had the same part of their nodes.
func OneResidual(part float64) string {
	return fmt.Sprintf("All tasks had about the same part of their nodes (%.3g), which does not say how their time changes with it; measure with other parts, at best five or more.", part)
}

// FewResiduals warns of tasks with too few parts of nodes for two exponentials.
func FewResiduals(parts int) string {
	return fmt.Sprintf("Tasks were measured with %d different parts of their nodes, which allow for one exponential; two need five or more.", parts)
}

// LongerWithMore warns of tasks that took longer with more of a node.
func LongerWithMore(first, firstPart, last, lastPart float64) string {
	return fmt.Sprintf("Tasks took longer with more of a node (%.3g s with %.3g, %.3g s with %.3g). They are planned as if that changed nothing.", first, firstPart, last, lastPart)
}

// NotDedicated warns of tasks that never had a node almost to themselves.
func NotDedicated(most float64) string {
	return fmt.Sprintf("No task was measured with more than %.3g of a node; a dedicated one is taken to be no faster.", most)
}

// Constrained says why a curve was fitted with constraints after all.
func Constrained(why string) string {
	return "Without constraints the fit " + why + ", which no task does; it is constrained."
}

// LessThanMeasured and MoreThanMeasured warn of a prediction for a part of a node beyond those that were measured.
func LessThanMeasured(least float64) string {
	return fmt.Sprintf("No task was measured with less than %.3g of a node; the time is that of %.3g, and it may be longer.", least, least)
}

func MoreThanMeasured(most float64) string {
	return fmt.Sprintf("No task was measured with more than %.3g of a node; the time is that of %.3g, and it may be shorter.", most, most)
}

// OneType warns of tasks that were measured on one type of nodes.
func OneType(name string) string {
	return fmt.Sprintf("Tasks were measured on one type of nodes, %q, which does not say how it compares with others; measure on another.", name)
}

// FewTasks warns of types of nodes on which fewer tasks were measured.
func FewTasks(enough int, types []string) string {
	quoted := make([]string, len(types))
	for i, name := range types {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("Fewer than %d tasks were measured on %s; their means say little yet.", enough, strings.Join(quoted, ", "))
}

// OffReference warns of usage on another number of VMs than that of the thresholds.
func OffReference(vms, reference int64) string {
	return fmt.Sprintf("The usage was measured on %d VMs; the thresholds belong to %d. It is not converted.", vms, reference)
}

// TooSteep says why a power of the VMs is none that can be relied on.
func TooSteep(a, b float64) string {
	return fmt.Sprintf("The times change too strongly with the VMs for a power of them: a is %.3g and b %.3g. Check the units, or measure at sizes further apart.", a, b)
}
