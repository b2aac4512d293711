package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/edge/postgres/private"
)

// What a server holds while it is in service, and whether it holds more and more of it.

// holding is one thing that must not grow: by no more than a share of what it was, and what its own coming and going
// explains. Middle and last third of the time are compared by their medians; the first third is for warming up.
type holding struct {
	name, unit   string
	share, noise float64
}

var soakHolds = []holding{
	{"resident memory", "MB", 0.10, 8},
	{"live heap", "MB", 0.10, 4}, // half of where the next collection is due
	{"goroutines", "", 0.10, 15},
	{"descriptors", "", 0.10, 15},
	{"child processes", "", 0, 1}, // without Postgres'
	{"temporary files", "", 0, 1},
	{"database connections", "", 0, 3},
	{"nodes of the page", "", 0.10, 100},
	{"heap of the page", "MB", 0.25, 4},
}

// stored is a table as Postgres counts it.
type stored struct{ rows, dead, bytes int64 }

// state holds the resources of the server at a moment.
type state struct {
	at     time.Duration
	holds  map[string]float64
	tables map[string]stored
}

// observer looks at a server from outside.
type observer struct {
	s         *served
	temporary string // the server's own folder for temporary files
	database  *pgx.Conn
	page      *openPage // may be nil
	began     time.Time
	states    []state
}

func newObserver(t *testing.T, s *served, temporary string, page *openPage) *observer {
	t.Helper()
	url, running, err := private.Attach(s.dataDir)
	if err != nil || !running {
		t.Fatalf("the private database: running %v, %v", running, err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &observer{s: s, temporary: temporary, database: conn, page: page, began: time.Now()}
}

// look notes what the server holds now.
func (o *observer) look(t *testing.T) state {
	t.Helper()
	figures := o.s.get(t, "/metrics")
	metric := func(name string) float64 {
		for line := range strings.Lines(figures) {
			if value, found := strings.CutPrefix(line, name+" "); found {
				x, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
				return x
			}
		}
		t.Fatalf("no metric %s", name)
		return 0
	}
	descriptors, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", o.s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	children := 0
	for _, pid := range descendants(o.s.Process.Pid) {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && !strings.HasPrefix(string(name), "postgres") {
			children++
		}
	}
	now := state{at: time.Since(o.began), tables: map[string]stored{}, holds: map[string]float64{
		"resident memory": metric("process_resident_memory_bytes") / 1e6, "live heap": metric("go_memstats_next_gc_bytes") / 2e6,
		"goroutines": metric("go_goroutines"), "descriptors": float64(len(descriptors)), "child processes": float64(children),
		"temporary files": float64(len(files(t, o.temporary))),
	}}
	var connections int64
	if err := o.database.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").Scan(&connections); err != nil {
		t.Fatal(err)
	}
	now.holds["database connections"] = float64(connections)
	rows, err := o.database.Query(t.Context(), "SELECT schemaname || '.' || relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid) FROM pg_stat_user_tables")
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var s stored
	if _, err := pgx.ForEachRow(rows, []any{&name, &s.rows, &s.dead, &s.bytes}, func() error { now.tables[name] = s; return nil }); err != nil {
		t.Fatal(err)
	}
	if o.page != nil {
		now.holds["nodes of the page"], now.holds["heap of the page"] = o.page.weight(t)
	}
	o.states = append(o.states, now)
	return now
}

// files are those below a folder.
func files(t *testing.T, below string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(below, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return nil // what is gone meanwhile is gone
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// third are the states of the first, the middle or the last third.
func (o *observer) third(i int) []state {
	return o.states[i*len(o.states)/3 : (i+1)*len(o.states)/3]
}

func median(of []state, value func(state) float64) float64 {
	var all []float64
	for _, s := range of {
		all = append(all, value(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// grown are the sentences on what has grown, and a table of everything.
func (o *observer) grown() (sentences []string, table string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "first third\tmiddle\tlast\tallowed\t  held")
	for _, h := range soakHolds {
		if _, there := o.states[0].holds[h.name]; !there {
			continue
		}
		of := func(s state) float64 { return s.holds[h.name] }
		middle, last := median(o.third(1), of), median(o.third(2), of)
		allowed := middle*(1+h.share) + h.noise
		fmt.Fprintf(w, "%.1f\t%.1f\t%.1f\t%.1f\t  %s %s\n", median(o.third(0), of), middle, last, allowed, h.name, h.unit)
		if last > allowed {
			sentences = append(sentences, fmt.Sprintf("%s went from %.1f to %.1f %s in the last third; %.1f were allowed", h.name, middle, last, h.unit, allowed))
		}
	}
	_ = w.Flush()
	more, tables := o.tablesGrown()
	return append(sentences, more...), text.String() + tables
}

// tablesGrown is about tables: they may grow as their rows do, which are kept on purpose, and no faster.
func (o *observer) tablesGrown() (sentences []string, table string) {
	const pages = 1 << 20 // what indexes, maps and a pause of the vacuum explain
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rows before\tmiddle\tlast\tdead\tkB before\tmiddle\tlast\t  table")
	last := o.states[len(o.states)-1]
	for _, name := range slices.Sorted(maps.Keys(last.tables)) {
		rows := func(s state) float64 { return float64(s.tables[name].rows) }
		bytes := func(s state) float64 { return float64(s.tables[name].bytes) }
		middle, end := o.third(1), o.third(2)
		if bytes(last) > bytes(o.states[0])+64<<10 {
			fmt.Fprintf(w, "%.0f\t%.0f\t%.0f\t%d\t%.0f\t%.0f\t%.0f\t  %s\n", rows(o.states[0]), median(middle, rows), median(end, rows), last.tables[name].dead,
				bytes(o.states[0])/1e3, median(middle, bytes)/1e3, median(end, bytes)/1e3, name)
		}
		growth := max(1, median(end, rows)/max(1, median(middle, rows)))
		if allowed := 1.1*growth*median(middle, bytes) + pages; median(end, bytes) > allowed {
			sentences = append(sentences, fmt.Sprintf("table %s went from %.0f to %.0f kB in the last third, where its rows explain %.0f", name, median(middle, bytes)/1e3, median(end, bytes)/1e3, allowed/1e3))
		}
	}
	_ = w.Flush()
	return sentences, text.String()
}
