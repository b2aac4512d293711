package prices

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
)

// builder collects the selected part of a sheet of any form, and all its faults.
type builder struct {
	faults
	filter
	sheet   Sheet
	entries map[string]*entry // by region and name
	prices  int
	foreign []foreign // prices in a currency that was not requested
}

// entry is an instance being put together.
type entry struct {
	Instance
	regionName string
	at         place
	periods    []period
	offers     []offer
}

type period struct {
	Price
	spot bool
	at   place
}

type offer struct {
	Reserved
	at place
}

type foreign struct {
	currency string
	prices   int
	at       place // the first
}

// Reasons for leaving out rows, in words for people.
const (
	otherProduct  = "no virtual machine"
	bareMetal     = "bare metal"
	noType        = "no instance type"
	otherPlace    = "outside a region, as local zones are"
	otherRegion   = "another region"
	otherSystem   = "an operating system other than Linux"
	otherTenancy  = "a tenancy other than shared"
	withSoftware  = "software preinstalled"
	otherCapacity = "reserved or unused capacity"
	otherMarket   = "a market of its own, as capacity blocks are"
	otherWork     = "an operation other than RunInstances"
	otherInstance = "another instance"
	noPrice       = "no price"
	twice         = "the same price again"
	otherTerm     = "neither an on-demand nor a reserved price"
	notAsked      = "a reserved offer, and only on-demand prices are asked for"
)

func newBuilder(f filter) *builder {
	return &builder{filter: f, entries: map[string]*entry{}, sheet: Sheet{Currency: f.Currency, Skipped: map[string]int64{}}}
}

func (b *builder) skip(why string) { b.sheet.Skipped[why]++ }

// entryOf returns the instance of a name in a region, made if new. It refuses too many of them.
func (b *builder) entryOf(name, region string, at place) (e *entry, isNew bool, err error) {
	key := region + "\x00" + name
	if e := b.entries[key]; e != nil {
		return e, false, nil
	}
	if len(b.entries) == maxInstances {
		return nil, false, refusal(at, "too_many", "The selection takes in more than %d instances; select fewer regions or instances.", maxInstances)
	}
	e = &entry{Instance: Instance{Name: name, Region: region}, at: at}
	b.entries[key] = e
	return e, true, nil
}

// describe sets the size of an instance; a repeated size must be the same.
func (b *builder) describe(e *entry, vcpu, gpus int64, memory decimal.Decimal, at place) {
	if e.VCPU != 0 && vcpu != 0 && e.VCPU != vcpu || e.GPUs != 0 && gpus != 0 && e.GPUs != gpus || !e.MemoryGiB.IsZero() && !memory.IsZero() && !e.MemoryGiB.Equal(memory) {
		b.add(at, "conflict", "%s has another size here (%d vCPU, %s GiB, %d GPUs) than at %s (%d, %s, %d); give one.", e.Name, vcpu, memory, gpus, e.at, e.VCPU, e.MemoryGiB, e.GPUs)
		return
	}
	e.VCPU, e.GPUs = cmp.Or(e.VCPU, vcpu), cmp.Or(e.GPUs, gpus)
	if e.MemoryGiB.IsZero() {
		e.MemoryGiB = memory
	}
}

// count refuses more prices than a plan can use.
func (b *builder) count(at place) error {
	if b.prices++; b.prices > maxPrices {
		return refusal(at, "too_many", "The selection has more than %d prices; select fewer regions or instances.", maxPrices)
	}
	return nil
}

// inCurrency records a price's currency, and reports whether it is the wanted one.
func (b *builder) inCurrency(currency string, at place) bool {
	if b.sheet.Currency == "" {
		if len(currency) != 3 || strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			b.add(at, "currency", "%q is no currency; it should be three capital letters such as USD.", clip(currency))
			return false
		}
		b.sheet.Currency = strings.Clone(currency)
	}
	if currency == b.sheet.Currency {
		return true
	}
	i := slices.IndexFunc(b.foreign, func(f foreign) bool { return f.currency == currency })
	if i < 0 {
		if i = len(b.foreign); i == 20 {
			return false
		}
		b.foreign = append(b.foreign, foreign{currency: strings.Clone(clip(currency)), at: at})
	}
	b.foreign[i].prices++
	return false
}

// amount reads a price or fee in digits, or records a fault and returns nil.
func (b *builder) amount(text, what string, at place) *decimal.Decimal {
	const example = "give digits with a point, such as 0.10"
	hint := func(instead string) *fault.Hint {
		if isAmount(instead) {
			return &fault.Hint{Detail: fmt.Sprintf("Write %s.", instead), Pointer: at.pointer, Value: instead}
		}
		return nil
	}
	switch {
	case isAmount(text):
	case strings.HasPrefix(text, "-") && isAmount(text[1:]):
		b.add(at, "range", "The %s is %s; it cannot be negative.", what, clip(text))
		return nil
	case inputs.Thousands(text):
		b.add(at, "type", "The %s is %q, which is no amount: the comma may stand between thousands or before a fraction; %s.", what, clip(text), example)
		return nil
	default:
		b.hint(at, "type", hint(strings.Replace(strings.TrimLeft(text, "$€£¥ "), ",", ".", 1)), "The %s is %q, which is no amount; %s.", what, clip(text), example)
		return nil
	}
	x, err := decimal.NewFromString(text)
	if err != nil || x.GreaterThan(decimal.New(money.Max, 0)) {
		b.add(at, "range", "The %s is %s, more than the %d that money can be.", what, clip(text), int64(money.Max))
		return nil
	}
	return &x
}

