package fault

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DidYouMean suggests the known name nearest to a mistaken one, or nil if none is near.
func DidYouMean(name string, known []string) *Hint {
	if best := Nearest(name, known); best != "" {
		return &Hint{Detail: fmt.Sprintf("Did you mean %q?", best)}
	}
	return nil
}

// UnknownWord returns a sentence about a word that is none of the known ones, and the nearest of them.
func UnknownWord(word string, known []string) (detail, best string) {
	return fmt.Sprintf("%q is none of the words that can stand here: %s.", Clip(word), strings.Join(known, ", ")), Nearest(word, known)
}

// Nearest returns the known name with the fewest typing errors between it and name, ignoring letter case, hyphens and
// underscores. It returns "" if the nearest one needs more than a third of its letters changed.
func Nearest(name string, known []string) string {
	const longest = 60 // nobody mistypes a short name into a longer one
	if utf8.RuneCountInString(name) > longest {
		return ""
	}
	bare := bareName(name)
	letters := utf8.RuneCountInString(bare)
	best, fewest := "", longest
	for _, k := range known {
		candidate := bareName(k)
		most := min(max(1, len(candidate)/3), fewest-1)
		errors := 1 // the unit left out: deadline for deadline_s
		if len(bare) < 3 || !strings.HasPrefix(candidate, bare) {
			if apart := utf8.RuneCountInString(candidate) - letters; max(apart, -apart) > most {
				continue // at least so many letters are missing
			}
			errors = typingErrors(bare, candidate)
		} else if candidate == bare {
			errors = 0
		}
		if errors <= most {
			best, fewest = k, errors
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func bareName(s string) string { return separators.Replace(strings.ToLower(s)) }

// typingErrors returns the smallest number of letters to insert, remove, replace or swap with the next one that turns
// a into b (the restricted Damerau-Levenshtein distance).
func typingErrors(a, b string) int {
	x, y := []rune(a), []rune(b)
	width := len(y) + 1
	rows := make([]int, 3*width) // this one and the two before it, taking turns
	row := func(i int) []int { return rows[i%3*width:][:width] }
	for j := range width {
		rows[j] = j
	}
	for i := 1; i <= len(x); i++ {
		this, above := row(i), row(i-1)
		this[0] = i
		for j := 1; j <= len(y); j++ {
			replace := above[j-1]
			if x[i-1] != y[j-1] {
				replace++
			}
			this[j] = min(replace, above[j]+1, this[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				this[j] = min(this[j], row(i - 2)[j-2]+1)
			}
		}
	}
	return row(len(x))[len(y)]
}
