package connection

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/core/fault"
)

// Busy reports a database that cannot work at the moment. The database's own words go only to the log: they name
// hosts, users and statements.
type Busy struct {
	Sentence string
	Cause    error
}

func (e *Busy) Error() string        { return e.Sentence }
func (e *Busy) Is(target error) bool { return target == fault.Busy }
func (e *Busy) Unwrap() error        { return e.Cause }

// The sentences of a database that cannot.
const (
	Away      = "the database cannot be reached at the moment; try again soon"
	stopping  = "the database is starting or stopping; try again soon"
	readOnly  = "the database takes no changes at the moment; try again later"
	diskFull  = "the database has no space left; changes can be made again when its operator has made room"
	Exhausted = "the database is out of connections or memory; try again soon"
	Slow      = "the database did not answer in time; try again soon"
	Waiting   = "another change of the same things is still going on; try again soon"
	failing   = "the database cannot read or write its files; its operator must look at it"
)

// byState explains states that the server reports, or classes of them (the first two letters).
var byState = map[string]string{
	"08":    Away,
	"25006": readOnly,
	"28":    Away, // the service is locked out
	"3D000": Away,
	"40":    Waiting,
	"53":    Exhausted,
	"53100": diskFull,
	"55P03": Waiting,
	"57014": Slow,
	"57P":   stopping,
	"25P03": Slow,
	"58":    failing,
	"F0":    failing,
	"XX001": failing,
	"XX002": failing,
}

// StateSentence explains a state that the server reports, if it is one in which it cannot work.
func StateSentence(state string) (string, bool) {
	for _, length := range []int{5, 3, 2} {
		if len(state) >= length {
			if sentence, known := byState[state[:length]]; known {
				return sentence, true
			}
		}
	}
	return "", false
}

// SentenceFor explains why no connection could be made.
func SentenceFor(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		if sentence, known := StateSentence(said.Code); known {
			return sentence
		}
	}
	return Away
}

// BadAddress hides the fault of a database's address, which may hold a password.
type BadAddress struct{ Cause error }

func (e *BadAddress) Error() string {
	return "the database's address cannot be used; give one such as postgres://user:password@host:5432/name"
}
func (e *BadAddress) Unwrap() error { return e.Cause }

// SetupError describes a failed operation on the schema, with the database's words for the operator.
func SetupError(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		if sentence, known := StateSentence(said.Code); known {
			return &Busy{sentence, err}
		}
		if said.Code == "42501" {
			return &OwnerNeeded{what, said.Message}
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// OwnerNeeded reports an operation that only the schema's owner may do.
type OwnerNeeded struct{ what, said string }

func (e *OwnerNeeded) Error() string {
	return fmt.Sprintf("%s: the database refuses (%s); the migrations need a user who owns the database or its schema", e.what, e.said)
}
