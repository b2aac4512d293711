// Command contract writes the contract's schemas and operations as types of TypeScript, so that the page can only use
// what openapi.yaml has:
//
//	go run ./scripts/contract > internal/edge/web/ui/src/api/contract.ts
package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/openapi"
)

// eitherWay is an amount, which requests may give as a number. Answers write a string.
var eitherWay = regexp.MustCompile(`string( \| null)? \| number`)

func main() {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Document)
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, "// Made of openapi.yaml by scripts/contract; make generate makes it anew.")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		t := eitherWay.ReplaceAllString(typeOf(doc.Components.Schemas[name], "", true), "string$1")
		fmt.Fprintf(out, "\nexport type %s = %s;\n", name, t)
	}
	fmt.Fprintln(out, "\n// Operations by method and path: what is asked with, and what is answered when all is well.")
	fmt.Fprintln(out, "export interface Operations {")
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Map()[path]
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			writeOperation(out, method+" "+path, item, item.Operations()[method])
		}
	}
	fmt.Fprintln(out, "}")
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func writeOperation(out *bufio.Writer, name string, item *openapi3.PathItem, o *openapi3.Operation) {
	var in [2]strings.Builder // path, query
	for _, p := range append(slices.Clone(item.Parameters), o.Parameters...) {
		place := slices.Index([]string{"path", "query"}, p.Value.In)
		if place < 0 {
			continue
		}
		optional := "?"
		if p.Value.Required {
			optional = ""
		}
		fmt.Fprintf(&in[place], "%s%s: %s; ", member(p.Value.Name), optional, typeOf(p.Value.Schema, "", false))
	}
	body, answer := "never", "never"
	if o.RequestBody != nil {
		if media := o.RequestBody.Value.Content["application/json"]; media != nil {
			body = typeOf(media.Schema, "", false)
		} else {
			body = "Blob | string"
		}
	}
	answers := map[string]bool{}
	for code, r := range o.Responses.Map() {
		if !strings.HasPrefix(code, "2") || r.Value == nil {
			continue
		}
		for kind, media := range r.Value.Content {
			if kind == "application/json" {
				answers[typeOf(media.Schema, "", false)] = true
			}
		}
	}
	if len(answers) > 0 {
		answer = strings.Join(slices.Sorted(maps.Keys(answers)), " | ")
	}
	fmt.Fprintf(out, "  %q: { path: { %s}; query: { %s}; body: %s; answer: %s };\n", name, in[0].String(), in[1].String(), body, answer)
}

// typeOf returns a schema's type. References keep their name, except where that name is defined.
func typeOf(ref *openapi3.SchemaRef, indent string, defining bool) string {
	if ref == nil || ref.Value == nil {
		return "unknown"
	}
	if ref.Ref != "" && !(defining && indent == "" && !strings.HasPrefix(ref.Ref, "#/components/schemas/")) {
		return ref.Ref[strings.LastIndexByte(ref.Ref, '/')+1:]
	}
	s := ref.Value
	t := bare(s, indent)
	if s.Nullable {
		t += " | null"
	}
	return t
}

func bare(s *openapi3.Schema, indent string) string {
	switch {
	case len(s.Enum) > 0:
		var words []string
		for _, v := range s.Enum {
			if text, ok := v.(string); ok {
				words = append(words, strconv.Quote(text))
			} else if v != nil {
				words = append(words, fmt.Sprint(v))
			}
		}
		return strings.Join(words, " | ")
	case len(s.OneOf) > 0 && len(s.Properties) == 0:
		return joined(s.OneOf, " | ", indent)
	case len(s.AnyOf) > 0 && len(s.Properties) == 0:
		return joined(s.AnyOf, " | ", indent)
	case len(s.AllOf) > 0:
		parts := joined(s.AllOf, " & ", indent)
		if len(s.Properties) > 0 {
			parts += " & " + object(s, indent)
		}
		return parts
	case s.Type.Is("string"):
		return "string"
	case s.Type.Is("integer"), s.Type.Is("number"):
		return "number"
	case s.Type.Is("boolean"):
		return "boolean"
	case s.Type.Is("array"):
		return "Array<" + typeOf(s.Items, indent+"  ", false) + ">"
	case len(s.Properties) > 0:
		return object(s, indent)
	case s.AdditionalProperties.Schema != nil:
		return "Record<string, " + typeOf(s.AdditionalProperties.Schema, indent+"  ", false) + ">"
	default:
		return "unknown"
	}
}

func joined(refs openapi3.SchemaRefs, with, indent string) string {
	var parts []string
	for _, r := range refs {
		parts = append(parts, typeOf(r, indent+"  ", false))
	}
	return "(" + strings.Join(parts, with) + ")"
}

func object(s *openapi3.Schema, indent string) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, member(name), optional, typeOf(s.Properties[name], indent+"  ", false))
	}
	b.WriteString(indent + "}")
	return b.String()
}

// member returns a name in TypeScript's form.
func member(name string) string {
	for _, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return strconv.Quote(name)
		}
	}
	return name
}
