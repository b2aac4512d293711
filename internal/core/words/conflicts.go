package words

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// The codes of conflicts of problems without a plan.
const (
	CodeImpossible = "impossible_deadline" // no number of slots meets a promised class's
	CodeShortage   = "shortage"            // the promised jobs do not all fit
	CodeOverBudget = "over_budget"         // the cheapest plan costs more than the budget for everything
)

// TooLongAlone says that a class's promise cannot be kept, whatever the number of slots.
func TooLongAlone(class string, least, deadline float64) string {
	return fmt.Sprintf("Class %q cannot keep its promise: an execution takes %s s even with any number of slots, and the deadline is %s s.", class, Number(least), Number(deadline))
}

// TooLongEverywhere says the same of all VM types, and from which deadline on one would do; 0 where none does.
func TooLongEverywhere(class string, deadline, from float64) string {
	said := fmt.Sprintf("Class %q cannot keep its promise: on no VM type can an execution end by its deadline of %s s, whatever the number of slots.", class, Number(deadline))
	if from > 0 {
		said += fmt.Sprintf(" From %s s on one can.", Number(from))
	}
	return said
}

// NeedsVMs says that the promised jobs need more VMs than there are.
func NeedsVMs(need float64, there int64) string {
	return fmt.Sprintf("The promised jobs need %s and there %s %d.", Counted(More(need, there), "VM"), IsAre(float64(there)), there)
}

// NeedsBudget says that they need more VMs than a budget pays for.
func NeedsBudget(need float64, budget money.Amount, pays int64) string {
	return fmt.Sprintf("The promised jobs need %s, and the budget of %v pays for %d.", VMs(need), budget, pays)
}

// FixedOverBudget says that a budget does not even pay for the contracts.
func FixedOverBudget(budget money.Amount) string {
	return fmt.Sprintf("The contracts that are paid in any case cost more than the budget of %v.", budget)
}

// PromisedAlone tells what a class's promise takes.
func PromisedAlone(class string, jobs, each float64) string {
	return fmt.Sprintf("Class %q alone is promised %s at %s each.", class, Jobs(jobs), VMs(each))
}

// PromisedAtLeast tells what a class's promise takes where VM types differ.
func PromisedAtLeast(class string, jobs, vms float64) string {
	return fmt.Sprintf("Class %q is promised %s; what that takes is %s at least.", class, Jobs(jobs), VMs(vms))
}

// MustFinish names a deadline that makes VMs scarce.
func MustFinish(class string, deadline float64) string {
	return fmt.Sprintf("Class %q must finish within %s s; with more time its jobs need fewer VMs.", class, Number(deadline))
}

// DoesNotFitInto says that the promised jobs need more than can be had of a type; had is 0 where spot VMs have no end.
func DoesNotFitInto(had float64, unlimited bool, vmType string, quota int64) string {
	vms := VMs(had)
	if unlimited {
		vms = "VMs"
	}
	return fmt.Sprintf("The promised jobs do not fit into what can be had: %s%s, of which %d on demand.", vms, OfType(vmType), quota)
}

// VMsOverBudget says that the promised jobs' VMs cost more than the budget for them.
func VMsOverBudget(budget money.Amount) string {
	return fmt.Sprintf("The VMs that the promised jobs need cost more than the budget of %v.", budget)
}

// TotalOverBudget says that bill and value refused of the cheapest plan are more than the budget for both.
func TotalOverBudget(cost, budget money.Amount) string {
	return fmt.Sprintf("Bill and value refused together come to %s in the cheapest plan, and the budget is %s.", cost, budget)
}

// BestOverTotal begins a sentence about a plan whose bill and value refused are together more than the budget for both.
func BestOverTotal(c capacity.Cost) string {
	return fmt.Sprintf("best plan found has a bill of %s and refuses jobs valued at %s, together %s and more than the budget for everything",
		c.Bill, c.Penalties, c.Total)
}

// FitsWith begins a sentence about a cure with which the promised jobs fit, and the cheapest plan costs too much.
func FitsWith(value any) string { return fmt.Sprintf(" With %v here the promised jobs fit. ", value) }

// AllowSeconds is the cure of a later deadline.
func AllowSeconds(deadline float64) string {
	return fmt.Sprintf("Allow %s s or more.", Number(deadline))
}

// PromiseAtMost is the cure of promising fewer jobs.
func PromiseAtMost(jobs float64) string {
	if jobs == 0 {
		return "Promise none."
	}
	return fmt.Sprintf("Promise at most %s.", Jobs(jobs))
}

// AskAtMost is the cure of asking for fewer jobs of a class all of which are promised.
func AskAtMost(jobs float64) string {
	if jobs == 0 {
		return "Ask for none, or do not promise all."
	}
	return fmt.Sprintf("Ask for at most %s, or do not promise all.", Jobs(jobs))
}

// RaiseQuota is the cure of a larger quota.
func RaiseQuota(vmType string, quota int64) string {
	return fmt.Sprintf("Raise the quota%s to %d.", OfType(vmType), quota)
}

// RaiseBudget is the cure of a larger budget.
func RaiseBudget(budget money.Amount) string { return fmt.Sprintf("Raise the budget to %v.", budget) }
