package docs

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"
)

// docsMember is one member of an object, or one parameter, as shown in the reference.
type docsMember struct {
	Name     string
	Type     []docsWord
	Required bool
	Meaning  template.HTML
	Notes    []string // default, limits, choices
	Members  []docsMember
}

// docsWord is a piece of a type's description; one with a link is a type that has its own section.
type docsWord struct{ Text, Link string }

// docsType is a shape that has a section of its own.
type docsType struct {
	Name    string
	Meaning template.HTML
	Type    []docsWord // of one that has no members
	Notes   []string
	Members []docsMember
	Example string
}

// direction selects the members of an object to show: requests omit those that only the server writes.
type direction int

const (
	inRequest direction = iota
	inAnswer
)

// deepest is the number of nested levels of nameless objects that are shown.
const deepest = 4

// members lists the members of an object, in the written order.
func members(s *Schema, d direction, depth int) []docsMember {
	properties, required := Properties(s)
	list := make([]docsMember, 0, len(properties))
	for _, p := range properties {
		if d == inRequest && p.Of.Value.ReadOnly {
			continue
		}
		m := docsMember{Name: p.Name, Type: typeWords(p.Of), Required: required[p.Name] && d == inRequest,
			Meaning: phrase(describe(p.Of)), Notes: notes(p.Of, describe(p.Of) != "")}
		if Link(p.Of) == "" && depth < deepest {
			m.Members = members(Elements(p.Of).Value, d, depth+1)
		}
		list = append(list, m)
	}
	return list
}

// Properties gathers the properties of an object and of the shapes it consists of.
func Properties(s *Schema) (list Named[*Ref[Schema]], required map[string]bool) {
	required = map[string]bool{}
	for _, part := range s.AllOf {
		more, needed := Properties(part.Value)
		list = append(list, more...)
		maps.Copy(required, needed)
	}
	list = append(list, s.Properties...)
	for _, name := range s.Required {
		required[name] = true
	}
	return list, required
}

// only unwraps a schema that adds nothing to the one it refers to but a description or null.
func only(ref *Ref[Schema]) *Ref[Schema] {
	for ref.Ref == "" && len(ref.Value.AllOf) == 1 && len(ref.Value.Properties) == 0 {
		ref = ref.Value.AllOf[0]
	}
	return ref
}

// Elements returns the schema of a list's or map's elements, or the schema itself.
func Elements(ref *Ref[Schema]) *Ref[Schema] {
	ref = only(ref)
	for Link(ref) == "" {
		switch v := ref.Value; {
		case v.Items != nil:
			ref = only(v.Items)
		case v.AdditionalProperties.Schema != nil:
			ref = only(v.AdditionalProperties.Schema)
		default:
			return ref
		}
	}
	return ref
}

// Link returns the anchor of a schema that has a section of its own: a named object, or a named choice of such. Named
// words and numbers are explained at each use.
func Link(ref *Ref[Schema]) string {
	name, named := strings.CutPrefix(ref.Ref, "#/components/schemas/")
	if !named {
		return ""
	}
	v := ref.Value
	if rowOf(v) != nil {
		return ""
	}
	if v.Type == "object" || len(v.Properties) > 0 || len(v.AllOf) > 0 || len(v.OneOf) > 0 && hasLinks(v.OneOf) {
		return "#type-" + name
	}
	return ""
}

// rowOf returns the schema of the items of a page of a list, or nil for another schema.
func rowOf(v *Schema) *Ref[Schema] {
	if items := v.Properties.Get("items"); items != nil && v.Properties.Get("next_cursor") != nil {
		return items.Value.Items
	}
	return nil
}

func hasLinks(refs []*Ref[Schema]) bool {
	return slices.ContainsFunc(refs, func(r *Ref[Schema]) bool { return Link(r) != "" })
}

// typeWords describes the type of a value.
func typeWords(ref *Ref[Schema]) []docsWord {
	nullable := ref.Value.Nullable
	ref = only(ref)
	words := plainWords(ref)
	if nullable || ref.Value.Nullable {
		words = append(words, docsWord{Text: " or null"})
	}
	return words
}

