package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/words"
)

// packedJobs returns a row for each job of a packing, with stable names and all digits.
func packedJobs(a pack.Packing) Table {
	t := Table{Columns: []string{"phase", "phase_start_s", "phase_end_s", "job", "number", "role", "vms", "seconds", "end_s", "release_s", "deadline_s", "late"}}
	asked := map[string]pack.PackedJob{}
	for _, j := range a.Jobs {
		asked[j.Name] = j
	}
	limit := func(x float64) Cell {
		if x == 0 {
			return Cell{"", true}
		}
		return number(x)
	}
	for i, phase := range a.Phases {
		for _, j := range phase.Jobs {
			late := ""
			if j.Late {
				late = "late"
			}
			t.Rows = append(t.Rows, []Cell{
				number(float64(i + 1)), number(phase.StartSeconds), number(phase.EndSeconds), text(j.Job), number(float64(j.Number)), text(string(j.Role)),
				number(float64(j.VMs)), number(j.Seconds), number(j.EndSeconds), limit(asked[j.Job].ReleaseSeconds), limit(asked[j.Job].DeadlineSeconds), text(late),
			})
		}
	}
	return t
}

// PackingAnswer returns the table of an answer about a batch: its jobs, packings beside one another, or numbers of
// machines.
func PackingAnswer(a pack.PackingAnswer) Table {
	switch {
	case a.Compared != nil:
		return packings(a.Compared)
	case a.Machines != nil:
		return triedMachines(*a.Machines)
	case a.OneMore == nil:
		return packedJobs(*a.Packing)
	}
	t := packings([]pack.Packing{*a.Packing, *a.OneMore})
	t.Columns = append([]string{"machines"}, t.Columns...)
	for i, machines := range []string{"as given", "one more"} {
		t.Rows[i] = append([]Cell{text(machines)}, t.Rows[i]...)
	}
	return t
}

// packings returns a row for each packing, to compare them.
func packings(all []pack.Packing) Table {
	t := Table{Columns: []string{"algorithm", "phases", "busy_s", "end_s", "saving_percent", "gap_percent", "status", "deadlines_missed"}}
	for _, a := range all {
		missed := Cell{"", true}
		if a.Deadlines != nil {
			missed = number(float64(a.Deadlines.Missed))
		}
		t.Rows = append(t.Rows, []Cell{
			text(string(a.Algorithm)), number(float64(len(a.Phases))), number(a.BusySeconds), number(a.EndSeconds),
			number(100 * a.Saving), number(100 * a.Gap), text(string(a.Status)), missed,
		})
	}
	return t
}

// packingsText compares packings on a terminal.
func packingsText(w io.Writer, all []pack.Packing) error {
	t := Table{Columns: []string{"algorithm", "phases", "time", "saving", "known"}}
	for _, a := range all {
		known := "none of its kind is shorter"
		if a.Status != pack.PackingOptimal {
			known = fmt.Sprintf("at most %s from the shortest", percentUp(a.Gap))
		}
		t.Rows = append(t.Rows, []Cell{text(string(a.Algorithm)), number(float64(len(a.Phases))), {clock(a.BusySeconds), true},
			{words.Share(a.Saving), true}, text(known)})
	}
	return t.Text(w)
}

// maxBars is the maximum number of jobs that are drawn; of more, only the phases are.
const maxBars = 60

