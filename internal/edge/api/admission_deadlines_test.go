package api

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// near reports whether a time that passes while a test runs is about as expected.
func near(got, want float64) bool { return math.Abs(got-want) < 30 }

// node declares a node and sends its first heartbeat.
func (s *service) node(name string, slots int) {
	s.Helper()
	s.ask(s.admin, "PUT", "/v1/clusters/night/nodes/"+name, fmt.Sprintf(`{"type":"m5.large","cores":%d,"slots":{"map":%d,"reduce":0}}`, slots, slots)).want(s, 200)
	s.beat(name, `{"seq":1,"running":[]}`)
}

// A job of the class nightly has 300 maps of 30 s and 40 reduces of 60 s: 1,900 s of six slots.
func TestDeadlinesArePromised(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	ask := func(body string, status int) (a live.Admission) {
		t.Helper()
		s.ask(agent, "POST", admissions, body).want(t, status).into(t, &a)
		return a
	}
	end := func(a live.Admission) { s.ask(agent, "DELETE", admissions+"/"+a.ID, nil).want(t, 204) }

	if a := ask(`{"class":"nightly","deadline_s":2000}`, 200); a.Code != dispatch.NoSlots || a.Running != 0 || !strings.Contains(a.Reason, "cluster's nodes") {
		t.Errorf("without nodes: %+v", a)
	}
	s.ask(agent, "POST", admissions, `{"class":"nightly"}`).want(t, 201) // without a deadline the plan alone decides
	s.node("a", 4)
	s.node("b", 2)
	first := ask(`{"class":"nightly","holder":"first","deadline_s":2000}`, 201)
	if v := first.Deadline; v == nil || !v.Kept || v.DemandSeconds != 1900 || !v.Assumed || v.UsableSlots != 6 || v.Mode != dispatch.AdmissionStrict || !near(time.Until(*first.DeadlineAt).Seconds(), 2000) {
		t.Fatalf("got %+v, %+v", first, v)
	}
	refused := ask(`{"class":"nightly","deadline_s":3000}`, 200)
	v := refused.Deadline
	if refused.Code != dispatch.DeadlineMissed || refused.Running != 2 || refused.RetryAfterSeconds < 1 || v.Kept || v.LateSeconds != 800 || *v.Cures != (dispatch.DeadlineCures{DeadlineSeconds: 3800, DedicatedSlots: 2, Maps: 140}) {
		t.Fatalf("got %+v, %+v, %+v", refused, v, v.Cures)
	}
	if want := `By the estimate it would be 800 s late: with the accepted jobs due no later it needs 3800 s of all 6 usable slots, and it is due in 3000 s. It would be admitted with a deadline in 3800 s, beside 2 more dedicated slots or with at most 140 maps.`; !strings.HasPrefix(refused.Reason, want) {
		t.Errorf("got %q", refused.Reason)
	}
	end(ask(`{"class":"nightly","deadline_s":3800}`, 201))
	end(ask(`{"class":"nightly","deadline_s":3000,"maps":140,"reduces":40}`, 201))
	ask(`{"class":"nightly","deadline_s":3000,"maps":141,"reduces":40}`, 200)
	s.node("c", 2)
	end(ask(`{"class":"nightly","deadline_s":3000}`, 201))
	s.ask(s.admin, "DELETE", "/v1/clusters/night/nodes/c", nil).want(t, 204)

	// A job due before it would make it late, but not once half of it is done.
	if a := ask(`{"class":"nightly","deadline_s":1000,"maps":60,"reduces":0}`, 200); len(a.Deadline.Missed) != 1 || a.Deadline.Missed[0].ID != first.ID || a.Deadline.Missed[0].Name != "first" || !near(a.Deadline.Missed[0].LateSeconds, 200) {
		t.Errorf("got %+v", a.Deadline)
	}
	var lease live.Lease
	s.ask(agent, "POST", admissions+"/"+first.ID+"/heartbeat", `{"maps":150,"reduces":40}`).want(t, 200)
	s.ask(agent, "POST", admissions+"/"+first.ID+"/heartbeat", `{"maps":500}`).want(t, 200).into(t, &lease)
	if lease.Maps != 150 || lease.Reduces != 40 || lease.DeadlineAt == nil {
		t.Errorf("got %+v", lease)
	}
	end(ask(`{"class":"nightly","deadline_s":1000,"maps":60,"reduces":0}`, 201))

	for body, code := range map[string]dispatch.RefusalReason{
		`{"class":"nihgtly","deadline_s":2000}`:              dispatch.NotPlanned,
		`{"class":"nihgtly","deadline_s":2000,"maps":1}`:     dispatch.NotPlanned,
		`{"class":"ad-hoc","deadline_s":2000,"maps":7}`:      dispatch.Unmeasured,
		`{"class":"nightly","deadline_s":29,"maps":1}`:       dispatch.DeadlineMissed, // a task takes 30 s
		`{"class":"nightly","deadline_s":0.001}`:             dispatch.DeadlineMissed,
		`{"class":"nightly","deadline_s":10000000}`:          "",
		`{"class":"nightly","deadline_s":4000,"maps":10000}`: dispatch.DeadlineMissed,
	} {
		status := 200
		if code == "" {
			status = 201
		}
		if a := ask(body, status); a.Code != code {
			t.Errorf("%s: got %+v", body, a)
		} else if code == "" {
			end(a)
		}
	}
	for body, where := range map[string]string{
		`{"class":"ad-hoc","deadline_s":2000}`:                       "/maps",
		`{"class":"nightly","deadline_s":0}`:                         "/deadline_s",
		`{"class":"nightly","deadline_s":-5}`:                        "/deadline_s",
		`{"class":"nightly","deadline_s":1e9}`:                       "/deadline_s",
		`{"class":"nightly","deadline_s":"soon"}`:                    "/deadline_s",
		`{"class":"nightly","deadline_s":100,"maps":0}`:              "/maps",
		`{"class":"nightly","deadline_s":100,"maps":1.5}`:            "/maps",
		`{"class":"nightly","deadline_s":100,"reduces":3}`:           "/maps",
		`{"class":"nightly","deadline_s":100,"maps":1,"reduces":-1}`: "/reduces",
		`{"class":"nightly","maps":10}`:                              "/deadline_s",
	} {
		a := s.ask(agent, "POST", admissions, body)
		if p := a.problem(t); a.StatusCode != 400 && a.StatusCode != 422 || p.at() != where {
			t.Errorf("%s: got %d %+v", body, a.StatusCode, p)
		}
	}
	var leases list[live.Lease]
	s.ask(agent, "GET", admissions, nil).want(t, 200).into(t, &leases)
	if len(leases.Items) != 2 {
		t.Errorf("refusals have left leases: %+v", leases.Items)
	}
}

