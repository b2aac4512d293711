// Command requests writes the contract of requests, without answers, as JSON. A server reads that at its start, in a
// fraction of the time that openapi.yaml takes:
//
//	go run ./scripts/requests > internal/edge/api/requests_gen.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"headroom/openapi"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(1)
	}
}

type object = map[string]any

func write() error {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Document)
	if err != nil {
		return err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	var whole object
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	paths := whole["paths"].(object)
	for _, item := range paths {
		for _, part := range item.(object) {
			if operation, ok := part.(object); ok {
				for _, name := range []string{"responses", "tags", "summary", "description"} {
					delete(operation, name)
				}
			}
		}
	}
	r := reduced{from: whole["components"].(object), components: object{}}
	short := object{"openapi": whole["openapi"], "info": object{"title": "requests", "version": "1"}, "paths": r.part(paths), "components": r.components}
	if text, err = json.MarshalIndent(short, "", " "); err != nil {
		return err
	}
	_, err = fmt.Printf("%s\n", text)
	return err
}

// reduced collects the components that the remaining parts refer to.
type reduced struct {
	from, components object
}

// examples names the members that a server does not use. It uses descriptions, which refusals repeat.
var examples = []string{"example", "examples"}

// named lists the members whose own members have freely chosen names.
var named = []string{"properties", "content"}

// part returns a part of the contract without examples.
func (r reduced) part(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = r.part(v[i])
		}
	case object:
		if ref, ok := v["$ref"].(string); ok {
			r.keep(ref)
			return v
		}
		for name, member := range v {
			switch members, _ := member.(object); {
			case slices.Contains(examples, name):
				delete(v, name)
			case name == "enum" || name == "default": // users' own values
			case members != nil && slices.Contains(named, name):
				for name := range members {
					members[name] = r.part(members[name])
				}
			default:
				v[name] = r.part(member)
			}
		}
	}
	return v
}

// keep adds a component, such as #/components/schemas/Class.
func (r reduced) keep(ref string) {
	words := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
	kind, name := words[0], words[1]
	if r.components[kind] == nil {
		r.components[kind] = object{}
	}
	kept := r.components[kind].(object)
	if _, there := kept[name]; there {
		return
	}
	kept[name] = nil // it may refer to itself
	kept[name] = r.part(r.from[kind].(object)[name])
}
