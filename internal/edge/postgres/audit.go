package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
)

// entry records one action; its author comes from the context.
type entry struct {
	Cluster, Action, Kind, Name string
	Before, After               any // nil is none
}

// record writes entries to the audit log, in the transaction of the changes.
func record(ctx context.Context, q querier, entries ...entry) error {
	who := auth.From(ctx)
	n := len(entries)
	actions, kinds, names := make([]string, n), make([]string, n), make([]string, n)
	clusters, before, after := make([]*string, n), make([]*string, n), make([]*string, n)
	for i := range entries {
		e := &entries[i]
		actions[i], kinds[i], names[i] = e.Action, e.Kind, e.Name
		if e.Cluster != "" {
			clusters[i] = &e.Cluster
		}
		var err error
		if before[i], err = jsonText(e.Before); err != nil {
			return err
		}
		if after[i], err = jsonText(e.After); err != nil {
			return err
		}
	}
	_, err := q.Exec(ctx, `
		INSERT INTO audit (era, by, key_id, cluster, action, kind, name, before, after)
		SELECT (SELECT max(era) FROM audit_eras), @by, @key_id, cluster, action, kind, name, before::json, after::json
		FROM unnest(@clusters::text[], @actions::text[], @kinds::text[], @names::text[], @before::text[], @after::text[])
		     WITH ORDINALITY AS e (cluster, action, kind, name, before, after, place)
		ORDER BY place`,
		pgx.NamedArgs{"by": who.Name, "key_id": who.ID, "clusters": clusters, "actions": actions, "kinds": kinds, "names": names, "before": before, "after": after})
	return err
}

// lastChange returns the last change of a part of a cluster, or nil if none is on record. An empty name matches any.
func lastChange(ctx context.Context, q querier, cluster, name string, kinds ...string) (*storage.LastChange, error) {
	last, err := one[storage.LastChange](ctx, q, `
		SELECT at, by, kind, name FROM audit WHERE cluster = @cluster AND kind = ANY(@kinds) AND (name = @name OR @name = '')
		ORDER BY era DESC, txid DESC, id DESC LIMIT 1`, pgx.NamedArgs{"cluster": cluster, "kinds": kinds, "name": name})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &last, err
}

// outdated refuses an old version, and names the author of the present one.
func outdated(ctx context.Context, q querier, have int64, cluster, name string, kinds ...string) error {
	last, err := lastChange(ctx, q, cluster, name, kinds...)
	if err != nil {
		return err
	}
	return &storage.VersionError{Have: have, Last: last}
}

func jsonText(x any) (*string, error) {
	if x == nil {
		return nil, nil
	}
	text, err := json.Marshal(x)
	s := string(text)
	return &s, err
}

// Audit lists the newest first. An entry is listed only after all transactions older than its own have ended, so that
// nothing ever appears behind a cursor.
func (s *Store) Audit(ctx context.Context, of app.AuditFilter, page storage.Page) (list storage.Listed[app.AuditEntry], err error) {
	type row struct {
		Era  int64
		Txid uint64
		Seq  int64
		app.AuditEntry
	}
	era, txid, id := int64(math.MaxInt64), uint64(0), int64(0)
	if err := readCursor(page.After, &era, &txid, &id); err != nil {
		return list, err
	}
	list.Items = []app.AuditEntry{}
	if unstorable(of.Cluster) {
		return list, nil
	}
	filter := ""
	if of.Cluster != "" {
		filter = ` AND cluster = @cluster`
	}
	if of.Only != nil {
		filter += ` AND cluster = ANY(@only)`
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := collect[row](ctx, q, `
			SELECT a.era, a.txid, a.id AS seq, a.id::text, at, by, key_id, coalesce(cluster, '') AS cluster, action, kind, name, before, after
			FROM audit a
			WHERE (a.era, a.txid, a.id) < (@era, @txid::text::xid8, @id)
			  AND (a.era < (SELECT max(era) FROM audit_eras) OR a.txid < pg_snapshot_xmin(pg_current_snapshot()))
			  `+filter+`
			ORDER BY a.era DESC, a.txid DESC, a.id DESC LIMIT @limit`,
			pgx.NamedArgs{"era": era, "txid": strconv.FormatUint(txid, 10), "id": id, "cluster": of.Cluster, "only": of.Only, "limit": limitOf(page) + 1})
		if err != nil {
			return err
		}
		shown := listed(rows, page, func(r row) []any { return []any{r.Era, r.Txid, r.Seq} })
		list.Next = shown.Next
		for _, r := range shown.Items {
			list.Items = append(list.Items, r.AuditEntry)
		}
		return nil
	})
	return list, err
}
