// Package openapi is the contract of the HTTP interface; the server's types, its validation and the requests of the
// command line come from openapi.yaml.
package openapi

import (
	_ "embed"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strings"
)

//go:generate go run example.org/headroom/scripts/operations openapi.yaml operations_gen.go

// Document is openapi.yaml.
//
//go:embed openapi.yaml
var Document []byte

// A Request names one operation and where it is asked. There is a function for each operation.
type Request struct {
	Method string
	Path   string // below the server's address, escaped
	Query  url.Values
}

// to fills a path's parameters in.
func to(method, template string, values ...any) Request {
	var path strings.Builder
	for _, value := range values {
		before, rest, _ := strings.Cut(template, "{")
		_, template, _ = strings.Cut(rest, "}")
		path.WriteString(before)
		path.WriteString(url.PathEscape(fmt.Sprint(value)))
	}
	path.WriteString(template)
	return Request{Method: method, Path: path.String(), Query: url.Values{}}
}

// with adds a query: a struct that the generator made, or a pointer to one, which may be nil. Empty fields are left out.
func (r Request) with(query any) Request {
	v := reflect.Indirect(reflect.ValueOf(query))
	if !v.IsValid() {
		return r
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("query")
		switch value := v.Field(i).Interface().(type) {
		case []string:
			if len(value) > 0 {
				r.Query[name] = value
			}
		default:
			if !v.Field(i).IsZero() {
				r.Query.Set(name, fmt.Sprint(value))
			}
		}
	}
	return r
}

// A List asks for many things, a page at a time.
type List struct{ Request }

// Page asks for a page of at most so many things, after the one the cursor stands for, in a format: json or csv.
// What is empty is left to the server.
func (l List) Page(limit, cursor, format string) Request {
	return Request{Method: l.Method, Path: l.Path, Query: maps.Clone(l.Query)}.with(struct {
		Limit  string `query:"limit"`
		Cursor string `query:"cursor"`
		Format string `query:"format"`
	}{limit, cursor, format})
}
