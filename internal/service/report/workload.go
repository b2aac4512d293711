package report

import (
	"fmt"
	"io"

	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/slots/sim"
)

// Workload returns a row for each class, with all digits, or the rows of the compared policies.
func Workload(r sim.Report) Table {
	if r.Compared != nil {
		return compared(r.Compared)
	}
	return workloadClasses(r)
}

func workloadClasses(r sim.Report) Table {
	columns := []string{"class", "submitted", "rejected", "ended", "unfinished", "counted", "missed", "met", "met_half_width",
		"mean_s", "mean_half_width_s", "p50_s", "p90_s", "p95_s", "p99_s", "max_s", "wait_mean_s", "map_slots_held", "reduce_slots_held",
		"task_s", "last_end_s", "share", "below_part"}
	none := Cell{"", true}
	count := func(n int64) Cell { return number(float64(n)) }
	return tableOf(columns, r.Classes, func(c sim.ClassReport) []Cell {
		rejected := int64(0)
		if c.OnNodes != nil {
			rejected = c.OnNodes.Rejected
		}
		row := []Cell{text(c.Name), count(c.Submitted), count(rejected), count(c.Ended), count(c.Unfinished), count(c.Counted)}
		if d := c.Deadline; d != nil {
			row = append(row, count(d.Missed), number(d.Met.Mean), optional(d.Met.HalfWidth))
		} else {
			row = append(row, none, none, none)
		}
		if t := c.Response; t != nil {
			row = append(row, number(t.Mean), optional(t.HalfWidth), number(t.P50), number(t.P90), number(t.P95), number(t.P99), number(t.Max), number(c.Wait.Mean))
		} else {
			row = append(row, none, none, none, none, none, none, none, none)
		}
		row = append(row, number(c.Slots.Map.Mean), number(c.Slots.Reduce.Mean))
		if n := c.OnNodes; n != nil {
			return append(row, number(n.TaskSeconds.Mean), number(n.LastEnd.Mean), number(n.Share.Mean), number(n.BelowPart.Mean))
		}
		return append(row, none, none, none, none)
	})
}

// WorkloadWorkbook writes a simulation of a workload as a spreadsheet.
func WorkloadWorkbook(w io.Writer, r sim.Report) error {
	sheets := []Sheet{{"classes", workloadClasses(r)}}
	if r.Nodes != nil {
		sheets = append(sheets, Sheet{"nodes", nodeTypes(*r.Nodes)})
	}
	if r.Compared != nil {
		sheets = append(sheets, Sheet{"policies", compared(r.Compared)})
	}
	return Workbook(w, sheets...)
}

func nodeTypes(n sim.NodesReport) Table {
	columns := []string{"type", "nodes", "slots", "use", "tasks", "residual"}
	return tableOf(columns, n.Types, func(t sim.NodeTypeReport) []Cell {
		return []Cell{text(t.Type), number(float64(t.Nodes)), number(float64(t.Slots)), number(t.Use.Mean), number(t.Tasks.Mean), number(t.Residual.Mean)}
	})
}

// WorkloadText writes a simulation of a workload for a terminal.
func WorkloadText(w io.Writer, r sim.Report) error {
	if err := workloadSummary(r).Text(w); err != nil {
		return err
	}
	if n := r.Nodes; n != nil {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := tableOf([]string{"type", "nodes", "slots", "used", "tasks", "left to tasks"}, n.Types, func(t sim.NodeTypeReport) []Cell {
			return []Cell{text(t.Type), number(float64(t.Nodes)), number(float64(t.Slots)), {words.Percent(t.Use.Mean), true}, figure(t.Tasks.Mean, 1, ""), {words.Percent(t.Residual.Mean), true}}
		}).Text(w); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "\nProgress shares come to %s on average, and to less than 1 in %s of the time with jobs.\n", rounded(n.ShareSum.Mean, 3), words.Percent(n.BelowOne.Mean)); err != nil {
			return err
		}
		if d := n.DataNodes; d != nil {
			if _, err := fmt.Fprintf(w, "Tasks read %s MB/s from each data node, %s at most; more than the cap in %s of the time.\n",
				rounded(d.MBPerSecond.Mean, 2), rounded(d.Most, 2), words.Percent(d.OverCap.Mean)); err != nil {
				return err
			}
		}
	} else {
		for _, p := range r.Pools {
			if _, err := fmt.Fprintf(w, "\n%s slots: %d, %s used.", p.Pool, p.Slots, words.Percent(p.Use.Mean)); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	if err := comparedText(w, r.Compared); err != nil {
		return err
	}
	sure := ""
	if r.Replications == 1 {
		sure = " One replication does not say how sure the figures are; ask for more (--replications 5)."
	}
	_, err := fmt.Fprintf(w, "\n%s, %s simulated hours in all, seed %d.%s\n", count(float64(r.Replications), "replication", "replications"), rounded(r.SimulatedS/3600, 2), r.Seed, sure)
	return err
}

func workloadSummary(r sim.Report) Table {
	return tableOf([]string{"class", "submitted", "ended", "rejected", "missed", "met", "mean", "p95", "task hours", "last end", "share"}, r.Classes, func(c sim.ClassReport) []Cell {
		none := Cell{"", true}
		row := []Cell{text(c.Name), number(float64(c.Submitted)), number(float64(c.Ended))}
		if c.OnNodes != nil {
			row = append(row, number(float64(c.OnNodes.Rejected)))
		} else {
			row = append(row, none)
		}
		if d := c.Deadline; d != nil {
			row = append(row, number(float64(d.Missed)), Cell{metShare(d.Met), true})
		} else {
			row = append(row, none, none)
		}
		if t := c.Response; t != nil {
			row = append(row, Cell{rounded(t.Mean, 1) + " s" + plusMinus(t.HalfWidth, 1), true}, figure(t.P95, 1, "s"))
		} else {
			row = append(row, none, none)
		}
		if n := c.OnNodes; n != nil {
			return append(row, figure(n.TaskSeconds.Mean/3600, 2, ""), figure(n.LastEnd.Mean, 1, "s"), figure(n.Share.Mean, 3, ""))
		}
		return append(row, none, none, none)
	})
}
