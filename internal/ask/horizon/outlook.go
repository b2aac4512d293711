package horizon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/data/inputs"
)

// Outlook holds a cluster's inputs over some whole hours, read in one transaction.
type Outlook struct {
	inputs.Snapshot // with the prices and contracts that touch the hours; without forecasts and a previous plan
	From, Until     time.Time
	Series          []ForecastSeries // of the hours
	Assume          Assumption       // the demand after the forecasts, with whose last hour the outlook then ends
	AssumeUntil     time.Time
	Scenario        whatif.AskedScenario // laid over the horizon; with the changes of a saved one
	Waiting         bool                 // classes say how long their jobs may wait
}

// ForecastSeries holds a class's forecasts of a kind, by hour.
type ForecastSeries struct {
	Class   string
	Arrives bool    // Jobs arrive in the hours, which also come before the outlook; otherwise they run at once
	Hours   []int64 // since 1970, ascending
	Jobs    []float64
}

// Limits of the warnings about an outlook.
const (
	gapsShown     = 10
	holesReported = 10
)

// EndWithForecasts ends the outlook with the last hour that has a forecast, if that is earlier. An hour without one
// counts with its classes' own jobs.max, which tells little about next year. Without any forecast nothing changes.
func (o *Outlook) EndWithForecasts() {
	if end := o.forecastEnd(); end.After(o.From) && end.Before(o.Until) {
		o.Until = end
	}
}

// forecastEnd is the end of the last hour that has a forecast; without any it lies in 1970.
func (o *Outlook) forecastEnd() time.Time {
	last := int64(-1)
	for _, s := range o.Series {
		if n := len(s.Hours); n > 0 {
			last = max(last, s.Hours[n-1])
		}
	}
	return time.Unix(3600*(last+1), 0).UTC()
}

// addWindows lets jobs of the classes of a problem wait as long as they may.
func (o *Outlook) addWindows(p *capacity.Problem) {
	for k := range p.Classes {
		of := slices.IndexFunc(o.Classes, func(c inputs.PlannedClass) bool { return c.Name == p.Classes[k].Name })
		p.Classes[k].Due, p.Classes[k].DueSeconds = o.Classes[of].Due, o.Classes[of].DueSeconds
	}
}

// SayWhatFollows ends a sentence about a time that is longer than the forecasts.
const SayWhatFollows = `say what follows the forecasts ("assume": "last_week_repeats", for instance), or give longer ones.`

// Horizon returns the cluster's problem in every hour of the outlook. Adjacent hours with the same demand and prices
// are one period; contracts keep their terms. Forecasts are rounded up to whole jobs unless the cluster is planned
// relaxed. An hour without one counts with the class's own jobs.max, with a warning. A moment without a price is an
// *InputError that names the gap.
func (o Outlook) Horizon() (Horizon, []capacity.Warning, error) {
	used := slices.DeleteFunc(slices.Clone(o.VMTypes), func(v inputs.VMType) bool { return !v.InUse })
	lists := o.priceLists(used)
	if err := o.priceGaps(lists, maxTime(o.Until, o.AssumeUntil)); err != nil {
		return Horizon{}, nil, err
	}
	base := o.Snapshot
	base.Contracts, base.Forecasts, base.Previous = nil, nil, nil
	p, err := base.Problem(o.From)
	if err != nil {
		return Horizon{}, nil, err
	}
	if o.Waiting {
		o.addWindows(&p)
	}
	h := Horizon{Problem: p}
	typed := len(p.Supply.VMTypes) > 0
	for _, c := range o.Contracts {
		if !slices.ContainsFunc(used, func(v inputs.VMType) bool { return v.Name == c.VMType }) {
			continue
		}
		t := TermContract{Contract: capacity.Contract{Name: c.Name, VMs: c.VMs, Price: c.Price, Billing: c.Billing},
			Upfront: c.Upfront, From: c.From.UTC().Truncate(time.Second), Until: c.Until.UTC().Truncate(time.Second)}
		if typed {
			t.VMType = c.VMType
		}
		h.Contracts = append(h.Contracts, t)
	}
	demand := newDemandReader(&o, &p)
	h.Earlier = demand.earlier(o.From)
	if err := o.addPeriods(&h, lists, demand, typed); err != nil {
		return Horizon{}, nil, err
	}
	warnings := append(demand.warnings(&o, &p), demand.spread(&p)...)
	warnings = append(warnings, o.waiting()...)
	if o.Assume != "" && o.Until.Before(o.AssumeUntil) {
		if h, err = o.assumed(h, lists, typed); err != nil {
			return Horizon{}, nil, err
		}
		warnings = append(warnings, o.tellAssumed())
	}
	if h, err = h.Under(o.Scenario.Scenario(), o.Waiting); o.Scenario.Saved != "" {
		warnings = append(warnings, capacity.Warning{Code: "under_scenario", Detail: fmt.Sprintf("All figures hold under the saved scenario %q.", fault.Clip(o.Scenario.Saved))})
	}
	return h, warnings, o.Scenario.Place(err)
}

