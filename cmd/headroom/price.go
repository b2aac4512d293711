package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

var prices = resource{
	word: "price", words: "prices", id: "ID", short: "Show and edit the prices of a cluster",
	as:      reflect.TypeFor[inputs.PricePeriod](),
	columns: []string{"id", "vm_type", "purchase", "price", "from", "until"},
	flags: []memberFlag{
		{name: "vm-type", pointer: "/vm_type", usage: "the VM `type` that has this price"},
		{name: "purchase", pointer: "/purchase", usage: "what it is the price of: `on_demand` or spot"},
		{name: "price", pointer: "/price", usage: "the price of a VM-hour, as an `amount`"},
		{name: "from", pointer: "/from", usage: "the `time` it starts, such as 2026-01-01"},
		{name: "until", pointer: "/until", usage: "the `time` it ends; null for none"},
	},
	example: "  headroom price create shop --vm-type small --price 0.20 --from 2026-01-01 --until 2027-01-01",
	list:    openapi.ListPrices,
	create:  openapi.CreatePrice,
	get:     openapi.GetPrice,
	replace: openapi.ReplacePrice,
	delete:  openapi.DeletePrice,
}

func priceCommand() *cobra.Command { return prices.command(priceImportCommand) }
