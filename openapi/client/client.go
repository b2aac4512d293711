// Package client speaks to a Headroom server from Go. The operations and types are made from
// openapi.yaml; this file holds what is not in it.
package client

//go:generate go tool -modfile=../../tools/go.mod oapi-codegen -config config.yaml -o client_gen.go ../openapi.yaml
