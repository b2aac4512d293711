package plan

import (
	"headroom/internal/core/money"
)

// keep puts a value into a list and says where it stands there: one allocation for the optional
// figures of all classes rather than one each.
func keep[T any](list *[]T, x T) *T {
	*list = append(*list, x)
	return &(*list)[len(*list)-1]
}

// amount is an optional sum of money.
func amount(list *[]money.Amount, x float64) *money.Amount {
	return keep(list, money.Round(x))
}
