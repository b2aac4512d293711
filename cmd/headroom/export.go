package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"headroom/openapi"
)

func exportCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{
		Use: "export CLUSTER...", Short: "Write clusters as a file that apply reads",
		Long: `Writes clusters as a file that "headroom apply" reads: applied unchanged, it changes nothing. The same
inputs give the same bytes, so that such files can be kept under version control.`,
		Example: "  headroom cluster export shop -f shop.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	out.addFlags(c, "yaml", "json")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if out.format == "json" && len(args) > 1 {
			return fmt.Errorf("JSON holds one cluster a file; export them one by one, or as YAML")
		}
		return nil
	}
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		var text bytes.Buffer
		for i, cluster := range args {
			a, err := s.call(c.Context(), openapi.GetDocument(cluster))
			if err != nil {
				return err
			}
			tree, err := readJSONTree(a.body)
			if err != nil {
				return fmt.Errorf("the server's answer cannot be read: %w", err)
			}
			if i > 0 {
				text.WriteString("---\n")
			}
			text.WriteString(exported(cluster, tree, out.format == "yaml"))
		}
		write := func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }
		return out.write(c, map[string]form{"yaml": write, "json": write})
	})
}

// written is what people write of a tree: without the members that the server alone decides, and with
// the others in the order of the type. A member that this program does not know stays, at the end. Bare
// amounts are written without quotes, as people write them.
func written(n *node, as reflect.Type, bare bool) *node {
	for as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	switch {
	case bare && n.kind == textNode && (as == moneyType || as == decimalType) && numeral.MatchString(n.text):
		return &node{kind: bareNode, text: n.text}
	case n.kind == listNode && as.Kind() == reflect.Slice:
		items := make([]*node, len(n.items))
		for i, item := range n.items {
			items[i] = written(item, as.Elem(), bare)
		}
		return &node{kind: listNode, items: items}
	case n.kind != objectNode || as.Kind() != reflect.Struct || as == moneyType || as == decimalType || as == timeType:
		return n
	}
	shape := membersOf(as)
	out := &node{kind: objectNode}
	for _, m := range n.members {
		if t, known := shape.types[m.name]; !known {
			out.members = append(out.members, m)
		} else if slices.Contains(shape.names, m.name) {
			out.members = append(out.members, member{name: m.name, value: written(m.value, t, bare)})
		}
	}
	place := func(name string) int {
		if i := slices.Index(shape.names, name); i >= 0 {
			return i
		}
		return len(shape.names)
	}
	slices.SortStableFunc(out.members, func(a, b member) int { return place(a.name) - place(b.name) })
	return out
}

// exported is a whole document as a file.
func exported(cluster string, tree *node, yaml bool) string {
	var b bytes.Buffer
	tree = written(tree, documentType, yaml)
	if yaml {
		exportYAML(&b, cluster, tree)
		return b.String()
	}
	var text bytes.Buffer
	compactJSON(&text, tree)
	_ = json.Indent(&b, text.Bytes(), "", "  ") // it has just been written
	return b.String() + "\n"
}

// compactJSON writes a tree that came from JSON.
func compactJSON(b *bytes.Buffer, n *node) {
	switch n.kind {
	case bareNode:
		b.WriteString(n.text)
	case textNode:
		b.WriteString(quotedText(n.text))
	case listNode:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			compactJSON(b, item)
		}
		b.WriteByte(']')
	case objectNode:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quotedText(m.name) + ":")
			compactJSON(b, m.value)
		}
		b.WriteByte('}')
	}
}

// exportYAML writes a document with what its reader should know at the top.
func exportYAML(b *bytes.Buffer, cluster string, tree *node) {
	fmt.Fprintf(b, `# Cluster %s, written by "headroom cluster export".
# Change it and run "headroom apply -f FILE": the difference is shown before anything is changed.
# A list that is left out is left alone; one that is there is what the cluster has afterwards.
# Prices are per VM-hour, penalties per refused job and period, times UTC; terms end before "until".
`, shown(cluster))
	for _, m := range tree.members {
		switch {
		case m.value.kind == listNode && len(m.value.items) > 0:
			b.WriteString("\n" + yamlWord(m.name) + ":\n")
			for i, item := range m.value.items {
				if i > 0 && !onOneLine(item, true) {
					b.WriteByte('\n')
				}
				b.WriteString("  - ")
				yamlValue(b, item, "    ", true)
			}
		default:
			b.WriteString("\n" + yamlWord(m.name) + ":")
			if m.value.kind == objectNode && len(m.value.members) > 0 {
				b.WriteString("\n  ")
				yamlMembers(b, m.value, "  ")
			} else {
				b.WriteByte(' ')
				yamlValue(b, m.value, "  ", false)
			}
		}
	}
}

// widestItem is how long an item of a list may be that stands on one line.
const widestItem = 110

// onOneLine says whether a value is written within its line, as small objects are.
func onOneLine(n *node, ofList bool) bool {
	if n.kind != objectNode || len(n.members) == 0 {
		return true
	}
	if !ofList || !flat(n) {
		return flat(n)
	}
	var b bytes.Buffer
	yamlFlow(&b, n)
	return b.Len() <= widestItem
}

// yamlValue writes a value and ends the line; in is what lines below it start with.
func yamlValue(b *bytes.Buffer, n *node, in string, ofList bool) {
	if onOneLine(n, ofList) {
		yamlFlow(b, n)
		b.WriteByte('\n')
		return
	}
	if !ofList {
		b.WriteString("\n" + in)
	}
	yamlMembers(b, n, in)
}

func yamlMembers(b *bytes.Buffer, n *node, in string) {
	for i, m := range n.members {
		if i > 0 {
			b.WriteString(in)
		}
		b.WriteString(yamlWord(m.name) + ":")
		if onOneLine(m.value, false) {
			b.WriteByte(' ')
		}
		yamlValue(b, m.value, in+"  ", false)
	}
}

// flat says whether an object is small enough to stand on one line.
func flat(n *node) bool {
	const most = 4
	for _, m := range n.members {
		if m.value.kind == objectNode || m.value.kind == listNode {
			return false
		}
	}
	return len(n.members) <= most
}

// yamlFlow writes a value within its line.
func yamlFlow(b *bytes.Buffer, n *node) {
	switch n.kind {
	case bareNode:
		b.WriteString(n.text)
	case textNode:
		b.WriteString(yamlWord(n.text))
	case listNode:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			yamlFlow(b, item)
		}
		b.WriteByte(']')
	case objectNode:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(yamlWord(m.name) + ": ")
			yamlFlow(b, m.value)
		}
		b.WriteByte('}')
	}
}

var (
	// plainWord is a text that no reader of YAML takes for anything else when it stands without quotes,
	// unless it is one of notPlain.
	plainWord = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)$`)
	notPlain  = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

// yamlWord is a text, in quotes where it could be read as something else.
func yamlWord(s string) string {
	if plainWord.MatchString(s) && !notPlain.MatchString(s) {
		return s
	}
	return quotedText(s)
}
