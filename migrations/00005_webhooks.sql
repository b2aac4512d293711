-- +goose Up

-- Where the server may send to, by an admin's word.
CREATE TABLE allowed_hosts (
    id         uuid PRIMARY KEY,
    host       text COLLATE "C" NOT NULL,
    port       integer NOT NULL,
    http       boolean NOT NULL,
    networks   text[] NOT NULL, -- the only ones its addresses may be in; none is every public one
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    CONSTRAINT allowed_hosts_host_key UNIQUE (host, port),
    CONSTRAINT allowed_hosts_host_check CHECK (char_length(host) BETWEEN 1 AND 253),
    CONSTRAINT allowed_hosts_port_check CHECK (port BETWEEN 1 AND 65535)
);

-- Each transaction that makes another plan current looks here, so that there are few of them and they
-- are narrow: what deliveries need besides stands elsewhere.
CREATE TABLE webhooks (
    id              uuid PRIMARY KEY,
    name            text COLLATE "C" NOT NULL,
    url             text NOT NULL,
    events          text[] NOT NULL,
    clusters        text[], -- null is all
    enabled         boolean NOT NULL,
    disabled_reason text NOT NULL DEFAULT '',
    failing_since   timestamptz, -- nothing was delivered since
    version         bigint NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT webhooks_name_key UNIQUE (name),
    CONSTRAINT webhooks_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT webhooks_url_check CHECK (char_length(url) BETWEEN 1 AND 2000),
    CONSTRAINT webhooks_events_check CHECK (cardinality(events) > 0),
    CONSTRAINT webhooks_clusters_check CHECK (cardinality(clusters) > 0)
);

-- Secrets are kept as they are: who signs needs them. No statement that lists webhooks reads this table.
CREATE TABLE webhook_secrets (
    webhook_id  uuid NOT NULL CONSTRAINT webhook_secrets_webhook_fkey REFERENCES webhooks ON DELETE CASCADE,
    secret      text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    signs_until timestamptz -- null is the one that counts
);
CREATE INDEX webhook_secrets_webhook ON webhook_secrets (webhook_id);
CREATE UNIQUE INDEX webhook_secrets_current ON webhook_secrets (webhook_id) WHERE signs_until IS NULL;

-- A delivery is made in the transaction of what it tells, and its row decides what becomes of it.
CREATE TABLE webhook_deliveries (
    id            uuid PRIMARY KEY,
    webhook_id    uuid NOT NULL CONSTRAINT webhook_deliveries_webhook_fkey REFERENCES webhooks ON DELETE CASCADE,
    event_id      uuid NOT NULL,
    event         text NOT NULL,
    cluster       text COLLATE "C" NOT NULL,
    body          text NOT NULL, -- as it is signed
    at            timestamptz NOT NULL DEFAULT now(),
    state         text NOT NULL DEFAULT 'pending',
    detail        text NOT NULL DEFAULT '',
    tries         integer NOT NULL DEFAULT 0, -- that failed, since it was made or retried by hand
    attempts      jsonb NOT NULL DEFAULT '[]',
    next_at       timestamptz DEFAULT clock_timestamp(), -- null where it is over
    claimed_by    uuid,
    claimed_until timestamptz,
    delivered_at  timestamptz,
    CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('pending', 'delivered', 'failed')),
    CONSTRAINT webhook_deliveries_next_check CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    CONSTRAINT webhook_deliveries_claim_check CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (webhook_id) WHERE claimed_by IS NOT NULL;
CREATE INDEX webhook_deliveries_at ON webhook_deliveries (at);
