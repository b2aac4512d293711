package api

import (
	"context"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/report"
)

// newKey is the request for a key; createdKey is the answer.
type (
	newKey struct {
		Name      string     `json:"name"`
		Role      auth.Role  `json:"role"`
		Clusters  []string   `json:"clusters"`
		ExpiresAt *time.Time `json:"expires_at"`
	}
	createdKey struct {
		auth.Key
		Token string `json:"token,omitempty"`
	}
)

func (s *server) ListKeys(ctx context.Context, r ListKeysRequest) (reply[KeyList], error) {
	return listed(ctx, s, paging(r.Params), "keys", keyTable, s.app.Stores.Access.Keys)
}

func (s *server) CreateKey(ctx context.Context, r CreateKeyRequest) (reply[CreatedKey], error) {
	k, token, err := s.app.Auth.CreateKey(ctx, auth.Key{Name: r.Body.Name, Role: r.Body.Role, Clusters: r.Body.Clusters, ExpiresAt: r.Body.ExpiresAt})
	return reply[CreatedKey]{body: createdKey{k, token}, created: k.ID, repeat: &createdKey{Key: k}}, err
}

func (s *server) RevokeKey(ctx context.Context, r RevokeKeyRequest) (reply[nothing], error) {
	err := s.app.Auth.RevokeKey(ctx, r.Id)
	s.sessions.doubtAll() // those of the key end now
	return done(err)
}

func (s *server) ListAudit(ctx context.Context, r ListAuditRequest) (reply[AuditList], error) {
	who := auth.From(ctx)
	of := app.AuditFilter{Only: who.Clusters}
	if r.Params.Cluster != nil {
		of.Cluster = *r.Params.Cluster
		if !who.Sees(of.Cluster) {
			return reply[AuditList]{}, refusal{noCluster(of.Cluster)}
		}
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, "audit", auditTable, func(ctx context.Context, p storage.Page) (storage.Listed[app.AuditEntry], error) {
		return s.app.Stores.Database.Audit(ctx, of, p)
	})
}

func keyTable(keys []auth.Key) report.Table {
	t := report.Table{Columns: []string{"id", "name", "role", "clusters", "created_at", "created_by", "expires_at", "revoked_at"}}
	for _, k := range keys {
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(k.ID), report.Text(k.Name), report.Text(string(k.Role)), report.Names(k.Clusters),
			report.Time(k.CreatedAt), report.Text(k.CreatedBy), report.MaybeTime(k.ExpiresAt), report.MaybeTime(k.RevokedAt),
		})
	}
	return t
}

func auditTable(entries []app.AuditEntry) report.Table {
	t := report.Table{Columns: []string{"id", "at", "by", "key_id", "cluster", "action", "kind", "name", "before", "after"}}
	for _, e := range entries {
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(e.ID), report.Time(e.At), report.Text(e.By), report.Text(e.KeyID), report.Text(e.Cluster),
			report.Text(e.Action), report.Text(e.Kind), report.Text(e.Name), report.Text(string(e.Before)), report.Text(string(e.After)),
		})
	}
	return t
}
