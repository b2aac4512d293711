package capacity

import (
	"fmt"
	"time"
)

// Snapshot is a cluster's inputs, read in one transaction.
type Snapshot struct {
	Cluster   Cluster
	VMTypes   []VMType
	Prices    []PricePeriod    // those that touch the moments asked for
	Contracts []SignedContract // likewise
	Classes   []PlannedClass   // by name
	Profiles  map[ProfileRef]Profile
	Forecasts []Forecast // likewise
	Previous  *Plan      // the current plan, if there is one
}

// Problem is what the cluster asks at one moment: the price of that moment, the contracts that run
// then, the forecast of its hour. Forecasts are rounded up to whole jobs unless the cluster is planned
// relaxed. What is missing comes as an *InputError that says what to give, with pointers into the
// cluster's document.
func (s Snapshot) Problem(at time.Time) (Problem, error) {
	p := Problem{Currency: s.Cluster.Currency, PeriodSeconds: s.Cluster.PeriodSeconds, Options: s.Cluster.Options}
	var k checker
	vmType, used := s.typeInUse()
	switch {
	case !used && len(s.VMTypes) == 0:
		k.refuse("vm_types", "missing", "The cluster has no VM type; create one, and a price for it.")
	case !used:
		k.refuse("vm_types", "missing", "None of the cluster's VM types is in use; set \"in_use\" of one to true.")
	default:
		p.Supply.OnDemand.Quota = vmType.Quota
		price, known := s.priceAt(vmType.Name, at)
		if !known {
			k.refuse("prices", "no_price", "There is no on-demand price of %q at %s; give a price period that covers this moment. Prices are not carried on past their period.",
				clip(vmType.Name), at.UTC().Format(time.RFC3339))
		}
		p.Supply.OnDemand.Price = price
	}
	if len(s.Classes) == 0 {
		k.refuse("classes", "missing", "The cluster has no class; create at least one.")
	}
	if err := inputError(k.findings); err != nil {
		return Problem{}, err
	}
	for _, c := range s.Contracts {
		if c.VMType == vmType.Name && c.RunsAt(at) {
			p.Supply.Contracts = append(p.Supply.Contracts, Contract{Name: c.Name, VMs: c.VMs, Price: c.Price, Billing: c.Billing})
		}
	}
	hour := at.UTC().Truncate(time.Hour)
	forecast := map[string]float64{}
	for _, f := range s.Forecasts {
		if f.Hour.Equal(hour) {
			forecast[f.Class] = f.Jobs
		}
	}
	p.Classes = make([]Class, 0, len(s.Classes))
	for _, c := range s.Classes {
		class, err := s.class(c)
		if err != nil {
			return Problem{}, err
		}
		if jobs, forecasted := forecast[c.Name]; forecasted {
			if p.Options.Integrality != Relaxed {
				jobs = wholeJobs(jobs)
			}
			class.Jobs = JobRange{Min: min(class.Jobs.Min, jobs), Max: jobs}
		}
		p.Classes = append(p.Classes, class)
	}
	p.Options.Near = s.near()
	return p, nil
}

func (s Snapshot) class(c PlannedClass) (Class, error) {
	if c.Profile == nil {
		return c.Class(nil), nil
	}
	profile, known := s.Profiles[*c.Profile]
	if !known {
		return Class{}, fmt.Errorf("class %q: profile %q version %d is not in the snapshot", c.Name, c.Profile.Name, c.Profile.Version)
	}
	return c.Class(&profile), nil
}

func (s Snapshot) typeInUse() (VMType, bool) {
	for _, v := range s.VMTypes {
		if v.InUse {
			return v, true
		}
	}
	return VMType{}, false
}

func (s Snapshot) priceAt(vmType string, at time.Time) (Money, bool) {
	for _, p := range s.Prices {
		if p.VMType == vmType && p.HoldsAt(at) {
			return p.Price, true
		}
	}
	return Money{}, false
}

// HoldsAt says whether the price is that of a moment.
func (p PricePeriod) HoldsAt(t time.Time) bool {
	return !t.Before(p.From) && (p.Until == nil || t.Before(*p.Until))
}

// RunsAt says whether the contract's term holds a moment.
func (s SignedContract) RunsAt(t time.Time) bool { return !t.Before(s.From) && t.Before(s.Until) }

// near is the previous plan, as far as it is about classes that still exist.
func (s Snapshot) near() *Near {
	if s.Previous == nil {
		return nil
	}
	known := make(map[string]bool, len(s.Classes))
	for _, c := range s.Classes {
		known[c.Name] = true
	}
	n := &Near{VMs: s.Previous.VMs.Total, Jobs: map[string]float64{}}
	for _, c := range s.Previous.Classes {
		if known[c.Name] {
			n.Jobs[c.Name] = c.Admitted
		}
	}
	return n
}
