-- +goose Up

-- Scenarios are kept beside a cluster's inputs and are none of them: no plan depends on one, so that a
-- change of one makes no plan.
CREATE TABLE scenarios (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT scenarios_cluster_fkey REFERENCES clusters,
    name       text COLLATE "C" NOT NULL,
    note       text NOT NULL,
    changes    json NOT NULL, -- capacity.ScenarioChange; read whole and written whole
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT scenarios_name_key UNIQUE (cluster_id, name),
    CONSTRAINT scenarios_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT scenarios_changes_check CHECK (json_typeof(changes) = 'array')
);
CREATE TRIGGER go_on_counting BEFORE INSERT ON scenarios FOR EACH ROW EXECUTE FUNCTION go_on_counting();
CREATE TRIGGER retire AFTER DELETE ON scenarios FOR EACH ROW EXECUTE FUNCTION retire();
