package inputs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// Snapshot holds a cluster's inputs, read in one transaction.
type Snapshot struct {
	Cluster   Cluster
	VMTypes   []VMType
	Prices    []PricePeriod    // those that touch the requested moments
	Contracts []SignedContract // likewise
	Classes   []PlannedClass   // by name
	Profiles  map[ProfileRef]capacity.Profile
	Forecasts []Forecast     // likewise, and earlier arrivals whose jobs may still run
	Previous  *capacity.Near // the current plan, if there is one
}

// Problem returns the cluster's problem at one moment, with the prices, running contracts and forecasts of that
// moment. With one VM type in use that no class mentions, the problem has one kind of VM. Forecasts are rounded up to
// whole jobs unless the cluster is planned relaxed. Missing inputs are reported as an *InputError, with pointers into
// the cluster's document.
func (s Snapshot) Problem(at time.Time) (capacity.Problem, error) {
	p := capacity.Problem{Currency: s.Cluster.Currency, PeriodSeconds: s.Cluster.PeriodSeconds, Options: s.Cluster.Options}
	var k strict.Checker
	used := s.UsedTypes()
	switch {
	case len(s.VMTypes) == 0:
		k.Refuse("vm_types", "missing", "The cluster has no VM type; create one, and a price for it.")
	case len(used) == 0:
		k.Refuse("vm_types", "missing", "None of the cluster's VM types is in use; set \"in_use\" of one to true.")
	}
	if len(s.Classes) == 0 {
		k.Refuse("classes", "missing", "The cluster has no class; create at least one.")
	}
	types := make([]capacity.VMTypeSupply, len(used))
	for i, v := range used {
		types[i] = s.supplyOf(&k, v, at)
	}
	p.Budget = s.Cluster.Budget
	forecast := s.expected(at.UTC().Truncate(time.Hour))
	from, until := s.steady(at, forecast)
	p.Classes = make([]capacity.Class, 0, len(s.Classes))
	typed := len(used) > 1
	for _, c := range s.Classes {
		class, err := s.Class(c)
		if err != nil {
			return capacity.Problem{}, err
		}
		said := class.ByType()
		keepTypes(&class, used)
		typed = typed || class.ByType()
		if said && len(used) > 0 && !slices.ContainsFunc(used, func(v VMType) bool { return class.RunsOn(v.Name) }) {
			k.Refuse("classes", "no_type", "The class %q runs on none of the VM types in use; set \"in_use\" of one it runs on to true, or give it slots on one that is.", fault.Clip(c.Name))
		}
		if f := forecast[c.Name]; f != nil {
			seconds, running := 0.0, 0.0
			if f.arrived.Jobs() > 0 {
				seconds = perf.HeldSeconds(class, capacity.Supply{VMTypes: types}, p.Options)
				running = f.arrived.Running(seconds, from.Unix(), until.Unix())
				f.jobs = max(f.jobs, running)
				f.started = f.before.Running(seconds, from.Unix(), until.Unix())
			}
			if f.arrives && c.DeadlineSeconds == 0 {
				k.Refuse("classes", "no_deadline", "The class %q has arrivals and no deadline, which is how long its jobs hold their VMs; give it one, or forecast the jobs that run at once.", fault.Clip(c.Name))
			}
			jobs := f.jobs
			if !f.told { // as many as it may have, and no fewer than still run
				jobs = max(jobs, class.Jobs.Max)
			}
			if seconds > 0 && jobs == running { // what-ifs with another deadline count anew
				class.ArrivalsPerHour = running / seconds * 3600
			}
			if p.Options.Integrality != capacity.Relaxed {
				jobs = capacity.WholeJobs(jobs)
			}
			class.Jobs = class.Jobs.Of(jobs)
			class.Jobs.Min = min(max(class.Jobs.Min, s.kept(c.Name, f.started, p.Options.Integrality)), jobs)
		}
		p.Classes = append(p.Classes, class)
	}
	if err := fault.Refusal(k.Findings, k.Unlisted); err != nil {
		return capacity.Problem{}, err
	}
	if typed {
		p.Supply.VMTypes = types
	} else {
		p.Supply = capacity.Supply{Contracts: types[0].Contracts, OnDemand: types[0].OnDemand, Spot: types[0].Spot}
	}
	p.Options.Near = s.near()
	return p, nil
}

