package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"headroom/internal/data/history"
	"headroom/internal/edge/cli/shell"
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
