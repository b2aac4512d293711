package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

var offers = resource{
	word: "offer", words: "offers", id: "NAME", short: "Show and edit the contracts that a cluster may buy",
	as:      reflect.TypeFor[inputs.StandingOffer](),
	columns: []string{"name", "vm_type", "price", "upfront", "billing", "term_hours", "term_years", "max", "version"},
	flags: []memberFlag{
		{name: "name", pointer: "/name", usage: "the offer's `name`"},
		{name: "vm-type", pointer: "/vm_type", usage: "the VM `type` it is for"},
		{name: "price", pointer: "/price", usage: "the price of a VM-hour, as an `amount`"},
		{name: "upfront", pointer: "/upfront", usage: "what is paid once for each VM, as an `amount`"},
		{name: "billing", pointer: "/billing", usage: "used (hours used are paid) or always (every hour is), as a `word`"},
		{name: "term-years", pointer: "/term_years", usage: "how long it lasts, as a `number` of calendar years"},
		{name: "term-hours", pointer: "/term_hours", usage: "how long it lasts, as a `number` of hours instead"},
		{name: "max", pointer: "/max", usage: "the most VMs that may be bought, as a `number`"},
		{name: "note", pointer: "/note", usage: "where it comes from, as a `text`"},
	},
	example: "  headroom offer create shop --name one-year --vm-type small --price 0.04 --upfront 400 --billing always --term-years 1 --max 200",
	list:    openapi.ListOffers,
	create:  openapi.CreateOffer,
	get:     openapi.GetOffer,
	replace: openapi.ReplaceOffer,
	delete:  openapi.DeleteOffer,
}

func offerCommand() *cobra.Command { return offers.command() }
