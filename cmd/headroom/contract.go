package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

var contracts = resource{
	word: "contract", words: "contracts", id: "NAME", short: "Show and edit the contracts for reserved VMs of a cluster",
	as:      reflect.TypeFor[inputs.SignedContract](),
	columns: []string{"name", "vm_type", "vms", "price", "billing", "upfront", "from", "until", "version"},
	flags: []memberFlag{
		{name: "name", pointer: "/name", usage: "the contract's `name`"},
		{name: "vm-type", pointer: "/vm_type", usage: "the VM `type` it is for"},
		{name: "vms", pointer: "/vms", usage: "how many VMs it reserves, as a `number`"},
		{name: "price", pointer: "/price", usage: "the price of a VM-hour, as an `amount`"},
		{name: "billing", pointer: "/billing", usage: "used (hours used are paid) or always (every hour is), as a `word`"},
		{name: "upfront", pointer: "/upfront", usage: "what is paid once for all of it, as an `amount`; kept on record, in no plan's cost"},
		{name: "from", pointer: "/from", usage: "the `time` its term starts, such as 2026-01-01"},
		{name: "until", pointer: "/until", usage: "the `time` its term ends"},
	},
	example: "  headroom contract create shop --name one-year --vm-type small --vms 30 --price 0.10 --upfront 0 --from 2026-01-01 --until 2027-01-01",
	list:    openapi.ListContracts,
	create:  openapi.CreateContract,
	get:     openapi.GetContract,
	replace: openapi.ReplaceContract,
	delete:  openapi.DeleteContract,
}

func contractCommand() *cobra.Command { return contracts.command() }
