package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

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

// rolledLogs writes rolled event logs of Spark in folders: one whole, of ten packed parts, and one without its first part; and
// a log that is one file.
func rolledLogs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put := func(name string, text []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	apps := historytest.Apps(5, 2, 12)
	log := func(i int) string {
		return strings.ReplaceAll(apps[i].EventLog(), "application_177", "application_178")
	} // whose ids are new
	lines := slices.Collect(strings.Lines(log(0)))
	for i := range 10 {
		var part bytes.Buffer
		w := gzip.NewWriter(&part)
		_, err := w.Write([]byte(strings.Join(lines[i*len(lines)/10:(i+1)*len(lines)/10], "")))
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		put(fmt.Sprintf("eventlog_v2_whole/events_%d_whole.gz", i+1), part.Bytes())
	}
	put("eventlog_v2_whole/appstatus_whole", nil)
	put("eventlog_v2_torn/events_2_torn", []byte(strings.Join(lines, "")))
	put("single", []byte(log(1)))
	return dir
}

// drop drops a file or a folder where files are asked for.
func drop(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	until(t, ctx, `document.querySelector("label.drop")`)
	at := value[[]float64](t, ctx, `(() => { const r = document.querySelector("label.drop").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{path}, DragOperationsMask: 1}
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
			if _, err := cdp.Call(ctx, target, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: at[0], Y: at[1], Data: data}); err != nil {
				return err
			}
		}
		return nil
	}))
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

	// A rolled log is put together of its parts, chosen by themselves or as a folder; one that lacks a part is told.
	s.open(t, ctx, "/c/first/classes/import")
	rolled := rolledLogs(t)
	give(t, ctx, filepath.Join(rolled, "eventlog_v2_torn", "events_2_torn"))
	press(t, ctx, "Import")
	says("Part 1 of the log is missing. Choose all parts, or the whole folder.")
	var parts []string
	for _, name := range []string{"events_10_whole.gz", "events_2_whole.gz", "events_1_whole.gz", "events_3_whole.gz", "events_4_whole.gz", "events_5_whole.gz", "events_6_whole.gz", "events_7_whole.gz", "events_8_whole.gz", "events_9_whole.gz", "appstatus_whole"} {
		parts = append(parts, filepath.Join(rolled, "eventlog_v2_whole", name))
	}
	give(t, ctx, parts...)
	says("whole.gz, ")
	press(t, ctx, "Import")
	says("1 run of 1 job")
	do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("input[type=file][webkitdirectory]"), []string{rolled}))
	says("3 files")
	press(t, ctx, "Import")
	says("2 runs of 2 jobs")
	says("torn, the log")
	s.open(t, ctx, "/c/first/classes/import")
	drop(t, ctx, rolled)
	says("3 files")
}
