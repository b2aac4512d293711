package api

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/live"
)

const someNode = `{"type":"m5.xlarge","cores":4,"slots":{"map":2,"reduce":1}}`

// beat sends a heartbeat.
func (s *service) beat(node, body string) live.HeartbeatAnswer {
	s.Helper()
	var a live.HeartbeatAnswer
	s.ask(s.admin, "POST", "/v1/clusters/night/nodes/"+node+"/heartbeats", body).want(s, 200).into(s, &a)
	return a
}

func TestTasksAreHandedToNodes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const at = "/v1/clusters/night"
	for _, node := range []string{"a", "b"} {
		s.ask(s.admin, "PUT", at+"/nodes/"+node, someNode).want(t, 200)
	}
	var first, second live.LiveJob
	s.ask(s.key("p", auth.Planner, nil), "POST", at+"/jobs", `{"name":"etl","maps":4,"reduces":1,"local":[{"task":3,"nodes":["b"]}]}`, "Idempotency-Key", "etl").want(t, 201).into(t, &first)
	s.ask(s.admin, "POST", at+"/jobs", `{"name":"report","maps":1}`).want(t, 201).into(t, &second)

	agent := s.key("agent", auth.Agent, []string{"night"})
	one := s.ask(agent, "POST", at+"/nodes/a/heartbeats", `{"seq":1,"running":[],"state":{"load1":0.5,"features":{"rack":"r1","gpu":0.5}}}`).want(t, 200)
	again := s.ask(agent, "POST", at+"/nodes/a/heartbeats", `{"seq":1,"running":[],"state":{"load1":0.5,"features":{"rack":"r1","gpu":0.5}}}`).want(t, 200)
	if string(one.text) != string(again.text) {
		t.Errorf("the same heartbeat is answered with %s and then with %s", one.text, again.text)
	}
	s.ask(agent, "POST", at+"/nodes/a/heartbeats", `{"seq":1,"running":[7]}`).want(t, 409)
	var a live.HeartbeatAnswer
	one.into(t, &a)
	if len(a.Assignments) != 3 || a.Assignments[0].Job != first.Number || a.Assignments[2].Task != 2 || a.Assignments[0].Rule != "order" {
		t.Fatalf("got %s", one.text)
	}
	b := s.beat("b", `{"seq":1,"running":[]}`)
	if len(b.Assignments) != 2 || b.Assignments[0].Task != 3 || !b.Assignments[0].Local || b.Assignments[1].Job != second.Number {
		t.Fatalf("got %+v", b)
	}
	a = s.beat("a", `{"seq":2,"running":[],"finished":[{"assignment":1,"seconds":0.2},{"assignment":2},{"assignment":3}]}`)
	b = s.beat("b", `{"seq":2,"running":[],"finished":[{"assignment":4},{"assignment":5}]}`)
	if len(a.Assignments) != 0 || len(b.Assignments) != 1 || b.Assignments[0].Kind != "reduce" {
		t.Fatalf("got %+v and %+v", a, b)
	}
	s.beat("b", `{"seq":3,"running":[],"finished":[{"assignment":6}]}`)
	for _, j := range []*live.LiveJob{&first, &second} {
		s.ask(s.admin, "GET", fmt.Sprintf("%s/jobs/%d", at, j.Number), nil).want(t, 200).into(t, j)
		if j.State != live.JobDone || j.EndedAt == nil || j.Maps.Done != j.Maps.Total || j.Reduces.Done != j.Reduces.Total {
			t.Errorf("got %+v", j)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(s.ask(s.admin, "GET", at+"/decisions?format=csv&node=b&outcome=done", nil).want(t, 200).text))).ReadAll()
	if err != nil || len(rows) != 4 || rows[1][0] != "6" {
		t.Errorf("decisions of node b: %v, %v", rows, err)
	}
	var n live.LiveNode
	s.ask(s.admin, "GET", at+"/nodes/a", nil).want(t, 200).into(t, &n)
	if n.State != live.NodeAlive || n.Seq != 2 || *n.Report.Load1 != 0.5 || n.Report.Features["rack"].Word != "r1" || *n.Report.Features["gpu"].Number != 0.5 {
		t.Errorf("got %+v", n)
	}
	// A node that leaves gets none of the tasks that wait.
	s.ask(s.admin, "POST", at+"/jobs", `{"name":"late","maps":1}`).want(t, 201)
	if b = s.beat("b", `{"seq":4,"running":[],"leaving":true}`); len(b.Assignments) != 0 {
		t.Errorf("a node that leaves gets %+v", b.Assignments)
	}
	if b = s.beat("b", `{"seq":5,"running":[]}`); len(b.Assignments) != 1 {
		t.Errorf("a node that stays gets %+v", b.Assignments)
	}
}

