package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/openapi"
)

// peer is one of two servers over one database that send requests on to each other.
type peer struct {
	*httptest.Server
	replicaCaller
	store *postgres.Store
	keys  *auth.Keyring
	peers *heartbeat.Peers
	app   *app.App
	t     *telemetry.Telemetry
	log   *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// startPeers starts servers that share one admin key and know one another.
func startPeers(t *testing.T, many int) (all []*peer) {
	t.Helper()
	address := pgtest.Database(t)
	token, hash := auth.NewToken(auth.KeyPrefix)
	for range many {
		p := &peer{store: pgtest.OpenWith(t, postgres.Config{URL: address, MaxConns: 8}), keys: auth.NewKeyring(), log: &syncBuffer{}}
		p.keys.AddLocal(auth.Key{ID: auth.LocalID, Name: "agents", Role: auth.Admin, Hash: hash})
		p.t = telemetry.New(p.log, nil)
		p.Server = httptest.NewUnstartedServer(nil)
		p.peers = heartbeat.NewPeers(p.store, p.Listener.Addr().String(), p.t.Log)
		p.app = app.New(p.store.Stores(), p.keys, app.Config{Telemetry: p.t})
		h, err := New(Config{App: p.app, Telemetry: p.t, RequestsPerSecond: 100, Peers: p.peers})
		if err != nil {
			t.Fatal(err)
		}
		p.Config.Handler = h
		p.Start()
		t.Cleanup(p.Close)
		ctx, leave := context.WithCancel(t.Context())
		left := p.peers.Start(ctx, p.app.Live)
		t.Cleanup(func() { leave(); <-left })
		p.replicaCaller = replicaCaller{t.Context(), p.URL, token}
		all = append(all, p)
	}
	await.Until(t, time.Minute, "the servers know one another", func() bool {
		return !slices.ContainsFunc(all, func(p *peer) bool { return p.peers.Count() != many-1 })
	})
	return all
}

// ownedBy makes a cluster that a server owns, with a node.
func (p *peer) ownedBy(t *testing.T) string {
	t.Helper()
	for i := 0; ; i++ {
		name := fmt.Sprint("night-", i)
		if p.peers.Owner(name) != nil {
			continue
		}
		ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
		if _, err := p.store.CreateCluster(ctx, inputs.NewCluster(name)); err != nil {
			t.Fatal(err)
		}
		node := map[string]any{"type": "plain", "cores": 4, "slots": map[string]int{"map": 2, "reduce": 1}}
		if a, err := p.ask(openapi.PutLiveNode(name, "a"), node, ""); err != nil || a.status != 200 {
			t.Fatalf("%v %+v", err, a)
		}
		return name
	}
}

// sent returns how often a server has sent a request on, by outcome.
func (p *peer) sent(outcome string) (n float64) {
	families, _ := p.t.Registry.Gather()
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "headroom_requests_sent_on_total" && m.Label[0].GetValue() == outcome {
				n = m.Counter.GetValue()
			}
		}
	}
	return n
}

// Whichever server is asked about a live cluster, the answer is the owner's: its status, body and headers.
func TestAnyServerAnswersAsTheOwner(t *testing.T) {
	t.Parallel()
	all := startPeers(t, 2)
	owner, other := all[1], all[0]
	name := owner.ownedBy(t)
	heartbeat := func(seq int) map[string]any {
		return map[string]any{"seq": seq, "boot": "one", "running": []int{}}
	}
	sent := other.sent("answered")
	for _, c := range []struct {
		what    string
		r       openapi.Request
		body    any
		ifMatch string
		status  int
		tag     bool
	}{
		{"settings", openapi.ReplaceLiveSettings(name), map[string]any{"policy": map[string]any{"kind": "learned"}}, `"1"`, 200, true},
		{"settings with an old tag", openapi.ReplaceLiveSettings(name), map[string]any{"policy": map[string]any{"kind": "fifo"}}, `"1"`, 412, false},
		{"settings without a tag", openapi.ReplaceLiveSettings(name), map[string]any{"policy": map[string]any{"kind": "fifo"}}, "", 428, false},
		{"a node", openapi.PutLiveNode(name, "b"), map[string]any{"type": "plain", "cores": 4, "slots": map[string]int{"map": 1, "reduce": 0}}, "", 200, false},
		{"a node that is none", openapi.PutLiveNode(name, "b"), map[string]any{"cores": -1}, "", 400, false},
		{"a job", openapi.CreateLiveJob(name), map[string]any{"name": "job", "maps": 4}, "", 201, false},
		{"a heartbeat", openapi.SendHeartbeat(name, "a"), heartbeat(1), "", 200, false},
		{"the same heartbeat", openapi.SendHeartbeat(name, "a"), heartbeat(1), "", 200, false},
		{"an unknown node", openapi.SendHeartbeat(name, "none"), heartbeat(1), "", 404, false},
		{"a job's state", openapi.GetLiveJob(name, 1), nil, "", 200, false},
		{"a deadline", openapi.CreateAdmission(name), map[string]any{"class": "none", "deadline_s": 100, "maps": 1}, "", 409, false},
		{"knowledge", openapi.Relearn(name), nil, "", 200, false},
		{"the end of a job", openapi.KillLiveJob(name, 1), nil, "", 204, false},
		{"the end of a node", openapi.RemoveLiveNode(name, "b"), nil, "", 204, false},
	} {
		a, err := other.ask(c.r, c.body, c.ifMatch)
		if err != nil || a.status != c.status || (a.etag != "") != c.tag || a.status != 204 && len(a.text) == 0 {
			t.Errorf("%s: %v, %d %q %s", c.what, err, a.status, a.etag, a.text)
		}
		if now := other.sent("answered"); now != sent+1 {
			t.Errorf("%s: sent on %g times", c.what, now-sent)
		}
		sent = other.sent("answered")
	}
	if owner.sent("answered") != 0 {
		t.Error("the owner has sent requests on")
	}
	if logs := other.log.String() + owner.log.String(); !strings.Contains(other.log.String(), `"sent_on":"`+owner.Listener.Addr().String()) ||
		strings.Contains(logs, other.token) || strings.Contains(logs, other.peers.Token()) {
		t.Errorf("the log does not say where requests were sent on to, or says secrets:\n%s", logs)
	}
}

