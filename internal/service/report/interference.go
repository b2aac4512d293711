package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/headroom/internal/slots/sim"
)

// Interference returns a row for each policy, with stable names and all digits. A question without a core has a row
// for each reader.
func Interference(a sim.InterferenceAnswer) Table {
	if d := a.DataNodes; d != nil && len(a.Policies) == 0 {
		t := Table{Columns: []string{"reader", "read_mb_s", "normed", "mb_s", "saturated_at"}}
		for _, r := range d.Readers {
			most := Cell{"", true}
			if r.SaturatedAt != nil {
				most = Cell{strconv.FormatInt(*r.SaturatedAt, 10), true}
			}
			t.Rows = append(t.Rows, []Cell{text(r.Name), number(r.ReadMBPerSecond), number(r.Normed), number(r.MBPerSecond), most})
		}
		return t
	}
	t := Table{Columns: []string{"policy", "slice_ms", "window_ms", "floor_ms", "unstable", "mean_ms", "mean_half_width_ms", "theory_mean_ms", "p95_ms", "p95_half_width_ms", "theory_p95_ms",
		"p99_ms", "p99_half_width_ms", "theory_p99_ms", "batch_share", "theory_batch_share", "least_batch_share", "settings"}}
	for _, p := range a.Policies {
		unstable := ""
		if p.Unstable {
			unstable = "unstable"
		}
		given := func(x float64) Cell {
			if x == 0 {
				return Cell{"", true}
			}
			return number(x)
		}
		r := [6]Cell{}
		if x := p.Response; x != nil {
			for i, ms := range []float64{x.Mean, x.MeanHalfWidth, x.P95, x.P95HalfWidth, x.P99, x.P99HalfWidth} {
				r[i] = number(ms)
			}
		}
		var settings []string
		if p.Hints != nil {
			for _, s := range p.Hints.Settings {
				settings = append(settings, s.File+"="+s.Value)
			}
		}
		t.Rows = append(t.Rows, []Cell{text(string(p.Policy.Kind)), given(p.Policy.SliceMs), given(p.Policy.WindowMs), given(p.Policy.FloorMs), text(unstable),
			r[0], r[1], optional(p.Theory.MeanMs), r[2], r[3], optional(p.Theory.P95Ms), r[4], r[5], optional(p.Theory.P99Ms),
			number(p.BatchShare), number(p.Theory.BatchShare), number(p.Theory.MinBatchShare), text(strings.Join(settings, ", "))})
	}
	return t
}

// InterferenceText writes the results of policies for a terminal, and the settings of a host for them.
func InterferenceText(w io.Writer, a sim.InterferenceAnswer) error {
	var b strings.Builder
	if d := a.DataNodes; d != nil {
		if err := dataNodesText(&b, d); err != nil {
			return err
		}
		if len(a.Policies) == 0 {
			_, err := io.WriteString(w, b.String())
			return err
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "The requests need %s %% of the core.\n\n", rounded(100*a.Use, 2))
	t := Table{Columns: []string{"policy", "mean", "±", "in theory", "p95", "p99", "batch share"}}
	for _, p := range a.Policies {
		row := []Cell{text(policyText(p.Policy)), {"unstable", true}, {"", true}, {"", true}, {"", true}, {"", true}, {rounded(100*p.BatchShare, 2) + " %", true}}
		if r := p.Response; r != nil {
			row[1], row[2], row[4], row[5] = ms(r.Mean), ms(r.MeanHalfWidth), ms(r.P95), ms(r.P99)
		}
		if x := p.Theory.MeanMs; x != nil {
			row[3] = ms(*x)
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Text(&b); err != nil {
		return err
	}
	for _, p := range a.Policies {
		for _, warning := range p.Warnings {
			fmt.Fprintf(&b, "\nWarning: %s: %s\n", policyText(p.Policy), visible(warning.Detail, 0))
		}
	}
	for _, p := range a.Policies {
		if p.Hints == nil {
			continue
		}
		fmt.Fprintf(&b, "\nA host like %s:\n", policyText(p.Policy))
		for _, c := range p.Hints.Commands {
			b.WriteString("  " + visible(c, 0) + "\n")
		}
		for _, n := range p.Hints.Notes {
			b.WriteString("  " + visible(n, 0) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// dataNodesText writes the number of tasks that data nodes serve.
func dataNodesText(b *strings.Builder, d *sim.DataNodesAnswer) error {
	fmt.Fprintf(b, "Data nodes: %d, each of which serves %.4g MB/s at most.\n\n", d.Count, d.CapMBPerSecond)
	t := Table{Columns: []string{"tasks of", "read on a dedicated node", "take as long", "take from each data node", "at once at most"}}
	for _, r := range d.Readers {
		most := "any number"
		if r.SaturatedAt != nil {
			most = strconv.FormatInt(*r.SaturatedAt, 10)
		}
		t.Rows = append(t.Rows, []Cell{text(r.Name), {fmt.Sprintf("%.4g MB/s", r.ReadMBPerSecond), true}, {fmt.Sprintf("× %.4g", r.Normed), true}, {fmt.Sprintf("%.4g MB/s", r.MBPerSecond), true}, {most, true}})
	}
	if err := t.Text(b); err != nil {
		return err
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(b, "\nWarning: %s\n", visible(warning.Detail, 0))
	}
	return nil
}

func ms(x float64) Cell { return Cell{fmt.Sprintf("%.4g ms", x), true} }

func policyText(p sim.CorePolicy) string {
	switch p.Kind {
	case sim.Nonpreemptive, sim.FairOnCore:
		return fmt.Sprintf("%s, slices of %s ms", p.Kind, rounded(p.SliceMs, 3))
	case sim.AntiStarvation:
		return fmt.Sprintf("anti-starvation, %s ms in %s ms", rounded(p.FloorMs, 3), rounded(p.WindowMs, 3))
	default:
		return string(p.Kind)
	}
}
