package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/shopspring/decimal"

	"headroom/internal/core/money"
)

// withNumbers answers a list as it is, or, for programs that draw, with the exact amounts of its rows
// as JSON numbers with the same digits in the place of texts. A table has them as numbers anyway.
func withNumbers[T any](numbers *Numbers, a reply[list[T]], err error) (reply[list[T]], error) {
	if err != nil || a.table != nil || numbers == nil || *numbers != "float" {
		return a, err
	}
	amounts := amountsOf(reflect.TypeFor[T]())
	rows := make([]json.RawMessage, len(a.body.Items))
	for i, item := range a.body.Items {
		if rows[i], err = rowWithNumbers(item, amounts); err != nil {
			return a, err
		}
	}
	text, err := json.Marshal(list[json.RawMessage]{rows, a.body.Next})
	a.text = func() []byte { return append(text, '\n') }
	return a, err
}

// amountsOf are the members of a row that are exact amounts.
func amountsOf(row reflect.Type) map[string]bool {
	amounts := map[string]bool{}
	for _, f := range reflect.VisibleFields(row) {
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == reflect.TypeFor[money.Amount]() || t == reflect.TypeFor[decimal.Decimal]() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			amounts[name] = true
		}
	}
	return amounts
}

// rowWithNumbers writes an item as its JSON is, but amounts without their quotes.
func rowWithNumbers(item any, amounts map[string]bool) ([]byte, error) {
	text, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("write a row: %w", err)
	}
	row, depth, amount := text[:0], 0, false // what is written is never ahead of what is read
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			amount = false
		case '"':
			end := i + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			whole := text[i : end+1]
			if depth == 1 && amount {
				whole = text[i+1 : end]
			} else if depth == 1 && text[end+1] == ':' {
				amount = amounts[string(text[i+1:end])]
			}
			row = append(row, whole...)
			i = end
			continue
		}
		row = append(row, text[i])
	}
	return row, nil
}