// A server that has decided for another one's cluster drops it from memory when that one is back.
func TestMovedClustersLeaveTheMemory(t *testing.T) {
	t.Parallel()
	all := startPeers(t, 2)
	owner, other := all[1], all[0]
	name := owner.ownedBy(t)
	other.peers.PassOver(other.peers.Owner(name))
	if a, err := other.ask(openapi.SendHeartbeat(name, "a"), map[string]any{"seq": 1, "boot": "one", "running": []int{}}, ""); err != nil || a.status != 200 {
		t.Fatalf("%v %+v", err, a)
	}
	held := func(p *peer) int { return p.app.Live.Held(func(string) bool { return true }) }
	if held(other) != 1 || held(owner) != 1 {
		t.Errorf("the server has %d clusters in memory and the owner %d, want one each", held(other), held(owner))
	}
	await.Until(t, time.Minute, "the cluster has left the other server's memory", func() bool { return held(other) == 0 })
	if held(owner) != 1 {
		t.Error("the owner has dropped its cluster")
	}
}

// raw sends a request with headers of its own.
func (p *peer) raw(t *testing.T, token, method, path, body string, headers ...string) (status int, h http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	all, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, a.Header, string(all)
}

// Servers ask for the caller's own key, whoever sends a request on. Nobody can pass for a server, make one send in a
// circle, or send what is too large.
func TestRequestsThatAreSentOnAreChecked(t *testing.T) {
	t.Parallel()
	all := startPeers(t, 2)
	owner, other := all[1], all[0]
	name := owner.ownedBy(t)
	jobs, beats := "/v1/clusters/"+name+"/jobs", "/v1/clusters/"+name+"/nodes/a/heartbeats"
	key := func(role auth.Role, of ...*peer) string {
		token, hash := auth.NewToken(auth.KeyPrefix)
		for _, p := range of {
			p.keys.AddLocal(auth.Key{ID: string(role), Name: string(role), Role: role, Hash: hash})
		}
		return token
	}
	viewer, agent, known := key(auth.Viewer, other, owner), key(auth.Agent, other, owner), key(auth.Admin, other)
	if status, _, text := other.raw(t, viewer, "POST", jobs, `{"name":"job","maps":1}`); status != 403 || other.sent("answered") != 0 {
		t.Errorf("a viewer's job: %d %s", status, text)
	}
	if status, _, text := other.raw(t, "hrk_"+strings.Repeat("x", 43), "POST", beats, `{"seq":1}`); status != 401 || other.sent("answered") != 0 {
		t.Errorf("an unknown key: %d %s", status, text)
	}
	if status, _, text := other.raw(t, other.token, "POST", jobs, `{"name":"`+strings.Repeat("x", 300<<10)+`"}`); status != 413 || other.sent("answered") != 0 {
		t.Errorf("a large job: %d %s", status, text)
	}
	if status, _, text := other.raw(t, known, "POST", beats, `{"seq":1,"boot":"one","running":[]}`); status != 200 || other.sent("here") != 1 {
		t.Errorf("a key that the owner does not know: %d %s", status, text)
	}
	// Each server counts a key's requests once: the owner none that were sent on.
	for i := range 20 {
		if status, _, text := other.raw(t, agent, "POST", beats, fmt.Sprintf(`{"seq":%d,"boot":"one","running":[]}`, i+2)); status != 200 {
			t.Fatalf("a heartbeat: %d %s", status, text)
		}
	}
	if got := other.sent("answered"); got != 20 {
		t.Errorf("%g of 20 heartbeats were sent on", got)
	}
	if _, h, _ := owner.raw(t, agent, "GET", "/v1/clusters/"+name+"/nodes/a", ""); h.Get("X-Ratelimit-Remaining") != "99" {
		t.Errorf("the owner leaves %q requests", h.Get("X-Ratelimit-Remaining"))
	}
	// A header of a server makes nobody one, and a request with it stays where it is.
	before := other.sent("answered")
	for _, forged := range []string{"x", "", "hrp_" + strings.Repeat("x", 43), strings.Repeat("x", 2000)} {
		if status, _, text := other.raw(t, agent, "POST", beats, `{"seq":30,"boot":"one","running":[]}`, peerToken, forged, peerClient, "192.0.2.77"); status != 200 {
			t.Errorf("a forged header: %d %s", status, text)
		}
		other.raw(t, "hrk_no", "POST", beats, `{}`, peerToken, forged, peerClient, "192.0.2.77")
	}
	if other.sent("answered") != before || strings.Contains(other.log.String(), "192.0.2.77") {
		t.Errorf("a forged header is believed:\n%s", other.log)
	}
	other.raw(t, "hrk_no", "POST", beats, `{}`, peerToken, owner.peers.Token(), peerClient, "192.0.2.77")
	if !strings.Contains(other.log.String(), "192.0.2.77") {
		t.Error("a listed server is not believed")
	}
}

