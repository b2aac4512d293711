// Package storage holds the words that every store speaks: pages of lists, collections, versions that do not match,
// claims that were lost, and word of changes.
package storage

import (
	"context"
	"errors"
)

// Collection is a collection of stored things of one kind in a cluster; all are edited alike. A wrong
// version is fault.Conflict.
type Collection[T any] interface {
	List(ctx context.Context, cluster string, page Page) (Listed[T], error)
	Get(ctx context.Context, cluster, name string) (T, error)
	Create(ctx context.Context, cluster string, item T) (T, error)
	Replace(ctx context.Context, cluster, name string, version int64, item T) (T, error)
	Delete(ctx context.Context, cluster, name string, version int64) error
}

// Page is a part of a list: what comes after the item that After (a cursor of the store's own
// making, "" for the start) stands for.
type Page struct {
	After string
	Limit int
}

// Listed is a page of a list. Next is the cursor of the page after it, "" when this is the last.
type Listed[T any] struct {
	Items []T
	Next  string
}

// Checked is a collection that refuses senseless items before the store sees them.
type Checked[T any] struct {
	Collection[T]
	// check may complete the item, such as with warnings for the answer.
	Check func(ctx context.Context, cluster string, item *T) error
	Keep  func(stored *T, checked T) // carries members over from the check to the answer; may be nil
}

func (c Checked[T]) Create(ctx context.Context, cluster string, item T) (T, error) {
	if err := c.Check(ctx, cluster, &item); err != nil {
		return item, err
	}
	stored, err := c.Collection.Create(ctx, cluster, item)
	return c.answer(stored, item), err
}

func (c Checked[T]) Replace(ctx context.Context, cluster, name string, version int64, item T) (T, error) {
	if err := c.Check(ctx, cluster, &item); err != nil {
		return item, err
	}
	stored, err := c.Collection.Replace(ctx, cluster, name, version, item)
	return c.answer(stored, item), err
}

func (c Checked[T]) answer(stored, item T) T {
	if c.Keep != nil {
		c.Keep(&stored, item)
	}
	return stored
}

// ErrClaimLost reports a claim that somebody else has taken over, or whose cluster is gone.
var ErrClaimLost = errors.New("somebody else plans the cluster")
