-- +goose Up

-- A lease may promise a deadline; then its tasks that are not done count against other promises. A lease
-- of a live job ends with the job alone: it expires at the end of the year 9999.
ALTER TABLE admissions
    ADD COLUMN deadline_at timestamptz,
    ADD COLUMN maps bigint NOT NULL DEFAULT 0,
    ADD COLUMN reduces bigint NOT NULL DEFAULT 0,
    ADD COLUMN live_job bigint;
CREATE INDEX admissions_promised ON admissions (cluster_id) WHERE ended_at IS NULL AND deadline_at IS NOT NULL;
CREATE INDEX admissions_live_job ON admissions (cluster_id, live_job) WHERE ended_at IS NULL AND live_job IS NOT NULL;
