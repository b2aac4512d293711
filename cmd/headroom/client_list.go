package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"headroom/openapi"
)

// list is how a list is shown.
type list struct {
	as      reflect.Type // of one item
	columns []string     // for people, by the names of leaves
	most    int          // how many items, 0 for all; less is refused
	none    string       // the sentence where there are none
}

// largestPage is how many items the server gives at once.
const largestPage = 1000

// writeList asks for a list and prints it. As CSV it is the server's own:
// the same rows for everybody who asks.
func writeList(c *cobra.Command, s *service, out output, l list, request openapi.List) error {
	if l.most < 0 {
		return fail(exitUsage, fmt.Errorf("--limit is how many at most, 0 for all, not %d", l.most))
	}
	if out.format == "csv" {
		a, err := s.call(c.Context(), request.Page(limitWord(l.most), "", "csv"), header("Accept", "text/csv, application/problem+json"))
		if err != nil {
			return err
		}
		return out.write(c, map[string]form{"csv": func(w io.Writer) error { _, err := w.Write(a.body); return err }})
	}
	items, err := s.items(c.Context(), l.most, request)
	if err != nil {
		return err
	}
	return out.write(c, map[string]form{
		"table": func(w io.Writer) error {
			if len(items) == 0 {
				_, err := fmt.Fprintln(w, l.none)
				return err
			}
			table, err := rows(l.as, items, l.columns)
			if err != nil {
				return err
			}
			return table.Text(w)
		},
		"json": asJSON(map[string]any{"items": items}),
	})
}

func limitWord(most int) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprint(min(most, largestPage))
}

// items asks for page after page.
func (s *service) items(ctx context.Context, most int, request openapi.List) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for cursor := ""; ; {
		size := largestPage
		if most > 0 {
			size = min(size, most-len(items))
		}
		a, err := s.call(ctx, request.Page(fmt.Sprint(size), cursor, ""))
		if err != nil {
			return nil, err
		}
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next_cursor"`
		}
		if err := a.into(&page); err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next == "" || page.Next == cursor || most > 0 && len(items) >= most {
			return items, nil
		}
		cursor = page.Next
	}
}
