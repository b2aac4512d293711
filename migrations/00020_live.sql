-- +goose Up

-- Live clusters: nodes tell of themselves in heartbeats and get tasks of jobs. Whoever changes anything of one
-- locks its row here first, and gives it another stamp: who knows the stamp knows the whole.
CREATE TABLE live_clusters (
    cluster_id bigint PRIMARY KEY CONSTRAINT live_clusters_cluster_fkey REFERENCES clusters,
    stamp      bigint NOT NULL,
    settings   jsonb NOT NULL,  -- a capacity.LiveSettings
    clock      timestamptz,     -- the latest moment that anything happened
    last_job   bigint NOT NULL DEFAULT 0,
    last_run   bigint NOT NULL DEFAULT 0,
    last_beat  bigint NOT NULL DEFAULT 0
);

-- What policies remember beyond what runs, and as what policies.
CREATE TABLE live_memories (
    cluster_id bigint NOT NULL CONSTRAINT live_memories_cluster_fkey REFERENCES live_clusters,
    kind       text COLLATE "C" NOT NULL,
    policy     jsonb NOT NULL, -- a capacity.Policy
    memory     bytea NOT NULL,
    CONSTRAINT live_memories_pkey PRIMARY KEY (cluster_id, kind)
) WITH (fillfactor = 70);

CREATE TABLE live_nodes (
    cluster_id    bigint NOT NULL CONSTRAINT live_nodes_cluster_fkey REFERENCES live_clusters,
    name          text COLLATE "C" NOT NULL,
    type          text NOT NULL,
    cores         double precision NOT NULL,
    slots_map     bigint NOT NULL,
    slots_reduce  bigint NOT NULL,
    dedicated     boolean NOT NULL,
    compute_units double precision NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    state         text NOT NULL,
    heard_at      timestamptz,           -- its last heartbeat
    beats         bigint NOT NULL,       -- heartbeats since it came, or came back
    seq           bigint NOT NULL,
    boot          text NOT NULL,
    boots         jsonb NOT NULL,        -- the last ones
    residual      double precision NOT NULL,
    report        jsonb,                 -- a capacity.NodeReport
    running       bigint NOT NULL,       -- tasks
    digest        text NOT NULL,         -- of the last heartbeat's text
    answer        text NOT NULL,         -- to it
    CONSTRAINT live_nodes_pkey PRIMARY KEY (cluster_id, name),
    CONSTRAINT live_nodes_state_check CHECK (state IN ('new', 'alive', 'dead'))
) WITH (fillfactor = 70);

CREATE TABLE live_jobs (
    cluster_id   bigint NOT NULL CONSTRAINT live_jobs_cluster_fkey REFERENCES live_clusters,
    number       bigint NOT NULL,
    request      jsonb NOT NULL,         -- a capacity.LiveJobRequest
    state        text NOT NULL,
    reason       text NOT NULL,
    submitted_at timestamptz NOT NULL,
    submitted_by text NOT NULL,          -- the key's name
    deadline_at  timestamptz,
    ended_at     timestamptz,
    counts       jsonb NOT NULL,         -- capacity.JobTasks of maps and of reduces
    done_maps    bytea NOT NULL,         -- which are done: lengths of stretches, see live.Job
    done_reduces bytea NOT NULL,
    tries        jsonb NOT NULL,         -- of tasks that were tried in vain
    CONSTRAINT live_jobs_pkey PRIMARY KEY (cluster_id, number),
    CONSTRAINT live_jobs_state_check CHECK (state IN ('active', 'done', 'failed', 'killed') AND (state = 'active') = (ended_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX live_jobs_active ON live_jobs (cluster_id) WHERE ended_at IS NULL;
CREATE INDEX live_jobs_ended ON live_jobs (ended_at) WHERE ended_at IS NOT NULL;

-- Decisions: which task was handed to which node, why, and what became of it. Those that run, and lost ones of
-- which their nodes may tell still, are open.
CREATE TABLE live_runs (
    cluster_id       bigint NOT NULL CONSTRAINT live_runs_cluster_fkey REFERENCES live_clusters,
    id               bigint NOT NULL,
    at               timestamptz NOT NULL,
    node             text COLLATE "C" NOT NULL,
    job              bigint NOT NULL,
    job_name         text NOT NULL,
    kind             smallint NOT NULL,      -- 0 map, 1 reduce
    task             bigint NOT NULL,
    attempt          bigint NOT NULL,
    local            boolean NOT NULL,
    why              jsonb NOT NULL,         -- a dispatch.Why
    policy           text NOT NULL,
    settings_version bigint NOT NULL,
    outcome          text NOT NULL,
    open             boolean NOT NULL,
    cause            text NOT NULL,          -- why it is lost
    ended_at         timestamptz,
    seconds          double precision,
    CONSTRAINT live_runs_pkey PRIMARY KEY (cluster_id, id),
    CONSTRAINT live_runs_outcome_check CHECK (outcome IN ('running', 'done', 'failed', 'lost') AND (outcome = 'running') = (ended_at IS NULL))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX live_runs_once ON live_runs (cluster_id, job, kind, task) WHERE outcome = 'running';
CREATE INDEX live_runs_open ON live_runs (cluster_id) WHERE open;
CREATE INDEX live_runs_job ON live_runs (cluster_id, job, id);
CREATE INDEX live_runs_at ON live_runs (at);

-- Choices of the policy learned, with what it learns from. Those that were judged have a judgement, in whose
-- order they were learned; the label is what the rules of that version make of it.
CREATE TABLE live_learned (
    cluster_id bigint NOT NULL CONSTRAINT live_learned_cluster_fkey REFERENCES live_clusters,
    number     bigint NOT NULL,
    run        bigint NOT NULL,
    decision   json NOT NULL,   -- a dispatch.Decision
    judgement  bigint,          -- its number; null while it waits
    good       boolean,
    rules      bigint,
    CONSTRAINT live_learned_pkey PRIMARY KEY (cluster_id, number),
    CONSTRAINT live_learned_judgement_check CHECK (num_nulls(judgement, good, rules) IN (0, 3))
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX live_learned_order ON live_learned (cluster_id, judgement);
CREATE INDEX live_learned_waiting ON live_learned (cluster_id) WHERE judgement IS NULL;

-- What was seen of the maps of a class of jobs: how fast types of nodes run them, and how their time changes with what nodes have left.
CREATE TABLE live_measured (
    cluster_id bigint NOT NULL CONSTRAINT live_measured_cluster_fkey REFERENCES live_clusters,
    class      text COLLATE "C" NOT NULL,
    measured   jsonb NOT NULL, -- a live.Measured
    CONSTRAINT live_measured_pkey PRIMARY KEY (cluster_id, class)
) WITH (fillfactor = 70);

-- Heartbeats of the last day, with what was answered: what another policy is tried out on.
CREATE TABLE live_heartbeats (
    cluster_id bigint NOT NULL CONSTRAINT live_heartbeats_cluster_fkey REFERENCES live_clusters,
    number     bigint NOT NULL, -- in the order in which they were answered
    at         timestamptz NOT NULL,
    node       text COLLATE "C" NOT NULL,
    body       text NOT NULL,
    answer     text NOT NULL,
    CONSTRAINT live_heartbeats_pkey PRIMARY KEY (cluster_id, number)
);
CREATE INDEX live_heartbeats_at ON live_heartbeats (at);
