// Package connection makes connections to the database: few at once, at the newest primary, and with a pulse that tells whether the
// database answers at all. Each statement gets a span.
package connection

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Dialer notices within half a minute that the other end is gone.
var Dialer = net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}

// farewell is the longest that a connection takes to end in order. Until then it has a place in the pool, and a server that hangs
// would keep it for 15 s: neither the request to end a statement nor the last word gets an answer.
const farewell = 500 * time.Millisecond

// Config configures a pool.
type Config struct {
	URL      string
	Most     int           // connections
	Settings string        // a statement that begins each session; none where the address leads to a pooler
	Usual    time.Duration // to make a connection; an address that does not even accept one within this is gone
	Pulse    *Pulse        // told of every answer
	OnNotice pgconn.NoticeHandler
}

// Pool returns a pool of connections. Its error is about the address alone, which may hold a password.
func Pool(ctx context.Context, c Config) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(min(c.Most, 1000))
	dial := Dialer
	dial.Timeout = c.Usual // a busy machine still accepts
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		limit := dialling(ctx, address)
		conn, err := dial.DialContext(ctx, network, address)
		if err == nil {
			_ = conn.SetDeadline(time.Now().Add(limit))
		}
		return conn, err
	}
	config.BeforeConnect = newGate(c.Usual, c.Pulse).before
	config.ConnConfig.OnNotice = c.OnNotice
	newest := &lineage{}
	config.BeforeClose = func(conn *pgx.Conn) {
		newest.forget(conn)
		time.AfterFunc(farewell, func() { _ = conn.PgConn().Conn().Close() }) // mostly it is closed by then
	}
	if c.Settings != "" {
		validate := config.ConnConfig.ValidateConnect
		config.ConnConfig.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
			if validate != nil {
				if err := validate(ctx, c); err != nil {
					return err
				}
			}
			return newest.check(ctx, c)
		}
	} else {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe // statements without names
		config.ConnConfig.RuntimeParams["application_name"] = "headroom"
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) (err error) {
		_ = conn.PgConn().Conn().SetDeadline(time.Time{})
		timesInUTC(conn.TypeMap())
		place := conn.Config().Tracer.(*connecting)
		if c.Settings != "" {
			ctx, cancel := context.WithTimeout(ctx, place.limit)
			defer cancel()
			_, err = conn.Exec(ctx, c.Settings)
		}
		place.done(err)
		if err != nil {
			newest.forget(conn)
		}
		return err
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// timesInUTC reads times in UTC, not in the zone of this process.
func timesInUTC(m *pgtype.Map) {
	m.RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
}
