package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"headroom/internal/service/hooks"
)

const (
	// mostWaiting bounds what is kept for a target that does not answer: what more there is to tell is
	// written down and not sent. Transactions at the same time may each add theirs.
	mostWaiting = 10000
	tooMany     = "10,000 deliveries" // the same, in words
	// enoughWaiting is how many are counted where only the length of a wait depends on it.
	enoughWaiting = int64(mostPutOff / putOffEach)
)

// handed is a delivery that is handed out.
type handed struct{ ID, Webhook string }

// waitingOf is how many deliveries of each webhook wait, counted no further than most.
func waitingOf(ctx context.Context, q querier, webhooks []string, most int64) (map[string]int64, error) {
	type row struct {
		ID      string
		Waiting int64
	}
	found, err := collect[row](ctx, q, `
		SELECT w.id::text, (SELECT count(*) FROM (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending' LIMIT @most) d) AS waiting
		FROM (SELECT DISTINCT unnest(@webhooks::uuid[]) AS id) w`, pgx.NamedArgs{"webhooks": webhooks, "most": most})
	if err != nil {
		return nil, fmt.Errorf("count the deliveries that wait: %w", err)
	}
	waiting := map[string]int64{}
	for _, r := range found {
		waiting[r.ID] = r.Waiting
	}
	return waiting, nil
}

// rankOf is River's priority of a delivery's work, of which 1 is taken first: that of a webhook with
// few deliveries never waits behind the many of another, which can only be put off anyhow.
func rankOf(waiting int64) int {
	switch {
	case waiting < 32:
		return 1
	case waiting < 256:
		return 2
	case waiting < enoughWaiting:
		return 3
	}
	return 4
}

// handOut hands deliveries to whichever servers have time, once the transaction has committed and the
// moment has come. Zero is at once.
func (s *Store) handOut(ctx context.Context, q querier, deliveries []handed, waiting map[string]int64, at time.Time) error {
	if len(deliveries) == 0 {
		return nil
	}
	tx, ok := q.(pgx.Tx)
	if !ok {
		return errors.New("deliveries are handed out in a transaction")
	}
	work := make([]river.InsertManyParams, len(deliveries))
	for i, d := range deliveries {
		w := hooks.DeliveryWork{ID: d.ID}
		work[i] = river.InsertManyParams{Args: w, InsertOpts: &river.InsertOpts{
			Queue: w.Queue(), MaxAttempts: w.MostAttempts(), Priority: rankOf(waiting[d.Webhook]), ScheduledAt: at}}
	}
	if _, err := s.river.InsertManyFastTx(ctx, tx, work); err != nil {
		return fmt.Errorf("hand out deliveries: %w", err)
	}
	return nil
}
