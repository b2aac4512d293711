-- +goose Up

-- The schedule that the plans of a cluster follow whose executions may wait: question and answer as JSON, or why there is none.
CREATE TABLE cluster_schedules (
    cluster_id     bigint PRIMARY KEY REFERENCES clusters (id) ON DELETE CASCADE,
    hour           timestamptz NOT NULL,
    inputs_version bigint NOT NULL,
    followed       bytea,
    without        text NOT NULL DEFAULT ''
);
