package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/core/capacity"
	"headroom/internal/data/inputs"
	"headroom/internal/service/app"
	"headroom/internal/slots/live"
)

// withTheJob is when leases of live jobs expire: they end before, with their jobs.
const withTheJob = `timestamptz '9999-12-31 00:00:00Z'`

// promise adds to a lease that was just admitted what goes beyond a place. Both are one transaction's, which
// whoever asks for it has begun.
func promise(ctx context.Context, q querier, a *live.Admission, r live.AdmissionRequest) error {
	if r.DeadlineSeconds == 0 && r.Job == 0 {
		return nil
	}
	var expires, due *time.Time
	err := q.QueryRow(ctx, `
		UPDATE admissions a
		SET deadline_at = CASE WHEN @deadline > 0 THEN a.admitted_at + make_interval(secs => @deadline) END, maps = @maps, reduces = @reduces,
		    live_job = nullif(@job::bigint, 0), expires_at = CASE WHEN @job = 0 THEN a.expires_at ELSE `+withTheJob+` END
		WHERE a.id = @id
		RETURNING CASE WHEN a.live_job IS NULL THEN a.expires_at END, a.deadline_at`,
		pgx.NamedArgs{"id": a.ID, "deadline": r.DeadlineSeconds, "maps": r.Maps, "reduces": r.Reduces, "job": r.Job}).Scan(&expires, &due)
	a.ExpiresAt, a.DeadlineAt = expires, due
	if a.ExpiresAt == nil {
		a.TTLSeconds = 0
	}
	return err
}

// Unadmit takes a lease back within the transaction that admitted it, as if it had never been.
func (s *Store) Unadmit(ctx context.Context, id string) error {
	if _, within := joined(ctx); !within {
		return errors.New("a lease is taken back outside of the transaction that gave it")
	}
	return s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `DELETE FROM admissions WHERE id = @id`, pgx.NamedArgs{"id": id})
		return err
	})
}

// endLeasesOfJobs frees the places of live jobs that have ended.
const endLeasesOfJobs = `UPDATE admissions SET ended_at = clock_timestamp() WHERE cluster_id = @cluster AND live_job = ANY(@jobs) AND ended_at IS NULL`

func endedJobs(jobs []live.Job) (numbers []int64) {
	for _, j := range jobs {
		if j.Ended > 0 {
			numbers = append(numbers, j.Number)
		}
	}
	return numbers
}

// Promised are the leases with deadlines that no live job has, by id.
func (s *Store) Promised(ctx context.Context, cluster string) (leases []app.PromisedLease, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		leases, err = collect[app.PromisedLease](ctx, q, `
			SELECT `+leaseColumns+`, extract(epoch FROM a.deadline_at - clock_timestamp())::float8 AS due_seconds FROM admissions a
			WHERE a.cluster_id = @cluster AND`+running+`AND a.deadline_at IS NOT NULL AND a.live_job IS NULL ORDER BY a.id`, pgx.NamedArgs{"cluster": id})
		return err
	})
	return leases, err
}

// ClassProfiles are the profiles of those of the classes that have one.
func (s *Store) ClassProfiles(ctx context.Context, cluster string, classes []string) (of map[string]capacity.Profile, err error) {
	of = map[string]capacity.Profile{}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		type link struct {
			Class, Name string
			Version     int64
		}
		links, err := collect[link](ctx, q, `
			SELECT name AS class, profile AS name, profile_version AS version FROM classes
			WHERE cluster_id = @cluster AND name = ANY(@classes) AND profile IS NOT NULL`, pgx.NamedArgs{"cluster": id, "classes": storable(classes)})
		if err != nil || len(links) == 0 {
			return err
		}
		names, versions := make([]string, len(links)), make([]int64, len(links))
		for i, l := range links {
			names[i], versions[i] = l.Name, l.Version
		}
		found, err := profiles(ctx, q, `
			SELECT `+sourcelessProfile+` FROM profile_versions p
			WHERE p.cluster_id = @cluster AND (p.name, p.version) IN (SELECT * FROM unnest(@names::text[], @versions::bigint[]))`,
			pgx.NamedArgs{"cluster": id, "names": names, "versions": versions})
		if err != nil {
			return err
		}
		byRef := map[inputs.ProfileRef]capacity.Profile{}
		for _, p := range found {
			byRef[inputs.ProfileRef{Name: p.Name, Version: p.Version}] = p.Profile
		}
		for _, l := range links {
			of[l.Class] = byRef[inputs.ProfileRef{Name: l.Name, Version: l.Version}]
		}
		return nil
	})
	return of, err
}

// storable leaves out what cannot be a name in the database.
func storable(names []string) []string {
	kept := make([]string, 0, len(names))
	for _, n := range names {
		if !unstorable(n) {
			kept = append(kept, n)
		}
	}
	return kept
}