// Senseless requests are refused with a sentence, or accepted with a note on their treatment.
func TestLiveClustersRefuse(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const at = "/v1/clusters/night"
	for _, c := range []struct {
		method, path, body string
		status             int
		pointer            string
	}{
		{"POST", "/nodes/none/heartbeats", `{"seq":1,"running":[]}`, 404, ""},
		{"POST", "/nodes/none/heartbeats", `{"seq":1,"running":[],"stat":{}}`, 400, "/stat"},
		{"POST", "/nodes/none/heartbeats", `{"seq":1,"running":[],"state":{"cpu_percent":200}}`, 422, "/state/cpu_percent"},
		{"POST", "/jobs", `{"name":"a","maps":0}`, 422, "/maps"},
		{"POST", "/jobs", `{"name":"a","maps":1000000}`, 400, "/maps"},
		{"POST", "/jobs", `{"name":"a","maps":1,"deadline_s":5,"deadline_at":"2030-01-01T00:00:00Z"}`, 422, "/deadline_s"},
		{"POST", "/jobs", `{"name":"a","maps":1,"local":[{"task":1,"nodes":["n"]}]}`, 422, "/local/0/task"},
		{"PUT", "/nodes/n", `{"type":"a","cores":0,"slots":{"map":1,"reduce":1}}`, 400, "/cores"},
		{"DELETE", "/nodes/none", "", 404, ""},
		{"DELETE", "/jobs/7", "", 404, ""},
		{"GET", "/jobs/7", "", 404, ""},
		{"GET", "/nodes/none", "", 404, ""},
		{"GET", "/classifier", "", 404, ""},
		{"POST", "/relearn", "", 409, ""},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		p := s.ask(s.admin, c.method, at+c.path, body).want(t, c.status).problem(t)
		if c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s %s %s: got %+v, want %s", c.method, c.path, c.body, p.Errors, c.pointer)
		}
	}
	if p := s.ask(s.admin, "POST", at+"/jobs", `{"name":"a","maps":1,"weight":1e308}`).want(t, 400).problem(t); !strings.HasPrefix(p.Detail, "1e+308 is out of range") {
		t.Errorf("got %s", p.Detail)
	}
	etag := s.ask(s.admin, "GET", at+"/live", nil).want(t, 200).etag()
	for _, settings := range []string{
		`{"policy":{"kind":"fifo","target":1}}`, `{"policy":{"kind":"fifo"},"heartbeat_s":100,"node_timeout_s":150}`,
		`{"policy":{"kind":"fair"},"shares":[{"class":"a","weight":1},{"class":"a","weight":2}]}`,
	} {
		s.ask(s.admin, "PUT", at+"/live", settings, "If-Match", etag).want(t, 422)
	}
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"}}`).want(t, 428)
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"},"heartbeat_s":0.5,"node_timeout_s":1}`, "If-Match", etag).want(t, 200)
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"fifo"}}`, "If-Match", etag).want(t, 412)

	// A job that is late from the start runs all the same, and readers see a silent node as dead.
	var j live.LiveJob
	s.ask(s.admin, "POST", at+"/jobs", `{"name":"late","maps":1,"deadline_at":"2020-01-01T00:00:00Z"}`).want(t, 201).into(t, &j)
	if !j.Late || len(j.Warnings) != 1 || j.Warnings[0].Code != "past_deadline" {
		t.Errorf("got %+v", j)
	}
	s.ask(s.admin, "PUT", at+"/nodes/n", someNode).want(t, 200)
	if a := s.beat("n", `{"seq":1,"running":[]}`); len(a.Assignments) != 1 || a.Assignments[0].Rule != "deadline" {
		t.Errorf("got %+v", a)
	}
	var n live.LiveNode
	for end := time.Now().Add(10 * time.Second); n.State != live.NodeDead; {
		if time.Now().After(end) {
			t.Fatalf("it is silent and %s", n.State)
		}
		s.ask(s.admin, "GET", at+"/nodes/n", nil).want(t, 200).into(t, &n)
	}
	s.ask(s.admin, "GET", at+"/jobs/1", nil).want(t, 200).into(t, &j)
	if j.Maps.Running != 0 || j.Maps.Waiting != 1 || j.Maps.Lost != 1 || n.Running != 0 {
		t.Errorf("its task is lost: %+v, %+v", j.Maps, n)
	}
	s.ask(s.admin, "DELETE", at+"/jobs/1", nil).want(t, 204)
	s.ask(s.admin, "GET", at+"/jobs/1", nil).want(t, 200).into(t, &j)
	if j.State != live.JobKilled || !strings.Contains(j.Reason, "root") {
		t.Errorf("got %+v", j)
	}

	// A new cluster under an old name has new settings: clients that saw the old ones overwrite nothing.
	seen := s.ask(s.admin, "GET", at+"/live", nil).want(t, 200).etag()
	s.ask(s.admin, "DELETE", at, nil, "If-Match", s.ask(s.admin, "GET", at, nil).want(t, 200).etag()).want(t, 204)
	s.cluster("night")
	fresh := s.ask(s.admin, "GET", at+"/live", nil).want(t, 200).etag()
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"}}`, "If-Match", seen).want(t, 412)
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"}}`, "If-Match", etag).want(t, 412)
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"}}`, "If-Match", fresh).want(t, 200)
}

