package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/slots/live"
)

// admittingPlan selects the current plan, which decides on admission, by the id and the number of a row; c is the
// cluster. It is part of the admitting statement, so that no plan outlives its successor.
const admittingPlan = `SELECT p.id, p.number FROM planning g JOIN plans p ON p.cluster_id = g.cluster_id AND p.number = g.current_number WHERE g.cluster_id = c.id`

// planLimits holds the numbers of jobs of each class that plans admit at once. Plans never change, so only the last
// one of each cluster is cached.
type planLimits struct {
	mu        sync.Mutex
	byCluster map[string]limits
}

type limits struct {
	plan    string
	classes map[string]int64
}

func (l *planLimits) get(cluster string) limits {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byCluster[cluster]
}

func (l *planLimits) put(cluster string, of limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byCluster == nil {
		l.byCluster = map[string]limits{}
	}
	l.byCluster[cluster] = of
}

// limitsOf returns a plan's limits. It reads them only the first time.
func (s *Store) limitsOf(ctx context.Context, q querier, cluster, plan string) (limits, error) {
	if known := s.limits.get(cluster); known.plan == plan {
		return known, nil
	}
	var text []byte
	if err := q.QueryRow(ctx, `SELECT plan::text FROM plans WHERE id = @id`, pgx.NamedArgs{"id": plan}).Scan(&text); err != nil {
		return limits{}, err
	}
	// Of all members two are needed, and a newer release may have stored others.
	var stored struct {
		Classes []struct {
			Name     string  `json:"name"`
			Admitted float64 `json:"admitted"`
		} `json:"classes"`
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		return limits{}, fmt.Errorf("read the classes of plan %s of cluster %s: %w", plan, cluster, err)
	}
	read := limits{plan, make(map[string]int64, len(stored.Classes))}
	for _, c := range stored.Classes {
		read.classes[c.Name] = capacity.Places(c.Admitted)
	}
	s.limits.put(cluster, read)
	return read, nil
}

func noPlanToAdmit(cluster string) error {
	return conflict("the cluster %q has no plan yet, so nobody can be admitted; make one with POST /v1/clusters/%s/plans", cluster, cluster)
}

// Admit gives a job a place, or the reason of a refusal (see app.Admissions). It is one statement, unless this
// process has not seen the plan yet.
func (s *Store) Admit(ctx context.Context, cluster string, r live.AdmissionRequest) (a live.Admission, err error) {
	if unstorable(cluster) {
		return a, noCluster(cluster)
	}
	s.sweepLeases(ctx)
	if r.TTLSeconds == 0 {
		r.TTLSeconds = live.DefaultLeaseSeconds
	}
	id, who := newID(), auth.From(ctx)
	type row struct {
		Plan                  *string
		Number                *int64
		Running               *int64
		AdmittedAt, ExpiresAt *time.Time
		NextFree              *float64
	}
	work := func(ctx context.Context, q querier) error {
		const tries = 5
		for range tries {
			seen := s.limits.get(cluster)
			limit, known := seen.classes[r.Class]
			decided, err := one[row](ctx, q, `
				SELECT p.id AS plan, p.number, a.running, a.admitted_at, a.expires_at, a.next_free
				FROM clusters c LEFT JOIN LATERAL (`+admittingPlan+`) p ON true
				     LEFT JOIN LATERAL admit(p.id = @seen::uuid AND @known::boolean, c.id, @class, @limit, @id, @holder, @by, p.number, @ttl) a ON true
				WHERE c.name = @cluster AND c.deleted_at IS NULL`,
				pgx.NamedArgs{"cluster": cluster, "class": r.Class, "limit": limit, "id": id, "holder": r.Holder, "by": who.Name, "ttl": r.TTLSeconds,
					"seen": cmp.Or(seen.plan, uuid.Nil.String()), "known": known})
			switch {
			case errors.Is(err, pgx.ErrNoRows):
				return noCluster(cluster)
			case err != nil:
				return err
			case decided.Plan == nil:
				return noPlanToAdmit(cluster)
			case *decided.Plan != seen.plan:
				if _, err := s.limitsOf(ctx, q, cluster, *decided.Plan); err != nil {
					return err
				}
				continue
			}
			a = live.Admission{Class: r.Class, PlanNumber: *decided.Number, Limit: limit}
			if decided.Running != nil {
				a.Running = *decided.Running
			}
			if decided.ExpiresAt == nil {
				nextFree := -1.0
				if decided.NextFree != nil {
					nextFree = max(0, *decided.NextFree)
				}
				a.Refuse(cluster, known, slices.Sorted(maps.Keys(seen.classes)), nextFree)
				return nil
			}
			a.Admitted, a.ID, a.Holder, a.AdmittedBy, a.TTLSeconds = true, id, r.Holder, who.Name, r.TTLSeconds
			a.AdmittedAt, a.ExpiresAt = decided.AdmittedAt, decided.ExpiresAt
			return promise(ctx, q, &a, r)
		}
		return &connection.Busy{Sentence: connection.Waiting, Cause: errors.New("the plan changed whenever somebody asked")}
	}
	return a, s.alone(ctx, work)
}