// An owner that cannot be reached, or goes away with a request, delays no heartbeat for long. Nobody is told that a change
// was made, or was not, where that is unknown.
func TestOwnersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	here := startPeers(t, 1)[0]
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	gone, leaves, silent := "refuses connections", "leaves with a request", "says nothing"
	for i, c := range []struct {
		owner, method, path, body, key string
		status                         int
		outcome                        string
	}{
		{gone, "POST", "/jobs", `{"name":"job","maps":1}`, "", 201, "here"},
		{leaves, "POST", "/jobs", `{"name":"job","maps":1}`, "", 503, "lost"},
		{leaves, "POST", "/jobs", `{"name":"job","maps":1}`, "one", 201, "here"},
		{leaves, "POST", "/nodes/a/heartbeats", `{"seq":1,"boot":"one","running":[]}`, "", 200, "here"},
		{leaves, "GET", "/jobs/1", "", "", 200, "here"},
		{silent, "POST", "/nodes/a/heartbeats", `{"seq":1,"boot":"one","running":[]}`, "", 200, "here"},
		{silent, "PUT", "/nodes/b", `{"type":"plain","cores":4,"slots":{"map":1,"reduce":0}}`, "", 503, "lost"},
	} {
		address := awayPeer(t, c.owner != gone, c.owner == leaves)
		away := heartbeat.Server{Address: address, Hash: strings.Repeat("0", 64)}
		if _, err := here.store.RenewServer(t.Context(), away, time.Hour); err != nil {
			t.Fatal(err)
		}
		name := ""
		await.Until(t, time.Minute, "the server is known", func() bool {
			for n := range 200 {
				name = fmt.Sprintf("night-%d-%d", i, n)
				if o := here.peers.Owner(name); o != nil && o.Address == address {
					return true
				}
			}
			return false
		})
		if _, err := here.store.CreateCluster(ctx, inputs.NewCluster(name)); err != nil {
			t.Fatal(err)
		}
		before, headers := here.sent(c.outcome), []string{peerToken, "not sent on"}
		here.raw(t, here.token, "PUT", "/v1/clusters/"+name+"/nodes/a", `{"type":"plain","cores":4,"slots":{"map":1,"reduce":0}}`, headers...)
		here.raw(t, here.token, "POST", "/v1/clusters/"+name+"/jobs", `{"name":"job","maps":1}`, headers...)
		if headers = nil; c.key != "" {
			headers = []string{idempotencyKey, c.key}
		}
		began := time.Now()
		status, _, text := here.raw(t, here.token, c.method, "/v1/clusters/"+name+c.path, c.body, headers...)
		if status != c.status || here.sent(c.outcome) != before+1 || status == 503 && !strings.Contains(text, "before you repeat it") {
			t.Errorf("%s %s, whose owner %s: %d %s", c.method, c.path, c.owner, status, text)
		}
		if took := time.Since(began); c.owner == silent && took < longestAnswer {
			t.Errorf("%s %s is answered after %v", c.method, c.path, took)
		}
		if status, _, text := here.raw(t, here.token, "PUT", "/v1/clusters/"+name+"/nodes/c", `{"type":"plain","cores":4,"slots":{"map":1,"reduce":0}}`); status != 200 || here.sent(c.outcome) != before+1 {
			t.Errorf("the next change, whose owner is passed over: %d %s", status, text)
		}
		if _, err := here.store.RenewServer(t.Context(), away, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// awayPeer returns the address of a server that listens or does not, and leaves once it has a request or says nothing.
func awayPeer(t *testing.T, listens, leaves bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if !listens {
		l.Close()
		return l.Addr().String()
	}
	var all sync.WaitGroup
	over := make(chan struct{})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 10))
				if !leaves {
					<-over
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); close(over); all.Wait() })
	return l.Addr().String()
}
