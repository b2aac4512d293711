// Package prices reads price sheets: AWS's offer file for EC2 (JSON or CSV) and a simple CSV of our
// own, each plain or gzip'd. It makes of them instances with on-demand prices, spot prices and reserved
// offers, in one pass and in memory that does not grow with the file. A sheet with any fault in what was
// selected comes back as errors alone, so that nobody can take over half of one.
//
// It keeps nothing, asks no address and knows no cluster.
package prices

import (
	"math/big"
	"time"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
)

// Selection says what of a sheet is wanted. The empty one takes everything of a sheet of one region.
type Selection struct {
	Regions      []string // codes or names, "eu-*" too; none: the sheet must have one region only
	Instances    []string // names, "m5.*" too, and "!m5.metal" for all but; none: all
	Currency     string   // "": the one that the sheet has
	OnDemandOnly bool     // reserved offers are left out
	ZeroPrices   bool     // a price of 0 is taken for one and not for a mistake
	MaxBytes     int64    // of the sheet when it is unpacked; 0: DefaultMaxBytes
}

// Limits that no sheet for a plan comes near.
const (
	DefaultMaxBytes = 16 << 30
	MaxInstances    = 5_000
	MaxPrices       = 100_000 // on-demand, spot and reserved together
)

// Format is a form of sheets.
type Format string

// The forms that are read.
const (
	AWS    Format = "aws"
	AWSCSV Format = "aws-csv"
	CSV    Format = "csv"
)

// Sheet is what was selected of a price sheet, in the order of region and name.
type Sheet struct {
	Format    Format
	Version   string    // AWS's number of the file
	Published time.Time // zero where the sheet does not say
	Currency  string
	Instances []Instance
	Skipped   map[string]int64 // why products (in a CSV: rows) were left out, in words, and how many
}

// Instance is a kind of machine in a region.
type Instance struct {
	Name      string
	Region    string          // "" where the sheet has no regions
	VCPU      int64           // 0: not said
	MemoryGiB decimal.Decimal // 0: not said
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

// Reserved is an offer: so much at once and so much an hour for a term.
type Reserved struct {
	Name      string // unique in its instance
	TermYears int64
	Class     string // "standard", "convertible" or "" where the sheet does not say
	Payment   Payment
	PerHour   decimal.Decimal // exact
	Upfront   decimal.Decimal // exact, for one VM
	Effective money.Amount    // both together, see EffectivePerHour
	Billing   capacity.Billing
	Max       int64     // the most VMs to be had; 0: not said
	From      time.Time // since when it is offered; zero: not said
	RateCode  string    // AWS's SKU and term code
	Where     string    // in the sheet
}

// Payment says how much of an offer is paid at once.
type Payment string

// The ways to pay.
const (
	NoUpfront      Payment = "No Upfront"
	PartialUpfront Payment = "Partial Upfront"
	AllUpfront     Payment = "All Upfront"
)

var payments = []string{string(NoUpfront), string(PartialUpfront), string(AllUpfront)}

// hoursPerYear is what offers reckon a year as, leap years too.
const hoursPerYear = 8760

// EffectivePerHour is what an hour of a term costs if every hour is used: hourly + upfront/(8760·years),
// reckoned as a fraction and rounded once, half to even, to the places that money keeps.
func EffectivePerHour(perHour, upfront decimal.Decimal, years int64) money.Amount {
	hours := new(big.Rat).SetInt64(hoursPerYear * years)
	rate := new(big.Rat).Quo(upfront.Rat(), hours)
	return roundHalfEven(rate.Add(rate, perHour.Rat()))
}

// Stored is an exact amount as money keeps it: rounded half to even.
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
