-- +goose Up

-- What the calibrations of classes were made of, and how the executions since then fit them. A row holds as
-- long as its class has the same bound, factor and profile version; what people write themselves has none.
-- Nothing here is an input of plans.
CREATE TABLE class_calibrations (
    class_id        bigint PRIMARY KEY CONSTRAINT class_calibrations_class_fkey REFERENCES classes ON DELETE CASCADE,
    profile         text COLLATE "C" NOT NULL,
    profile_version bigint NOT NULL,
    bound           text NOT NULL,
    factor          double precision NOT NULL,
    job             text COLLATE "C" NOT NULL, -- whose executions it was made of
    basis           jsonb NOT NULL,            -- a perf.Basis
    adopted_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    adopted_by      text NOT NULL,             -- the key's name
    drift           jsonb NOT NULL,            -- a capacity.Drift
    judged_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
