-- +goose Up

-- A run is background work of ours. Its row says what became of it; River's rows only say that some
-- server should look at it, and may be lost, doubled or late without harm. While a server works on a
-- run it holds the token, and renews the lease: a run whose lease has passed is anybody's again.
CREATE TABLE runs (
    id                  uuid PRIMARY KEY, -- of version 7, so that its order is that of the creation
    kind                text NOT NULL,
    cluster_id          bigint CONSTRAINT runs_cluster_fkey REFERENCES clusters,
    cluster             text COLLATE "C", -- its name
    role                text NOT NULL,    -- that starting, ending and repeating it needs
    key_id              text NOT NULL,
    created_by          text NOT NULL,    -- the key's name
    state               text NOT NULL DEFAULT 'queued',
    attempt             bigint NOT NULL DEFAULT 0,
    most_attempts       bigint NOT NULL DEFAULT 1, -- as the server that last began it has it
    done                bigint NOT NULL DEFAULT 0,
    total               bigint NOT NULL DEFAULT 0, -- 0 is not known
    unit                text NOT NULL DEFAULT '',
    input               json NOT NULL,
    result_type         text,
    result              bytea,
    partial             boolean NOT NULL DEFAULT false, -- the result is what a run had that did not succeed
    error               json,
    token               uuid,
    lease_until         timestamptz,
    cancel_requested_at timestamptz,
    due_at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    work_id             bigint NOT NULL, -- River's row that was made last
    previous_seconds    double precision, -- how long the last one of the kind took in the cluster
    created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at          timestamptz,      -- the last attempt
    finished_at         timestamptz,
    version             bigint NOT NULL DEFAULT 1,
    CONSTRAINT runs_state_check CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    CONSTRAINT runs_holder_check CHECK ((state = 'running') = (token IS NOT NULL) AND (token IS NULL) = (lease_until IS NULL)),
    CONSTRAINT runs_finished_check CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CONSTRAINT runs_result_check CHECK ((result IS NULL) = (result_type IS NULL) AND (result IS NULL OR finished_at IS NOT NULL)),
    CONSTRAINT runs_error_check CHECK (state <> 'failed' OR error IS NOT NULL),
    CONSTRAINT runs_progress_check CHECK (done >= 0 AND total >= 0)
);
CREATE INDEX runs_open ON runs (key_id) WHERE state IN ('queued', 'running');
CREATE INDEX runs_cluster ON runs (cluster, id);
CREATE INDEX runs_previous ON runs (cluster_id, kind, finished_at) WHERE state = 'succeeded';
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at IS NOT NULL;
