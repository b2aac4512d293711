-- +goose Up

-- Which plans were current and since when, for a little longer than a decrease can be held back. It is
-- written with the change itself, by a server of the previous release as well, so that whoever reads a
-- cluster's current plan knows what came before it: one that was just started, and one that did not
-- hear of the change yet.
CREATE TABLE plan_turns (
    cluster_id bigint NOT NULL CONSTRAINT plan_turns_planning_fkey REFERENCES planning ON DELETE CASCADE,
    since      timestamptz NOT NULL,
    number     bigint NOT NULL,
    vms        double precision NOT NULL, -- of the plan, which retention may have removed
    CONSTRAINT plan_turns_pkey PRIMARY KEY (cluster_id, since)
);

-- The function runs as the owner, so that nobody else needs rights to write here. No turn begins before
-- the last one, whatever becomes of the clock.
-- +goose StatementBegin
CREATE FUNCTION plan_turned() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO plan_turns (cluster_id, since, number, vms)
    SELECT p.cluster_id, greatest(clock_timestamp(), (SELECT max(since) + interval '1 microsecond' FROM plan_turns WHERE cluster_id = NEW.cluster_id)), p.number, p.vms
    FROM plans p WHERE p.cluster_id = NEW.cluster_id AND p.number = NEW.current_number;
    DELETE FROM plan_turns WHERE cluster_id = NEW.cluster_id AND since < (
        SELECT max(since) FROM plan_turns WHERE cluster_id = NEW.cluster_id AND since < clock_timestamp() - interval '25 hours');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER plan_turned AFTER UPDATE OF current_number ON planning
    FOR EACH ROW WHEN (NEW.current_number IS DISTINCT FROM OLD.current_number) EXECUTE FUNCTION plan_turned();

-- Whether a plan was made for the moment of its making, and so could become current. Null is not said:
-- of plans that are older than this column or come from the previous release.
ALTER TABLE plans ADD COLUMN for_now boolean;

-- What was current lately, as far as it can be told: pins of the past are not on record.
INSERT INTO plan_turns (cluster_id, since, number, vms)
SELECT g.cluster_id, p.created_at, p.number, p.vms
FROM planning g JOIN plans p ON p.cluster_id = g.cluster_id AND p.number <= g.current_number
WHERE p.number = g.current_number
   OR p.created_at > now() - interval '2 days' AND p.created_at - p.at > interval '-1 second' AND p.created_at - p.at < interval '5 minutes'
ON CONFLICT DO NOTHING;
