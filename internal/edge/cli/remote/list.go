package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// List describes the form of a list.
type List struct {
	As      reflect.Type                               // of one item
	Columns []string                                   // for people, by the names of leaves
	Most    int                                        // how many items, 0 for all; less is refused
	None    string                                     // the sentence where there are none
	Told    func(item json.RawMessage) json.RawMessage // an item as people read it; nil: as it is
	Beside  *Beside                                    // nil: nothing
}

// Beside is a last column for people, of what the items themselves do not hold.
type Beside struct {
	Title string
	Of    func(ctx context.Context, s *Service) (byName map[string]string, err error)
}

// addTo adds the column to a table whose first column holds names.
func (b *Beside) addTo(table *tables.Table, ctx context.Context, s *Service) error {
	of, err := b.Of(ctx, s)
	if err != nil {
		return err
	}
	table.Columns = append(table.Columns, b.Title)
	for i, row := range table.Rows {
		table.Rows[i] = append(row, tables.Cell{Text: of[row[0].Text]})
	}
	return nil
}

// LargestPage is the largest number of items in one answer of the server.
const LargestPage = 1000

// WriteList asks for a list and prints it. As CSV it is the server's own:
// the same rows for everybody who asks.
func WriteList(c *cobra.Command, s *Service, out shell.Output, l List, request openapi.List) error {
	if l.Most < 0 {
		return shell.Fail(shell.ExitUsage, fmt.Errorf("--limit is how many at most, 0 for all, not %d", l.Most))
	}
	if out.Format == "csv" {
		a, err := s.Call(c.Context(), request.Page(limitWord(l.Most), "", "csv"), Header("Accept", "text/csv, application/problem+json"))
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"csv": func(w io.Writer) error { _, err := w.Write(a.Body); return err }})
	}
	items, err := s.Items(c.Context(), l.Most, request)
	if err != nil {
		return err
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error {
			if len(items) == 0 {
				_, err := fmt.Fprintln(w, l.None)
				return err
			}
			for i := range items {
				if l.Told != nil {
					items[i] = l.Told(items[i])
				}
			}
			table, err := Rows(l.As, items, l.Columns)
			if err != nil {
				return err
			}
			if l.Beside != nil {
				if err := l.Beside.addTo(&table, c.Context(), s); err != nil {
					return err
				}
			}
			return table.Text(w)
		},
		"json": shell.AsJSON(map[string]any{"items": items}),
	})
}

func limitWord(most int) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprint(min(most, LargestPage))
}

// Items asks for page after page.
func (s *Service) Items(ctx context.Context, most int, request openapi.List) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for cursor := ""; ; {
		size := LargestPage
		if most > 0 {
			size = min(size, most-len(items))
		}
		a, err := s.Call(ctx, request.Page(fmt.Sprint(size), cursor, ""))
		if err != nil {
			return nil, err
		}
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next_cursor"`
		}
		if err := a.Into(&page); err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next == "" || page.Next == cursor || most > 0 && len(items) >= most {
			return items, nil
		}
		cursor = page.Next
	}
}
