package shell

import (
	"bytes"
	"io"
)

// indenter writes compact JSON as people read it, as encoding/json would with two spaces, while it comes.
type indenter struct {
	out     io.Writer
	line    []byte
	depth   int
	quoted  bool // inside a string
	escaped bool // after its backslash
	opened  bool // right after a bracket, which may close at once
}

const indentedPiece = 64 << 10

func (n *indenter) Write(text []byte) (int, error) {
	for i := 0; i < len(text); {
		if n.quoted {
			i += n.string(text[i:])
		} else {
			i += n.signs(text[i:])
		}
		if len(n.line) >= indentedPiece {
			if err := n.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(text), nil
}

// string takes the rest of a string up to its end or the next backslash, or as much as is there.
func (n *indenter) string(text []byte) (taken int) {
	if n.escaped {
		n.escaped = false
		n.line = append(n.line, text[0])
		return 1
	}
	end := bytes.IndexByte(text, '"')
	n.quoted = end < 0
	if n.quoted {
		end = len(text) - 1
	}
	if at := bytes.IndexByte(text[:end+1], '\\'); at >= 0 {
		end, n.quoted, n.escaped = at, true, true
	}
	n.line = append(n.line, text[:end+1]...)
	return end + 1
}

// signs takes a bracket, a comma, a colon, a quote, or a number or word.
func (n *indenter) signs(text []byte) (taken int) {
	c := text[0]
	if c == '}' || c == ']' {
		if n.depth--; !n.opened {
			n.newLine()
		}
		n.opened = false
		n.line = append(n.line, c)
		return 1
	}
	if n.opened {
		n.opened = false
		n.newLine()
	}
	switch c {
	case '{', '[':
		n.line = append(n.line, c)
		n.depth++
		n.opened = true
	case ',':
		n.line = append(n.line, c)
		n.newLine()
	case ':':
		n.line = append(n.line, ": "...)
	case '"':
		n.line = append(n.line, c)
		n.quoted = true
	default:
		for taken = 1; taken < len(text) && text[taken] != ',' && text[taken] != '}' && text[taken] != ']'; {
			taken++
		}
		n.line = append(n.line, text[:taken]...)
		return taken
	}
	return 1
}

func (n *indenter) newLine() {
	n.line = append(n.line, '\n')
	for range n.depth {
		n.line = append(n.line, "  "...)
	}
}

func (n *indenter) flush() error {
	_, err := n.out.Write(n.line)
	n.line = n.line[:0]
	return err
}
