-- +goose Up

-- What each cluster keeps in each table, as it was measured last: rows, and bytes of their values as they are stored.
CREATE TABLE kept (
    cluster_id bigint NOT NULL CONSTRAINT kept_cluster_fkey REFERENCES clusters,
    stored     text COLLATE "C" NOT NULL, -- the table
    rows       bigint NOT NULL,
    bytes      bigint NOT NULL,
    CONSTRAINT kept_pkey PRIMARY KEY (cluster_id, stored)
) WITH (fillfactor = 50);

-- When clusters were measured. A server that begins says so here first, so that only one does.
CREATE TABLE kept_measured (
    one   boolean NOT NULL DEFAULT true CONSTRAINT kept_measured_pkey PRIMARY KEY CONSTRAINT kept_measured_one_check CHECK (one),
    began timestamptz NOT NULL DEFAULT '-infinity',
    ended timestamptz NOT NULL DEFAULT '-infinity',
    took  interval NOT NULL DEFAULT '0'
) WITH (fillfactor = 50);
INSERT INTO kept_measured DEFAULT VALUES;