// alone runs statements, each of which is a transaction of its own. That saves two round trips.
func (s *Store) alone(ctx context.Context, work func(context.Context, querier) error) error {
	return s.read(ctx, work)
}

const leaseColumns = `a.id, a.class, a.holder, a.admitted_by, a.plan_number, a.ttl_seconds, a.admitted_at,
	CASE WHEN a.live_job IS NULL THEN a.expires_at END AS expires_at, a.live_job AS job, a.deadline_at, a.maps, a.reduces`

// running matches leases that are not over. An expired one is over too, even before its place is taken.
const running = ` a.ended_at IS NULL AND a.expires_at > clock_timestamp() `

// ofCluster selects the number of a living cluster.
const ofCluster = `(SELECT c.id FROM clusters c WHERE c.name = @cluster AND c.deleted_at IS NULL)`

// lease runs a statement that finds a lease only while it runs. Otherwise the error tells how it ended.
func (s *Store) lease(ctx context.Context, cluster, id, sql string, args pgx.NamedArgs) (l live.Lease, err error) {
	args["cluster"], args["id"] = cluster, id
	if unstorable(cluster) {
		return l, noCluster(cluster)
	}
	if uuid.Validate(id) != nil || len(id) != len(uuid.Nil.String()) {
		return l, noLease(cluster, id)
	}
	err = s.alone(ctx, func(ctx context.Context, q querier) error {
		l, err = one[live.Lease](ctx, q, sql, args)
		if errors.Is(err, pgx.ErrNoRows) {
			return s.leaseOver(ctx, q, cluster, id)
		}
		return err
	})
	return l, err
}

func noLease(cluster, id string) error {
	return notFound("the cluster %q has no lease with the id %q, or it ended more than a day ago", cluster, id)
}

// leaseOver returns an error that tells how a lease ended.
func (s *Store) leaseOver(ctx context.Context, q querier, cluster, id string) error {
	number, err := clusterID(ctx, q, cluster)
	if err != nil {
		return err
	}
	var ended *time.Time
	var expires time.Time
	var job *int64
	err = q.QueryRow(ctx, `SELECT a.ended_at, a.expires_at, a.live_job FROM admissions a WHERE a.id = @id AND a.cluster_id = @number`,
		pgx.NamedArgs{"id": id, "number": number}).Scan(&ended, &expires, &job)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return noLease(cluster, id)
	case err != nil:
		return err
	case ended == nil && job != nil:
		return conflict("the lease %s is that of the live job %d and ends with it; kill the job to free its place", id, *job)
	case ended != nil && ended.Before(expires):
		return &overError{fmt.Sprintf("the lease %s was ended at %s; ask for a new place", id, ended.Format(time.RFC3339))}
	}
	return &overError{fmt.Sprintf("the lease %s expired at %s because no heartbeat came, and its place may be another's; ask for a new one", id, expires.Format(time.RFC3339))}
}

