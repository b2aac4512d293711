-- +goose Up

-- Past executions of jobs, as the clusters' own records tell of them: what profiles, forecasts and
-- calibrations are made of. Like observations they are no inputs: no plan depends on one. A row is replaced
-- only by one that knows more of the same execution (see PutExecutions).
CREATE TABLE executions (
    id           uuid PRIMARY KEY,
    cluster_id   bigint NOT NULL CONSTRAINT executions_cluster_fkey REFERENCES clusters,
    job          text COLLATE "C" NOT NULL, -- as it was recorded
    execution    text COLLATE "C" NOT NULL, -- the record's own id
    run_as       text COLLATE "C" NOT NULL, -- the user
    queue        text COLLATE "C" NOT NULL,
    submitted_at timestamptz,               -- these three are null where they are not on record
    finished_at  timestamptz,
    seconds      double precision,
    outcome      text NOT NULL,
    form         text NOT NULL,
    map_slots    bigint,                    -- the most attempts at once; of stages all together
    reduce_slots bigint,
    sample       jsonb,                     -- a sample or a chain; null where it is refused
    refused      text NOT NULL,             -- why; '' where it is not
    imported_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    imported_by  text NOT NULL,             -- the key's name
    run_id       uuid,                      -- null where it was sent
    CONSTRAINT executions_execution_key UNIQUE (cluster_id, execution),
    CONSTRAINT executions_outcome_check CHECK (outcome IN ('succeeded', 'failed', 'killed', 'unfinished')),
    CONSTRAINT executions_form_check CHECK (form IN ('map_reduce', 'stages')),
    CONSTRAINT executions_times_check CHECK (finished_at >= submitted_at),
    CONSTRAINT executions_seconds_check CHECK (seconds >= 0 AND seconds < 'Infinity'),
    CONSTRAINT executions_sample_check CHECK ((sample IS NULL) = (refused <> ''))
);
-- Those that are not dated come last: they stand at 1970.
CREATE INDEX executions_newest ON executions (cluster_id, coalesce(submitted_at, '1970-01-01 00:00:00+00') DESC, id DESC);
CREATE INDEX executions_job ON executions (cluster_id, job, coalesce(submitted_at, '1970-01-01 00:00:00+00') DESC, id DESC);
