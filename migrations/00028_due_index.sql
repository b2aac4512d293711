-- +goose Up

-- The order in which clusters are planned, so that the first that is due is found without a look at all others. Claims
-- change none of it.
CREATE INDEX planning_order ON planning (coalesce(changing_since, wake_at), cluster_id);
