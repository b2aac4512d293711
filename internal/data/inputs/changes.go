package inputs

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"example.org/headroom/internal/core/capacity"
)

// The kinds of things that change.
const (
	ClusterKind  = "cluster"
	VMTypeKind   = "vm_type"
	PriceKind    = "price"
	ContractKind = "contract"
	OfferKind    = "offer"
	ProfileKind  = "profile"
	ClassKind    = "class"
	ForecastKind = "forecast"
	ScenarioKind = "scenario"
	PlanKind     = "plan"
	PinKind      = "pin"
	KeyKind      = "key"

	ExecutionKind = "execution"
)

// The actions.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
)

// Changes returns the changes that turn the cluster from before to after. Lists of after that are nil stay as they
// are, and so do profile versions it does not name. The changes can be carried out in their order: first deletions,
// dependants before what they depend on, then updates before creations, kind by kind. VM types are deleted last, when
// nothing refers to them any more. The forecasts of a class are one change, whose fields count the rows. A cluster
// that does not exist yet has the zero Document before.
func Changes(before, after Document) []Change {
	all := []Change{}
	add := func(some []Change) { all = append(all, some...) }
	forecasts := forecastChanges(before.Forecasts, after.Forecasts)
	classes := compare(ClassKind, before.Classes, after.Classes, func(c PlannedClass) string { return c.Name }, func(c *PlannedClass) { c.Stamp, c.Warnings = capacity.Stamp{}, nil })
	contracts := compare(ContractKind, before.Contracts, after.Contracts, func(c SignedContract) string { return c.Name }, func(c *SignedContract) { c.Stamp = capacity.Stamp{}; c.From, c.Until = c.From.UTC(), c.Until.UTC() })
	offers := compare(OfferKind, before.Offers, after.Offers, func(o StandingOffer) string { return o.Name }, func(o *StandingOffer) { o.Stamp = capacity.Stamp{} })
	prices := compare(PriceKind, before.Prices, after.Prices, PricePeriod.Label, func(p *PricePeriod) {
		p.Stamp, p.ID, p.From, p.Purchase = capacity.Stamp{}, "", p.From.UTC(), cmp.Or(p.Purchase, capacity.PurchaseOnDemand)
		if p.Until != nil {
			until := p.Until.UTC()
			p.Until = &until
		}
	})
	vmTypes := compare(VMTypeKind, before.VMTypes, after.VMTypes, func(v VMType) string { return v.Name }, func(v *VMType) { v.Stamp = capacity.Stamp{} })
	profiles := compare(ProfileKind, before.Profiles, after.Profiles, ProfileVersion.Label, func(p *ProfileVersion) { p.CreatedAt, p.Source = time.Time{}, CanonicalSource(p.Source) })
	profiles = slices.DeleteFunc(profiles, func(c Change) bool { return c.Action == Delete })

	for _, of := range [][]Change{forecasts, classes, contracts, offers, prices} {
		add(only(of, Delete))
	}
	switch {
	case before.Cluster.Name == "":
		add([]Change{{Action: Create, Kind: ClusterKind, Name: after.Cluster.Name, Fields: []capacity.FieldChange{}}})
	default:
		bare := func(c Cluster) Cluster { c.Stamp, c.InputsVersion, c.Options.Near = capacity.Stamp{}, 0, nil; return c }
		if fields := capacity.DifferentMembers(bare(before.Cluster), bare(after.Cluster)); len(fields) > 0 {
			add([]Change{{Action: Update, Kind: ClusterKind, Name: after.Cluster.Name, Fields: fields}})
		}
	}
	for _, of := range [][]Change{vmTypes, prices, contracts, offers, profiles, classes, forecasts} {
		add(only(of, Update))
		add(only(of, Create))
	}
	add(only(vmTypes, Delete))
	return all
}

// Label names a period in sentences and differences.
func (p PricePeriod) Label() string {
	if p.Purchase == capacity.PurchaseSpot {
		return p.VMType + " spot from " + p.From.UTC().Format(time.RFC3339)
	}
	return p.VMType + " from " + p.From.UTC().Format(time.RFC3339)
}

// Label names a version in sentences and differences.
func (p ProfileVersion) Label() string {
	return p.Name + " version " + strconv.FormatInt(p.Version, 10)
}

func only(changes []Change, action string) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Action != action })
}

// compare returns the changes of one list; bare clears the members that are not compared.
func compare[T any](kind string, before, after []T, label func(T) string, bare func(*T)) (changes []Change) {
	if after == nil {
		return nil
	}
	was := make(map[string]T, len(before))
	for _, x := range before {
		was[label(x)] = x
	}
	is := make(map[string]bool, len(after))
	for _, x := range after {
		name := label(x)
		is[name] = true
		old, existed := was[name]
		if !existed {
			changes = append(changes, Change{Action: Create, Kind: kind, Name: name, Fields: []capacity.FieldChange{}})
			continue
		}
		bare(&old)
		bare(&x)
		if fields := capacity.DifferentMembers(old, x); len(fields) > 0 {
			changes = append(changes, Change{Action: Update, Kind: kind, Name: name, Fields: fields})
		}
	}
	for name := range was {
		if !is[name] {
			changes = append(changes, Change{Action: Delete, Kind: kind, Name: name, Fields: []capacity.FieldChange{}})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return changes
}

// forecastChanges compares forecasts row by row, up to hundreds of thousands, and lists the changes by class.
func forecastChanges(before, after []Forecast) (changes []Change) {
	if after == nil {
		return nil
	}
	type row struct {
		class string
		hour  int64
	}
	type count struct{ before, after, added, changed int }
	counts := map[string]*count{}
	of := func(class string) *count {
		if counts[class] == nil {
			counts[class] = &count{}
		}
		return counts[class]
	}
	was := make(map[row]SeriesRow, len(before))
	for _, f := range before {
		was[row{f.Class, f.Hour.Unix()}] = f.row()
		of(f.Class).before++
	}
	for _, f := range after {
		c := of(f.Class)
		c.after++
		jobs, existed := was[row{f.Class, f.Hour.Unix()}]
		switch {
		case !existed:
			c.added++
		case jobs != f.row():
			c.changed++
		}
	}
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		c := counts[class]
		removed := c.before + c.added - c.after
		change := Change{Action: Update, Kind: ForecastKind, Name: class, Fields: []capacity.FieldChange{{Pointer: "/rows", Before: c.before, After: c.after}}}
		switch {
		case c.added == 0 && c.changed == 0 && removed == 0:
			continue
		case c.before == 0:
			change.Action = Create
		case c.after == 0:
			change.Action = Delete
		}
		if c.changed > 0 {
			change.Fields = append(change.Fields, capacity.FieldChange{Pointer: "/rows_changed", Before: 0, After: c.changed})
		}
		changes = append(changes, change)
	}
	return changes
}
