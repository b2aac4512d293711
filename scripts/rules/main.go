// Command rules writes the operations of openapi.yaml, and the rules for the bodies and parameters of their requests, as
// Go. The rules of values are tags of validator/v10:
//
//	go run ./scripts/rules > internal/edge/api/rules/rules_gen.go
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/openapi"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "rules:", err)
		os.Exit(1)
	}
}

func write() error {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Document)
	if err != nil {
		return err
	}
	w := writer{shapes: map[string]string{}}
	var operations bytes.Buffer
	for _, o := range operationsOf(doc) {
		w.operation(&operations, o)
	}
	var out bytes.Buffer
	out.WriteString("// Code generated from openapi.yaml by scripts/rules. DO NOT EDIT.\n\npackage rules\n\n")
	out.WriteString("// Operations lists the operations by path and method.\nvar Operations = []Operation{\n")
	out.Write(operations.Bytes())
	out.WriteString("}\n\nvar (\n")
	for _, name := range slices.Sorted(maps.Keys(w.shapes)) {
		fmt.Fprintf(&out, "shape%s = Shape%s\n", name, w.shapes[name])
	}
	out.WriteString(")\n")
	text, err := format.Source(out.Bytes())
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return cmp.Or(w.err, err)
}

// operation is one of the contract's with its place.
type operation struct {
	method, path string
	item         *openapi3.PathItem
	*openapi3.Operation
}

func operationsOf(doc *openapi3.T) (all []operation) {
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			all = append(all, operation{method, path, item, o})
		}
	}
	slices.SortFunc(all, func(a, b operation) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	return all
}

// writer collects the named shapes that the operations need, and the first thing that cannot be said.
type writer struct {
	shapes map[string]string
	err    error
}

func (w *writer) fail(at, what string) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %s", at, what)
	}
}

func (w *writer) operation(out *bytes.Buffer, o operation) {
	role, _ := o.Extensions["x-role"].(string)
	fmt.Fprintf(out, "{ID: %q, Method: %q, Path: %q, Role: %q", o.OperationID, o.method, o.path, role)
	w.flag(out, "Agent", o.Extensions["x-agent"] == true)
	w.flag(out, "AllClusters", o.Extensions["x-all-clusters"] == true)
	w.flag(out, "KeyAsync", o.Extensions["x-key-async"] == true)
	bulk := o.Extensions["x-bulk"] == true || o.Extensions["x-question"] == true
	w.flag(out, "Bulk", bulk)
	if parameters := slices.Concat(o.item.Parameters, o.Parameters); len(parameters) > 0 {
		out.WriteString(", Parameters: []Parameter{\n")
		for _, ref := range parameters {
			p := ref.Value
			fmt.Fprintf(out, "{Name: %q, In: %q", p.Name, p.In)
			w.flag(out, "Required", p.Required)
			said := *p.Schema.Value
			said.Description = p.Description
			fmt.Fprintf(out, ", About: %q, Shape: &Shape%s},\n", p.Description, w.literal(o.OperationID+" "+p.Name, &said))
		}
		out.WriteString("}")
	}
	if o.RequestBody != nil {
		body := o.RequestBody.Value
		json := body.Content["application/json"]
		w.flag(out, "Sends", true)
		w.flag(out, "Needs", body.Required)
		w.flag(out, "CSV", body.Content["text/csv"] != nil)
		if json != nil && !bulk {
			fmt.Fprintf(out, ", Body: %s", w.shape(o.OperationID, json.Schema))
		}
	}
	out.WriteString("},\n")
}

func (w *writer) flag(out *bytes.Buffer, name string, set bool) {
	if set {
		fmt.Fprintf(out, ", %s: true", name)
	}
}

// shape returns an expression for a schema: a named one's address, or a literal.
func (w *writer) shape(at string, ref *openapi3.SchemaRef) string {
	name, named := strings.CutPrefix(ref.Ref, "#/components/schemas/")
	if !named {
		return "&Shape" + w.literal(at, ref.Value)
	}
	if _, known := w.shapes[name]; !known {
		w.shapes[name] = "{}" // the compiler refuses shapes that hold themselves
		w.shapes[name] = w.literal(name, ref.Value)
	}
	return "&shape" + name
}