func plainWords(ref *Ref[Schema]) []docsWord {
	if row := rowOf(ref.Value); row != nil {
		return append([]docsWord{{Text: "page of "}}, typeWords(row)...)
	}
	if anchor := Link(ref); anchor != "" {
		return []docsWord{{Text: strings.TrimPrefix(anchor, "#type-"), Link: anchor}}
	}
	v := ref.Value
	for _, choice := range [][]*Ref[Schema]{v.OneOf, v.AnyOf} {
		if len(choice) > 0 {
			return choiceWords(choice)
		}
	}
	switch {
	case v.Items != nil:
		return append([]docsWord{{Text: "list of "}}, typeWords(v.Items)...)
	case v.AdditionalProperties.Schema != nil:
		return append([]docsWord{{Text: "object of names to "}}, typeWords(v.AdditionalProperties.Schema)...)
	case v.Type == "":
		return []docsWord{{Text: "anything"}}
	}
	switch {
	case v.Format == "date-time":
		return []docsWord{{Text: "time (RFC 3339)"}}
	case v.Format == "uuid":
		return []docsWord{{Text: "UUID"}}
	case v.Type == "integer":
		return []docsWord{{Text: "whole number"}}
	case v.Type == "boolean":
		return []docsWord{{Text: "true or false"}}
	default:
		return []docsWord{{Text: v.Type}}
	}
}

func choiceWords(choice []*Ref[Schema]) (words []docsWord) {
	for i, one := range choice {
		if i > 0 {
			words = append(words, docsWord{Text: " or "})
		}
		words = append(words, typeWords(one)...)
	}
	return words
}

// describe returns the description nearest to the use of a schema.
func describe(ref *Ref[Schema]) string {
	if ref.Value.Description != "" || Link(ref) != "" {
		return ref.Value.Description
	}
	if inner := only(ref); inner != ref {
		return describe(inner)
	}
	return ""
}

// notes lists the facts about a value that its type does not include. It adds a pattern only to values without a
// description.
func notes(ref *Ref[Schema], described bool) (list []string) {
	v := ref.Value
	if inner := only(ref); inner != ref && v.Default == nil {
		ref, v = inner, inner.Value
	}
	add := func(note string) {
		if note != "" {
			list = append(list, note)
		}
	}
	if len(v.Enum) > 0 {
		add("one of " + joined(v.Enum))
	}
	if v.Default != nil && v.Default != "" {
		add("default " + joined([]any{v.Default}))
	}
	add(span(v))
	if v.MaxLength != nil {
		add(count(v.MinLength, *v.MaxLength, "characters"))
	}
	if v.MaxItems != nil {
		add(count(v.MinItems, *v.MaxItems, "of them"))
	} else if v.MinItems > 0 {
		add("at least " + digits(float64(v.MinItems)))
	}
	if v.Pattern != "" && !described {
		add("matches " + v.Pattern)
	}
	return list
}

func count(least, most uint64, what string) string {
	switch {
	case least == most:
		return digits(float64(most)) + " " + what
	case least == 0:
		return "at most " + digits(float64(most)) + " " + what
	}
	return digits(float64(least)) + " to " + digits(float64(most)) + " " + what
}

// span describes the range of a number.
func span(v *Schema) string {
	least, most := "at least ", "at most "
	if v.ExclusiveMinimum {
		least = "more than "
	}
	if v.ExclusiveMaximum {
		most = "less than "
	}
	switch {
	case v.Minimum != nil && v.Maximum != nil && least == "at least " && most == "at most ":
		return digits(*v.Minimum) + " to " + digits(*v.Maximum)
	case v.Minimum != nil && v.Maximum != nil:
		return least + digits(*v.Minimum) + ", " + most + digits(*v.Maximum)
	case v.Minimum != nil:
		return least + digits(*v.Minimum)
	case v.Maximum != nil:
		return most + digits(*v.Maximum)
	}
	return ""
}

// digits writes a number for people: 31,622,400.
func digits(f float64) string {
	text := jsonText(f)
	if f != math.Trunc(f) || strings.Contains(text, "e") {
		return text
	}
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func joined(values []any) string {
	words := make([]string, 0, len(values))
	for _, v := range values {
		if s, ok := v.(string); ok {
			words = append(words, s)
		} else {
			words = append(words, jsonText(v))
		}
	}
	return strings.Join(words, " · ")
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
