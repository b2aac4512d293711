package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/historytest"
	"example.org/headroom/internal/test/pgtest"
)

// eventLogs writes event logs of runs, three a day, and a file that is none.
func eventLogs(t *testing.T, runs int, failed bool) (files []string) {
	t.Helper()
	dir := t.TempDir()
	begins := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for i, app := range historytest.Apps(3, runs, 12) {
		move := begins.Add(time.Duration(8*i)*time.Hour).UnixMilli() - app.Started
		app.Started, app.Finished, app.Failed = app.Started+move, app.Finished+move, failed
		for _, stage := range app.Stages {
			for j := range stage {
				stage[j].Start, stage[j].Finish = stage[j].Start+move, stage[j].Finish+move
			}
		}
		files = append(files, filepath.Join(dir, app.ID))
		if err := os.WriteFile(files[i], []byte(app.EventLog()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return append(files, file(t, "manifest.csv", "file,kind\na,b\n"))
}

// walkRuns leads from logs of past runs to a plan, and from those that are of no use back to where it began.
func walkRuns(t *testing.T, _ *server, b context.Context) {
	s := startWith(t, []string{"HEADROOM_IMPORT_MAX_BYTES=1048576"}, freeAddress(t), pgtest.Database(t))
	ctx := s.tab(t, b, "413") // of the file that is too large
	s.signIn(t, ctx, "/welcome?way=history")
	clusters := func() string {
		var l struct{ Items []struct{ Name string } }
		s.get(t, "/v1/clusters", &l)
		return fmt.Sprint(l.Items)
	}
	says := func(text string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text))
	}
	give(t, ctx, eventLogs(t, 3, true)...)
	says("4 files")
	press(t, ctx, "Import")
	says("Without a price nothing can be planned.")
	write(t, ctx, "#field-vm-types-0-name", "big")
	write(t, ctx, "#field-prices-0-price", "cheap")
	press(t, ctx, "Import")
	says("The cluster was not made.")
	write(t, ctx, "#field-prices-0-price", "0.192")

	// Logs of failed runs alone make no class, and leave no cluster.
	press(t, ctx, "Import")
	says("No class can be made of these runs")
	says("It failed")
	says("manifest.csv")
	if got := clusters(); got != "[]" {
		t.Errorf("clusters are left: %s", got)
	}
	picture(t, ctx, "runs-failed")
	give(t, ctx, file(t, "tasks.csv", "job,execution,task,kind,duration_s\n"))
	press(t, ctx, "Import")
	says("There is no run in it that can be taken.")
	if got := clusters(); got != "[]" {
		t.Errorf("clusters are left: %s", got)
	}

	// Logs of 60 runs make two classes, of which one gets another name and deadline. A file that is too large is told.
	began := time.Now()
	give(t, ctx, append(eventLogs(t, 60, false), file(t, "large.csv", strings.Repeat("x", 1_200_000)))...)
	says("62 files")
	press(t, ctx, "Import")
	says("60 runs of 2 jobs")
	says("large.csv, the file")
	says("more than 1048576 bytes")
	says("how many processors")
	write(t, ctx, "#field-slots", "4")
	press(t, ctx, "Go on")
	says("2 classes can be made of these runs")
	calm(t, ctx, "classes of runs")
	looks(t, ctx, "runs")
	write(t, ctx, `input[aria-label="Name of etl 0"]`, "nightly")
	write(t, ctx, `input[aria-label="Deadline of etl 0"]`, "soon")
	value[bool](t, ctx, `document.querySelector('input[aria-label="Make a class of etl 1"]').click(), true`)
	press(t, ctx, "Make 1 class")
	says("etl 0: ")
	write(t, ctx, `input[aria-label="Deadline of etl 0"]`, "2 h")
	press(t, ctx, "Make 1 class")
	until(t, ctx, `location.pathname === "/c/first/plan" && document.querySelector("h1")?.textContent.includes("at once on")`)
	t.Logf("from files to a plan in %.1f s", time.Since(began).Seconds())
	var class struct {
		Deadline float64 `json:"deadline_s"`
		Slots    struct{ Map float64 }
	}
	if s.get(t, "/v1/clusters/first/classes/nightly", &class); class.Deadline != 7200 {
		t.Errorf("the class is %+v", class)
	}

	// The job that was left out can be made later, under a name that is free.
	s.open(t, ctx, "/c/first/classes/import")
	write(t, ctx, "#field-slots", "4")
	press(t, ctx, "Go on")
	says("2 classes can be made of these runs")
	write(t, ctx, `input[aria-label="Name of etl 1"]`, "nightly")
	value[bool](t, ctx, `document.querySelector('input[aria-label="Make a class of etl 0"]').click(), true`)
	press(t, ctx, "Make 1 class")
	says(`There is a class "nightly" already`)
	picture(t, ctx, "runs-taken")
	write(t, ctx, `input[aria-label="Name of etl 1"]`, "hourly")
	press(t, ctx, "Make 1 class")
	until(t, ctx, `location.pathname === "/c/first/plan"`)
	var all struct{ Items []struct{ Name string } }
	if s.get(t, "/v1/clusters/first/classes", &all); !strings.Contains(fmt.Sprint(all.Items), "hourly") {
		t.Errorf("the classes are %v", all.Items)
	}
}
