package postgres

import (
	"maps"
	"slices"
)

// Explained are the constraints whose violation is told in words.
func Explained() []string {
	all := maps.Clone(rules)
	for name := range neighbours {
		all[name] = rule{}
	}
	return slices.Sorted(maps.Keys(all))
}
