-- +goose Up

-- Servers that others send requests about live clusters on to, each at its address. They renew their rows, by this
-- database's clock; one whose time is over counts no more. No decision rests on them.
CREATE TABLE servers (
    address    text COLLATE "C" NOT NULL CONSTRAINT servers_pkey PRIMARY KEY,
    token_hash bytea NOT NULL CONSTRAINT servers_token_check CHECK (octet_length(token_hash) = 32), -- of what it shows the others
    until      timestamptz NOT NULL
) WITH (fillfactor = 50);
