package report

import (
	"io"
	"strconv"
	"strings"

	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report/reporting"
)

// Past lists the plans that were current, in a row for each hour and currency; hours without a plan have a row too.
func Past(p plans.Past) Table {
	t := Table{Columns: []string{"hour", "plans", "currency", "hours_with_plan", "vm_hours", "on_demand_vm_hours", "refused_job_hours", billColumn, valueColumn, togetherColumn, "observed_vms", "observations"}}
	for _, h := range p.Hours {
		numbers := make([]string, len(h.Plans))
		for i, n := range h.Plans {
			numbers[i] = strconv.FormatInt(n, 10)
		}
		found := text(strings.Join(numbers, " "))
		found.Number = len(numbers) == 1
		row := func(s plans.PastSpan) {
			t.Rows = append(t.Rows, append([]Cell{Time(h.Hour), found}, append(pastCells(s), optional(h.ObservedVMs), whole(h.Observations))...))
		}
		for _, s := range h.Spans {
			row(s)
		}
		if len(h.Spans) == 0 {
			row(plans.PastSpan{})
		}
	}
	return t
}

func pastCells(s plans.PastSpan) []Cell {
	if s.Currency == "" { // no plan held
		return []Cell{text(""), number(0), {"", true}, {"", true}, {"", true}, {"", true}, {"", true}, {"", true}}
	}
	return []Cell{text(s.Currency), number(s.Hours), number(s.VMHours), number(s.OnDemandHours), number(s.RefusedHours), amount(&s.VMCost), amount(&s.Penalties), amount(&s.TotalCost)}
}

// PastWorkbook writes the same as a spreadsheet: summary, hours, and the rules of counting.
func PastWorkbook(w io.Writer, cluster string, p plans.Past) error {
	var f, assumed figureSheet
	f.add("cluster", "", text(cluster), "")
	f.add("begin", "", Time(p.From), "UTC")
	f.add("end", "", Time(p.Until), "UTC")
	length, covered := p.Until.Sub(p.From).Hours(), 0.0
	f.add("length", "", number(length), "h")
	for i := range p.Total {
		s := &p.Total[i]
		covered += s.Hours
		f.add("with a plan", s.Currency, number(s.Hours), "h")
		f.add("VMs", s.Currency, number(s.VMHours), "VM h")
		f.add("VMs on demand", s.Currency, number(s.OnDemandHours), "VM h")
		f.add("refused jobs", s.Currency, number(s.RefusedHours), "job h")
		f.add("VM bill", s.Currency, amount(&s.VMCost), s.Currency)
		f.add("value of refused jobs, on no bill", s.Currency, amount(&s.Penalties), s.Currency)
		f.add("bill and value refused together", s.Currency, amount(&s.TotalCost), s.Currency)
	}
	f.add("without a plan that is on record", "", number(max(0, length-covered)), "h")
	if len(p.Total) == 0 {
		f.add("note", "", text("No plan held in this time, or none is on record: which plans held is kept for 100 days."), "")
	}
	for _, rule := range []string{
		"Bills are what the plans that held say, in the time that they held; invoices may differ.",
		"Refused jobs have a value, their penalties, which nobody invoices.",
		"Observed VMs are the mean of what was observed in an hour.",
		"Hours are those of UTC. Amounts are rounded once an hour, and add up.",
		"Spreadsheets keep 15 digits; the CSV and JSON forms have all of them.",
	} {
		assumed.add("rule", "", text(rule), "")
	}
	return Workbook(w, f.sheet("summary"), Sheet{"hours", Past(p)}, assumed.sheet("assumptions"))
}

// ReportSchedules returns a row for each schedule.
func ReportSchedules(items []reporting.ReportSchedule) Table {
	return tableOf(columns("name", "every", "hour", "covers", "format", "enabled", "keep", "next_at"), items, func(s reporting.ReportSchedule) []Cell {
		return append([]Cell{text(s.Name), text(string(s.Every)), whole(s.Hour), text(string(s.Covers)), text(string(s.Format)), {strconv.FormatBool(s.Enabled), true}, whole(s.Keep), MaybeTime(s.NextAt)}, stamp(s.Stamp)...)
	})
}

// Reports returns a row for each report.
func Reports(items []reporting.Report) Table {
	names := []string{"id", "schedule", "every", "covers", "format", "at", "from", "until", "state", "by", "created_at", "made_at", "file", "size", "sha256", "error"}
	return tableOf(names, items, func(r reporting.Report) []Cell {
		row := []Cell{text(r.ID), {}, text(string(r.Every)), text(string(r.Covers)), text(string(r.Format)), Time(r.At), Time(r.From), Time(r.Until), text(string(r.State)), text(r.By), Time(r.CreatedAt), MaybeTime(r.MadeAt), {}, {"", true}, {}, {}}
		if r.Schedule != nil {
			row[1] = text(*r.Schedule)
		}
		if r.File != nil {
			row[12], row[13], row[14] = text(r.File.Name), whole(r.File.Size), text(r.File.SHA256)
		}
		if r.Error != nil {
			row[15] = text(r.Error.Detail)
		}
		return row
	})
}