// Heartbeats are read by hand. The schema and the reader refuse the same, as far as a schema can express it.
func TestBothReadersGiveHeartbeatsTheSameVerdict(t *testing.T) {
	t.Parallel()
	schema := contract(t).Components.Schemas["NodeHeartbeat"].Value
	const text = `{"seq":3,"boot":"b","at":"2026-03-01T22:00:00Z","leaving":false,"state":{"load1":0.5,"cpu_percent":50,"memory_percent":10.5,"net_mb_s":1,"disk_mb_s":2,"residual":0.5,` +
		`"features":{"rack":"r","gpu":1.5}},"running":[1,2],"finished":[{"assignment":4,"seconds":3.5}],"failed":[{"assignment":5,"reason":"x"}]}`
	random := rand.New(rand.NewPCG(20260301, 8))
	refused, accepted := 0, 0
	for range many(3000, 100_000) {
		value, err := generic([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(3) {
			value = mutate(random, value)
		}
		body, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if random.IntN(8) == 0 {
			body = damage(random, body)
		}
		bySchema := checkSchema(body, schema)
		_, byReader := live.ReadHeartbeat(body)
		if byReader == nil {
			accepted++
		} else {
			refused++
		}
		if bySchema != nil && byReader == nil {
			t.Fatalf("%s\nis refused by the schema and accepted by the reader: %v", body, bySchema)
		}
		if input := (*fault.InputError)(nil); errors.As(byReader, &input) && bySchema == nil {
			for _, f := range input.Findings {
				if sayable(f) && f.Pointer != "/at" { // no schema bounds its years
					t.Fatalf("%s\nis accepted by the schema and refused by the reader: %v", body, byReader)
				}
			}
		}
	}
	if refused < 50 || accepted < 50 {
		t.Errorf("%d bodies were refused and %d accepted; both should be frequent", refused, accepted)
	}
}
