package prices

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// offerFile draws files in the shape of AWS's offer file for EC2. The same seed gives the same file, in either form,
// and any product can be drawn again from its number alone.
type offerFile struct {
	seed     uint64
	products int
}

// ofSize returns a file of about this many bytes as JSON, and a third of that as CSV.
func ofSize(seed uint64, bytes int64) offerFile { return offerFile{seed, int(bytes / 2900)} }

// drawn is a product. Numbers go through variants first (the first is the wanted one), then sizes, families and
// regions. So no two wanted products are the same machine in the same region.
type drawn struct {
	rng                                                            *rand.Rand
	sku, family, name, region, location, system, tenancy, software string
	capacity, market, operation, usage                             string
	vcpu, gpus                                                     int
	memory                                                         string
	hourly                                                         int // in ten-thousandths
	reserved                                                       bool
}

const variants = 24

var (
	drawnFamilies = strings.Fields("m5 m5a m5d m6i m6g m7i m7g c5 c5d c6i c6g c7i c7g r5 r5d r6i r6g r7i x1 x2 i3 i3en i4i d3 g4dn g5 p3 p4 p5 t3")
	drawnSizes    = strings.Fields("large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge")
	drawnRegions  = strings.Fields("eu-west-1 eu-west-2 eu-west-3 eu-north-1 eu-south-1 eu-central-1 eu-central-2 us-east-1 us-east-2 us-west-1 us-west-2 ca-central-1 sa-east-1 ap-south-1 ap-south-2 ap-east-1 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-southeast-1 ap-southeast-2 ap-southeast-3 af-south-1 me-south-1 me-central-1 il-central-1 mx-central-1 ca-west-1 us-gov-east-1 us-gov-west-1")
	drawnClasses  = []string{"standard", "convertible"}
)

func (f offerFile) draw(i int) drawn {
	rng := rand.New(rand.NewPCG(f.seed, uint64(i)))
	variant, machine := i%variants, i/variants
	size, family, region := machine%len(drawnSizes), machine/len(drawnSizes)%len(drawnFamilies), machine/len(drawnSizes)/len(drawnFamilies)
	d := drawn{rng: rng, family: "Compute Instance", name: drawnFamilies[family] + "." + drawnSizes[size], region: drawnRegions[region%len(drawnRegions)],
		system: "Linux", tenancy: "Shared", software: "NA", capacity: "Used", market: "OnDemand", operation: "RunInstances", usage: "BoxUsage",
		vcpu: 2 << size, memory: fmt.Sprintf("%d GiB", 8<<size), hourly: 500<<size + rng.IntN(100), reserved: variant < 2}
	d.sku = fmt.Sprintf("%04X%012X", i%65536, rng.Uint64()>>16)
	if round := region / len(drawnRegions); round > 0 { // as many regions as needed
		d.region += fmt.Sprintf("-%d", round)
	}
	d.location = "Region (" + d.region + ")"
	if family > 22 && family < 29 {
		d.gpus = 1 + size
	}
	if size == 7 {
		d.memory = "1,952 GiB"
	}
	switch variant {
	case 0:
	case 1:
		d.system, d.operation = "Windows", "RunInstances:0002"
	case 2:
		d.market, d.operation, d.hourly = "CapacityBlock", "RunInstances", 0
	case 3:
		d.software, d.operation = "SQL Web", "RunInstances:0200"
	case 4:
		d.capacity, d.usage = "UnusedCapacityReservation", "UnusedBox"
	case 5:
		d.capacity, d.usage, d.hourly = "AllocatedCapacityReservation", "Reservation", 0
	case 6:
		d.tenancy, d.usage = "Dedicated", "DedicatedUsage"
	case 7:
		d.tenancy, d.usage, d.hourly = "Host", "HostBoxUsage", 0
	case 8:
		d.system, d.operation = "RHEL", "RunInstances:0010"
	case 9:
		d.system, d.operation = "SUSE", "RunInstances:000g"
	case 10:
		d.operation = "RunInstances:FFP"
	case 11:
		d.family, d.name = "Storage", ""
	case 12:
		d.family, d.name = "Dedicated Host", drawnFamilies[family]
	case 13:
		d.family, d.name = "Compute Instance (bare metal)", drawnFamilies[family]+".metal"
	default:
		d.system, d.software, d.operation = "Windows", "SQL Std", fmt.Sprintf("RunInstances:%04d", variant)
	}
	return d
}

