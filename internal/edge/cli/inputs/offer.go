package inputs

import (
	"reflect"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/openapi"
)

var offers = remote.Resource{
	Word: "offer", Words: "offers", ID: "NAME", Short: "Show and edit the contracts that a cluster may buy",
	As:      reflect.TypeFor[inputs.StandingOffer](),
	Columns: []string{"name", "vm_type", "price", "upfront", "billing", "term_hours", "term_years", "max", "version"},
	Flags: []document.MemberFlag{
		{Name: "name", Pointer: "/name", Usage: "the offer's `name`"},
		{Name: "vm-type", Pointer: "/vm_type", Usage: "the VM `type` it is for"},
		{Name: "price", Pointer: "/price", Usage: "the price of a VM-hour, as an `amount`"},
		{Name: "upfront", Pointer: "/upfront", Usage: "what is paid once for each VM, as an `amount`"},
		{Name: "billing", Pointer: "/billing", Usage: "used (hours used are paid) or always (every hour is), as a `word`"},
		{Name: "term-years", Pointer: "/term_years", Usage: "how long it lasts, as a `number` of calendar years"},
		{Name: "term-hours", Pointer: "/term_hours", Usage: "how long it lasts, as a `number` of hours instead"},
		{Name: "max", Pointer: "/max", Usage: "the most VMs that may be bought, as a `number`"},
		{Name: "note", Pointer: "/note", Usage: "where it comes from, as a `text`"},
	},
	Example: "  headroom supply offer create shop --name one-year --vm-type small --price 0.04 --upfront 400 --billing always --term-years 1 --max 200",
	List:    openapi.ListOffers,
	Create:  openapi.CreateOffer,
	Get:     openapi.GetOffer,
	Replace: openapi.ReplaceOffer,
	Delete:  openapi.DeleteOffer,
}
