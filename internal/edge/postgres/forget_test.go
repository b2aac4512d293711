package postgres_test

import (
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/test/pgtest"
)

// Old rows go in many transactions, of which nobody notices one. What is young enough stays.
func TestOldHeartbeatsAreForgottenInPieces(t *testing.T) {
	t.Parallel()
	old, beyond := 25_000, 12_000
	if long() {
		old, beyond = 1_000_000, 100_000
	}
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	conn := raw(t, url)
	execute(t, conn, `INSERT INTO live_clusters (cluster_id, stamp, settings, last_beat) SELECT id, 1, '{}', $1::bigint + 1000000 FROM clusters`, old+beyond)
	execute(t, conn, `INSERT INTO live_heartbeats (cluster_id, number, at, node, body, answer)
		SELECT id, n, CASE WHEN n <= $1 THEN now() - interval '25 hours' ELSE now() END, 'node', '{"seq":1,"load":0.5,"free_mb":12345,"tasks":[]}', '{"assignments":[]}'
		FROM clusters, generate_series(1, $1::int + $2::int + 500) n`, old, beyond)
	writer := raw(t, url)
	number := 2_000_000
	writing := beside(t, time.Millisecond, func() error {
		number++
		_, err := writer.Exec(ctx, `INSERT INTO live_heartbeats (cluster_id, number, at, node, body, answer) SELECT id, $1, now(), 'node', '{}', '{}' FROM clusters`, number)
		return err
	})
	began := time.Now()
	check(t, postgres.ForgetLive(ctx, s))
	took := time.Since(began)
	writes := writing()
	var left, least int
	check(t, conn.QueryRow(ctx, `SELECT count(*), min(number) FROM live_heartbeats WHERE number < 2000000`).Scan(&left, &least))
	if left != 500 || least != old+beyond+1 {
		t.Errorf("%d heartbeats are left, from %d on", left, least)
	}
	t.Logf("%d heartbeats forgotten in %v; of %d written meanwhile the median took %v, the 99th %v, the slowest %v", old+beyond, took.Round(time.Millisecond),
		len(writes), writes[len(writes)/2].Round(10*time.Microsecond), writes[len(writes)*99/100].Round(10*time.Microsecond), writes[len(writes)-1].Round(10*time.Microsecond))
	if p99 := writes[len(writes)*99/100]; p99 > time.Second || long() && p99 > 100*time.Millisecond {
		t.Errorf("a heartbeat beside it took %v", p99)
	}
}
