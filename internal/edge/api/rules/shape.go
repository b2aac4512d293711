// Package rules checks JSON values by the rules that openapi.yaml states, and lists its operations. The rules are
// generated; github.com/go-playground/validator/v10 applies them.
package rules

//go:generate sh -c "go run example.org/headroom/scripts/rules > rules_gen.go"

import "strconv"

// Shape describes the values that may stand at a place of a document. The zero value allows everything but null.
type Shape struct {
	Kind     string   // the kind of value that is needed, in words; "" is any
	Nullable bool     // null may stand here as well
	Rules    string   // the rules for the value itself, as a tag of validator/v10
	About    string   // describes the values that match the pattern
	Title    string   // names one form of several
	Members  []Member // of an object, by name
	Required []string // of the members
	Closed   bool     // no other members may stand here
	Rest     *Shape   // of members with other names; nil: any value
	Items    *Shape   // of an array
	OneOf    []*Shape // exactly one must fit
	AnyOf    []*Shape // at least one must fit
	AllOf    []*Shape // all must fit
}

// The kinds of values.
const (
	Object = "an object"
	Array  = "an array"
	Text   = "a string"
	Time   = "a time as a string"
	Whole  = "a whole number"
	Number = "a number"
	Bool   = "true or false"
)

// Member is a named part of an object.
type Member struct {
	Name string
	*Shape
}

// anything is the shape of members that no rule is about.
var anything = Shape{Nullable: true}

// member returns the shape of a member, or nil if an object may have none of that name.
func (s *Shape) member(name string) *Shape {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return s.Members[i].Shape
		}
	}
	if s.Rest == nil && !s.Closed {
		return &anything
	}
	return s.Rest
}

// names lists the members of an object.
func (s *Shape) names() []string {
	names := make([]string, len(s.Members))
	for i, m := range s.Members {
		names[i] = m.Name
	}
	return names
}

// Operation is one of openapi.yaml's.
type Operation struct {
	ID, Method, Path string
	Role             string // who may call it: a role, or Open, or Any
	Agent            bool   // agents may as well
	AllClusters      bool   // only for principals that are not limited to clusters
	KeyAsync         bool   // takes an Idempotency-Key for work in the background alone
	Parameters       []Parameter
	Sends            bool   // its requests have a body,
	Needs            bool   // and always
	Bulk             bool   // the strict reader of its document checks its body
	CSV              bool   // its body may be a table, or is a file
	Body             *Shape // of other bodies
}

// The roles of operations that need no particular one.
const (
	Open = "open" // no identity needed
	Any  = "any"  // any known caller
)

// Parameter is a part of an address or a header.
type Parameter struct {
	Name     string
	In       string // path, query or header
	Required bool
	About    string
	*Shape
}

// Most returns the maximum number of values of an array, or 0 if there is none.
func (s *Shape) Most() int {
	most, _ := strconv.Atoi(param(s.Rules, "max"))
	return most
}
