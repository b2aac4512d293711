-- +goose Up

-- The pool of a cluster: by what it is planned round after round, which machines run, and what planning knows of it.
-- As with planning there is no queue: a pool is to be planned when it has changes, or when wake_at has come. Moments
-- that plans are about (confirmed_at, boundary, wake_at) are by the clock of the servers, all others by that of the
-- database.
CREATE TABLE pools (
    cluster_id     bigint PRIMARY KEY CONSTRAINT pools_cluster_fkey REFERENCES clusters,
    settings       jsonb,           -- a capacity.PoolSettings; null where they were deleted
    version        bigint NOT NULL, -- of the settings; goes on after them
    updated_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    machines       jsonb NOT NULL DEFAULT '[]', -- capacity.PoolMachine
    machines_at    timestamptz,     -- when somebody said so, and who; null: nobody has
    machines_by    text,
    plans          bigint NOT NULL DEFAULT 0,
    current_number bigint,
    inputs_sum     bytea,           -- of what the current plan answers
    confirmed_at   timestamptz,
    boundary       timestamptz,     -- when the next round begins
    wake_at        timestamptz,
    retry_at       timestamptz,
    failures       integer NOT NULL DEFAULT 0,
    last_attempt   json,
    changed_since  timestamptz,     -- the first change that somebody has claimed the pool for and no try has answered
    claimed_by     uuid,
    claimed_until  timestamptz,
    CONSTRAINT pools_machines_check CHECK (num_nonnulls(machines_at, machines_by) <> 1),
    CONSTRAINT pools_claim_check CHECK (num_nonnulls(claimed_by, claimed_until) <> 1)
) WITH (fillfactor = 50);

-- How much data there was at a moment.
CREATE TABLE storage_samples (
    cluster_id bigint NOT NULL CONSTRAINT storage_samples_cluster_fkey REFERENCES clusters,
    at         timestamptz NOT NULL,
    data_gb    double precision NOT NULL,
    sampled_by text NOT NULL, -- the key's name
    CONSTRAINT storage_samples_pkey PRIMARY KEY (cluster_id, at),
    CONSTRAINT storage_samples_gb_check CHECK (data_gb >= 0 AND data_gb < 'Infinity')
);

-- Plans of pools, each with what it answers. A row never changes.
CREATE TABLE pool_plans (
    id               uuid PRIMARY KEY,
    cluster_id       bigint NOT NULL CONSTRAINT pool_plans_cluster_fkey REFERENCES clusters,
    number           bigint NOT NULL,
    at               timestamptz NOT NULL, -- the moment it was made for
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by       text NOT NULL,
    settings_version bigint NOT NULL,
    reason           text NOT NULL,
    status           text NOT NULL,
    cost             numeric(20,9) NOT NULL, -- of the rounds that it planned itself
    currency         text NOT NULL,
    starts           timestamptz NOT NULL,   -- of its first round
    ends             timestamptz NOT NULL,   -- of its last
    rounds           bigint NOT NULL,
    steps            bigint NOT NULL,        -- things to rent or to give back
    basis            json NOT NULL,          -- a capacity.PoolBasis
    plan             json NOT NULL,          -- a capacity.PoolSchedule
    CONSTRAINT pool_plans_number_key UNIQUE (cluster_id, number)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON pool_plans EXECUTE FUNCTION refuse_to_rewrite();

-- Changes of what pools are planned by. They are added in the transaction that makes the change, so that none is lost,
-- and never wait for each other; whoever claims a pool takes them away.
CREATE TABLE pool_changes (
    cluster_id bigint NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX pool_changes_cluster ON pool_changes (cluster_id);

-- +goose StatementBegin
CREATE FUNCTION pool_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pool_changes (cluster_id)
    SELECT p.cluster_id FROM pools p WHERE p.settings IS NOT NULL AND p.cluster_id IN (SELECT n.cluster_id FROM changed n);
    IF FOUND THEN
        NOTIFY headroom_pools;
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION pool_of_cluster_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pool_changes (cluster_id) SELECT p.cluster_id FROM pools p WHERE p.settings IS NOT NULL AND p.cluster_id = NEW.id;
    IF FOUND THEN
        NOTIFY headroom_pools;
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION pool_settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pool_changes (cluster_id) VALUES (NEW.cluster_id);
    NOTIFY headroom_pools;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER pool_changed AFTER UPDATE OF inputs_version, deleted_at ON clusters FOR EACH ROW EXECUTE FUNCTION pool_of_cluster_changed();
CREATE TRIGGER pool_changed AFTER INSERT OR UPDATE OF settings, machines ON pools FOR EACH ROW EXECUTE FUNCTION pool_settings_changed();
CREATE TRIGGER pool_added AFTER INSERT ON storage_samples REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_changed();
CREATE TRIGGER pool_updated AFTER UPDATE ON storage_samples REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_changed();
CREATE TRIGGER pool_deleted AFTER DELETE ON storage_samples REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_changed();
CREATE TRIGGER pool_added AFTER INSERT ON executions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_changed();
CREATE TRIGGER pool_updated AFTER UPDATE ON executions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_changed();
CREATE TRIGGER pool_deleted AFTER DELETE ON executions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_changed();
