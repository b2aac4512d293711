package prices

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/strict"
)

// attributes holds the relevant attributes of one of AWS's products.
type attributes struct {
	sku, family, name, region, location, locationType      string
	system, tenancy, software, capacity, market, operation string
	vcpu, memory, gpus                                     string
}

// aws collects AWS's products and terms from either form of the file.
type aws struct {
	*builder
	bySKU map[string]*product
	order []*product
}

type product struct {
	*entry
	attributes
	at      place
	terms   map[string]*term // of a CSV, where several rows hold a term's rates
	inOrder []*term
}

// term is an offer of a product in AWS's form.
type term struct {
	code         string // SKU.TERM
	reserved     bool
	effective    string
	lease, class string
	payment      string
	at           place
	rates        []rate
}

// rate is one price of a term: for hours in a range, or a fee.
type rate struct {
	code, unit, begin, end, currency, price string
	at                                      place
}

// AWS's products have at most 13 terms of two rates, and no field half as long.
const (
	maxTerms = 200
	maxRates = 50
	maxField = 200
)

// regionKey returns the region's code, or its name in files before 2021.
func (a attributes) regionKey() string { return cmp.Or(a.region, a.location) }

// kept returns a copy without the rest of its row, or false if a field is too long to keep.
func (a attributes) kept() (attributes, bool) {
	fits := true
	for _, s := range []*string{&a.sku, &a.family, &a.name, &a.region, &a.location, &a.locationType, &a.system, &a.tenancy, &a.software, &a.capacity, &a.market, &a.operation, &a.vcpu, &a.memory, &a.gpus} {
		fits = fits && len(*s) <= maxField
		*s = strings.Clone(*s)
	}
	return a, fits
}

// reason explains why a product is not wanted; "" if it is. Attributes missing in old files count as the usual ones.
func (f *filter) reason(a attributes) string {
	usual := func(value, usual string) bool { return value == "" || strings.EqualFold(value, usual) }
	switch {
	case a.family == "Compute Instance (bare metal)":
		return bareMetal
	case a.family != "Compute Instance":
		return otherProduct
	case a.name == "":
		return noType // the free tier's product
	case !usual(a.locationType, "AWS Region"):
		return otherPlace
	}
	f.regions.add(a.regionKey())
	switch {
	case !f.inRegion(a.region, a.location):
		return otherRegion
	case a.system != "Linux":
		return otherSystem
	case a.tenancy != "Shared":
		return otherTenancy
	case !usual(a.software, "NA"):
		return withSoftware
	case !usual(a.capacity, "Used"):
		return otherCapacity
	case !usual(a.market, "OnDemand"):
		return otherMarket
	case !usual(a.operation, "RunInstances"):
		return otherWork
	}
	f.instances.add(a.name)
	if !f.isWanted(a.name) {
		return otherInstance
	}
	return ""
}

// product adds a product if it is wanted, and returns nil if not.
func (r *aws) product(a attributes, at place) (*product, error) {
	if why := r.reason(a); why != "" {
		r.skip(why)
		return nil, nil
	}
	if len(r.Regions) == 0 && len(r.regions.list) > 1 {
		return nil, nil // finish reports it
	}
	a, fits := a.kept()
	if !fits {
		r.add(at, "too_long", "The product has a text of more than %d bytes; fetch the sheet again.", maxField)
		return nil, nil
	}
	for _, name := range []string{a.sku, a.name, a.regionKey()} {
		if !isName(name) {
			r.add(at, "text", "%q cannot be a name; it must have 1 to %d characters that can be seen.", clip(name), strict.MaxNameLength)
			return nil, nil
		}
	}
	if known := r.bySKU[a.sku]; known != nil {
		if a != known.attributes {
			r.add(at, "duplicate", "The SKU %s is another product here than at %s; fetch the sheet again.", a.sku, known.at)
		} else {
			r.skip(twice)
		}
		return nil, nil
	}
	e, isNew, err := r.entryOf(a.name, a.regionKey(), at)
	if err != nil {
		return nil, err
	}
	if isNew {
		e.SKU, e.regionName = a.sku, a.location
	}
	vcpu, gpus := r.whole(a.vcpu, "number of vCPUs", at.within("attributes", "vcpu")), r.whole(a.gpus, "number of GPUs", at.within("attributes", "gpu"))
	r.describe(e, vcpu, gpus, r.memory(a.memory, at.within("attributes", "memory")), at)
	p := &product{entry: e, attributes: a, at: at}
	if len(r.order) == 2*maxInstances {
		return nil, refusal(at, "too_many", "The selection takes in more than %d products; select fewer regions or instances.", 2*maxInstances)
	}
	r.bySKU[a.sku], r.order = p, append(r.order, p)
	return p, nil
}

