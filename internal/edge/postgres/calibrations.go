package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
)

// measurable matches executions e that can calibrate a class.
const measurable = `e.sample IS NOT NULL AND e.form = @form AND e.seconds > 0 AND e.submitted_at IS NOT NULL`

// Measurements returns the latest executions of a job.
func (s *Store) Measurements(ctx context.Context, cluster string, of clusters.MeasuredFilter) (m clusters.Measurements, err error) {
	err = s.readAll(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(of.Job) {
			return err
		}
		if m.Executions, err = measured(ctx, q, id, of); err != nil {
			return fmt.Errorf("read what executions of cluster %s took: %w", cluster, err)
		}
		args := executionFilter(id, clusters.ExecutionFilter{Job: of.Job, From: of.From, Until: of.Until})
		args["form"] = of.Form
		return q.QueryRow(ctx, `
			SELECT count(*) FROM executions e
			WHERE e.cluster_id = @cluster AND e.job = @job AND (`+measurable+`) IS NOT TRUE
			      AND (@from::timestamptz IS NULL OR e.submitted_at >= @from OR e.submitted_at IS NULL) AND (@until::timestamptz IS NULL OR e.submitted_at < @until OR e.submitted_at IS NULL)`, args).Scan(&m.Unfit)
	})
	return m, err
}

func measured(ctx context.Context, q querier, cluster int64, of clusters.MeasuredFilter) ([]perf.Measured, error) {
	type row struct {
		ID                    string
		At                    time.Time
		Seconds               float64
		MapSlots, ReduceSlots int64
		IdleSeconds           *float64
	}
	args := executionFilter(cluster, clusters.ExecutionFilter{Job: of.Job, From: of.From, Until: of.Until})
	args["form"], args["most"] = of.Form, perf.MaxCalibrated
	// A sample's overhead is the time in which nothing ran.
	rows, err := collect[row](ctx, q, `
		SELECT e.execution AS id, e.submitted_at AS at, e.seconds, coalesce(e.map_slots, 0) AS map_slots, coalesce(e.reduce_slots, 0) AS reduce_slots,
		       coalesce(e.sample -> 'profile' ->> 'overhead_s', e.sample ->> 'overhead_s')::float8 AS idle_seconds
		FROM executions e WHERE `+filteredExecutions+` AND `+measurable+`
		ORDER BY `+undatedAt+` DESC, e.id DESC LIMIT @most`, args)
	all := make([]perf.Measured, len(rows))
	for i, r := range rows {
		all[i] = perf.Measured{ID: r.ID, At: r.At, Seconds: r.Seconds, MapSlots: r.MapSlots, ReduceSlots: r.ReduceSlots, IdleSeconds: r.IdleSeconds}
	}
	return all, err
}

// adopted joins the calibrations a of classes k that still have the adopted figures.
const adopted = `
	class_calibrations a JOIN classes k ON k.id = a.class_id AND k.calibration_bound = a.bound AND k.calibration_factor = a.factor
	                                   AND k.profile = a.profile AND k.profile_version = a.profile_version`

type adoptionRow struct {
	ClassID        int64
	Profile        string
	ProfileVersion int64
	Job            string
	Basis          perf.Basis
	AdoptedAt      time.Time
	AdoptedBy      string
	Drift          perf.Drift
}

const adoptionColumns = `a.class_id, a.profile, a.profile_version, a.job, a.basis, a.adopted_at, a.adopted_by, a.drift`

func (r adoptionRow) adoption() clusters.Adoption {
	return clusters.Adoption{Basis: r.Basis, Job: r.Job, Profile: inputs.ProfileRef{Name: r.Profile, Version: r.ProfileVersion},
		AdoptedAt: r.AdoptedAt, AdoptedBy: r.AdoptedBy, Drift: r.Drift}
}

// Adoption returns the data behind a class's calibration.
func (s *Store) Adoption(ctx context.Context, cluster, class string) (a *clusters.Adoption, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(class) {
			return err
		}
		row, err := one[adoptionRow](ctx, q, `SELECT `+adoptionColumns+` FROM `+adopted+` WHERE k.cluster_id = @cluster AND k.name = @class`, pgx.NamedArgs{"cluster": id, "class": class})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("read what class %s of cluster %s was calibrated with: %w", class, cluster, err)
		}
		a = new(row.adoption())
		return nil
	})
	return a, err
}

// AdoptCalibration changes a class's calibration and stores the data behind it.
func (s *Store) AdoptCalibration(ctx context.Context, cluster, class string, version int64, a clusters.Adoption) (changed inputs.PlannedClass, err error) {
	in := inputStore[inputs.PlannedClass]{s, &classes}
	basis, err := jsonText(a.Basis)
	if err != nil {
		return changed, err
	}
	drift, err := jsonText(perf.Drift{State: perf.Unchanged})
	if err != nil {
		return changed, err
	}
	return changed, in.change(ctx, cluster, func(ctx context.Context, q querier, id int64) (e entry, err error) {
		before, err := in.versioned(ctx, q, id, cluster, class, version)
		if err != nil {
			return e, err
		}
		changed = before
		changed.Calibration = &capacity.Calibration{Bound: a.Bound, Factor: a.Factor}
		if err := in.k.exec(ctx, q, in.k.update, id, changed, pgx.NamedArgs{"name": class}); err != nil {
			return e, at(cluster, changed, err)
		}
		_, err = q.Exec(ctx, `
			INSERT INTO class_calibrations (class_id, profile, profile_version, bound, factor, job, basis, adopted_by, drift)
			SELECT k.id, @profile, @profile_version, @bound, @factor, @job, @basis::jsonb, @by, @drift::jsonb FROM classes k WHERE k.cluster_id = @cluster AND k.name = @name
			ON CONFLICT (class_id) DO UPDATE SET profile = excluded.profile, profile_version = excluded.profile_version, bound = excluded.bound, factor = excluded.factor,
			    job = excluded.job, basis = excluded.basis, adopted_at = excluded.adopted_at, adopted_by = excluded.adopted_by, drift = excluded.drift, judged_at = excluded.judged_at`,
			pgx.NamedArgs{"cluster": id, "name": class, "profile": a.Profile.Name, "profile_version": a.Profile.Version, "bound": a.Bound, "factor": a.Factor,
				"job": a.Job, "basis": basis, "by": auth.From(ctx).Name, "drift": drift})
		if err != nil {
			return e, err
		}
		if changed, err = in.k.get(ctx, q, id, cluster, class); err != nil {
			return e, err
		}
		return entry{Action: inputs.Update, Name: class, Before: before, After: changed}, calibrationsChanged(ctx, q, cluster)
	})
}

