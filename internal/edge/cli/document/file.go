package document

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/shell"
)

// MemberFlag is a flag that gives one member.
type MemberFlag struct {
	Name    string
	Pointer string // to the member
	Usage   string
	Alone   bool   // the object the member is in has no other member afterwards
	Against string // a flag whose member must not be true beside it
	// Unless names a flag beside whose true member this one says nothing. It is 0 there if nobody gives it.
	Unless string
}

// Set puts the value of a flag at its pointer.
func (n *Node) Set(f MemberFlag, value string) {
	steps := strings.Split(f.Pointer, "/")[1:]
	for i, step := range steps {
		if i > 0 && f.Alone {
			n.Kind, n.Members = ObjectNode, nil
		}
		next := n.Member(step)
		if next == nil || i < len(steps)-1 && next.Kind != ObjectNode {
			next = &Node{Kind: ObjectNode, Place: Place{Flag: f.Name}}
			n.Drop(step)
			n.Members = append(n.Members, Member{Name: step, Place: next.Place, Value: next})
		}
		n = next
	}
	*n = Node{Kind: BareNode, Text: value, Place: Place{Flag: f.Name}}
}

// True reports whether the member at a flag's pointer is true.
func (n *Node) True(f MemberFlag) bool {
	for _, step := range strings.Split(f.Pointer, "/")[1:] {
		if n = n.Member(step); n == nil {
			return false
		}
	}
	return n.Kind == BareNode && n.Text == "true"
}

// Complete gives the members that say nothing beside what a tree has, and that it must have.
func (n *Node) Complete(flags []MemberFlag) {
	for _, f := range flags {
		for _, other := range flags {
			if f.Unless == other.Name && f.Unless != "" && n.True(other) && n.Member(strings.TrimPrefix(f.Pointer, "/")) == nil {
				n.Set(f, "0")
			}
		}
	}
}

// Drop removes a member.
func (n *Node) Drop(name string) {
	for i, m := range n.Members {
		if m.Name == name {
			n.Members = append(n.Members[:i:i], n.Members[i+1:]...)
			return
		}
	}
}

// tree reads the one thing a file describes.
func ReadTree(c *cobra.Command, name string) (tree *Node, label string, err error) {
	trees, label, err := ReadFile(c, name)
	if err != nil {
		return nil, label, err
	}
	if len(trees) > 1 {
		return nil, label, shell.Labelled(label, trees[1].Refuse("syntax", "A second document starts here; give one only."))
	}
	return trees[0], label, nil
}

// ReadFile reads the documents of a file or of standard input.
func ReadFile(c *cobra.Command, name string) (trees []*Node, label string, err error) {
	data, label, err := shell.ReadBy(c.Context(), name, c.InOrStdin(), c.ErrOrStderr(), func(in io.Reader) ([]byte, error) {
		return io.ReadAll(io.LimitReader(in, shell.LongestDocument+1))
	})
	if err != nil {
		return nil, label, err
	}
	trees, err = ReadTrees(data)
	return trees, label, shell.Labelled(label, err)
}

// OfFile puts a file's name before what is wrong with its content; other troubles are not the file's.
func OfFile(label string, err error) error {
	if label == "" || !errors.Is(err, fault.Invalid) {
		return err
	}
	return shell.Labelled(label, err)
}

// Named gives an object the name from the arguments where it has none.
func (n *Node) Named(name string) {
	if n.Kind == ObjectNode && n.Member("name") == nil {
		n.Members = append(n.Members, Member{Name: "name", Value: &Node{Kind: TextNode, Text: name}})
	}
}

// ForgetPlaces is for a tree that comes from the server: its lines say nothing to anybody.
func ForgetPlaces(n *Node) {
	n.Place = Place{}
	for _, m := range n.Members {
		ForgetPlaces(m.Value)
	}
	for _, item := range n.Items {
		ForgetPlaces(item)
	}
}
