package postgres_test

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// state is the SQLSTATE inside an error, "" if there is none.
func state(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}
