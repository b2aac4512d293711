-- +goose Up

-- A time of day, on the cluster's clocks, by which executions of a class must have ended.
ALTER TABLE classes
    ADD COLUMN due text CONSTRAINT classes_due_at_check CHECK (due ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$');
