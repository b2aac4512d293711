-- +goose Up

-- Why a plan was made, as a sentence. Null is not on record: of plans that are older than this column or
-- come from the previous release.
ALTER TABLE plans ADD COLUMN why text;
