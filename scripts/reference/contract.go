package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/headroom/internal/edge/api/docs"
	"example.org/headroom/openapi"
)

func readContract() (*docs.Contract, error) { return docs.Load(openapi.Document) }

// membersPage writes the members of a schema and of all schemas in it.
func membersPage(c *docs.Contract, title, name string) (string, error) {
	var s strings.Builder
	fmt.Fprintf(&s, "# %s\n\n%s", title, mark)
	return s.String() + schemas(c, name), nil
}

// schemas writes a schema, and those that it leads to, each once.
func schemas(c *docs.Contract, names ...string) string {
	var s strings.Builder
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		of := c.Components.Schemas.Get(name)
		if seen[name] || of == nil || of.Value == nil {
			continue
		}
		seen[name] = true
		m := members{said: map[string]bool{}}
		m.gather(of, false)
		fmt.Fprintf(&s, "\n## %s\n\n%s\n", name, sentence(of.Value.Description))
		if one := oneValue(of.Value); one != "" && len(m.rows) == 0 {
			fmt.Fprintf(&s, "\nIt is %s.\n", one)
		}
		if len(m.rows) > 0 {
			s.WriteString("\n| Member | Type | Meaning |\n|---|---|---|\n" + strings.Join(m.rows, ""))
		}
		names = append(m.leads, names...)
	}
	return s.String()
}

// members gathers the rows of a schema, and the schemas that they lead to.
type members struct {
	rows, leads []string
	said        map[string]bool
}

func (m *members) gather(r *docs.Ref[docs.Schema], inside bool) {
	if r == nil || r.Value == nil {
		return
	}
	v := r.Value
	if inside && r.Ref != "" && len(v.Properties) == 0 && len(v.AllOf) == 0 {
		m.leads = append(m.leads, nameOf(r))
		return
	}
	for _, p := range v.Properties {
		if m.said[p.Name] {
			continue
		}
		m.said[p.Name] = true
		need := ""
		if slices.Contains(v.Required, p.Name) {
			need = " (required)"
		}
		m.rows = append(m.rows, fmt.Sprintf("| `%s`%s | %s | %s |\n", p.Name, need, m.typeOf(p.Of), cell(meaning(p.Of))))
	}
	for _, part := range slices.Concat(v.AllOf, v.OneOf, v.AnyOf) {
		m.gather(part, true)
	}
	if len(v.Properties) == 0 {
		m.typeOf(v.Items)
		m.typeOf(v.AdditionalProperties.Schema)
	}
}

// typeOf writes a type, with a link where it has a section of its own.
func (m *members) typeOf(r *docs.Ref[docs.Schema]) string {
	if r == nil || r.Value == nil {
		return ""
	}
	v := r.Value
	switch {
	case r.Ref != "":
		name := nameOf(r)
		m.leads = append(m.leads, name)
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case len(v.AllOf) == 1:
		return m.typeOf(v.AllOf[0])
	case v.Items != nil:
		return "list of " + m.typeOf(v.Items)
	case v.AdditionalProperties.Schema != nil:
		return "by name, " + m.typeOf(v.AdditionalProperties.Schema)
	}
	for _, p := range v.Properties { // an object without a name of its own
		m.typeOf(p.Of)
	}
	return cell(oneValue(v))
}

// oneValue writes the type and limits of a value that is no object.
func oneValue(v *docs.Schema) string {
	parts := []string{v.Type}
	if v.Format == "date-time" {
		parts = []string{"time"}
	}
	if len(v.Enum) > 0 {
		words := make([]string, len(v.Enum))
		for i, e := range v.Enum {
			words[i] = fmt.Sprint(e)
		}
		parts = []string{"one of " + strings.Join(words, ", ")}
	}
	if v.Minimum != nil {
		parts = append(parts, fmt.Sprintf("from %v", *v.Minimum))
	}
	if v.Maximum != nil {
		parts = append(parts, fmt.Sprintf("to %.0f", *v.Maximum))
	}
	if v.Nullable {
		parts = append(parts, "or null")
	}
	if v.Default != nil {
		parts = append(parts, fmt.Sprintf("(default %v)", v.Default))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func nameOf(r *docs.Ref[docs.Schema]) string { return r.Ref[strings.LastIndexByte(r.Ref, '/')+1:] }

func meaning(r *docs.Ref[docs.Schema]) string {
	if r.Ref != "" { // its own section says it
		return ""
	}
	if r.Value.Description != "" {
		return r.Value.Description
	}
	for _, part := range r.Value.AllOf {
		if part.Value != nil && part.Value.Description != "" {
			return part.Value.Description
		}
	}
	return ""
}

// sentence escapes what Markdown would take for marks, except for code.
func sentence(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "<", "&lt;") }

func eventsPage(c *code, contract *docs.Contract) (string, error) {
	var s strings.Builder
	s.WriteString("# Events\n\n" + mark + `
## Messages to webhooks

A webhook gets the events that it asked for. [Connect other systems](../how-to/connect.md) says how to make one.

| Event | Meaning |
|---|---|
`)
	events := contract.Components.Schemas.Get("WebhookEvent")
	if events == nil {
		return "", fmt.Errorf("openapi.yaml has no WebhookEvent")
	}
	var bodies []string
	for _, member := range contract.Components.Schemas {
		if !strings.HasSuffix(member.Name, "Event") || member.Of.Value == nil {
			continue
		}
		kind := member.Of.Value.Properties.Get("type")
		if kind == nil || kind.Value == nil || len(kind.Value.Enum) != 1 {
			continue
		}
		_, about, _ := strings.Cut(member.Of.Value.Description, ": ")
		fmt.Fprintf(&s, "| [`%v`](#%s) | %s |\n", kind.Value.Enum[0], strings.ToLower(member.Name), cell(about))
		bodies = append(bodies, member.Name)
	}
	if len(bodies) < len(events.Value.Enum) {
		return "", fmt.Errorf("%d events and %d bodies", len(events.Value.Enum), len(bodies))
	}
	s.WriteString(`
## The audit log

` + "`GET /v1/audit`" + ` lists the changes. An entry says who did what to which thing, before and after.
Its ` + "`action`" + ` is create, update, delete, revoke or apply. Its ` + "`kind`" + ` is one of these:

`)
	for _, kind := range slices.Sorted(maps.Keys(c.recorded)) {
		fmt.Fprintf(&s, "- `%s`\n", kind)
	}
	return s.String() + schemas(contract, append(bodies, "AuditEntry")...), nil
}
