-- +goose Up

-- What a plan is made from hangs on a cluster. Every change of it locks the cluster's row, so that
-- versions and plan numbers are given out in the order of the commits.
-- Names sort by their bytes (COLLATE "C"), on every server and in Go alike.

CREATE TABLE clusters (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name           text COLLATE "C" NOT NULL,
    description    text NOT NULL,
    currency       text NOT NULL,
    period_seconds bigint NOT NULL,
    time_zone      text NOT NULL,
    options        json NOT NULL,
    inputs_version bigint NOT NULL DEFAULT 1,
    plans          bigint NOT NULL DEFAULT 0, -- the last plan's number
    version        bigint NOT NULL DEFAULT 1,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    deleted_at     timestamptz,               -- its plans stay, so its row does too
    CONSTRAINT clusters_name_check CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT clusters_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT clusters_period_check CHECK (period_seconds > 0),
    CONSTRAINT clusters_options_check CHECK (json_typeof(options) = 'object')
);
CREATE UNIQUE INDEX clusters_name_key ON clusters (name) WHERE deleted_at IS NULL;

CREATE TABLE vm_types (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id  bigint NOT NULL CONSTRAINT vm_types_cluster_fkey REFERENCES clusters,
    name        text COLLATE "C" NOT NULL,
    description text NOT NULL,
    quota       bigint,
    in_use      boolean NOT NULL,
    version     bigint NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT vm_types_name_key UNIQUE (cluster_id, name),
    CONSTRAINT vm_types_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT vm_types_quota_check CHECK (quota >= 0)
);
CREATE UNIQUE INDEX vm_types_in_use_key ON vm_types (cluster_id) WHERE in_use;

CREATE TABLE prices (
    id         uuid PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT prices_cluster_fkey REFERENCES clusters,
    vm_type_id bigint NOT NULL CONSTRAINT prices_vm_type_fkey REFERENCES vm_types,
    price      numeric(20,9) NOT NULL,
    during     tstzrange NOT NULL,
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT prices_price_check CHECK (price >= 0 AND price < 'Infinity'),
    CONSTRAINT prices_term_check CHECK (NOT isempty(during) AND NOT lower_inf(during) AND isfinite(lower(during)) AND lower_inc(during) AND NOT upper_inc(during)),
    -- a range of one number is an equality that GiST knows without an extension
    CONSTRAINT prices_no_overlap EXCLUDE USING gist (int8range(vm_type_id, vm_type_id, '[]') WITH &&, during WITH &&)
);
CREATE INDEX prices_cluster ON prices (cluster_id);

CREATE TABLE contracts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT contracts_cluster_fkey REFERENCES clusters,
    name       text COLLATE "C" NOT NULL,
    vm_type_id bigint NOT NULL CONSTRAINT contracts_vm_type_fkey REFERENCES vm_types,
    vms        bigint NOT NULL,
    price      numeric(20,9) NOT NULL,
    billing    text NOT NULL,
    upfront    numeric(20,9) NOT NULL,
    starts     timestamptz NOT NULL,
    ends       timestamptz NOT NULL,
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT contracts_name_key UNIQUE (cluster_id, name),
    CONSTRAINT contracts_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT contracts_vms_check CHECK (vms >= 0),
    CONSTRAINT contracts_price_check CHECK (price >= 0 AND price < 'Infinity'),
    CONSTRAINT contracts_upfront_check CHECK (upfront >= 0 AND upfront < 'Infinity'),
    CONSTRAINT contracts_billing_check CHECK (billing IN ('used', 'always')),
    CONSTRAINT contracts_term_check CHECK (starts < ends)
);
CREATE INDEX contracts_vm_type ON contracts (vm_type_id);

