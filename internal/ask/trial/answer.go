package trial

import (
	"fmt"
	"math"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/slots/sim"
)

// Answer is the outcome of trying a plan.
type Answer struct {
	Sentence string            `json:"sentence"` // "With this plan 97 % of …"
	Options  SimulationOptions `json:"options"`  // as carried out
	VMs      float64           `json:"vms"`      // rented by the plan
	Cost     capacity.Cost     `json:"cost"`     // of the plan

	// Replications counts the finished ones: fewer than the options say if the run was ended early. The figures cover
	// those alone.
	Replications int64 `json:"replications"`

	Executions int64    `json:"executions"` // ended after the warm-up
	Judged     int64    `json:"judged"`     // executions with a deadline, and unfinished ones whose deadline has passed
	Missed     int64    `json:"missed"`     // of those judged
	Met        *float64 `json:"met"`        // part of the judged ones that met their deadline; null without any

	Events         int64       `json:"events"`
	SimulatedHours float64     `json:"simulated_hours"` // of all replications, the warm-up included
	Unstable       bool        `json:"unstable"`        // more work arrives than can be done: times depend on the hours
	Stopped        sim.Stopped `json:"stopped"`         // limit that ended a replication early: events or jobs; empty if none did

	Classes  []Class            `json:"classes"`
	Pools    []Pool             `json:"pools"`
	Compared []sim.Compared     `json:"compared,omitempty"` // policies on the same jobs, all classes together first
	Warnings []capacity.Warning `json:"warnings"`
}

// Class reports on a class's jobs on a VM type. Times are null if no job ended after the warm-up.
type Class struct {
	Name   string         `json:"name"`
	VMType string         `json:"vm_type,omitempty"` // set if the problem has several
	Jobs   int64          `json:"jobs"`              // at once: those that the plan admits
	Slots  capacity.Slots `json:"slots"`             // given by the plan
	// MeasuredExecutions counts the past executions that its tasks are drawn from; 0 means that they follow the
	// profile or the given measurements.
	MeasuredExecutions int64 `json:"measured_executions"`

	Submitted  int64               `json:"submitted"`
	Executions int64               `json:"executions"` // that ended after the warm-up
	Unfinished int64               `json:"unfinished"`
	PerHour    sim.Estimate        `json:"per_hour"`
	InSystem   sim.Estimate        `json:"in_system"` // jobs submitted and not yet ended, over time
	Response   *sim.Times          `json:"response_s"`
	Wait       *sim.Times          `json:"wait_s"` // to the first slot
	Deadline   *sim.DeadlineReport `json:"deadline"`
	Held       sim.ClassSlots      `json:"slots_held"` // over time; more than its slots if others lend theirs

	Bounds              *Bounds     `json:"bounds"`
	PlaceFromSubmission *sim.Places `json:"place_from_submission"`
	PlaceFromFirstSlot  *sim.Places `json:"place_from_first_slot"`
}

// Bounds holds the class's execution times on its slots, and the number of executions that kept to the calibrated one
// from their submission.
type Bounds struct {
	sim.Bounds
	CalibratedSeconds *float64 `json:"calibrated_s"` // null if the class has no calibration
	WithinCalibrated  *int64   `json:"within_calibrated"`
}

// Pool reports on the slots of a kind on a VM type.
type Pool struct {
	VMType string `json:"vm_type,omitempty"`
	sim.PoolReport
}

// compared returns every policy's row for all jobs, and one for each class where there are several.
func (t *Trial) compared(whole []int) (rows []sim.Compared) {
	if len(t.options.Compare) == 0 {
		return nil
	}
	names := []string{string(t.options.Policy)}
	for _, p := range t.options.Compare {
		names = append(names, string(p))
	}
	var all [][][]sim.Figures
	add := func(class, vmType string, figures [][]sim.Figures) {
		for _, c := range sim.Compare(names, class, figures) {
			c.VMType = vmType
			rows = append(rows, c)
		}
	}
	for _, p := range t.parts {
		for i := range p.classes {
			figures := make([][]sim.Figures, len(names))
			for policy := range names {
				figures[policy] = p.work.FiguresOf(policy, i, whole)
			}
			all = append(all, figures)
		}
	}
	add("", "", sim.Together(all))
	if len(all) == 1 {
		return rows
	}
	for _, p := range t.parts {
		for i := range p.classes {
			add(p.input.Classes[i].Name, t.typeName(p), all[0])
			all = all[1:]
		}
	}
	return rows
}

// typeName returns a part's VM type if the problem has several, else "".
func (t *Trial) typeName(p *part) string {
	if len(t.problem.Supply.VMTypes) > 1 {
		return p.vmType
	}
	return ""
}