// calibrationsChanged notifies all listeners, after the commit, that the drift of a cluster's class changed.
func calibrationsChanged(ctx context.Context, q querier, cluster string) error {
	_, err := q.Exec(ctx, `SELECT pg_notify(@channel, @cluster)`, pgx.NamedArgs{"channel": clusters.CalibrationChannel, "cluster": cluster})
	return err
}

// JudgeDrifts judges again how well executions fit, one class at a time. Each class is locked before its executions
// are read, so that the later of two judges has seen them all.
func (s *Store) JudgeDrifts(ctx context.Context, cluster string, jobs []string, judge func(clusters.Adoption, capacity.Profile, []perf.Measured) perf.Drift) error {
	var concerned []int64
	var id int64
	err := s.read(ctx, func(ctx context.Context, q querier) (err error) {
		if id, err = clusterID(ctx, q, cluster); err != nil {
			return err
		}
		rows, err := q.Query(ctx, `SELECT a.class_id FROM `+adopted+` WHERE k.cluster_id = @cluster AND a.job = ANY(@jobs) ORDER BY k.name`, pgx.NamedArgs{"cluster": id, "jobs": jobs})
		if err == nil {
			concerned, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		}
		return err
	})
	for i := 0; i < len(concerned) && err == nil; i++ {
		err = s.write(ctx, func(ctx context.Context, q querier) error {
			return s.judgeDrift(ctx, q, id, cluster, concerned[i], judge)
		})
	}
	if err != nil {
		return fmt.Errorf("judge the drift of classes of cluster %s: %w", cluster, err)
	}
	return nil
}

func (s *Store) judgeDrift(ctx context.Context, q querier, id int64, cluster string, class int64, judge func(clusters.Adoption, capacity.Profile, []perf.Measured) perf.Drift) error {
	row, err := one[adoptionRow](ctx, q, `SELECT `+adoptionColumns+` FROM `+adopted+` WHERE a.class_id = @class FOR UPDATE OF a`, pgx.NamedArgs{"class": class})
	if errors.Is(err, pgx.ErrNoRows) { // meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	of, err := profile(ctx, q, id, cluster, row.Profile, row.ProfileVersion)
	if err != nil {
		return err
	}
	since := row.Basis.Until.Add(time.Microsecond) // the grain of times here
	later, err := measured(ctx, q, id, clusters.MeasuredFilter{Job: row.Job, Form: clusters.FormOf(of.Profile), From: since})
	if err != nil {
		return err
	}
	drift := judge(row.adoption(), of.Profile, later)
	text, err := json.Marshal(drift)
	if err != nil {
		return err
	}
	done, err := q.Exec(ctx, `UPDATE class_calibrations SET drift = @drift::text::jsonb, judged_at = clock_timestamp() WHERE class_id = @class AND drift <> @drift::text::jsonb`,
		pgx.NamedArgs{"class": class, "drift": string(text)})
	if err != nil || done.RowsAffected() == 0 {
		return err
	}
	return calibrationsChanged(ctx, q, cluster)
}

// ClassDrifts returns the drift of classes from their calibrations.
func (s *Store) ClassDrifts(ctx context.Context, cluster string) (all []clusters.ClassDrift, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		all, err = collect[clusters.ClassDrift](ctx, q, `
			SELECT c.name AS cluster, k.name AS class, a.drift FROM `+adopted+` JOIN clusters c ON c.id = k.cluster_id
			WHERE c.deleted_at IS NULL AND (@cluster = '' OR c.name = @cluster) ORDER BY c.name, k.name`, pgx.NamedArgs{"cluster": cluster})
		if err != nil {
			return fmt.Errorf("read the drift of classes: %w", err)
		}
		return nil
	})
	return all, err
}

// SavePromises stores promises by class. Classes that are gone, or have no target any more, are passed over.
func (s *Store) SavePromises(ctx context.Context, cluster string, promises map[string]capacity.Promise) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		saved := false
		for _, name := range slices.Sorted(maps.Keys(promises)) {
			before, err := classes.get(ctx, q, id, cluster, name)
			if errors.Is(err, fault.NotFound) || err == nil && before.Target == 0 {
				continue
			}
			if err != nil {
				return err
			}
			after := before
			after.Promise = new(promises[name])
			if err := classes.exec(ctx, q, classes.update, id, after, pgx.NamedArgs{"name": name}); err != nil {
				return at(cluster, after, err)
			}
			if after, err = classes.get(ctx, q, id, cluster, name); err != nil {
				return err
			}
			if err := record(ctx, q, entry{Cluster: cluster, Action: inputs.Update, Kind: inputs.ClassKind, Name: name, Before: before, After: after}); err != nil {
				return err
			}
			saved = true
		}
		if !saved { // nothing to plan anew for
			return nil
		}
		return bump(ctx, q, id)
	})
}
