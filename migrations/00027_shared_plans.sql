-- +goose Up

-- A plan whose problem is that of the plan before it, and whose answer is so apart from a few bytes (the time that it
-- took), is stored as a difference: base is the number of the plan whose texts it shares, and its answer is the first
-- head bytes of that one's answer, own, and the last tail bytes. The base of a plan that is a difference itself is its
-- base, so plans of one base follow one another. The numbers of the cluster's plans are given out under the lock on its
-- row, and retention takes the same lock.
ALTER TABLE plans RENAME TO stored_plans;
ALTER TABLE stored_plans
    ALTER COLUMN problem DROP NOT NULL,
    ALTER COLUMN plan DROP NOT NULL,
    ADD COLUMN base bigint,
    ADD COLUMN head integer,
    ADD COLUMN own bytea,
    ADD COLUMN tail integer,
    ADD CONSTRAINT plans_texts_check CHECK (
        num_nonnulls(problem, plan) = 2 AND num_nonnulls(base, head, own, tail) = 0
        OR num_nonnulls(problem, plan) = 0 AND num_nonnulls(base, head, own, tail) = 4) NOT VALID; -- older rows are all whole

-- Whole texts are compressed in a third of the time where the server has lz4; they take as much room.
-- +goose StatementBegin
DO $$ BEGIN
    ALTER TABLE stored_plans ALTER COLUMN problem SET COMPRESSION lz4, ALTER COLUMN plan SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    RAISE NOTICE 'this Postgres has no lz4; plans are compressed by pglz';
END $$;
-- +goose StatementEnd

-- Plans as they read. A server of the previous release reads and writes them here as well.
CREATE VIEW plans AS
SELECT p.id, p.cluster_id, p.number, p.at, p.created_at, p.created_by, p.inputs_version, p.status, p.objective, p.total_cost, p.on_demand_cost,
       p.reserved_cost, p.penalties, p.currency, p.period_seconds, p.vms, p.vms_on_demand, p.vms_reserved, p.admitted, p.refused, p.gap,
       CASE WHEN p.base IS NULL THEN p.problem ELSE (
           SELECT b.problem FROM stored_plans b WHERE b.cluster_id = p.cluster_id AND b.number = p.base) END AS problem,
       CASE WHEN p.base IS NULL THEN p.plan ELSE (
           SELECT convert_from(substring(text FROM 1 FOR p.head) || p.own || substring(text FROM length(text) - p.tail + 1), 'UTF8')::json
           FROM (SELECT convert_to(b.plan::text, 'UTF8') AS text FROM stored_plans b WHERE b.cluster_id = p.cluster_id AND b.number = p.base OFFSET 0) whole) END AS plan,
       p.for_now, p.spot_cost, p.vms_spot, p.why
FROM stored_plans p;
ALTER VIEW plans ALTER COLUMN created_at SET DEFAULT now();
ALTER VIEW plans ALTER COLUMN spot_cost SET DEFAULT 0;
ALTER VIEW plans ALTER COLUMN vms_spot SET DEFAULT 0;

-- How many bytes, of so many at most, two texts have in common at their beginning or at their end.
-- +goose StatementBegin
CREATE FUNCTION common_bytes(a bytea, b bytea, most integer, at_end boolean) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    same integer := 0;
    step integer := 1;
BEGIN
    WHILE step <= most / 2 LOOP
        step := step * 2;
    END LOOP;
    WHILE step > 0 LOOP
        IF same + step <= most
           AND substring(a FROM CASE WHEN at_end THEN length(a) - same - step ELSE same END + 1 FOR step)
             = substring(b FROM CASE WHEN at_end THEN length(b) - same - step ELSE same END + 1 FOR step) THEN
            same := same + step;
        END IF;
        step := step / 2;
    END LOOP;
    RETURN same;
END
$$;

CREATE FUNCTION store_plan() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whole     stored_plans%ROWTYPE;
    stored    stored_plans%ROWTYPE;
    shared    bytea;
    answer    bytea;
    beginning integer;
    ending    integer;
BEGIN
    stored.problem := NEW.problem;
    stored.plan := NEW.plan;
    SELECT b.* INTO whole FROM stored_plans b
    WHERE b.cluster_id = NEW.cluster_id AND b.number = (
        SELECT coalesce(p.base, p.number) FROM stored_plans p
        WHERE p.cluster_id = NEW.cluster_id AND p.number < NEW.number ORDER BY p.number DESC LIMIT 1);
    IF whole.problem::text = NEW.problem::text THEN
        shared := convert_to(whole.plan::text, 'UTF8');
        answer := convert_to(NEW.plan::text, 'UTF8');
        beginning := common_bytes(shared, answer, least(length(shared), length(answer)), false);
        ending := common_bytes(shared, answer, least(length(shared), length(answer)) - beginning, true);
        IF length(answer) - beginning - ending <= 100 THEN
            stored.problem := NULL;
            stored.plan := NULL;
            stored.base := whole.number;
            stored.head := beginning;
            stored.own := substring(answer FROM beginning + 1 FOR length(answer) - beginning - ending);
            stored.tail := ending;
        END IF;
    END IF;
    INSERT INTO stored_plans (id, cluster_id, number, at, created_at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, reserved_cost,
        penalties, currency, period_seconds, vms, vms_on_demand, vms_reserved, admitted, refused, gap, problem, plan, base, head, own, tail, for_now, spot_cost, vms_spot, why)
    VALUES (NEW.id, NEW.cluster_id, NEW.number, NEW.at, NEW.created_at, NEW.created_by, NEW.inputs_version, NEW.status, NEW.objective, NEW.total_cost, NEW.on_demand_cost,
        NEW.reserved_cost, NEW.penalties, NEW.currency, NEW.period_seconds, NEW.vms, NEW.vms_on_demand, NEW.vms_reserved, NEW.admitted, NEW.refused, NEW.gap,
        stored.problem, stored.plan, stored.base, stored.head, stored.own, stored.tail, NEW.for_now, NEW.spot_cost, NEW.vms_spot, NEW.why);
    RETURN NEW;
END
$$;

-- Nothing removes a plan whose texts another one shares, a program of the previous release neither.
CREATE FUNCTION keep_shared_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT p.base FROM stored_plans p WHERE p.cluster_id = OLD.cluster_id AND p.number > OLD.number ORDER BY p.number LIMIT 1) = OLD.number THEN
        RETURN NULL;
    END IF;
    RETURN OLD;
END
$$;

DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'headroom_service') THEN
        GRANT SELECT, INSERT ON plans TO headroom_service;
    END IF;
END $$;
-- +goose StatementEnd
CREATE TRIGGER store_plan INSTEAD OF INSERT ON plans FOR EACH ROW EXECUTE FUNCTION store_plan();
CREATE TRIGGER keep_shared_plan BEFORE DELETE ON stored_plans FOR EACH ROW WHEN (OLD.base IS NULL) EXECUTE FUNCTION keep_shared_plan();
