package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/service/plans"
)

// StorageSamples returns a row for each sample.
func StorageSamples(items []pool.StorageSample) Table {
	return tableOf([]string{"at", "data_gb", "sampled_by"}, items, func(s pool.StorageSample) []Cell {
		return []Cell{Time(s.At), number(s.DataGB), text(s.SampledBy)}
	})
}

// PoolPlans returns a row for each plan of a pool.
func PoolPlans(items []pool.PoolPlanSummary) Table {
	names := []string{"id", "number", "cluster", "at", "created_at", "created_by", "settings_version", "reason", "status", "cost", "currency", "from", "until", "rounds", "steps"}
	return tableOf(names, items, func(p pool.PoolPlanSummary) []Cell {
		return []Cell{
			text(p.ID), whole(p.Number), text(p.Cluster), Time(p.At), Time(p.CreatedAt), text(p.CreatedBy), whole(p.SettingsVersion), text(p.Reason), text(string(p.Status)),
			amount(&p.Cost), text(p.Currency), Time(p.Starts), Time(p.Ends), whole(p.Rounds), whole(p.Steps),
		}
	})
}

// PoolSteps returns a row for each thing to rent or to return.
func PoolSteps(s pool.PoolSchedule) Table {
	return tableOf([]string{"at", "change", "type", "as", "why"}, s.Steps, func(x pool.PoolStep) []Cell {
		return []Cell{Time(x.At), {fmt.Sprintf("%+d", x.Count), true}, text(x.Type), text(x.As), text(x.Why)}
	})
}

// PoolSchedule writes a pool over time for a terminal.
func PoolSchedule(w io.Writer, s pool.PoolSchedule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s for what is newly planned of %s.\n\n", s.Cost, s.Currency, count(float64(len(s.Rounds)), "round", "rounds"))
	if len(s.Steps) == 0 {
		b.WriteString("Nothing is to be rented or given back.\n")
	} else if err := PoolSteps(s).Text(&b); err != nil {
		return err
	}
	rounds := tableOf([]string{"round", "until", "status", "cost", "data_gb", "decided_by"}, s.Rounds, func(r pool.ScheduledRound) []Cell {
		by := Cell{"", true}
		if r.DecidedBy > 0 {
			by = whole(r.DecidedBy)
		}
		return []Cell{Time(r.From), Time(r.Until), text(string(r.Plan.Status)), amount(&r.Plan.Cost), {rounded(r.DataGB, 1), true}, by}
	})
	b.WriteString("\n")
	if err := rounds.Text(&b); err != nil {
		return err
	}
	b.WriteString("\n")
	say := func(format string, values ...any) { b.WriteString(visible(fmt.Sprintf(format, values...), 0) + "\n") }
	for _, r := range s.Rounds {
		for _, f := range r.Plan.Conflicts {
			say("The round from %s on cannot be done: %s", r.From.Format("2006-01-02T15:04Z"), f.Detail)
			if f.Hint != nil {
				say("  %s", f.Hint.Detail)
			}
		}
	}
	if err := PoolSources(&b, s.Sources); err != nil {
		return err
	}
	for _, x := range s.Warnings {
		say("Warning: %s", x.Detail)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// PoolSources writes the sources of a plan's figures for a terminal.
func PoolSources(w io.Writer, s pool.PoolSources) error {
	var b strings.Builder
	say := func(format string, values ...any) { b.WriteString(visible(fmt.Sprintf(format, values...), 0) + "\n") }
	for _, j := range s.Jobs {
		for _, x := range j.Hours {
			say("%s, %s: %s", j.Job, count(float64(x.Hours), "hour", "hours"), x.Detail)
		}
	}
	say("Data: %s", s.Data.Detail)
	for _, x := range s.Warnings {
		say("Warning: %s", x.Detail)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// PoolMachines returns a row for each kind of running machine.
func PoolMachines(m pool.PoolMachines) Table {
	return tableOf([]string{"type", "as", "count", "since", "paid_until"}, m.Machines, func(x pool.PoolMachine) []Cell {
		return []Cell{text(x.Type), text(x.As), whole(x.Count), MaybeTime(x.Since), MaybeTime(x.PaidUntil)}
	})
}

// PoolScaling writes the targets of autoscalers for a terminal.
func PoolScaling(w io.Writer, s plans.PoolScaling) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Plan %d: %s are to run.", s.Number, count(float64(s.Machines.Total), "machine", "machines"))
	if s.Stale {
		b.WriteString(" It is stale.")
	}
	b.WriteString("\n\n")
	items := tableOf([]string{"type", "total", "core", "accelerators"}, s.Items, func(x plans.PoolItem) []Cell {
		return []Cell{text(x.Type), whole(x.Total), whole(x.Core), whole(x.Accelerators)}
	})
	if err := items.Text(&b); err != nil {
		return err
	}
	for _, x := range s.Next {
		b.WriteString(visible(fmt.Sprintf("%s: %+d %s as %s. %s", x.At.UTC().Format("2006-01-02T15:04Z"), x.Count, x.Type, x.As, x.Why), 0) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
