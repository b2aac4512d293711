package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// agentProcess is a real agent.
type agentProcess struct {
	*exec.Cmd
	dir    string
	stderr *lockedBuffer
	ended  chan error
}

// startAgent starts an agent as an agent's key lets it.
func startAgent(t *testing.T, server testServer, dir string, args ...string) *agentProcess {
	t.Helper()
	a := &agentProcess{dir: dir, stderr: &lockedBuffer{}, ended: make(chan error, 1)}
	a.Cmd = exec.Command("headroom", append([]string{"live", "agent", "--state-dir", dir, "--stop-after", "5s"}, args...)...)
	a.Env = append(os.Environ(), "HEADROOM_URL="+server.URL, "HEADROOM_API_KEY="+server.Keys[auth.Agent])
	a.Stderr = a.stderr
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { a.ended <- a.Wait() }()
	t.Cleanup(func() {
		a.end(t, syscall.SIGTERM)
		if t.Failed() {
			t.Logf("the agent %q said:\n%s", args, a.stderr)
		}
	})
	return a
}

// end sends a signal and waits; it may be called again.
func (a *agentProcess) end(t *testing.T, with syscall.Signal) error {
	t.Helper()
	_ = a.Process.Signal(with)
	select {
	case err := <-a.ended:
		a.ended <- err
		return err
	case <-time.After(patience(30 * time.Second)):
		t.Errorf("the agent did not end:\n%s", a.stderr)
		_ = a.Process.Kill()
		return nil
	}
}

// asked asks a server as an admin.
func (s testServer) asked(t *testing.T, method, path, body string, status int, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Keys[auth.Admin])
	if method == "PUT" && strings.HasSuffix(path, "/live") {
		var there live.LiveSettings
		s.asked(t, "GET", path, "", 200, &there)
		r.Header.Set("If-Match", fmt.Sprintf("%q", fmt.Sprint(there.Version)))
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		t.Fatalf("%s %s: %v %d %s", method, path, err, answer.StatusCode, text)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
}

