package inputs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// GuardFormula is a text as tables have it: with an apostrophe in front where a spreadsheet would take it for a formula.
func GuardFormula(s string) string {
	if StartsFormula(s) {
		return "'" + s
	}
	return s
}

// UnguardFormula is the text that GuardFormula was given.
func UnguardFormula(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && StartsFormula(rest) {
		return rest
	}
	return s
}

// StartsFormula says whether a spreadsheet may take a text for a formula: in the full-width forms alike, and after
// spaces, which some of them take off.
func StartsFormula(s string) bool {
	if s == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, unicode.IsSpace))
	return strings.ContainsRune("\t\r\n", rune(s[0])) || strings.ContainsRune("=+-@＝＋－＠", first)
}
