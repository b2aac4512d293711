-- +goose Up

-- What the plans in force came to, added up with each new one, so that the bill of a month is the difference of two rows.
ALTER TABLE plan_reigns ADD COLUMN counted timestamptz, -- the sum begins here: with the first plan on record in this currency
                        ADD COLUMN billed numeric;      -- from then until since

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION plan_reigned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO plan_reigns (cluster_id, since, number, counted, billed)
    SELECT NEW.cluster_id, NEW.since, NEW.number, coalesce(w.counted, NEW.since), coalesce(w.billed, 0)
    FROM (VALUES (true)) one LEFT JOIN LATERAL (
        SELECT r.counted, round(r.billed + (q.total_cost - q.penalties) * extract(epoch FROM NEW.since - r.since) / q.period_seconds, 15) AS billed
        FROM plan_reigns r JOIN stored_plans q ON q.cluster_id = r.cluster_id AND q.number = r.number
        JOIN stored_plans p ON p.cluster_id = r.cluster_id AND p.number = NEW.number AND p.currency = q.currency
        WHERE r.cluster_id = NEW.cluster_id AND r.billed IS NOT NULL
          AND r.since = (SELECT max(since) FROM plan_reigns WHERE cluster_id = NEW.cluster_id AND since < NEW.since)) w ON true;
    DELETE FROM plan_reigns WHERE cluster_id = NEW.cluster_id AND since < (
        SELECT max(since) FROM plan_reigns WHERE cluster_id = NEW.cluster_id AND since < clock_timestamp() - interval '100 days');
    RETURN NULL;
END
$$;
-- +goose StatementEnd

WITH known AS (
    SELECT r.cluster_id, r.since, p.currency, (p.total_cost - p.penalties) / p.period_seconds AS rate,
           lead(r.since) OVER w AS until, lag(p.currency) OVER w IS DISTINCT FROM p.currency AS turned
    FROM plan_reigns r JOIN stored_plans p ON p.cluster_id = r.cluster_id AND p.number = r.number
    WINDOW w AS (PARTITION BY r.cluster_id ORDER BY r.since)
), spans AS (
    SELECT *, count(*) FILTER (WHERE turned) OVER (PARTITION BY cluster_id ORDER BY since) AS span FROM known
), sums AS (
    SELECT cluster_id, since, first_value(since) OVER w AS counted,
           coalesce(sum(rate * extract(epoch FROM until - since)) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS billed
    FROM spans WINDOW w AS (PARTITION BY cluster_id, span ORDER BY since)
)
UPDATE plan_reigns r SET counted = s.counted, billed = round(s.billed, 15) FROM sums s WHERE s.cluster_id = r.cluster_id AND s.since = r.since;
