package report

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans"
)

// Tables of stored things, a row for each, with the names and the order of its JSON.

// Text returns a cell of text, which no spreadsheet takes for a formula.
func Text(s string) Cell { return text(s) }

// Time returns a moment in the form of RFC 3339.
func Time(t time.Time) Cell { return Cell{t.UTC().Format(time.RFC3339Nano), true} }

// MaybeTime returns an empty cell for nil.
func MaybeTime(t *time.Time) Cell {
	if t == nil {
		return Cell{"", true}
	}
	return Time(*t)
}

// Names joins several names in one cell.
func Names(names []string) Cell { return text(strings.Join(names, " ")) }

func whole(n int64) Cell { return Cell{strconv.FormatInt(n, 10), true} }

func maybeWhole(n *int64) Cell {
	if n == nil {
		return Cell{"", true}
	}
	return whole(*n)
}

func flag(b bool) Cell { return Cell{strconv.FormatBool(b), true} }

// stampColumns are the last columns of things with versions.
var stampColumns = []string{"version", "created_at", "updated_at"}

func stamp(s capacity.Stamp) []Cell {
	return []Cell{whole(s.Version), Time(s.CreatedAt), Time(s.UpdatedAt)}
}

// tableOf returns a table with a row for each item.
func tableOf[T any](columns []string, items []T, row func(T) []Cell) Table {
	t := Table{Columns: columns, Rows: make([][]Cell, len(items))}
	for i, item := range items {
		t.Rows[i] = row(item)
	}
	return t
}

func columns(names ...string) []string { return append(names, stampColumns...) }

// Clusters returns a row for each cluster.
func Clusters(items []inputs.Cluster) Table {
	names := columns("name", "description", "currency", "period_s", "time_zone",
		"integrality", "bound", "engine", "gap", "max_solve_ms", "one_slot_per_job", "sharing", "hold_s", "inputs_version", "budget_vm_cost", "budget_total")
	return tableOf(names, items, func(c inputs.Cluster) []Cell {
		o := c.Options
		var budget capacity.Budget
		if c.Budget != nil {
			budget = *c.Budget
		}
		return append([]Cell{
			text(c.Name), text(c.Description), text(c.Currency), whole(c.PeriodSeconds), text(c.TimeZone),
			text(string(o.Integrality)), text(string(o.Bound)), text(string(o.Engine)), number(o.Gap), whole(o.MaxSolveMs),
			flag(o.OneSlotPerJob), text(string(o.Sharing)), whole(c.HoldSeconds), whole(c.InputsVersion), amount(budget.VMCost), amount(budget.Total),
		}, stamp(c.Stamp)...)
	})
}

// VMTypes returns a row for each VM type.
func VMTypes(items []inputs.VMType) Table {
	return tableOf(columns("name", "description", "quota", "in_use", "spot_max_share", "start_price", "start_lead_s", "vcpu", "memory_gib", "gpus"), items, func(v inputs.VMType) []Cell {
		var share *float64
		if v.Spot != nil {
			share = &v.Spot.MaxShare
		}
		return append([]Cell{text(v.Name), text(v.Description), maybeWhole(v.Quota), flag(v.InUse), optional(share), amount(v.StartPrice), maybeWhole(v.StartLeadSeconds), optional(v.VCPU), optional(v.MemoryGiB), maybeWhole(v.GPUs)}, stamp(v.Stamp)...)
	})
}

// Prices returns a row for each price period.
func Prices(items []inputs.PricePeriod) Table {
	return tableOf(columns("id", "vm_type", "price", "from", "until", "purchase"), items, func(p inputs.PricePeriod) []Cell {
		return append([]Cell{text(p.ID), text(p.VMType), amount(&p.Price), Time(p.From), MaybeTime(p.Until), text(string(p.Purchase))}, stamp(p.Stamp)...)
	})
}

// Contracts returns a row for each contract.
func Contracts(items []inputs.SignedContract) Table {
	return tableOf(columns("name", "vm_type", "vms", "price", "billing", "upfront", "from", "until"), items, func(s inputs.SignedContract) []Cell {
		return append([]Cell{
			text(s.Name), text(s.VMType), whole(s.VMs), amount(&s.Price), text(string(s.Billing)), amount(&s.Upfront), Time(s.From), Time(s.Until),
		}, stamp(s.Stamp)...)
	})
}

