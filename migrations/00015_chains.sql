-- +goose Up

-- A profile may be a chain of stages; its map and reduce figures are 0 then.
ALTER TABLE profile_versions
    ADD COLUMN stages jsonb,
    ADD COLUMN source jsonb, -- what the version was made of; opaque
    ADD CONSTRAINT profile_versions_stages_check CHECK (
        stages IS NULL OR jsonb_typeof(stages) = 'array' AND stages <> '[]' AND map_tasks = 0 AND reduce_tasks = 0
        AND greatest(map_avg_seconds, map_max_seconds, first_shuffle_avg_seconds, first_shuffle_max_seconds, shuffle_avg_seconds,
                     shuffle_max_seconds, reduce_avg_seconds, reduce_max_seconds) = 0),
    -- the text of jsonb is longer than what was sent
    ADD CONSTRAINT profile_versions_source_check CHECK (jsonb_typeof(source) = 'object' AND octet_length(source::text) <= 1048576);

-- What a class is planned with where the cluster's options ask for calibrated bounds.
ALTER TABLE classes
    ADD COLUMN calibration_bound text,
    ADD COLUMN calibration_factor double precision,
    ADD CONSTRAINT classes_calibration_check CHECK (
        num_nonnulls(calibration_bound, calibration_factor) IN (0, 2)
        AND (calibration_bound IS NULL OR profile IS NOT NULL)
        AND calibration_bound IN ('lower', 'average', 'upper') AND calibration_factor > 0 AND calibration_factor < 'Infinity');
