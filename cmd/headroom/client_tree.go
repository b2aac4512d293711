package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"headroom/internal/core/fault"
)

// node is a value of a file that people wrote, as JSON or YAML, with the place it stands at: so that
// whatever is said about the value, here or by the server, can say the line. Texts and numbers are
// kept as they are written. What YAML calls an alias is the same node in two places.
type node struct {
	kind    nodeKind
	text    string   // of texts and bare words
	members []member // of objects
	items   []*node  // of lists
	place
	size int // about how many bytes it is when it is written out
}

type nodeKind int

const (
	bareNode   nodeKind = iota // written without quotes: a number, true, false, null, or any other word of YAML
	textNode                   // in quotes
	objectNode                 // members
	listNode                   // items
)

func (k nodeKind) String() string {
	return [...]string{"a bare word", "a text", "an object", "a list"}[k]
}

type member struct {
	name string
	place
	value *node
}

// place is where something stands: a line and column (from 1), or the flag it comes from.
type place struct {
	line, column int
	flag         string
}

// member is an object's member of a name; nil where it has none.
func (n *node) member(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// at is where a JSON pointer leads, or the place nearest above it.
func (n *node) at(pointer string) place {
	here := n.place
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		var next *node
		switch n.kind {
		case objectNode:
			next = n.member(step)
		case listNode:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.items) {
				next = n.items[i]
			}
		}
		if next == nil {
			break
		}
		n, here = next, next.place
	}
	return here
}

// finding is something wrong at a place.
func (p place) finding(code, detail string, values ...any) fault.Finding {
	detail = fmt.Sprintf(detail, values...)
	if p.flag != "" {
		return fault.Finding{Code: code, Detail: "--" + p.flag + ": " + detail}
	}
	return fault.Finding{Code: code, Detail: detail, Line: p.line, Column: p.column}
}

// refuse is one finding as an error.
func (p place) refuse(code, detail string, values ...any) error {
	return &fault.InputError{Findings: []fault.Finding{p.finding(code, detail, values...)}}
}

// deepest bounds how deep values may stand in one another; no shape of ours needs more than six.
const deepest = 32

// longestYAML bounds a file that is not JSON: reading YAML takes some fifty times its size.
const longestYAML = 64 << 20

// readTrees reads the documents of a file. What starts as a JSON object or list is JSON and one
// document; everything else is YAML, whose documents are set apart by lines of three hyphens.
func readTrees(data []byte) ([]*node, error) {
	start := place{line: 1, column: 1}
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, start.refuse("syntax", "The file starts with a byte order mark; save it as UTF-8 without one.")
	}
	for at, rest := 0, data; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		if c == utf8.RuneError && size == 1 || c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			what := fmt.Sprintf("A control character (U+%04X) stands here; remove it.", c)
			if c == utf8.RuneError {
				what = fmt.Sprintf("The byte %#02x is not UTF-8; save the file as UTF-8.", rest[0])
			}
			return nil, placeOf(data, at).refuse("syntax", "%s", what)
		}
		at += size
		rest = rest[size:]
	}
	text := bytes.TrimLeft(data, " \t\r\n")
	if len(text) == 0 {
		return nil, start.refuse("syntax", "The file is empty.")
	}
	if text[0] == '{' || text[0] == '[' {
		tree, err := readJSONTree(data)
		if err != nil {
			return nil, err
		}
		return []*node{tree}, nil
	}
	if len(data) > longestYAML {
		return nil, start.refuse("too_large", "The file is larger than %d MiB, which is too much for YAML; write it as JSON, or split it.", longestYAML>>20)
	}
	return readYAMLTrees(data)
}

// placeOf is the line and column, in characters, of a byte.
func placeOf(data []byte, at int) place {
	before := data[:min(at, len(data))]
	return place{line: 1 + bytes.Count(before, []byte("\n")), column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])}
}

// jsonTree reads JSON as a tree.
type jsonTree struct {
	data []byte
	d    *json.Decoder

	seen, line, column int // how far lines and characters have been counted
}

func readJSONTree(data []byte) (*node, error) {
	r := &jsonTree{data: data, d: json.NewDecoder(bytes.NewReader(data)), line: 1, column: 1}
	r.d.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	rest := r.next()
	if _, err := r.d.Token(); err != io.EOF {
		return nil, rest.refuse("syntax", "After the end of the JSON document stands something else; give one document only.")
	}
	return n, nil
}

// next is the place of what follows.
func (r *jsonTree) next() place {
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
	return place{line: r.line, column: r.column}
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
		return nil, placeOf(r.data, at).refuse("syntax", "This is no JSON: %s.", err)
	default:
		return nil, placeOf(r.data, len(r.data)).refuse("syntax", "The JSON document ends too early; it seems to be cut off.")
	}
}

func (r *jsonTree) value(depth int) (*node, error) {
	n := &node{place: r.next(), size: 1}
	if depth > deepest {
		return nil, n.refuse("syntax", "Values stand in one another more than %d deep.", deepest)
	}
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		n.kind, n.text = textNode, token
	case json.Number:
		n.text = token.String()
	case bool:
		n.text = strconv.FormatBool(token)
	case nil:
		n.text = "null"
	case json.Delim:
		n.kind = listNode
		if token == '{' {
			n.kind = objectNode
		}
		names := map[string]bool{}
		for r.d.More() {
			m := member{place: r.next()}
			if n.kind == objectNode {
				name, err := r.token()
				if err != nil {
					return nil, err
				}
				if m.name, _ = name.(string); names[m.name] {
					return nil, m.refuse("duplicate_member", "The member %q is given twice; keep one.", m.name)
				}
				names[m.name] = true
			}
			if m.value, err = r.value(depth + 1); err != nil {
				return nil, err
			}
			n.size += m.value.size
			if n.kind == objectNode {
				n.members = append(n.members, m)
			} else {
				n.items = append(n.items, m.value)
			}
		}
		if _, err := r.token(); err != nil {
			return nil, err
		}
	}
	return n, nil
}