// Offers returns a row for each offer.
func Offers(items []inputs.StandingOffer) Table {
	return tableOf(columns("name", "vm_type", "price", "upfront", "billing", "term_hours", "term_years", "max", "note"), items, func(o inputs.StandingOffer) []Cell {
		term := func(n int64) Cell {
			if n == 0 {
				return Cell{}
			}
			return whole(n)
		}
		return append([]Cell{
			text(o.Name), text(o.VMType), amount(&o.Price), amount(&o.Upfront), text(string(o.Billing)), term(o.TermHours), term(o.TermYears), whole(o.Max), text(o.Note),
		}, stamp(o.Stamp)...)
	})
}

// Profiles returns a row for each profile version.
func Profiles(items []inputs.ProfileVersion) Table {
	names := []string{"name", "version", "note", "map_tasks", "reduce_tasks", "map_avg_s", "map_max_s", "first_shuffle_avg_s", "first_shuffle_max_s",
		"shuffle_avg_s", "shuffle_max_s", "reduce_avg_s", "reduce_max_s", "overhead_s", "stages", "stage_tasks", "stage_work_s", "created_at"}
	return tableOf(names, items, func(v inputs.ProfileVersion) []Cell {
		p := v.Profile
		of := [13]Cell{ // figures of maps and reduces, or of all stages together
			whole(p.MapTasks), whole(p.ReduceTasks), number(p.MapAvgSeconds), number(p.MapMaxSeconds),
			number(p.FirstShuffleAvgSeconds), number(p.FirstShuffleMaxSeconds), number(p.ShuffleAvgSeconds), number(p.ShuffleMaxSeconds),
			number(p.ReduceAvgSeconds), number(p.ReduceMaxSeconds), {"", true}, {"", true}, {"", true},
		}
		if p.Stages != nil {
			tasks, work := int64(0), 0.0
			for _, s := range p.Stages {
				tasks, work = tasks+s.Tasks, work+float64(s.Tasks)*s.AvgSeconds
			}
			for i := range of[:10] {
				of[i] = Cell{"", true}
			}
			of[10], of[11], of[12] = whole(int64(len(p.Stages))), whole(tasks), number(work)
		}
		row := append([]Cell{text(v.Name), whole(v.Version), text(v.Note)}, of[:10]...)
		return append(append(append(row, number(p.OverheadSeconds)), of[10:]...), Time(v.CreatedAt))
	})
}

// PlannedClasses returns a row for each stored class.
func PlannedClasses(items []inputs.PlannedClass) Table {
	names := columns("name", "profile", "profile_version", "map_work_s", "reduce_work_s", "fixed_s", "vms_per_job", "deadline_s",
		"slots_map", "slots_reduce", "jobs_min", "jobs_max", "penalty", "slots_by_type", "speed", "calibration_bound", "calibration_factor", "due_s", "target", "confidence", "promise_factor", "jobs_all", "due")
	none := Cell{"", true}
	return tableOf(names, items, func(c inputs.PlannedClass) []Cell {
		row := []Cell{text(c.Name), text(""), none, none, none, none, none, none, none, none, number(c.Jobs.Min), number(c.Jobs.Max), amount(&c.Penalty), text(byType(c.SlotsPerVM.ByType)), text(byType(c.Speed)), text(""), none, none, none, none, none, flag(c.Jobs.All), text(c.Due)}
		if k := c.Calibration; k != nil {
			row[15], row[16] = text(string(k.Bound)), number(k.Factor)
		}
		if c.DueSeconds > 0 {
			row[17] = number(c.DueSeconds)
		}
		if c.Target > 0 {
			row[18] = number(c.Target)
		}
		if c.Confidence > 0 {
			row[19] = number(c.Confidence)
		}
		if c.Promise != nil {
			row[20] = number(c.Promise.Factor)
		}
		if c.Profile != nil {
			row[1], row[2] = text(c.Profile.Name), whole(c.Profile.Version)
		}
		if d := c.Demand; d != nil {
			row[3], row[4], row[5] = number(d.MapWorkSeconds), number(d.ReduceWorkSeconds), number(d.FixedSeconds)
		}
		if c.VMsPerJob != nil {
			row[6] = Cell{c.VMsPerJob.String(), true}
		}
		if c.DeadlineSeconds > 0 {
			row[7] = number(c.DeadlineSeconds)
		}
		if s := c.SlotsPerVM; !s.IsZero() && s.ByType == nil {
			row[8], row[9] = whole(c.SlotsPerVM.Map), whole(c.SlotsPerVM.Reduce)
		}
		return append(row, stamp(c.Stamp)...)
	})
}