CREATE TABLE profile_versions (
    cluster_id                bigint NOT NULL CONSTRAINT profile_versions_cluster_fkey REFERENCES clusters,
    name                      text COLLATE "C" NOT NULL,
    version                   bigint NOT NULL,
    note                      text NOT NULL,
    map_tasks                 bigint NOT NULL,
    reduce_tasks              bigint NOT NULL,
    map_avg_seconds           double precision NOT NULL,
    map_max_seconds           double precision NOT NULL,
    first_shuffle_avg_seconds double precision NOT NULL,
    first_shuffle_max_seconds double precision NOT NULL,
    shuffle_avg_seconds       double precision NOT NULL,
    shuffle_max_seconds       double precision NOT NULL,
    reduce_avg_seconds        double precision NOT NULL,
    reduce_max_seconds        double precision NOT NULL,
    overhead_seconds          double precision NOT NULL,
    created_at                timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT profile_versions_pkey PRIMARY KEY (cluster_id, name, version),
    CONSTRAINT profile_versions_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT profile_versions_version_check CHECK (version >= 1),
    -- NaN counts as greater than infinity here
    CONSTRAINT profile_versions_profile_check CHECK (
        map_tasks >= 0 AND reduce_tasks >= 0
        AND least(map_avg_seconds, map_max_seconds, first_shuffle_avg_seconds, first_shuffle_max_seconds, shuffle_avg_seconds,
                  shuffle_max_seconds, reduce_avg_seconds, reduce_max_seconds, overhead_seconds) >= 0
        AND greatest(map_avg_seconds, map_max_seconds, first_shuffle_avg_seconds, first_shuffle_max_seconds, shuffle_avg_seconds,
                  shuffle_max_seconds, reduce_avg_seconds, reduce_max_seconds, overhead_seconds) < 'Infinity')
);

CREATE TABLE classes (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id          bigint NOT NULL CONSTRAINT classes_cluster_fkey REFERENCES clusters,
    name                text COLLATE "C" NOT NULL,
    profile             text COLLATE "C",
    profile_version     bigint,
    map_work_seconds    double precision,
    reduce_work_seconds double precision,
    fixed_seconds       double precision,
    vms_per_job         numeric,
    deadline_seconds    double precision NOT NULL,
    slots_map           bigint NOT NULL,
    slots_reduce        bigint NOT NULL,
    jobs_min            double precision NOT NULL,
    jobs_max            double precision NOT NULL,
    penalty             numeric(20,9) NOT NULL,
    version             bigint NOT NULL DEFAULT 1,
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT classes_name_key UNIQUE (cluster_id, name),
    CONSTRAINT classes_profile_fkey FOREIGN KEY (cluster_id, profile, profile_version) REFERENCES profile_versions,
    CONSTRAINT classes_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT classes_need_check CHECK (
        num_nonnulls(profile, map_work_seconds, vms_per_job) = 1
        AND num_nonnulls(profile, profile_version) <> 1
        AND num_nonnulls(map_work_seconds, reduce_work_seconds, fixed_seconds) IN (0, 3)),
    CONSTRAINT classes_demand_check CHECK (
        map_work_seconds >= 0 AND map_work_seconds < 'Infinity' AND reduce_work_seconds >= 0 AND reduce_work_seconds < 'Infinity'
        AND fixed_seconds > '-Infinity' AND fixed_seconds < 'Infinity'),
    CONSTRAINT classes_vms_per_job_check CHECK (vms_per_job >= 0 AND vms_per_job < 'Infinity'),
    CONSTRAINT classes_deadline_check CHECK (deadline_seconds >= 0 AND deadline_seconds < 'Infinity' AND (vms_per_job IS NOT NULL OR deadline_seconds > 0)),
    CONSTRAINT classes_slots_check CHECK (slots_map >= 0 AND slots_reduce >= 0 AND (vms_per_job IS NOT NULL OR slots_map > 0 AND slots_reduce > 0)),
    CONSTRAINT classes_jobs_check CHECK (jobs_min >= 0 AND jobs_min <= jobs_max AND jobs_max < 'Infinity'),
    CONSTRAINT classes_penalty_check CHECK (penalty >= 0 AND penalty < 'Infinity')
);
CREATE INDEX classes_profile ON classes (cluster_id, profile, profile_version) WHERE profile IS NOT NULL;