// overError reports that a lease is over.
type overError struct{ sentence string }

func (e *overError) Error() string        { return e.sentence }
func (e *overError) Is(target error) bool { return target == live.ErrLeaseOver }

// KeepLease records a heartbeat.
func (s *Store) KeepLease(ctx context.Context, cluster, id string, b live.LeaseBeat) (live.Lease, error) {
	return s.lease(ctx, cluster, id, `
		UPDATE admissions a
		SET ttl_seconds = coalesce(nullif(@ttl::float8, 0), a.ttl_seconds),
		    expires_at = greatest(a.expires_at, clock_timestamp() + make_interval(secs => coalesce(nullif(@ttl::float8, 0), a.ttl_seconds))),
		    maps = least(a.maps, @maps), reduces = least(a.reduces, @reduces)
		WHERE a.id = @id AND a.cluster_id = `+ofCluster+` AND`+running+`
		RETURNING `+leaseColumns, pgx.NamedArgs{"ttl": b.TTLSeconds, "maps": b.Maps, "reduces": b.Reduces})
}

// Lease returns a running lease.
func (s *Store) Lease(ctx context.Context, cluster, id string) (live.Lease, error) {
	return s.lease(ctx, cluster, id, `SELECT `+leaseColumns+` FROM admissions a WHERE a.id = @id AND a.cluster_id = `+ofCluster+` AND`+running, pgx.NamedArgs{})
}

// EndLease frees the place of a job that has ended.
func (s *Store) EndLease(ctx context.Context, cluster, id string) error {
	_, err := s.lease(ctx, cluster, id, `
		UPDATE admissions a SET ended_at = least(clock_timestamp(), a.expires_at)
		WHERE a.id = @id AND a.cluster_id = `+ofCluster+` AND a.ended_at IS NULL AND a.live_job IS NULL
		RETURNING `+leaseColumns, pgx.NamedArgs{})
	if errors.Is(err, live.ErrLeaseOver) {
		return nil
	}
	return err
}

// Leases lists the running ones, the oldest first.
func (s *Store) Leases(ctx context.Context, cluster, class string, page storage.Page) (list storage.Listed[live.Lease], err error) {
	after := uuid.Nil
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if unstorable(class) {
			list.Items = []live.Lease{}
			return nil
		}
		found, err := collect[live.Lease](ctx, q, `
			SELECT `+leaseColumns+` FROM admissions a
			WHERE a.cluster_id = @number AND`+running+`AND (@class = '' OR a.class = @class) AND a.id > @after
			ORDER BY a.id LIMIT @limit`,
			pgx.NamedArgs{"number": number, "class": class, "after": after, "limit": limitOf(page) + 1})
		list = listed(found, page, func(l live.Lease) []any { return []any{l.ID} })
		return err
	})
	return list, err
}

