package capacity

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// didYouMean suggests the known name nearest to a mistaken one; nil where none is near.
func didYouMean(name string, known []string) *Hint {
	if best := nearest(name, known); best != "" {
		return &Hint{Detail: fmt.Sprintf("Did you mean %q?", best)}
	}
	return nil
}

// unknownWord is the sentence about a word that is none of the known ones, and the nearest of them.
func unknownWord(word string, known []string) (detail, best string) {
	return fmt.Sprintf("%q is none of the words that can stand here: %s.", clip(word), strings.Join(known, ", ")), nearest(word, known)
}

// nearest is the known name with the fewest typing errors between it and name, letter case, hyphens
// and underscores aside; "" where even that one needs more than a third of its letters changed.
func nearest(name string, known []string) string {
	const longest = 60 // nobody mistypes a short name into a longer one
	if utf8.RuneCountInString(name) > longest {
		return ""
	}
	bare := bareName(name)
	best, fewest := "", longest
	for _, k := range known {
		candidate := bareName(k)
		errors := typingErrors(bare, candidate)
		if strings.HasPrefix(candidate, bare) && len(bare) >= 3 {
			errors = min(errors, 1) // the unit left out: deadline for deadline_s
		}
		if errors <= max(1, len(candidate)/3) && errors < fewest {
			best, fewest = k, errors
		}
	}
	return best
}

func bareName(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// typingErrors is the least number of letters to insert, remove, replace or swap with the next one
// that makes b of a (the restricted Damerau-Levenshtein distance).
func typingErrors(a, b string) int {
	x, y := []rune(a), []rune(b)
	table := make([][]int, len(x)+1)
	for i := range table {
		table[i] = make([]int, len(y)+1)
		table[i][0] = i
	}
	for j := range y {
		table[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replace := table[i-1][j-1]
			if x[i-1] != y[j-1] {
				replace++
			}
			table[i][j] = min(replace, table[i-1][j]+1, table[i][j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(x)][len(y)]
}
