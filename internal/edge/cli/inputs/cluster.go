package inputs

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/service/plans"
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
	Beside:  &remote.Beside{Title: "Plan", Of: standings},
	Create:  func(string) openapi.Request { return openapi.CreateCluster() },
	Get:     func(_, name string) openapi.Request { return openapi.GetCluster(name) },
	Replace: func(_, name string) openapi.Request { return openapi.ReplaceCluster(name) },
	Delete:  func(_, name string) openapi.Request { return openapi.DeleteCluster(name) },
}

// standings says of each cluster whether its plan is that of its inputs.
func standings(ctx context.Context, s *remote.Service) (map[string]string, error) {
	lines, err := s.Items(ctx, 0, openapi.GetOverview(nil))
	if err != nil {
		return nil, err
	}
	of := make(map[string]string, len(lines))
	for _, text := range lines {
		var line plans.Overview
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, fmt.Errorf("the server's answer cannot be read (%w); is it of another version?", err)
		}
		of[line.Cluster] = standing(line)
	}
	return of, nil
}

func standing(line plans.Overview) string {
	if line.Plan == nil {
		if line.Failure != nil {
			return "none: " + *line.Failure
		}
		return "none yet"
	}
	said := fmt.Sprint(line.Plan.Number)
	if line.Pin != nil {
		said += ", pinned until " + line.Pin.Until.UTC().Format(time.RFC3339)
	}
	if line.Waiting != nil {
		said += fmt.Sprintf("; plan %d waits", *line.Waiting)
	}
	switch {
	case line.Failure != nil:
		said += ", not planned anew: " + *line.Failure
	case line.Stale:
		said += ", stale"
	}
	return said
}

// ClusterCommand returns the commands about clusters.
func ClusterCommand() *cobra.Command { return clusters.Command(exportCommand) }
