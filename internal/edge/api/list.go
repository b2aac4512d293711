package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report"
)

// list is a page as answered.
type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next_cursor"` // null on the last page
}

// paging holds the common parameters of all lists.
type paging struct {
	Limit  *Limit
	Cursor *Cursor
	Format *ListFormat
}

const (
	usualPage   = 100
	longestPage = 1000
)

// span reads the parameters from and until; a time that is left out is zero.
func span(from, until *time.Time) (begin, end time.Time, err error) {
	if from != nil {
		begin = *from
	}
	if until != nil {
		end = *until
	}
	if from != nil && until != nil && from.After(*until) {
		err = refusal{aboutParameter("from", "range", fmt.Sprintf("from is %s and until is %s; from must not be after until.",
			begin.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339)), nil)}
	}
	return begin, end, err
}

// listed answers a page of a list, or a table: of that page if a limit is given, otherwise of every row. A
// spreadsheet is made as a whole and so has one page. name is that of the file.
func listed[T any](ctx context.Context, s *server, p paging, name string, table func([]T) report.Table, read func(context.Context, storage.Page) (storage.Listed[T], error)) (reply[list[T]], error) {
	page := storage.Page{Limit: usualPage}
	if p.Limit != nil {
		page.Limit = int(*p.Limit)
	}
	if p.Cursor != nil {
		page.After = *p.Cursor
	}
	asTable := p.Format != nil && *p.Format == "csv"
	asSheet := p.Format != nil && *p.Format == "xlsx"
	whole := asTable && p.Limit == nil
	if whole || asSheet && p.Limit == nil {
		page.Limit = longestPage
	}
	first, err := read(ctx, page)
	if input := (*fault.InputError)(nil); errors.As(err, &input) { // of all parameters only a cursor can be wrong
		return reply[list[T]]{}, refusal{aboutParameter("cursor", "cursor", input.Findings[0].Detail, nil)}
	}
	if err != nil {
		return reply[list[T]]{}, err
	}
	if asSheet {
		var file bytes.Buffer
		err := report.Workbook(&file, report.Sheet{Name: name, Table: table(first.Items)})
		return reply[list[T]]{table: &tableReply{name: name + ".xlsx", mediaType: xlsxType, next: first.Next, first: file.Bytes()}}, err
	}
	if !asTable {
		l := list[T]{Items: first.Items}
		if l.Items == nil {
			l.Items = []T{}
		}
		if first.Next != "" {
			l.Next = &first.Next
		}
		return reply[list[T]]{body: l, next: first.Next, hashed: true}, nil
	}
	var text bytes.Buffer
	if err := table(first.Items).CSV(&text); err != nil {
		return reply[list[T]]{}, err
	}
	out := &tableReply{name: name + ".csv", first: text.Bytes()}
	if !whole {
		out.next = first.Next
		return reply[list[T]]{table: out}, nil
	}
	out.rest = func(w io.Writer) error {
		for cursor := first.Next; cursor != ""; {
			more, err := read(ctx, storage.Page{After: cursor, Limit: longestPage})
			if err == nil {
				err = table(more.Items).CSVRows(w)
			}
			if err != nil {
				if ctx.Err() == nil {
					s.log(ctx).Error("table cut off", "error", err.Error())
				}
				return err
			}
			cursor = more.Next
		}
		return nil
	}
	return reply[list[T]]{table: out}, nil
}
