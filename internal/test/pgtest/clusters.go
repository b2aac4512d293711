package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// CopyCluster copies a cluster that has prices, profiles and classes, until there are so many of them: c-1, c-2 and so on. The
// copies' prices differ. They are there all at once, so that none is planned before it is complete.
func CopyCluster(t testing.TB, conn *pgx.Conn, name string, clusters int) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`INSERT INTO clusters (name, description, currency, period_seconds, time_zone, options, inputs_version)
		 SELECT 'c-' || n, description, currency, period_seconds, time_zone, options, 1 FROM clusters, generate_series(1, $1::int) n WHERE name = $2`,
		`INSERT INTO vm_types (cluster_id, name, description, quota, in_use)
		 SELECT c.id, v.name, v.description, v.quota, v.in_use FROM vm_types v, clusters c WHERE c.name <> $2 AND $1::int > 0`,
		`INSERT INTO prices (id, cluster_id, vm_type_id, price, during)
		 SELECT gen_random_uuid(), c.id, w.id, p.price * (1 + 0.2 * c.id / $1::int), p.during
		 FROM prices p, clusters c JOIN vm_types w ON w.cluster_id = c.id WHERE c.name <> $2`,
		`INSERT INTO profile_versions
		 SELECT (jsonb_populate_record(p, jsonb_build_object('cluster_id', c.id))).* FROM profile_versions p, clusters c WHERE c.name <> $2 AND $1::int > 0`,
		`INSERT INTO classes (cluster_id, name, profile, profile_version, deadline_seconds, slots_map, slots_reduce, jobs_min, jobs_max, penalty)
		 SELECT c.id, t.name, profile, profile_version, deadline_seconds, slots_map, slots_reduce, jobs_min, jobs_max, penalty
		 FROM classes t, clusters c WHERE c.name <> $2 AND $1::int > 0`,
	} {
		if _, err := tx.Exec(t.Context(), sql, clusters-1, name); err != nil {
			t.Fatal(sql, err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
}

// ProcessorTimes is the processor time so far of the processes that this one has started, and that those have, by the name of
// their program. That of ended ones counts for whoever started them.
func ProcessorTimes() map[string]time.Duration {
	const tick = 10 * time.Millisecond
	type process struct {
		name   string
		parent int
		spent  time.Duration
	}
	all, times := map[int]process{}, map[string]time.Duration{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // gone
		}
		before, rest, _ := strings.Cut(string(text), "(")
		name, rest := rest[:strings.LastIndexByte(rest, ')')], rest[strings.LastIndexByte(rest, ')')+1:]
		pid, _ := strconv.Atoi(strings.TrimSpace(before))
		var p process
		if words := strings.Fields(rest); len(words) > 14 {
			p.name = name
			p.parent, _ = strconv.Atoi(words[1])
			for _, word := range words[11:15] {
				ticks, _ := strconv.Atoi(word)
				p.spent += time.Duration(ticks) * tick
			}
		}
		all[pid] = p
	}
	for pid, p := range all {
		for above := p.parent; above != 0; above = all[above].parent {
			if above == os.Getpid() && pid != above {
				times[p.name] += p.spent
				break
			}
		}
	}
	return times
}
