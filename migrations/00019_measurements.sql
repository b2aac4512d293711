-- +goose Up

-- What was measured of jobs, and what has been fitted to it. No plan depends on either.
CREATE TABLE fit_series (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id   bigint NOT NULL CONSTRAINT fit_series_cluster_fkey REFERENCES clusters,
    job          text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    measurements bigint NOT NULL DEFAULT 0, -- that are kept
    version      bigint NOT NULL DEFAULT 0, -- the latest; 0 is none
    refused      text NOT NULL DEFAULT '',  -- why the measurements of today cannot be fitted
    CONSTRAINT fit_series_job_key UNIQUE (cluster_id, job, kind),
    CONSTRAINT fit_series_kind_check CHECK (kind IN ('power', 'rate', 'task_time', 'usage')),
    CONSTRAINT fit_series_counts_check CHECK (measurements >= 0 AND version >= 0)
);

-- A row never changes. Of a series the latest are kept (see AddMeasurements).
CREATE TABLE measurements (
    id          uuid PRIMARY KEY,
    series_id   bigint NOT NULL CONSTRAINT measurements_series_fkey REFERENCES fit_series ON DELETE CASCADE,
    cluster_id  bigint NOT NULL, -- the series' own, for lists
    at          timestamptz NOT NULL,
    measured_by text NOT NULL,   -- the key's name
    vms         double precision,
    residual    double precision,
    node_type   text COLLATE "C",
    seconds     double precision,
    cpu_percent double precision,
    io_mb_s     double precision,
    CONSTRAINT measurements_vms_check CHECK (vms >= 1 AND vms < 'Infinity'),
    CONSTRAINT measurements_residual_check CHECK (residual BETWEEN 0 AND 1),
    CONSTRAINT measurements_seconds_check CHECK (seconds > 0 AND seconds < 'Infinity'),
    CONSTRAINT measurements_usage_check CHECK (cpu_percent BETWEEN 0 AND 100 AND io_mb_s >= 0 AND io_mb_s < 'Infinity'),
    CONSTRAINT measurements_kind_check CHECK (num_nonnulls(seconds, cpu_percent) = 1 AND num_nonnulls(cpu_percent, io_mb_s) <> 1 AND num_nonnulls(vms, residual, node_type) = 1)
);
CREATE INDEX measurements_newest ON measurements (cluster_id, at DESC, id DESC);
CREATE INDEX measurements_series ON measurements (series_id, at DESC, id DESC);
CREATE TRIGGER append_only BEFORE UPDATE ON measurements EXECUTE FUNCTION refuse_to_rewrite();

-- What the measurements came to whenever that changed. A row never changes; the latest versions are kept.
CREATE TABLE fits (
    series_id    bigint NOT NULL CONSTRAINT fits_series_fkey REFERENCES fit_series ON DELETE CASCADE,
    version      bigint NOT NULL,
    made_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    measurements bigint NOT NULL, -- that it was made of,
    first_at     timestamptz NOT NULL, -- measured from then
    last_at      timestamptz NOT NULL, -- to then
    fit          json NOT NULL, -- of a perf.JobFit the one that it has
    CONSTRAINT fits_pkey PRIMARY KEY (series_id, version),
    CONSTRAINT fits_counts_check CHECK (version >= 1 AND measurements >= 1)
);
CREATE TRIGGER append_only BEFORE UPDATE ON fits EXECUTE FUNCTION refuse_to_rewrite();
