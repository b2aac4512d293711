-- +goose Up

-- The VMs of each kind and type of what was current, so that a decrease of each is held back, not only of the total.
ALTER TABLE plan_turns ADD COLUMN kinds jsonb; -- null where the plan was removed before this step

-- The VMs of a plan by type, or null where its text holds characters that Postgres cannot read.
-- +goose StatementBegin
CREATE FUNCTION types_of(plan json) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (plan -> 'vms' -> 'types')::jsonb;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION plan_turned() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO plan_turns (cluster_id, since, number, vms, kinds)
    SELECT p.cluster_id, greatest(clock_timestamp(), (SELECT max(since) + interval '1 microsecond' FROM plan_turns WHERE cluster_id = NEW.cluster_id)), p.number, p.vms,
           jsonb_build_object('reserved', p.vms_reserved, 'spot', p.vms_spot, 'types', types_of(p.plan))
    FROM plans p WHERE p.cluster_id = NEW.cluster_id AND p.number = NEW.current_number;
    DELETE FROM plan_turns WHERE cluster_id = NEW.cluster_id AND since < (
        SELECT max(since) FROM plan_turns WHERE cluster_id = NEW.cluster_id AND since < clock_timestamp() - interval '25 hours');
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Tables in pg_temp come last for it, as for all functions that run as the owner.
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION plan_turned() SET search_path = %I, pg_temp', current_schema());
END
$$;
-- +goose StatementEnd

UPDATE plan_turns t SET kinds = jsonb_build_object('reserved', p.vms_reserved, 'spot', p.vms_spot, 'types', types_of(p.plan))
FROM plans p WHERE p.cluster_id = t.cluster_id AND p.number = t.number;