// AdmissionsByClass counts the running ones.
func (s *Store) AdmissionsByClass(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[live.ClassAdmissions], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	type counted struct {
		Class   string
		Running int64
		Next    *time.Time
	}
	var all []live.ClassAdmissions
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		var plan string
		var planNumber int64
		var limit limits
		err = q.QueryRow(ctx, `SELECT p.id, p.number FROM clusters c CROSS JOIN LATERAL (`+admittingPlan+`) p WHERE c.id = @id`, pgx.NamedArgs{"id": number}).Scan(&plan, &planNumber)
		if err == nil {
			limit, err = s.limitsOf(ctx, q, cluster, plan)
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		found, err := collect[counted](ctx, q, `
			SELECT a.class, count(*) AS running, min(a.expires_at) FILTER (WHERE a.live_job IS NULL) AS next FROM admissions a
			WHERE a.cluster_id = @number AND`+running+`GROUP BY a.class`, pgx.NamedArgs{"number": number})
		if err != nil {
			return err
		}
		byClass := make(map[string]live.ClassAdmissions, len(limit.classes))
		for name, most := range limit.classes {
			byClass[name] = live.ClassAdmissions{Class: name, Limit: most, Free: most, PlanNumber: planNumber}
		}
		for _, f := range found {
			most := limit.classes[f.Class]
			byClass[f.Class] = live.ClassAdmissions{Class: f.Class, Running: f.Running, Limit: most, Free: max(0, most-f.Running), PlanNumber: planNumber, NextExpiry: f.Next}
		}
		all = make([]live.ClassAdmissions, 0, len(byClass))
		for name, c := range byClass {
			if name > after {
				all = append(all, c)
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b live.ClassAdmissions) int { return cmp.Compare(a.Class, b.Class) })
	return listed(all, page, func(c live.ClassAdmissions) []any { return []any{c.Class} }), err
}

// keepLeases is the time for which ended leases are stored.
const keepLeases = "24 hours"

// sweepLeases now and then deletes leases that ended a day ago, and waits of jobs that ask no more. Nothing depends on it: places
// are free without it. A lease from the future, or with an impossible end, was given while the clock was wrong. It gets its length
// again from now, so that an active holder keeps it and a lost one does not hold its place until then.
func (s *Store) sweepLeases(ctx context.Context) {
	if _, within := joined(ctx); within || !s.leaseSweep.due() {
		return
	}
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		var b pgx.Batch
		for _, old := range []string{"ended_at", "ended_at IS NULL AND expires_at"} { // the second means places that nobody has asked for
			b.Queue(`
				DELETE FROM admissions WHERE id IN (
				    SELECT id FROM admissions WHERE ` + old + ` < clock_timestamp() - interval '` + keepLeases + `' LIMIT 10000 FOR UPDATE SKIP LOCKED)`)
		}
		b.Queue(`
			UPDATE admissions SET expires_at = clock_timestamp() + make_interval(secs => ttl_seconds)
			WHERE id IN (
			    SELECT id FROM admissions
			    WHERE ended_at IS NULL AND expires_at > clock_timestamp() + make_interval(secs => ttl_seconds) AND expires_at <> `+withTheJob+`
			      AND (admitted_at > clock_timestamp() + interval '`+skew+`' OR expires_at > clock_timestamp() + make_interval(secs => $1) + interval '`+skew+`')
			    LIMIT 10000 FOR UPDATE SKIP LOCKED)`, live.LongestLease)
		b.Queue(`
			DELETE FROM admission_waits WHERE (cluster_id, class, holder) IN (
			    SELECT cluster_id, class, holder FROM admission_waits WHERE until < clock_timestamp() LIMIT 10000 FOR UPDATE SKIP LOCKED)`)
		return q.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		s.leaseSweep.again()
	}
}

// again lets the next caller try what has failed.
func (s *sweeper) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Time{}
}

// due reports, now and then and to one caller, that it is time.
func (s *sweeper) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.last) <= sweepEvery {
		return false
	}
	s.last = time.Now()
	return true
}

// withTheJob is the expiry of live jobs' leases, which really end with their jobs.
const withTheJob = `timestamptz '9999-12-31 00:00:00Z'`

// promise adds the deadline or the live job to a lease that was just admitted, in the caller's transaction.
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

// Promised returns the leases with deadlines that belong to no live job, by id.
func (s *Store) Promised(ctx context.Context, cluster string) (leases []heartbeat.PromisedLease, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		leases, err = collect[heartbeat.PromisedLease](ctx, q, `
			SELECT `+leaseColumns+`, extract(epoch FROM a.deadline_at - clock_timestamp())::float8 AS due_seconds FROM admissions a
			WHERE a.cluster_id = @cluster AND`+running+`AND a.deadline_at IS NOT NULL AND a.live_job IS NULL ORDER BY a.id`, pgx.NamedArgs{"cluster": id})
		return err
	})
	return leases, err
}

// ClassProfiles returns the profiles of those classes that have one.
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

// storable omits names that the database cannot hold.
func storable(names []string) []string {
	kept := make([]string, 0, len(names))
	for _, n := range names {
		if !unstorable(n) {
			kept = append(kept, n)
		}
	}
	return kept
}
