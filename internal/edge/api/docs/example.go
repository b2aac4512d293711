package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// examples holds the example bodies of the contract, by the name of their shape. They replace the shape in every made
// example.
type examples map[string]map[string]any

func readExamples(doc *Contract) examples {
	known := examples{}
	for _, path := range doc.Paths {
		for _, member := range path.Of.Operations() {
			op := member.Of
			if op.RequestBody == nil {
				continue
			}
			media := op.RequestBody.Content["application/json"]
			if media == nil || media.Schema.Ref == "" {
				continue
			}
			if object, ok := media.Example.(map[string]any); ok {
				known[media.Schema.Ref] = object
			}
		}
	}
	return known
}

// of returns a value of a media type as indented JSON: the contract's example, or one made from those of its members.
// Members come in the order of the schema, not of the alphabet.
func (e examples) of(m *mediaType, d direction) string {
	if m == nil || m.Schema == nil {
		return ""
	}
	value := m.Example
	if value == nil {
		for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
			value = m.Examples[name].Value
			break
		}
	}
	return e.text(m.Schema, value, d)
}

func (e examples) text(ref *Ref[Schema], value any, d direction) string {
	if value == nil && e.knows(ref) {
		value = e.invent(ref, d, 0)
	}
	if value == nil {
		return ""
	}
	if text, ok := value.(string); ok && ref.Value.Type != "string" {
		return text // the text itself, for a body that is no JSON
	}
	var b bytes.Buffer
	writeOrdered(&b, ref, value)
	var indented bytes.Buffer
	if json.Indent(&indented, b.Bytes(), "", "  ") != nil {
		return b.String()
	}
	return foldShort(indented.String())
}

// knows reports whether the contract has an example for a shape. An example made from types alone would mislead: its
// numbers do not belong together.
func (e examples) knows(ref *Ref[Schema]) bool {
	ref = only(ref)
	if row := rowOf(ref.Value); row != nil {
		return e.knows(row)
	}
	return e[ref.Ref] != nil || ref.Value.Example != nil
}

// invent makes a value from a schema's examples, defaults and types.
func (e examples) invent(ref *Ref[Schema], d direction, depth int) any {
	outer := ref.Value
	ref = only(ref)
	v := ref.Value
	for _, s := range []*Schema{outer, v} {
		if s.Example != nil {
			return s.Example
		}
		if s.Default != nil {
			return s.Default
		}
		if s.Nullable {
			return nil
		}
	}
	if depth > deepest+2 {
		return nil
	}
	if len(v.Enum) > 0 {
		return v.Enum[0]
	}
	if len(v.OneOf) > 0 {
		return e.invent(v.OneOf[0], d, depth)
	}
	if len(v.AnyOf) > 0 {
		return e.invent(v.AnyOf[0], d, depth)
	}
	if v.Items != nil {
		if element := e.invent(v.Items, d, depth+1); element != nil {
			return []any{element}
		}
		return []any{}
	}
	if list, _ := Properties(v); len(list) > 0 {
		known := e[ref.Ref]
		object := map[string]any{}
		for _, p := range list {
			switch always := p.Of.Value.ReadOnly && p.Of.Value.Items == nil || p.Of.Value.Default != nil; {
			case d == inRequest && (p.Of.Value.ReadOnly || known != nil):
				continue
			case known != nil && !always: // one of several forms, or nothing to warn of
				continue
			}
			object[p.Name] = e.invent(p.Of, d, depth+1)
		}
		maps.Copy(object, known)
		return object
	}
	switch {
	case v.Type == "object":
		return map[string]any{}
	case v.Format == "date-time":
		return "2026-01-01T00:00:00Z"
	case v.Format == "uuid":
		return "0197f0c4-7e1a-7c3e-9a55-1f0a3b5c7d9e"
	case v.Type == "integer", v.Type == "number":
		if v.Minimum != nil && *v.Minimum > 1 {
			return *v.Minimum
		}
		return 1
	case v.Type == "boolean":
		return true
	case v.Type == "string":
		return "…"
	}
	return nil
}