// A live job takes a place for as long as it is active. One with a deadline is accepted only if the deadline can be
// promised beside leases and other jobs.
func TestLiveJobsAreAdmitted(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	const at = "/v1/clusters/night"
	submit := func(body string, status int) (j live.LiveJob) {
		t.Helper()
		s.ask(s.admin, "POST", at+"/jobs", body).want(t, status).into(t, &j)
		return j
	}
	s.node("a", 4)
	s.node("b", 2)
	if j := submit(`{"name":"open","class":"nobody","maps":1,"deadline_s":1}`, 201); j.Admission != nil {
		t.Errorf("an open cluster asks nobody: %+v", j)
	}
	s.ask(s.admin, "DELETE", at+"/jobs/1", nil).want(t, 204)
	settings := s.ask(s.admin, "GET", at+"/live", nil).want(t, 200)
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"},"admission":"often"}`, "If-Match", settings.etag()).want(t, 400)
	s.ask(s.admin, "PUT", at+"/live", `{"policy":{"kind":"edf"},"admission":"strict"}`, "If-Match", settings.etag()).want(t, 200)

	first := submit(`{"name":"one","class":"nightly","maps":300,"reduces":40,"deadline_s":2000}`, 201)
	if a := first.Admission; a == nil || !a.Admitted || a.Running != 1 || a.ExpiresAt != nil || a.Deadline.DemandSeconds != 1900 {
		t.Fatalf("got %+v, %+v", first, a)
	}
	for body, want := range map[string]string{
		`{"name":"late","class":"nightly","maps":300,"reduces":40,"deadline_s":3000}`:     "By the estimate it would be 800 s late",
		`{"name":"past","class":"nightly","maps":1,"deadline_at":"2020-01-01T00:00:00Z"}`: "Its deadline passed",
		`{"name":"class","class":"nihgtly","maps":1}`:                                     `Did you mean "nightly"?`,
	} {
		j := submit(body, 200)
		if j.State != live.JobRefused || j.Number != 0 || j.Admission.Admitted || !strings.Contains(j.Reason, want) || j.Reason != j.Admission.Reason {
			t.Errorf("%s: got %+v, %+v", body, j, j.Admission)
		}
	}
	// Leases and jobs are judged together, and counted in one way.
	var lease live.Admission
	s.ask(agent, "POST", admissions, `{"class":"nightly","deadline_s":3000}`).want(t, 200).into(t, &lease)
	if lease.Running != 1 || lease.Deadline.LateSeconds != 800 {
		t.Errorf("got %+v, %+v", lease, lease.Deadline)
	}
	s.ask(agent, "POST", admissions, `{"class":"nightly","deadline_s":3900}`).want(t, 201).into(t, &lease)
	if j := submit(`{"name":"third","class":"nightly","maps":300,"reduces":40,"deadline_s":5000}`, 200); !near(j.Admission.Deadline.LateSeconds, 700) {
		t.Errorf("got %+v", j.Admission.Deadline)
	}
	var leases list[live.Lease]
	s.ask(agent, "GET", admissions, nil).want(t, 200).into(t, &leases)
	if len(leases.Items) != 2 || leases.Items[0].Job == nil || *leases.Items[0].Job != first.Number || leases.Items[0].ExpiresAt != nil || leases.Items[1].Job != nil {
		t.Fatalf("got %+v", leases.Items)
	}
	if p := s.ask(agent, "DELETE", admissions+"/"+leases.Items[0].ID, nil).want(t, 409).problem(t); !strings.Contains(p.Detail, "live job 2") {
		t.Errorf("got %+v", p)
	}
	// No place is left, whoever has them.
	limit := lease.Limit
	for i := range limit - 2 {
		submit(fmt.Sprintf(`{"name":"more %d","class":"nightly","maps":1}`, i), 201)
	}
	if j := submit(`{"name":"full","class":"nightly","maps":1}`, 200); j.Admission.Code != dispatch.Full || j.Admission.RetryAfterSeconds < 1 {
		t.Errorf("got %+v", j.Admission)
	}
	s.ask(agent, "POST", admissions, `{"class":"nightly"}`).want(t, 200)
	// A killed job and a finished job give their places back.
	s.ask(s.admin, "DELETE", fmt.Sprintf("%s/jobs/%d", at, first.Number), nil).want(t, 204)
	done := submit(`{"name":"done","class":"nightly","maps":1,"deadline_s":1000}`, 201)
	if got := s.beat("a", `{"seq":2,"running":[]}`); len(got.Assignments) == 0 || got.Assignments[0].Job != done.Number {
		t.Fatalf("got %+v", got)
	} else {
		var running []string
		for _, a := range got.Assignments[1:] {
			running = append(running, fmt.Sprint(a.Assignment))
		}
		s.beat("a", fmt.Sprintf(`{"seq":3,"running":[%s],"finished":[{"assignment":%d}]}`, strings.Join(running, ","), got.Assignments[0].Assignment))
	}
	s.ask(agent, "POST", admissions, `{"class":"nightly"}`).want(t, 201)
}