// packing writes a packing for a terminal: its result in a sentence, the phases with a bar for every job, deadlines,
// warnings and proof.
func packing(w io.Writer, a pack.Packing) error {
	var b strings.Builder
	jobs := 0
	for _, p := range a.Phases {
		jobs += len(p.Jobs)
	}
	if jobs == 1 {
		fmt.Fprintf(&b, "1 job takes %s. %s\n\n", clock(a.BusySeconds), knownOf(a))
	} else {
		fmt.Fprintf(&b, "%s in %s take %s; one after the other they take %s: %s saved. %s\n\n",
			count(float64(jobs), "job", "jobs"), count(float64(len(a.Phases)), "phase", "phases"), clock(a.BusySeconds), clock(a.SequentialSeconds), words.Share(a.Saving), knownOf(a))
	}
	if err := gantt(a, jobs).Text(&b); err != nil {
		return err
	}
	b.WriteByte('\n')
	if a.EndSeconds > a.BusySeconds*(1+1e-9) {
		fmt.Fprintf(&b, "The last phase ends after %s, because phases wait for jobs that are released later.\n", clock(a.EndSeconds))
	}
	if d := a.Deadlines; d != nil {
		proved := "more may be possible"
		if d.Proved {
			proved = "no more can be met with these VMs in a phase"
		}
		if d.Missed == 0 && d.Met == 1 {
			b.WriteString("The deadline is met.\n")
		} else if d.Missed == 0 {
			fmt.Fprintf(&b, "All %d deadlines are met.\n", d.Met)
		} else {
			fmt.Fprintf(&b, "%d of %d deadlines are met; %s. Looked at: %s\n", d.Met, d.Met+d.Missed, proved, d.Basis)
		}
	}
	for _, warning := range a.Warnings {
		b.WriteString(visible("Warning: "+warning.Detail, 0) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func knownOf(a pack.Packing) string {
	switch {
	case a.Status != pack.PackingOptimal:
		return fmt.Sprintf("Nothing is shorter than %s, so that at most %s could be saved on it.", clock(a.LowerBoundSeconds), percentUp(a.Gap))
	case a.Algorithm == pack.PackMulti:
		return "Nothing is shorter."
	default:
		return "Nothing of its kind is shorter."
	}
}

// gantt draws the times of jobs: = for the job, . for the rest of its phase.
func gantt(a pack.Packing, jobs int) Table {
	const width = 48
	end := max(a.EndSeconds, math.SmallestNonzeroFloat64)
	column := func(t float64) int { return min(width, int(math.Round(width*t/end))) }
	bar := func(start, done, until float64) string {
		from, to, last := column(start), column(done), column(until)
		to = max(to, min(from+1, width))
		return "|" + strings.Repeat(" ", from) + strings.Repeat("=", max(0, to-from)) + strings.Repeat(".", max(0, last-to)) + strings.Repeat(" ", max(0, width-max(to, last))) + "|"
	}
	t := Table{Columns: []string{"phase", "job", "role", "VMs", "time", "ends", "0" + strings.Repeat(" ", max(1, width-len(clock(end)))) + clock(end)}}
	for i, p := range a.Phases {
		if jobs > maxBars {
			t.Rows = append(t.Rows, []Cell{number(float64(i + 1)), text(count(float64(len(p.Jobs)), "job", "jobs")), text(""), {"", true},
				{clock(p.Seconds), true}, {clock(p.EndSeconds), true}, text(bar(p.StartSeconds, p.EndSeconds, p.EndSeconds))})
			continue
		}
		for n, j := range p.Jobs {
			phase := Cell{"", true}
			if n == 0 {
				phase = number(float64(i + 1))
			}
			name := j.Job
			if j.Number > 1 {
				name = fmt.Sprintf("%s #%d", j.Job, j.Number)
			}
			ends := clock(j.EndSeconds)
			if j.Late {
				ends += " late"
			}
			t.Rows = append(t.Rows, []Cell{phase, text(name), text(string(j.Role)), number(float64(j.VMs)), {clock(j.Seconds), true}, {ends, true},
				text(bar(p.StartSeconds, j.EndSeconds, p.EndSeconds))})
		}
	}
	return t
}

// clock formats a time as hours, minutes and seconds.
func clock(seconds float64) string {
	s := int64(math.Round(seconds))
	switch {
	case seconds < 60:
		return rounded(seconds, 1) + " s"
	case s < 3600:
		return fmt.Sprintf("%d:%02d min", s/60, s%60)
	default:
		return fmt.Sprintf("%d:%02d:%02d h", s/3600, s/60%60, s%60)
	}
}

// Machines writes the fewest machines by an hour for a terminal, and the packing there.
func Machines(w io.Writer, a pack.MachinesAnswer) error {
	var b strings.Builder
	proved := "fewer may do, since not every packing was proved to be the shortest"
	if a.Proved {
		proved = "fewer do not suffice"
	}
	fmt.Fprintf(&b, "%s will do for %s: the batch takes %s; %s.\n\n", count(float64(a.Machines), "machine", "machines"), clock(a.BySeconds), clock(a.Packing.EndSeconds), proved)
	t := Table{Columns: []string{"machines", "ends", "at least"}}
	for _, tried := range a.Tried {
		t.Rows = append(t.Rows, []Cell{number(float64(tried.Machines)), {clock(tried.EndSeconds), true}, {clock(tried.LowerBoundSeconds), true}})
	}
	if err := t.Text(&b); err != nil {
		return err
	}
	b.WriteByte('\n')
	if err := packing(&b, a.Packing); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// triedMachines returns a row for each number of machines that was tried.
func triedMachines(a pack.MachinesAnswer) Table {
	t := Table{Columns: []string{"machines", "end_s", "lower_bound_s", "by_s", "answer"}}
	for _, tried := range a.Tried {
		answer := ""
		if tried.Machines == a.Machines {
			answer = "fewest"
		}
		t.Rows = append(t.Rows, []Cell{number(float64(tried.Machines)), number(tried.EndSeconds), number(tried.LowerBoundSeconds), number(a.BySeconds), text(answer)})
	}
	return t
}

// oneMore writes the saving of one more machine.
func oneMore(w io.Writer, a, more pack.Packing) error {
	saved := a.EndSeconds - more.EndSeconds
	said := fmt.Sprintf("With one more machine it takes %s: %s less (%s).", clock(more.EndSeconds), clock(saved), words.Share(saved/max(a.EndSeconds, math.SmallestNonzeroFloat64)))
	if saved <= 1e-9*a.EndSeconds {
		said = "One more machine saves nothing."
	}
	_, err := fmt.Fprintln(w, said)
	return err
}

// KeptPackings returns a row for each stored packing.
func KeptPackings(items []pack.PackingSummary) Table {
	names := []string{"id", "cluster", "created_at", "created_by", "algorithm", "status", "machines", "vms", "jobs", "busy_s", "end_s", "sequential_s", "lower_bound_s", "missed"}
	return tableOf(names, items, func(p pack.PackingSummary) []Cell {
		return []Cell{
			text(p.ID), text(p.Cluster), Time(p.CreatedAt), text(p.CreatedBy), text(string(p.Algorithm)), text(string(p.Status)), whole(p.Machines), whole(p.VMs), whole(p.Jobs),
			number(p.BusySeconds), number(p.EndSeconds), number(p.SequentialSeconds), number(p.LowerBoundSeconds), whole(p.Missed),
		}
	})
}

// PackingText writes the answer to a question about a batch for a terminal, and where the times of its jobs are from.
func PackingText(w io.Writer, a pack.PackingAnswer) (err error) {
	switch {
	case a.Compared != nil:
		err = packingsText(w, a.Compared)
	case a.Machines != nil:
		err = Machines(w, *a.Machines)
	default:
		if err = packing(w, *a.Packing); err == nil && a.OneMore != nil {
			err = oneMore(w, *a.Packing, *a.OneMore)
		}
	}
	if err == nil && len(a.Sources) > 0 {
		err = packingSources(w, a.Sources)
	}
	return err
}
