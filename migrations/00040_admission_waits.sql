-- +goose Up

-- Jobs of classes that may wait which asked for a place and found none. A row stays until its holder has a lease, and counts
-- until a moment by which the job should have asked again. Its arrival stays, and with it the time by which it is due.
CREATE TABLE admission_waits (
    cluster_id bigint NOT NULL CONSTRAINT admission_waits_cluster_fkey REFERENCES clusters,
    class      text COLLATE "C" NOT NULL,
    holder     text NOT NULL,
    arrived_at timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    CONSTRAINT admission_waits_pkey PRIMARY KEY (cluster_id, class, holder)
) WITH (fillfactor = 50);

-- +goose StatementBegin
CREATE FUNCTION end_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM admission_waits w WHERE w.cluster_id = NEW.cluster_id AND w.class = NEW.class AND w.holder = NEW.holder;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER admissions_end_wait AFTER INSERT ON admissions FOR EACH ROW EXECUTE FUNCTION end_wait();

-- The leases of some hours, of one cluster.
CREATE INDEX admissions_admitted ON admissions (cluster_id, admitted_at);
