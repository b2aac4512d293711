package prices

import (
	"io"
	"slices"
	"strings"
)

// awsJSON reads AWS's offer file: products first, then the terms of the wanted ones.
type awsJSON struct {
	aws
	in    *scanner
	words map[string]string // interned values
}

func readAWS(in io.Reader, b *builder) error {
	r := &awsJSON{aws: aws{builder: b, bySKU: map[string]*product{}}, in: newScanner(in), words: map[string]string{}}
	return r.file()
}

func (r *awsJSON) file() error {
	products, terms := false, false
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		name := string(r.in.key())
		at := place{pointer: "/" + clip(name), offset: r.in.offset()}
		switch name {
		case "offerCode":
			if code := r.word(at); code != "AmazonEC2" && r.in.err == nil {
				return refusal(at, "format", "This is the price sheet of %q; fetch that of AmazonEC2.", clip(code))
			}
		case "version":
			r.sheet.Version = clip(r.word(at))
		case "publicationDate":
			r.sheet.Published = r.moment(r.word(at), "publication date", at)
		case "products":
			if products {
				return refusal(at, "duplicate", "The file has its products twice; fetch it again.")
			}
			products = true
			if err := r.products(); err != nil {
				return err
			}
		case "terms":
			switch {
			case terms:
				return refusal(at, "duplicate", "The file has its terms twice; fetch it again.")
			case !products:
				return refusal(at, "order", "The terms stand before the products, and the file is read from front to back once; put the products first, as AWS's own file has them.")
			}
			terms = true
			if err := r.allTerms(); err != nil {
				return err
			}
		default:
			r.in.skip()
		}
		if r.in.err != nil {
			return r.in.err
		}
	}
	if r.in.next() != 0 {
		r.in.unexpected("the end of the sheet")
	}
	switch {
	case r.in.err != nil:
		return r.in.err
	case !products || !terms:
		return refusal(place{line: 1, column: 1}, "format", "This JSON has no products and terms; give the offer file of EC2 as AWS publishes it (index.json), or a CSV.")
	}
	return nil
}

// word reads a text. Numbers are kept as written.
func (r *awsJSON) word(at place) string {
	var text []byte
	switch r.in.next() {
	case '"':
		text = r.in.text()
	case '{', '[':
		r.add(at, "type", "Here should be a text; fetch the sheet again.")
		r.in.skip()
		return ""
	default:
		if text = r.in.bare(); string(text) == "null" {
			return ""
		}
	}
	if word, known := r.words[string(text)]; known {
		return word
	}
	word := string(text)
	if len(r.words) < 20_000 && len(word) < 100 {
		r.words[word] = word
	}
	return word
}

func (r *awsJSON) products() error {
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		a := attributes{sku: string(r.in.key())}
		at := place{pointer: "/products", offset: r.in.offset()}.within(a.sku)
		for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
			switch name := r.in.key(); string(name) {
			case "sku":
				if sku := r.word(at); sku != a.sku && r.in.err == nil {
					r.add(at, "conflict", "The product is listed as %q and says that it is %q; fetch the sheet again.", clip(a.sku), clip(sku))
				}
			case "productFamily":
				a.family = r.word(at)
			case "attributes":
				r.attributes(&a, at)
			default:
				r.in.skip()
			}
		}
		if r.in.err != nil {
			return r.in.err
		}
		if _, err := r.product(a, at); err != nil {
			return err
		}
	}
	return r.in.err
}

func (r *awsJSON) attributes(a *attributes, at place) {
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		var into *string
		switch name := r.in.key(); string(name) {
		case "instanceType":
			into = &a.name
		case "regionCode":
			into = &a.region
		case "location":
			into = &a.location
		case "locationType":
			into = &a.locationType
		case "operatingSystem":
			into = &a.system
		case "tenancy":
			into = &a.tenancy
		case "preInstalledSw":
			into = &a.software
		case "capacitystatus":
			into = &a.capacity
		case "marketoption":
			into = &a.market
		case "operation":
			into = &a.operation
		case "vcpu":
			into = &a.vcpu
		case "memory":
			into = &a.memory
		case "gpu":
			into = &a.gpus
		default:
			r.in.skip()
			continue
		}
		if *into != "" {
			r.add(at, "duplicate", "The product has an attribute twice; fetch the sheet again.")
		}
		*into = r.word(at)
	}
}

