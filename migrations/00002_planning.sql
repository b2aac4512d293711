-- +goose Up

-- hold_seconds is how long autoscalers hold a decrease of VMs back.
ALTER TABLE clusters ADD COLUMN hold_seconds bigint NOT NULL DEFAULT 0
    CONSTRAINT clusters_hold_check CHECK (hold_seconds BETWEEN 0 AND 86400);

-- What planning knows of each living cluster. There is no queue: whether a cluster is to be planned
-- follows from its row alone, so that no work can be lost or done twice. It is to be planned when
-- its inputs are others than those of the last try and have been quiet for a moment, or when wake_at
-- has come. Who plans it claims the row for a short while and goes on doing so.
-- Moments that plans are about (confirmed_at, boundary, wake_at, pin_until) are by the clock of the
-- servers, which plan for the moment it is there; all others by that of the database.
CREATE TABLE planning (
    cluster_id        bigint PRIMARY KEY CONSTRAINT planning_cluster_fkey REFERENCES clusters,
    inputs_changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changing_since    timestamptz DEFAULT clock_timestamp(), -- the first change that no try has seen
    tried_version     bigint,      -- the inputs' version that the last try was about
    current_number    bigint,      -- the plan that is shown; retention may have removed it
    newest_number     bigint,      -- the last good plan for its own present; another one while the cluster is pinned
    inputs_sum        bytea,       -- of what that one answers
    confirmed_version bigint,      -- the inputs' version that it was last seen to answer
    confirmed_at      timestamptz,
    boundary          timestamptz, -- the next moment that changes a price, a contract or a forecast
    wake_at           timestamptz,
    retry_at          timestamptz, -- not before, because something was in the way
    failures          integer NOT NULL DEFAULT 0, -- how often in a row
    last_attempt      json,
    pin_number        bigint,
    pin_until         timestamptz,
    pin_by            text,
    claimed_by        uuid,
    claimed_until     timestamptz,
    CONSTRAINT planning_pin_check CHECK (num_nonnulls(pin_number, pin_until, pin_by) IN (0, 3)),
    CONSTRAINT planning_claim_check CHECK (num_nonnulls(claimed_by, claimed_until) <> 1)
) WITH (fillfactor = 50);

-- Whoever changes a cluster's inputs, a server of the previous release as well, says so here, in the
-- same transaction.
-- +goose StatementBegin
CREATE FUNCTION inputs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO planning (cluster_id) VALUES (NEW.id);
    ELSIF NEW.deleted_at IS NOT NULL THEN
        DELETE FROM planning WHERE cluster_id = NEW.id;
    ELSE
        UPDATE planning
        SET inputs_changed_at = clock_timestamp(), changing_since = coalesce(changing_since, clock_timestamp()), retry_at = NULL
        WHERE cluster_id = NEW.id;
    END IF;
    PERFORM pg_notify('headroom_plans', NEW.name);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER inputs_changed AFTER INSERT OR UPDATE OF inputs_version, deleted_at ON clusters
    FOR EACH ROW EXECUTE FUNCTION inputs_changed();

-- Clusters that are there already keep the plan they have and are looked at once.
INSERT INTO planning (cluster_id, current_number, newest_number, confirmed_version, confirmed_at)
SELECT c.id, p.number, p.number, p.inputs_version, p.created_at
FROM clusters c LEFT JOIN plans p ON p.cluster_id = c.id AND p.number = c.plans
WHERE c.deleted_at IS NULL;