// Answer returns the outcome of the finished replications, once the work is over.
func (t *Trial) Answer() Answer {
	whole := t.Whole()
	a := Answer{Options: t.options, VMs: t.plan.VMs.Total, Cost: t.plan.Cost, Classes: []Class{}, Pools: []Pool{}, Warnings: append([]capacity.Warning{}, t.warnings...)}
	a.Replications = int64(len(whole))
	if a.Replications < t.options.Replications {
		a.Warnings = append(a.Warnings, capacity.Warning{Code: "ended", Detail: fmt.Sprintf("The simulation was ended when %d of its %d replications were finished; the figures are of those.", a.Replications, t.options.Replications)})
	}
	for _, p := range t.parts {
		name := t.typeName(p)
		r := p.work.ReportOf(whole)
		a.Events += r.Events
		a.SimulatedHours += r.SimulatedS / 3600
		a.Unstable = a.Unstable || r.Unstable
		if a.Stopped != sim.StoppedJobs && r.Stopped != "" {
			a.Stopped = r.Stopped
		}
		for _, pool := range r.Pools {
			if pool.Slots > 0 {
				a.Pools = append(a.Pools, Pool{name, pool})
			}
		}
		for i := range r.Classes {
			c := p.classes[i].answer(&r.Classes[i], p.input.Classes[i].Jobs, whole)
			c.VMType = name
			a.add(c)
		}
		for _, w := range r.Warnings {
			w.Pointer = p.pointer(w.Pointer)
			if w.Code == "stopped" {
				w.Detail = "A replication ended before its hours, because the simulation has as many events as it may; the figures are about the time until there. Raise max_events, or simulate fewer hours."
			}
			a.Warnings = append(a.Warnings, w)
		}
	}
	a.Compared = t.compared(whole)
	if a.Judged > 0 {
		met := 1 - float64(a.Missed)/float64(a.Judged)
		a.Met = &met
	}
	a.Sentence = a.sentence()
	return a
}

func (a *Answer) add(c Class) {
	a.Classes = append(a.Classes, c)
	a.Executions += c.Executions
	if c.Deadline != nil {
		a.Judged += c.Executions + c.Deadline.UnfinishedLate
		a.Missed += c.Deadline.Missed
	}
}

func (c *tried) answer(r *sim.ClassReport, jobs int64, whole []int) Class {
	a := Class{
		Name: r.Name, Jobs: jobs, Slots: c.slots, MeasuredExecutions: c.executions, Submitted: r.Submitted, Executions: r.Counted, Unfinished: r.Unfinished,
		PerHour: r.PerHour, InSystem: r.InSystem, Response: r.Response, Wait: r.Wait, Deadline: r.Deadline, Held: r.Slots,
		PlaceFromSubmission: r.PlaceFromSubmission, PlaceFromFirstSlot: r.PlaceFromFirstSlot,
	}
	if r.Bounds == nil {
		return a
	}
	a.Bounds = &Bounds{Bounds: *r.Bounds, CalibratedSeconds: c.calibrated}
	if c.calibrated != nil {
		sum := int64(0)
		for _, i := range whole {
			sum += c.within[i]
		}
		a.Bounds.WithinCalibrated = &sum
	}
	return a
}

func (a *Answer) sentence() string {
	if a.Unstable {
		return "More work comes than this plan's slots can do: queues grow as long as it comes, and the figures depend on the hours that were simulated."
	}
	switch {
	case a.Executions+a.Judged > 0:
	case a.Stopped == sim.StoppedEvents:
		return "No job ended after the warm-up before the simulation had as many events as it may; raise max_events, or simulate fewer hours or replications."
	default:
		return "No job ended after the warm-up; simulate more hours."
	}
	if a.Met == nil {
		return fmt.Sprintf("With this plan %s ended; no class has a deadline.", fault.Plural(a.Executions, "execution"))
	}
	sentence := fmt.Sprintf("With this plan %s %% of executions meet the deadline", Percent(*a.Met))
	if a.Missed == 0 {
		sentence = "With this plan all executions meet the deadline"
	}
	sentence += fmt.Sprintf(" (%d of %d)", a.Judged-a.Missed, a.Judged)
	if a.Executions == 0 {
		return sentence + "; no job ended after the warm-up."
	}
	var worst *Class
	deadlines := 0
	for i := range a.Classes {
		if c := &a.Classes[i]; c.Deadline != nil {
			deadlines++
			if worst == nil || c.Deadline.Met.Mean < worst.Deadline.Met.Mean {
				worst = c
			}
		}
	}
	if deadlines > 1 && a.Missed > 0 {
		on := ""
		if worst.VMType != "" {
			on = fmt.Sprintf(" on %q", worst.VMType)
		}
		sentence += fmt.Sprintf("; the fewest of class %q%s: %s %%", worst.Name, on, Percent(worst.Deadline.Met.Mean))
	}
	return sentence + "."
}

// Percent writes a part in percent, with a decimal if that is not 0. It rounds down, so that only 1 shows as 100.
func Percent(part float64) string {
	p := math.Floor(1000*part+1e-9) / 10
	if p == 0 && part > 0 {
		return strings.TrimSuffix(words.Percent(part), " %")
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0")
}

// placed moves the simulator's findings to the plan's problem.
func (t *Trial) placed(p *part, err error) error { return fault.Move(err, p.pointer) }

// pointer translates the simulator's pointer into one into the question.
func (p *part) pointer(pointer string) string {
	var number int
	if n, _ := fmt.Sscanf(pointer, "/classes/%d/", &number); n == 1 && number < len(p.classes) {
		_, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/classes/"), "/")
		class := fmt.Sprintf("/problem/classes/%d", p.classes[number].index)
		if strings.HasPrefix(rest, "profile") || rest == "name" {
			return class + "/" + rest
		}
		if rest == "load/think_s" {
			return "/options/think_s"
		}
		return class
	}
	switch pointer {
	case "/policy/kind":
		return "/options/policy"
	case "/policy/lending", "/compare/0/lending":
		return "/options/lending"
	case "":
		return ""
	case "/classes":
		return "/problem/classes"
	default:
		return "/problem"
	}
}
