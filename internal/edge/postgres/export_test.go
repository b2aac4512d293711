package postgres

import (
	"context"
	"maps"
	"slices"
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

// NewProvider takes the steps of the schema one by one.
var NewProvider = newProvider

// WriteAndThen does something between a change and the end of its transaction.
func WriteAndThen(ctx context.Context, s *Store, sql string, then func()) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, sql)
		then()
		return err
	})
}
