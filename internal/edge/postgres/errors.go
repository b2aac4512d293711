package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/core/fault"
)

// kindError is an error of one of fault's kinds. It holds a sentence and nothing else that could leak.
type kindError struct {
	kind     fault.Kind
	sentence string
}

func (e *kindError) Error() string        { return e.sentence }
func (e *kindError) Is(target error) bool { return target == e.kind }

func notFound(sentence string, values ...any) error {
	return &kindError{fault.NotFound, fmt.Sprintf(sentence, values...)}
}

func conflict(sentence string, values ...any) error {
	return &kindError{fault.Conflict, fmt.Sprintf(sentence, values...)}
}

func invalid(sentence string, values ...any) error {
	return &kindError{fault.Invalid, fmt.Sprintf(sentence, values...)}
}

// busy reports a database that cannot work at the moment. The database's own words go only to the log: they name
// hosts, users and statements.
type busy struct {
	sentence string
	cause    error
}

func (e *busy) Error() string        { return e.sentence }
func (e *busy) Is(target error) bool { return target == fault.Busy }
func (e *busy) Unwrap() error        { return e.cause }

// The sentences of a database that cannot.
const (
	away      = "the database cannot be reached at the moment; try again soon"
	stopping  = "the database is starting or stopping; try again soon"
	readOnly  = "the database takes no changes at the moment; try again later"
	diskFull  = "the database has no space left; changes can be made again when its operator has made room"
	exhausted = "the database is out of connections or memory; try again soon"
	slow      = "the database did not answer in time; try again soon"
	waiting   = "another change of the same things is still going on; try again soon"
	failing   = "the database cannot read or write its files; its operator must look at it"
)

// byState explains states that the server reports, or classes of them (the first two letters).
var byState = map[string]string{
	"08":    away,
	"25006": readOnly,
	"28":    away, // the service is locked out
	"3D000": away,
	"40":    waiting,
	"53":    exhausted,
	"53100": diskFull,
	"55P03": waiting,
	"57014": slow,
	"57P":   stopping,
	"25P03": slow,
	"58":    failing,
	"F0":    failing,
	"XX001": failing,
	"XX002": failing,
}

func stateSentence(state string) (string, bool) {
	for _, length := range []int{5, 3, 2} {
		if len(state) >= length {
			if sentence, known := byState[state[:length]]; known {
				return sentence, true
			}
		}
	}
	return "", false
}

// sentenceFor explains why no connection could be made.
func sentenceFor(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		if sentence, known := stateSentence(said.Code); known {
			return sentence
		}
	}
	return away
}

// unconfirmed marks a connection on which a commit did not wait for the standby to the end, because somebody cancelled the wait. Postgres
// calls such a commit done, with a warning.
const unconfirmed = "unconfirmed"

var errUnconfirmed = errors.New("the wait for the standby was cancelled: what was committed may be lost with this primary")

func noteUnconfirmed(c *pgconn.PgConn, said *pgconn.Notice) {
	if said.Routine == "SyncRepWaitForLSN" {
		c.CustomData()[unconfirmed] = true
	}
}

// kindOf gives an error on a connection its kind. Errors with a kind stay as they are, a caller that left gets its
// own context's error, and other errors are ours to mend.
func kindOf(ctx context.Context, conn *pgx.Conn, err error) error {
	if said := conn.PgConn().CustomData(); err == nil && said[unconfirmed] != nil {
		delete(said, unconfirmed)
		return &busy{slow, errUnconfirmed}
	}
	if err == nil || hasKind(err) {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		if said.Code == "25006" { // another connection may lead to a server that takes changes
			closeConn(ctx, conn)
		}
		if sentence, known := stateSentence(said.Code); known {
			return &busy{sentence, err}
		}
		if said.Code == "22021" || said.Code == "22P05" {
			return invalid("the text holds characters that cannot be stored; remove NUL and what is not UTF-8")
		}
		return explain(ctx, conn, err, said)
	}
	if pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) { // by us: the caller is there
		return &busy{slow, err}
	}
	var network net.Error
	if conn.IsClosed() || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return &busy{away, err}
	}
	return err
}

func hasKind(err error) bool {
	for _, kind := range []fault.Kind{fault.Invalid, fault.NotFound, fault.Conflict, fault.Forbidden, fault.Infeasible, fault.Busy} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// unstorable reports that no stored name can equal this one; the database would refuse to look for it.
func unstorable(name string) bool {
	return strings.ContainsRune(name, 0) || !utf8.ValidString(name)
}
