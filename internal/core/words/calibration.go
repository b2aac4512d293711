package words

import (
	"cmp"
	"fmt"
)

// Reasons why an execution cannot be compared with its class's bounds.
const (
	NoMapSlots    = "how many of its maps ran at once is not on record"
	NoReduceSlots = "how many of its reduces ran at once is not on record, and the class has reduces"
)

// NoTimes is the reason that the bounds for the slots of an execution are no times.
func NoTimes(lower, average, upper float64) string {
	return fmt.Sprintf("the class's bounds for its slots are no times: %g s, %g s and %g s", lower, average, upper)
}

// OfExecution names the execution that a reason is about.
func OfExecution(id, why string) string {
	return fmt.Sprintf("of %.100s: %s", cmp.Or(id, "one without an id"), why)
}

// LeftOut tells how many executions cannot be compared, with the reason of one of them.
func LeftOut(n int64, why string) string {
	return fmt.Sprintf("Nothing can be said of %d of the executions, for instance %s.", n, why)
}

// NoExecution says that there is nothing to calibrate with.
const NoExecution = "There is no execution to compare with the bounds; import the class's history."

// TooFewExecutions says that a coverage needs more executions than there are.
func TooFewExecutions(n int, coverage float64, needs int) string {
	there := fmt.Sprintf("There are %d executions", n)
	if n == 1 {
		there = "There is 1 execution"
	}
	return fmt.Sprintf("%s; a time that holds for %g of 100 needs %d. The factor is that of the slowest, which a further execution keeps in %s of 100 cases.",
		there, 100*coverage, needs, OfHundred(float64(n)/float64(n+1), 0))
}

// WaitedLong tells the part of their time that half of the executions waited for slots. So many of all are known to have.
func WaitedLong(share float64, known, all int64) string {
	return fmt.Sprintf("%s spent %s of 100 seconds or more waiting for slots, which is in the factors. Where plans give the class its slots at once, running_factor is nearer to the truth.",
		HalfThatWaited(known, all), OfHundred(share, 0))
}

// HalfThatWaited names half of the executions whose waiting is known, and says of how many it is where not of all.
func HalfThatWaited(known, all int64) string {
	if known == all {
		return "Half of the executions"
	}
	return fmt.Sprintf("Of %d of the %d executions it is known how long they waited: half of those", known, all)
}

// OneSize says why no power can be fitted to times on one number of VMs.
func OneSize(vms float64) string {
	return fmt.Sprintf("All measurements were made on %g VMs, which does not say how the time changes with them; measure on another number of VMs.", vms)
}

// CalibrationsFailed says that past recommendations held for too few of the executions that followed.
func CalibrationsFailed(held, followed int64, coverage float64) string {
	return fmt.Sprintf("Calibrations made as the executions came would have held for %d of the %d that followed, %s of 100 instead of %g: the run times change as time goes by. Calibrate with the latest executions alone, and look at what changed.",
		held, followed, OfHundred(float64(held)/float64(followed), 0), 100*coverage)
}
