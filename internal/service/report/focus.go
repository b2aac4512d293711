package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/data/inputs"
)

// FocusNames names the origin of an export's rows. Every member may be left empty.
type FocusNames struct {
	BillingAccountID   string // "forecast" if empty
	BillingAccountName string
	Provider           string // the one that rents the VMs out; "unspecified" if empty
	Publisher          string // the provider if empty
	InvoiceIssuer      string // the provider if empty
	Service            string // "Virtual Machines" if empty
	RegionID           string
	RegionName         string // the id if empty
	SubAccountID       string // the cluster
	SubAccountName     string
	PlanID             string
	Scenario           string
	Tags               map[string]string
}

// Focus writes a horizon's answer as CSV in the form of FOCUS 1.2's cost and usage rows, one at a time. It is a
// forecast: x_IsForecast is true in each. The horizon and the answer belong together. For a purchase, Bought returns
// the horizon, and the answer's Horizon is the answer.
//
// Rows cover stints of at most a day and an hour's period at most, a row for each job class. On-demand and spot VMs are
// Usage, VMs of contracts are Usage, Committed, Used and Unused. Rows of category Adjustment have no cost and carry x_RejectionPenalty. Fees
// are Purchase rows without effective cost: one One-Time row for the share of an upfront payment within the horizon,
// a Recurring one each month for a contract that is billed always.
//
// Sums: BilledCost and EffectiveCost both add up to the answer's total and upfront less its penalties, also for each
// contract by itself. ListCost of Usage rows is the on-demand cost of the same VMs, and 0 for unused ones, so that it
// may be compared with EffectiveCost. Unit prices times PricingQuantity are the costs of list and contract.
func Focus(w io.Writer, h horizon.Horizon, a horizon.Answer, names FocusNames) error {
	f, err := newFocus(w, &h, &a, names)
	if err != nil {
		return err
	}
	if err := charges(&h, &a, f.row); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	f.out.Flush()
	return f.out.Error()
}

// focusColumns lists FOCUS 1.2's columns in its order, then our own.
var focusColumns = []string{
	"AvailabilityZone", "BilledCost", "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency",
	"BillingPeriodEnd", "BillingPeriodStart", "CapacityReservationId", "CapacityReservationStatus", "ChargeCategory",
	"ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart",
	"CommitmentDiscountCategory", "CommitmentDiscountId", "CommitmentDiscountName", "CommitmentDiscountQuantity",
	"CommitmentDiscountStatus", "CommitmentDiscountType", "CommitmentDiscountUnit", "ConsumedQuantity", "ConsumedUnit",
	"ContractedCost", "ContractedUnitPrice", "EffectiveCost", "InvoiceId", "InvoiceIssuerName", "ListCost",
	"ListUnitPrice", "PricingCategory", "PricingCurrency", "PricingCurrencyContractedUnitPrice",
	"PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingQuantity", "PricingUnit", "ProviderName",
	"PublisherName", "RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory",
	"ServiceName", "ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountId",
	"SubAccountName", "SubAccountType", "Tags",
	"x_PlanId", "x_Scenario", "x_JobClass", "x_IsForecast", "x_RejectionPenalty",
}

// The columns that change from row to row, by their place.
var (
	colBilled, colBillingStart, colBillingEnd = focusColumn("BilledCost"), focusColumn("BillingPeriodStart"), focusColumn("BillingPeriodEnd")
	colCategory, colFrequency, colWhat        = focusColumn("ChargeCategory"), focusColumn("ChargeFrequency"), focusColumn("ChargeDescription")
	colStart, colEnd                          = focusColumn("ChargePeriodStart"), focusColumn("ChargePeriodEnd")
	colCommitment                             = focusColumn("CommitmentDiscountCategory") // and those that follow
	colConsumed, colConsumedUnit              = focusColumn("ConsumedQuantity"), focusColumn("ConsumedUnit")
	colContracted, colContractedPrice         = focusColumn("ContractedCost"), focusColumn("ContractedUnitPrice")
	colEffective, colList, colListPrice       = focusColumn("EffectiveCost"), focusColumn("ListCost"), focusColumn("ListUnitPrice")
	colPricing, colQuantity, colUnit          = focusColumn("PricingCategory"), focusColumn("PricingQuantity"), focusColumn("PricingUnit")
	colResource, colResourceType              = focusColumn("ResourceId"), focusColumn("ResourceType")
	colSku, colSkuPrice                       = focusColumn("SkuId"), focusColumn("SkuPriceId")
	colClass, colPenalty                      = focusColumn("x_JobClass"), focusColumn("x_RejectionPenalty")
)

