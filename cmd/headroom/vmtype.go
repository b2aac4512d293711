package main

import (
	"context"
	"io"
	"net/http"
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/openapi/client"
)

var vmTypes = resource{
	word: "VM type", words: "VM types", verb: "vm-type", id: "NAME", short: "Show and edit the types of VMs of a cluster",
	as:      reflect.TypeFor[capacity.VMType](),
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
	list: func(ctx context.Context, api *client.Client, cluster string, edit edits) (*http.Response, error) {
		return api.ListVMTypes(ctx, cluster, nil, edit...)
	},
	create: func(ctx context.Context, api *client.Client, cluster string, body io.Reader, edit edits) (*http.Response, error) {
		return api.CreateVMTypeWithBody(ctx, cluster, nil, jsonBody, body, edit...)
	},
	get: func(ctx context.Context, api *client.Client, cluster, name string, edit edits) (*http.Response, error) {
		return api.GetVMType(ctx, cluster, name, nil, edit...)
	},
	replace: func(ctx context.Context, api *client.Client, cluster, name string, body io.Reader, edit edits) (*http.Response, error) {
		return api.ReplaceVMTypeWithBody(ctx, cluster, name, nil, jsonBody, body, edit...)
	},
	delete: func(ctx context.Context, api *client.Client, cluster, name string, edit edits) (*http.Response, error) {
		return api.DeleteVMType(ctx, cluster, name, nil, edit...)
	},
}

func vmTypeCommand() *cobra.Command { return vmTypes.command() }
