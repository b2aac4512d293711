-- +goose Up

-- Whether every job of a class is promised; jobs_min says nothing then.
ALTER TABLE classes
    ADD COLUMN jobs_all boolean NOT NULL DEFAULT false;
