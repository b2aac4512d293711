package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"headroom/internal/core/capacity"
	"headroom/internal/core/perf"
	"headroom/internal/data/history"
	"headroom/internal/edge/cli/shell"
	"headroom/internal/service/plans"
	"headroom/internal/test/historytest"
)

// watched is a directory of event logs that a command watches for a server.
type watched struct {
	server  *served
	watcher *exec.Cmd
	said    *lockedBuffer
	dir     string // of the server's data
	address string
	logs    string
}

func watchLogs(t *testing.T) *watched {
	t.Helper()
	w := &watched{said: &lockedBuffer{}, dir: dataDirectory(t), address: testPort(t), logs: t.TempDir()}
	w.serve(t)
	t.Cleanup(func() { w.endWatcher(t) })
	return w
}

// serve starts the server, at the same address each time.
func (w *watched) serve(t *testing.T) {
	t.Helper()
	w.server = launch(t, w.dir, nil, "--listen", w.address)
	w.server.address = w.address
	w.server.await(t)
}

// verb runs a command of this program.
func (w *watched) verb(t *testing.T, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	if code := run(t.Context(), append(args, "--data-dir", w.dir), strings.NewReader(""), &out, &trouble); code != shell.ExitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, &trouble)
	}
	return out.String()
}

// watch starts the watcher.
func (w *watched) watch(t *testing.T) {
	t.Helper()
	w.watcher = exec.Command("headroom", "history", "watch", "shop", w.logs, "--every", "1s", "--data-dir", w.dir)
	w.watcher.Stdout, w.watcher.Stderr = w.said, w.said
	if err := w.watcher.Start(); err != nil {
		t.Fatal(err)
	}
}

// endWatcher kills the watcher.
func (w *watched) endWatcher(t *testing.T) {
	t.Helper()
	if w.watcher == nil {
		return
	}
	_ = w.watcher.Process.Kill()
	_ = w.watcher.Wait()
	if t.Failed() {
		t.Logf("the watcher said\n%s", w.said)
	}
}

// kept returns the executions that the server has.
func (w *watched) kept(t *testing.T) (all []history.StoredExecution) {
	t.Helper()
	var page struct{ Items []history.StoredExecution }
	if err := json.Unmarshal([]byte(w.server.get(t, "/v1/clusters/shop/executions?limit=1000")), &page); err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// write writes a log as Spark does, or as somebody who copies it: in two pieces, with a pause that covers several looks.
func (w *watched) write(t *testing.T, n int, app historytest.App) {
	text := []byte(app.EventLog())
	cut := len(text) * (1 + n%5) / 6
	name := filepath.Join(w.logs, app.ID)
	put := func(file string, text []byte) {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.Write(text)
			_ = f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	rename := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Error(err)
		}
	}
	pause := func() { time.Sleep(3500 * time.Millisecond) } // it is the thing under test
	switch n % 4 {
	case 0:
		put(name+".inprogress", text[:cut])
		pause()
		put(name+".inprogress", text[cut:])
		rename(name+".inprogress", name)
	case 1: // copied
		put(name, text[:cut])
		pause()
		put(name, text[cut:])
	case 2:
		packed := packed(t, text)
		cut = len(packed) / 2
		put(name+".zstd.inprogress", packed[:cut])
		pause()
		put(name+".zstd.inprogress", packed[cut:])
		rename(name+".zstd.inprogress", name+".zstd")
	case 3:
		dir := filepath.Join(w.logs, "eventlog_v2_"+app.ID)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Error(err)
		}
		cut = bytes.IndexByte(text[cut:], '\n') + cut + 1
		status := filepath.Join(dir, "appstatus_"+app.ID)
		put(status+".inprogress", nil)
		put(filepath.Join(dir, "events_1_"+app.ID+".zstd"), packed(t, text[:cut]))
		pause()
		put(filepath.Join(dir, "events_2_"+app.ID+".zstd"), packed(t, text[cut:]))
		rename(status+".inprogress", status)
	}
}

func packed(t *testing.T, text []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer w.Close()
	return w.EncodeAll(text, nil)
}

