package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/headroom/internal/data/history"
)

const (
	listPage  = 1000    // executions requested per list
	maxListed = 100_000 // executions of one import
	maxLists  = 2_000   // answers of one import
)

// window is a range of starting times of executions, in milliseconds since 1970, with both ends. From 0 on it
// includes executions without a recorded start.
type window struct{ from, until int64 }

func (w window) holds(e history.Listed) bool { return w.from <= e.Started && e.Started <= w.until }

// page is one answer for a window: its executions, and whether there may be more.
type page struct {
	all     []history.Listed
	refused []history.Refusal
	full    bool
}

// listAll lists the executions that began in a window. Servers limit their answers and do not page. So a window with
// a full answer is split in the middle of its executions. That works for any order, and two equal answers are never
// followed by a third.
func listAll(ctx context.Context, whole window, ask func(ctx context.Context, in window, limit int) (page, error), refuse func(history.Refusal) error) ([]history.Listed, error) {
	var found []history.Listed
	seen := map[string]bool{}
	left, limit, requests := []window{whole}, listPage, 0
	for len(left) > 0 {
		in := left[len(left)-1]
		if requests++; requests > maxLists {
			return nil, refused(fmt.Sprintf("The list of executions has no end: %d answers were not all of it. Ask for less: narrow from and until.", maxLists))
		}
		p, err := ask(ctx, in, limit)
		if fault := (history.Refusal{}); errors.As(err, &fault) {
			err = &Error{Final: true, Sentence: fault.Error()}
		}
		if err != nil {
			return nil, err
		}
		stray := strays(p.all, in)
		if p.full && !stray {
			if in.from == in.until { // that many began in this millisecond
				if limit *= 2; limit > maxListed {
					return nil, tooMany()
				}
				continue
			}
			middle := split(p.all, in)
			left[len(left)-1].from = middle + 1
			left = append(left, window{in.from, middle})
			continue
		}
		left, limit = left[:len(left)-1], listPage
		for _, e := range p.all {
			if whole.holds(e) && !seen[e.ID] {
				seen[e.ID] = true
				found = append(found, e)
			}
		}
		for _, r := range p.refused {
			if err := refuse(r); err != nil {
				return nil, err
			}
		}
		if p.full {
			return found, refuse(history.Refusal{Where: "the list of executions", Detail: fmt.Sprintf("The server answers with executions of other times than it is asked for, %d at once: there may be more of them that cannot be got at. Import their files.", len(p.all))})
		}
		if len(found) > maxListed {
			return nil, tooMany()
		}
	}
	return found, nil
}

func tooMany() error {
	return refused(fmt.Sprintf("The server lists more than %d executions, the most of one import. Ask for less: narrow from and until.", maxListed))
}

// strays reports that a server ignores a window: no execution began in it, nor any of an application's attempts.
func strays(all []history.Listed, in window) bool {
	inside := map[string]bool{}
	for _, e := range all {
		if in.holds(e) {
			inside[e.App] = true
		}
	}
	return slices.ContainsFunc(all, func(e history.Listed) bool {
		return !in.holds(e) && (e.App == "" || !inside[e.App])
	})
}

// split returns the last moment of the first half of a window, in the middle of its known executions.
func split(all []history.Listed, in window) int64 {
	var began []int64
	for _, e := range all {
		if in.holds(e) {
			began = append(began, e.Started)
		}
	}
	slices.Sort(began)
	middle := in.from + (in.until-in.from)/2
	if len(began) > 0 {
		middle = began[len(began)/2]
	}
	return min(max(middle, in.from), in.until-1)
}