// drawnOffer is one of the twelve ways to reserve.
type drawnOffer struct {
	code           string
	years          int
	class, payment string
	hourly, fee    string
}

func (d drawn) offers() (all []drawnOffer) {
	for i := range 12 {
		o := drawnOffer{code: fmt.Sprintf("TERM%06d", i), years: 1 + i%2*2, class: drawnClasses[i/2%2], payment: payments[i/4]}
		perHour := int64(d.hourly) * (70 - int64(i)*2) * 100 // in hundred-millionths
		total := perHour * int64(o.years) * hoursPerYear / 100_000_000
		switch o.payment {
		case "No Upfront":
			o.hourly = fmt.Sprintf("%d.%08d00", perHour/100_000_000, perHour%100_000_000)
		case "Partial Upfront":
			perHour /= 2
			o.hourly, o.fee = fmt.Sprintf("%d.%08d00", perHour/100_000_000, perHour%100_000_000), fmt.Sprint(1+total/2)
		case "All Upfront":
			o.hourly, o.fee = "0.0000000000", fmt.Sprint(1+total)
		}
		all = append(all, o)
	}
	return all
}

func (d drawn) onDemand() string {
	return fmt.Sprintf("%d.%04d000000", d.hourly/10_000, d.hourly%10_000)
}

const drawnDisclaimer = "This pricing list is for informational purposes only; all prices are subject to the \\\"terms\\\" on the pricing pages."

