-- +goose Up

-- The driver that alone acts in an engine, for a cluster. It renews its row, by this database's clock; when its time is
-- over another may take its place.
CREATE TABLE drivers (
    cluster_id bigint NOT NULL CONSTRAINT drivers_cluster_fkey REFERENCES clusters,
    engine     text COLLATE "C" NOT NULL,
    holder     text NOT NULL,
    until      timestamptz NOT NULL,
    CONSTRAINT drivers_pkey PRIMARY KEY (cluster_id, engine)
) WITH (fillfactor = 50);
