package queue_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// schedule makes a schedule of reports on the past, which need no forecast or price.
func schedule(t testing.TB, a *app.App, cluster, name string, every reporting.Every, hour int64) reporting.ReportSchedule {
	t.Helper()
	s, err := a.Reports.Schedules().Create(boss(t), cluster, reporting.ReportSchedule{Name: name, Every: every, Hour: hour, Covers: reporting.CoversBehind, Format: reporting.ReportCSV, Enabled: true, Keep: 24})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scheduleNow(t testing.TB, a *app.App, cluster, name string) reporting.ReportSchedule {
	t.Helper()
	s, err := a.Reports.Schedules().Get(boss(t), cluster, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reportsOf(t testing.TB, a *app.App, cluster string) []reporting.Report {
	t.Helper()
	list, err := a.Stores.Reports.Reports(boss(t), cluster, reporting.Filter{}, storage.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// untilMade waits for this many finished reports.
func untilMade(t testing.TB, a *app.App, cluster string, n int) []reporting.Report {
	t.Helper()
	for last := range await.Tries(30 * time.Second) {
		all, made := reportsOf(t, a, cluster), 0
		for _, r := range all {
			if r.File != nil {
				made++
			}
		}
		if made >= n {
			return all
		}
		if last {
			t.Fatalf("%d of %d reports are made: %+v", made, n, all)
		}
	}
	return nil
}

func due(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "UPDATE report_schedules SET next_at = clock_timestamp() - interval '1 second'"); err != nil {
		t.Fatal(err)
	}
}

// Several servers look for due reports at the same moments: each report is made once and announced once, with the
// right file.
func TestTwoServersMakeOneReportOfADueSchedule(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	conn := raw(t, url)
	servers := []*server{start(t, url, queue.Config{}), start(t, url, queue.Config{})}
	a := servers[0].App
	cluster(t, servers[0], "shop")
	plan(t, servers[0], "shop", 3)
	r := newReceiver(t, nil)
	hook(t, servers[0], "books", r, hooks.ReportMade)
	const schedules, rounds = 8, 3
	for i := range schedules {
		schedule(t, a, "shop", fmt.Sprintf("s%d", i), reporting.EveryDay, int64(i))
	}
	for round := 1; round <= rounds; round++ {
		due(t, conn)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				if _, err := servers[i%2].Reports.StartDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made := untilMade(t, a, "shop", schedules*round); len(made) != schedules*round {
			t.Fatalf("round %d: there are %d reports, want %d", round, len(made), schedules*round)
		}
	}
	bySchedule := map[string]int{}
	for _, made := range reportsOf(t, a, "shop") {
		if made.State != runs.RunSucceeded || made.By != "schedule" || made.At.After(time.Now()) || made.At.Before(time.Now().Add(-25*time.Hour)) {
			t.Errorf("a report is %+v", made)
		}
		bySchedule[*made.Schedule]++
	}
	for i := range schedules {
		s := scheduleNow(t, a, "shop", fmt.Sprintf("s%d", i))
		if bySchedule[s.Name] != rounds || s.NextAt == nil || !s.NextAt.After(time.Now()) {
			t.Errorf("%d reports of %+v", bySchedule[s.Name], s)
		}
	}
	reported := map[string]bool{}
	for _, m := range r.wait(t, schedules*rounds) {
		var e reporting.ReportMadeEvent
		if err := json.Unmarshal([]byte(m.body), &e); err != nil || e.Type != hooks.ReportMade || e.Cluster != "shop" || reported[e.Report.ID] {
			t.Fatalf("told %s: %v", m.body, err)
		}
		reported[e.Report.ID] = true
		if e.Report.File == nil || e.Report.File.URL != "/v1/clusters/shop/reports/"+e.Report.ID+"/file" || strings.Contains(m.body, "secret") {
			t.Errorf("told %s", m.body)
		}
		file := &reporting.Reader{Size: e.Report.File.Size, Part: func(n int64) ([]byte, error) { return a.Stores.Reports.ReportPart(t.Context(), e.Report.ID, n) }}
		text, err := io.ReadAll(file)
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(text)) != e.Report.File.SHA256 {
			t.Errorf("the file is not what was told: %v", err)
		}
	}
}

// A server is killed during a report: another one makes it, once.
func TestAServerThatIsKilledLosesNoReport(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	conn := raw(t, url)
	store := pgtest.OpenWith(t, postgres.Config{URL: url})
	a := app.New(store.Stores(), auth.NewKeyring(), app.Config{})
	if _, err := a.Clusters.Create(boss(t), inputs.NewCluster("shop")); err != nil {
		t.Fatal(err)
	}
	schedule(t, a, "shop", "daily", reporting.EveryDay, 6)
	due(t, conn)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+url)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "begun\n" {
		t.Fatalf("the child says %q (%v)", line, err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if left := reportsOf(t, a, "shop"); len(left) != 1 || left[0].State != runs.RunRunning || left[0].File != nil {
		t.Fatalf("what is left is %+v", left)
	}
	start(t, url, queue.Config{Lease: shortLease})
	if made := untilMade(t, a, "shop", 1); len(made) != 1 || made[0].Error != nil {
		t.Errorf("there are %+v", made)
	}
	if r, err := a.Runs.Run(boss(t), reportsOf(t, a, "shop")[0].ID); err != nil || r.Attempt != 2 {
		t.Errorf("its run is %+v %v", r, err)
	}
}

// For any behaviour of the clock: of missed moments the last one is made up for, none is made twice, and a wrong
// clock is forgotten.
func TestReportsFollowTheClock(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	now := time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC) // days before the clocks of Berlin change
	a := app.New(pgtest.OpenWith(t, postgres.Config{URL: url}).Stores(), auth.NewKeyring(), app.Config{Clock: func() time.Time { return now }})
	c := inputs.NewCluster("shop")
	c.TimeZone = "Europe/Berlin"
	c, err := a.Clusters.Create(boss(t), c)
	if err != nil {
		t.Fatal(err)
	}
	schedule(t, a, "shop", "daily", reporting.EveryDay, 2)
	step := func(to string, started int, last, next string) {
		t.Helper()
		if now, err = time.Parse(time.RFC3339, to); err != nil {
			t.Fatal(err)
		}
		n, err := a.Reports.StartDue(t.Context())
		if err != nil || n != started {
			t.Errorf("%s: %d reports were started, want %d (%v)", to, n, started, err)
		}
		if again, err := a.Reports.StartDue(t.Context()); err != nil || again != 0 {
			t.Errorf("%s: %d reports more were started (%v)", to, again, err)
		}
		newest := ""
		if all := reportsOf(t, a, "shop"); len(all) > 0 {
			newest = all[0].At.Format(time.RFC3339)
		}
		if s := scheduleNow(t, a, "shop", "daily"); newest != last || s.NextAt.UTC().Format(time.RFC3339) != next {
			t.Errorf("%s: the last report is for %s and the next for %s, want %s and %s", to, newest, s.NextAt.UTC().Format(time.RFC3339), last, next)
		}
	}
	step("2026-03-25T12:00:00Z", 0, "", "2026-03-26T01:00:00Z")
	step("2026-03-26T00:59:59Z", 0, "", "2026-03-26T01:00:00Z")
	step("2026-03-26T01:00:00Z", 1, "2026-03-26T01:00:00Z", "2026-03-27T01:00:00Z")
	step("2026-03-26T00:00:00Z", 0, "2026-03-26T01:00:00Z", "2026-03-27T01:00:00Z") // an hour back: not twice
	step("2026-03-26T01:30:00Z", 0, "2026-03-26T01:00:00Z", "2026-03-27T01:00:00Z")
	step("2026-03-29T01:00:00Z", 1, "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z") // days off; 2:00 does not exist that night: 3:00
	step("2026-04-10T22:00:00Z", 1, "2026-04-10T00:00:00Z", "2026-04-11T00:00:00Z") // two weeks off
	step("2027-04-10T22:00:00Z", 1, "2027-04-10T00:00:00Z", "2027-04-11T00:00:00Z") // a clock that is a year ahead
	step("2026-04-10T23:00:00Z", 0, "2027-04-10T00:00:00Z", "2026-04-11T00:00:00Z") // and is put right
	step("2026-04-11T00:00:00Z", 1, "2026-04-11T00:00:00Z", "2026-04-12T00:00:00Z")

	c.TimeZone = "Asia/Kolkata" // other clocks, other moments
	if _, err := a.Clusters.Replace(boss(t), c.Version, c); err != nil {
		t.Fatal(err)
	}
	step("2026-04-11T06:00:00Z", 0, "2026-04-11T00:00:00Z", "2026-04-11T20:30:00Z")
	step("2026-04-11T20:30:00Z", 1, "2026-04-11T20:30:00Z", "2026-04-12T20:30:00Z")
	if r := reportsOf(t, a, "shop")[0]; r.From.Format(time.RFC3339) != "2026-04-10T20:00:00Z" || r.Until.Format(time.RFC3339) != "2026-04-11T20:00:00Z" {
		t.Errorf("it covers %s until %s", r.From, r.Until)
	}

	// A disabled schedule, or one of a deleted cluster, makes none.
	s := scheduleNow(t, a, "shop", "daily")
	s.Enabled = false
	if s, err = a.Reports.Schedules().Replace(boss(t), "shop", "daily", s.Version, s); err != nil || s.NextAt != nil {
		t.Fatalf("%+v %v", s, err)
	}
	now = now.AddDate(0, 0, 9)
	if n, err := a.Reports.StartDue(t.Context()); n != 0 || err != nil {
		t.Errorf("%d reports of a schedule that is not enabled (%v)", n, err)
	}
	s.Enabled = true
	if _, err = a.Reports.Schedules().Replace(boss(t), "shop", "daily", s.Version, s); err != nil {
		t.Fatal(err)
	}
	there, err := a.Stores.Inputs.Cluster(boss(t), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Clusters.Delete(boss(t), "shop", there.Version); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 9)
	if n, err := a.Reports.StartDue(t.Context()); n != 0 || err != nil {
		t.Errorf("%d reports of a cluster that is gone (%v)", n, err)
	}
}