// whole reads a count; "" and "NA" mean unknown.
func (b *builder) whole(text, what string, at place) int64 {
	if text == "" || text == "NA" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1_000_000 {
		b.add(at, "type", "The %s is %q; it should be a whole number such as 4.", what, clip(text))
		return 0
	}
	return n
}

// memory reads "1,952 GiB"; "" and "NA" mean unknown.
func (b *builder) memory(text string, at place) decimal.Decimal {
	if text == "" || text == "NA" {
		return decimal.Decimal{}
	}
	number := strings.ReplaceAll(strings.TrimSpace(strings.TrimSuffix(text, "GiB")), ",", "")
	if !isAmount(number) || len(number) > 15 {
		b.add(at, "type", "The memory is %q; it should be such as \"16 GiB\".", clip(text))
		return decimal.Decimal{}
	}
	return decimal.RequireFromString(number)
}

// judge makes a price or an offer of a term, or records its faults.
func (r *aws) judge(p *product, t *term) {
	if t.reserved && r.OnDemandOnly {
		r.skip(notAsked)
		return
	}
	before := r.total()
	var hours, fees []rate
	for _, rate := range t.rates {
		switch {
		case rate.unit == "Hrs":
			hours = append(hours, rate)
		case rate.unit == "Quantity" && t.reserved:
			fees = append(fees, rate)
		default:
			r.add(rate.at, "unit", "%s has a price per %q, and only prices per hour (Hrs) and upfront fees (Quantity) are known; leave it out with \"!%s\".", p.name, clip(rate.unit), p.name)
		}
	}
	if r.total() > before {
		return
	}
	perHour := r.hourly(p, t, hours)
	upfront := r.fee(p, t, fees)
	from := r.moment(t.effective, "effective date", t.at)
	if from.IsZero() {
		from = r.sheet.Published
	}
	var terms Reserved
	if t.reserved {
		terms = r.offerTerms(p, t, perHour, upfront)
	}
	if r.total() > before || perHour == nil || upfront == nil {
		return
	}
	if !t.reserved {
		if !r.isFree(Stored(*perHour), "on-demand price", p.entry, t.at) {
			p.periods = append(p.periods, period{Price: Price{PerHour: *perHour, From: from}, at: t.at})
		}
		return
	}
	terms.PerHour, terms.Upfront, terms.From, terms.RateCode = *perHour, *upfront, from, t.code
	terms.Effective = EffectivePerHour(*perHour, *upfront, terms.TermYears)
	if !r.isFree(terms.Effective, fmt.Sprintf("reserved price (%s)", terms.Name), p.entry, t.at) {
		p.offers = append(p.offers, offer{terms, t.at})
	}
}

// hourly returns the one price of an hour that a term's rates give.
func (r *aws) hourly(p *product, t *term, hours []rate) *decimal.Decimal {
	var price *decimal.Decimal
	type span struct{ begin, end decimal.Decimal }
	var spans []span
	infinite := decimal.New(1, 30)
	for i, rate := range hours {
		if !r.inCurrency(rate.currency, rate.at) {
			return nil
		}
		x := r.amount(rate.price, "price per hour", rate.at)
		begin, end := r.bound(rate.begin, decimal.Decimal{}, rate.at), r.bound(rate.end, infinite, rate.at)
		if x == nil || begin == nil || end == nil {
			return nil
		}
		switch {
		case price == nil:
			price = x
		case !x.Equal(*price):
			r.add(rate.at, "tiers", "An hour of %s costs %s here and %s at %s; a plan has one price for all hours. Leave it out with \"!%s\", and enter its price by hand.", p.name, x, price, hours[i-1].at, p.name)
			return nil
		case slices.ContainsFunc(spans, func(s span) bool { return s.begin.Equal(*begin) && s.end.Equal(*end) }):
			r.skip(twice)
			continue
		}
		spans = append(spans, span{*begin, *end})
	}
	if price == nil {
		if t.reserved && t.payment == string(AllUpfront) {
			return &decimal.Decimal{}
		}
		r.add(t.at, "missing", "%s has no price per hour (unit Hrs) in this term; leave it out with \"!%s\".", p.name, p.name)
		return nil
	}
	slices.SortFunc(spans, func(x, y span) int { return x.begin.Cmp(y.begin) })
	reach := decimal.Decimal{}
	for _, s := range spans {
		if s.begin.GreaterThan(reach) {
			break
		}
		reach = decimal.Max(reach, s.end)
	}
	if !reach.Equal(infinite) {
		r.add(t.at, "tiers", "The price of %s does not hold for all hours, from 0 to Inf; leave it out with \"!%s\", and enter its price by hand.", p.name, p.name)
		return nil
	}
	return price
}