// writeOrdered writes JSON with the members of objects in the order of their schema.
func writeOrdered(b *bytes.Buffer, ref *Ref[Schema], value any) {
	switch v := value.(type) {
	case map[string]any:
		order := memberOrder(ref)
		names := slices.SortedFunc(maps.Keys(v), func(x, y string) int {
			i, j := order.at(x), order.at(y)
			if i != j {
				return i - j
			}
			return strings.Compare(x, y)
		})
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonText(name) + ":")
			writeOrdered(b, order.refs[name], v[name])
		}
		b.WriteByte('}')
	case []any:
		var items *Ref[Schema]
		if ref != nil {
			items = only(ref).Value.Items
		}
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeOrdered(b, items, element)
		}
		b.WriteByte(']')
	default:
		b.WriteString(jsonText(v))
	}
}

type ordered struct {
	place map[string]int
	refs  map[string]*Ref[Schema]
}

func (o ordered) at(name string) int {
	if i, ok := o.place[name]; ok {
		return i
	}
	return len(o.place)
}

func memberOrder(ref *Ref[Schema]) ordered {
	o := ordered{place: map[string]int{}, refs: map[string]*Ref[Schema]{}}
	if ref == nil {
		return o
	}
	schemas := []*Ref[Schema]{only(ref)}
	schemas = append(schemas, ref.Value.OneOf...)
	schemas = append(schemas, ref.Value.AnyOf...)
	for _, s := range schemas {
		list, _ := Properties(s.Value)
		for _, p := range list {
			if _, seen := o.place[p.Name]; !seen {
				o.place[p.Name], o.refs[p.Name] = len(o.place), p.Of
			}
		}
	}
	return o
}

// foldShort puts innermost objects and lists that fit on one line there, so that an example is read
// at a glance.
func foldShort(indented string) string {
	const widest = 64
	lines := strings.Split(indented, "\n")
	for changed := true; changed; {
		changed = false
		for i := 0; i < len(lines); i++ {
			open := lines[i]
			if !strings.HasSuffix(open, "{") && !strings.HasSuffix(open, "[") {
				continue
			}
			depth := len(open) - len(strings.TrimLeft(open, " "))
			end := i + 1
			for end < len(lines) && len(lines[end])-len(strings.TrimLeft(lines[end], " ")) > depth {
				end++
			}
			if end >= len(lines) || i == 0 {
				continue
			}
			flat := open
			for _, line := range lines[i+1 : end+1] {
				if strings.HasSuffix(flat, ",") {
					flat += " "
				}
				flat += strings.TrimSpace(line)
			}
			if len(flat) > widest {
				continue
			}
			lines = slices.Replace(lines, i, end+1, flat)
			changed = true
		}
	}
	return strings.Join(lines, "\n")
}

// curl returns a command line that calls an operation. Long bodies are read from a file.
func (e examples) curl(method, path string, op *operation, parameters []*Ref[parameter], role, body, contentType string) (command, file string) {
	const longest = 14 // lines of a body
	lines := []string{"curl"}
	if method != "GET" {
		lines[0] += " -X " + method
	}
	var query []string
	for _, p := range parameters {
		if p.Value.In == "path" {
			path = strings.Replace(path, "{"+p.Value.Name+"}", e.sample(p.Value), 1)
		}
		if p.Value.In == "query" && p.Value.Required {
			query = append(query, p.Value.Name+"="+e.sample(p.Value))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	lines[0] += fmt.Sprintf(` "$HEADROOM_URL%s"`, path)
	if role != "" {
		lines = append(lines, `-H "Authorization: Bearer $HEADROOM_API_KEY"`)
	}
	for _, p := range parameters {
		if p.Value.In == "header" && p.Value.Name == "If-Match" {
			lines = append(lines, `-H 'If-Match: "3"'`)
		}
	}
	if op.RequestBody != nil && body != "" {
		lines = append(lines, "-H 'Content-Type: "+contentType+"'")
		if strings.Count(body, "\n") >= longest || strings.Contains(body, "'") {
			file = op.OperationID + ".json"
			lines = append(lines, "-d @"+file)
		} else {
			lines = append(lines, "-d '"+body+"'")
		}
	}
	return strings.Join(lines, " \\\n  "), file
}

// sample returns a value for a parameter in an address.
func (e examples) sample(p *parameter) string {
	value := p.Example
	if value == nil && p.Schema != nil {
		value = e.invent(p.Schema, inRequest, 0)
	}
	if s, ok := value.(string); ok && s != "…" {
		return s
	}
	if value == nil || value == "…" {
		return p.Name
	}
	return jsonText(value)
}
