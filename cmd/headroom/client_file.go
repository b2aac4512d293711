package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"headroom/internal/core/fault"
)

// memberFlag is a flag that gives one member.
type memberFlag struct {
	name    string
	pointer string // to the member
	usage   string
	alone   bool // the object the member is in has no other member afterwards
}

// set puts the value of a flag at its pointer.
func (n *node) set(f memberFlag, value string) {
	steps := strings.Split(f.pointer, "/")[1:]
	for i, step := range steps {
		if i > 0 && f.alone {
			n.kind, n.members = objectNode, nil
		}
		next := n.member(step)
		if next == nil || i < len(steps)-1 && next.kind != objectNode {
			next = &node{kind: objectNode, place: place{flag: f.name}}
			n.drop(step)
			n.members = append(n.members, member{name: step, place: next.place, value: next})
		}
		n = next
	}
	*n = node{kind: bareNode, text: value, place: place{flag: f.name}}
}

// drop removes a member.
func (n *node) drop(name string) {
	for i, m := range n.members {
		if m.name == name {
			n.members = append(n.members[:i:i], n.members[i+1:]...)
			return
		}
	}
}

// tree reads the one thing a file describes.
func readTree(c *cobra.Command, name string) (tree *node, label string, err error) {
	trees, label, err := readFile(c, name)
	if err != nil {
		return nil, label, err
	}
	if len(trees) > 1 {
		return nil, label, labelled(label, trees[1].refuse("syntax", "A second document starts here; give one only."))
	}
	return trees[0], label, nil
}

// readFile reads the documents of a file or of standard input.
func readFile(c *cobra.Command, name string) (trees []*node, label string, err error) {
	data, label, err := readBy(c.Context(), name, c.InOrStdin(), c.ErrOrStderr(), func(in io.Reader) ([]byte, error) {
		return io.ReadAll(io.LimitReader(in, longestDocument+1))
	})
	if err != nil {
		return nil, label, err
	}
	trees, err = readTrees(data)
	return trees, label, labelled(label, err)
}

// ofFile puts a file's name before what is wrong with its content; other troubles are not the file's.
func ofFile(label string, err error) error {
	if label == "" || !errors.Is(err, fault.Invalid) {
		return err
	}
	return labelled(label, err)
}

// named gives an object the name from the arguments where it has none.
func (n *node) named(name string) {
	if n.kind == objectNode && n.member("name") == nil {
		n.members = append(n.members, member{name: "name", value: &node{kind: textNode, text: name}})
	}
}

// forgetPlaces is for a tree that comes from the server: its lines say nothing to anybody.
func forgetPlaces(n *node) {
	n.place = place{}
	for _, m := range n.members {
		forgetPlaces(m.value)
	}
	for _, item := range n.items {
		forgetPlaces(item)
	}
}
