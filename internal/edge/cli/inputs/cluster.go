package inputs

import (
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/openapi"
)

var clusters = remote.Resource{
	Word: "cluster", Words: "clusters", ID: "NAME", Short: "Show and edit clusters",
	As:      reflect.TypeFor[inputs.Cluster](),
	Columns: []string{"name", "currency", "period_s", "time_zone", "description", "inputs_version"},
	Flags: []document.MemberFlag{
		{Name: "name", Pointer: "/name", Usage: "the cluster's `name`: small letters, digits and hyphens"},
		{Name: "description", Pointer: "/description", Usage: "what it is for, as a `text`"},
		{Name: "currency", Pointer: "/currency", Usage: "the `currency` of all amounts, such as EUR"},
		{Name: "period-s", Pointer: "/period_s", Usage: "the `seconds` that costs and penalties are for"},
		{Name: "time-zone", Pointer: "/time_zone", Usage: "the `zone` that weekly patterns are in, such as Europe/Berlin"},
		{Name: "budget-vm-cost", Pointer: "/budget/vm_cost", Usage: "the most that VMs may cost a period, as an `amount`; null for no limit"},
		{Name: "budget-total", Pointer: "/budget/total",
			Usage: "the most that bill and value refused together may come to a period, as an `amount`; null for no limit"},
		{Name: "hold-s", Pointer: "/hold_s", Usage: "for how many `seconds` autoscalers hold a decrease of VMs back"},
	},
	Example: "  headroom cluster create --name shop --currency EUR\n  headroom cluster create shop.yaml",
	List:    func(string) openapi.List { return openapi.ListClusters() },
	Create:  func(string) openapi.Request { return openapi.CreateCluster() },
	Get:     func(_, name string) openapi.Request { return openapi.GetCluster(name) },
	Replace: func(_, name string) openapi.Request { return openapi.ReplaceCluster(name) },
	Delete:  func(_, name string) openapi.Request { return openapi.DeleteCluster(name) },
}

// ClusterCommand returns the commands about clusters.
func ClusterCommand() *cobra.Command { return clusters.Command(exportCommand) }
