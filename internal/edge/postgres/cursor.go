package postgres

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
)

// A cursor is the sort key of the last item of a page, as a JSON list in base64.

func writeCursor(key ...any) string {
	text, _ := json.Marshal(key) // of strings, numbers and times
	return base64.RawURLEncoding.EncodeToString(text)
}

// readCursor reads a cursor into the parts of a sort key; the empty one leaves them as they are.
func readCursor(cursor string, into ...any) error {
	if cursor == "" {
		return nil
	}
	bad := &fault.InputError{Findings: []fault.Finding{{
		Code:   "cursor",
		Detail: `The parameter "cursor" is none that this list gave out; leave it out to start at the beginning.`,
	}}}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return bad
	}
	var parts []json.RawMessage
	if json.Unmarshal(text, &parts) != nil || len(parts) != len(into) {
		return bad
	}
	for i := range into {
		if json.Unmarshal(parts[i], into[i]) != nil {
			return bad
		}
		switch part := into[i].(type) {
		case *string:
			if unstorable(*part) {
				return bad
			}
		case *time.Time:
			if year := part.Year(); year < 1 || year > 9999 {
				return bad
			}
		}
	}
	return nil
}

const (
	defaultLimit = 100
	maxItems     = 10_000
)

func limitOf(p storage.Page) int {
	if p.Limit <= 0 {
		return defaultLimit
	}
	return min(p.Limit, maxItems)
}

// listed makes a page from the rows of a query whose limit was one higher.
func listed[T any](rows []T, p storage.Page, key func(T) []any) storage.Listed[T] {
	limit := limitOf(p)
	if len(rows) <= limit {
		return storage.Listed[T]{Items: rows}
	}
	return storage.Listed[T]{Items: rows[:limit], Next: writeCursor(key(rows[limit-1])...)}
}
