package prices_test

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/data/prices"
)

// Instances come by name. A row with a region or a name that nobody asked for is left out.
func ExampleRead() {
	sheet := "vm_type,price_per_hour,region\nsmall,0.10,north\nlarge,0.40,north\nlarge,0.45,south\n"
	s, err := prices.Read(strings.NewReader(sheet), prices.Selection{Regions: []string{"north"}, Currency: "EUR"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range s.Instances {
		fmt.Println(i.Name, i.OnDemand[0].PerHour, s.Currency)
	}
	// Output:
	// large 0.4 EUR
	// small 0.1 EUR
}

// 876 at once for a year of 8,760 hours are 0.10 an hour.
func ExampleEffectivePerHour() {
	fmt.Println(prices.EffectivePerHour(decimal.RequireFromString("0.06"), decimal.NewFromInt(876), 1))
	// Output:
	// 0.16
}
