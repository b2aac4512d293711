package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Explained lists the constraints whose violation has a message.
func Explained() []string {
	all := maps.Clone(rules)
	for name := range neighbours {
		all[name] = rule{}
	}
	return slices.Sorted(maps.Keys(all))
}

// Hold takes a connection out of the pool until it is returned.
func Hold(ctx context.Context, s *Store) (back func(), err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Release, nil
}

// ForgetLive deletes old history of live clusters.
func ForgetLive(ctx context.Context, s *Store) error { return s.forgetLive(ctx) }

// CursorOf is a cursor behind a key.
var CursorOf = writeCursor

// WriteAndThen does something between a change and the end of its transaction.
func WriteAndThen(ctx context.Context, s *Store, sql string, then func()) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, sql)
		then()
		return err
	})
}

// SettingsSeen returns the values of settings in each kind of a method.
func SettingsSeen(ctx context.Context, s *Store, names []string) (seen map[string]map[string]string, err error) {
	seen = map[string]map[string]string{}
	look := func(how string) func(context.Context, querier) error {
		seen[how] = map[string]string{}
		return func(ctx context.Context, q querier) error {
			for _, name := range names {
				var value string
				if err := q.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value); err != nil {
					return err
				}
				seen[how][name] = value
			}
			return nil
		}
	}
	err = errors.Join(s.read(ctx, look("read")), s.readAll(ctx, look("readAll")), s.write(ctx, look("write")),
		s.writeBetween(ctx, false, func(*pgx.Batch) {}, func(ctx context.Context, q querier) (*pgx.Batch, error) {
			return nil, look("writeBetween")(ctx, q)
		}))
	return seen, err
}

// KeptTables names the tables that are measured, with spaces between.
func KeptTables(ctx context.Context, conn *pgx.Conn) (names string, err error) {
	err = conn.QueryRow(ctx, `SELECT ' ' || string_agg(name, ' ') || ' ' FROM (`+keptTables+`) measured`).Scan(&names)
	return names, err
}
