package shell

import (
	"fmt"
	"strings"
	"unicode"
)

func Counted(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Listed puts words into one phrase.
func Listed(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Figure is a number with as many places as people read.
func Figure(x float64) string {
	s := fmt.Sprintf("%.2f", x)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Clipped shortens a text for a sentence.
func Clipped(s string) string {
	const longest = 60
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// Shown is a text of somebody else's as it may stand in a line on a terminal.
func Shown(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// ShownLines is shown for a text of several lines.
func ShownLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Shown(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Sentence ends a message as one. What is indented is a part of one, or a command to paste.
func Sentence(s string) string {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ':' || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// QuotedText is a text in double quotes, as both JSON and YAML read it.
func QuotedText(s string) string {
	var text, b strings.Builder
	_ = AsLine(s)(&text) // a text can always be written
	for _, r := range strings.TrimSuffix(text.String(), "\n") {
		if r > '~' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0xfeff) && r <= 0xffff { // nobody sees them
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// JSONText is a value as JSON; a member that is not there is "".
func JSONText(value any) string {
	if value == nil {
		return ""
	}
	var b strings.Builder
	if err := AsLine(value)(&b); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// MemberWord is a pointer as people name members: /jobs/max is jobs.max.
func MemberWord(pointer string) string {
	word := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
	return Shown(strings.ReplaceAll(strings.ReplaceAll(word, "~1", "/"), "~0", "~"))
}

func ValueWord(value any) string {
	switch value := value.(type) {
	case nil:
		return "none"
	case string:
		return Shown(value)
	}
	return Shown(JSONText(value))
}
