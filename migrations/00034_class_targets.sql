-- +goose Up

-- The part of a class's executions that is to end within its deadline, the confidence with which that is to be shown,
-- and the promise that was found for it (a capacity.Promise).
ALTER TABLE classes
    ADD COLUMN target double precision CONSTRAINT classes_target_check CHECK (target >= 0.5 AND target <= 0.9999),
    ADD COLUMN confidence double precision CONSTRAINT classes_confidence_check CHECK (confidence >= 0.5 AND confidence <= 0.999),
    ADD COLUMN promise jsonb CONSTRAINT classes_promise_check CHECK (jsonb_typeof(promise) = 'object');