var kinds = map[string]string{"object": "Object", "array": "Array", "string": "Text", "integer": "Whole", "number": "Number", "boolean": "Bool"}

// literal returns the composite literal of a schema, without its type.
func (w *writer) literal(at string, s *openapi3.Schema) string {
	var parts []string
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	if s.Not != nil || s.UniqueItems || s.MultipleOf != nil || s.ExclusiveMax.IsSet() || s.Discriminator != nil {
		w.fail(at, "it has a keyword that the rules do not know")
	}
	if types := s.Type.Slice(); len(types) == 1 {
		kind := kinds[types[0]]
		if s.Format == "date-time" {
			kind = "Time"
		}
		add("Kind: %s", kind)
	} else if s.MinProps > 0 || s.MaxProps != nil {
		add("Kind: Object")
	}
	if s.Nullable {
		add("Nullable: true")
	}
	if rules := w.rules(at, s); rules != "" {
		add("Rules: %s", quoted(rules))
	}
	if s.Pattern != "" && s.Description != "" {
		add("About: %q", s.Description)
	}
	if s.Title != "" {
		add("Title: %q", s.Title)
	}
	if len(s.Properties) > 0 {
		var members strings.Builder
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			fmt.Fprintf(&members, "{%q, %s},\n", name, w.shape(at+"/"+name, s.Properties[name]))
		}
		add("Members: []Member{\n%s}", members.String())
	}
	if len(s.Required) > 0 {
		add("Required: %#v", s.Required)
	}
	if rest := s.AdditionalProperties; rest.Schema != nil {
		add("Rest: %s", w.shape(at+"/*", rest.Schema))
	} else if rest.Has != nil && !*rest.Has {
		add("Closed: true")
	}
	if s.Items != nil {
		add("Items: %s", w.shape(at+"/[]", s.Items))
	}
	forms := func(name string, refs openapi3.SchemaRefs) {
		var list []string
		for i, form := range refs {
			list = append(list, w.shape(at+"/"+name+strconv.Itoa(i), form))
		}
		if list != nil {
			add("%s: []*Shape{%s}", name, strings.Join(list, ", "))
		}
	}
	forms("OneOf", s.OneOf)
	forms("AnyOf", s.AnyOf)
	forms("AllOf", s.AllOf)
	return "{" + strings.Join(parts, ", ") + "}"
}

// rules returns the tag for the value itself. The first rule that it breaks is the one a refusal is about.
func (w *writer) rules(at string, s *openapi3.Schema) string {
	var rules []string
	rule := func(name, limit string) {
		rules = append(rules, name+"="+strings.NewReplacer(",", "0x2C", "|", "0x7C").Replace(limit))
	}
	if len(s.Enum) > 0 {
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			text, ok := word.(string)
			if words[i] = text; !ok || strings.ContainsAny(text, " '") {
				w.fail(at, fmt.Sprintf("%v cannot stand in a list of words", word))
			}
		}
		rule("oneof", strings.Join(words, " "))
	}
	if s.Type.Is("integer") {
		rules = append(rules, "whole", "int64")
	}
	if s.Min != nil {
		rule(map[bool]string{true: "gt", false: "gte"}[s.ExclusiveMin.IsTrue()], number(*s.Min))
	}
	if s.Max != nil {
		rule("lte", number(*s.Max))
	}
	for _, least := range []uint64{s.MinLength, s.MinItems, s.MinProps} {
		if least > 0 {
			rule("min", strconv.FormatUint(least, 10))
		}
	}
	for _, most := range []*uint64{s.MaxLength, s.MaxItems, s.MaxProps} {
		if most != nil {
			rule("max", strconv.FormatUint(*most, 10))
		}
	}
	if s.Pattern != "" {
		rule("matches", s.Pattern)
	}
	if s.Format == "date-time" {
		rules = append(rules, "moment")
	}
	return strings.Join(rules, ",")
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// quoted prefers the form of a string that needs no escapes.
func quoted(text string) string {
	if strings.Contains(text, `\`) && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
