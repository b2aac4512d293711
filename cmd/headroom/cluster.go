package main

import (
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/data/inputs"
	"headroom/openapi"
)

var clusters = resource{
	word: "cluster", words: "clusters", id: "NAME", short: "Show and edit clusters",
	as:      reflect.TypeFor[inputs.Cluster](),
	columns: []string{"name", "currency", "period_s", "time_zone", "description", "inputs_version"},
	flags: []memberFlag{
		{name: "name", pointer: "/name", usage: "the cluster's `name`: small letters, digits and hyphens"},
		{name: "description", pointer: "/description", usage: "what it is for, as a `text`"},
		{name: "currency", pointer: "/currency", usage: "the `currency` of all amounts, such as EUR"},
		{name: "period-s", pointer: "/period_s", usage: "the `seconds` that costs and penalties are for"},
		{name: "time-zone", pointer: "/time_zone", usage: "the `zone` that weekly patterns are in, such as Europe/Berlin"},
		{name: "budget-vm-cost", pointer: "/budget/vm_cost", usage: "the most that VMs may cost a period, as an `amount`; null for no limit"},
		{name: "budget-total", pointer: "/budget/total", usage: "the most that VMs and penalties may cost a period, as an `amount`; null for no limit"},
		{name: "hold-s", pointer: "/hold_s", usage: "for how many `seconds` autoscalers hold a decrease of VMs back"},
	},
	example: "  headroom cluster create --name shop --currency EUR\n  headroom cluster create shop.yaml",
	list:    func(string) openapi.List { return openapi.ListClusters() },
	create:  func(string) openapi.Request { return openapi.CreateCluster() },
	get:     func(_, name string) openapi.Request { return openapi.GetCluster(name) },
	replace: func(_, name string) openapi.Request { return openapi.ReplaceCluster(name) },
	delete:  func(_, name string) openapi.Request { return openapi.DeleteCluster(name) },
}

func clusterCommand() *cobra.Command { return clusters.command(exportCommand) }