func (r *awsJSON) allTerms() error {
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		kind := string(r.in.key())
		if kind != "OnDemand" && kind != "Reserved" {
			r.in.skip()
			continue
		}
		for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
			p := r.bySKU[string(r.in.key())]
			if p == nil {
				r.in.skip()
				continue
			}
			if err := r.termsOf(p, kind); err != nil {
				return err
			}
		}
	}
	return r.in.err
}

func (r *awsJSON) termsOf(p *product, kind string) error {
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		t := &term{code: string(r.in.key()), reserved: kind == "Reserved"}
		t.at = place{pointer: "/terms/" + kind, offset: r.in.offset()}.within(p.sku, t.code)
		for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
			switch name := r.in.key(); string(name) {
			case "sku":
				if sku := r.word(t.at); sku != p.sku && r.in.err == nil {
					r.add(t.at, "conflict", "The term stands with the SKU %s and says that it is of %q; fetch the sheet again.", p.sku, clip(sku))
				}
			case "effectiveDate":
				t.effective = r.word(t.at)
			case "termAttributes":
				r.termAttributes(t)
			case "priceDimensions":
				r.rates(t)
			default:
				r.in.skip()
			}
		}
		if r.in.err != nil {
			return r.in.err
		}
		if err := r.count(t.at); err != nil {
			return err
		}
		if len(t.code) > maxField {
			r.add(t.at, "too_long", "The term's code is longer than %d bytes; fetch the sheet again.", maxField)
			continue
		}
		if len(t.rates) > maxRates {
			return refusal(t.at, "too_many", "The term has more than %d prices; fetch the sheet again.", maxRates)
		}
		r.judge(p, t)
	}
	return r.in.err
}

func (r *awsJSON) termAttributes(t *term) {
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		switch name := r.in.key(); string(name) {
		case "LeaseContractLength":
			t.lease = r.word(t.at)
		case "OfferingClass":
			t.class = r.word(t.at)
		case "PurchaseOption":
			t.payment = r.word(t.at)
		default:
			r.in.skip()
		}
	}
}

func (r *awsJSON) rates(t *term) {
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		code := string(r.in.key())
		one := rate{code: code, at: place{pointer: t.at.pointer, offset: r.in.offset()}.within("priceDimensions", code)}
		for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
			switch name := r.in.key(); string(name) {
			case "unit":
				one.unit = r.word(one.at)
			case "beginRange":
				one.begin = r.word(one.at)
			case "endRange":
				one.end = r.word(one.at)
			case "pricePerUnit":
				r.pricePerUnit(&one)
			default:
				r.in.skip()
			}
		}
		if len(t.rates) <= maxRates {
			t.rates = append(t.rates, one)
		}
	}
}

// pricePerUnit takes the price in the requested currency; without a request, the only one.
func (r *awsJSON) pricePerUnit(one *rate) {
	var currencies []string
	for ok := r.in.enter('{', '}'); ok; ok = r.in.again('}') {
		currency := strings.Clone(string(r.in.key()))
		price := r.word(one.at)
		if slices.Contains(currencies, clip(currency)) {
			r.add(one.at, "duplicate", "The price in %s is given twice; correct it, or fetch the sheet again.", clip(currency))
		}
		if len(currencies) < 5 {
			currencies = append(currencies, clip(currency))
		}
		if one.currency == "" || currency == r.Currency {
			one.currency, one.price = currency, price
		}
	}
	if len(currencies) > 1 && r.Currency == "" {
		r.add(one.at, "currency", "The price is given in several currencies (%s); say which is wanted.", strings.Join(currencies, ", "))
	}
}
