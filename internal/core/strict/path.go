package strict

import (
	"strconv"
	"strings"

	"example.org/headroom/internal/core/fault"
)

// path holds the current place in a document. Its pointer is written only for a finding.
type path []step

// step holds one member name, or one array index if index is not negative.
type step struct {
	name  string
	index int
}

func (p *path) Enter(name string) { *p = append(*p, step{name, -1}) }
func (p *path) Element(i int)     { *p = append(*p, step{"", i}) }
func (p *path) Leave()            { *p = (*p)[:len(*p)-1] }

// pointer returns the JSON pointer (RFC 6901).
func (p path) pointer() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(PointerEscapes.Replace(fault.ClipTo(s.name, MaxNameLength)))
		}
	}
	return b.String()
}

var PointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
