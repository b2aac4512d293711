-- +goose Up

-- A lease is a place for one job of a class, by the class's name in plans: a class may be deleted, or
-- replaced by another of the same name, while its jobs run. A row holds its place until ended_at is
-- set. Expiry alone frees nothing by itself: who asks next ends what has expired, and only then counts.
CREATE TABLE admissions (
    id          uuid PRIMARY KEY,
    cluster_id  bigint NOT NULL CONSTRAINT admissions_cluster_fkey REFERENCES clusters,
    class       text COLLATE "C" NOT NULL,
    place       bigint NOT NULL,      -- the lowest that was free, so never above the limit it was admitted under
    holder      text NOT NULL,        -- the job's own id
    admitted_by text NOT NULL,        -- the key's name
    plan_number bigint NOT NULL,      -- the plan that it was admitted under
    ttl_seconds double precision NOT NULL,
    admitted_at timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL, -- in no index, so that heartbeats rewrite none
    ended_at    timestamptz,
    CONSTRAINT admissions_place_check CHECK (place >= 1),
    CONSTRAINT admissions_ttl_check CHECK (ttl_seconds > 0 AND ttl_seconds < 'Infinity')
) WITH (fillfactor = 70);
-- Nobody shares a place, whatever else goes wrong.
CREATE UNIQUE INDEX admissions_place_key ON admissions (cluster_id, class, place) WHERE ended_at IS NULL;
CREATE INDEX admissions_ended ON admissions (ended_at) WHERE ended_at IS NOT NULL;

-- admit gives a place of a class to a job, unless as many run as may: then expires_at is null, and
-- next_free is when a place is free at the latest unless somebody's heartbeat keeps it (null where none
-- ever is under this limit). Where it is not wanted it does nothing and says nothing: a condition of the
-- statement around it might be looked at too late. It is one round trip, and most refusals lock nothing.
--
-- Why never more than the limit: all who admit hold the lock of the class until their commit, and each
-- statement below sees what was committed before it began. What has expired is ended before anything
-- is counted, which waits for heartbeats in flight: a row that is then still open counts, expired or
-- not. A heartbeat finds a row that is open and not expired, or nothing; so no lease that was not
-- counted can come back.
-- +goose StatementBegin
CREATE FUNCTION admit(wanted boolean, of_cluster bigint, of_class text, most bigint, new_id uuid, new_holder text, by_key text, under_plan bigint, ttl double precision)
RETURNS TABLE (running bigint, admitted_at timestamptz, expires_at timestamptz, next_free double precision)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    n    bigint;
    free bigint;
    t    timestamptz;
BEGIN
    IF wanted IS NOT TRUE THEN
        RETURN;
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'admit counts what others have committed meanwhile, which needs read committed';
    END IF;
    SELECT count(*) INTO n FROM admissions a
    WHERE a.cluster_id = of_cluster AND a.class = of_class AND a.ended_at IS NULL AND a.expires_at > clock_timestamp();
    IF n < most THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(of_class, of_cluster));
        UPDATE admissions a SET ended_at = a.expires_at
        WHERE a.cluster_id = of_cluster AND a.class = of_class AND a.ended_at IS NULL AND a.expires_at <= clock_timestamp();
        SELECT count(*) INTO n FROM admissions a WHERE a.cluster_id = of_cluster AND a.class = of_class AND a.ended_at IS NULL;
        IF n < most THEN
            SELECT min(s) INTO free FROM generate_series(1, n + 1) s
            WHERE NOT EXISTS (SELECT FROM admissions a WHERE a.cluster_id = of_cluster AND a.class = of_class AND a.ended_at IS NULL AND a.place = s);
            t := clock_timestamp();
            INSERT INTO admissions (id, cluster_id, class, place, holder, admitted_by, plan_number, ttl_seconds, admitted_at, expires_at)
            VALUES (new_id, of_cluster, of_class, free, new_holder, by_key, under_plan, ttl, t, t + make_interval(secs => ttl));
            RETURN QUERY SELECT n + 1, t, t + make_interval(secs => ttl), NULL::double precision;
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT n, NULL::timestamptz, NULL::timestamptz, (
        SELECT extract(epoch FROM a.expires_at - clock_timestamp())::double precision FROM admissions a
        WHERE most > 0 AND a.cluster_id = of_cluster AND a.class = of_class AND a.ended_at IS NULL
        ORDER BY a.expires_at OFFSET greatest(n - most, 0) LIMIT 1);
END
$$;
-- +goose StatementEnd