// UsedTypes returns the VM types that plans rent.
func (s Snapshot) UsedTypes() []VMType {
	return slices.DeleteFunc(slices.Clone(s.VMTypes), func(v VMType) bool { return !v.InUse })
}

// Steady returns the part of a moment's hour for which its problem holds as far as arrivals tell: an hour is cut where the
// last job of a class ends (see perf.Frees).
func (s Snapshot) Steady(at time.Time) (from, until time.Time) {
	return s.steady(at, s.expected(at.UTC().Truncate(time.Hour)))
}

func (s Snapshot) steady(at time.Time, forecast map[string]*expected) (from, until time.Time) {
	from = at.UTC().Truncate(time.Hour)
	until = from.Add(time.Hour)
	var supply capacity.Supply
	used := s.UsedTypes()
	for _, v := range used {
		supply.VMTypes = append(supply.VMTypes, capacity.VMTypeSupply{Name: v.Name})
	}
	var ends []int64
	for _, c := range s.Classes {
		f := forecast[c.Name]
		if f == nil || f.arrived.Jobs() == 0 {
			continue
		}
		class, err := s.Class(c)
		if err != nil { // Problem tells
			continue
		}
		keepTypes(&class, used)
		ends = append(ends, f.arrived.Ends(perf.HeldSeconds(class, supply, s.Cluster.Options))...)
	}
	for _, moment := range perf.Frees(ends) {
		switch moment := time.Unix(moment, 0).UTC(); {
		case moment.After(at) && moment.Before(until):
			until = moment
		case !moment.After(at) && moment.After(from):
			from = moment
		}
	}
	return from, until
}

// expected is what is forecast of a class for an hour.
type expected struct {
	jobs          float64       // that run at once
	started       float64       // of them before this hour, and admitted
	arrived       perf.Arrivals // in this hour and before it
	before        perf.Arrivals // before it
	told, arrives bool          // there is a row of the hour; there are arrivals
}

// expected returns what is forecast for an hour, by class.
func (s Snapshot) expected(hour time.Time) map[string]*expected {
	all := make(map[string]*expected, len(s.Classes))
	spans := map[string][]perf.Arriving{}
	for _, f := range s.Forecasts {
		of := all[f.Class]
		if of == nil {
			of = &expected{}
			all[f.Class] = of
		}
		if f.Arrivals != nil {
			of.arrives = true
		}
		if f.Arrivals != nil && *f.Arrivals > 0 {
			spans[f.Class] = append(spans[f.Class], perf.Arriving{From: f.Hour.Unix(), Until: f.Hour.Unix() + 3600, Jobs: *f.Arrivals})
		}
		if f.Hour.Equal(hour) {
			if of.told = true; f.Arrivals == nil {
				of.jobs = f.Jobs
			}
		}
	}
	for name, of := range all {
		slices.SortFunc(spans[name], func(a, b perf.Arriving) int { return cmp.Compare(a.From, b.From) })
		past := slices.IndexFunc(spans[name], func(x perf.Arriving) bool { return x.From >= hour.Unix() })
		if past < 0 {
			past = len(spans[name])
		}
		of.before = perf.NewArrivals(spans[name][:past])
		if of.arrived = perf.NewArrivals(spans[name]); !of.told && !of.arrives {
			delete(all, name) // of another hour
		}
	}
	return all
}

// kept returns the jobs of a class that must be served because they have started: those that arrived earlier and still run,
// as far as the current plan admits any.
func (s Snapshot) kept(class string, started float64, integrality capacity.Integrality) float64 {
	if s.Previous == nil || started == 0 {
		return 0
	}
	if integrality != capacity.Relaxed {
		started = capacity.WholeJobs(started)
	}
	return min(started, s.Previous.Jobs[class])
}

