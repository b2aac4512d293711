package inputs

import (
	"reflect"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/openapi"
)

var vmTypes = remote.Resource{
	Word: "VM type", Words: "VM types", Verb: "vm-type", ID: "NAME", Short: "Show and edit the types of VMs of a cluster",
	As:      reflect.TypeFor[inputs.VMType](),
	Columns: []string{"name", "quota", "in_use", "spot_max_share", "description", "version"},
	Flags: []document.MemberFlag{
		{Name: "name", Pointer: "/name", Usage: "the type's `name`"},
		{Name: "description", Pointer: "/description", Usage: "what it is, as a `text`"},
		{Name: "quota", Pointer: "/quota", Usage: "the most that may be rented on demand at once, as a `number`; null for no limit"},
		{Name: "spot-max-share", Pointer: "/spot/max_share", Usage: "the `share` of the type's VMs that may be spot at most, from 0 to 1"},
		{Name: "start-price", Pointer: "/start_price", Usage: "what starting a VM costs, as an `amount`; schedules then start fewer"},
		{Name: "start-lead-s", Pointer: "/start_lead_s", Usage: "how many `seconds` before its hour a VM is asked for, and paid"},
		{Name: "vcpu", Pointer: "/vcpu", Usage: "how many vCPUs a machine has, as a `number`"},
		{Name: "memory-gib", Pointer: "/memory_gib", Usage: "how much memory it has, as a `number` of GiB"},
		{Name: "gpus", Pointer: "/gpus", Usage: "how many GPUs it has, as a `number`"},
		{Name: "in-use", Pointer: "/in_use", Usage: "whether plans rent this type: `true` or false"},
	},
	Example: "  headroom supply vm-type create shop --name small --quota 50",
	List:    openapi.ListVMTypes,
	Create:  openapi.CreateVMType,
	Get:     openapi.GetVMType,
	Replace: openapi.ReplaceVMType,
	Delete:  openapi.DeleteVMType,
}
