-- +goose Up

-- What starting a VM of a type costs; null is nothing. Schedules plan with it.
ALTER TABLE vm_types ADD COLUMN start_price numeric(20,9)
    CONSTRAINT vm_types_start_price_check CHECK (start_price >= 0 AND start_price < 'Infinity');
