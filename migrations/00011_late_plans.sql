-- +goose Up

-- How many plans in a row were overtaken by time while they were made: a price, contract or forecast
-- had changed before they were ready. A few of them wait for a better one; then they are taken.
ALTER TABLE planning ADD COLUMN late integer NOT NULL DEFAULT 0;

-- What the plan of an observation rents itself, where autoscalers were told more because a decrease was
-- held back: that is what planned_vms says. Null is that they were told the same.
ALTER TABLE observations ADD COLUMN plan_vms double precision
    CONSTRAINT observations_plan_vms_check CHECK (plan_vms IS NULL OR planned_vms IS NOT NULL);
