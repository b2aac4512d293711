-- +goose Up

-- A row may tell how many executions arrive in its hour, rather than how many run at once. Its jobs are then those that run
-- at once where as many arrive in every hour, which is how releases before this one count them.
ALTER TABLE forecasts
    ADD COLUMN arrivals double precision,
    ADD CONSTRAINT forecasts_arrivals_check CHECK (arrivals >= 0 AND arrivals < 'Infinity');
