// Package proof re-checks a plan against its problem in exact arithmetic: the plan must be possible, its money must
// add up, and no plan may be cheaper. It deliberately shares nothing with the code that finds plans. It imports the
// vocabulary alone and computes everything else again from the paper, so that both cannot make the same mistake.
package proof

import (
	"fmt"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// Outcome is the result of one check.
type Outcome string

// The three outcomes.
const (
	OK        Outcome = "ok"
	Failed    Outcome = "failed"     // the plan says something false
	NotProved Outcome = "not proved" // nothing contradicts it, but the proof would cost more than allowed
)

// The names of the checks. Feasible and optimal plans get Problem to Prices; infeasible ones get Problem, Parts,
// Infeasibility, Cures and Conflicts.
const (
	ProblemCheck       = "problem"       // the problem itself can be read
	ShapeCheck         = "shape"         // every class once and in order, jobs within bounds, verdicts
	PartsCheck         = "parts"         // every part of such plans is there
	ConversionCheck    = "conversion"    // VMs per job (gamma) and each class's share
	DeadlinesCheck     = "deadlines"     // slots meet the deadlines; the stated times are right
	CapacityCheck      = "capacity"      // the classes' needs fit the rented VMs
	LayoutCheck        = "layout"        // the slots fit on their VMs
	RentalCheck        = "rental"        // contracts, quota, cheapest first, totals
	MoneyCheck         = "money"         // every cost line and the objective
	OptimalityCheck    = "optimality"    // no better plan than the status allows
	BoundCheck         = "bound"         // no plan is below the bound of the plan's proof
	BudgetCheck        = "budget"        // the plan keeps the problem's budgets, if it has any
	CertificateCheck   = "certificate"   // bound, gap and status agree with each other
	RelaxationCheck    = "relaxation"    // the linear program's answer
	PricesCheck        = "prices"        // marginal prices of capacity and contracts
	ChangesCheck       = "changes"       // what one job more or less changes, and how long the plan stays the best
	ReasonsCheck       = "reasons"       // the sentence about each class
	FlipsCheck         = "flips"         // changes that would flip a decision, and the penalty from which a job is worth its VMs
	IntegerCheck       = "integer"       // the integer program's answer and its missing VMs
	InfeasibilityCheck = "infeasibility" // there is indeed no plan
	CuresCheck         = "cures"         // each named cure cures
	ConflictsCheck     = "conflicts"     // what the conflicts say
)

// Check is the result of one check, with a sentence.
type Check struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
}

// Report holds the results of all checks. Outcome is the worst of them.
type Report struct {
	Outcome Outcome `json:"outcome"`
	Checks  []Check `json:"checks"`
	// NotChecked lists the contents of the plan that no check covers.
	NotChecked []string      `json:"not_checked"`
	Bound      *money.Amount `json:"bound,omitempty"`  // no plan's objective is lower; found here
	Better     *Better       `json:"better,omitempty"` // a plan that beats the checked one by more than its allowed gap

	pause func() `json:"-"`
}

// Better is a plan that refutes a claim of optimality.
type Better struct {
	Objective money.Amount `json:"objective"`
	VMs       float64      `json:"vms"`
	Jobs      []float64    `json:"jobs"` // in the order of the problem's classes
}

// Accepted reports whether nothing contradicts the plan.
func (r Report) Accepted() bool { return r.Outcome != Failed }

// Find returns the check of that name; ok is false if the plan did not get it.
func (r Report) Find(name string) (c Check, ok bool) {
	for _, c := range r.Checks {
		if c.Name == name {
			return c, true
		}
	}
	return Check{}, false
}

// String returns the report as lines for people.
func (r Report) String() string {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-13s %-10s %s\n", c.Name, c.Outcome, c.Detail)
	}
	fmt.Fprintf(&b, "%-13s %s\n", "overall", r.Outcome)
	return b.String()
}

// Options limits the search for a better plan. The zero value takes well under a second.
type Options struct {
	Nodes int    // largest number of states in the search; 0 for 300,000
	Brief bool   // the plan may lack the parts that brief plans lack: relaxed, prices and integer
	Pause func() // called between checks, so that others get the processor; may be nil

	expected bool // the search looks for a plan that is said to exist
}

const (
	partsThere   = "All parts that such plans have are there."
	nothingThere = "Nothing is said of a plan that is not there."
)

const defaultNodes = 300_000

