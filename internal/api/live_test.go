package api

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"headroom/internal/auth"
	"headroom/internal/capacity"
)

const someNode = `{"type":"m5.xlarge","cores":4,"slots":{"map":2,"reduce":1}}`

// beat sends a heartbeat.
func (s *service) beat(node, body string) capacity.HeartbeatAnswer {
	s.Helper()
	var a capacity.HeartbeatAnswer
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
	var first, second capacity.LiveJob
	s.ask(s.key("p", auth.Planner, nil), "POST", at+"/jobs", `{"name":"etl","maps":4,"reduces":1,"local":[{"task":3,"nodes":["b"]}]}`, "Idempotency-Key", "etl").want(t, 201).into(t, &first)
	s.ask(s.admin, "POST", at+"/jobs", `{"name":"report","maps":1}`).want(t, 201).into(t, &second)

	agent := s.key("agent", auth.Agent, []string{"night"})
	one := s.ask(agent, "POST", at+"/nodes/a/heartbeats", `{"seq":1,"running":[],"state":{"load1":0.5,"features":{"rack":"r1","gpu":0.5}}}`).want(t, 200)
	again := s.ask(agent, "POST", at+"/nodes/a/heartbeats", `{"seq":1,"running":[],"state":{"load1":0.5,"features":{"rack":"r1","gpu":0.5}}}`).want(t, 200)
	if string(one.text) != string(again.text) {
		t.Errorf("the same heartbeat is answered with %s and then with %s", one.text, again.text)
	}
	s.ask(agent, "POST", at+"/nodes/a/heartbeats", `{"seq":1,"running":[7]}`).want(t, 409)
	var a capacity.HeartbeatAnswer
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
	for _, j := range []*capacity.LiveJob{&first, &second} {
		s.ask(s.admin, "GET", fmt.Sprintf("%s/jobs/%d", at, j.Number), nil).want(t, 200).into(t, j)
		if j.State != capacity.JobDone || j.EndedAt == nil || j.Maps.Done != j.Maps.Total || j.Reduces.Done != j.Reduces.Total {
			t.Errorf("got %+v", j)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(s.ask(s.admin, "GET", at+"/decisions?format=csv&node=b&outcome=done", nil).want(t, 200).text))).ReadAll()
	if err != nil || len(rows) != 4 || rows[1][0] != "6" {
		t.Errorf("decisions of node b: %v, %v", rows, err)
	}
	var n capacity.LiveNode
	s.ask(s.admin, "GET", at+"/nodes/a", nil).want(t, 200).into(t, &n)
	if n.State != capacity.NodeAlive || n.Seq != 2 || *n.Report.Load1 != 0.5 || n.Report.Features["rack"].Word != "r1" || *n.Report.Features["gpu"].Number != 0.5 {
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