func (s Snapshot) Class(c PlannedClass) (capacity.Class, error) {
	if c.Profile == nil {
		return c.Class(nil), nil
	}
	profile, known := s.Profiles[*c.Profile]
	if !known {
		return capacity.Class{}, fmt.Errorf("class %q: profile %q version %d is not in the snapshot", c.Name, c.Profile.Name, c.Profile.Version)
	}
	return c.Class(&profile), nil
}

// supplyOf returns the supply of VMs of a type at a moment. A missing price is a finding.
func (s Snapshot) supplyOf(k *strict.Checker, v VMType, at time.Time) capacity.VMTypeSupply {
	t := capacity.VMTypeSupply{Name: v.Name, OnDemand: capacity.OnDemand{Quota: v.Quota}}
	price, known := s.PriceAt(v.Name, capacity.PurchaseOnDemand, at)
	if !known {
		k.Refuse("prices", "no_price", "There is no on-demand price of %q at %s; give a price period that covers this moment. Prices are not carried on past their period.",
			fault.Clip(v.Name), at.UTC().Format(time.RFC3339))
	}
	t.OnDemand.Price = price
	if v.Spot != nil {
		if price, known = s.PriceAt(v.Name, capacity.PurchaseSpot, at); !known {
			k.Refuse("prices", "no_price", "There is no spot price of %q at %s; give a price period with the purchase \"spot\" that covers this moment, or set the type's \"spot\" to null to do without spot VMs.",
				fault.Clip(v.Name), at.UTC().Format(time.RFC3339))
		}
		t.Spot = &capacity.Spot{Price: price, MaxShare: v.Spot.MaxShare}
	}
	for _, c := range s.Contracts {
		if c.VMType == v.Name && c.runsAt(at) {
			t.Contracts = append(t.Contracts, capacity.Contract{Name: c.Name, VMs: c.VMs, Price: c.Price, Billing: c.Billing})
		}
	}
	return t
}

// keepTypes removes the class's settings for VM types that are not in use.
func keepTypes(class *capacity.Class, used []VMType) {
	isUsed := func(name string) bool {
		return slices.ContainsFunc(used, func(v VMType) bool { return v.Name == name })
	}
	if class.SlotsPerVM.ByType != nil {
		class.SlotsPerVM.ByType = maps.Clone(class.SlotsPerVM.ByType)
		maps.DeleteFunc(class.SlotsPerVM.ByType, func(name string, _ capacity.SlotsPerVM) bool { return !isUsed(name) })
	}
	if class.Speed != nil {
		class.Speed = maps.Clone(class.Speed)
		if maps.DeleteFunc(class.Speed, func(name string, _ float64) bool { return !isUsed(name) }); len(class.Speed) == 0 {
			class.Speed = nil
		}
	}
}

func (s Snapshot) PriceAt(vmType string, purchase capacity.Purchase, at time.Time) (money.Amount, bool) {
	for _, p := range s.Prices {
		if p.VMType == vmType && cmp.Or(p.Purchase, capacity.PurchaseOnDemand) == purchase && p.holdsAt(at) {
			return p.Price, true
		}
	}
	return money.Amount{}, false
}

// holdsAt reports whether the price applies at a moment.
func (p PricePeriod) holdsAt(t time.Time) bool {
	return !t.Before(p.From) && (p.Until == nil || t.Before(*p.Until))
}

// runsAt reports whether the contract's term includes a moment.
func (s SignedContract) runsAt(t time.Time) bool { return !t.Before(s.From) && t.Before(s.Until) }

// near returns the previous plan, limited to classes that still exist.
func (s Snapshot) near() *capacity.Near {
	if s.Previous == nil {
		return nil
	}
	n := &capacity.Near{VMs: s.Previous.VMs, Jobs: map[string]float64{}}
	for _, c := range s.Classes {
		if admitted, known := s.Previous.Jobs[c.Name]; known {
			n.Jobs[c.Name] = admitted
		}
	}
	return n
}
