-- +goose Up

-- Packings that somebody keeps, each with the exact batch that it answers. Like scenarios they are no inputs: no
-- plan depends on one. A row never changes.
CREATE TABLE packings (
    id            uuid PRIMARY KEY,
    cluster_id    bigint NOT NULL CONSTRAINT packings_cluster_fkey REFERENCES clusters,
    created_at    timestamptz NOT NULL DEFAULT now(),
    created_by    text NOT NULL, -- the key's name
    algorithm     text NOT NULL,
    status        text NOT NULL,
    machines      bigint NOT NULL,
    vms           bigint NOT NULL,
    jobs          bigint NOT NULL,
    busy_s        double precision NOT NULL,
    end_s         double precision NOT NULL,
    sequential_s  double precision NOT NULL,
    lower_bound_s double precision NOT NULL,
    missed        bigint NOT NULL, -- jobs that end after their deadline
    batch         json NOT NULL,
    packing       json NOT NULL,
    CONSTRAINT packings_seconds_check CHECK (0 <= lower_bound_s AND lower_bound_s <= busy_s AND busy_s <= end_s AND end_s < 'infinity'),
    CONSTRAINT packings_counts_check CHECK (machines >= 1 AND vms >= machines AND jobs >= 1 AND missed BETWEEN 0 AND jobs)
);
CREATE INDEX packings_cluster ON packings (cluster_id, id);
CREATE TRIGGER append_only BEFORE UPDATE ON packings EXECUTE FUNCTION refuse_to_rewrite();
