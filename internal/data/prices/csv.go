package prices

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// The columns of the simple CSV, in any order; all but the first two can be left out, or empty in a row. A row is an
// on-demand price, a spot price or a reserved offer of a VM type.
const (
	colVMType    = "vm_type"
	colPrice     = "price_per_hour"
	colPurchase  = "purchase" // on_demand (also when empty), spot or reserved
	colRegion    = "region"
	colCurrency  = "currency"
	colFrom      = "from"
	colUntil     = "until"
	colUpfront   = "upfront" // from here on for reserved offers
	colTermYears = "term_years"
	colPayment   = "payment"
	colClass     = "class"
	colBilling   = "billing"
	colMax       = "max"
	colName      = "name"
	colVCPU      = "vcpu" // from here on for the VM type
	colMemory    = "memory_gib"
	colGPUs      = "gpus"
)

// Columns returns the header of the simple CSV with all its columns.
func Columns() []string {
	return []string{colVMType, colRegion, colPurchase, colPrice, colUpfront, colTermYears, colPayment, colClass, colBilling, colMax, colName, colFrom, colUntil, colCurrency, colVCPU, colMemory, colGPUs}
}

var onlyReserved = []string{colUpfront, colTermYears, colPayment, colClass, colBilling, colMax, colName}

// simple reads the simple CSV.
type simple struct {
	*builder
	in      *rows
	columns map[string]int
}

func readCSV(in *rows, b *builder) error {
	r := &simple{builder: b, in: in}
	if !r.header() {
		return nil
	}
	width := len(in.record)
	for {
		err := in.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !slices.ContainsFunc(in.record, func(s string) bool { return strings.TrimSpace(s) != "" }):
			continue // spreadsheets leave such rows
		case len(in.record) != width:
			b.add(in.place(0), "columns", "The row has %d columns and the header %d; a comma or quote is missing, or the sheet was cut off here.", len(in.record), width)
			continue
		}
		if err := r.row(); err != nil {
			return err
		}
	}
}

// header maps the columns; it returns false if rows cannot be read.
func (r *simple) header() bool {
	known := Columns()
	r.columns = map[string]int{}
	first := r.in.record
	if len(first) == 1 && strings.Contains(first[0], ";") {
		r.add(r.in.place(0), "format", "The columns are separated by semicolons; save the sheet with commas.")
		return false
	}
	for i, name := range first {
		name = strings.ToLower(strings.TrimSpace(name))
		_, again := r.columns[name]
		switch {
		case !slices.Contains(known, name):
			hint := didYouMean(name, known)
			if hint == nil {
				hint = &fault.Hint{Detail: "The columns are " + strings.Join(known, ", ") + "."}
			}
			r.hint(r.in.place(i), "unknown_column", hint, "No column is called %q.", clip(name))
		case again:
			r.add(r.in.place(i), "duplicate", "The column %s is there twice; keep one.", name)
		default:
			r.columns[name] = i
		}
	}
	for _, name := range []string{colVMType, colPrice} {
		if _, there := r.columns[name]; !there {
			r.add(r.in.place(0), "missing", "The column %s is missing; the first row should name the columns.", name)
		}
	}
	if _, there := r.columns[colRegion]; !there && len(r.Regions) > 0 {
		r.add(r.in.place(0), "missing", "Regions are selected, and the sheet has no column region; select none, or add the column.")
	}
	return !r.any()
}

// field returns a row's value in a column, and its place.
func (r *simple) field(column string) (string, place) {
	i, there := r.columns[column]
	if !there {
		return "", r.in.place(0)
	}
	return strings.TrimSpace(r.in.record[i]), r.in.place(i)
}

func (r *simple) row() error {
	name, at := r.field(colVMType)
	region, regionAt := r.field(colRegion)
	name, region = strings.Clone(name), strings.Clone(region)
	if !isName(name) {
		r.add(at, "text", "The vm_type %q cannot be a name; it must have 1 to %d characters that can be seen.", clip(name), strict.MaxNameLength)
		return nil
	}
	if region != "" && !isName(region) {
		r.add(regionAt, "text", "The region %q cannot be a name; it can have %d characters that can be seen.", clip(region), strict.MaxNameLength)
		return nil
	}
	r.regions.add(region)
	if !r.inRegion(region, "") {
		r.skip(otherRegion)
		return nil
	}
	r.instances.add(name)
	if !r.isWanted(name) {
		r.skip(otherInstance)
		return nil
	}
	if len(r.Regions) == 0 && len(r.regions.list) > 1 {
		return nil // finish reports it
	}
	if err := r.count(at); err != nil {
		return err
	}
	e, _, err := r.entryOf(name, region, at)
	if err != nil {
		return err
	}
	vcpu, vcpuAt := r.field(colVCPU)
	memory, memoryAt := r.field(colMemory)
	gpus, gpusAt := r.field(colGPUs)
	r.describe(e, r.whole(vcpu, "number of vCPUs", vcpuAt), r.whole(gpus, "number of GPUs", gpusAt), r.memory(memory, memoryAt), at)
	r.price(e)
	return nil
}

