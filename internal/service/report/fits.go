package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
)

// JobMeasurements returns a row for each measurement.
func JobMeasurements(items []perf.JobMeasurement) Table {
	names := []string{"id", "job", "kind", "at", "measured_by", "vms", "residual", "node_type", "seconds", "cpu_percent", "io_mb_s"}
	return tableOf(names, items, func(m perf.JobMeasurement) []Cell {
		kind := ""
		if m.NodeType != nil {
			kind = *m.NodeType
		}
		return []Cell{text(m.ID), text(m.Job), text(string(m.Kind)), Time(m.At), text(m.MeasuredBy), optional(m.VMs), optional(m.Residual), text(kind), optional(m.Seconds), optional(m.CPUPercent), optional(m.IOMBPerS)}
	})
}

// JobFits returns a row for each fit.
func JobFits(items []perf.JobFit) Table {
	names := []string{"job", "kind", "version", "made_at", "measurements", "first_at", "last_at", "fit", "warnings", "refused"}
	return tableOf(names, items, func(f perf.JobFit) []Cell {
		said, warnings := fitWords(f)
		codes := make([]string, len(warnings))
		for i, w := range warnings {
			codes[i] = w.Code
		}
		return []Cell{text(f.Job), text(string(f.Kind)), whole(f.Version), MaybeTime(f.MadeAt), whole(f.Measurements), MaybeTime(f.FirstAt), MaybeTime(f.LastAt),
			text(said), text(strings.Join(codes, " ")), text(f.Refused)}
	})
}

// FitsText writes fits for people, one a line.
func FitsText(w io.Writer, items []perf.JobFit) error {
	return tableOf([]string{"Job", "Kind", "Version", "Of", "Fit"}, items, func(f perf.JobFit) []Cell {
		said, warnings := fitWords(f)
		if said == "" {
			said = "none: " + f.Refused
		}
		if len(warnings) > 0 {
			said += fmt.Sprintf(" (%s)", several(int64(len(warnings)), "warning"))
		}
		return []Cell{text(f.Job), text(string(f.Kind)), whole(f.Version), whole(f.Measurements), text(said)}
	}).Text(w)
}

// fitWords describes a fit on one line, and returns its doubts as warnings.
func fitWords(f perf.JobFit) (string, []capacity.Warning) {
	switch {
	case f.Power != nil:
		return fmt.Sprintf("%.6g·n^%.4g s on n VMs, measured on %g to %g, R² %.4f", f.Power.A, f.Power.B, f.Power.MinVMs, f.Power.MaxVMs, f.Power.R2), f.Power.Warnings
	case f.TaskTime != nil:
		t := f.TaskTime
		words := exponential(t.A, t.B)
		if t.C != 0 {
			words += " + " + exponential(t.C, t.D)
		}
		return fmt.Sprintf("%s s with r of a node, measured from %.3g to %.3g, RMSE %.4g s", words, t.MinResidual, t.MaxResidual, t.RMSESeconds), t.Warnings
	case f.Rate != nil:
		rates := make([]string, len(f.Rate.Types))
		for i, t := range f.Rate.Types {
			rates[i] = fmt.Sprintf("%s %.4g (%s of %.4g s)", t.Type, t.Rate, several(t.Tasks, "task"), t.MeanSeconds)
		}
		return strings.Join(rates, ", "), f.Rate.Warnings
	case f.Usage != nil:
		u := f.Usage
		return fmt.Sprintf("%.4g %% of processors, %.4g MB/s on %s: %s", u.CPUPercent, u.IOMBPerS, several(u.ProfiledAtVM, "VM"), u.Role), u.Warnings
	}
	return "", nil
}

// exponential formats a·e^(b·r).
func exponential(a, b float64) string {
	if b == 0 {
		return fmt.Sprintf("%.6g", a)
	}
	return fmt.Sprintf("%.6g·e^(%.4g·r)", a, b)
}

func several(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// FitText writes a fit for people.
func FitText(w io.Writer, f perf.JobFit) error {
	said, warnings := fitWords(f)
	var b strings.Builder
	switch {
	case f.Version > 0:
		fmt.Fprintf(&b, "Version %d of the fit of %q (%s), of %s:\n  %s.\n", f.Version, f.Job, f.Kind, several(f.Measurements, "measurement"), said)
	default:
		fmt.Fprintf(&b, "A fit of %q (%s), of %s:\n  %s.\n", f.Job, f.Kind, several(f.Measurements, "measurement"), said)
	}
	if p := f.Predicted; p != nil {
		fmt.Fprintf(&b, "On %s it takes %.4g s", words.VMs(p.VMs), p.Seconds)
		if p.Interval != nil {
			fmt.Fprintf(&b, ", in 95 of 100 cases %.4g to %.4g s", p.Interval.Low, p.Interval.High)
		}
		b.WriteString(".\n")
		warnings = append(warnings, p.Warnings...)
	}
	if p := f.PredictedAt; p != nil {
		fmt.Fprintf(&b, "With %g of a node a task takes %.4g s, %.3g times as long as on a dedicated one.\n", p.Residual, p.Seconds, p.Normed)
		warnings = append(warnings, p.Warnings...)
	}
	if f.Refused != "" {
		fmt.Fprintf(&b, "The measurements of today cannot be fitted: %s\n", f.Refused)
	}
	for _, w := range warnings {
		fmt.Fprintf(&b, "Warning: %s\n", w.Detail)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// packingSources writes the data to which the times of a batch of classes were fitted.
func packingSources(w io.Writer, all []pack.PackingSource) error {
	var b strings.Builder
	for _, s := range all {
		sizes := make([]string, len(s.VMs))
		for i, n := range s.VMs {
			sizes[i] = fmt.Sprintf("%g", n)
		}
		fmt.Fprintf(&b, "%s: fitted to %s and %s on %s VMs", s.Class, several(s.Measurements, "measurement"), several(s.Executions, "past execution"), strings.Join(sizes, ", "))
		if s.Unsized > 0 {
			fmt.Fprintf(&b, "; %s of an unknown number of VMs left out", several(s.Unsized, "execution"))
		}
		if !s.Usage {
			b.WriteString("; what it uses is not known, so that it is neither host nor guest")
		}
		b.WriteString(".\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
