package strict

import (
	"strconv"
	"strings"

	"headroom/internal/core/fault"
)

// path is where in a document one is. Its pointer is only written out when something is wrong there.
type path []step

// step is one member name or, where index is not negative, one array index.
type step struct {
	name  string
	index int
}

func (p *path) Enter(name string) { *p = append(*p, step{name, -1}) }
func (p *path) Element(i int)     { *p = append(*p, step{"", i}) }
func (p *path) Leave()            { *p = (*p)[:len(*p)-1] }

// pointer is the JSON pointer (RFC 6901).
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
