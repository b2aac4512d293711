-- +goose Up

-- Which plans retention has removed, so that whoever asks for one is told so: their numbers from first to last. Plans
-- are removed by the owner of the tables (headroom prune); the service reads this and cannot write it.
CREATE TABLE removed_plans (
    cluster_id bigint NOT NULL CONSTRAINT removed_plans_cluster_fkey REFERENCES clusters,
    first      bigint NOT NULL,
    last       bigint NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT removed_plans_pkey PRIMARY KEY (cluster_id, first),
    CONSTRAINT removed_plans_numbers_check CHECK (first <= last)
);
