package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"headroom/openapi"
)

// completionTime is how long a shell is kept waiting for names.
const completionTime = 2 * time.Second

// completeClusters lets the shell complete the name of a cluster wherever a verb takes one first, by
// asking the server that the verb itself would ask. Where there is none it offers nothing.
func completeClusters(c *cobra.Command) {
	for _, sub := range c.Commands() {
		completeClusters(sub)
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
		names := clusterNames(c, begun)
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// clusterNames are the clusters whose names begin so, as far as they are on the first page.
func clusterNames(c *cobra.Command, begun string) []string {
	var at connection
	at.timeout = completionTime
	for name, value := range map[string]*string{"server": &at.server, "key-file": &at.keyFile, "data-dir": &at.dataDir} {
		if flag := c.Flags().Lookup(name); flag != nil {
			*value = flag.Value.String()
		}
	}
	s, err := at.open()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	got, err := s.call(ctx, openapi.ListClusters().Request)
	if err != nil {
		return nil
	}
	var page struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if got.into(&page) != nil {
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
