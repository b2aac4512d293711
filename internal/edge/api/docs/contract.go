package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Contract holds the parts of openapi.yaml that the reference shows, in the written order.
type Contract struct {
	Info       struct{ Description string }
	Tags       []struct{ Name, Description string }
	Paths      Named[*pathItem]
	Components struct {
		Schemas    Named[*Ref[Schema]]
		Parameters Named[*Ref[parameter]]
		Responses  Named[*Ref[response]]
	}
}

// Named is an object in the order in which its members are written.
type Named[T any] []Member[T]

type Member[T any] struct {
	Name string
	Of   T
}

func (n *Named[T]) UnmarshalJSON(text []byte) error {
	read := json.NewDecoder(bytes.NewReader(text))
	if _, err := read.Token(); err != nil {
		return err
	}
	for read.More() {
		name, err := read.Token()
		if err != nil {
			return err
		}
		var of T
		if err := read.Decode(&of); err != nil {
			return err
		}
		*n = append(*n, Member[T]{name.(string), of})
	}
	return nil
}

// Get returns a member, or nothing.
func (n Named[T]) Get(name string) (of T) {
	for _, member := range n {
		if member.Name == name {
			return member.Of
		}
	}
	return of
}

// Ref is a part of the contract: written in its place, or one of the components by its address.
type Ref[T any] struct {
	Ref   string
	Value *T
}

func (r *Ref[T]) UnmarshalJSON(text []byte) error {
	var at struct {
		Ref string `json:"$ref"`
	}
	if err := json.Unmarshal(text, &at); err != nil {
		return err
	}
	if r.Ref = at.Ref; r.Ref != "" {
		return nil
	}
	r.Value = new(T)
	return json.Unmarshal(text, r.Value)
}

type pathItem struct {
	Parameters                    []*Ref[parameter]
	Get, Post, Put, Patch, Delete *operation
}

var methodOrder = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

func (p *pathItem) Operations() (list Named[*operation]) {
	for i, op := range []*operation{p.Get, p.Post, p.Put, p.Patch, p.Delete} {
		if op != nil {
			list = append(list, Member[*operation]{methodOrder[i], op})
		}
	}
	return list
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Role                              string `json:"x-role"`
	Agent                             bool   `json:"x-agent"`
	Parameters                        []*Ref[parameter]
	RequestBody                       *body
	Responses                         Named[*Ref[response]]
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *Ref[Schema]
	Example               any
}

type body struct {
	Description string
	Required    bool
	Content     map[string]*mediaType
}

type response struct {
	Description string
	Headers     map[string]any
	Content     map[string]*mediaType
}

type mediaType struct {
	Schema   *Ref[Schema]
	Example  any
	Examples map[string]struct{ Value any }
}

// Schema describes a value.
type Schema struct {
	Type, Format, Description, Pattern string
	Nullable, ReadOnly                 bool
	Default, Example                   any
	Enum                               []any
	Minimum, Maximum                   *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MinLength, MinItems                uint64
	MaxLength, MaxItems                *uint64
	Required                           []string
	Properties                         Named[*Ref[Schema]]
	AdditionalProperties               elements
	Items                              *Ref[Schema]
	AllOf, OneOf, AnyOf                []*Ref[Schema]
}

// elements is the schema of other members, where one is given and not just whether there may be any.
type elements struct{ Schema *Ref[Schema] }

func (e *elements) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, &e.Schema)
}

// Load reads a contract.
func Load(text []byte) (*Contract, error) {
	c := new(Contract)
	text, err := yaml.YAMLToJSON(text)
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err == nil {
		err = c.link()
	}
	if err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	return c, nil
}

// link finds what addresses in the contract lead to.
func (c *Contract) link() error {
	l := linker{of: c}
	for _, s := range c.Components.Schemas {
		l.schemas(s.Of)
	}
	for _, p := range c.Components.Parameters {
		l.schemas(p.Of.Value.Schema)
	}
	for _, r := range c.Components.Responses {
		l.content(r.Of.Value.Content)
	}
	for _, p := range c.Paths {
		l.parameters(p.Of.Parameters)
		for _, op := range p.Of.Operations() {
			l.parameters(op.Of.Parameters)
			if op.Of.RequestBody != nil {
				l.content(op.Of.RequestBody.Content)
			}
			for _, r := range op.Of.Responses {
				follow(&l, r.Of, "responses", c.Components.Responses)
				if r.Of.Ref == "" {
					l.content(r.Of.Value.Content)
				}
			}
		}
	}
	if l.missing != "" {
		return fmt.Errorf("%s leads nowhere", l.missing)
	}
	return nil
}

type linker struct {
	of      *Contract
	missing string // an address that leads nowhere
}

func follow[T any](l *linker, r *Ref[T], kind string, known Named[*Ref[T]]) {
	if r.Ref == "" {
		return
	}
	if to := known.Get(strings.TrimPrefix(r.Ref, "#/components/"+kind+"/")); to != nil && to.Value != nil {
		r.Value = to.Value
	} else {
		l.missing, r.Value = r.Ref, new(T)
	}
}

func (l *linker) parameters(list []*Ref[parameter]) {
	for _, p := range list {
		follow(l, p, "parameters", l.of.Components.Parameters)
		if p.Ref == "" {
			l.schemas(p.Value.Schema)
		}
	}
}

func (l *linker) content(types map[string]*mediaType) {
	for _, m := range types {
		l.schemas(m.Schema)
	}
}

func (l *linker) schemas(list ...*Ref[Schema]) {
	for _, r := range list {
		if r == nil {
			continue
		}
		if r.Ref != "" {
			follow(l, r, "schemas", l.of.Components.Schemas)
			continue
		}
		v := r.Value
		for _, p := range v.Properties {
			l.schemas(p.Of)
		}
		l.schemas(v.Items, v.AdditionalProperties.Schema)
		l.schemas(v.AllOf...)
		l.schemas(v.OneOf...)
		l.schemas(v.AnyOf...)
	}
}