// bound reads the begin or end of a range of hours.
func (r *aws) bound(text string, otherwise decimal.Decimal, at place) *decimal.Decimal {
	switch {
	case text == "" || text == "Inf" && otherwise.IsPositive():
		return &otherwise
	case isAmount(text) && len(text) <= 20:
		x := decimal.RequireFromString(text)
		return &x
	}
	r.add(at, "type", "The range of hours has the bound %q; it should be a number or Inf.", clip(text))
	return nil
}

// fee returns the upfront fee of a term.
func (r *aws) fee(p *product, t *term, fees []rate) *decimal.Decimal {
	if len(fees) == 0 {
		return &decimal.Decimal{}
	}
	var fee *decimal.Decimal
	for _, rate := range fees {
		if !r.inCurrency(rate.currency, rate.at) {
			return nil
		}
		x := r.amount(rate.price, "upfront fee", rate.at)
		switch {
		case x == nil:
			return nil
		case fee != nil && x.Equal(*fee) && rate.code == fees[0].code:
			r.skip(twice)
		case fee != nil:
			r.add(rate.at, "duplicate", "%s has two upfront fees in this term, %s and %s; leave it out with \"!%s\".", p.name, fee, x, p.name)
			return nil
		}
		fee = x
	}
	return fee
}

// offerTerms reads the length and payment of a reserved offer, and checks the fees against them.
func (r *aws) offerTerms(p *product, t *term, perHour, upfront *decimal.Decimal) Reserved {
	years, isYears := strings.CutSuffix(strings.TrimSpace(t.lease), "yr")
	n, err := strconv.ParseInt(strings.TrimSpace(years), 10, 64)
	at := t.at.within("termAttributes", "LeaseContractLength")
	switch {
	case t.lease == "":
		r.add(at, "missing", "A reserved offer of %s has no term; it should say LeaseContractLength 1yr or 3yr. Leave %s out with \"!%s\", or ask for on-demand prices only.", p.name, p.name, p.name)
	case !isYears || err != nil || n < 1 || n > capacity.MaxTermYears:
		r.add(at, "type", "A reserved offer of %s has the term %q; only years are known, as in 1yr and 3yr. Leave %s out with \"!%s\", or ask for on-demand prices only.", p.name, clip(t.lease), p.name, p.name)
	}
	if t.class != "" && t.class != "standard" && t.class != "convertible" {
		r.add(t.at.within("termAttributes", "OfferingClass"), "choice", "A reserved offer of %s has the class %q; only standard and convertible are known. Ask for on-demand prices only.", p.name, clip(t.class))
	}
	r.checkPayment(t.payment, p.name, perHour, upfront, t.at.within("termAttributes", "PurchaseOption"))
	o := Reserved{TermYears: n, Class: t.class, Payment: Payment(t.payment), Billing: capacity.BilledAlways}
	o.Name = o.describe()
	return o
}

// describe makes up a name for an offer without one.
func (o Reserved) describe() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%dyr %s %s", o.TermYears, o.Class, o.Payment)), " ")
}

// checkPayment refuses amounts that contradict the offer's way of payment.
func (b *builder) checkPayment(payment, name string, perHour, upfront *decimal.Decimal, at place) {
	if !slices.Contains(payments, payment) {
		b.hint(at, "choice", didYouMean(payment, payments), "The way %s is paid is %q; it should be one of %s.", name, clip(payment), strings.Join(payments, ", "))
		return
	}
	if perHour == nil || upfront == nil {
		return
	}
	switch Payment(payment) {
	case NoUpfront:
		if !upfront.IsZero() {
			b.add(at, "conflict", "An offer of %s is paid without upfront fee and has one of %s; correct one of the two.", name, upfront)
		}
	case PartialUpfront:
		if upfront.IsZero() {
			b.add(at, "conflict", "An offer of %s is partly paid upfront and has no upfront fee; correct one of the two.", name)
		}
	case AllUpfront:
		if !perHour.IsZero() || upfront.IsZero() && !b.ZeroPrices {
			b.add(at, "conflict", "An offer of %s is all paid upfront, and has an upfront fee of %s and a price per hour of %s; correct one of them.", name, upfront, perHour)
		}
	}
}

// moment reads a time, or a date as midnight UTC; zero if there is none.
func (b *builder) moment(text, what string, at place) time.Time {
	if text == "" {
		return time.Time{}
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil && t.Year() >= 1970 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	b.add(at, "time", "The %s is %q; give one such as 2026-03-01 or 2026-03-01T00:00:00Z.", what, clip(text))
	return time.Time{}
}