// commandFile says that a script runs for all jobs.
func commandFile(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	program, file := filepath.Join(dir, "task"), filepath.Join(dir, "tasks.json")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"jobs":{"*":{"command":["`+program+`"],"grace_s":1}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// liveCluster declares a cluster with nodes, and how it decides.
func (s testServer) liveCluster(t *testing.T, nodes int, slots int, settings string) {
	t.Helper()
	s.asked(t, "POST", "/v1/clusters", `{"name":"night"}`, 201, nil)
	for i := range nodes {
		s.asked(t, "PUT", fmt.Sprintf("/v1/clusters/night/nodes/n%d", i+1), fmt.Sprintf(`{"type":"small","cores":2,"slots":{"map":%d,"reduce":0}}`, slots), 200, nil)
	}
	s.decide(t, settings)
}

func (s testServer) decide(t *testing.T, settings string) {
	t.Helper()
	s.asked(t, "PUT", "/v1/clusters/night/live", settings, 200, nil)
}

func (s testServer) liveJob(t *testing.T, number int64) (j live.LiveJob) {
	t.Helper()
	s.asked(t, "GET", fmt.Sprintf("/v1/clusters/night/jobs/%d", number), "", 200, &j)
	return j
}

// decisions is all of a job.
func (s testServer) decisions(t *testing.T, job int64) (all []live.LiveDecision) {
	t.Helper()
	cursor := ""
	for {
		var page struct {
			Items      []live.LiveDecision `json:"items"`
			NextCursor *string             `json:"next_cursor"`
		}
		s.asked(t, "GET", fmt.Sprintf("/v1/clusters/night/decisions?job=%d&limit=100%s", job, cursor), "", 200, &page)
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// most returns the largest count.
func most(counts map[string]int) (n int) {
	for _, count := range counts {
		n = max(n, count)
	}
	return n
}

// Three agents on this machine work for the service and its database. Under each policy, which changes while they work,
// 60 short tasks (200 of the whole sample) end once each. The reason why each went to its node is kept.
func TestThreeAgentsRunEachTaskOnce(t *testing.T) {
	t.Parallel()
	maps, reduces := 45, 15
	if wholeSamples {
		maps, reduces = 150, 50
	}
	all := maps + reduces
	server := startServer(t)
	server.liveCluster(t, 3, 8, `{"heartbeat_s":0.2,"policy":{"kind":"fifo"}}`)
	out := filepath.Join(t.TempDir(), "out")
	tasks := commandFile(t, `echo "$HEADROOM_JOB $HEADROOM_TASK_KIND $HEADROOM_TASK" >> `+out+"\n")
	var agents []*agentProcess
	for i := range 3 {
		agents = append(agents, startAgent(t, server, t.TempDir(), "night", "--node", fmt.Sprintf("n%d", i+1), "--tasks", tasks))
	}
	for _, kind := range dispatch.PolicyKinds {
		policy := fmt.Sprintf(`{"kind":%q}`, kind)
		if kind == dispatch.PolicyLearned { // a node of a busy machine is not overloaded here, and may have its slots at once
			policy = `{"kind":"learned","target":1000,"tasks_per_heartbeat":8}`
		}
		server.decide(t, `{"heartbeat_s":0.2,"policy":`+policy+`}`)
		began := time.Now()
		var job live.LiveJob
		server.asked(t, "POST", "/v1/clusters/night/jobs", fmt.Sprintf(`{"name":"job-%s","maps":%d,"reduces":%d,"deadline_s":3600}`, kind, maps, reduces), 201, &job)
		waits(t, "the end of the job under "+string(kind), time.Minute, func() bool {
			return server.liveJob(t, job.Number).State != live.JobActive
		})
		took := time.Since(began)
		if j := server.liveJob(t, job.Number); j.State != live.JobDone || j.Maps.Failures+j.Reduces.Failures+j.Maps.Lost+j.Reduces.Lost > 0 {
			t.Errorf("%s: %+v", kind, j)
		}
		once, nodes := map[string]int{}, map[string]int{}
		for _, d := range server.decisions(t, job.Number) {
			once[fmt.Sprintf("job-%s %s %d", kind, d.Kind, d.Task)]++
			nodes[d.Node]++
			if d.Policy != kind || d.Rule == "" || !strings.HasSuffix(d.Reason, ".") || d.Outcome != live.TaskDone || d.Seconds == nil || *d.Seconds <= 0 {
				t.Fatalf("%s: a decision is %+v", kind, d)
			}
		}
		if len(once) != all || most(once) != 1 {
			t.Errorf("%s: %d tasks were decided on", kind, len(once))
		}
		t.Logf("%s: %d tasks in %.1f s, by nodes %v", kind, all, took.Seconds(), nodes)
	}
	for _, a := range agents {
		if err := a.end(t, syscall.SIGTERM); err != nil {
			t.Errorf("an agent ends with %v", err)
		}
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for line := range strings.Lines(string(text)) {
		ran[strings.TrimSpace(line)]++
	}
	if want := all * len(dispatch.PolicyKinds); len(ran) != want || most(ran) != 1 {
		t.Errorf("%d different tasks ran, want %d once each", len(ran), want)
	}
}

// A host that vanishes gives its tasks back; one whose agent is killed tells what it had not told; and of two
// agents with one name the later counts.
func TestAgentsThatVanish(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.liveCluster(t, 2, 2, `{"heartbeat_s":0.2,"node_timeout_s":3,"policy":{"kind":"fifo"}}`)
	dir := t.TempDir()
	hold, out := filepath.Join(dir, "hold"), filepath.Join(dir, "out")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Tasks on the first node last as long as there is a file.
	tasks := commandFile(t, `pid=`+dir+`/pid-$HEADROOM_NODE-$HEADROOM_TASK
echo "$$" > "$pid.new" && mv "$pid.new" "$pid"
if [ $HEADROOM_NODE = n1 ]; then while [ -e `+hold+` ]; do sleep 0.05; done; fi
echo "$HEADROOM_TASK" >> `+out+"\n")
	first := startAgent(t, server, t.TempDir(), "night", "--node", "n1", "--tasks", tasks)
	var job live.LiveJob
	server.asked(t, "POST", "/v1/clusters/night/jobs", `{"name":"etl","maps":6}`, 201, &job)
	waits(t, "both tasks on n1", 30*time.Second, func() bool {
		pids, _ := filepath.Glob(dir + "/pid-n1-[0-9]")
		return len(pids) == 2
	})
	_ = first.end(t, syscall.SIGKILL)
	waits(t, "the end of the killed agent's tasks", 10*time.Second, func() bool {
		for _, task := range []string{"0", "1"} {
			text, err := os.ReadFile(dir + "/pid-n1-" + task)
			if err != nil {
				t.Fatal(err)
			}
			if stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
				return false
			}
		}
		return true
	})
	second := startAgent(t, server, t.TempDir(), "night", "--node", "n2", "--tasks", tasks)
	waits(t, "the end of the job without n1", time.Minute, func() bool { return server.liveJob(t, job.Number).State == live.JobDone })
	text, err := os.ReadFile(out)
	lines := strings.Fields(string(text))
	slices.Sort(lines)
	if lines = slices.Compact(lines); err != nil || len(lines) != 6 {
		t.Errorf("tasks %q ran to their end, %v", lines, err)
	}
	if j := server.liveJob(t, job.Number); j.Maps.Lost < 2 || j.Maps.Failures != 0 { // more where the second was not heard in time

		t.Errorf("%+v", j.Maps)
	}

	// The killed one begins again, with what it kept, and then another of its name.
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	first = startAgent(t, server, first.dir, "night", "--node", "n1", "--tasks", tasks)
	waits(t, "n1 to live again", 30*time.Second, func() bool {
		var n live.LiveNode
		server.asked(t, "GET", "/v1/clusters/night/nodes/n1", "", 200, &n)
		return n.State == live.NodeAlive
	})
	other := startAgent(t, server, t.TempDir(), "night", "--node", "n1", "--tasks", tasks)
	select {
	case err := <-first.ended:
		first.ended <- err
		if said := first.stderr.String(); err == nil || !strings.Contains(said, `another agent speaks for node "n1"`) || !strings.Contains(said, "--node") {
			t.Errorf("%v: it said %s", err, said)
		}
	case <-time.After(patience(30 * time.Second)):
		t.Error("the earlier agent of two goes on")
	}
	server.asked(t, "POST", "/v1/clusters/night/jobs", `{"name":"etl-2","maps":6}`, 201, &job)
	waits(t, "the end of the job with both nodes", time.Minute, func() bool { return server.liveJob(t, job.Number).State == live.JobDone })
	for _, a := range []*agentProcess{second, other} {
		if err := a.end(t, syscall.SIGTERM); err != nil {
			t.Errorf("an agent ends with %v: %s", err, a.stderr)
		}
	}
	// Agents that have left get no tasks.
	server.asked(t, "POST", "/v1/clusters/night/jobs", `{"name":"etl-3","maps":1}`, 201, &job)
	if j := server.liveJob(t, job.Number); j.Maps.Waiting != 1 {
		t.Errorf("%+v", j.Maps)
	}
}

func TestAgentsThatMayNot(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.liveCluster(t, 1, 1, `{"policy":{"kind":"fifo"}}`)
	tasks := commandFile(t, "exit 0\n")
	ends := func(key string, args ...string) string {
		t.Helper()
		c := exec.Command("headroom", append([]string{"live", "agent", "--state-dir", t.TempDir()}, args...)...)
		c.Env = append(os.Environ(), "HEADROOM_URL="+server.URL, "HEADROOM_API_KEY="+key)
		said, err := c.CombinedOutput()
		if err == nil {
			t.Errorf("the agent %q goes on", args)
		}
		return string(said)
	}
	for _, c := range []struct {
		key  string
		args []string
		says string
	}{
		{server.Keys[auth.Admin], []string{"night", "--node", "n1", "--tasks", tasks}, `the key "test admin" is of the role admin`},
		{server.Keys[auth.Viewer], []string{"night", "--node", "n1"}, "a key of the role agent"},
		{"hrk_wrong", []string{"night", "--node", "n1", "--tasks", tasks}, "a key of the role agent"},
		{server.Keys[auth.Agent], []string{"night", "--node", "n9"}, `does not know the node "n9"`},
		{server.Keys[auth.Agent], []string{"none", "--node", "n1"}, `does not know the node "n1"`},
		{server.Keys[auth.Agent], []string{"night", "--tasks", "/nowhere.json"}, "no such file"},
		{server.Keys[auth.Agent], []string{"night", "--apply-hints", "/nowhere"}, `make it with "mkdir /nowhere"`},
		{server.Keys[auth.Agent], nil, "say to which CLUSTER"},
		{server.Keys[auth.Agent], []string{"--apply-hints", "/nowhere", "--tasks", tasks}, "--tasks and --node are for a CLUSTER"},
		{server.Keys[auth.Agent], []string{"night", "--hints", "x"}, "--hints needs --apply-hints"},
	} {
		if said := ends(c.key, c.args...); !strings.Contains(said, c.says) {
			t.Errorf("%q: it says %s", c.args, said)
		}
	}
	// Who is no agent may look, and is told in tasks that none run here.
	var job live.LiveJob
	server.asked(t, "POST", "/v1/clusters/night/jobs", `{"name":"etl","maps":1,"max_attempts":1}`, 201, &job)
	server.decide(t, `{"heartbeat_s":0.2,"policy":{"kind":"fifo"}}`)
	startAgent(t, server, t.TempDir(), "night", "--node", "n1")
	waits(t, "the refusal of the task", 30*time.Second, func() bool { return server.liveJob(t, job.Number).State == live.JobFailed })
	if j := server.liveJob(t, job.Number); !strings.Contains(j.Reason, `no command for the job "etl"`) {
		t.Errorf("%+v", j)
	}
}

// What a cgroup was set to before is there again after the agent has ended, and after one that was killed at the
// start of the next.
func TestHintsOutliveNoAgent(t *testing.T) {
	t.Parallel()
	cgroup, dir := t.TempDir(), t.TempDir()
	before := map[string]string{"cgroup.procs": "", "cgroup.controllers": "cpu\n", "cpu.idle": "0\n", "cpu.weight": "50\n", "cpu.max": "max 100000\n"}
	for name, text := range before {
		if err := os.WriteFile(filepath.Join(cgroup, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hints := filepath.Join(t.TempDir(), "hints.json")
	if code, answer, said := headroomSays(t, "interference", "--per-second", "100", "--service", "constant:2", "--requests", "1000", "--policy", "anti-starvation:20/1000", "--ceiling-cores", "1.5", "-o", "json"); code != 0 {
		t.Fatal(said)
	} else if err := os.WriteFile(hints, []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
	stands := func(want ...string) bool {
		for i, name := range []string{"cpu.idle", "cpu.weight", "cpu.max"} {
			text, err := os.ReadFile(filepath.Join(cgroup, name))
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(text)) != want[i] {
				return false
			}
		}
		return true
	}
	code, plan, said := headroomSays(t, "agent", "--apply-hints", cgroup, "--hints", hints, "--dry-run", "--state-dir", dir)
	if code != 0 || !strings.Contains(plan, cgroup+`/cpu.weight: "2" instead of "50"`) || !stands("0", "50", "max 100000") {
		t.Errorf("%d: %s%s", code, plan, said)
	}
	set := func() bool { return stands("0", "2", "150000 100000") }
	a := startAgent(t, testServer{}, dir, "--apply-hints", cgroup, "--hints", hints)
	waits(t, "the settings", 20*time.Second, set)
	if err := a.end(t, syscall.SIGTERM); err != nil || !stands("0", "50", "max 100000") {
		t.Errorf("%v: %s", err, a.stderr)
	}
	a = startAgent(t, testServer{}, dir, "--apply-hints", cgroup, "--hints", hints)
	waits(t, "the settings", 20*time.Second, set)
	// Another one with its directory is told so, and leaves the cgroup alone.
	if code, _, said := headroomSays(t, "agent", "--apply-hints", cgroup, "--state-dir", dir); code != 1 || !strings.Contains(said, "another agent works with the directory") || !set() {
		t.Errorf("%d: %s", code, said)
	}
	_ = a.end(t, syscall.SIGKILL)
	if !set() {
		t.Error("who was killed has restored something")
	}
	a = startAgent(t, testServer{}, dir, "--apply-hints", cgroup)
	waits(t, "other settings, from those before", 20*time.Second, func() bool { return stands("1", "50", "max 100000") })
	if err := a.end(t, syscall.SIGTERM); err != nil || !stands("0", "50", "max 100000") {
		t.Errorf("%v: %s", err, a.stderr)
	}
}
