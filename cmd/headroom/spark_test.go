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

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/historytest"
)

// watched is a directory of event logs that a command watches for a server.
type watched struct {
	homed
	watcher *exec.Cmd
	said    *lockedBuffer
	logs    string
	agent   string // key of the watcher and of applications
}

func watchLogs(t *testing.T) *watched {
	t.Helper()
	w := &watched{homed: startHomed(t), said: &lockedBuffer{}, logs: t.TempDir()}
	w.agent = w.agentKey(t)
	t.Cleanup(func() { w.endWatcher(t) })
	return w
}

// watch starts the watcher.
func (w *watched) watch(t *testing.T) {
	t.Helper()
	w.watcher = exec.Command("headroom", "history", "watch", "shop", w.logs, "--every", "1s")
	w.watcher.Env = append(os.Environ(), "HEADROOM_URL=http://"+w.address, "HEADROOM_API_KEY="+w.agent)
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
	pause := func() { lasts(3500 * time.Millisecond) } // it is the thing under test
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
	written, began := make(chan int, n), time.Now()
	for i, app := range apps {
		id := app.ID
		if app.Try != "" {
			id += "_" + app.Try
		}
		want[id] = app
		go func() {
			sleepUntil(began.Add(time.Duration(i) * 10 * time.Second / time.Duration(n)))
			w.write(t, i, app)
			written <- i
		}()
	}
	random := rand.New(rand.NewPCG(5, 1))
	for k := range kills {
		lasts(time.Duration(500+random.IntN(12_000/kills)) * time.Millisecond)
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
	lasts(2500 * time.Millisecond) // whatever would come twice has come
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

// A real Spark runs a job twice on two slots. What it took becomes a profile, a calibration and a plan. By the plan it then
// runs on as many slots as the plan has, is measured on them, ends in time and leaves no place behind.
func TestSparkRunsByThePlan(t *testing.T) {
	sparkPrograms(t)
	const measured = 2
	w := watchLogs(t)
	w.apply(t, nil)
	w.watch(t)
	seed := 0
	application := func(program string, options ...string) {
		t.Helper()
		seed++
		args := append(options, "--conf", "spark.ui.enabled=false", "--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.compress=true",
			"--conf", "spark.eventLog.dir=file://"+w.logs, "testdata/spark/job.py", "etl", "1", fmt.Sprint(seed))
		c := exec.CommandContext(t.Context(), program, args...)
		c.Env = append(os.Environ(), "HEADROOM_URL=http://"+w.address, "HEADROOM_API_KEY="+w.agent, "HEADROOM_STATE="+t.TempDir())
		if said, err := c.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("rows ")) {
			t.Fatalf("%v\n%s", err, said[max(0, len(said)-3000):])
		}
		waits(t, "it is measured", time.Minute, func() bool { return len(w.kept(t)) >= seed })
	}
	slowest := 0.0
	for range measured {
		application("spark-submit", "--master", "local[2]", "--name", "etl")
	}
	for _, e := range w.kept(t) {
		if e.Job != "etl" || e.Seconds == nil || e.MapSlots == nil || *e.MapSlots != 2 {
			t.Fatalf("kept is %+v, want etl on 2 slots", e)
		}
		slowest = max(slowest, *e.Seconds)
	}
	deadline := math.Round(2 * slowest)
	w.calibrate(t, map[string]float64{"etl": deadline})
	w.verb(t, "plan", "create", "shop")
	var p plans.Scaling
	if err := json.Unmarshal([]byte(w.server.get(t, "/v1/clusters/shop/plans/current/scaling")), &p); err != nil {
		t.Fatal(err)
	}
	var last history.StoredExecution
	for range 2 { // a calibration promises nothing about the other programs of this machine
		application("../../deploy/spark/run.sh", "shop", "etl", "--master", "local[*]")
		last = w.kept(t)[0] // the newest
		t.Logf("it took %g s on %d slots; the plan has %d for a deadline of %g s", *last.Seconds, *last.MapSlots, p.Classes["etl"].SlotsMap, deadline)
		if *last.Seconds <= deadline {
			break
		}
	}
	if planned := p.Classes["etl"].SlotsMap; planned < 1 || *last.MapSlots != planned || *last.Seconds > deadline {
		t.Errorf("it took %g s on %d slots; the plan has %d for a deadline of %g s", *last.Seconds, *last.MapSlots, planned, deadline)
	}
	if said := w.verb(t, "admission", "list", "shop"); !strings.Contains(said, "No job holds a lease.") {
		t.Errorf("places are left:\n%s", said)
	}
}