func focusColumn(name string) int { return slices.Index(focusColumns, name) }

const focusUnit = "Hours"

type focus struct {
	out       *csv.Writer
	answer    *horizon.Answer
	horizon   *horizon.Horizon
	account   string
	record    []string
	same      []string // the common beginning of all records
	contracts []string // their names, guarded against formulas
	classes   map[string]string
	lastStart time.Time
	lastEnd   time.Time
	times     [4]string // of the row before
}

func newFocus(w io.Writer, h *horizon.Horizon, a *horizon.Answer, names FocusNames) (*focus, error) {
	or := func(s, otherwise string) string {
		if s == "" {
			s = otherwise
		}
		return inputs.GuardFormula(s)
	}
	f := &focus{out: csv.NewWriter(w), answer: a, horizon: h, same: make([]string, len(focusColumns)), record: make([]string, len(focusColumns)), classes: map[string]string{"": ""}}
	provider := or(names.Provider, "unspecified")
	for column, value := range map[string]string{
		"BillingAccountId": or(names.BillingAccountID, "forecast"), "BillingAccountName": inputs.GuardFormula(names.BillingAccountName), "BillingAccountType": "Forecast",
		"BillingCurrency": a.Currency, "ProviderName": provider, "PublisherName": or(names.Publisher, provider), "InvoiceIssuerName": or(names.InvoiceIssuer, provider),
		"RegionId": inputs.GuardFormula(names.RegionID), "RegionName": or(names.RegionName, names.RegionID),
		"ServiceCategory": "Compute", "ServiceName": or(names.Service, "Virtual Machines"), "ServiceSubcategory": "Virtual Machines",
		"SubAccountId": inputs.GuardFormula(names.SubAccountID), "SubAccountName": or(names.SubAccountName, names.SubAccountID),
		"x_PlanId": inputs.GuardFormula(names.PlanID), "x_Scenario": inputs.GuardFormula(names.Scenario), "x_IsForecast": "true",
	} {
		f.same[focusColumn(column)] = value
	}
	if names.SubAccountID != "" {
		f.same[focusColumn("SubAccountType")] = "Cluster"
	}
	if len(names.Tags) > 0 {
		tags, err := json.Marshal(names.Tags)
		if err != nil {
			return nil, fmt.Errorf("write the tags: %w", err)
		}
		f.same[focusColumn("Tags")] = string(tags)
	}
	f.account = f.same[focusColumn("BillingAccountId")] + "/" + or(names.SubAccountID, "vms")
	for _, c := range a.Contracts {
		f.contracts = append(f.contracts, inputs.GuardFormula(c.Name))
	}
	for _, c := range h.Problem.Classes {
		f.classes[c.Name] = inputs.GuardFormula(c.Name)
	}
	return f, f.out.Write(focusColumns)
}

