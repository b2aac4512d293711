package inputs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// GuardFormula prepares a text for a table: it puts an apostrophe in front if a spreadsheet would take the text for a
// formula.
func GuardFormula(s string) string {
	if StartsFormula(s) {
		return "'" + s
	}
	return s
}

// UnguardFormula returns the original text of GuardFormula's result.
func UnguardFormula(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && StartsFormula(rest) {
		return rest
	}
	return s
}

// StartsFormula reports whether a spreadsheet may take a text for a formula. That includes full-width forms, and
// leading spaces, which some spreadsheets strip.
func StartsFormula(s string) bool {
	if s == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, unicode.IsSpace))
	return strings.ContainsRune("\t\r\n", rune(s[0])) || strings.ContainsRune("=+-@＝＋－＠", first)
}
