package inputs

import (
	"reflect"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/openapi"
)

var prices = remote.Resource{
	Word: "price", Words: "prices", ID: "ID", Short: "Show and edit the prices of a cluster",
	As:      reflect.TypeFor[inputs.PricePeriod](),
	Columns: []string{"id", "vm_type", "purchase", "price", "from", "until"},
	Flags: []document.MemberFlag{
		{Name: "vm-type", Pointer: "/vm_type", Usage: "the VM `type` that has this price"},
		{Name: "purchase", Pointer: "/purchase", Usage: "what it is the price of: `on_demand` or spot"},
		{Name: "price", Pointer: "/price", Usage: "the price of a VM-hour, as an `amount`"},
		{Name: "from", Pointer: "/from", Usage: "the `time` it starts, such as 2026-01-01"},
		{Name: "until", Pointer: "/until", Usage: "the `time` it ends; null for none"},
	},
	Example: "  headroom supply price create shop --vm-type small --price 0.20 --from 2026-01-01 --until 2027-01-01",
	List:    openapi.ListPrices,
	Create:  openapi.CreatePrice,
	Get:     openapi.GetPrice,
	Replace: openapi.ReplacePrice,
	Delete:  openapi.DeletePrice,
}