CREATE TABLE forecasts (
    class_id bigint NOT NULL CONSTRAINT forecasts_class_fkey REFERENCES classes ON DELETE CASCADE,
    hour     timestamptz NOT NULL,
    jobs     double precision NOT NULL,
    CONSTRAINT forecasts_pkey PRIMARY KEY (class_id, hour),
    CONSTRAINT forecasts_hour_check CHECK (mod(extract(epoch FROM hour), 3600) = 0),
    CONSTRAINT forecasts_jobs_check CHECK (jobs >= 0 AND jobs < 'Infinity')
);

-- plan and problem are json, not jsonb: the text stays exactly as it was written.
CREATE TABLE plans (
    id             uuid PRIMARY KEY,
    cluster_id     bigint NOT NULL CONSTRAINT plans_cluster_fkey REFERENCES clusters,
    number         bigint NOT NULL,
    at             timestamptz NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    created_by     text NOT NULL,
    inputs_version bigint NOT NULL,
    status         text NOT NULL,
    objective      numeric NOT NULL,
    total_cost     numeric NOT NULL,
    on_demand_cost numeric NOT NULL,
    reserved_cost  numeric NOT NULL,
    penalties      numeric NOT NULL,
    currency       text NOT NULL,
    period_seconds bigint NOT NULL,
    vms            double precision NOT NULL,
    vms_on_demand  double precision NOT NULL,
    vms_reserved   double precision NOT NULL,
    admitted       double precision NOT NULL,
    refused        double precision NOT NULL,
    gap            double precision NOT NULL,
    problem        json NOT NULL,
    plan           json NOT NULL,
    CONSTRAINT plans_number_key UNIQUE (cluster_id, number),
    CONSTRAINT plans_number_check CHECK (number >= 1),
    CONSTRAINT plans_status_check CHECK (status IN ('optimal', 'feasible'))
);

CREATE TABLE keys (
    id         uuid PRIMARY KEY,
    name       text NOT NULL,
    role       text NOT NULL,
    clusters   text[],
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    hash       bytea NOT NULL,
    CONSTRAINT keys_hash_key UNIQUE (hash),
    CONSTRAINT keys_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT keys_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT keys_role_check CHECK (role IN ('viewer', 'planner', 'operator', 'admin', 'agent')),
    CONSTRAINT keys_clusters_check CHECK (cardinality(clusters) > 0)
);

CREATE TABLE sessions (
    hash           bytea PRIMARY KEY,
    principal_id   text NOT NULL,
    principal_name text NOT NULL,
    role           text NOT NULL,
    clusters       text[],
    key_id         uuid CONSTRAINT sessions_key_fkey REFERENCES keys, -- the key it was opened with
    expires_at     timestamptz NOT NULL,
    CONSTRAINT sessions_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT sessions_role_check CHECK (role IN ('viewer', 'planner', 'operator', 'admin', 'agent'))
);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

CREATE TABLE sign_in_links (
    hash       bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL,
    CONSTRAINT sign_in_links_hash_check CHECK (octet_length(hash) = 32)
);

-- A record is written before what it stands for is done, in the same transaction; the answer is
-- filled in before the commit.
CREATE TABLE idempotency (
    principal   text NOT NULL,
    key         text NOT NULL,
    fingerprint bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    status      integer,
    header      json,
    body        bytea,
    CONSTRAINT idempotency_pkey PRIMARY KEY (principal, key),
    CONSTRAINT idempotency_fingerprint_check CHECK (octet_length(fingerprint) = 32)
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);

-- Entries are listed by transaction, and only once no older transaction can add any: the order of a
-- sequence is not the order of the commits. A database restored into another server meets smaller
-- transaction numbers there; a new era begins then, so that newer entries still come after older ones.
CREATE TABLE audit_eras (
    era   bigint PRIMARY KEY,
    began timestamptz NOT NULL DEFAULT now()
);
INSERT INTO audit_eras (era) VALUES (1);

