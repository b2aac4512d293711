-- +goose Up

-- The seconds before its hour at which a VM of a type is asked for; null is not known. Schedules count them as paid.
ALTER TABLE vm_types ADD COLUMN start_lead_seconds bigint
    CONSTRAINT vm_types_start_lead_check CHECK (start_lead_seconds BETWEEN 0 AND 3600);