// writeJSON writes the file in AWS's layout.
func (f offerFile) writeJSON(w io.Writer) error {
	var out []byte
	var err error
	flush := func(lowest int) {
		if len(out) >= lowest && err == nil {
			_, err = w.Write(out)
			out = out[:0]
		}
	}
	comma := func(i int) string {
		if i == 0 {
			return "\n"
		}
		return ",\n"
	}
	out = fmt.Appendf(out, `{
  "formatVersion" : "v1.0",
  "disclaimer" : "%s",
  "offerCode" : "AmazonEC2",
  "version" : "20260301000000",
  "publicationDate" : "2026-03-01T10:00:00Z",
  "products" : {`, drawnDisclaimer)
	for i := range f.products {
		d := f.draw(i)
		out = fmt.Appendf(out, `%s    "%s" : {
      "sku" : "%s",
      "productFamily" : "%s",
      "attributes" : {
        "servicecode" : "AmazonEC2",
        "location" : "%s",
        "locationType" : "AWS Region",
`, comma(i), d.sku, d.sku, d.family, d.location)
		if d.name != "" {
			out = fmt.Appendf(out, `        "instanceType" : "%s",
        "currentGeneration" : "Yes",
        "instanceFamily" : "General purpose",
        "vcpu" : "%d",
        "physicalProcessor" : "A processor of %d cores \u0026 more",
        "clockSpeed" : "3.1 GHz",
        "memory" : "%s",
        "storage" : "EBS only",
        "networkPerformance" : "Up to 10 Gigabit",
        "processorArchitecture" : "64-bit",
        "tenancy" : "%s",
        "operatingSystem" : "%s",
        "licenseModel" : "No License required",
        "usagetype" : "%s:%s",
        "operation" : "%s",
        "availabilityzone" : "NA",
        "capacitystatus" : "%s",
        "classicnetworkingsupport" : "false",
        "dedicatedEbsThroughput" : "Up to 2120 Mbps",
        "enhancedNetworkingSupported" : "Yes",
`, d.name, d.vcpu, d.vcpu/2, d.memory, d.tenancy, d.system, d.usage, d.name, d.operation, d.capacity)
			if d.gpus > 0 {
				out = fmt.Appendf(out, "        \"gpu\" : \"%d\",\n", d.gpus)
			}
			out = fmt.Appendf(out, `        "marketoption" : "%s",
        "normalizationSizeFactor" : "8",
        "preInstalledSw" : "%s",
        "processorFeatures" : "AVX; AVX2; Turbo",
`, d.market, d.software)
		}
		out = fmt.Appendf(out, `        "regionCode" : "%s",
        "servicename" : "Amazon Elastic Compute Cloud"
      }
    }`, d.region)
		flush(64 << 10)
	}
	out = append(out, "\n  },\n  \"terms\" : {\n    \"OnDemand\" : {"...)
	term := func(sku, code, rates, attributes string) string {
		return fmt.Sprintf(`        "%s.%s" : {
          "offerTermCode" : "%s",
          "sku" : "%s",
          "effectiveDate" : "2026-02-01T00:00:00Z",
          "priceDimensions" : {%s
          },
          "termAttributes" : {%s}
        }`, sku, code, code, sku, rates, attributes)
	}
	rate := func(code, description, span, unit, price string) string {
		return fmt.Sprintf(`
            "%s" : {
              "rateCode" : "%s",
              "description" : "%s",%s
              "unit" : "%s",
              "pricePerUnit" : {
                "USD" : "%s"
              },
              "appliesTo" : [ ]
            }`, code, code, description, span, unit, price)
	}
	const always = `
              "beginRange" : "0",
              "endRange" : "Inf",`
	for i := range f.products {
		d := f.draw(i)
		out = fmt.Appendf(out, "%s      \"%s\" : {\n%s\n      }", comma(i), d.sku,
			term(d.sku, "JRTCKXETXF", rate(d.sku+".JRTCKXETXF.6YS6EN2CT7", "$"+d.onDemand()+" per On Demand "+d.system+" "+d.name+" Instance Hour", always, "Hrs", d.onDemand()), ""))
		flush(64 << 10)
	}
	out = append(out, "\n    },\n    \"Reserved\" : {"...)
	first := 0
	for i := range f.products {
		d := f.draw(i)
		if !d.reserved {
			continue
		}
		out = fmt.Appendf(out, "%s      \"%s\" : {", comma(first), d.sku)
		for j, o := range d.offers() {
			rates := rate(d.sku+"."+o.code+".6YS6EN2CT7", d.system+"/UNIX (Amazon VPC), "+d.name+" reserved instance applied", always, "Hrs", o.hourly)
			if o.fee != "" {
				rates = rate(d.sku+"."+o.code+".2TG2D8R56U", "Upfront Fee", "", "Quantity", o.fee) + "," + rates
			}
			out = append(append(out, comma(j)...), term(d.sku, o.code, rates, fmt.Sprintf(`
            "LeaseContractLength" : "%dyr",
            "OfferingClass" : "%s",
            "PurchaseOption" : "%s"
          `, o.years, o.class, o.payment))...)
		}
		out = append(out, "\n      }"...)
		first++
		flush(64 << 10)
	}
	out = append(out, "\n    }\n  },\n  \"attributesList\" : { }\n}\n"...)
	flush(0)
	return err
}

