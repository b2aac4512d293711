package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

const profileFigures = `p.name, p.version, p.note, p.created_at, p.map_tasks, p.reduce_tasks, p.map_avg_seconds, p.map_max_seconds,
	p.first_shuffle_avg_seconds, p.first_shuffle_max_seconds, p.shuffle_avg_seconds, p.shuffle_max_seconds, p.reduce_avg_seconds,
	p.reduce_max_seconds, p.overhead_seconds, p.stages`

// profileColumns are all columns of a version; lists and plans omit its source, which may be long.
const (
	profileColumns    = profileFigures + `, p.source`
	sourcelessProfile = profileFigures + `, NULL::jsonb AS source`
)

func profileOf(row pgx.CollectableRow) (inputs.ProfileVersion, error) {
	type columns struct {
		Name, Note string
		Version    int64
		CreatedAt  time.Time
		Source     json.RawMessage
		capacity.Profile
	}
	r, err := pgx.RowToStructByName[columns](row)
	return inputs.ProfileVersion{Name: r.Name, Version: r.Version, Note: r.Note, Profile: r.Profile, CreatedAt: r.CreatedAt, Source: r.Source}, err
}

func profiles(ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]inputs.ProfileVersion, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, profileOf)
}

// Profiles lists the latest version of each, by name, without sources.
func (s *Store) Profiles(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[inputs.ProfileVersion], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		versions, err := profiles(ctx, q, `
			SELECT DISTINCT ON (p.name) `+sourcelessProfile+` FROM profile_versions p
			WHERE p.cluster_id = @cluster AND p.name > @after
			ORDER BY p.name, p.version DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "after": after, "limit": limitOf(page) + 1})
		list = listed(versions, page, func(p inputs.ProfileVersion) []any { return []any{p.Name} })
		return err
	})
	return list, err
}

// ProfileVersions lists the versions of a profile, the first first, without sources.
func (s *Store) ProfileVersions(ctx context.Context, cluster, name string, page storage.Page) (list storage.Listed[inputs.ProfileVersion], err error) {
	after := int64(0)
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if unstorable(name) {
			return noProfile(cluster, name)
		}
		versions, err := profiles(ctx, q, `
			SELECT `+sourcelessProfile+` FROM profile_versions p
			WHERE p.cluster_id = @cluster AND p.name = @name AND p.version > @after
			ORDER BY p.version LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "name": name, "after": after, "limit": limitOf(page) + 1})
		if err == nil && len(versions) == 0 && after == 0 {
			return noProfile(cluster, name)
		}
		list = listed(versions, page, func(p inputs.ProfileVersion) []any { return []any{p.Version} })
		return err
	})
	return list, err
}

func noProfile(cluster, name string) error {
	return notFound("the cluster %q has no profile %q", cluster, name)
}

// Profile returns one version; 0 is the latest.
func (s *Store) Profile(ctx context.Context, cluster, name string, version int64) (p inputs.ProfileVersion, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		p, err = profile(ctx, q, id, cluster, name, version)
		return err
	})
	return p, err
}

func profile(ctx context.Context, q querier, id int64, cluster, name string, version int64) (p inputs.ProfileVersion, err error) {
	if unstorable(name) {
		return p, noProfile(cluster, name)
	}
	rows, err := q.Query(ctx, `
		SELECT `+profileColumns+` FROM profile_versions p
		WHERE p.cluster_id = @cluster AND p.name = @name AND (@version::bigint = 0 OR p.version = @version::bigint)
		ORDER BY p.version DESC LIMIT 1`,
		pgx.NamedArgs{"cluster": id, "name": name, "version": version})
	if err != nil {
		return p, err
	}
	p, err = pgx.CollectExactlyOneRow(rows, profileOf)
	if !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	if version != 0 {
		if latest, err := profile(ctx, q, id, cluster, name, 0); err == nil {
			return p, notFound("the profile %q of the cluster %q has no version %d; its versions are 1 to %d", name, cluster, version, latest.Version)
		}
	}
	return p, noProfile(cluster, name)
}

