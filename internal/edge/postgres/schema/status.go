package schema

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"example.org/headroom/internal/edge/postgres/connection"
)

// Status describes the state of a database's schema.
type Status struct {
	Have   int64    // the newest step that has run; 0 without any
	Known  int64    // the newest step this release has
	Server int      // the server's release, such as 15
	Role   bool     // the service can work as Role
	Peers  []string // addresses of the servers that share live clusters

	River, KnownRiver int64  // the same as Have and Known, of the tables that hand out background runs
	RiverSchema       string // the schema of those tables
}

// Behind reports that the schema lacks steps that this release needs.
func (s Status) Behind() bool { return s.Have < s.Known || s.River < s.KnownRiver }

// StatusOf reads the state of a database's schema. It changes nothing.
func StatusOf(ctx context.Context, url string) (Status, error) {
	conn, err := connection.Session(ctx, url)
	if err != nil {
		return Status{}, err
	}
	defer connection.Close(ctx, conn)
	return statusOn(ctx, conn)
}

func statusOn(ctx context.Context, conn *pgx.Conn) (status Status, err error) {
	status.Server = connection.ServerRelease(conn)
	var table *string
	if err := conn.QueryRow(ctx, `SELECT to_regclass('goose_db_version')::text`).Scan(&table); err != nil {
		return status, connection.SetupError(ctx, "read the schema's version", err)
	}
	if table != nil {
		err = conn.QueryRow(ctx, `
			SELECT coalesce(max(version_id), 0),
			       EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER')
			               AND has_table_privilege(oid, to_regclass('plans'), 'SELECT'))
			FROM goose_db_version`, Role).Scan(&status.Have, &status.Role)
		if err == nil && status.Have >= 29 { // which made the table
			err = conn.QueryRow(ctx, `SELECT array_agg(address ORDER BY address) FROM servers WHERE until > clock_timestamp()`).Scan(&status.Peers)
		}
		if err != nil {
			return status, connection.SetupError(ctx, "read the schema's version", err)
		}
	}
	if status.RiverSchema, err = riverHome(ctx, conn); err != nil {
		return status, connection.SetupError(ctx, "look for the tables of background runs", err)
	}
	if status.River, err = riverVersion(ctx, conn, status.RiverSchema); err != nil {
		return status, connection.SetupError(ctx, "look at the tables of background runs", err)
	}
	if status.KnownRiver, err = newestRiver(); err != nil {
		return status, err
	}
	db := stdlib.OpenDB(*conn.Config()) // does not connect before the first query
	defer func() { _ = db.Close() }()
	provider, err := Steps(db)
	if err != nil {
		return status, err
	}
	for _, step := range provider.ListSources() {
		status.Known = max(status.Known, step.Version)
	}
	return status, nil
}
