package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// Nothing leaks (R21). A real server with a private Postgres is in service for ten minutes, with 200 requests a second
// of every kind and a page that stays open. It holds no more in the last third than in the middle one, and when all
// have gone it holds as much as before. In other runs of the tests it is in service for moments, which shows that every
// kind of request is answered as it should and that nobody leaves anything behind.
func TestSoak(t *testing.T) {
	besideOthers(t)
	lasts := soakTime(t)
	long, rate := lasts >= time.Minute, soakRate(t)
	var delivered atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil && r.Header.Get("webhook-signature") != "" {
			delivered.Add(1)
		}
	}))
	defer receiver.Close()
	temporary := filepath.Join(dataDirectory(t), "temporary")
	if err := os.Mkdir(temporary, 0o777); err != nil {
		t.Fatal(err)
	}
	profile := os.Getenv("SOAK_PROFILE")
	dataDir := madeDirectory(t)
	s := startServingWith(t, dataDir, []string{"TMPDIR=" + temporary, "HEADROOM_SOLVES_PER_SECOND=1000", "HEADROOM_REQUESTS_PER_SECOND=100000", "HEADROOM_LOG_LEVEL=warn", profileVariable + "=" + profile}, "--demo=still")
	k := newLoad(t, s)
	soakSettings(t, k, receiver.URL)
	visits := soakVisits(k, receiver.URL)
	k.round(t.Context(), visits)
	k.client.CloseIdleConnections()
	if missed := k.missed(); len(missed) > 0 {
		t.Logf("%d operations of the contract are not asked for: %s", len(missed), strings.Join(missed, ", "))
		if len(missed) > 8 {
			t.Error("the load leaves too much out")
		}
	}

	var page *openPage
	if long { // the page's own tests open it in the other runs
		page = openNow(t, s)
	}
	o := newObserver(t, s, temporary, page)
	before := o.look(t)
	o.states = nil
	if profile != "" {
		time.AfterFunc(lasts/2, func() { _ = s.Process.Signal(syscall.SIGUSR1) })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		times := rate / 200
		if !long {
			times /= 4
		}
		k.run(t.Context(), visits, times, lasts)
	}()
	every := time.NewTicker(min(5*time.Second, lasts/6))
	defer every.Stop()
	for serving := true; serving; {
		select {
		case <-every.C:
			o.look(t)
		case <-ended:
			serving = false
		}
	}
	took := time.Since(o.began)
	table, all := k.table()
	sentences, holds := o.grown()
	t.Logf("%d requests in %v, %d messages of webhooks\n%s%s", all, took.Round(time.Second), delivered.Load(), table, holds)
	if long {
		for _, text := range sentences {
			t.Error(text)
		}
		page.follows(t, k)
	}
	for _, text := range k.wrong {
		t.Error(text)
	}
	if k.wrongs > 0 {
		t.Errorf("%d answers were not as expected", k.wrongs)
	}
	off := 0
	for _, n := range k.putOff {
		off += n
	}
	if off > all/10 {
		t.Errorf("%d of %d requests were put off because there was too much at once", off, all)
	}
	if delivered.Load() == 0 {
		t.Error("no message came to the webhook")
	}
	k.client.CloseIdleConnections()
	rest := o.rests(t, before)
	t.Attr("R21", fmt.Sprintf("%v, %d requests to %d operations, %d unexpected; %s", lasts, all, len(k.took), k.wrongs, rest))
	children := descendants(s.Process.Pid)
	s.stop(t)
	allGone(t, children)
	if left := files(t, temporary); len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
	for line := range strings.Lines(s.stderr.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			t.Errorf("the server says: %s", line)
		}
	}
}

// rests waits until the server holds what it held before the load, but for the connections to the database and
// the solvers that it keeps on purpose, and says what it holds.
func (o *observer) rests(t *testing.T, before state) string {
	t.Helper()
	const kept = 30 // 20 connections to the database, pipes to solvers
	var now state
	for range await.Tries(time.Minute) {
		now = o.look(t)
		if now.holds["goroutines"] <= before.holds["goroutines"]+10 && now.holds["descriptors"] <= before.holds["descriptors"]+kept && now.holds["temporary files"] == 0 {
			return fmt.Sprintf("at rest again with %.0f goroutines (%.0f before), %.0f descriptors (%.0f)", now.holds["goroutines"], before.holds["goroutines"], now.holds["descriptors"], before.holds["descriptors"])
		}
	}
	t.Errorf("a minute after the load the server holds %v, before it held %v; temporary files: %q", now.holds, before.holds, files(t, o.temporary))
	return "not at rest"
}

// follows makes sure that the page is still alive: it shows a plan that is made now.
func (p *openPage) follows(t *testing.T, k *load) {
	t.Helper()
	if p == nil {
		return
	}
	c := &caller{load: k, ctx: t.Context()}
	const at = soakDemo + "/classes/dashboards"
	c.send("PUT", at, `{"name":"dashboards","profile":{"name":"dashboard","version":1},"deadline_s":300,"slots_per_vm":{"map":8,"reduce":8},"jobs":{"min":10,"max":23},"penalty":"1.20"}`, []int{200}, "If-Match", c.get(at).etag())
	shown := ""
	for range await.Tries(30 * time.Second) {
		var plan struct {
			VMs, Admitted, Refused int
			Stale                  bool
		}
		if json.Unmarshal(c.get(soakDemo+"/plans/current").text, &plan) != nil || plan.Stale {
			continue
		}
		shown = pageValue[string](t, p, `document.querySelector("h1").textContent`)
		if strings.HasPrefix(shown, fmt.Sprintf("%d jobs run at once on %d VMs. %d jobs are refused", plan.Admitted, plan.VMs, plan.Refused)) {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, text := range p.wrong {
				t.Errorf("the page: %s", text)
			}
			return
		}
	}
	t.Errorf("30 s after a change the page says %q", shown)
}