// Logs are written in all forms while the watcher and the server are killed: each application is kept once, as it was,
// and none before its end.
func TestWatchedLogsAreKeptOnce(t *testing.T) {
	t.Parallel()
	n, kills := 24, 3
	if wholeSamples {
		n, kills = 400, 20
	}
	w := watchLogs(t)
	w.verb(t, "cluster", "create", "--name", "shop")
	w.watch(t)
	apps := historytest.Apps(3, n, 30)
	want := map[string]historytest.App{}
	written := make(chan int, n)
	for i, app := range apps {
		id := app.ID
		if app.Try != "" {
			id += "_" + app.Try
		}
		want[id] = app
		go func() {
			time.Sleep(time.Duration(i) * 10 * time.Second / time.Duration(n))
			w.write(t, i, app)
			written <- i
		}()
	}
	random := rand.New(rand.NewPCG(5, 1))
	for k := range kills {
		time.Sleep(time.Duration(500+random.IntN(12_000/kills)) * time.Millisecond)
		if k%3 == 1 {
			w.server.kill(t)
			w.serve(t)
			continue
		}
		w.endWatcher(t)
		w.watch(t)
	}
	for range apps {
		<-written
	}
	waits(t, "all applications are kept", time.Minute, func() bool { return len(w.kept(t)) >= n })
	time.Sleep(2500 * time.Millisecond) // whatever would come twice has come
	all := w.kept(t)
	seen := map[string]bool{}
	for _, e := range all {
		app, known := want[e.Execution]
		outcome, seconds := "succeeded", float64(app.Finished-app.Started)/1000
		if app.Failed {
			outcome = "failed"
		}
		if !known || seen[e.Execution] || e.Job != app.Name || e.Outcome != outcome || e.Seconds == nil || *e.Seconds != seconds || !app.Failed && e.Refused != "" {
			t.Errorf("kept is %+v, want %s of %s, %g s, once", e.Facts, outcome, app.Name, seconds)
		}
		seen[e.Execution] = true
	}
	if len(all) != n {
		t.Errorf("%d executions are kept of %d", len(all), n)
	}
	if text := fmt.Sprint(w.said); !strings.Contains(text, "of job etl") {
		t.Errorf("the watcher says %s", text)
	}
}

// sparkPrograms puts a real Spark on the path, that of make test-engines last. Where there is none the test is skipped, unless HEADROOM_ENGINES demands it.
func sparkPrograms(t *testing.T) {
	t.Helper()
	if !wholeSamples {
		t.Skip("make test-engines runs it: it takes minutes")
	}
	ours, _ := filepath.Glob("../../bin/spark/lib/python3*/site-packages/pyspark/bin") // the pattern is right
	for _, dir := range ours {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+absolute)
	}
	switch _, err := exec.LookPath("spark-submit"); {
	case err == nil:
	case os.Getenv("HEADROOM_ENGINES") != "":
		t.Fatal("spark-submit is missing: make test-engines installs Spark")
	default:
		t.Skip("spark-submit is not installed: make test-engines installs Spark")
	}
}

// apply makes the cluster, with classes of these deadlines.
func (w *watched) apply(t *testing.T, deadlines map[string]float64) {
	t.Helper()
	classes := []string{}
	for _, job := range slices.Sorted(maps.Keys(deadlines)) {
		classes = append(classes, fmt.Sprintf(`{"name":%q,"profile":{"name":%q},"deadline_s":%g,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":1},"penalty":"9"}`,
			job, job, deadlines[job]))
	}
	file := filepath.Join(t.TempDir(), "shop.json")
	text := `{"cluster":{"name":"shop","currency":"USD","options":{"bound":"calibrated"}},"vm_types":[{"name":"m","in_use":true,"quota":20}],
		"prices":[{"vm_type":"m","price":"0.3","from":"2020-01-01T00:00:00Z"}],"classes":[` + strings.Join(classes, ",") + "]}"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.verb(t, "apply", "-f", file, "--yes")
}

// calibrate makes profiles of what ran, classes of these deadlines, and their calibrations.
func (w *watched) calibrate(t *testing.T, deadlines map[string]float64) {
	t.Helper()
	for job := range deadlines {
		w.verb(t, "profile", "from-history", "shop", job)
	}
	w.apply(t, deadlines)
	for job := range deadlines {
		w.verb(t, "calibration", "adopt", "shop", job)
	}
}

// sparkRuns says how often each job is measured, how long its tasks are, and on how many slots that is.
const (
	sparkRuns   = 3
	sparkSize   = "2"
	sparkBefore = 2
)

var sparkJobs = []string{"etl", "words", "join"}