// writeCSV writes the same products and terms in AWS's CSV.
func (f offerFile) writeCSV(w io.Writer) error {
	out := []byte("\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"This list is \"\"for information\"\",\nand nothing else\"\n\"Publication Date\",\"2026-03-01T10:00:00Z\"\n\"Version\",\"20260301000000\"\n\"OfferCode\",\"AmazonEC2\"\n")
	row := func(fields ...string) {
		for i, field := range fields {
			if i > 0 {
				out = append(out, ',')
			}
			out = fmt.Appendf(out, `"%s"`, strings.ReplaceAll(field, `"`, `""`))
		}
		out = append(out, '\n')
	}
	row("SKU", "OfferTermCode", "RateCode", "TermType", "PriceDescription", "EffectiveDate", "StartingRange", "EndingRange", "Unit", "PricePerUnit", "Currency", "RelatedTo",
		"LeaseContractLength", "PurchaseOption", "OfferingClass", "Product Family", "serviceCode", "Location", "Location Type", "Instance Type", "Current Generation", "vCPU", "Memory",
		"Tenancy", "Operating System", "Pre Installed S/W", "CapacityStatus", "MarketOption", "GPU", "operation", "Region Code")
	for i := range f.products {
		d := f.draw(i)
		rate := func(code, rate, kind, begin, end, unit, price, lease, payment, class string) {
			vcpu, memory, gpus := fmt.Sprint(d.vcpu), d.memory, ""
			if d.gpus > 0 {
				gpus = fmt.Sprint(d.gpus)
			}
			if d.name == "" {
				vcpu, memory = "", ""
			}
			row(d.sku, code, d.sku+"."+code+"."+rate, kind, "A price of "+d.name, "2026-02-01", begin, end, unit, price, "USD", "", lease, payment, class, d.family, "AmazonEC2", d.location, "AWS Region",
				d.name, "Yes", vcpu, memory, d.tenancy, d.system, d.software, d.capacity, d.market, gpus, d.operation, d.region)
		}
		rate("JRTCKXETXF", "6YS6EN2CT7", "OnDemand", "0", "Inf", "Hrs", d.onDemand(), "", "", "")
		if d.reserved {
			for _, o := range d.offers() {
				if o.fee != "" {
					rate(o.code, "2TG2D8R56U", "Reserved", "", "", "Quantity", o.fee, fmt.Sprintf("%dyr", o.years), o.payment, o.class)
				}
				rate(o.code, "6YS6EN2CT7", "Reserved", "0", "Inf", "Hrs", o.hourly, fmt.Sprintf("%dyr", o.years), o.payment, o.class)
			}
		}
		if len(out) > 64<<10 {
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	_, err := w.Write(out)
	return err
}

func (f offerFile) json(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// naively reads an AWS file whole, with maps, and selects in the plainest way.
func naively(t testing.TB, data []byte, region, prefix string) map[string]Instance {
	t.Helper()
	var file struct {
		Products map[string]struct {
			ProductFamily string
			Attributes    map[string]string
		}
		Terms map[string]map[string]map[string]struct {
			EffectiveDate   time.Time
			PriceDimensions map[string]struct {
				Unit         string
				PricePerUnit map[string]decimal.Decimal
			}
			TermAttributes map[string]string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]Instance{}
	for sku, p := range file.Products {
		a := p.Attributes
		if p.ProductFamily != "Compute Instance" || a["regionCode"] != region || !strings.HasPrefix(a["instanceType"], prefix) || a["operatingSystem"] != "Linux" || a["tenancy"] != "Shared" ||
			a["preInstalledSw"] != "NA" || a["capacitystatus"] != "Used" || a["marketoption"] != "OnDemand" || a["operation"] != "RunInstances" {
			continue
		}
		i := Instance{Name: a["instanceType"], Region: region, SKU: sku}
		fmt.Sscan(a["vcpu"], &i.VCPU)
		fmt.Sscan(a["gpu"], &i.GPUs)
		i.MemoryGiB = decimal.RequireFromString(strings.ReplaceAll(strings.Fields(a["memory"])[0], ",", ""))
		for kind, bySKU := range file.Terms {
			for code, term := range bySKU[sku] {
				price := map[string]decimal.Decimal{}
				for _, d := range term.PriceDimensions {
					price[d.Unit] = d.PricePerUnit["USD"]
				}
				if kind == "OnDemand" {
					i.OnDemand = append(i.OnDemand, Price{PerHour: price["Hrs"], From: term.EffectiveDate})
					continue
				}
				o := Reserved{Class: term.TermAttributes["OfferingClass"], Payment: Payment(term.TermAttributes["PurchaseOption"]), PerHour: price["Hrs"], Upfront: price["Quantity"],
					Billing: capacity.BilledAlways, From: term.EffectiveDate, RateCode: code}
				fmt.Sscanf(term.TermAttributes["LeaseContractLength"], "%dyr", &o.TermYears)
				o.Name = fmt.Sprintf("%dyr %s %s", o.TermYears, o.Class, o.Payment)
				perHour := o.Upfront.DivRound(decimal.New(8760*o.TermYears, 0), 40).Add(o.PerHour)
				o.Effective = money.Amount{Decimal: perHour.RoundBank(money.Places)}
				i.Reserved = append(i.Reserved, o)
			}
		}
		all[i.Name] = i
	}
	return all
}
