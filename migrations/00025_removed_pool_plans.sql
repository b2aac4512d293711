-- +goose Up

-- Which plans of pools retention has removed, as removed_plans has those of clusters.
CREATE TABLE removed_pool_plans (
    cluster_id bigint NOT NULL CONSTRAINT removed_pool_plans_cluster_fkey REFERENCES clusters,
    first      bigint NOT NULL,
    last       bigint NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT removed_pool_plans_pkey PRIMARY KEY (cluster_id, first),
    CONSTRAINT removed_pool_plans_numbers_check CHECK (first <= last)
);
