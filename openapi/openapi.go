// Package openapi is the contract of the HTTP interface; the server's types, its validation and the
// Go client come from openapi.yaml.
package openapi

import _ "embed"

// Document is openapi.yaml.
//
//go:embed openapi.yaml
var Document []byte
