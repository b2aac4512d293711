package clusters

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/prices"
)

// importing holds a sheet on its way into a cluster's document.
type importing struct {
	PriceSelection
	sheet    prices.Sheet
	before   inputs.Document
	after    inputs.Document
	made     PriceImport
	findings []fault.Finding
	types    map[string]int // places in after.VMTypes, by name
	offers   map[string]int // places in before.Offers
}

// importSheet computes a cluster's document with a sheet imported. It reads nothing and writes nothing; it reports
// all faults at once.
func importSheet(before inputs.Document, sheet prices.Sheet, o PriceSelection) (inputs.Document, PriceImport, error) {
	m := importing{PriceSelection: o, sheet: sheet, before: before, types: map[string]int{}, offers: map[string]int{}}
	for i, v := range before.VMTypes {
		m.types[v.Name] = i
	}
	for i, o := range before.Offers {
		m.offers[o.Name] = i
	}
	m.after = inputs.Document{Cluster: before.Cluster, VMTypes: slices.Clone(before.VMTypes), Offers: slices.Clone(before.Offers)}
	m.made = PriceImport{DryRun: o.DryRun, From: o.From.UTC(), Items: []ImportedInstance{}, Sheet: ImportedSheet{
		Format: sheet.Format, Version: sheet.Version, Currency: sheet.Currency, Skipped: sheet.Skipped}}
	if !sheet.Published.IsZero() {
		m.made.Sheet.Published = new(sheet.Published.UTC())
	}
	if sheet.Currency != before.Cluster.Currency {
		m.refuse("", "currency", "The sheet's prices are in %s and the cluster %q plans in %s; give a sheet in %s, or plan another cluster in %s.",
			sheet.Currency, before.Cluster.Name, before.Cluster.Currency, before.Cluster.Currency, sheet.Currency)
	}
	if m.checkNames(); m.findings == nil {
		m.after.Prices = slices.Clone(before.Prices)
		for _, x := range sheet.Instances {
			m.take(x)
		}
	}
	if m.findings != nil {
		return inputs.Document{}, PriceImport{}, fault.Refusal(m.findings, 0)
	}
	return m.after, m.made, nil
}

func (m *importing) refuse(pointer, code, detail string, values ...any) {
	m.findings = append(m.findings, fault.Finding{Pointer: pointer, Code: code, Detail: fmt.Sprintf(detail, values...)})
}

// vmType returns the cluster's name of an instance.
func (m *importing) vmType(instance string) string { return cmp.Or(m.As[instance], instance) }

// checkNames refuses a selection that is too large, two instances of one name and names of instances
// that are not there.
func (m *importing) checkNames() {
	if n := len(m.sheet.Instances); n > maxImported {
		m.refuse("/instances", "too_many", "%d instances are selected, more than the %d that one import takes; name those that you may want to rent, such as m5.* and r5.*.", n, maxImported)
		return
	}
	by := map[string]prices.Instance{}
	names := map[string]bool{}
	var known []string
	for _, x := range m.sheet.Instances {
		other, twice := by[m.vmType(x.Name)]
		switch {
		case twice && other.Name == x.Name:
			m.refuse("/region", "duplicate_name", "The instance %q is in the regions %q and %q; select one of them.", x.Name, other.Region, x.Region)
		case twice:
			m.refuse("/as/"+pointerPart(x.Name), "duplicate_name", "The instances %q and %q would both be the VM type %q; give each a name of its own.", other.Name, x.Name, m.vmType(x.Name))
		}
		by[m.vmType(x.Name)], names[x.Name] = x, true
		known = append(known, x.Name)
	}
	for _, name := range sortedKeys(m.As) {
		if !names[name] {
			m.refuse("/as/"+pointerPart(name), "unknown_name", "The instance %q is not among those selected.", name)
			if best := fault.Nearest(name, known); best != "" {
				m.findings[len(m.findings)-1].Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Value: best}
			}
		}
	}
}

