package inputs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

func exportCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var without []string
	c := &cobra.Command{
		Use: "export CLUSTER...", Short: "Write clusters as a file that apply reads",
		Long: `Writes clusters as a file that "headroom apply" reads: applied unchanged, it changes nothing. The same
inputs give the same bytes, so that such files can be kept under version control. Forecasts have a row for each
hour: without them the file is short, and apply leaves those of the cluster alone.`,
		Example: "  headroom cluster export shop -f shop.yaml\n  headroom cluster export shop --without forecasts -f shop.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	out.AddFlags(c, "yaml", "json")
	lists := document.MembersOf(documentType).Names[1:]
	c.Flags().StringSliceVar(&without, "without", nil, "leave out these `lists`: "+strings.Join(lists, ", "))
	c.PreRunE = func(c *cobra.Command, args []string) error {
		for _, name := range without {
			if !slices.Contains(lists, name) {
				return fmt.Errorf("--without %s: there is no such list; there are %s", shell.Shown(name), strings.Join(lists, ", "))
			}
		}
		if out.Format == "json" && len(args) > 1 {
			return fmt.Errorf("JSON holds one cluster a file; export them one by one, or as YAML")
		}
		return nil
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		var text bytes.Buffer
		for i, cluster := range args {
			a, err := s.Call(c.Context(), openapi.GetDocument(cluster))
			if err != nil {
				return err
			}
			tree, err := document.ReadJSONTree(a.Body)
			if err != nil {
				return fmt.Errorf("the server's answer cannot be read: %w", err)
			}
			if i > 0 {
				text.WriteString("---\n")
			}
			tree.Members = slices.DeleteFunc(tree.Members, func(m document.Member) bool { return slices.Contains(without, m.Name) })
			text.WriteString(exported(cluster, tree, out.Format == "yaml"))
		}
		write := func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }
		return out.Write(c, map[string]shell.Form{"yaml": write, "json": write})
	})
}

// written returns a tree without the members that the server decides, and with the others in the order of the type. A
// member that this program does not know stays, at the end. Bare amounts are written without quotes, as people write
// them.
func written(n *document.Node, as reflect.Type, bare bool) *document.Node {
	for as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	switch {
	case bare && n.Kind == document.TextNode && (as == document.MoneyType || as == document.DecimalType) &&
		document.Numeral().MatchString(n.Text):
		return &document.Node{Kind: document.BareNode, Text: n.Text}
	case n.Kind == document.ListNode && as.Kind() == reflect.Slice:
		items := make([]*document.Node, len(n.Items))
		for i, item := range n.Items {
			items[i] = written(item, as.Elem(), bare)
		}
		return &document.Node{Kind: document.ListNode, Items: items}
	case n.Kind != document.ObjectNode || as.Kind() != reflect.Struct || as == document.MoneyType || as == document.DecimalType ||
		as == document.TimeType:
		return n
	}
	shape := document.MembersOf(as)
	out := &document.Node{Kind: document.ObjectNode}
	for _, m := range n.Members {
		if t, known := shape.Types[m.Name]; !known {
			out.Members = append(out.Members, m)
		} else if slices.Contains(shape.Names, m.Name) {
			out.Members = append(out.Members, document.Member{Name: m.Name, Value: written(m.Value, t, bare)})
		}
	}
	place := func(name string) int {
		if i := slices.Index(shape.Names, name); i >= 0 {
			return i
		}
		return len(shape.Names)
	}
	slices.SortStableFunc(out.Members, func(a, b document.Member) int { return place(a.Name) - place(b.Name) })
	return out
}

// exported is a whole document as a file.
func exported(cluster string, tree *document.Node, yaml bool) string {
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
func compactJSON(b *bytes.Buffer, n *document.Node) {
	switch n.Kind {
	case document.BareNode:
		b.WriteString(n.Text)
	case document.TextNode:
		b.WriteString(shell.QuotedText(n.Text))
	case document.ListNode:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			compactJSON(b, item)
		}
		b.WriteByte(']')
	case document.ObjectNode:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(shell.QuotedText(m.Name) + ":")
			compactJSON(b, m.Value)
		}
		b.WriteByte('}')
	}
}

// exportYAML writes a document with what its reader should know at the top.
func exportYAML(b *bytes.Buffer, cluster string, tree *document.Node) {
	fmt.Fprintf(b, `# Cluster %s, written by "headroom cluster export".
# Change it and run "headroom apply -f FILE": the difference is shown before anything is changed.
# A list that is left out is left alone; one that is there is what the cluster has afterwards.
# Prices are per VM-hour, penalties per refused job and period, times UTC; terms end before "until".
`, shell.Shown(cluster))
	for _, m := range tree.Members {
		switch {
		case m.Value.Kind == document.ListNode && len(m.Value.Items) > 0:
			b.WriteString("\n" + yamlWord(m.Name) + ":\n")
			for i, item := range m.Value.Items {
				if i > 0 && !onOneLine(item, true) {
					b.WriteByte('\n')
				}
				b.WriteString("  - ")
				yamlValue(b, item, "    ", true)
			}
		default:
			b.WriteString("\n" + yamlWord(m.Name) + ":")
			if m.Value.Kind == document.ObjectNode && len(m.Value.Members) > 0 {
				b.WriteString("\n  ")
				yamlMembers(b, m.Value, "  ")
			} else {
				b.WriteByte(' ')
				yamlValue(b, m.Value, "  ", false)
			}
		}
	}
}

// widestItem bounds the width of a list item on one line.
const widestItem = 110

// onOneLine says whether a value is written within its line, as small objects are.
func onOneLine(n *document.Node, ofList bool) bool {
	if n.Kind != document.ObjectNode || len(n.Members) == 0 {
		return true
	}
	if !ofList || !flat(n) {
		return flat(n)
	}
	var b bytes.Buffer
	yamlFlow(&b, n)
	return b.Len() <= widestItem
}

// yamlValue writes a value and ends the line; in indents the lines below it.
func yamlValue(b *bytes.Buffer, n *document.Node, in string, ofList bool) {
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

func yamlMembers(b *bytes.Buffer, n *document.Node, in string) {
	for i, m := range n.Members {
		if i > 0 {
			b.WriteString(in)
		}
		b.WriteString(yamlWord(m.Name) + ":")
		if onOneLine(m.Value, false) {
			b.WriteByte(' ')
		}
		yamlValue(b, m.Value, in+"  ", false)
	}
}

// flat says whether an object is small enough to stand on one line.
func flat(n *document.Node) bool {
	const most = 4
	for _, m := range n.Members {
		if m.Value.Kind == document.ObjectNode || m.Value.Kind == document.ListNode {
			return false
		}
	}
	return len(n.Members) <= most
}

// yamlFlow writes a value within its line.
func yamlFlow(b *bytes.Buffer, n *document.Node) {
	switch n.Kind {
	case document.BareNode:
		b.WriteString(n.Text)
	case document.TextNode:
		b.WriteString(yamlWord(n.Text))
	case document.ListNode:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			yamlFlow(b, item)
		}
		b.WriteByte(']')
	case document.ObjectNode:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(yamlWord(m.Name) + ": ")
			yamlFlow(b, m.Value)
		}
		b.WriteByte('}')
	}
}

var (
	// plainWord is a text that no reader of YAML takes for anything else when it stands without quotes,
	// unless it is one of notPlain.
	plainWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)$`)
	})
	notPlain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$`) })
)

// yamlWord is a text, in quotes where it could be read as something else.
func yamlWord(s string) string {
	if plainWord().MatchString(s) && !notPlain().MatchString(s) {
		return s
	}
	return shell.QuotedText(s)
}
