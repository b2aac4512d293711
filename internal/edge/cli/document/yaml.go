package document

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"example.org/headroom/internal/edge/cli/shell"
)

// mostCopied bounds how many bytes aliases may repeat, so that no small file becomes a huge one.
const mostCopied = 16 << 20

// readYAMLTrees reads YAML documents. The library says what the structure is; what a word means is
// decided by the member it is given for (see bind), so that no country becomes false and no version a
// number. The documents are set apart here, because the library loses one that follows a comment.
func readYAMLTrees(data []byte) (trees []*Node, err error) {
	for _, part := range yamlDocuments(data) {
		tree, err := readYAML(part)
		if err != nil {
			return nil, err
		}
		if tree != nil {
			trees = append(trees, tree)
		}
	}
	if len(trees) == 0 {
		return nil, Place{Line: 1, Column: 1}.Refuse("syntax", "The file has nothing but comments.")
	}
	return trees, nil
}

// yamlPart is one document of a file.
type yamlPart struct {
	text   []byte
	before int // how many lines stand before it
}

// yamlDocuments splits a file at its marks: three hyphens, or three dots, at the start of a line mean
// nothing else in YAML, wherever they stand.
func yamlDocuments(data []byte) (parts []yamlPart) {
	start, number, from := 0, 0, 0
	for at := 0; at < len(data); number++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := data[at:end]
		mark := bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))
		if mark && (len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0) {
			parts = append(parts, yamlPart{data[start:at], from})
			start, from = at+3, number // what follows the mark on its line belongs to the next document
		}
		at = end
	}
	return append(parts, yamlPart{data[start:], from})
}

// readYAML reads one document; nil where it has nothing but comments.
func readYAML(part yamlPart) (*Node, error) {
	r := yamlTree{before: part.before, anchors: map[string]*Node{}, kept: map[*token.Token]bool{}}
	tokens, file, err := r.parse(part.text)
	if err != nil {
		return nil, err
	}
	var tree *Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if tree != nil {
			return nil, r.place(doc.Body.GetToken()).Refuse("syntax",
				"Here a second document seems to start; set documents apart by a line of three hyphens.")
		}
		if tree, err = r.value(doc.Body, 0); err != nil {
			return nil, err
		}
	}
	return tree, r.lost(tokens)
}

// parse asks the library, which must not bring the program down whatever it is given.
func (r *yamlTree) parse(text []byte) (tokens token.Tokens, file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = r.place(nil).Refuse("syntax", "This YAML cannot be read; write it in a simpler form, or as JSON.")
		}
	}()
	tokens = lexer.Tokenize(string(text))
	if err := r.check(tokens); err != nil {
		return nil, nil, err
	}
	if file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()); err != nil {
		return nil, nil, r.trouble(err)
	}
	return tokens, file, nil
}

// yamlTree makes a tree of one document.
type yamlTree struct {
	before  int // lines before the document
	anchors map[string]*Node
	copied  int
	kept    map[*token.Token]bool // the words that became part of the tree
}

func (r *yamlTree) place(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{Line: r.before + 1, Column: 1}
	}
	return Place{Line: r.before + t.Position.Line, Column: max(t.Position.Column, 1)}
}

// check refuses what is not read, and what is so deep that reading it would take for ever.
func (r *yamlTree) check(tokens token.Tokens) error {
	depth, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			dashes, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		case token.MappingKeyType:
			return r.place(t).Refuse("syntax", "A key that starts with a question mark is not read; write \"name: value\".")
		case token.TagType:
			return r.place(t).Refuse("syntax", "The tag %s is not read; write the value alone, in quotes if it is a text.", t.Value)
		case token.DirectiveType:
			return r.place(t).Refuse("syntax", "Directives such as %%YAML are not read; remove the line.")
		}
		if depth > deepest || dashes > deepest || t.Position.IndentNum > 16*deepest {
			return r.place(t).Refuse("syntax", "Values stand in one another more than %d deep.", deepest)
		}
	}
	return nil
}

// trouble says what the library objects to, in our words where it is common.
func (r *yamlTree) trouble(err error) error {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) {
		return Place{Line: r.before + 1, Column: 1}.Refuse("syntax", "This is no YAML.")
	}
	at, message := r.place(syntax.GetToken()), syntax.GetMessage()
	switch {
	case strings.Contains(message, "\t"):
		return at.Refuse("syntax", "A tab stands here; YAML indents with spaces.")
	case strings.Contains(message, "mapping value is not allowed"):
		return at.Refuse("syntax", "Here stands a second colon; put a text with a colon in quotes, or start a new line.")
	case strings.Contains(message, "reserved character"):
		return at.Refuse("syntax", "A word cannot start so; put the text in quotes.")
	case strings.Contains(message, "could not find end character"):
		return at.Refuse("syntax", "A quote is opened here and not closed.")
	}
	return at.Refuse("syntax", "This is no YAML: %s.", message)
}