// row writes a charge.
func (f *focus) row(c *charge) error {
	copy(f.record, f.same)
	r := f.record
	f.moments(c)
	r[colBilled], r[colEffective] = c.billed.String(), c.effective.String()
	r[colFrequency], r[colCategory] = "Usage-Based", "Usage"
	sku := c.vmType
	if sku == "" {
		sku = "VM"
	}
	sku = inputs.GuardFormula(sku)
	r[colSku] = sku
	contract := ""
	if c.contract >= 0 {
		contract = f.contracts[c.contract]
		f.commitment(c, contract)
		r[colSkuPrice] = sku + "/contract/" + f.answer.Contracts[c.contract].Name
	}
	hours := c.hours.String()
	switch c.kind {
	case onDemandUse:
		r[colWhat], r[colPricing], r[colSkuPrice] = "VMs on demand", "Standard", sku+"/on-demand"
		f.priced(c.price.Decimal, c.hours, hours)
	case spotUse:
		r[colWhat], r[colPricing], r[colSkuPrice] = "Spot VMs", "Dynamic", sku+"/spot"
		f.priced(c.price.Decimal, c.hours, hours)
	case contractUse:
		r[colWhat], r[colPricing] = "VMs of the contract "+contract, "Committed"
		f.priced(c.price.Decimal, c.hours, hours)
	case contractIdle:
		r[colWhat], r[colPricing] = "Idle VMs of the contract "+contract, "Committed"
		f.priced(c.price.Decimal, decimal.Zero, "0") // unused VMs replace no on-demand ones
	case monthlyFee:
		r[colWhat], r[colPricing] = "The month's fee of the contract "+contract, "Standard"
		r[colCategory], r[colFrequency] = "Purchase", "Recurring"
		f.priced(c.price.Decimal, c.hours, hours)
	case upfrontFee:
		r[colWhat], r[colPricing] = f.upfront(c, contract), "Standard"
		r[colCategory], r[colFrequency] = "Purchase", "One-Time"
		f.priced(c.billed, decimal.NewFromInt(1), "1")
		r[colUnit] = "Units"
	case penaltyOnly:
		r[colWhat], r[colCategory], r[colPenalty] = "Penalty of refused jobs, which is no cost", "Adjustment", c.penalty.String()
		r[colList], r[colContracted], r[colSku] = "0", "0", ""
	}
	if r[colCategory] == "Usage" {
		r[colResource], r[colResourceType] = f.account+"/"+sku, "Virtual Machine"
		if c.kind != contractIdle {
			r[colConsumed], r[colConsumedUnit] = hours, focusUnit
		}
	}
	r[colClass] = f.classes[c.class]
	return f.out.Write(r)
}

// priced fills in the market's price of a quantity.
func (f *focus) priced(price, quantity decimal.Decimal, text string) {
	r := f.record
	r[colQuantity], r[colUnit] = text, focusUnit
	r[colListPrice] = price.String()
	r[colContractedPrice] = r[colListPrice]
	r[colList] = price.Mul(quantity).String()
	r[colContracted] = r[colList]
}

// commitment fills in the columns of a contract.
func (f *focus) commitment(c *charge, name string) {
	status := ""
	switch c.kind {
	case contractUse:
		status = "Used"
	case contractIdle:
		status = "Unused"
	}
	copy(f.record[colCommitment:], []string{"Usage", name, name, c.hours.String(), status, "Reserved VMs", focusUnit})
}

// upfront gives the whole payment if the horizon carries a part of it.
func (f *focus) upfront(c *charge, contract string) string {
	own := f.horizon.Contracts[c.contract-(len(f.answer.Contracts)-len(f.horizon.Contracts))]
	if own.Upfront.Equal(c.billed) {
		return "Upfront payment of the contract " + contract
	}
	return fmt.Sprintf("Share of the upfront payment of the contract %s: %s of %s %s are for the hours of this forecast, of a term from %s to %s",
		contract, c.billed, own.Upfront, f.answer.Currency, focusTime(own.From), focusTime(own.Until))
}

// moments fills in the times, which mostly equal those of the row before.
func (f *focus) moments(c *charge) {
	if !c.start.Equal(f.lastStart) || !c.end.Equal(f.lastEnd) {
		month := time.Date(c.start.Year(), c.start.Month(), 1, 0, 0, 0, 0, time.UTC)
		f.lastStart, f.lastEnd = c.start, c.end
		f.times = [4]string{focusTime(c.start), focusTime(c.end), focusTime(month), focusTime(month.AddDate(0, 1, 0))}
	}
	f.record[colStart], f.record[colEnd], f.record[colBillingStart], f.record[colBillingEnd] = f.times[0], f.times[1], f.times[2], f.times[3]
}

func focusTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
