-- +goose Up

-- The plans of a cluster by their moment, so that the overview finds what held on each of the last days without a look at
-- all plans in between.
CREATE INDEX plans_moment ON stored_plans (cluster_id, created_at, number); -- ascending, as they come: full pages