// isAmount reports whether a text is digits, perhaps with a point between them. Amounts have at most forty
// characters.
func isAmount(text string) bool {
	whole, fraction, point := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return len(text) <= 40 && digits(whole) && (!point || digits(fraction))
}

// isFree refuses prices of zero, unless they were requested.
func (b *builder) isFree(stored money.Amount, what string, e *entry, at place) bool {
	if stored.IsPositive() || b.ZeroPrices {
		return false
	}
	b.add(at, "zero_price", "The %s of %s is 0, which would make it free; correct it, leave it out with \"!%s\", or ask for prices of zero.", what, e.Name, e.Name)
	return true
}

// finish returns the sheet, or one error with every fault; ended is the reason if the reading ended early.
func (b *builder) finish(ended error) (Sheet, error) {
	var last *fault.InputError
	switch {
	case errors.As(ended, &last):
		b.more += max(0, len(b.first)+len(last.Findings)-fault.MaxFindings+1)
		b.first = append(slices.Clone(last.Findings), b.first[:min(len(b.first), fault.MaxFindings-1-len(last.Findings))]...)
		return Sheet{}, b.err()
	case ended != nil:
		return Sheet{}, ended
	}
	if len(b.Regions) == 0 && len(b.regions.list) > 1 {
		return Sheet{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/regions", Code: "missing",
			Detail: fmt.Sprintf("The sheet has several regions (%s); say by its region which one is wanted.", some(b.regions.list))}}}
	}
	for _, f := range b.foreign {
		more := ""
		if f.prices > 1 {
			more = fmt.Sprintf(", and so are %d more", f.prices-1)
		}
		b.add(f.at, "currency", "The price is in %s and not in %s%s; take a sheet that is in %s, or plan in %s.", f.currency, b.sheet.Currency, more, b.sheet.Currency, f.currency)
	}
	for _, key := range slices.Sorted(maps.Keys(b.entries)) { // by region, then name
		e := b.entries[key]
		if len(e.periods) == 0 && len(e.offers) == 0 {
			b.skip(noPrice)
			continue
		}
		b.taken(e.Name, e.Region, e.regionName)
		b.settle(e)
		b.sheet.Instances = append(b.sheet.Instances, e.Instance)
	}
	if !b.any() {
		if b.unmet(&b.faults); !b.any() && len(b.sheet.Instances) == 0 {
			b.add(place{}, "missing", "The sheet has no price of an instance that is selected; see whether it is the right sheet.")
		}
	}
	slices.SortStableFunc(b.first, func(x, y fault.Finding) int { return cmp.Compare(x.Line, y.Line) })
	if err := b.err(); err != nil {
		return Sheet{}, err
	}
	return b.sheet, nil
}

// settle sorts an instance's prices and refuses contradictions.
func (b *builder) settle(e *entry) {
	slices.SortStableFunc(e.periods, func(x, y period) int { return x.From.Compare(y.From) })
	e.OnDemand, e.Spot = b.periodsOf(e, false), b.periodsOf(e, true)
	named := map[string]offer{}
	for _, o := range e.offers {
		before, known := named[o.Name]
		switch {
		case !known:
			named[o.Name] = o
			o.Where = o.at.String()
			e.Reserved = append(e.Reserved, o.Reserved)
		case o.PerHour.Equal(before.PerHour) && o.Upfront.Equal(before.Upfront) && o.Billing == before.Billing && o.Max == before.Max && o.TermYears == before.TermYears:
			b.skip(twice)
		default:
			b.add(o.at, "duplicate", "%s has the offer %q here at %s upfront and %s an hour, and at %s at %s and %s; keep one of them, or give them names.",
				e.Name, o.Name, o.Upfront, o.PerHour, before.at, before.Upfront, before.PerHour)
		}
	}
	slices.SortStableFunc(e.Reserved, func(x, y Reserved) int {
		return cmp.Or(cmp.Compare(x.TermYears, y.TermYears), cmp.Compare(x.Class, y.Class), cmp.Compare(slices.Index(payments, string(x.Payment)), slices.Index(payments, string(y.Payment))), cmp.Compare(x.Name, y.Name))
	})
}

// periodsOf returns an instance's prices of a kind, in order and without overlaps.
func (b *builder) periodsOf(e *entry, spot bool) []Price {
	var kept []Price
	var last period
	for _, p := range e.periods {
		switch overlaps := len(kept) > 0 && (last.Until == nil || last.Until.After(p.From)); {
		case p.spot != spot:
			continue
		case overlaps && p.PerHour.Equal(last.PerHour) && sameMoment(p.Until, last.Until):
			b.skip(twice)
			continue
		case overlaps:
			kind := "on-demand"
			if spot {
				kind = "spot"
			}
			b.add(p.at, "duplicate", "%s has the %s price %s here%s, and at %s it is %s%s; keep one of them, or let the first end where the second begins.",
				e.Name, kind, p.PerHour, inForce(p.Price), last.at, last.PerHour, inForce(last.Price))
			continue
		}
		p.Where = p.at.String()
		kept, last = append(kept, p.Price), p
	}
	return kept
}

func sameMoment(x, y *time.Time) bool {
	return x == nil && y == nil || x != nil && y != nil && x.Equal(*y)
}

// inForce writes the validity of a price, for a sentence.
func inForce(p Price) string {
	s := ""
	if !p.From.IsZero() {
		s += " from " + p.From.UTC().Format(time.RFC3339)
	}
	if p.Until != nil {
		s += " until " + p.Until.UTC().Format(time.RFC3339)
	}
	return s
}
