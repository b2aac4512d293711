-- +goose Up

-- Jobs of classes that may wait which asked for a place and found none. A job counts until a lease of its holder is given, and
-- no longer than until a moment by which it should have asked again. Its arrival stays, and with it the time by which it is due.
CREATE TABLE admission_waits (
    cluster_id bigint NOT NULL CONSTRAINT admission_waits_cluster_fkey REFERENCES clusters,
    class      text COLLATE "C" NOT NULL,
    holder     text NOT NULL,
    arrived_at timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    CONSTRAINT admission_waits_pkey PRIMARY KEY (cluster_id, class, holder)
) WITH (fillfactor = 50);

-- The leases of a day, of one cluster.
CREATE INDEX admissions_admitted ON admissions (cluster_id, admitted_at);
