package remote

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/openapi"
)

// completionTime bounds how long a shell waits for names.
const completionTime = 2 * time.Second

// CompleteClusters lets the shell complete the name of a cluster wherever a verb takes one first, by
// asking the server that the verb itself would ask. Where there is none it offers nothing.
func CompleteClusters(c *cobra.Command) {
	for _, sub := range c.Commands() {
		CompleteClusters(sub)
	}
	words := strings.Fields(c.Use)
	if len(words) < 2 || c.ValidArgsFunction != nil {
		return
	}
	ofCluster := c.HasParent() && c.Parent().Name() == "cluster" && words[1] == "NAME" && words[0] != "create"
	if !ofCluster && words[1] != "CLUSTER" && words[1] != "CLUSTER..." {
		return
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && words[1] != "CLUSTER..." {
			if strings.Contains(c.Use, "FILE") || strings.Contains(c.Use, "COMMAND") {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := ClusterNames(c, begun)
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// ClusterNames are the clusters whose names begin so, as far as they are on the first page.
func ClusterNames(c *cobra.Command, begun string) []string {
	var at Connection
	at.Timeout = completionTime
	for name, value := range map[string]*string{"server": &at.Server, "key-file": &at.KeyFile, "data-dir": &at.DataDir, "context": &at.Context} {
		if flag := c.Flags().Lookup(name); flag != nil {
			*value = flag.Value.String()
		}
	}
	s, err := at.Open()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	got, err := s.Call(ctx, openapi.ListClusters().Request)
	if err != nil {
		return nil
	}
	var page struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if got.Into(&page) != nil {
		return nil
	}
	var names []string
	for _, item := range page.Items {
		if strings.HasPrefix(item.Name, begun) {
			names = append(names, item.Name)
		}
	}
	return names
}
