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
	"example.org/headroom/internal/edge/postgres/connection"
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
		return &connection.Busy{Sentence: connection.Slow, Cause: errUnconfirmed}
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
			connection.Close(ctx, conn)
		}
		if sentence, known := connection.StateSentence(said.Code); known {
			return &connection.Busy{Sentence: sentence, Cause: err}
		}
		if said.Code == "22021" || said.Code == "22P05" {
			return invalid("the text holds characters that cannot be stored; remove NUL and what is not UTF-8")
		}
		return explain(ctx, conn, err, said)
	}
	if pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) { // by us: the caller is there
		return &connection.Busy{Sentence: connection.Slow, Cause: err}
	}
	var network net.Error
	if conn.IsClosed() || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return &connection.Busy{Sentence: connection.Away, Cause: err}
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
