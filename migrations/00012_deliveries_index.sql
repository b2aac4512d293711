-- +goose Up

-- How many deliveries of a webhook wait is counted each time one is made or put off; those that are over,
-- of which there may be thousands more, are not to be looked at for that.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id) WHERE state = 'pending';

-- How long the previous run took is no longer kept: nobody reads runs.previous_seconds. The column stays for
-- the servers of earlier releases, which write and read it; what only they looked it up with goes.
COMMENT ON COLUMN runs.previous_seconds IS 'Of earlier releases alone; it may go once none of them runs any more.';
DROP INDEX runs_previous;
