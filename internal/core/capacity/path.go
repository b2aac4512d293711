package capacity

import (
	"strconv"
	"strings"
)

// path is where in a document one is. Its pointer is only written out when something is wrong there.
type path []step

// step is one member name or, where index is not negative, one array index.
type step struct {
	name  string
	index int
}

func (p *path) enter(name string) { *p = append(*p, step{name, -1}) }
func (p *path) element(i int)     { *p = append(*p, step{"", i}) }
func (p *path) leave()            { *p = (*p)[:len(*p)-1] }

// pointer is the JSON pointer (RFC 6901).
func (p path) pointer() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(pointerEscapes.Replace(clipTo(s.name, MaxNameLength)))
		}
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// clip shortens a text for a sentence.
func clip(s string) string { return clipTo(s, 60) }

// clipTo shortens a text to so many runes, without looking at the rest.
func clipTo(s string, longest int) string {
	runes := 0
	for at := range s {
		if runes++; runes > longest {
			return s[:at] + "…"
		}
	}
	return s
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
