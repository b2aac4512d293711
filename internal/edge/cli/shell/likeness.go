package shell

import (
	"cmp"
	"slices"
)

// byLikeness sorts words, the one most like a mistyped word first.
func byLikeness(typed string, words []string) {
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(mistakes(typed, a), mistakes(typed, b)), cmp.Compare(a, b))
	})
}

// mistakes counts the least letters to leave out, put in, change, or swap with the next to make one word the other.
func mistakes(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(changed, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
