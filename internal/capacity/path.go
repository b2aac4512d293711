package capacity

import (
	"strconv"
	"strings"
	"unicode/utf8"
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
			b.WriteString(pointerEscapes.Replace(s.name))
		}
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// clip shortens a text for a sentence.
func clip(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return string([]rune(s)[:longest]) + "…"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