// lost refuses a document of which the library dropped a word.
func (r *yamlTree) lost(tokens token.Tokens) error {
	for _, t := range tokens {
		switch t.Type {
		case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.NullType, token.BoolType, token.IntegerType,
			token.BinaryIntegerType,
			token.OctetIntegerType, token.HexIntegerType, token.FloatType, token.InfinityType, token.NanType:
			if !r.kept[t] {
				return r.place(t).Refuse("syntax", "It is not clear what %q belongs to; look at the indentation and the quotes here.",
					shell.Clipped(t.Value))
			}
		}
	}
	return nil
}

func (r *yamlTree) value(from ast.Node, depth int) (*Node, error) {
	if depth > deepest {
		return nil, r.place(from.GetToken()).Refuse("syntax", "Values stand in one another more than %d deep.", deepest)
	}
	n := &Node{Place: r.place(from.GetToken()), size: 1}
	switch from := from.(type) {
	case *ast.MappingNode:
		n.Kind = ObjectNode
		if len(from.Values) > 0 && !from.IsFlowStyle {
			n.Place = r.place(from.Values[0].Key.GetToken())
		}
		return n, r.members(n, from.Values, depth)
	case *ast.MappingValueNode:
		n.Kind = ObjectNode
		n.Place = r.place(from.Key.GetToken())
		return n, r.members(n, []*ast.MappingValueNode{from}, depth)
	case *ast.SequenceNode:
		n.Kind = ListNode
		for _, v := range from.Values {
			item, err := r.value(v, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
			n.size += item.size
		}
		return n, nil
	case *ast.AnchorNode:
		name := r.keep(from.Name.GetToken())
		value, err := r.value(from.Value, depth)
		if err == nil {
			r.anchors[name] = value
		}
		return value, err
	case *ast.AliasNode:
		name := r.keep(from.Value.GetToken())
		value, ok := r.anchors[name]
		if !ok {
			return nil, n.Refuse("syntax", "*%s stands for nothing: there is no &%s before it.", name, name)
		}
		if r.copied += value.size; r.copied > mostCopied {
			return nil, n.Refuse("too_large", "The aliases of this document repeat more than %d MiB; write it out.", mostCopied>>20)
		}
		return value, nil
	case *ast.LiteralNode:
		r.keep(from.Value.Token)
		n.Kind, n.Text, n.size = TextNode, from.Value.Value, 1+len(from.Value.Value)
		return n, nil
	case *ast.StringNode:
		n.Text = r.keep(from.Token)
		n.size += len(n.Text)
		if from.Token.Type == token.SingleQuoteType || from.Token.Type == token.DoubleQuoteType {
			n.Kind = TextNode
		}
		return n, nil
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.Text = r.keep(from.GetToken())
		n.size += len(n.Text)
		return n, nil
	}
	return nil, n.Refuse("syntax", "This form of YAML is not read: %s.", from.Type())
}

func (r *yamlTree) keep(t *token.Token) string {
	r.kept[t] = true
	return t.Value
}

// members reads an object's members. Those that are merged (<<) count where they are not given.
func (r *yamlTree) members(n *Node, values []*ast.MappingValueNode, depth int) error {
	names := map[string]bool{}
	var merged []*Node
	for _, v := range values {
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			value, err := r.value(v.Value, depth+1)
			if err != nil {
				return err
			}
			from := []*Node{value}
			if value.Kind == ListNode {
				from = value.Items
			}
			for _, m := range from {
				if m.Kind != ObjectNode {
					return m.Refuse("syntax", "Only objects can be merged; after << give one, such as *defaults.")
				}
			}
			merged = append(merged, from...)
			continue
		}
		key, ok := v.Key.(ast.ScalarNode)
		if !ok {
			return r.place(v.Key.GetToken()).Refuse("syntax", "A member's name must be a word.")
		}
		m := Member{Name: r.keep(key.GetToken()), Place: r.place(key.GetToken())}
		if names[m.Name] {
			return m.Refuse("duplicate_member", "The member %q is given twice; keep one.", m.Name)
		}
		names[m.Name] = true
		value, err := r.value(v.Value, depth+1)
		if err != nil {
			return err
		}
		if t := v.Value.GetToken(); t.Type == token.ImplicitNullType {
			value.Place = m.Place // where it is missing
		}
		m.Value = value
		n.Members = append(n.Members, m)
		n.size += len(m.Name) + value.size
	}
	for _, from := range merged {
		for _, m := range from.Members {
			if !names[m.Name] {
				names[m.Name] = true
				n.Members = append(n.Members, m)
				n.size += len(m.Name) + m.Value.size
			}
		}
	}
	return nil
}
