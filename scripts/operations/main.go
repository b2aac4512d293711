// Command operations writes one small Go function for each operation of openapi.yaml, which returns its method and
// address, and a struct for what its query may hold:
//
//	go run ./scripts/operations openapi/openapi.yaml openapi/operations_gen.go
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: operations openapi.yaml file.go")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "operations:", err)
		os.Exit(1)
	}
}

// operation holds what a function is written from.
type operation struct {
	id, method, path string
	in               map[string][]*openapi3.Parameter // by place
}

func write(contract, file string) error {
	doc, err := openapi3.NewLoader().LoadFromFile(contract)
	if err != nil {
		return err
	}
	var operations []operation
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			if slices.Contains(o.Tags, "service") { // the server's own pages and probes
				continue
			}
			in := map[string][]*openapi3.Parameter{}
			for _, p := range slices.Concat(item.Parameters, o.Parameters) {
				in[p.Value.In] = append(in[p.Value.In], p.Value)
			}
			operations = append(operations, operation{o.OperationID, method, path, in})
		}
	}
	slices.SortFunc(operations, func(a, b operation) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	var out bytes.Buffer
	out.WriteString("// Code generated from openapi.yaml by scripts/operations. DO NOT EDIT.\n\npackage openapi\n")
	for _, o := range operations {
		if err := o.write(&out); err != nil {
			return fmt.Errorf("%s: %w", o.id, err)
		}
	}
	text, err := format.Source(out.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}

// paging names the query parameters that every list has; List.Page sets them. numbers says how a table for
// spreadsheets writes numbers.
var paging = []string{"limit", "cursor", "format", "numbers"}

func (o operation) write(out *bytes.Buffer) error {
	name := strings.ToUpper(o.id[:1]) + o.id[1:]
	var parameters, values []string
	for _, step := range regexp.MustCompile(`{\w+}`).FindAllString(o.path, -1) {
		step = strings.Trim(step, "{}")
		i := slices.IndexFunc(o.in["path"], func(p *openapi3.Parameter) bool { return p.Name == step })
		if i < 0 {
			return fmt.Errorf("the path's parameter %q is not described", step)
		}
		kind := "string"
		if o.in["path"][i].Schema.Value.Type.Is("integer") {
			kind = "int64"
		}
		if n := len(parameters); n > 0 { // (cluster, name string)
			parameters[n-1] = strings.TrimSuffix(parameters[n-1], " "+kind)
		}
		parameters, values = append(parameters, step+" "+kind), append(values, step)
	}
	query := slices.Clone(o.in["query"])
	has := func(name string) bool {
		return slices.ContainsFunc(query, func(p *openapi3.Parameter) bool { return p.Name == name })
	}
	result := "Request"
	if has("cursor") {
		if !has("limit") || !has("format") {
			return fmt.Errorf("a list needs limit, cursor and format")
		}
		result = "List"
		query = slices.DeleteFunc(query, func(p *openapi3.Parameter) bool { return slices.Contains(paging, p.Name) })
	}
	made := fmt.Sprintf("to(%q, %q%s)", o.method, o.path, strings.Join(append([]string{""}, values...), ", "))
	if len(query) > 0 {
		pointer := "*"
		fmt.Fprintf(out, "\ntype %sQuery struct {\n", name)
		for _, p := range query {
			kind, err := typeOf(p)
			if err != nil {
				return err
			}
			if p.Required {
				pointer = ""
			}
			fmt.Fprintf(out, "\t%s %s `query:%q`\n", fieldName(p.Name), kind, p.Name)
		}
		out.WriteString("}\n\n")
		parameters, made = append(parameters, "query "+pointer+name+"Query"), made+".with(query)"
	}
	if result == "List" {
		made = "List{" + made + "}"
	}
	line := fmt.Sprintf("func %s(%s) %s { return %s }\n", name, strings.Join(parameters, ", "), result, made)
	if len(line) > 120 {
		line = strings.Replace(strings.TrimSuffix(line, " }\n")+"\n}\n", "{ return", "{\n\treturn", 1)
	}
	out.WriteString(line)
	return nil
}

// typeOf returns the Go type of a query parameter. What is not said is left out, so a switch is off where nothing is
// said.
func typeOf(p *openapi3.Parameter) (string, error) {
	schema := p.Schema.Value
	switch {
	case schema.Type.Is("array"):
		return "[]string", nil
	case schema.Type.Is("boolean") && schema.Default != nil && schema.Default != false:
		return "", fmt.Errorf("the query parameter %q is on where nothing is said; give it a name for what it turns off", p.Name)
	case schema.Type.Is("boolean"):
		return "bool", nil
	}
	return "string", nil
}

// fieldName makes a Go name of one in the contract: dry_run becomes DryRun.
func fieldName(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if word = strings.ToUpper(word[:1]) + word[1:]; word == "Vms" {
			word = "VMs"
		}
		words[i] = word
	}
	return strings.Join(words, "")
}
