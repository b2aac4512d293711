-- +goose Up

-- Until when an execution must have ended after it arrives, where it may wait.
ALTER TABLE classes
    ADD COLUMN due_seconds double precision CONSTRAINT classes_due_check CHECK (due_seconds > 0 AND due_seconds < 'Infinity');
