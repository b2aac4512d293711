package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

var vmTypes = resource{
	word: "VM type", words: "VM types", verb: "vm-type", id: "NAME", short: "Show and edit the types of VMs of a cluster",
	as:      reflect.TypeFor[inputs.VMType](),
	columns: []string{"name", "quota", "in_use", "spot_max_share", "description", "version"},
	flags: []memberFlag{
		{name: "name", pointer: "/name", usage: "the type's `name`"},
		{name: "description", pointer: "/description", usage: "what it is, as a `text`"},
		{name: "quota", pointer: "/quota", usage: "the most that may be rented on demand at once, as a `number`; null for no limit"},
		{name: "spot-max-share", pointer: "/spot/max_share", usage: "the `share` of the type's VMs that may be spot at most, from 0 to 1"},
		{name: "vcpu", pointer: "/vcpu", usage: "how many vCPUs a machine has, as a `number`"},
		{name: "memory-gib", pointer: "/memory_gib", usage: "how much memory it has, as a `number` of GiB"},
		{name: "gpus", pointer: "/gpus", usage: "how many GPUs it has, as a `number`"},
		{name: "in-use", pointer: "/in_use", usage: "whether plans rent this type: `true` or false"},
	},
	example: "  headroom vm-type create shop --name small --quota 50",
	list:    openapi.ListVMTypes,
	create:  openapi.CreateVMType,
	get:     openapi.GetVMType,
	replace: openapi.ReplaceVMType,
	delete:  openapi.DeleteVMType,
}

func vmTypeCommand() *cobra.Command { return vmTypes.command() }
