package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	tables "example.org/headroom/internal/service/report"
)

// jobRead sums up the executions of one job.
type jobRead struct {
	Job        string           `json:"job"`
	Executions int64            `json:"executions"`
	Usable     int64            `json:"usable"`
	Merged     *history.Merged  `json:"merged"`  // null where no profile can be made
	Refused    *history.Refusal `json:"refused"` // why

	records []history.Record
}

// historiesRead is the answer of "history read".
type historiesRead struct {
	Jobs     []*jobRead        `json:"jobs"`
	Unusable clusters.Refusals `json:"unusable"`
	Refused  clusters.Refusals `json:"refused"`
}

func historyReadCommand() *cobra.Command {
	var out shell.Output
	var job string
	var zone Zone
	c := &cobra.Command{
		Use: "read PATH...", Short: "Read histories without a server, and show the profile of each job",
		Long: `Reads histories and shows, for each job, the profile that its executions come to. Nothing is sent.
` + historyForms,
		Example: "  headroom history read /mnt/history/done/2026 -o json",
		Args:    cobra.MinimumNArgs(1),
	}
	pathsAreAllowed(c, nil)
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&job, "job", "", "the `name` of the job, of executions whose history names none")
	zone.Add(c)
	c.PreRunE = func(*cobra.Command, []string) error { return zone.Check() }
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		i := historyImport{}
		all := map[string]*jobRead{}
		err := readHistories(c, args, zone.at, func(int64) {}, history.Sink{
			Execution: func(e *history.Execution) error {
				r := history.Keep(e, job)
				if err := r.Check(); err != nil {
					i.refused(err.(history.Refusal))
					return c.Context().Err()
				}
				of := all[r.Job]
				if of == nil {
					of = &jobRead{Job: r.Job}
					all[r.Job] = of
				}
				of.Executions++
				if !r.Usable() {
					if i.made.Unusable.Count++; len(i.made.Unusable.First) < mostToldRefusals {
						i.made.Unusable.First = append(i.made.Unusable.First, history.Refusal{Where: r.Execution, Detail: r.Refused})
					}
					return c.Context().Err()
				}
				of.Usable++
				of.records = append(of.records, r)
				return c.Context().Err()
			},
			Refused: func(r history.Refusal) error { i.refused(r); return c.Context().Err() },
		})
		if err != nil {
			return err
		}
		made := i.report()
		answer := historiesRead{Jobs: []*jobRead{}, Unusable: made.Unusable, Refused: made.Refused}
		for _, of := range all {
			if of.Usable > 0 {
				merged, err := history.MergeRecords(of.records)
				var refusal history.Refusal
				if errors.As(err, &refusal) {
					of.Refused = &refusal
				} else {
					of.Merged = &merged
				}
			}
			answer.Jobs = append(answer.Jobs, of)
		}
		slices.SortFunc(answer.Jobs, func(a, b *jobRead) int { return cmp.Compare(a.Job, b.Job) })
		if err := out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return historiesText(w, answer) },
			"json":  shell.AsJSON(answer),
		}); err != nil {
			return err
		}
		if len(answer.Jobs) == 0 {
			return errors.New("no execution was found; what is wrong stands above")
		}
		return nil
	})
}

// historiesText is a row a job, and what is to be known besides.
func historiesText(w io.Writer, all historiesRead) error {
	t := tables.Table{Columns: []string{"Job", "Executions", "Usable", "Maps", "Mean s", "Max s", "Reduces", "Shuffle s", "Reduce s",
		"Stages", "Overhead s", "p50 s"}}
	var b bytes.Buffer
	for _, j := range all.Jobs {
		cells := []tables.Cell{{Text: shell.Shown(j.Job)}}
		add := func(format string, x any) {
			cells = append(cells, tables.Cell{Text: fmt.Sprintf(format, x), Number: true})
		}
		add("%d", j.Executions)
		add("%d", j.Usable)
		switch m := j.Merged; {
		case m == nil:
		case m.Profile.Stages != nil:
			add("%s", "")
			add("%s", "")
			add("%s", "")
			add("%s", "")
			add("%s", "")
			add("%s", "")
			add("%d", len(m.Profile.Stages))
			add("%.1f", m.Profile.OverheadSeconds)
		default:
			p := m.Profile
			add("%d", p.MapTasks)
			add("%.1f", p.MapAvgSeconds)
			add("%.1f", p.MapMaxSeconds)
			add("%d", p.ReduceTasks)
			add("%.1f", p.ShuffleAvgSeconds)
			add("%.1f", p.ReduceAvgSeconds)
			add("%s", "")
			add("%.1f", p.OverheadSeconds)
		}
		if j.Merged != nil {
			if seconds, known := j.Merged.Spread["seconds"]; known {
				add("%.1f", seconds.Median)
			}
			for _, warning := range j.Merged.Warnings {
				fmt.Fprintf(&b, "%s: %s\n", shell.Shown(j.Job), shell.Shown(warning))
			}
		}
		if j.Refused != nil {
			fmt.Fprintf(&b, "%s: %s\n", shell.Shown(j.Job), shell.Shown(j.Refused.Error()))
		}
		for len(cells) < len(t.Columns) {
			cells = append(cells, tables.Cell{Number: true})
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(t.Rows) > 0 {
		if err := t.Text(w); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		what string
		of   clusters.Refusals
	}{{"No profile is made of %s\n", all.Unusable}, {"Not taken: %s\n", all.Refused}} {
		for _, r := range part.of.First[:min(len(part.of.First), fewRefusals)] {
			r.Detail = history.Brief(r.Detail)
			fmt.Fprintf(&b, part.what, shell.Shown(r.Error()))
		}
		if more := part.of.Count - int64(min(len(part.of.First), fewRefusals)); more > 0 {
			fmt.Fprintf(&b, "… and %d more.\n", more)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
