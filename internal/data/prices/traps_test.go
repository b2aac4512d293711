package prices

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
)

// offers wraps products and terms in AWS's file.
func offers(products, onDemand, reserved string) string {
	return fmt.Sprintf(`{"formatVersion": "v1.0", "offerCode": "AmazonEC2", "version": "1", "publicationDate": "2026-03-01T00:00:00Z",
"products": {%s},
"terms": {"OnDemand": {%s},
"Reserved": {%s}}}`, products, onDemand, reserved)
}

// machine returns a right product with changes: a name and its value, in turn.
func machine(sku string, changes ...string) string {
	family := "Compute Instance"
	order := strings.Fields("instanceType regionCode location locationType operatingSystem tenancy preInstalledSw capacitystatus marketoption operation vcpu memory")
	values := map[string]string{"instanceType": "m5.xlarge", "regionCode": "eu-west-1", "location": "EU (Ireland)", "locationType": "AWS Region", "operatingSystem": "Linux", "tenancy": "Shared",
		"preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand", "operation": "RunInstances", "vcpu": "4", "memory": "16 GiB"}
	for i := 0; i < len(changes); i += 2 {
		if changes[i] == "family" {
			family = changes[i+1]
			continue
		}
		if _, known := values[changes[i]]; !known {
			order = append(order, changes[i])
		}
		values[changes[i]] = changes[i+1]
	}
	var members []string
	for _, name := range order {
		if values[name] != "-" { // leave out
			members = append(members, fmt.Sprintf("%q: %q", name, values[name]))
		}
	}
	return fmt.Sprintf(`"%s": {"sku": "%s", "productFamily": %q, "attributes": {%s}}`, sku, sku, family, strings.Join(members, ", "))
}

func hourlyRate(code, price string) string {
	return fmt.Sprintf(`"%s": {"rateCode": "%s", "description": "$%s an hour", "beginRange": "0", "endRange": "Inf", "unit": "Hrs", "pricePerUnit": {"USD": "%s"}, "appliesTo": []}`, code, code, price, price)
}

func feeRate(code, price string) string {
	return fmt.Sprintf(`"%s": {"rateCode": "%s", "description": "Upfront Fee", "unit": "Quantity", "pricePerUnit": {"USD": "%s"}, "appliesTo": []}`, code, code, price)
}

func onDemandTerm(sku, price string) string {
	return fmt.Sprintf(`"%s": {"%s.JRTCKXETXF": {"offerTermCode": "JRTCKXETXF", "sku": "%s", "effectiveDate": "2026-02-01T00:00:00Z", "priceDimensions": {%s}, "termAttributes": {}}}`, sku, sku, sku, hourlyRate(sku+".JRTCKXETXF.6YS6EN2CT7", price))
}

func reservedTerm(code, attributes string, rates ...string) string {
	sku, _, _ := strings.Cut(code, ".")
	return fmt.Sprintf(`"%s": {"%s": {"sku": "%s", "effectiveDate": "2026-02-01T00:00:00Z", "priceDimensions": {%s}, "termAttributes": {%s}}}`, sku, code, sku, strings.Join(rates, ", "), attributes)
}

const threeYears = `"LeaseContractLength": "3yr", "OfferingClass": "convertible", "PurchaseOption": "Partial Upfront"`

func read(text string, sel Selection) (Sheet, error) { return Read(strings.NewReader(text), sel, nil) }

