package strict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
)

// List reads an array of up to limit objects of one kind; an empty one becomes nil.
func List[T any](r *Reader, what string, limit int, read func(*Reader, *T)) (items []T) {
	var count int
	from := r.At
	r.Array(what, func(i int) {
		if count = i + 1; limit > 0 && count > limit {
			r.Skip()
			return
		}
		items = another(r, items, from, limit)
		read(r, &items[i])
	})
	r.TooMany(strings.TrimPrefix(what, "of "), count, limit)
	return items
}

// another returns the list that started at from with room for one more item. A long list gets room for as many items
// as the rest of the text holds if they are like the earlier ones, because growing copies.
func another[T any](r *Reader, items []T, from, limit int) []T {
	if n := len(items); n == cap(items) && n >= longList {
		each := (r.At - from) / n
		more := (len(r.data) - r.At) / each
		if more += more/16 + 1; limit > 0 {
			more = min(more, limit-n)
		}
		items = slices.Grow(items, more)
	}
	return append(items, *new(T))
}

// longList is the number of items from which a list's length is estimated.
const longList = 1000

// Named reads an object that maps names to up to limit things of a kind.
func Named[T any](r *Reader, what, kind string, limit int, read func(*Reader, *T)) map[string]T {
	items := map[string]T{}
	count := 0
	r.Members(what, func(key []byte) {
		if count++; limit > 0 && count > limit {
			r.Skip()
			return
		}
		name := string(key)
		_, twice := items[name]
		if r.full() && twice {
			r.unlisted++
			r.Skip()
			return
		}
		r.Enter(name)
		if twice {
			r.Found("duplicate_member", fmt.Sprintf("The %s %q is given twice; keep one.", kind, fault.Clip(name)), nil)
		}
		var item T
		read(r, &item)
		items[name] = item
		r.Leave()
	})
	r.TooMany("members", count, limit)
	return items
}

// TooMany notes that there are more things here than are read.
func (r *Reader) TooMany(what string, count, limit int) {
	if limit > 0 && count > limit {
		detail := fmt.Sprintf("Here are %d %s; at most %d are read.", count, what, limit)
		if what == "classes" {
			detail += " A server reads more with HEADROOM_MAX_CLASSES."
		}
		r.Found("too_many", detail, nil)
	}
}

// Elements reads an array of any length.
func Elements[T any](r *Reader, read func(*T)) []T {
	items, from := []T{}, r.At
	r.Array("a list", func(int) {
		items = another(r, items, from, 0)
		read(&items[len(items)-1])
	})
	return items
}

// Null reads null, if it follows.
func (r *Reader) Null() bool {
	if r.Space(); !r.Sees("null") {
		return false
	}
	r.At += len("null")
	return true
}

// Result returns the failure, or else the reader's findings and those of check, except for members that the reader
// could not read.
func (r *Reader) Result(check func(*Checker)) error {
	if r.Failure != nil {
		return &fault.InputError{Findings: []fault.Finding{*r.Failure}}
	}
	unreadable := r.Findings
	c := &Checker{spoilt: len(unreadable)+r.unlisted > 0, Covered: func(pointer string) bool {
		for _, f := range unreadable {
			if rest, ok := strings.CutPrefix(pointer, f.Pointer); ok && (rest == "" || rest[0] == '/') {
				return true
			}
		}
		return false
	}}
	check(c)
	return fault.Refusal(append(r.Findings, c.Findings...), r.unlisted+c.Unlisted)
}

// HoldsObjects looks ahead and reports whether the value is an object whose first member is an object.
func (r *Reader) HoldsObjects() bool {
	ahead := r.Ahead()
	if ahead.Space() != '{' {
		return false
	}
	ahead.At++
	if ahead.Space() != '"' {
		return false
	}
	for ahead.At++; ahead.At < len(r.data) && r.data[ahead.At] != '"'; ahead.At++ {
		if r.data[ahead.At] == '\\' {
			ahead.At++
		}
	}
	ahead.At++ // the closing quote; a text that is cut off here has no more
	if ahead.Space() != ':' {
		return false
	}
	ahead.At++
	return ahead.Space() == '{'
}

// Moment reads a time as RFC 3339 has it.
func (r *Reader) Moment(into *time.Time) {
	text, ok := r.Text()
	if ok && into.UnmarshalText([]byte(text)) != nil {
		r.Found("time", fmt.Sprintf("%q is no time; give one such as \"2026-03-01T22:00:00Z\".", fault.Clip(text)), nil)
	}
}
