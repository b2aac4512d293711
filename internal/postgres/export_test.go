package postgres

import (
	"context"
	"maps"
	"slices"
)

// Explained are the constraints whose violation is told in words.
func Explained() []string {
	all := maps.Clone(rules)
	for name := range neighbours {
		all[name] = rule{}
	}
	return slices.Sorted(maps.Keys(all))
}

// Hold takes a connection out of the pool until it is given back.
func Hold(ctx context.Context, s *Store) (back func(), err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Release, nil
}

// NewProvider takes the steps of the schema one by one.
var NewProvider = newProvider