CREATE TABLE audit (
    era     bigint NOT NULL,
    txid    xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id      bigint GENERATED ALWAYS AS IDENTITY,
    at      timestamptz NOT NULL DEFAULT now(),
    by      text NOT NULL,
    key_id  text NOT NULL,
    cluster text COLLATE "C", -- null for keys
    action  text NOT NULL,
    kind    text NOT NULL,
    name    text NOT NULL,
    before  json,
    after   json,
    CONSTRAINT audit_pkey PRIMARY KEY (era, txid, id),
    CONSTRAINT audit_action_check CHECK (action IN ('create', 'update', 'delete', 'revoke', 'apply'))
);
CREATE INDEX audit_cluster ON audit (cluster, era, txid, id);

-- Where the service has a role of its own it is not granted these; elsewhere the triggers alone stand
-- between it and history. Retention is for the owner of the tables, who says so.

-- +goose StatementBegin
CREATE FUNCTION refuse_to_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('headroom.retention', true) = 'on' AND current_user <> 'headroom_service' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_append_only';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON plans EXECUTE FUNCTION refuse_to_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION refuse_to_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE ON profile_versions EXECUTE FUNCTION refuse_to_rewrite();

-- A version never comes back: whoever has seen one of a thing that was deleted and made anew must not
-- take the new thing for the old, nor overwrite it. A name goes on counting where it was left, in this
-- cluster and in deleted ones of the same name; so do a new cluster's inputs and plans.
CREATE TABLE retired (
    cluster text COLLATE "C" NOT NULL,
    kind    text NOT NULL,
    name    text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT retired_pkey PRIMARY KEY (cluster, kind, name)
);

-- The functions run as the owner, so that nobody else needs rights on retired.
-- +goose StatementBegin
CREATE FUNCTION retire() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO retired (cluster, kind, name, version)
    SELECT c.name, TG_TABLE_NAME, OLD.name, OLD.version FROM clusters c WHERE c.id = OLD.cluster_id
    ON CONFLICT (cluster, kind, name) DO UPDATE SET version = greatest(retired.version, excluded.version);
    RETURN NULL;
END
$$;
CREATE FUNCTION go_on_counting() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    last bigint;
BEGIN
    EXECUTE format(
        'SELECT greatest((SELECT version FROM retired WHERE cluster = now.name AND kind = $1 AND name = $2),
                         (SELECT max(t.version) FROM clusters c JOIN %I t ON t.cluster_id = c.id WHERE c.name = now.name AND t.name = $2))
         FROM clusters now WHERE now.id = $3', TG_TABLE_NAME)
    INTO last USING TG_TABLE_NAME, NEW.name, NEW.cluster_id;
    NEW.version := coalesce(last, 0) + 1;
    RETURN NEW;
END
$$;
CREATE FUNCTION go_on_counting_clusters() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    SELECT coalesce(max(version), 0) + 1, coalesce(max(inputs_version), 0) + 1, coalesce(max(plans), 0)
    INTO NEW.version, NEW.inputs_version, NEW.plans FROM clusters WHERE name = NEW.name;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER go_on_counting BEFORE INSERT ON clusters FOR EACH ROW EXECUTE FUNCTION go_on_counting_clusters();
CREATE TRIGGER go_on_counting BEFORE INSERT ON vm_types FOR EACH ROW EXECUTE FUNCTION go_on_counting();
CREATE TRIGGER go_on_counting BEFORE INSERT ON contracts FOR EACH ROW EXECUTE FUNCTION go_on_counting();
CREATE TRIGGER go_on_counting BEFORE INSERT ON classes FOR EACH ROW EXECUTE FUNCTION go_on_counting();
CREATE TRIGGER retire AFTER DELETE ON vm_types FOR EACH ROW EXECUTE FUNCTION retire();
CREATE TRIGGER retire AFTER DELETE ON contracts FOR EACH ROW EXECUTE FUNCTION retire();
CREATE TRIGGER retire AFTER DELETE ON classes FOR EACH ROW EXECUTE FUNCTION retire();