func sortedKeys[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// take takes one instance over.
func (m *importing) take(x prices.Instance) {
	item := ImportedInstance{Instance: x.Name, Region: x.Region, VMType: m.vmType(x.Name), Offers: []ImportedOffer{}}
	m.takeType(x, item.VMType)
	if periods := m.periods(x.OnDemand, item.VMType, capacity.PurchaseOnDemand); len(periods) > 0 {
		item.OnDemand = &periods[0].Price
		m.takePrices(periods)
	}
	m.takePrices(m.periods(x.Spot, item.VMType, capacity.PurchaseSpot))
	if item.OnDemand == nil && len(x.OnDemand) > 0 {
		m.refuse("/from", "over", "All on-demand prices of %q in the sheet end before %s, when the prices of this import begin; take a newer sheet, or let them begin earlier.", x.Name, m.From.UTC().Format(time.RFC3339))
	}
	for _, r := range x.Reserved {
		if m.OnDemandOnly {
			break
		}
		o := ImportedOffer{Name: item.VMType + " " + r.Name, TermYears: r.TermYears, Price: prices.Stored(r.PerHour), Upfront: prices.Stored(r.Upfront), Billing: r.Billing, EffectivePrice: r.Effective}
		item.Offers = append(item.Offers, o)
		m.takeOffer(x, r, o, item.VMType)
	}
	m.made.Items = append(m.made.Items, item)
}

// takeType creates a missing VM type, not in use; in an existing one it fills in the missing members.
func (m *importing) takeType(x prices.Instance, name string) {
	i, known := m.types[name]
	if !known {
		i = len(m.after.VMTypes)
		about := x.Name
		if x.Region != "" {
			about += " in " + x.Region
		}
		m.after.VMTypes = append(m.after.VMTypes, inputs.VMType{Name: name, Description: about})
	}
	v, was := &m.after.VMTypes[i], m.after.VMTypes[i]
	if v.VCPU == nil && x.VCPU > 0 {
		v.VCPU = new(float64(x.VCPU))
	}
	if v.MemoryGiB == nil && x.MemoryGiB.IsPositive() {
		v.MemoryGiB = new(x.MemoryGiB.InexactFloat64())
	}
	if v.GPUs == nil && (x.GPUs > 0 || m.sheet.Format != prices.CSV) { // AWS gives them if there are any
		v.GPUs = new(x.GPUs)
	}
	m.valid(fmt.Sprintf("The VM type %q", name), v.Validate())
	if known && v.VCPU == was.VCPU && v.MemoryGiB == was.MemoryGiB && v.GPUs == was.GPUs {
		m.made.VMTypes.Unchanged++
	}
}

// valid notes the faults of a thing made from the sheet.
func (m *importing) valid(what string, err error) {
	m.findings = append(m.findings, importFindings(err, "", what+": ")...)
}

// importFindings returns an error's findings at another place, about something; nil has none.
func importFindings(err error, pointer, of string) (findings []fault.Finding) {
	var input *fault.InputError
	if errors.As(err, &input) {
		for _, f := range input.Findings {
			findings = append(findings, fault.Finding{Pointer: pointer, Code: f.Code, Detail: of + f.Detail})
		}
	}
	return findings
}

// periods returns a sheet's prices from the import's From on, in their order.
func (m *importing) periods(sheet []prices.Price, vmType string, purchase capacity.Purchase) (all []inputs.PricePeriod) {
	for _, p := range sheet {
		from := p.From.UTC()
		if from.Before(*m.From) {
			from = m.From.UTC()
		}
		if p.Until == nil || p.Until.After(from) {
			period := inputs.PricePeriod{VMType: vmType, Purchase: purchase, Price: prices.Stored(p.PerHour), From: from, Until: p.Until}
			m.valid(fmt.Sprintf("The price of %q", vmType), period.Validate())
			all = append(all, period)
		}
	}
	return all
}

// takePrices lays the periods of a type and purchase over the existing ones: an open period ends where they begin.
// Existing periods that begin later are conflicts.
func (m *importing) takePrices(periods []inputs.PricePeriod) {
	if len(periods) == 0 {
		return
	}
	first := periods[0]
	var there []int // indices of those that reach into the new ones
	for i, p := range m.after.Prices {
		if p.VMType == first.VMType && p.Purchase == first.Purchase && (p.Until == nil || p.Until.After(first.From)) {
			there = append(there, i)
		}
	}
	var old []inputs.PricePeriod
	for _, i := range there {
		old = append(old, m.after.Prices[i])
	}
	slices.SortFunc(old, func(a, b inputs.PricePeriod) int { return a.From.Compare(b.From) })
	switch {
	case samePrices(old, periods, first.From):
		m.made.Prices.Unchanged += int64(len(periods))
		return
	case len(old) == 0:
	case len(old) > 1 || old[0].Until != nil || old[0].From.After(first.From):
		m.inTheWay(old, periods)
		return
	default:
		p := &m.after.Prices[there[0]]
		switch {
		case p.Price.Equal(first.Price.Decimal): // it continues, and may end at another time
			p.Until, periods = first.Until, periods[1:]
		case p.From.Equal(first.From): // the price of this hour is another one
			p.Price, p.Until, periods = first.Price, first.Until, periods[1:]
		default:
			p.Until = new(first.From)
		}
	}
	m.after.Prices = append(m.after.Prices, periods...)
}

// inTheWay refuses to overrule prices that somebody has set for later.
func (m *importing) inTheWay(old, periods []inputs.PricePeriod) {
	const few = 4
	first, end := periods[0], periods[len(periods)-1].Until
	var there []string
	for _, p := range old[:min(few, len(old))] {
		ends := "until further notice"
		if p.Until != nil {
			ends = "until " + p.Until.UTC().Format(time.RFC3339)
		}
		there = append(there, fmt.Sprintf("%s from %s %s", p.Price, p.From.UTC().Format(time.RFC3339), ends))
	}
	if more := len(old) - few; more > 0 {
		there = append(there, fmt.Sprintf("%d more", more))
	}
	what := fmt.Sprintf("%q", first.VMType)
	if first.Purchase == capacity.PurchaseSpot {
		what += " spot"
	}
	last := old[len(old)-1]
	later, when := last.From.UTC(), "when the last of them begins" // it continues for ever
	if last.Until != nil {
		later, when = last.Until.UTC(), "when the last of them ends"
	}
	if len(m.findings) < fault.MaxFindings {
		at := later.Format(time.RFC3339)
		m.findings = append(m.findings, fault.Finding{Pointer: "/from", Code: "overlap",
			Detail: fmt.Sprintf("The VM type %s has prices already that a price from %s on would overrule: %s. Delete what is not to stand.", what, first.From.Format(time.RFC3339), strings.Join(there, "; ")),
		})
		if end == nil || end.After(later) { // the sheet has a price then
			m.findings[len(m.findings)-1].Hint = &fault.Hint{Detail: fmt.Sprintf("Or let the import begin at %s, %s.", at, when), Pointer: "/from", Value: at}
		}
	}
}

// samePrices reports whether two lists of periods have the same prices from a moment on, however they are cut.
func samePrices(a, b []inputs.PricePeriod, from time.Time) bool {
	return slices.EqualFunc(joined(a, from), joined(b, from), func(x, y inputs.PricePeriod) bool {
		sameEnd := x.Until == nil && y.Until == nil || x.Until != nil && y.Until != nil && x.Until.Equal(*y.Until)
		return x.From.Equal(y.From) && sameEnd && x.Price.Equal(y.Price.Decimal)
	})
}

// joined returns periods from a moment on, with neighbours of one price as one.
func joined(periods []inputs.PricePeriod, from time.Time) (all []inputs.PricePeriod) {
	for _, p := range periods {
		if p.From.Before(from) {
			p.From = from
		}
		if n := len(all); n > 0 && all[n-1].Until != nil && all[n-1].Until.Equal(p.From) && all[n-1].Price.Equal(p.Price.Decimal) {
			all[n-1].Until = p.Until
			continue
		}
		all = append(all, p)
	}
	return all
}

// takeOffer creates or updates an offer. The cluster sets the number of VMs that may be bought, unless the sheet
// does.
func (m *importing) takeOffer(x prices.Instance, r prices.Reserved, of ImportedOffer, vmType string) {
	o := inputs.StandingOffer{Name: of.Name, VMType: vmType, Price: of.Price, Upfront: of.Upfront, Billing: of.Billing, TermYears: of.TermYears,
		Max: cmp.Or(r.Max, capacity.MaxOfferVMs), Note: m.note(x, r)}
	m.valid(fmt.Sprintf("The offer %q", o.Name), o.Validate())
	i, known := m.offers[o.Name]
	if !known {
		m.after.Offers = append(m.after.Offers, o)
		return
	}
	was := m.before.Offers[i]
	if r.Max == 0 {
		o.Max = was.Max
	}
	if was.VMType == o.VMType && was.Price.Equal(o.Price.Decimal) && was.Upfront.Equal(o.Upfront.Decimal) && was.Billing == o.Billing &&
		was.TermYears == o.TermYears && was.TermHours == 0 && was.Max == o.Max {
		m.made.Offers.Unchanged++ // whichever sheet it came from
		return
	}
	m.after.Offers[i] = o
}

// note describes the source of an offer.
func (m *importing) note(x prices.Instance, r prices.Reserved) string {
	parts := []string{"price sheet"}
	if m.sheet.Version != "" {
		parts[0] += " " + m.sheet.Version
	}
	parts = append(parts, x.Name)
	for _, part := range []string{x.Region, r.RateCode} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}
