package pool

import (
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// InstanceCatalogue lists instance types with their prices, to copy into pool problems.
type InstanceCatalogue struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Example     bool            `json:"example"` // of old prices, to try things with
	Currency    string          `json:"currency"`
	ValidFrom   string          `json:"valid_from"` // a day
	Types       []CatalogueType `json:"types"`
}

// InstanceCatalogues lists all catalogues.
type InstanceCatalogues struct {
	Items []InstanceCatalogue `json:"items"`
}

// CatalogueType is a type with the cost of its units in a month of MonthHours.
type CatalogueType struct {
	PoolType
	PerUnitMonth money.Amount `json:"per_compute_unit_month"`
	PerGBMonth   money.Amount `json:"per_gb_month"` // of disk
}

// MonthHours is the length of the month to which the figures of a catalogue refer.
const MonthHours = 720

// ExampleEC22011 returns six types of Amazon EC2 with Linux in Virginia as of 2011, after Table 1 of
// "Heterogeneity-Aware Resource Allocation and Scheduling in the Cloud". A gigabyte on m2.2xlarge costs 0.85 here;
// the table has 0.80.
func ExampleEC22011() InstanceCatalogue {
	c := InstanceCatalogue{Name: "example_ec2_2011", Example: true, Currency: "USD", ValidFrom: "2011-01-01",
		Description: "An example: six types of Amazon EC2 with Linux in Virginia at the prices of 2011."}
	for _, t := range []struct {
		name              string
		cents             int64 // in tenths of a cent
		units, disk, size float64
		slots             int64
	}{
		{"m1.small", 85, 1, 160, 1.7, 1},
		{"m1.large", 340, 4, 850, 7.5, 2},
		{"m2.2xlarge", 1000, 13, 850, 34.2, 4},
		{"c1.medium", 170, 5, 350, 1.7, 2},
		{"c1.xlarge", 680, 20, 1690, 7, 8},
		{"cg1.4xlarge", 2100, 33.5, 1690, 22, 8},
	} {
		price := money.Amount{Decimal: decimal.New(t.cents, -3)}
		month := price.Mul(decimal.NewFromInt(MonthHours))
		c.Types = append(c.Types, CatalogueType{
			PoolType:     PoolType{Name: t.name, PerHour: &price, DiskGB: t.disk, MemoryGiB: t.size, Slots: t.slots, ComputeUnits: t.units, Core: true, Accelerator: true},
			PerUnitMonth: money.Amount{Decimal: month.DivRound(decimal.NewFromFloat(t.units), 3)}, PerGBMonth: money.Amount{Decimal: month.DivRound(decimal.NewFromFloat(t.disk), 3)},
		})
	}
	return c
}
