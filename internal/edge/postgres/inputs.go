package postgres

import (
	"context"
	"maps"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report/reporting"
)

// kind describes the storage of one kind of thing: its statements, their arguments and the conversion of rows. Every
// statement also gets @cluster, the cluster's number.
type kind[T any] struct {
	word    string // capacity.VMTypeKind, …
	noun    string
	aside   bool   // no input of plans
	selects string // … WHERE the cluster's
	named   string // AND the one called @name
	after   string // AND the rows after a cursor, in order
	insert  string
	update  string // the one called @name, of any version
	remove  string // likewise

	args    func(T) pgx.NamedArgs
	collect pgx.RowToFunc[T]
	name    func(T) string
	label   func(T) string              // its name for people
	sortKey func(T) []any               // the values of a cursor
	start   func() ([]any, []string)    // pointers to the sort key before all others, and the names of its parts in after
	prepare func(item T, name string) T // an item as it is written below a name; name "" is a new one
}

// inputStore edits the things of one kind. It implements app.Inputs.
type inputStore[T any] struct {
	s *Store
	k *kind[T]
}

// VMTypes stores VM types by name.
func (s *Store) VMTypes() storage.Collection[inputs.VMType] {
	return inputStore[inputs.VMType]{s, &vmTypes}
}

// Prices stores price periods by id.
func (s *Store) Prices() storage.Collection[inputs.PricePeriod] {
	return inputStore[inputs.PricePeriod]{s, &prices}
}

// Contracts stores contracts by name.
func (s *Store) Contracts() storage.Collection[inputs.SignedContract] {
	return inputStore[inputs.SignedContract]{s, &contracts}
}

// Classes stores classes by name.
func (s *Store) Classes() storage.Collection[inputs.PlannedClass] {
	return inputStore[inputs.PlannedClass]{s, &classes}
}

func (in inputStore[T]) List(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[T], err error) {
	key, names := in.k.start()
	if err := readCursor(page.After, key...); err != nil {
		return list, err
	}
	err = in.s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "limit": limitOf(page) + 1}
		for i, name := range names {
			args[name] = key[i]
		}
		items, err := in.k.query(ctx, q, in.k.selects+in.k.after+` LIMIT @limit`, args)
		list = listed(items, page, in.k.sortKey)
		return err
	})
	return list, err
}

func (in inputStore[T]) Get(ctx context.Context, cluster, name string) (item T, err error) {
	err = in.s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		item, err = in.k.get(ctx, q, id, cluster, name)
		return err
	})
	return item, err
}

func (in inputStore[T]) Create(ctx context.Context, cluster string, item T) (T, error) {
	return item, in.change(ctx, cluster, func(ctx context.Context, q querier, id int64) (e entry, err error) {
		item = in.k.prepare(item, "")
		if err := in.k.exec(ctx, q, in.k.insert, id, item, nil); err != nil {
			return e, at(cluster, item, err)
		}
		item, err = in.k.get(ctx, q, id, cluster, in.k.name(item))
		return entry{Action: inputs.Create, Name: in.k.label(item), After: item}, err
	})
}

func (in inputStore[T]) Replace(ctx context.Context, cluster, name string, version int64, item T) (T, error) {
	return item, in.change(ctx, cluster, func(ctx context.Context, q querier, id int64) (e entry, err error) {
		if given := in.k.name(item); given != "" && in.k.word != inputs.PriceKind {
			if err := storage.SameName("/name", name, given); err != nil {
				return e, err
			}
		}
		before, err := in.versioned(ctx, q, id, cluster, name, version)
		if err != nil {
			return e, err
		}
		item = in.k.prepare(item, name)
		if err := in.k.exec(ctx, q, in.k.update, id, item, pgx.NamedArgs{"name": name}); err != nil {
			return e, at(cluster, item, err)
		}
		item, err = in.k.get(ctx, q, id, cluster, name)
		return entry{Action: inputs.Update, Name: in.k.label(item), Before: before, After: item}, err
	})
}

func (in inputStore[T]) Delete(ctx context.Context, cluster, name string, version int64) error {
	return in.change(ctx, cluster, func(ctx context.Context, q querier, id int64) (e entry, err error) {
		before, err := in.versioned(ctx, q, id, cluster, name, version)
		if err != nil {
			return e, err
		}
		if _, err := q.Exec(ctx, in.k.remove, pgx.NamedArgs{"cluster": id, "name": name}); err != nil {
			return e, atDelete(before, err)
		}
		return entry{Action: inputs.Delete, Name: in.k.label(before), Before: before}, nil
	})
}

// change makes one change of a cluster's inputs: it locks the cluster, changes, counts and records.
func (in inputStore[T]) change(ctx context.Context, cluster string, work func(context.Context, querier, int64) (entry, error)) error {
	return in.s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		e, err := work(ctx, q, id)
		if err != nil {
			return err
		}
		if !in.k.aside {
			if err := bump(ctx, q, id); err != nil {
				return err
			}
		}
		e.Cluster, e.Kind = cluster, in.k.word
		return record(ctx, q, e)
	})
}

// versioned reads an item and refuses every version but its present one. The cluster is locked, so that the version
// is the same at the write.
func (in inputStore[T]) versioned(ctx context.Context, q querier, id int64, cluster, name string, version int64) (T, error) {
	item, err := in.k.get(ctx, q, id, cluster, name)
	if err != nil {
		return item, err
	}
	if have := stampOf(item).Version; have != version {
		return item, outdated(ctx, q, have, cluster, in.k.label(item), in.k.word)
	}
	return item, nil
}

func (k *kind[T]) query(ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]T, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, k.collect)
}

func (k *kind[T]) get(ctx context.Context, q querier, id int64, cluster, name string) (item T, err error) {
	missing := notFound("the cluster %q has no %s %q", cluster, k.noun, name)
	if k.word == inputs.PriceKind && uuid.Validate(name) != nil || unstorable(name) {
		return item, missing
	}
	items, err := k.query(ctx, q, k.selects+k.named, pgx.NamedArgs{"cluster": id, "name": name})
	if err == nil && len(items) == 0 {
		err = missing
	}
	if err != nil {
		return item, err
	}
	return items[0], nil
}

func (k *kind[T]) exec(ctx context.Context, q querier, sql string, id int64, item T, more pgx.NamedArgs) error {
	_, err := q.Exec(ctx, sql, k.allArgs(id, item, more))
	return err
}

func (k *kind[T]) allArgs(id int64, item T, more pgx.NamedArgs) pgx.NamedArgs {
	args := k.args(item)
	args["cluster"] = id
	maps.Copy(args, more)
	return args
}

func stampOf(item any) capacity.Stamp {
	switch x := item.(type) {
	case inputs.VMType:
		return x.Stamp
	case inputs.PricePeriod:
		return x.Stamp
	case inputs.SignedContract:
		return x.Stamp
	case inputs.PlannedClass:
		return x.Stamp
	case whatif.Scenario:
		return x.Stamp
	case inputs.StandingOffer:
		return x.Stamp
	case reporting.ReportSchedule:
		return x.Stamp
	}
	return capacity.Stamp{}
}