// Sixty-four clients of three servers over one database ask at once, for leases and for live jobs. Exactly as many
// get promises as the rule allows, and all others are refused.
func TestPromisesAreOneSum(t *testing.T) {
	t.Parallel()
	servers, token := threeServers(t, auth.Admin, 1000)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(client.CloseIdleConnections)
	send := func(server int, method, path, body string, header ...string) []byte {
		r, err := http.NewRequestWithContext(t.Context(), method, servers[server%len(servers)]+"/v1/clusters/night"+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return nil
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		a, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer func() { _ = a.Body.Close() }()
		text, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode > 201 {
			t.Errorf("%s %s: %d %v %s", method, path, a.StatusCode, err, text)
		}
		return text
	}
	// Tasks of 30 s on ten slots: a job of 100 maps needs 300 s, and an hour has room for twelve.
	send(0, "POST", "/profiles", `{"name":"etl","profile":{"map_tasks":100,"reduce_tasks":0,"map_avg_s":30,"map_max_s":60}}`)
	send(0, "POST", "/classes", `{"name":"nightly","profile":{"name":"etl"},"deadline_s":2700,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"min":2,"max":10},"penalty":"5.00"}`)
	send(0, "PUT", "/live", `{"policy":{"kind":"fifo"},"admission":"strict"}`, "If-Match", `"1"`)
	send(0, "PUT", "/nodes/a", `{"type":"m5.large","cores":8,"slots":{"map":10,"reduce":0}}`)
	send(1, "POST", "/nodes/a/heartbeats", `{"seq":1,"running":[]}`)
	var (
		mu            sync.Mutex
		leases, jobs  int
		times         []time.Duration
		clients       sync.WaitGroup
		start         = make(chan struct{})
		promised      = map[string]bool{}
		refusedDemand = math.Inf(1)
	)
	for i := range 64 {
		clients.Go(func() {
			<-start
			var a *live.Admission
			began := time.Now()
			if i%2 == 0 {
				text := send(i, "POST", "/admissions", `{"class":"nightly","deadline_s":3600}`)
				a = new(live.Admission)
				if err := json.Unmarshal(text, a); err != nil {
					t.Error(err)
				}
			} else {
				var j live.LiveJob
				if err := json.Unmarshal(send(i, "POST", "/jobs", fmt.Sprintf(`{"name":"job %d","class":"nightly","maps":100,"deadline_s":3600}`, i)), &j); err != nil {
					t.Error(err)
				}
				a = j.Admission
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, time.Since(began))
			switch {
			case a == nil || a.Deadline == nil:
				t.Errorf("client %d was told nothing of its deadline: %+v", i, a)
			case !a.Admitted:
				refusedDemand = min(refusedDemand, a.Deadline.DemandSeconds)
			case i%2 == 0:
				leases++
				promised[a.ID] = true
			default:
				jobs++
				promised[a.ID] = true
			}
		})
	}
	close(start)
	clients.Wait()
	var most time.Duration
	for _, took := range times {
		most = max(most, took)
	}
	t.Logf("%d leases and %d jobs were promised a deadline; the slowest answer took %s", leases, jobs, most)
	if leases+jobs != 12 || len(promised) != 12 {
		t.Errorf("%d leases and %d jobs are promised an hour that has room for 12", leases, jobs)
	}
	if refusedDemand < 3600 {
		t.Errorf("somebody was refused with a demand of %g s", refusedDemand)
	}
	var kept list[live.Lease]
	if err := json.Unmarshal(send(2, "GET", "/admissions?limit=100", ""), &kept); err != nil || len(kept.Items) != 12 {
		t.Errorf("%d leases are kept, %v", len(kept.Items), err)
	}
}

// The answer about a job predicts when its tasks would be done: of the class nightly a map takes 30 s and a reduce 60
// s.
func TestAJobSaysWhenItWouldBeDone(t *testing.T) {
	t.Parallel()
	s, _ := planned(t)
	const jobs = "/v1/clusters/night/jobs"
	read := func(number string) (p []live.TasksPrediction) {
		t.Helper()
		var j live.LiveJob
		s.ask(s.admin, "GET", jobs+"/"+number, nil).want(t, 200).into(t, &j)
		return j.Predictions
	}
	s.ask(s.admin, "POST", jobs, `{"name":"one","class":"nightly","maps":301,"reduces":40,"deadline_s":2000}`).want(t, 201)
	s.ask(s.admin, "POST", jobs, `{"name":"unknown","class":"nobody","maps":3}`).want(t, 201)
	if p := read("1"); len(p) != 0 {
		t.Errorf("without nodes: %+v", p)
	}
	s.node("a", 4)
	s.node("b", 2)
	s.ask(s.admin, "PUT", "/v1/clusters/night/nodes/c", `{"type":"m5.large","cores":2,"slots":{"map":2,"reduce":0},"dedicated":false}`).want(t, 200)
	s.beat("c", `{"seq":1,"running":[],"state":{"residual":0.01}}`)
	p := read("1")
	if len(p) != 2 {
		t.Fatalf("got %+v", p)
	}
	maps, reduces := p[0], p[1]
	// All eight slots run maps, of 66 and two thirds each until the deadline, less what the test has taken.
	if r := maps.Running; r == nil || !r.OnTrack || r.WholeTasks > 8*66 || r.WholeTasks < 8*65 || r.Tasks >= 8*2000.0/30 || r.Tasks < 8*1970.0/30 {
		t.Errorf("got %+v", r)
	}
	if r := reduces.Running; r == nil || *r != (live.Completable{}) {
		t.Errorf("no reduce runs: %+v", r)
	}
	maps.Running, reduces.Running = nil, nil
	assumed := func(k dispatch.TaskKind) dispatch.TaskTimesFrom {
		return dispatch.TaskTimesFrom{Kind: k, TimesSource: dispatch.TimesSource{From: dispatch.TimesOfProfile}}
	}
	if want := (live.TasksPrediction{Kind: dispatch.MapTask, Unfinished: 301, UsableSlots: 6, FluidSeconds: 1505, DiscreteSeconds: 1530, CautiousSeconds: 1505, Times: assumed(dispatch.MapTask)}); maps != want {
		t.Errorf("got %+v, want %+v", maps, want)
	}
	if want := (live.TasksPrediction{Kind: dispatch.ReduceTask, Unfinished: 40, UsableSlots: 6, FluidSeconds: 400, DiscreteSeconds: 420, CautiousSeconds: 400, Times: assumed(dispatch.ReduceTask)}); reduces != want {
		t.Errorf("got %+v, want %+v", reduces, want)
	}
	if p := read("2"); len(p) != 0 {
		t.Errorf("of a class of which nothing is known: %+v", p)
	}
	s.ask(s.admin, "DELETE", jobs+"/1", nil).want(t, 204)
	if p := read("1"); len(p) != 0 {
		t.Errorf("of a job that is over: %+v", p)
	}
}
