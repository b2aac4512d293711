-- +goose Up

-- Several VM types of a cluster may be in use at once. A server of the previous release plans with the
-- first of them alone.
DROP INDEX vm_types_in_use_key;

-- spot_max_share is the most of a type's VMs that may be spot VMs; null where none may.
ALTER TABLE vm_types ADD COLUMN spot_max_share double precision
    CONSTRAINT vm_types_spot_check CHECK (spot_max_share >= 0 AND spot_max_share <= 1);

-- A spot price names its type in a column of its own, so that a server of the previous release, which
-- knows on-demand prices alone, does not take it for one.
ALTER TABLE prices
    ALTER COLUMN vm_type_id DROP NOT NULL,
    ADD COLUMN spot_vm_type_id bigint CONSTRAINT prices_spot_vm_type_fkey REFERENCES vm_types,
    ADD CONSTRAINT prices_purchase_check CHECK (num_nonnulls(vm_type_id, spot_vm_type_id) = 1),
    DROP CONSTRAINT prices_no_overlap,
    ADD CONSTRAINT prices_no_overlap EXCLUDE USING gist (int8range(vm_type_id, vm_type_id, '[]') WITH &&, during WITH &&) WHERE (vm_type_id IS NOT NULL),
    ADD CONSTRAINT prices_no_spot_overlap EXCLUDE USING gist (int8range(spot_vm_type_id, spot_vm_type_id, '[]') WITH &&, during WITH &&) WHERE (spot_vm_type_id IS NOT NULL);

ALTER TABLE clusters ADD COLUMN budget json
    CONSTRAINT clusters_budget_check CHECK (json_typeof(budget) = 'object'
        AND coalesce((budget->>'vm_cost')::numeric, 0) >= 0 AND coalesce((budget->>'vm_cost')::numeric, 0) < 'Infinity'
        AND coalesce((budget->>'total')::numeric, 0) >= 0 AND coalesce((budget->>'total')::numeric, 0) < 'Infinity');

-- What a class says about single VM types, by their names. slots_map and slots_reduce are then those of
-- the first of them, for a server of the previous release.
ALTER TABLE classes
    ADD COLUMN slots_by_type jsonb CONSTRAINT classes_slots_by_type_check CHECK (jsonb_typeof(slots_by_type) = 'object' AND slots_by_type <> '{}'
        AND NOT slots_by_type @? 'strict $.* ? (!(@.map >= 1 && @.map <= 1000 && @.reduce >= 1 && @.reduce <= 1000) || (@.map >= 1 && @.reduce >= 1) is unknown)'),
    ADD COLUMN speed jsonb CONSTRAINT classes_speed_check CHECK (jsonb_typeof(speed) = 'object' AND speed <> '{}'
        AND NOT speed @? 'strict $.* ? (!(@ >= 0 && @ <= 1000) || (@ >= 0) is unknown)');

-- The types that classes name are there, and stay as long as they are named. Every change of a cluster
-- holds the cluster's row, so that no type goes while a class comes.
-- +goose StatementBegin
CREATE FUNCTION class_names_vm_types() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM (SELECT jsonb_object_keys(NEW.slots_by_type) AS name UNION SELECT jsonb_object_keys(NEW.speed)) named
        WHERE NOT EXISTS (SELECT FROM vm_types v WHERE v.cluster_id = NEW.cluster_id AND v.name = named.name)) THEN
        RAISE foreign_key_violation USING CONSTRAINT = 'classes_vm_types_fkey', TABLE = 'classes', MESSAGE = 'a class names a VM type that is not there';
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION vm_type_is_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM classes c WHERE c.cluster_id = OLD.cluster_id AND (c.slots_by_type ? OLD.name OR c.speed ? OLD.name)) THEN
        RAISE foreign_key_violation USING CONSTRAINT = 'classes_vm_types_fkey', TABLE = 'vm_types', MESSAGE = 'a class names the VM type';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER class_names_vm_types AFTER INSERT OR UPDATE ON classes
    FOR EACH ROW WHEN (NEW.slots_by_type IS NOT NULL OR NEW.speed IS NOT NULL) EXECUTE FUNCTION class_names_vm_types();
CREATE TRIGGER vm_type_is_named AFTER DELETE ON vm_types
    FOR EACH ROW EXECUTE FUNCTION vm_type_is_named();

ALTER TABLE plans
    ADD COLUMN spot_cost numeric NOT NULL DEFAULT 0,
    ADD COLUMN vms_spot double precision NOT NULL DEFAULT 0;