// priceCuts returns the moments at which prices change, in their order.
func priceCuts(lists []priceList) (cuts []time.Time) {
	for i := range lists {
		for _, p := range lists[i].periods {
			cuts = append(cuts, p.from)
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	return cuts
}

// addPeriods walks through the hours, cut where a price changes.
func (o *Outlook) addPeriods(h *Horizon, lists []priceList, demand *demandReader, typed bool) error {
	cuts := priceCuts(lists)
	var last HorizonPeriod // but for its length, and with the arrivals of an hour
	seconds := int64(0)
	flush := func() {
		if seconds > 0 {
			last.SetLength(seconds)
			last.Arrivals = times(last.Arrivals, float64(seconds)/3600)
			h.Periods = append(h.Periods, last)
		}
	}
	for at := o.From; at.Before(o.Until); {
		end := at.Truncate(time.Hour).Add(time.Hour)
		for len(cuts) > 0 && !cuts[0].After(at) {
			cuts = cuts[1:]
		}
		if len(cuts) > 0 && cuts[0].Before(end) {
			end = cuts[0]
		}
		next := HorizonPeriod{Start: at}
		next.Jobs, next.Arrivals = demand.at(at.Unix() / 3600)
		next.Unforecast = demand.missing
		setPrices(&next, lists, at, typed)
		if seconds == 0 || !slices.Equal(next.Jobs, last.Jobs) || (next.Jobs == nil) != (last.Jobs == nil) || !slices.Equal(next.Arrivals, last.Arrivals) ||
			next.Unforecast != last.Unforecast || next.PriceKey() != last.PriceKey() {
			flush()
			last, seconds = next, 0
			if n := len(h.Periods) + 1; n > MaxPeriods || n*len(h.Problem.Classes) > MaxHorizonLoad {
				return o.tooLong(n-1, at, len(h.Problem.Classes))
			}
			last.Jobs, last.Arrivals = slices.Clone(last.Jobs), slices.Clone(last.Arrivals)
		}
		seconds += end.Unix() - at.Unix()
		at = end
	}
	flush()
	return nil
}

func (o *Outlook) tooLong(periods int, at time.Time, classes int) error {
	end := at.UTC().Truncate(time.Hour).Format(time.RFC3339)
	return &fault.InputError{Findings: []fault.Finding{{Pointer: "/until", Code: "too_many",
		Detail: fmt.Sprintf("Until %s alone there are %d periods of %d classes; a horizon has %d periods at most, and %d of periods times classes.", end, periods, classes, MaxPeriods, MaxHorizonLoad),
		Hint:   &fault.Hint{Detail: fmt.Sprintf("Ask until %s, and then for what follows.", end), Pointer: "/until", Value: end}}}}
}

// demandReader returns the jobs hour by hour.
type demandReader struct {
	own      []float64       // by class of the problem
	series   []hourlyNumbers // of jobs that run at once,
	arriving []hourlyNumbers // and of arrivals
	row      []float64
	arrivals []float64 // nil where nothing arrives at all
	whole    bool

	first []int64 // of each class the first hour without a forecast, if it has any; otherwise -1
	holes []int64
	hours int64
	last  int64

	missing bool // whether some class with jobs has no forecast in the hour that was looked at last
}

func newDemandReader(o *Outlook, p *capacity.Problem) *demandReader {
	n := len(p.Classes)
	d := &demandReader{own: make([]float64, n), series: make([]hourlyNumbers, n), arriving: make([]hourlyNumbers, n), row: make([]float64, n),
		first: make([]int64, n), holes: make([]int64, n), whole: p.Options.Integrality != capacity.Relaxed}
	for i := range p.Classes {
		d.own[i], d.first[i] = p.Classes[i].Jobs.Max, -1
		for k := range o.Series {
			switch s := &o.Series[k]; {
			case s.Class != p.Classes[i].Name || len(s.Hours) == 0:
			case s.Arrives:
				d.arriving[i].of, d.arrivals = s, make([]float64, n)
			default:
				d.series[i].of = s
			}
		}
	}
	return d
}

// hourlyNumbers reads a series, which may be nil, hour by hour.
type hourlyNumbers struct {
	of   *ForecastSeries
	next int
}

// at returns the number of an hour, if there is one. Hours are asked for in their order.
func (n *hourlyNumbers) at(hour int64) (x float64, told bool) {
	if n.of == nil {
		return 0, false
	}
	for n.next < len(n.of.Hours) && n.of.Hours[n.next] < hour {
		n.next++
	}
	if n.next == len(n.of.Hours) || n.of.Hours[n.next] != hour {
		return 0, false
	}
	return n.of.Jobs[n.next], true
}

// earlier returns the arrivals before a moment, hour by hour.
func (d *demandReader) earlier(from time.Time) (periods []HorizonPeriod) {
	first := from.Unix() / 3600
	oldest := first
	for i := range d.arriving {
		if s := d.arriving[i].of; s != nil {
			oldest = min(oldest, s.Hours[0])
		}
	}
	for hour := oldest; hour < first; hour++ {
		p, arrives := HorizonPeriod{Start: time.Unix(3600*hour, 0).UTC(), Hours: 1, Arrivals: make([]float64, len(d.own))}, false
		for i := range d.arriving {
			if x, _ := d.arriving[i].at(hour); x > 0 {
				p.Arrivals[i], arrives = x, true
			}
		}
		if arrives {
			periods = append(periods, p)
		}
	}
	return periods
}

// at returns the jobs that run at once in an hour, and the arrivals, or nil without a forecast. It reuses two slices.
func (d *demandReader) at(hour int64) (jobs, arrivals []float64) {
	any := false
	d.missing = false
	again := d.hours > 0 && hour == d.last // a price changes within the hour
	if d.last = hour; !again {
		d.hours++
	}
	for i := range d.series {
		d.row[i] = d.own[i]
		if d.arrivals != nil {
			d.arrivals[i] = 0
		}
		if d.series[i].of == nil && d.arriving[i].of == nil {
			d.missing = d.missing || d.own[i] > 0
			continue
		}
		if x, told := d.arriving[i].at(hour); told {
			d.row[i], d.arrivals[i], any = 0, x, true
			continue
		}
		jobs, told := d.series[i].at(hour)
		if !told {
			d.missing = d.missing || d.own[i] > 0
			if d.first[i] < 0 {
				d.first[i] = hour
			}
			if !again {
				d.holes[i]++
			}
			continue
		}
		any = true
		if d.row[i] = jobs; d.whole {
			d.row[i] = capacity.WholeJobs(jobs)
		}
	}
	if !any {
		return nil, nil
	}
	return d.row, d.arrivals
}

// warnings lists the gaps of the forecasts.
func (d *demandReader) warnings(o *Outlook, p *capacity.Problem) []capacity.Warning {
	warnings := []capacity.Warning{}
	var without []string
	holes := 0
	for i := range d.series {
		switch {
		case d.series[i].of == nil && d.arriving[i].of == nil:
			without = append(without, fmt.Sprintf("%q", fault.Clip(p.Classes[i].Name)))
		case d.holes[i] > 0:
			if holes++; holes <= holesReported {
				warnings = append(warnings, capacity.Warning{Code: "forecast_holes", Pointer: fmt.Sprintf("/classes/%d", i), Detail: fmt.Sprintf(
					"The class %q has no forecast in %d of %s, the first of them %s; there it counts with the most jobs it may have at once, %s.",
					fault.Clip(p.Classes[i].Name), d.holes[i], fault.Plural(int64(d.hours), "hour"), time.Unix(3600*d.first[i], 0).UTC().Format(time.RFC3339), fault.Plain(d.own[i]))})
			}
		}
	}
	if holes > holesReported {
		warnings = append(warnings, capacity.Warning{Code: "forecast_holes", Detail: fmt.Sprintf("Further classes without a forecast in some hours: %d.", holes-holesReported)})
	}
	if end := o.forecastEnd(); holes > 0 && end.After(o.From) && end.Before(o.Until) {
		warnings = append(warnings, capacity.Warning{Code: "forecasts_end", Pointer: "/assume", Detail: fmt.Sprintf(
			"The forecasts end at %s, before the horizon does: %s", end.Format(time.RFC3339), SayWhatFollows)})
	}
	if len(without) > 0 {
		warnings = append(warnings, capacity.Warning{Code: "no_forecast", Detail: fmt.Sprintf("Classes without any forecast count all the time with the most jobs they may have at once: %s.", words.Some(without))})
	}
	return warnings
}

// soon is the longest time, in seconds, that jobs take whose starts within an hour decide how many VMs they need.
const soon = 900

// spread tells that jobs which take little of an hour count as if their starts were spread over it.
func (d *demandReader) spread(p *capacity.Problem) []capacity.Warning {
	var short []string
	for i := range d.arriving {
		if d.arriving[i].of == nil {
			continue
		}
		if held := perf.HeldSeconds(p.Classes[i], p.Supply, p.Options); held > 0 && held < soon {
			short = append(short, fmt.Sprintf("%q", fault.Clip(p.Classes[i].Name)))
		}
	}
	if len(short) == 0 {
		return nil
	}
	return []capacity.Warning{{Code: "spread_over_hours", Detail: fmt.Sprintf(
		"The jobs of an hour count as starting evenly over it, and VMs are held from its start until the last of them ends. Jobs of %s take less than %d minutes: where they start together, they need more VMs at once.",
		words.Some(short), soon/60)}}
}

// waiting tells that jobs which may wait count as they arrive.
func (o *Outlook) waiting() []capacity.Warning {
	var names []string
	for _, c := range o.Classes {
		if c.DueSeconds > c.DeadlineSeconds || c.Due != "" {
			names = append(names, fmt.Sprintf("%q", fault.Clip(c.Name)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []capacity.Warning{{Code: "windows_left_out", Detail: fmt.Sprintf(
		"Jobs of %s may wait for cheaper hours, as plans let them, and count here as they arrive. A schedule says what waiting does to the bill.", words.Some(names))}}
}

// priceList holds the prices of a VM type and purchase over time.
type priceList struct {
	vmType   string
	purchase capacity.Purchase
	periods  []pricedTime // by time
}

type pricedTime struct {
	from, until time.Time // a zero until is open
	price       money.Amount
}

// priceLists returns the prices of the types in use, with moments cut to whole seconds.
func (o *Outlook) priceLists(used []inputs.VMType) (lists []priceList) {
	for _, v := range used {
		purchases := []capacity.Purchase{capacity.PurchaseOnDemand}
		if v.Spot != nil {
			purchases = append(purchases, capacity.PurchaseSpot)
		}
		for _, purchase := range purchases {
			l := priceList{vmType: v.Name, purchase: purchase}
			for _, p := range o.Prices {
				if p.VMType != v.Name || cmp.Or(p.Purchase, capacity.PurchaseOnDemand) != purchase {
					continue
				}
				t := pricedTime{from: p.From.UTC().Truncate(time.Second), price: p.Price}
				if p.Until != nil {
					t.until = p.Until.UTC().Truncate(time.Second)
				}
				l.periods = append(l.periods, t)
			}
			slices.SortFunc(l.periods, func(a, b pricedTime) int { return a.from.Compare(b.from) })
			lists = append(lists, l)
		}
	}
	return lists
}

// priceGaps returns an error about every time without a price until a moment.
func (o *Outlook) priceGaps(lists []priceList, until time.Time) error {
	var findings []fault.Finding
	for _, l := range lists {
		covered := o.From
		gap := func(until time.Time) {
			if covered.Before(until) && len(findings) < gapsShown {
				word := strings.ReplaceAll(string(l.purchase), "_", "-")
				findings = append(findings, fault.Finding{Pointer: "/prices", Code: "no_price", Detail: fmt.Sprintf(
					"There is no %s price of %q from %s until %s, %s; give price periods that cover them, or ask about another time. Prices are not carried on past their period.",
					word, fault.Clip(l.vmType), covered.Format(time.RFC3339), until.Format(time.RFC3339), words.Hours(until.Sub(covered).Hours()))})
			}
		}
		for _, p := range l.periods {
			if p.from.After(covered) {
				gap(minTime(p.from, until))
			}
			if covered = maxTime(covered, p.until); p.until.IsZero() {
				covered = until
			}
		}
		gap(until)
	}
	return fault.Refusal(findings, 0)
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// setPrices gives a period the prices of a moment.
func setPrices(p *HorizonPeriod, lists []priceList, at time.Time, typed bool) {
	for i := range lists {
		l := &lists[i]
		for len(l.periods) > 1 && !l.periods[1].from.After(at) {
			l.periods = l.periods[1:]
		}
		price := &l.periods[0].price
		if !typed {
			if l.purchase == capacity.PurchaseSpot {
				p.SpotPrice = price
			} else {
				p.OnDemandPrice = price
			}
			continue
		}
		if p.Prices == nil {
			p.Prices = make(map[string]PeriodPrices, len(lists))
		}
		of := p.Prices[l.vmType]
		if l.purchase == capacity.PurchaseSpot {
			of.Spot = price
		} else {
			of.OnDemand = price
		}
		p.Prices[l.vmType] = of
	}
}
