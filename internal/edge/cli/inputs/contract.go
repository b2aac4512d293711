package inputs

import (
	"reflect"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/openapi"
)

var contracts = remote.Resource{
	Word: "contract", Words: "contracts", ID: "NAME", Short: "Show and edit the contracts for reserved VMs of a cluster",
	As:      reflect.TypeFor[inputs.SignedContract](),
	Columns: []string{"name", "vm_type", "vms", "price", "billing", "upfront", "from", "until", "version"},
	Flags: []document.MemberFlag{
		{Name: "name", Pointer: "/name", Usage: "the contract's `name`"},
		{Name: "vm-type", Pointer: "/vm_type", Usage: "the VM `type` it is for"},
		{Name: "vms", Pointer: "/vms", Usage: "how many VMs it reserves, as a `number`"},
		{Name: "price", Pointer: "/price", Usage: "the price of a VM-hour, as an `amount`"},
		{Name: "billing", Pointer: "/billing", Usage: "used (hours used are paid) or always (every hour is), as a `word`"},
		{Name: "upfront", Pointer: "/upfront", Usage: "what is paid once for all of it, as an `amount`; kept on record, in no plan's cost"},
		{Name: "from", Pointer: "/from", Usage: "the `time` its term starts, such as 2026-01-01"},
		{Name: "until", Pointer: "/until", Usage: "the `time` its term ends"},
	},
	Example: "  headroom supply contract create shop --name one-year --vm-type small --vms 30 --price 0.10 --upfront 0 --from 2026-01-01 --until 2027-01-01",
	List:    openapi.ListContracts,
	Create:  openapi.CreateContract,
	Get:     openapi.GetContract,
	Replace: openapi.ReplaceContract,
	Delete:  openapi.DeleteContract,
}
