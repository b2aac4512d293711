package perf

// Median returns the median of sorted numbers: the middle one, or the mean of the two in the middle. It is the only
// definition of the word.
func Median[T ~int64 | ~float64](sorted []T) T {
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	return low + (high-low)/2
}
