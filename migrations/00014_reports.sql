-- +goose Up

-- Reports that are made by themselves. Like scenarios they are no inputs: no plan depends on one. A row
-- decides what is due; whoever starts its run moves next_at on in the same transaction.
CREATE TABLE report_schedules (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT report_schedules_cluster_fkey REFERENCES clusters,
    name       text COLLATE "C" NOT NULL,
    every      text NOT NULL,
    hour       bigint NOT NULL, -- on the clocks of the cluster's time zone
    covers     text NOT NULL,
    format     text NOT NULL,
    enabled    boolean NOT NULL,
    keep       bigint NOT NULL,
    next_at    timestamptz, -- null of one that is enabled: to be worked out
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT report_schedules_name_key UNIQUE (cluster_id, name),
    CONSTRAINT report_schedules_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT report_schedules_every_check CHECK (every IN ('day', 'week', 'month')),
    CONSTRAINT report_schedules_hour_check CHECK (hour BETWEEN 0 AND 23),
    CONSTRAINT report_schedules_covers_check CHECK (covers IN ('ahead', 'behind')),
    CONSTRAINT report_schedules_format_check CHECK (format IN ('xlsx', 'csv', 'focus', 'json')),
    CONSTRAINT report_schedules_keep_check CHECK (keep BETWEEN 1 AND 1000)
);
CREATE INDEX report_schedules_due ON report_schedules (next_at) WHERE enabled;
CREATE TRIGGER go_on_counting BEFORE INSERT ON report_schedules FOR EACH ROW EXECUTE FUNCTION go_on_counting();
CREATE TRIGGER retire AFTER DELETE ON report_schedules FOR EACH ROW EXECUTE FUNCTION retire();

-- Other clocks, other moments. A server of the previous release may be the one that writes.
-- +goose StatementBegin
CREATE FUNCTION reports_by_other_clocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE report_schedules SET next_at = NULL WHERE cluster_id = NEW.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER reports_by_other_clocks AFTER UPDATE OF time_zone ON clusters
    FOR EACH ROW WHEN (NEW.time_zone <> OLD.time_zone) EXECUTE FUNCTION reports_by_other_clocks();

-- A report that was made has its run's id and outlives it. Its file lies in parts, so that nobody ever
-- holds the whole of it.
CREATE TABLE reports (
    id         uuid PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT reports_cluster_fkey REFERENCES clusters,
    schedule   text COLLATE "C", -- its name, which outlives it; null: somebody asked
    every      text NOT NULL,
    covers     text NOT NULL,
    format     text NOT NULL,
    at         timestamptz NOT NULL,
    begins     timestamptz NOT NULL,
    ends       timestamptz NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    file       text NOT NULL,
    size       bigint NOT NULL,
    sha256     bytea NOT NULL,
    CONSTRAINT reports_size_check CHECK (size BETWEEN 0 AND 67108864),
    CONSTRAINT reports_sha256_check CHECK (octet_length(sha256) = 32)
);
CREATE INDEX reports_cluster ON reports (cluster_id, id);
CREATE TABLE report_parts (
    report_id uuid NOT NULL CONSTRAINT report_parts_report_fkey REFERENCES reports ON DELETE CASCADE,
    part      bigint NOT NULL,
    body      bytea NOT NULL,
    CONSTRAINT report_parts_pkey PRIMARY KEY (report_id, part)
);
ALTER TABLE report_parts ALTER COLUMN body SET STORAGE EXTERNAL; -- spreadsheets are compressed already
CREATE INDEX runs_reports ON runs (cluster_id, id) WHERE kind = 'report';

-- Which plans were current and since when, for reports of the time behind. plan_turns has the same for a
-- day, and is read in full wherever a plan is asked for.
CREATE TABLE plan_reigns (
    cluster_id bigint NOT NULL CONSTRAINT plan_reigns_planning_fkey REFERENCES planning ON DELETE CASCADE,
    since      timestamptz NOT NULL,
    number     bigint NOT NULL,
    CONSTRAINT plan_reigns_pkey PRIMARY KEY (cluster_id, since)
);
INSERT INTO plan_reigns (cluster_id, since, number) SELECT cluster_id, since, number FROM plan_turns;

-- Who writes to plan_turns is the owner (see plan_turned), and so is who runs this.
-- +goose StatementBegin
CREATE FUNCTION plan_reigned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO plan_reigns (cluster_id, since, number) VALUES (NEW.cluster_id, NEW.since, NEW.number);
    DELETE FROM plan_reigns WHERE cluster_id = NEW.cluster_id AND since < (
        SELECT max(since) FROM plan_reigns WHERE cluster_id = NEW.cluster_id AND since < clock_timestamp() - interval '100 days');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER plan_reigned AFTER INSERT ON plan_turns FOR EACH ROW EXECUTE FUNCTION plan_reigned();