// Three jobs of a real Spark, two of them with a slow task, run on two slots. What they took becomes profiles, calibrations
// and a plan with deadlines that none of these runs met. With the slots of the plan all are met.
func TestSparkMeetsItsDeadlines(t *testing.T) {
	sparkPrograms(t)
	w := watchLogs(t)
	w.apply(t, nil)
	w.watch(t)
	seed := 0
	application := func(program, job string, options ...string) {
		t.Helper()
		seed++
		args := append(options, "--conf", "spark.ui.enabled=false", "--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.compress=true",
			"--conf", "spark.eventLog.dir=file://"+w.logs, "testdata/spark/job.py", job, sparkSize, fmt.Sprint(seed))
		c := exec.CommandContext(t.Context(), program, args...)
		c.Env = append(os.Environ(), "HEADROOM_URL=http://"+w.address, "HEADROOM_API_KEY="+w.server.key(t), "HEADROOM_STATE="+t.TempDir())
		if said, err := c.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("rows ")) {
			t.Fatalf("%s: %v\n%s", job, err, said[max(0, len(said)-3000):])
		}
	}
	// ran returns the seconds of the latest executions of a job, and on how many slots they ran.
	ran := func(job string, n int) (seconds []float64, slots int64) {
		t.Helper()
		waits(t, "all is measured", time.Minute, func() bool { return len(w.kept(t)) >= seed })
		for _, e := range w.kept(t) {
			if e.Job == job && len(seconds) < n && e.Seconds != nil && e.MapSlots != nil {
				seconds, slots = append(seconds, *e.Seconds), *e.MapSlots
			}
		}
		return seconds, slots
	}
	for range sparkRuns {
		for _, job := range sparkJobs {
			application("spark-submit", job, "--master", fmt.Sprintf("local[%d]", sparkBefore))
		}
	}
	deadlines := map[string]float64{}
	for _, job := range sparkJobs {
		took, slots := ran(job, sparkRuns)
		if len(took) != sparkRuns || slots != sparkBefore {
			t.Fatalf("%s took %v s on %d slots", job, took, slots)
		}
		deadlines[job] = math.Round(8*slices.Min(took)) / 10
		t.Logf("%s took %v s on %d slots; its deadline is %g s", job, took, slots, deadlines[job])
	}
	w.calibrate(t, deadlines)
	w.verb(t, "plan", "create", "shop")
	var p plans.Scaling
	if err := json.Unmarshal([]byte(w.server.get(t, "/v1/clusters/shop/plans/current/scaling")), &p); err != nil {
		t.Fatal(err)
	}
	for _, job := range sparkJobs {
		application("../../deploy/spark/run.sh", job, "shop", job, "--master", "local[*]")
		took, slots := ran(job, 1)
		planned := p.Classes[job].SlotsMap
		t.Logf("%s took %v s on %d slots by the plan; its deadline is %g s", job, took, slots, deadlines[job])
		if len(took) != 1 || slots != planned || planned <= sparkBefore || took[0] > deadlines[job] {
			t.Errorf("%s took %v s on %d slots of %d planned; its deadline is %g s", job, took, slots, planned, deadlines[job])
		}
	}
	if said := w.verb(t, "admission", "list", "shop"); !strings.Contains(said, "No job holds a lease.") {
		t.Errorf("places are left:\n%s", said)
	}
}

// Three jobs of a real Spark run on two, three and four slots. Calibrated with the first runs, at most one in twenty of the
// later ones takes longer than its calibrated time, as far as 63 runs can tell.
func TestSparkKeepsToCalibratedTimes(t *testing.T) {
	const before, after = 90, 63
	const most = 8 // of 63, if each exceeds with a chance of 0.05, more do in one of 500 tests
	sparkPrograms(t)
	w := watchLogs(t)
	w.apply(t, nil)
	w.watch(t)
	random := rand.New(rand.NewPCG(29, 3))
	seed := 0
	runs := func(n int) {
		t.Helper()
		var lines strings.Builder
		for range n / 9 {
			for _, which := range random.Perm(9) {
				seed++
				fmt.Fprintln(&lines, sparkJobs[which/3], 2+which%3, 1, seed)
			}
		}
		c := exec.CommandContext(t.Context(), "spark-submit", "--py-files", "testdata/spark/job.py", "testdata/spark/runs.py", w.logs)
		c.Stdin = strings.NewReader(lines.String())
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said[max(0, len(said)-3000):])
		}
		waits(t, "all is measured", time.Minute, func() bool { return len(w.kept(t)) >= seed })
	}
	runs(before)
	deadlines := map[string]float64{}
	for _, job := range sparkJobs {
		deadlines[job] = 3600
	}
	w.calibrate(t, deadlines)
	runs(after)
	var list struct {
		Items []struct {
			Name        string
			Calibration capacity.Calibration
			Drift       perf.Drift
		}
	}
	if err := json.Unmarshal([]byte(w.server.get(t, "/v1/clusters/shop/classes")), &list); err != nil {
		t.Fatal(err)
	}
	measured, exceeded := int64(0), int64(0)
	for _, class := range list.Items {
		t.Logf("%s: %s × %g. %s", class.Name, class.Calibration.Bound, class.Calibration.Factor, class.Drift.Detail)
		measured, exceeded = measured+class.Drift.Executions, exceeded+class.Drift.Exceeded
	}
	t.Logf("%d of %d runs kept to their calibrated time", measured-exceeded, measured)
	if measured != after || exceeded > most {
		t.Errorf("%d of %d runs took longer than their calibrated time, want at most %d of %d", exceeded, measured, most, after)
	}
}