// CreateProfile creates version 1 of a new name.
func (s *Store) CreateProfile(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error) {
	return s.writeProfile(ctx, cluster, p, func(context.Context, querier, int64) (int64, error) { return 1, nil })
}

// AddProfileVersion creates the next version of a known name.
func (s *Store) AddProfileVersion(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error) {
	return s.writeProfile(ctx, cluster, p, func(ctx context.Context, q querier, id int64) (int64, error) {
		latest, err := profile(ctx, q, id, cluster, p.Name, 0)
		return latest.Version + 1, err
	})
}

func (s *Store) writeProfile(ctx context.Context, cluster string, p inputs.ProfileVersion, number func(context.Context, querier, int64) (int64, error)) (inputs.ProfileVersion, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		if p.Version, err = number(ctx, q, id); err != nil {
			return err
		}
		if _, err := q.Exec(ctx, insertProfile, profileArgs(id, p)); err != nil {
			return at(cluster, p, err)
		}
		if err := bump(ctx, q, id); err != nil {
			return err
		}
		if p, err = profile(ctx, q, id, cluster, p.Name, p.Version); err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Create, Kind: inputs.ProfileKind, Name: p.Label(), After: p})
	})
	return p, err
}

const insertProfile = `
	INSERT INTO profile_versions (cluster_id, name, version, note, map_tasks, reduce_tasks, map_avg_seconds, map_max_seconds,
	    first_shuffle_avg_seconds, first_shuffle_max_seconds, shuffle_avg_seconds, shuffle_max_seconds, reduce_avg_seconds, reduce_max_seconds, overhead_seconds,
	    stages, source)
	VALUES (@cluster, @name, @version, @note, @map_tasks, @reduce_tasks, @map_avg, @map_max,
	    @first_shuffle_avg, @first_shuffle_max, @shuffle_avg, @shuffle_max, @reduce_avg, @reduce_max, @overhead, @stages, @source)`

func profileArgs(id int64, p inputs.ProfileVersion) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"cluster": id, "name": p.Name, "version": p.Version, "note": p.Note,
		"map_tasks": p.Profile.MapTasks, "reduce_tasks": p.Profile.ReduceTasks,
		"map_avg": p.Profile.MapAvgSeconds, "map_max": p.Profile.MapMaxSeconds,
		"first_shuffle_avg": p.Profile.FirstShuffleAvgSeconds, "first_shuffle_max": p.Profile.FirstShuffleMaxSeconds,
		"shuffle_avg": p.Profile.ShuffleAvgSeconds, "shuffle_max": p.Profile.ShuffleMaxSeconds,
		"reduce_avg": p.Profile.ReduceAvgSeconds, "reduce_max": p.Profile.ReduceMaxSeconds, "overhead": p.Profile.OverheadSeconds,
	}
	if p.Profile.Stages != nil {
		args["stages"] = p.Profile.Stages
	}
	if p.Source != nil {
		args["source"] = inputs.CanonicalSource(p.Source) // without parts that jsonb refuses, such as half a character
	}
	return args
}

// DeleteProfile deletes a name with all its versions, unless a class uses one.
func (s *Store) DeleteProfile(ctx context.Context, cluster, name, tag string) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		before, err := profile(ctx, q, id, cluster, name, 0)
		if err != nil {
			return err
		}
		if before.Tag() != tag {
			return outdated(ctx, q, before.Version, cluster, before.Label(), inputs.ProfileKind)
		}
		if _, err := q.Exec(ctx, `DELETE FROM profile_versions WHERE cluster_id = @cluster AND name = @name`, pgx.NamedArgs{"cluster": id, "name": name}); err != nil {
			return atDelete(before, err)
		}
		if err := bump(ctx, q, id); err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: inputs.ProfileKind, Name: name, Before: before})
	})
}