// byType returns the settings by VM type as JSON, or nothing if there are none.
func byType[T any](said map[string]T) string {
	if len(said) == 0 {
		return ""
	}
	t, _ := json.Marshal(said) // numbers that were read can be written
	return string(t)
}

// Forecasts returns a row for each class and hour.
func Forecasts(items []inputs.Forecast) Table {
	return tableOf([]string{"class", "hour", "jobs", "arrivals_per_hour"}, items, func(f inputs.Forecast) []Cell {
		if f.Arrivals != nil {
			return []Cell{text(f.Class), Time(f.Hour), {"", true}, number(*f.Arrivals)}
		}
		return []Cell{text(f.Class), Time(f.Hour), number(f.Jobs), {"", true}}
	})
}

// ForecastHours returns a row for each hour, with a column for each class.
func ForecastHours(classes []string, rows ...[]Cell) Table {
	return Table{Columns: append([]string{"hour"}, classes...), Rows: rows}
}

// ForecastHour returns such a row; a class without jobs has an empty cell.
func ForecastHour(hour time.Time, jobs []*float64) []Cell {
	row := append(make([]Cell, 0, 1+len(jobs)), Time(hour))
	for _, x := range jobs {
		row = append(row, optional(x))
	}
	return row
}

// Weekdays returns a week as a table with a row for each day, which inputs.ParseWeek can read.
func Weekdays(w inputs.WeekDays, places int) Table {
	t := Table{Columns: []string{"day"}}
	for hour := range 24 {
		t.Columns = append(t.Columns, strconv.Itoa(hour))
	}
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	for i, day := range [][]*float64{w.Mon, w.Tue, w.Wed, w.Thu, w.Fri, w.Sat, w.Sun} {
		row := []Cell{text(names[i])}
		for _, x := range day {
			if x != nil && places >= 0 {
				row = append(row, figure(*x, places, ""))
			} else {
				row = append(row, optional(x))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// PlansInForce returns a row for each time in which a plan was in force: since when, until when, and the plan.
func PlansInForce(items []plans.PlanSummary) Table {
	t := Plans(items)
	t.Columns = append([]string{"since", "until"}, t.Columns...)
	for i, p := range items {
		t.Rows[i] = append([]Cell{MaybeTime(p.Since), MaybeTime(p.Until)}, t.Rows[i]...)
	}
	return t
}

// Plans returns a row for each plan.
func Plans(items []plans.PlanSummary) Table {
	names := []string{"id", "number", "cluster", "at", "created_at", "created_by", "inputs_version", "status", "objective", billColumn, "on_demand_cost",
		"reserved_cost", valueColumn, togetherColumn, "currency", "period_s", "vms", "vms_on_demand", "vms_reserved", "admitted", "refused", "gap", "spot_cost", "vms_spot", "why"}
	return tableOf(names, items, func(p plans.PlanSummary) []Cell {
		bill := less(p.TotalCost, p.Penalties)
		return []Cell{
			text(p.ID), whole(p.Number), text(p.Cluster), Time(p.At), Time(p.CreatedAt), text(p.CreatedBy), whole(p.InputsVersion), text(string(p.Status)),
			amount(&p.Objective), amount(&bill), amount(&p.OnDemandCost), amount(&p.ReservedCost), amount(&p.Penalties), amount(&p.TotalCost), text(p.Currency), whole(p.PeriodSeconds),
			number(p.VMs), number(p.VMsOnDemand), number(p.VMsReserved), number(p.Admitted), number(p.Refused), number(p.Gap), amount(&p.SpotCost), number(p.VMsSpot), text(p.Why),
		}
	})
}
