-- +goose Up

-- What CBC says of a plan after the plan is out. Votes that wait are its queue.
CREATE TABLE plan_votes (
    cluster_id    bigint NOT NULL CONSTRAINT plan_votes_cluster_fkey REFERENCES clusters ON DELETE CASCADE,
    number        bigint NOT NULL,
    state         text NOT NULL DEFAULT 'waiting' CONSTRAINT plan_votes_state_check CHECK (state IN ('waiting', 'same', 'other', 'none')),
    engine        text NOT NULL DEFAULT '',
    detail        text NOT NULL DEFAULT '', -- why there is none
    asked_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    at            timestamptz, -- when it came, or was given up
    tries         integer NOT NULL DEFAULT 0,
    claimed_by    uuid,
    claimed_until timestamptz,
    CONSTRAINT plan_votes_pkey PRIMARY KEY (cluster_id, number),
    CONSTRAINT plan_votes_at_check CHECK ((state = 'waiting') = (at IS NULL))
);
CREATE INDEX plan_votes_waiting ON plan_votes (asked_at) WHERE state = 'waiting';

-- A vote goes with its plan.
-- +goose StatementBegin
CREATE FUNCTION remove_vote() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM plan_votes WHERE cluster_id = OLD.cluster_id AND number = OLD.number;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER remove_vote AFTER DELETE ON stored_plans FOR EACH ROW EXECUTE FUNCTION remove_vote();
