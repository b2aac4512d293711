-- +goose Up

-- What really ran, as somebody who knows has said, judged against the plan that was current then. A row
-- never changes; after 90 days it is forgotten (see SaveObservation).
CREATE TABLE observations (
    id           uuid PRIMARY KEY,
    cluster_id   bigint NOT NULL CONSTRAINT observations_cluster_fkey REFERENCES clusters,
    at           timestamptz NOT NULL,
    observed_by  text NOT NULL,    -- the key's name
    vms          bigint NOT NULL,
    slots_map    bigint,           -- busy ones; null where they were not counted
    slots_reduce bigint,
    utilization  double precision, -- null where it cannot be told
    plan_number  bigint,           -- null where there was no plan, as the next two
    planned_vms  double precision,
    plan_stale   boolean,          -- null also where that was too long ago to be known
    CONSTRAINT observations_vms_check CHECK (vms >= 0),
    CONSTRAINT observations_slots_check CHECK (slots_map >= 0 AND slots_reduce >= 0 AND num_nonnulls(slots_map, slots_reduce) <> 1),
    CONSTRAINT observations_plan_check CHECK (num_nonnulls(plan_number, planned_vms) <> 1),
    CONSTRAINT observations_utilization_check CHECK (utilization >= 0 AND utilization < 'Infinity')
);
CREATE INDEX observations_newest ON observations (cluster_id, at DESC, id DESC);
CREATE INDEX observations_at ON observations (at);