// price adds the row's price or offer unless it has faults.
func (r *simple) price(e *entry) {
	before := r.total()
	failed := func() bool { return r.total() > before }
	purchase, purchaseAt := r.field(colPurchase)
	known := []string{"on_demand", "spot", "reserved"}
	if purchase != "" && !slices.Contains(known, purchase) {
		r.hint(purchaseAt, "choice", didYouMean(purchase, known), "The purchase is %q; it should be one of %s.", clip(purchase), strings.Join(known, ", "))
		return
	}
	reserved := purchase == "reserved"
	currency, at := r.field(colCurrency)
	if currency == "" && r.sheet.Currency == "" {
		r.add(at, "missing", "The row has no currency; add a column currency, or say which it is.")
		return
	}
	if currency != "" && !r.inCurrency(currency, at) {
		return
	}
	text, priceAt := r.field(colPrice)
	if text == "" {
		cure := "what an hour of the VM costs"
		if reserved {
			cure = "0 if all is paid upfront"
		}
		r.add(priceAt, "missing", "The row has no price_per_hour; write %s.", cure)
		return
	}
	perHour := r.amount(text, "price per hour", priceAt)
	from, fromAt := r.field(colFrom)
	until, untilAt := r.field(colUntil)
	p := Price{From: r.moment(from, "beginning", fromAt)}
	if end := r.moment(until, "end", untilAt); !end.IsZero() {
		p.Until = &end
	}
	switch {
	case reserved && until != "":
		r.add(untilAt, "conflict", "A reserved offer ends by its term; leave until empty.")
	case p.Until != nil && !p.Until.After(p.From):
		r.add(untilAt, "order", "The price ends at %s, which is not after its beginning at %s; correct one of the two.", p.Until.Format(time.RFC3339), p.From.Format(time.RFC3339))
	}
	if !reserved {
		for _, column := range onlyReserved {
			if text, at := r.field(column); text != "" {
				r.add(at, "conflict", "%s is of reserved offers, and the purchase of this row is %s; leave it empty, or write reserved.", column, cmp.Or(purchase, "on_demand"))
			}
		}
		if perHour == nil || failed() || r.isFree(Stored(*perHour), "price", e, priceAt) {
			return
		}
		p.PerHour = *perHour
		e.periods = append(e.periods, period{Price: p, spot: purchase == "spot", at: priceAt})
		return
	}
	o := r.offer(e, perHour)
	if failed() {
		return
	}
	o.From = p.From
	if !r.isFree(o.Effective, "price", e, priceAt) {
		e.offers = append(e.offers, offer{o, priceAt})
	}
}

// offer reads the rest of a reserved offer; its price per hour is nil if unknown.
func (r *simple) offer(e *entry, perHour *decimal.Decimal) Reserved {
	o := Reserved{Billing: capacity.BilledAlways}
	upfront := &decimal.Decimal{}
	if text, at := r.field(colUpfront); text != "" {
		upfront = r.amount(text, "upfront fee", at)
	}
	switch text, at := r.field(colTermYears); {
	case text == "":
		r.add(at, "missing", "A reserved offer has no term; write its years into term_years, such as 1 or 3.")
	default:
		years, err := strconv.ParseInt(text, 10, 64)
		if err != nil || years < 1 || years > capacity.MaxTermYears {
			r.add(at, "range", "The term is %q; it should be a whole number of years from 1 to %d.", clip(text), capacity.MaxTermYears)
		}
		o.TermYears = years
	}
	choice := func(column string, known []string, otherwise string) string {
		text, at := r.field(column)
		if text == "" {
			return otherwise
		}
		if i := slices.IndexFunc(known, func(k string) bool { return bareColumn(k) == bareColumn(text) }); i >= 0 {
			return known[i]
		}
		r.hint(at, "choice", didYouMean(text, known), "The %s is %q; it should be one of %s.", column, clip(text), strings.Join(known, ", "))
		return otherwise
	}
	o.Class = choice(colClass, []string{"standard", "convertible"}, "")
	o.Billing = capacity.Billing(choice(colBilling, []string{string(capacity.BilledUsed), string(capacity.BilledAlways)}, string(o.Billing)))
	if text, at := r.field(colMax); text != "" {
		highest, err := strconv.ParseInt(text, 10, 64)
		if err != nil || highest < 1 || highest > capacity.MaxOfferVMs {
			r.add(at, "range", "The max is %q; it should be a whole number of VMs from 1 to %d, or empty.", clip(text), capacity.MaxOfferVMs)
		}
		o.Max = highest
	}
	if perHour == nil || upfront == nil || o.TermYears < 1 {
		return o
	}
	o.PerHour, o.Upfront, o.Effective = *perHour, *upfront, EffectivePerHour(*perHour, *upfront, o.TermYears)
	o.Payment = Payment(choice(colPayment, payments, string(paidBy(*perHour, *upfront))))
	_, at := r.field(colPayment)
	r.checkPayment(string(o.Payment), e.Name, perHour, upfront, at)
	text, at := r.field(colName)
	if o.Name = strings.Clone(text); o.Name == "" {
		o.Name = o.describe()
	} else if !isName(o.Name) {
		r.add(at, "text", "The name %q cannot be one; it must have 1 to %d characters that can be seen.", clip(text), strict.MaxNameLength)
	}
	return o
}

// paidBy returns the way of payment that the amounts imply.
func paidBy(perHour, upfront decimal.Decimal) Payment {
	switch {
	case upfront.IsZero():
		return NoUpfront
	case perHour.IsZero():
		return AllUpfront
	}
	return PartialUpfront
}
