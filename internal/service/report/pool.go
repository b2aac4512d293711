package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.org/headroom/internal/ask/pool"
)

// PoolPlan writes a plan of a pool for a terminal.
func PoolPlan(w io.Writer, currency string, a pool.PoolPlan) error {
	var b strings.Builder
	if a.Status == pool.PoolInfeasible {
		b.WriteString("No pool does all of it.\n")
		for _, f := range a.Conflicts {
			b.WriteString(visible(f.Detail, 0) + "\n")
			if f.Hint != nil {
				b.WriteString("  " + visible(f.Hint.Detail, 0) + "\n")
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	known := "No pool costs less."
	if a.Status != pool.PoolOptimal {
		known = fmt.Sprintf("No pool costs less than %s, so that at most %s could be saved.", a.LowerBound, percentUp(a.Gap))
	}
	fmt.Fprintf(&b, "%s %s: %s for core instances, %s for accelerators. %s\n\n", a.Cost, currency, a.CoreCost, a.AcceleratorCost, known)
	return poolOutcome(w, &b, a.PoolOutcome)
}

// PoolEvaluation writes the evaluation of a mix for a terminal.
func PoolEvaluation(w io.Writer, currency string, e pool.PoolEvaluation) error {
	var b strings.Builder
	deadlines := "All deadlines are met."
	switch {
	case !e.DeadlinesMet && e.Proved:
		deadlines = "Deadlines are missed, and no order of work meets all of them."
	case !e.DeadlinesMet:
		deadlines = "Deadlines are missed."
	}
	if !e.StorageMet {
		deadlines += fmt.Sprintf(" The disks hold %s GB of the %s GB that the data needs.", rounded(e.DiskGB, 1), rounded(e.NeededGB, 1))
	}
	fmt.Fprintf(&b, "%s %s: %s for core instances, %s for accelerators. %s\n\n", e.Cost, currency, e.CoreCost, e.AcceleratorCost, deadlines)
	return poolOutcome(w, &b, e.PoolOutcome)
}

func poolOutcome(w io.Writer, b *strings.Builder, o pool.PoolOutcome) error {
	if err := poolMix(o.Mix).Text(b); err != nil {
		return err
	}
	b.WriteByte('\n')
	jobs := Table{Columns: []string{"job", "due h", "done h", "on"}}
	for _, j := range o.Jobs {
		var on []string
		for _, x := range j.On {
			on = append(on, fmt.Sprintf("%s %s h", x.Type, rounded(x.InstanceHours, 2)))
		}
		done := Cell{"never", true}
		if j.FinishHours != nil {
			done = figure(*j.FinishHours, 3, "")
		}
		if j.Late {
			done.Text += " late"
		}
		jobs.Rows = append(jobs.Rows, []Cell{text(j.Name), figure(j.DeadlineHours, 3, ""), done, text(strings.Join(on, ", "))})
	}
	if err := jobs.Text(b); err != nil {
		return err
	}
	for _, warning := range o.Warnings {
		b.WriteString(visible("Warning: "+warning.Detail, 0) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// poolMix returns a row for each kind of instance.
func poolMix(m pool.PoolMix) Table {
	t := Table{Columns: []string{"instances", "type", "as", "hours", "cost"}}
	for _, x := range m.Core {
		t.Rows = append(t.Rows, []Cell{whole(x.Count), text(x.Type), text("core"), text("all"), amount(&x.Cost)})
	}
	for _, x := range m.Accelerators {
		t.Rows = append(t.Rows, []Cell{whole(x.Count), text(x.Type), text("accelerator"), whole(x.Hours), amount(&x.Cost)})
	}
	return t
}

// PoolJobs returns a row for each part of a job's work, with stable names and all digits.
func PoolJobs(o pool.PoolOutcome) Table {
	t := Table{Columns: []string{"job", "deadline_hours", "finish_hours", "late", "type", "rate", "imputed", "instance_hours"}}
	yes := func(is bool, word string) Cell {
		if is {
			return text(word)
		}
		return text("")
	}
	for _, j := range o.Jobs {
		for _, x := range j.On {
			t.Rows = append(t.Rows, []Cell{text(j.Name), number(j.DeadlineHours), optional(j.FinishHours), yes(j.Late, "late"), text(x.Type), number(x.Rate), yes(x.Imputed, "imputed"), number(x.InstanceHours)})
		}
	}
	return t
}

// SharePlan writes the slots of each job.
func SharePlan(w io.Writer, a pool.SharePlan) error {
	var b strings.Builder
	known := "No plan has a larger least share, nor a larger total with it."
	if a.Status != pool.PoolOptimal {
		known = fmt.Sprintf("No plan has a larger least share than %s, nor a larger total than %s.", rounded(a.ShareBound, 4), rounded(a.TotalBound, 4))
	}
	fmt.Fprintf(&b, "The least share is %s, all together are %s; taking turns gives 1. %s\n\n", rounded(a.MinShare, 4), rounded(a.Total, 4), known)
	if err := SharedJobs(a).Text(&b); err != nil {
		return err
	}
	if h := a.Held; h != nil {
		fmt.Fprintf(&b, "\nOf what the jobs hold now the least share is %s, all together are %s.\n\n", rounded(h.MinShare, 4), rounded(h.Total, 4))
		if err := SharedJobs(pool.SharePlan{Jobs: h.Jobs}).Text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// SharedJobs returns a row for each job and type.
func SharedJobs(a pool.SharePlan) Table {
	t := Table{Columns: []string{"job", "progress_share", "type", "slots"}}
	for _, j := range a.Jobs {
		if len(j.Slots) == 0 {
			t.Rows = append(t.Rows, []Cell{text(j.Name), number(j.ProgressShare), text(""), whole(0)})
		}
		for _, name := range slices.Sorted(maps.Keys(j.Slots)) {
			t.Rows = append(t.Rows, []Cell{text(j.Name), number(j.ProgressShare), text(name), whole(j.Slots[name])})
		}
	}
	return t
}

// Instances returns a row for each type of a catalogue.
func Instances(c pool.InstanceCatalogue) Table {
	t := Table{Columns: []string{"type", "per_hour", "compute_units", "memory_gib", "disk_gb", "slots", "per_compute_unit_month", "per_gb_month"}}
	for _, x := range c.Types {
		t.Rows = append(t.Rows, []Cell{text(x.Name), amount(x.PerHour), number(x.ComputeUnits), number(x.MemoryGiB), number(x.DiskGB), whole(x.Slots), amount(&x.PerUnitMonth), amount(&x.PerGBMonth)})
	}
	return t
}

// PoolCourse writes the actions round after round for a terminal.
func PoolCourse(w io.Writer, currency string, c pool.PoolCourse) error {
	var b strings.Builder
	known := "Each round is planned by itself."
	if c.Proved {
		known = "No course costs less."
	}
	fmt.Fprintf(&b, "%s %s for %s. %s\n\n", c.Cost, currency, count(float64(len(c.Rounds)), "round", "rounds"), known)
	if err := PoolChanges(c).Text(&b); err != nil {
		return err
	}
	for _, r := range c.Rounds {
		for _, f := range r.Plan.Conflicts {
			b.WriteString(visible(fmt.Sprintf("The round from hour %d on cannot be done: %s", r.FromHour, f.Detail), 0) + "\n")
			if f.Hint != nil {
				b.WriteString("  " + visible(f.Hint.Detail, 0) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// PoolChanges returns a row for each change; a round without changes has one too.
func PoolChanges(c pool.PoolCourse) Table {
	t := Table{Columns: []string{"from_hour", "status", "cost", "data_gb", "hour", "change", "type", "as"}}
	for _, r := range c.Rounds {
		round := []Cell{whole(r.FromHour), text(string(r.Plan.Status)), amount(&r.Plan.Cost), number(r.DataGB)}
		for _, x := range r.Changes {
			t.Rows = append(t.Rows, append(slices.Clone(round), whole(x.Hour), Cell{fmt.Sprintf("%+d", x.Count), true}, text(x.Type), text(x.As)))
		}
		if len(r.Changes) == 0 {
			t.Rows = append(t.Rows, append(round, Cell{"", true}, Cell{"0", true}, text(""), text("")))
		}
	}
	return t
}
