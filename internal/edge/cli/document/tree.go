// Package document reads files in JSON or YAML into trees that know the place of each value, and binds trees to types.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.org/headroom/internal/core/fault"
)

// Node is a value of a file in JSON or YAML with its place, so that messages about the value can name the line. Texts and
// numbers are kept as they are written. An alias of YAML is the same node in two places.
type Node struct {
	Kind    nodeKind
	Text    string   // of texts and bare words
	Members []Member // of objects
	Items   []*Node  // of lists
	Place
	size int // in bytes when written, roughly
}

type nodeKind int

const (
	BareNode   nodeKind = iota // written without quotes: a number, true, false, null, or any other word of YAML
	TextNode                   // in quotes
	ObjectNode                 // members
	ListNode                   // items
)

func (k nodeKind) String() string {
	return [...]string{"a bare word", "a text", "an object", "a list"}[k]
}

type Member struct {
	Name string
	Place
	Value *Node
}

// Place holds the line and column of a value, counted from 1, or the flag that gave it.
type Place struct {
	Line, Column int
	Flag         string
}

// Member is an object's member of a name; nil where it has none.
func (n *Node) Member(name string) *Node {
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// At returns the place at a JSON pointer, or the nearest place above it.
func (n *Node) At(pointer string) Place {
	here := n.Place
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		var next *Node
		switch n.Kind {
		case ObjectNode:
			next = n.Member(step)
		case ListNode:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		if next == nil {
			break
		}
		n, here = next, next.Place
	}
	return here
}

// finding is something wrong at a place.
func (p Place) finding(code, detail string, values ...any) fault.Finding {
	detail = fmt.Sprintf(detail, values...)
	if p.Flag != "" {
		return fault.Finding{Code: code, Detail: "--" + p.Flag + ": " + detail}
	}
	return fault.Finding{Code: code, Detail: detail, Line: p.Line, Column: p.Column}
}

// Refuse is one finding as an error.
func (p Place) Refuse(code, detail string, values ...any) error {
	return &fault.InputError{Findings: []fault.Finding{p.finding(code, detail, values...)}}
}

// deepest bounds how deep values may stand in one another; no shape of ours needs more than six.
const deepest = 32

// longestYAML bounds a file that is not JSON: reading YAML takes some fifty times its size.
const longestYAML = 64 << 20

// ReadTrees reads the documents of a file. What starts as a JSON object or list is JSON and one
// document; everything else is YAML, whose documents are set apart by lines of three hyphens.
func ReadTrees(data []byte) ([]*Node, error) {
	start := Place{Line: 1, Column: 1}
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, start.Refuse("syntax", "The file starts with a byte order mark; save it as UTF-8 without one.")
	}
	for at, rest := 0, data; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		if c == utf8.RuneError && size == 1 || c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			what := fmt.Sprintf("A control character (U+%04X) stands here; remove it.", c)
			if c == utf8.RuneError {
				what = fmt.Sprintf("The byte %#02x is not UTF-8; save the file as UTF-8.", rest[0])
			}
			return nil, placeOf(data, at).Refuse("syntax", "%s", what)
		}
		at += size
		rest = rest[size:]
	}
	text := bytes.TrimLeft(data, " \t\r\n")
	if len(text) == 0 {
		return nil, start.Refuse("syntax", "The file is empty.")
	}
	if text[0] == '{' || text[0] == '[' {
		tree, err := ReadJSONTree(data)
		if err != nil {
			return nil, err
		}
		return []*Node{tree}, nil
	}
	if len(data) > longestYAML {
		return nil, start.Refuse("too_large", "The file is larger than %d MiB, which is too much for YAML; write it as JSON, or split it.",
			longestYAML>>20)
	}
	return readYAMLTrees(data)
}

// placeOf is the line and column, in characters, of a byte.
func placeOf(data []byte, at int) Place {
	before := data[:min(at, len(data))]
	return Place{Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])}
}

// jsonTree reads JSON as a tree.
type jsonTree struct {
	data []byte
	d    *json.Decoder

	seen, line, column int // how far lines and characters have been counted
}

func ReadJSONTree(data []byte) (*Node, error) {
	r := &jsonTree{data: data, d: json.NewDecoder(bytes.NewReader(data)), line: 1, column: 1}
	r.d.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	rest := r.next()
	if _, err := r.d.Token(); err != io.EOF {
		return nil, rest.Refuse("syntax", "After the end of the JSON document stands something else; give one document only.")
	}
	return n, nil
}

// next is the place of what follows.
func (r *jsonTree) next() Place {
	at := int(r.d.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	for ; r.seen < at; r.seen++ {
		switch c := r.data[r.seen]; {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(c):
			r.column++
		}
	}
	return Place{Line: r.line, Column: r.column}
}

func (r *jsonTree) token() (json.Token, error) {
	token, err := r.d.Token()
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return token, nil
	case errors.As(err, &syntax):
		at := int(syntax.Offset) // of the character, or after it
		if at > 0 && (at >= len(r.data) || !strings.Contains(err.Error(), "'"+string(rune(r.data[at]))+"'")) {
			at--
		}
		return nil, placeOf(r.data, at).Refuse("syntax", "This is no JSON: %s.", err)
	default:
		return nil, placeOf(r.data, len(r.data)).Refuse("syntax", "The JSON document ends too early; it seems to be cut off.")
	}
}

func (r *jsonTree) value(depth int) (*Node, error) {
	n := &Node{Place: r.next(), size: 1}
	if depth > deepest {
		return nil, n.Refuse("syntax", "Values stand in one another more than %d deep.", deepest)
	}
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		n.Kind, n.Text = TextNode, token
	case json.Number:
		n.Text = token.String()
	case bool:
		n.Text = strconv.FormatBool(token)
	case nil:
		n.Text = "null"
	case json.Delim:
		n.Kind = ListNode
		if token == '{' {
			n.Kind = ObjectNode
		}
		names := map[string]bool{}
		for r.d.More() {
			m := Member{Place: r.next()}
			if n.Kind == ObjectNode {
				name, err := r.token()
				if err != nil {
					return nil, err
				}
				if m.Name, _ = name.(string); names[m.Name] {
					return nil, m.Refuse("duplicate_member", "The member %q is given twice; keep one.", m.Name)
				}
				names[m.Name] = true
			}
			if m.Value, err = r.value(depth + 1); err != nil {
				return nil, err
			}
			n.size += m.Value.size
			if n.Kind == ObjectNode {
				n.Members = append(n.Members, m)
			} else {
				n.Items = append(n.Items, m.Value)
			}
		}
		if _, err := r.token(); err != nil {
			return nil, err
		}
	}
	return n, nil
}