// listing returns a sheet in short lines.
func listing(s Sheet) string {
	var b strings.Builder
	for _, i := range s.Instances {
		fmt.Fprintf(&b, "%s %s %d/%s", i.Region, i.Name, i.VCPU, i.MemoryGiB)
		for _, p := range i.OnDemand {
			fmt.Fprintf(&b, "; %s%s", p.PerHour, inForce(p))
		}
		for _, p := range i.Spot {
			fmt.Fprintf(&b, "; spot %s%s", p.PerHour, inForce(p))
		}
		for _, o := range i.Reserved {
			fmt.Fprintf(&b, "; %s: %s + %s = %s, %s", o.Name, o.Upfront, o.PerHour, o.Effective, o.Billing)
			if o.Max > 0 {
				fmt.Fprintf(&b, ", %d at most", o.Max)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// refused returns the error as an InputError; the sheet beside it must be empty.
func refused(t testing.TB, s Sheet, err error) *fault.InputError {
	t.Helper()
	var input *fault.InputError
	if !errors.As(err, &input) || len(input.Findings) == 0 || len(input.Findings) > fault.MaxFindings || !errors.Is(err, fault.Invalid) {
		t.Fatalf("got the error %v, want an InputError", err)
	}
	if diff := cmp.Diff(Sheet{}, s, alike); diff != "" {
		t.Fatalf("beside an error there is a part of the sheet:\n%s", diff)
	}
	for _, f := range input.Findings {
		if f.Detail == "" || f.Code == "" || !strings.HasSuffix(f.Detail, ".") && !strings.HasSuffix(f.Detail, ")") {
			t.Errorf("the finding %+v is no sentence with a code", f)
		}
	}
	return input
}

func TestTrapsOfAWSsFile(t *testing.T) {
	plain := machine("A1")
	price := onDemandTerm("A1", "0.1920000000")
	twin := func(changes ...string) string {
		return offers(plain+", "+machine("B2", changes...), price+", "+onDemandTerm("B2", "0.0000000000"), "")
	}
	offer := func(attributes string, rates ...string) string {
		return offers(plain, price, reservedTerm("A1.R", attributes, rates...))
	}
	hours, fee := hourlyRate("A1.R.H", "0.0600000000"), feeRate("A1.R.F", "1000")
	const alone = "eu-west-1 m5.xlarge 4/16; 0.192 from 2026-02-01T00:00:00Z"
	for _, c := range []struct{ situation, sheet, want string }{
		{"one machine", offers(plain, price, ""), alone},
		{"a capacity block's twin at 0", twin("marketoption", "CapacityBlock"), alone},
		{"software preinstalled", twin("preInstalledSw", "SQL Web"), alone},
		{"an unused reservation", twin("capacitystatus", "UnusedCapacityReservation"), alone},
		{"an allocated reservation", twin("capacitystatus", "AllocatedCapacityReservation"), alone},
		{"dedicated", twin("tenancy", "Dedicated"), alone},
		{"a dedicated host", twin("family", "Dedicated Host"), alone},
		{"bare metal", twin("family", "Compute Instance (bare metal)", "instanceType", "m5.metal"), alone},
		{"another operation", twin("operation", "RunInstances:0010"), alone},
		{"Windows", twin("operatingSystem", "Windows", "operation", "RunInstances:0002"), alone},
		{"a local zone", twin("locationType", "AWS Local Zone", "regionCode", "eu-west-1-dub-1a"), alone},
		{"the free tier's product", twin("instanceType", "-", "regionCode", "", "location", "Any"), alone},
		{"an old file's product", offers(machine("A1", "marketoption", "-", "capacitystatus", "-", "regionCode", "-"), price, ""), strings.Replace(alone, "eu-west-1", "EU (Ireland)", 1)},
		{"a product without a price", offers(plain+", "+machine("B2", "instanceType", "m5.large"), price, ""), alone},
		{"terms of nobody", offers(plain, price+`, "ZZ": {"ZZ.JRTCKXETXF": {"priceDimensions": 5}}`, ""), alone},
		{"large memory", offers(machine("A1", "memory", "1,952 GiB", "vcpu", "128", "gpu", "NA"), price, ""), "eu-west-1 m5.xlarge 128/1952; 0.192 from 2026-02-01T00:00:00Z"},
		{"the same again under another SKU", offers(plain+", "+machine("B2"), price+", "+onDemandTerm("B2", "0.192"), ""), alone},
		{"the same term again", offers(plain, price+", "+price, ""), alone},
		{"a convertible offer with a fee", offer(threeYears, fee, hours), alone + "; 3yr convertible Partial Upfront: 1000 + 0.06 = 0.098051750, always"},
		{"the same offer again", offers(plain, price, reservedTerm("A1.R", threeYears, fee, hours)+", "+reservedTerm("A1.R", threeYears, fee, hours)), alone + "; 3yr convertible Partial Upfront: 1000 + 0.06 = 0.098051750, always"},
		{"an offer without class", offer(`"LeaseContractLength": "1yr", "PurchaseOption": "No Upfront"`, hours), alone + "; 1yr No Upfront: 0 + 0.06 = 0.06, always"},
		{"all upfront, with an hour at 0", offer(`"LeaseContractLength": "1yr", "OfferingClass": "standard", "PurchaseOption": "All Upfront"`, fee, hourlyRate("A1.R.H", "0.0000000000")), alone + "; 1yr standard All Upfront: 1000 + 0 = 0.114155251, always"},
		{"all upfront, without hours", offer(`"LeaseContractLength": "1yr", "OfferingClass": "standard", "PurchaseOption": "All Upfront"`, fee), alone + "; 1yr standard All Upfront: 1000 + 0 = 0.114155251, always"},
		{"hours in spans of one price", strings.Replace(offers(plain, price, ""), hourlyRate("A1.JRTCKXETXF.6YS6EN2CT7", "0.1920000000"),
			strings.Replace(hourlyRate("x", "0.192"), `"Inf"`, `"750"`, 1)+", "+strings.Replace(hourlyRate("y", "0.192"), `"0"`, `"750"`, 1), 1), alone},
	} {
		t.Run(c.situation, func(t *testing.T) {
			s, err := read(c.sheet, Selection{})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(listing(s), "0.0600", "0.06")
			want := strings.ReplaceAll(c.want, "= 0.098051750", "= "+EffectivePerHour(decimal.RequireFromString("0.06"), decimal.New(1000, 0), 3).String()) + "\n"
			if got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	s, err := read(offers(machine("A1")+", "+machine("B2", "marketoption", "CapacityBlock")+", "+machine("C3", "instanceType", "c5.large")+", "+machine("D4", "regionCode", "us-east-1", "location", "US East (N. Virginia)")+", "+machine("E5"),
		onDemandTerm("A1", "0.2")+", "+onDemandTerm("E5", "0.20"), reservedTerm("A1.R", threeYears, hourlyRate("A1.R.H", "0.1"))), Selection{Regions: []string{"EU (*"}, Instances: []string{"M5.*"}, OnDemandOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{otherMarket: 1, otherInstance: 1, otherRegion: 1, twice: 1, notAsked: 1}, s.Skipped); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFaultsOfAWSsFile(t *testing.T) {
	plain, price := machine("A1"), onDemandTerm("A1", "0.1920000000")
	sheet := offers(plain, price, "")
	offer := func(attributes string, rates ...string) string {
		return offers(plain, price, reservedTerm("A1.R", attributes, rates...))
	}
	hours, fee := hourlyRate("A1.R.H", "0.0600000000"), feeRate("A1.R.F", "1000")
	at := func(price string) string { return offers(plain, onDemandTerm("A1", price), "") }
	const onDemandRate = "/terms/OnDemand/A1/A1.JRTCKXETXF/priceDimensions/A1.JRTCKXETXF.6YS6EN2CT7 "
	for _, c := range []struct {
		situation, sheet string
		sel              Selection
		want             string // pointer, code, and a part of the sentence
	}{
		{"a price of zero", at("0.0000000000"), Selection{}, "/terms/OnDemand/A1/A1.JRTCKXETXF zero_price !m5.xlarge"},
		{"a price that rounds to zero", at("0.0000000004"), Selection{}, "/terms/OnDemand/A1/A1.JRTCKXETXF zero_price"},
		{"a negative price", at("-0.1"), Selection{}, onDemandRate + "range cannot be negative"},
		{"a price of 1e309", at("1e309"), Selection{}, onDemandRate + "type 1e309"},
		{"a price too large", at("1000000000.1"), Selection{}, onDemandRate + "range more than"},
		{"a price with a comma", at("0,10"), Selection{}, onDemandRate + "type 0.10"},
		{"a price of many digits", at(strings.Repeat("9", 60000)), Selection{}, onDemandRate + "type 9999"},
		{"no price", at(""), Selection{}, onDemandRate + "type is \"\""},
		{"not a number", at("NaN"), Selection{}, onDemandRate + "type NaN"},
		{"a price that is an object", strings.Replace(sheet, `"0.1920000000"}`, `{}}`, 1), Selection{}, onDemandRate + "type Here should be a text"},
		{"Chinese prices", strings.Replace(sheet, `{"USD"`, `{"CNY"`, 1), Selection{Currency: "USD"}, onDemandRate + "currency in CNY"},
		{"two currencies", strings.Replace(sheet, `{"USD"`, `{"CNY": "1.2", "USD"`, 1), Selection{}, onDemandRate + "currency CNY, USD"},
		{"no currency", strings.Replace(sheet, `{"USD"`, `{"dollars"`, 1), Selection{}, onDemandRate + "currency dollars"},
		{"no unit known", strings.Replace(sheet, `"Hrs"`, `"GB-Mo"`, 1), Selection{}, onDemandRate + "unit GB-Mo"},
		{"an on-demand fee", strings.Replace(sheet, `"Hrs"`, `"Quantity"`, 1), Selection{}, onDemandRate + "unit Quantity"},
		{"tiers", strings.Replace(sheet, `"priceDimensions": {`, `"priceDimensions": {`+strings.Replace(hourlyRate("x", "0.0"), `"Inf"`, `"750"`, 1)+",", 1), Selection{}, onDemandRate + "tiers costs 0.192 here and 0"},
		{"hours not priced", strings.Replace(sheet, `"Inf"`, `"750"`, 1), Selection{}, "/terms/OnDemand/A1/A1.JRTCKXETXF tiers from 0 to Inf"},
		{"a bad range", strings.Replace(sheet, `"Inf"`, `"many"`, 1), Selection{}, onDemandRate + "type many"},
		{"two prices for a machine", offers(plain+", "+machine("B2"), price+", "+onDemandTerm("B2", "0.2"), ""), Selection{}, "/terms/OnDemand/B2/B2.JRTCKXETXF duplicate /terms/OnDemand/A1/A1.JRTCKXETXF"},
		{"two prices for a term", offers(plain, price+", "+onDemandTerm("A1", "0.2"), ""), Selection{}, "/terms/OnDemand/A1/A1.JRTCKXETXF duplicate 0.192"},
		{"a SKU of two products", offers(plain+", "+machine("A1", "instanceType", "m5.large"), price, ""), Selection{}, "/products/A1 duplicate another product"},
		{"a machine of two sizes", offers(plain+", "+machine("B2", "vcpu", "8"), price, ""), Selection{}, "/products/B2 conflict 8 vCPU"},
		{"a SKU that is another", strings.Replace(sheet, `"sku": "A1"`, `"sku": "A2"`, 1), Selection{}, "/products/A1 conflict A2"},
		{"a term of another SKU", strings.Replace(sheet, `"sku": "A1", "eff`, `"sku": "A2", "eff`, 1), Selection{}, "/terms/OnDemand/A1/A1.JRTCKXETXF conflict A2"},
		{"half a processor", offers(machine("A1", "vcpu", "0.5"), price, ""), Selection{}, "/products/A1/attributes/vcpu type 0.5"},
		{"memory in MB", offers(machine("A1", "memory", "512 MB"), price, ""), Selection{}, "/products/A1/attributes/memory type 512 MB"},
		{"an attribute twice", strings.Replace(sheet, `"tenancy"`, `"tenancy": "Host", "tenancy"`, 1), Selection{}, "/products/A1 duplicate twice"},
		{"a name of control characters", offers(machine("A1", "instanceType", "m5\t"), price, ""), Selection{}, "/products/A1 text cannot be a name"},
		{"a bad date", strings.Replace(sheet, "2026-02-01T", "2026-02-31T", 1), Selection{}, "/terms/OnDemand/A1/A1.JRTCKXETXF time 2026-02-31"},
		{"an offer without a term", offer(`"PurchaseOption": "No Upfront"`, hours), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/LeaseContractLength missing has no term"},
		{"a term in months", offer(`"LeaseContractLength": "18mo", "PurchaseOption": "No Upfront"`, hours), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/LeaseContractLength type 18mo"},
		{"a term of 99 years", offer(`"LeaseContractLength": "99yr", "PurchaseOption": "No Upfront"`, hours), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/LeaseContractLength type 99yr"},
		{"another class", offer(`"LeaseContractLength": "1yr", "OfferingClass": "scheduled", "PurchaseOption": "No Upfront"`, hours), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/OfferingClass choice scheduled"},
		{"another way to pay", offer(`"LeaseContractLength": "1yr", "PurchaseOption": "No upfront"`, hours), Selection{}, `/terms/Reserved/A1/A1.R/termAttributes/PurchaseOption choice Did you mean "No Upfront"?`},
		{"partly upfront without a fee", offer(threeYears, hours), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/PurchaseOption conflict has no upfront fee"},
		{"no upfront with a fee", offer(`"LeaseContractLength": "1yr", "PurchaseOption": "No Upfront"`, hours, fee), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/PurchaseOption conflict has one of 1000"},
		{"all upfront with hours", offer(`"LeaseContractLength": "1yr", "PurchaseOption": "All Upfront"`, hours, fee), Selection{}, "/terms/Reserved/A1/A1.R/termAttributes/PurchaseOption conflict 0.06"},
		{"two fees", offer(threeYears, hours, fee, feeRate("A1.R.G", "1000")), Selection{}, "/terms/Reserved/A1/A1.R/priceDimensions/A1.R.G duplicate two upfront fees"},
		{"a fee alone", offer(threeYears, fee), Selection{}, "/terms/Reserved/A1/A1.R missing no price per hour"},
		{"a price twice", strings.Replace(sheet, `{"USD": "0.1920000000"`, `{"USD": "0.1920000000", "USD": "0.01"`, 1), Selection{}, onDemandRate + "duplicate in USD is given twice"},
		{"a free offer", offer(`"LeaseContractLength": "1yr", "PurchaseOption": "No Upfront"`, hourlyRate("x", "0")), Selection{}, "/terms/Reserved/A1/A1.R zero_price reserved price (1yr No Upfront)"},
		{"several regions", offers(plain+", "+machine("B2", "regionCode", "eu-west-2"), price, ""), Selection{}, "/regions missing The sheet has several regions (eu-west-1, eu-west-2); say"},
		{"a region that is not there", sheet, Selection{Regions: []string{"eu-wset-1"}}, `/regions/0 unknown_name Did you mean "eu-west-1"?`},
		{"an instance that is not there", sheet, Selection{Instances: []string{"m5.*", "m5.xlarg"}}, `/instances/1 unknown_name Did you mean "m5.xlarge"?`},
		{"an instance that is left out again", sheet, Selection{Instances: []string{"m5.*", "!*.xlarge"}}, "/instances/0 missing m5.*"},
		{"an instance that is there without a price", offers(plain+", "+machine("B2", "instanceType", "c5.large"), price, ""), Selection{Instances: []string{"m5.xlarge", "c5.large"}}, "/instances/1 missing c5.large"},
		{"a region that has none of them", offers(plain+", "+machine("B2", "instanceType", "c5.large", "regionCode", "us-east-1"), price, ""), Selection{Regions: []string{"us-east-1"}}, "/regions/0 missing us-east-1"},
		{"an empty pattern", sheet, Selection{Instances: []string{"!"}}, "/instances/0 text names nothing"},
		{"nothing", offers("", "", ""), Selection{}, " missing no price of an instance"},
		{"terms first", `{"terms": {}, "products": {}}`, Selection{}, "/terms order products first"},
		{"products twice", `{"products": {}, "products": {}}`, Selection{}, "/products duplicate twice"},
		{"another service", `{"offerCode": "AmazonRDS", "products": {}}`, Selection{}, "/offerCode format AmazonEC2"},
		{"another file", `{"offers": {"AmazonEC2": {}}}`, Selection{}, " format has no products and terms"},
		{"a list", `[]`, Selection{}, " format AWS's offer file is one object"},
		{"a page", "<html>", Selection{}, " format page for a browser"},
		{"a workbook", "PK\x03\x04...", Selection{}, " format workbook"},
		{"nothing at all", " \n", Selection{}, " missing empty"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			s, err := read(c.sheet, c.sel)
			var got []string
			for _, f := range refused(t, s, err).Findings {
				hint := ""
				if f.Hint != nil {
					hint = " " + f.Hint.Detail
				}
				got = append(got, f.Pointer+" "+f.Code+" "+f.Detail+hint)
			}
			pointer, rest, _ := strings.Cut(c.want, " ")
			code, part, _ := strings.Cut(rest, " ")
			if !strings.HasPrefix(got[0], pointer+" "+code+" ") || !strings.Contains(got[0], part) {
				t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), c.want)
			}
		})
	}
}

func TestWhatIsAskedForCuresTheSheet(t *testing.T) {
	plain := machine("A1")
	free := offers(plain, onDemandTerm("A1", "0.0000000000"), reservedTerm("A1.R", threeYears, hourlyRate("x", "0.1")))
	if s, err := read(free, Selection{ZeroPrices: true, OnDemandOnly: true}); err != nil || len(s.Instances) != 1 || !s.Instances[0].OnDemand[0].PerHour.IsZero() {
		t.Errorf("prices of zero, asked for: %v, %v", s.Instances, err)
	}
	china := strings.ReplaceAll(offers(plain+", "+machine("B2", "instanceType", "m5.metal"), onDemandTerm("A1", "1.2")+", "+onDemandTerm("B2", "0"), ""), `"USD"`, `"CNY"`)
	for _, sel := range []Selection{{Instances: []string{"!*.metal"}}, {Instances: []string{"m5.*", "!m5.metal"}, Currency: "CNY"}} {
		if s, err := read(china, sel); err != nil || s.Currency != "CNY" || len(s.Instances) != 1 {
			t.Errorf("%+v: %v, %v", sel, s, err)
		}
	}
	both := strings.Replace(offers(plain, onDemandTerm("A1", "0.2"), ""), `{"USD"`, `{"CNY": "1.2", "USD"`, 1)
	for currency, want := range map[string]string{"CNY": "1.2", "USD": "0.2"} {
		if s, err := read(both, Selection{Currency: currency}); err != nil || s.Instances[0].OnDemand[0].PerHour.String() != want {
			t.Errorf("%s: %v, %v", currency, s, err)
		}
	}
}

func TestEveryFaultIsSaidAtOnceUpToALimit(t *testing.T) {
	var products, terms []string
	for i := range 200 {
		sku := fmt.Sprintf("S%03d", i)
		products = append(products, machine(sku, "instanceType", fmt.Sprintf("m%d.large", i)))
		terms = append(terms, onDemandTerm(sku, "0"))
	}
	sheet := offers(strings.Join(products, ",\n"), strings.Join(terms, ",\n"), "")
	for _, c := range []struct {
		situation, text string
		more            string
	}{{"whole", sheet, "And 151 more"}, {"cut off", sheet[:len(sheet)-30], "And 151 more"}} {
		s, err := read(c.text, Selection{})
		all := refused(t, s, err).Findings
		if last := all[len(all)-1]; len(all) != fault.MaxFindings || !strings.Contains(last.Detail, c.more) && c.situation == "whole" {
			t.Errorf("%s: %d findings, the last %+v", c.situation, len(all), last)
		}
		if c.situation == "cut off" && all[0].Code != "cut_off" {
			t.Errorf("the first finding is %+v, want that the sheet is cut off", all[0])
		}
		for _, f := range all[1 : len(all)-1] {
			if f.Code != "zero_price" || !strings.HasPrefix(f.Pointer, "/terms/OnDemand/S") {
				t.Fatalf("got %+v", f)
			}
			var at int
			if _, err := fmt.Sscanf(f.Detail, "(byte %d)", &at); err != nil || !strings.HasPrefix(c.text[at:], `{"offerTermCode"`) && !strings.HasPrefix(c.text[at:], ` {"offerTermCode"`) {
				t.Fatalf("%q is not where the term stands", f.Detail)
			}
		}
	}
}

func TestPricesSayWhereTheyStand(t *testing.T) {
	text := offers(machine("A1"), onDemandTerm("A1", "0.2"), reservedTerm("A1.R", threeYears, hourlyRate("A1.R.H", "0.1"), feeRate("A1.R.F", "10")))
	s, err := read(text, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{s.Instances[0].OnDemand[0].Where: "/terms/OnDemand/A1/A1.JRTCKXETXF (byte ", s.Instances[0].Reserved[0].Where: "/terms/Reserved/A1/A1.R (byte "} {
		var at int
		if rest, is := strings.CutPrefix(where, want); !is {
			t.Errorf("got %q, want %q", where, want)
		} else if _, err := fmt.Sscanf(rest, "%d)", &at); err != nil || text[at-1:at+1] != " {" && text[at:at+2] != " {" {
			t.Errorf("%q is not where the term stands", where)
		}
	}
	s, err = read("vm_type,price_per_hour,purchase,term_years\na,1,spot,\n\nb,\"2\",reserved,1\n", Selection{Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Instances[0].Spot[0].Where + ", " + s.Instances[1].Reserved[0].Where; got != "line 2, line 4" {
		t.Errorf("got %s, want line 2, line 4", got)
	}
}

func TestEffectivePricesAreRoundedOnce(t *testing.T) {
	amount := decimal.RequireFromString
	for _, c := range []struct {
		perHour, upfront string
		years            int64
		want             string
	}{
		{"0.06", "1000", 3, "0.098051750"},
		{"0", "8760", 1, "1.00"},
		{"0.0000000005", "0", 1, "0.00"},                       // half to even
		{"0.0000000015", "0", 1, "0.000000002"},                //
		{"0.0000000025", "0", 1, "0.000000002"},                //
		{"0.0000000005", "0.00000000000001", 1, "0.000000001"}, // above half by an amount beyond all decimals
		{"999999999", "0", 10, "999999999.00"},
	} {
		if got := EffectivePerHour(amount(c.perHour), amount(c.upfront), c.years); !got.Equal(amount(c.want)) {
			t.Errorf("%s + %s over %d years is %s, want %s", c.perHour, c.upfront, c.years, got, c.want)
		}
	}
	if got := Stored(amount("0.1234567885")); got.String() != "0.123456788" {
		t.Errorf("0.1234567885 is kept as %s", got)
	}
}

func TestOwnCSV(t *testing.T) {
	for _, c := range []struct {
		situation, sheet string
		sel              Selection
		want             string
	}{
		{"two columns", "vm_type,price_per_hour\nsmall,0.1\nlarge,0.20\n", Selection{Currency: "EUR"}, " large 0/0; 0.2\n small 0/0; 0.1\n"},
		{"any order, blanks, quotes", "Price_Per_Hour , currency,vm_type\n\n\"0.1\",EUR,\"a \"\"big\"\" one\"\n,,\n0.2,EUR,b", Selection{}, " a \"big\" one 0/0; 0.1\n b 0/0; 0.2\n"},
		{"a name over two lines is none, another column may be", "vm_type,price_per_hour,payment\na,1,\"\n\"\nb,2,\n", Selection{Currency: "EUR"}, " a 0/0; 1\n b 0/0; 2\n"},
		{"periods and spot", "vm_type,purchase,price_per_hour,from,until\na,on_demand,2,2026-07-01,\na,on_demand,1,,2026-07-01\na,spot,0.5,2026-01-01,2026-02-01T12:00:00+02:00\n", Selection{Currency: "EUR"},
			" a 0/0; 1 until 2026-07-01T00:00:00Z; 2 from 2026-07-01T00:00:00Z; spot 0.5 from 2026-01-01T00:00:00Z until 2026-02-01T10:00:00Z\n"},
		{"sizes", "vm_type,price_per_hour,vcpu,memory_gib,gpus\na,1,4,16,\na,1,,,\n", Selection{Currency: "EUR"}, " a 4/16; 1\n"},
		{"offers", "vm_type,purchase,price_per_hour,upfront,term_years,payment,billing,max,name,class\n" +
			"a,reserved,0.06,1000,3,partial_upfront,used,20,,\na,reserved,0,8760,1,,,,,convertible\na,reserved,0.5,,2,,,,cheap,\na,reserved,0.5,0,2,No Upfront,always,,,\n", Selection{Currency: "EUR"},
			" a 0/0; 1yr convertible All Upfront: 8760 + 0 = 1.00, always; 2yr No Upfront: 0 + 0.5 = 0.50, always; cheap: 0 + 0.5 = 0.50, always; 3yr Partial Upfront: 1000 + 0.06 = 0.09805175, used, 20 at most\n"},
		{"a selection", "vm_type,price_per_hour,region\na,1,north\na,2,south\nb,3,south\n", Selection{Currency: "EUR", Regions: []string{"south"}, Instances: []string{"a"}}, "south a 0/0; 2\n"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			for name, text := range map[string]string{"": c.sheet, " as Windows": "\ufeff" + strings.ReplaceAll(c.sheet, "\n", "\r\n"), " zipped": string(zipped(t, []byte(c.sheet)))} {
				s, err := read(text, c.sel)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := strings.ReplaceAll(listing(s), "0.098051750", "0.09805175"); got != c.want || s.Format != CSV {
					t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
				}
			}
		})
	}
}

func TestFaultsOfOwnCSV(t *testing.T) {
	const head = "vm_type,purchase,price_per_hour,upfront,term_years,payment,billing,max,from,until,currency,vcpu,name,class\n"
	for _, c := range []struct {
		situation, sheet, want string // line:column code, a part of the sentence
	}{
		{"an unknown column", "vm_type,price_per_hours\n", `1:9 unknown_column Did you mean "price_per_hour"?`},
		{"a column twice", "vm_type,price_per_hour,vm_type\n", "1:24 duplicate twice"},
		{"no price column", "vm_type\n", "1:1 missing price_per_hour is missing"},
		{"semicolons", "vm_type;price_per_hour\n", "1:1 format commas"},
		{"no rows", "vm_type,price_per_hour\n", "0:0 missing no price"},
		{"no name", head + ",,0.1,,,,,,,,EUR,,,\n", "2:1 text cannot be a name"},
		{"a name over two lines", head + "\"a\nb\",,0.1,,,,,,,,EUR,,,\n", "2:1 text cannot be a name"},
		{"the line after a break in quotes", head + "a,,1,,,,,,,,EUR,,\"\n\",\nb,,x,,,,,,,,EUR,,,\n", "4:4 type \"x\""},
		{"no price", head + "a,,,,,,,,,,EUR,,,\n", "2:4 missing write what an hour of the VM costs"},
		{"no price of an offer", head + "a,reserved,,5,1,,,,,,EUR,,,\n", "2:12 missing 0 if all is paid upfront"},
		{"a comma between thousands, or not", head + "a,,\"1,234\",,,,,,,,EUR,,,\n", "2:4 type may stand between thousands or before a fraction"},
		{"a comma in the price", head + "a,,\"0,10\",,,,,,,,EUR,,,\n", "2:4 type Write 0.10."},
		{"a currency in the price", head + "a,,$0.10,,,,,,,,EUR,,,\n", "2:4 type Write 0.10."},
		{"a price of zero", head + "a,,0.00,,,,,,,,EUR,,,\n", "2:4 zero_price free"},
		{"a hostile price", head + "a,,1e309,,,,,,,,EUR,,,\n", "2:4 type 1e309"},
		{"another purchase", head + "a,on-demand,1,,,,,,,,EUR,,,\n", `2:3 choice Did you mean "on_demand"?`},
		{"no currency", head + "a,,1,,,,,,,,,,,\n", "2:13 missing no currency"},
		{"two currencies", head + "a,,1,,,,,,,,EUR,,,\nb,,1,,,,,,,,USD,,,\n", "3:13 currency take a sheet that is in EUR, or plan in USD"},
		{"half a year", head + "a,reserved,1,,0.5,,,,,,EUR,,,\n", "2:15 range whole number of years"},
		{"no term", head + "a,reserved,1,,,,,,,,EUR,,,\n", "2:15 missing has no term"},
		{"a term on demand", head + "a,,1,,1,,,,,,EUR,,,\n", "2:7 conflict term_years is of reserved offers"},
		{"an end of an offer", head + "a,reserved,1,,1,,,,,2027-01-01,EUR,,,\n", "2:21 conflict ends by its term"},
		{"a payment that does not fit", head + "a,reserved,1,,1,All Upfront,,,,,EUR,,,\n", "2:17 conflict all paid upfront"},
		{"another billing", head + "a,reserved,1,,1,,monthly,,,,EUR,,,\n", "2:18 choice used, always"},
		{"no VM", head + "a,reserved,1,,1,,,0,,,EUR,,,\n", "2:19 range from 1 to"},
		{"the end first", head + "a,,1,,,,,,2026-02-01,2026-01-01,EUR,,,\n", "2:22 order not after"},
		{"a date of another kind", head + "a,,1,,,,,,01/02/2026,,EUR,,,\n", "2:11 time 2026-03-01"},
		{"two prices at a time", head + "a,,1,,,,,,,,EUR,,,\na,,2,,,,,,,,EUR,,,\n", "3:4 duplicate line 2"},
		{"periods that overlap", head + "a,,1,,,,,,2026-01-01,2026-03-01,EUR,,,\na,,2,,,,,,2026-02-01,,EUR,,,\n", "3:4 duplicate until 2026-03-01"},
		{"two offers of a name", head + "a,reserved,1,,1,,,,,,EUR,,,\na,reserved,2,,1,,,,,,EUR,,,\n", "3:12 duplicate give them names"},
		{"two sizes", head + "a,,1,,,,,,,,EUR,4,,\na,spot,1,,,,,,,,EUR,8,,\n", "3:1 conflict line 2"},
		{"a row too short", head + "a,,1\n", "2:1 columns has 3 columns and the header 14"},
		{"a quote that is not closed", head + "a,,1,,,,,,,,EUR,,,\nb,\"", "3:4 syntax quote"},
		{"a quote in a text", head + "a\"b,,1,,,,,,,,EUR,,,\n", "2:2 syntax quote"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			s, err := read(c.sheet, Selection{})
			f := refused(t, s, err).Findings[0]
			got := fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Detail)
			if f.Hint != nil {
				got += " " + f.Hint.Detail
			}
			where, part, _ := strings.Cut(c.want, " ")
			code, part, _ := strings.Cut(part, " ")
			if !strings.HasPrefix(got, where+" "+code+" ") || !strings.Contains(got, part) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	_, err := read("vm_type,price_per_hour\na,1\n", Selection{Currency: "EUR", Regions: []string{"eu"}})
	if err == nil || !strings.Contains(err.Error(), "add the column") {
		t.Errorf("regions of a sheet without: %v", err)
	}
}
