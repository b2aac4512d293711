package prices

import (
	"errors"
	"io"
	"strings"
)

// awsColumns holds the columns that are read of AWS's CSV, by their names without spaces and case.
type awsColumns struct {
	sku, term, rateCode, kind, effective, begin, end, unit, price, currency, lease, payment, class       int
	family, name, region, location, locationType, system, tenancy, software, capacity, market, operation int
	vcpu, memory, gpus                                                                                   int
}

func (c *awsColumns) find(header []string) (missing []string) {
	at := map[string]int{}
	for i, name := range header {
		if bare := bareColumn(name); at[bare] == 0 { // the first of a name
			at[bare] = i + 1
		}
	}
	for _, column := range []struct {
		into     *int
		required bool
		name     string
	}{
		{&c.sku, true, "SKU"}, {&c.term, true, "OfferTermCode"}, {&c.rateCode, false, "RateCode"}, {&c.kind, true, "TermType"},
		{&c.effective, false, "EffectiveDate"}, {&c.begin, false, "StartingRange"}, {&c.end, false, "EndingRange"},
		{&c.unit, true, "Unit"}, {&c.price, true, "PricePerUnit"}, {&c.currency, true, "Currency"},
		{&c.lease, false, "LeaseContractLength"}, {&c.payment, false, "PurchaseOption"}, {&c.class, false, "OfferingClass"},
		{&c.family, true, "Product Family"}, {&c.name, true, "Instance Type"}, {&c.region, false, "Region Code"},
		{&c.location, false, "Location"}, {&c.locationType, false, "Location Type"}, {&c.system, true, "Operating System"},
		{&c.tenancy, true, "Tenancy"}, {&c.software, false, "Pre Installed S/W"}, {&c.capacity, false, "CapacityStatus"},
		{&c.market, false, "MarketOption"}, {&c.operation, false, "operation"},
		{&c.vcpu, false, "vCPU"}, {&c.memory, false, "Memory"}, {&c.gpus, false, "GPU"},
	} {
		*column.into = at[bareColumn(column.name)] - 1
		if *column.into < 0 && column.required {
			missing = append(missing, column.name)
		}
	}
	return missing
}

func bareColumn(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", "/", "").Replace(name))
}

// readAWSCSV reads AWS's offer file as a CSV, whose rows are rates with their product beside them.
func readAWSCSV(in *rows, b *builder) error {
	r := &aws{builder: b, bySKU: map[string]*product{}}
	for bareColumn(in.record[0]) != "sku" {
		value := ""
		if len(in.record) > 1 {
			value = in.record[1]
		}
		switch bareColumn(in.record[0]) {
		case "publicationdate":
			r.sheet.Published = r.moment(value, "publication date", in.place(1))
		case "version":
			r.sheet.Version = strings.Clone(clip(value))
		case "offercode":
			if value != "AmazonEC2" {
				return refusal(in.place(1), "format", "This is the price sheet of %q; fetch that of AmazonEC2.", clip(value))
			}
		}
		err := in.read()
		if errors.Is(err, io.EOF) || in.line > 20 {
			return refusal(place{line: in.line, column: 1}, "format", "No row begins with SKU; the header should stand in row 6, after five rows about the sheet. Fetch the sheet again.")
		}
		if err != nil {
			return err
		}
	}
	var columns awsColumns
	if missing := columns.find(in.record); len(missing) > 0 {
		return refusal(in.place(0), "missing", "The header has no column %s; fetch the sheet again, and leave its columns as they are.", strings.Join(missing, ", "))
	}
	width := len(in.record)
	for {
		err := in.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(in.record) != width {
			b.add(in.place(0), "columns", "The row has %d columns and the header %d; a comma or quote is missing, or the sheet was cut off here.", len(in.record), width)
			continue
		}
		if err := r.row(in, &columns); err != nil {
			return err
		}
	}
	for _, p := range r.order {
		for _, t := range p.inOrder {
			r.judge(p, t)
		}
	}
	return nil
}

// row reads a rate with its product and term.
func (r *aws) row(in *rows, c *awsColumns) error {
	field := func(column int) string {
		if column < 0 {
			return ""
		}
		return in.record[column]
	}
	a := attributes{
		sku: field(c.sku), family: field(c.family), name: field(c.name), region: field(c.region), location: field(c.location), locationType: field(c.locationType),
		system: field(c.system), tenancy: field(c.tenancy), software: field(c.software), capacity: field(c.capacity), market: field(c.market), operation: field(c.operation),
		vcpu: field(c.vcpu), memory: field(c.memory), gpus: field(c.gpus),
	}
	kind := field(c.kind)
	if a.family == "Compute Instance" && kind != "OnDemand" && kind != "Reserved" {
		r.skip(otherTerm)
		return nil
	}
	at := in.place(0)
	p := r.bySKU[a.sku]
	if p == nil || p.attributes != a {
		var err error
		if p, err = r.product(a, at); p == nil || err != nil {
			return err
		}
	}
	for _, column := range []int{c.term, c.rateCode, c.effective, c.begin, c.end, c.unit, c.price, c.currency, c.lease, c.payment, c.class} {
		if len(field(column)) > maxField {
			r.add(in.place(column), "too_long", "This is longer than %d bytes; fetch the sheet again.", maxField)
			return nil
		}
	}
	if err := r.count(at); err != nil {
		return err
	}
	code := field(c.term)
	t := p.terms[kind+"."+code]
	if t == nil {
		if len(p.inOrder) == maxTerms {
			return refusal(at, "too_many", "The product %s has more than %d terms; fetch the sheet again.", p.sku, maxTerms)
		}
		t = &term{code: p.sku + "." + code, reserved: kind == "Reserved", effective: strings.Clone(field(c.effective)),
			lease: strings.Clone(field(c.lease)), class: strings.Clone(field(c.class)), payment: strings.Clone(field(c.payment)), at: at}
		if p.terms == nil {
			p.terms = map[string]*term{}
		}
		p.terms[kind+"."+code] = t
		p.inOrder = append(p.inOrder, t)
	}
	if t.lease != field(c.lease) || t.class != field(c.class) || t.payment != field(c.payment) {
		r.add(at, "conflict", "The term %s has other conditions here than at %s; fetch the sheet again.", t.code, t.at)
		return nil
	}
	if len(t.rates) == maxRates {
		return refusal(at, "too_many", "The term %s has more than %d prices; fetch the sheet again.", t.code, maxRates)
	}
	t.rates = append(t.rates, rate{code: strings.Clone(field(c.rateCode)), unit: strings.Clone(field(c.unit)), begin: strings.Clone(field(c.begin)), end: strings.Clone(field(c.end)),
		currency: strings.Clone(field(c.currency)), price: strings.Clone(field(c.price)), at: in.place(c.price)})
	return nil
}