// Verify checks a plan against its problem. It never fails and never panics: the report names every fault of either.
func Verify(p capacity.Problem, pl capacity.Plan, o Options) Report {
	if o.Nodes <= 0 {
		o.Nodes = defaultNodes
	}
	r := &Report{Outcome: OK, NotChecked: NotChecked, pause: o.Pause}
	if faults := readable(p); !r.add(ProblemCheck, faults, "The problem can be read.") {
		return *r
	}
	if faults := sane(pl); len(faults) > 0 {
		r.add(ShapeCheck, faults, "")
		return *r
	}
	if isFleet(p) {
		r.fleet(p, pl, o)
		return *r
	}
	m := newModel(p, o.Pause)
	if pl.Status == capacity.InfeasibleStatus {
		if !o.Brief {
			r.add(PartsCheck, append(m.blank(pl), m.warnings(pl, false)...), nothingThere)
		}
		r.infeasible(m, pl, o)
		return *r
	}
	if !r.add(ShapeCheck, append(m.shape(pl), typed(pl)...), fmt.Sprintf("Every class (%d) stands there once, in order, within its jobs.", len(m.classes))) {
		return *r // nothing can be matched with anything
	}
	if !o.Brief {
		r.add(PartsCheck, m.parts(pl, false), partsThere)
	}
	a := m.read(pl)
	r.add(ConversionCheck, m.conversion(pl, a), "VMs per job and the classes' shares are what the paper's formula gives.")
	r.add(DeadlinesCheck, append(m.deadlines(pl, a), m.slotless(pl)...), "Every admitted job meets its deadline on the slots given.")
	r.add(CapacityCheck, m.capacity(pl, a), "What the classes need fits on the VMs rented.")
	if m.integrality == capacity.Executable {
		r.add(LayoutCheck, m.layout(pl, a), "The slots fit on the VMs they stand on.")
	}
	rented := r.add(RentalCheck, m.rental(pl), "VMs are taken cheapest first within counts and quota, and add up.")
	bill := m.bill(pl, a)
	r.add(MoneyCheck, m.money(pl, bill), "Every amount is what the counts and prices give.")
	r.budget(m, bill)
	r.certificate(m, pl, bill)
	if !rented {
		return *r // its cost is unknown, so nothing can be compared with it
	}
	lp := m.relax(zero())
	r.optimality(m, pl, bill, func(threshold *exact.Rat) (finding, string) { return r.look(m, lp, threshold, o) })
	if pl.Relaxed != nil {
		r.add(RelaxationCheck, m.relaxation(*pl.Relaxed, lp), "The linear program's answer is right.")
	}
	if pl.Prices != nil {
		r.add(PricesCheck, append(m.prices(*pl.Prices, lp), m.budgetWorth(*pl.Prices, lp)...), "The marginal prices are those of the linear program.")
	}
	if pl.Integer != nil {
		wrong := m.integer(pl, a, lp, bill)
		if len(wrong) == 0 && m.integrality == capacity.Executable {
			wrong = r.integerProgram(m, pl, bill, o)
		}
		r.add(IntegerCheck, wrong, "The integer program's answer agrees with the rest.")
	}
	r.changes(m, pl, a, bill, o)
	if !o.Brief {
		r.add(ReasonsCheck, m.reasons(pl), "Each reason says what the figures say.")
	}
	r.add(FlipsCheck, m.flips(pl), "Penalties, deadlines and prices that would change a decision are right.")
	return *r
}

// maxFaults bounds the faults that one check's sentence lists.
const maxFaults = 3

// add records a check, failed if there are faults. It reports whether there were none.
func (r *Report) add(name string, faults []string, fine string) bool {
	if len(faults) == 0 {
		r.note(name, OK, fine)
		return true
	}
	r.note(name, Failed, listed(faults))
	return false
}

// listed joins the first sentences of a list.
func listed(sentences []string) string {
	text := strings.Join(sentences[:min(len(sentences), maxFaults)], " ")
	if more := len(sentences) - maxFaults; more > 0 {
		text += fmt.Sprintf(" And %d more.", more)
	}
	return text
}

func (r *Report) note(name string, o Outcome, detail string) {
	r.Checks = append(r.Checks, Check{name, o, detail})
	if o == Failed || o == NotProved && r.Outcome == OK {
		r.Outcome = o
	}
	r.rest()
}

// rest lets others go first between two steps.
func (r *Report) rest() {
	if r.pause != nil {
		r.pause()
	}
}

// faults collects sentences.
type faults []string

func (f *faults) addf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
