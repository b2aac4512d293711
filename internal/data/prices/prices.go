// Package prices reads price sheets: AWS's offer file for EC2 (JSON or CSV) and a simple CSV, each plain or gzip'd.
// It makes instances with on-demand prices, spot prices and reserved offers, in one pass and in memory that does not
// grow with the file. A sheet with any fault in the selected part gives errors alone, so that nobody can import half
// of one.
//
// It stores nothing, fetches nothing and knows no cluster.
package prices

import (
	"math/big"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Selection selects a part of a sheet. The empty one selects all of a sheet of one region.
type Selection struct {
	Regions      []string // codes or names, "eu-*" too; none: the sheet must have one region only
	Instances    []string // names, "m5.*" too, and "!m5.metal" for all but; none: all
	Currency     string   // "": the sheet's only one
	OnDemandOnly bool     // leave out reserved offers
	ZeroPrices   bool     // accept prices of 0, which otherwise count as mistakes
	MaxBytes     int64    // of the unpacked sheet; 0: defaultMaxBytes
}

// Limits far above any sheet for a plan.
const (
	defaultMaxBytes = 16 << 30
	maxInstances    = 5_000
	maxPrices       = 100_000 // on-demand, spot and reserved together
)

// Format is a form of sheets.
type Format string

// The accepted forms.
const (
	AWS    Format = "aws"
	AWSCSV Format = "aws-csv"
	CSV    Format = "csv"
)

// Sheet is the selected part of a price sheet, in the order of region and name.
type Sheet struct {
	Format    Format
	Version   string    // AWS's number of the file
	Published time.Time // zero if the sheet does not say
	Currency  string
	Instances []Instance
	Skipped   map[string]int64 // number of products (in a CSV: rows) left out, by reason in words
}

// Instance is a kind of machine in a region.
type Instance struct {
	Name      string
	Region    string          // "" if the sheet has no regions
	VCPU      int64           // 0: unknown
	MemoryGiB decimal.Decimal // 0: unknown
	GPUs      int64
	OnDemand  []Price // periods that do not overlap, in their order
	Spot      []Price
	Reserved  []Reserved // by term, class and payment
	SKU       string
}

// Price is a price of a VM-hour in [From, Until).
type Price struct {
	PerHour decimal.Decimal // exact; see Stored
	From    time.Time       // zero: always
	Until   *time.Time      // nil: until further notice
	Where   string          // in the sheet: "line 7", or a JSON pointer and byte
}

// Reserved is an offer with a fee at once and a price per hour for a term.
type Reserved struct {
	Name      string // unique in its instance
	TermYears int64
	Class     string // "standard", "convertible" or "" if the sheet does not say
	Payment   Payment
	PerHour   decimal.Decimal // exact
	Upfront   decimal.Decimal // exact, for one VM
	Effective money.Amount    // both together, see EffectivePerHour
	Billing   capacity.Billing
	Max       int64     // largest number of VMs; 0: unknown
	From      time.Time // start of the offer; zero: unknown
	RateCode  string    // AWS's SKU and term code
	Where     string    // in the sheet
}

// Payment names the part of an offer that is paid at once.
type Payment string

// The ways of payment.
const (
	NoUpfront      Payment = "No Upfront"
	PartialUpfront Payment = "Partial Upfront"
	AllUpfront     Payment = "All Upfront"
)

var payments = []string{string(NoUpfront), string(PartialUpfront), string(AllUpfront)}

// hoursPerYear is the length of a year in offers, leap years too.
const hoursPerYear = 8760

// EffectivePerHour returns the cost of an hour of a term if every hour is used: hourly + upfront/(8760·years). It is
// computed as a fraction and rounded once, half to even, to the places of money.
func EffectivePerHour(perHour, upfront decimal.Decimal, years int64) money.Amount {
	hours := new(big.Rat).SetInt64(hoursPerYear * years)
	rate := new(big.Rat).Quo(upfront.Rat(), hours)
	return roundHalfEven(rate.Add(rate, perHour.Rat()))
}

// Stored returns an exact amount rounded half to even, to the places of money.
func Stored(exact decimal.Decimal) money.Amount { return roundHalfEven(exact.Rat()) }

func roundHalfEven(x *big.Rat) money.Amount {
	scaled := new(big.Int).Mul(x.Num(), new(big.Int).Exp(big.NewInt(10), big.NewInt(money.Places), nil))
	quotient, rest := new(big.Int).QuoRem(scaled, x.Denom(), new(big.Int)) // amounts are not negative
	switch half := rest.Lsh(rest, 1).Cmp(x.Denom()); {
	case half > 0, half == 0 && quotient.Bit(0) == 1:
		quotient.Add(quotient, big.NewInt(1))
	}
	return money.Amount{Decimal: decimal.NewFromBigInt(quotient, -money.Places)}
}
