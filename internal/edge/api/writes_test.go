package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans"
)

func TestVersionsOfThings(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	for _, c := range []struct{ at, change string }{
		{"/v1/clusters/night", `{"name":"night","description":"changed","options":{"engine":"exact"}}`},
		{"/v1/clusters/night/vm-types/small", `{"name":"small","quota":90}`},
		{"/v1/clusters/night/contracts/three-year", strings.Replace(someContract, `"vms":30`, `"vms":31`, 1)},
		{"/v1/clusters/night/classes/nightly", strings.Replace(someClass, "5.00", "6.00", 1)},
	} {
		first := s.ask(s.admin, "GET", c.at, nil).want(t, 200)
		if first.etag() != `"1"` {
			t.Errorf("%s begins with the ETag %s", c.at, first.etag())
		}
		unchanged := s.ask(s.admin, "GET", c.at, nil, "If-None-Match", first.etag()).want(t, 304)
		if unchanged.etag() != first.etag() || len(unchanged.text) > 0 {
			t.Errorf("%s unchanged comes with %s and %q", c.at, unchanged.etag(), unchanged.text)
		}
		s.ask(s.admin, "GET", c.at, nil, "If-None-Match", `"7", W/"1"`).want(t, 304)
		s.ask(s.admin, "GET", c.at, nil, "If-None-Match", `"11"`).want(t, 200)
		head := s.ask(s.admin, "HEAD", c.at, nil).want(t, 200)
		if head.etag() != first.etag() || len(head.text) > 0 || head.ContentLength != int64(len(first.text)) {
			t.Errorf("HEAD %s: %v", c.at, head.Header)
		}
		s.ask(s.admin, "PUT", c.at, c.change).want(t, 428)
		s.ask(s.admin, "DELETE", c.at, nil).want(t, 428)
		for header, status := range map[string]int{`"2"`: 412, `"0"`: 412, `"abc"`: 412, `1`: 400, `*`: 400, `W/"1"`: 400, `"1", "2"`: 400, `"1`: 412} {
			s.ask(s.admin, "PUT", c.at, c.change, "If-Match", header).want(t, status)
		}
		second := s.ask(s.admin, "PUT", c.at, c.change, "If-Match", first.etag()).want(t, 200)
		if second.etag() != `"2"` {
			t.Errorf("%s changed has the ETag %s", c.at, second.etag())
		}
		p := s.ask(s.admin, "PUT", c.at, c.change, "If-Match", first.etag()).want(t, 412).problem(t)
		if !strings.Contains(p.Detail, "version 2") {
			t.Errorf("an old version is refused with %q", p.Detail)
		}
		// An answer can be sent back, with all members that the server added.
		s.ask(s.admin, "PUT", c.at, second.text, "If-Match", second.etag()).want(t, 200)
		other := strings.Replace(c.change, `"name":"`, `"name":"x`, 1)
		if p := s.ask(s.admin, "PUT", c.at, other, "If-Match", `"3"`).want(t, 422).problem(t); p.at() != "/name" || p.Hint == nil {
			t.Errorf("a renaming is refused with %+v", p)
		}
	}
	s.ask(s.admin, "DELETE", "/v1/clusters/night/classes/ad-hoc", nil, "If-Match", `"1"`).want(t, 204)
	s.ask(s.admin, "GET", "/v1/clusters/night/classes/ad-hoc", nil).want(t, 404)
	s.ask(s.admin, "DELETE", "/v1/clusters/night/classes/ad-hoc", nil, "If-Match", `"1"`).want(t, 404)
}

func TestCreatedThingsHaveAnAddress(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	name := `odd/na me?#%é.."`
	body, _ := json.Marshal(map[string]any{"name": name, "in_use": false})
	made := s.ask(s.admin, "POST", "/v1/clusters/night/vm-types", body).want(t, 201)
	at := made.Header.Get("Location")
	got := s.ask(s.admin, "GET", at, nil).want(t, 200)
	if !bytes.Equal(got.text, made.text) || got.etag() != made.etag() {
		t.Errorf("at %s is\n%s, made was\n%s", at, got.text, made.text)
	}
	if !strings.Contains(string(got.text), `é`) || strings.Contains(string(got.text), `\u00`) {
		t.Errorf("letters are escaped for no reason: %s", got.text)
	}
	s.ask(s.admin, "DELETE", at, nil, "If-Match", made.etag()).want(t, 204)
	s.ask(s.admin, "POST", "/v1/clusters/night/vm-types", someVMType).want(t, 409)
	second := s.ask(s.admin, "POST", "/v1/clusters/night/profiles/etl/versions", someProfile).want(t, 201)
	if second.Header.Get("Location") != "/v1/clusters/night/profiles/etl/versions/2" || !strings.HasPrefix(second.etag(), `"2-`) {
		t.Errorf("the second version: %v", second.Header)
	}
	s.ask(s.admin, "GET", "/v1/clusters/night/profiles/etl/versions/3", nil).want(t, 404)
	s.ask(s.admin, "DELETE", "/v1/clusters/night/profiles/etl", nil, "If-Match", s.ask(s.admin, "GET", "/v1/clusters/night/profiles/etl", nil).etag()).want(t, 409)
}

func TestPlans(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const address = "/v1/clusters/night/plans"
	if p := s.ask(s.admin, "GET", address+"/current", nil).want(t, 404).problem(t); !strings.Contains(p.Detail, "POST") {
		t.Errorf("without a plan: %q does not say how to make one", p.Detail)
	}
	first := s.ask(s.admin, "POST", address, nil).want(t, 201)
	var record plans.PlanRecord
	first.into(t, &record)
	if first.Header.Get("Location") != address+"/1" || first.etag() != `"1-gzip"` || record.Number != 1 || record.CreatedBy != "root" {
		t.Errorf("the first plan: %v %+v", first.Header, record.PlanSummary)
	}
	second := s.ask(s.admin, "POST", address, `{"at":"2026-03-01T22:30:00Z"}`).want(t, 201)
	for _, at := range []string{"/1", "/" + record.ID, "/" + strings.ToUpper(record.ID)} {
		if got := s.ask(s.admin, "GET", address+at, nil).want(t, 200); !bytes.Equal(got.text, first.text) {
			t.Errorf("GET %s is not what POST answered:\n%s\n%s", at, got.text, first.text)
		}
		s.ask(s.admin, "GET", address+at, nil, "If-None-Match", `"1"`).want(t, 304)
	}
	if second.Header.Get("Location") != address+"/2" {
		t.Errorf("the second plan: %v", second.Header)
	}
	s.ask(s.admin, "GET", address+"/current", nil).want(t, 200).into(t, &record)
	if record.Number != 1 {
		t.Errorf("the current plan is number %d, which is for another moment", record.Number)
	}
	s.ask(s.admin, "GET", address+"/3", nil).want(t, 404)
	s.ask(s.admin, "GET", address+"/019a0000-0000-7000-8000-000000000000", nil).want(t, 404)
	s.ask(s.admin, "GET", address+"/latest", nil).want(t, 400)

	var report struct{ Outcome string }
	s.ask(s.admin, "POST", address+"/2/verify", nil).want(t, 200).into(t, &report)
	if report.Outcome != "ok" {
		t.Errorf("the plan is verified as %q", report.Outcome)
	}
	difference := s.ask(s.admin, "GET", address+"/diff?from=1&to=2", nil).want(t, 200)
	if !strings.Contains(string(difference.text), `"/classes/nightly/jobs/max"`) {
		t.Errorf("the difference leaves out the forecast: %s", difference.text)
	}
	s.ask(s.admin, "GET", address+"/diff", nil).want(t, 404) // the first plan of a moment, before which none held
	s.ask(s.admin, "GET", address+"/diff?from=1&to=9", nil).want(t, 404)

	// The stored problem is the one of its moment, and solving it gives the stored plan.
	problem := s.ask(s.admin, "GET", address+"/2/problem", nil).want(t, 200)
	now := s.ask(s.admin, "GET", "/v1/clusters/night/problem?at=2026-03-01T22:30:00Z", nil).want(t, 200)
	var stored, computed map[string]any
	problem.into(t, &stored)
	now.into(t, &computed)
	delete(stored["options"].(map[string]any), "near")
	delete(computed["options"].(map[string]any), "near")
	if fmt.Sprint(stored) != fmt.Sprint(computed) {
		t.Errorf("the stored problem\n%v\nis not that of its moment\n%v", stored, computed)
	}
	solved := s.ask(s.admin, "POST", "/v1/solve", problem.text).want(t, 200)
	var p, q struct{ Objective, Status string }
	solved.into(t, &p)
	var full struct{ Plan json.RawMessage }
	second.into(t, &full)
	if err := json.Unmarshal(full.Plan, &q); err != nil || p != q || p.Objective == "" {
		t.Errorf("solving the stored problem gives %+v, the stored plan is %+v (%v)", p, q, err)
	}
}

func TestInfeasibleClustersAreNotPlanned(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	greedy := `{"name":"greedy","vms_per_job":100,"jobs":{"min":50,"max":50},"penalty":"1"}`
	s.ask(s.admin, "POST", "/v1/clusters/night/classes", greedy).want(t, 201)
	key := []string{"Idempotency-Key", "greedy"}
	p := s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil, key...).want(t, 422).problem(t)
	if p.Type != "/problems/infeasible" || len(p.Conflicts) == 0 || p.Hint == nil {
		t.Fatalf("an infeasible cluster is refused with %+v", p)
	}
	s.ask(s.admin, "GET", "/v1/clusters/night/plans/1", nil).want(t, 404)
	s.ask(s.admin, "DELETE", "/v1/clusters/night/classes/greedy", nil, "If-Match", `"1"`).want(t, 204)
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil, key...).want(t, 201) // the refusal has burnt no key
	problem := `{"currency":"USD","supply":{"on_demand":{"price":"1","quota":1}},"classes":[{"name":"a","vms_per_job":1,"jobs":{"min":5,"max":5},"penalty":2}]}`
	if p := s.ask(s.admin, "POST", "/v1/solve", problem).want(t, 422).problem(t); p.Type != "/problems/infeasible" || len(p.Conflicts) == 0 {
		t.Errorf("an infeasible problem is refused with %+v", p)
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const clusters = "/v1/clusters"
	first := s.ask(s.admin, "POST", clusters, `{"name":"night"}`, "Idempotency-Key", "k1").want(t, 201)
	again := s.ask(s.admin, "POST", clusters, `{"name":"night"}`, "Idempotency-Key", "k1").want(t, 201)
	if !bytes.Equal(first.text, again.text) || again.etag() != first.etag() || again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Content-Type") != "application/json" {
		t.Errorf("repeated: %v %s, first: %v %s", again.Header, again.text, first.Header, first.text)
	}
	if first.Header.Get("Idempotency-Replayed") != "" || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("Idempotency-Replayed does not tell the two apart")
	}
	s.ask(s.admin, "POST", clusters, `{"name":"other"}`, "Idempotency-Key", "k1").want(t, 422)
	s.ask(s.admin, "POST", clusters, `{"name":"night"}`).want(t, 409)
	s.ask(s.admin, "POST", clusters, `{"nme":"third"}`, "Idempotency-Key", "k2").want(t, 400)
	s.ask(s.admin, "POST", clusters, `{"name":"night"}`, "Idempotency-Key", "k2").want(t, 409)
	s.ask(s.admin, "POST", clusters, `{"name":"third"}`, "Idempotency-Key", "k2").want(t, 201) // refusals burn no key
	operator := s.key("another", "operator", nil)
	s.ask(operator, "POST", clusters, `{"name":"fourth"}`, "Idempotency-Key", "k1").want(t, 201) // keys are everybody's own
	for _, bad := range []string{"two words", "é", strings.Repeat("x", 201)} {
		if p := s.ask(s.admin, "POST", clusters, `{"name":"fifth"}`, "Idempotency-Key", bad).want(t, 400).problem(t); p.at() != "Idempotency-Key" {
			t.Errorf("the key %q is refused with %+v", bad, p)
		}
	}

	// A new key's token is shown once.
	made := s.ask(s.admin, "POST", "/v1/keys", `{"name":"n","role":"viewer"}`, "Idempotency-Key", "k3").want(t, 201)
	repeated := s.ask(s.admin, "POST", "/v1/keys", `{"name":"n","role":"viewer"}`, "Idempotency-Key", "k3").want(t, 201)
	var a, b createdKey
	made.into(t, &a)
	repeated.into(t, &b)
	if a.Token == "" || b.Token != "" || a.ID != b.ID || strings.Contains(string(repeated.text), "token") {
		t.Errorf("made %s, repeated %s", made.text, repeated.text)
	}
	s.ask(a.Token, "GET", clusters, nil).want(t, 200)
	s.ask(s.admin, "DELETE", "/v1/keys/"+a.ID, nil).want(t, 204)
	s.ask(s.admin, "DELETE", "/v1/keys/"+a.ID, nil).want(t, 204)
	s.ask(a.Token, "GET", clusters, nil).want(t, 401)
	s.ask(s.admin, "DELETE", "/v1/keys/nobody", nil).want(t, 404)
}

// Twenty copies of each request race: one plan, the same bytes for all of them.
func TestRacingCopiesHaveOneEffect(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	keys := many(4, 1000)
	const copies = 20
	for k := range keys {
		var wg sync.WaitGroup
		answers := make([]answered, copies)
		for i := range copies {
			wg.Go(func() {
				for range 20 { // 503 asks to try again
					answers[i] = s.ask(s.admin, "POST", "/v1/clusters/night/plans", `{"at":"2026-03-01T22:00:00Z"}`, "Idempotency-Key", fmt.Sprint("race-", k))
					if answers[i].StatusCode != http.StatusServiceUnavailable {
						return
					}
				}
			})
		}
		wg.Wait()
		fresh := 0
		for _, a := range answers {
			a.want(t, 201)
			if !bytes.Equal(a.text, answers[0].text) || a.etag() != answers[0].etag() || a.Header.Get("Location") != answers[0].Header.Get("Location") {
				t.Fatalf("two copies got different answers:\n%s\n%s", a.text, answers[0].text)
			}
			if a.Header.Get("Idempotency-Replayed") == "" {
				fresh++
			}
		}
		if fresh != 1 {
			t.Fatalf("%d of %d copies say that they made the plan", fresh, copies)
		}
	}
	var plans list[plans.PlanSummary]
	s.ask(s.admin, "GET", "/v1/clusters/night/plans?limit=1", nil).want(t, 200).into(t, &plans)
	if plans.Items[0].Number != int64(keys) {
		t.Errorf("%d plans were made for %d keys", plans.Items[0].Number, keys)
	}
}

// Eight writers add one to the same number, each reading first; none is lost.
func TestNoUpdateIsLost(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"night"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/night/vm-types", `{"name":"small","quota":0}`).want(t, 201)
	const writers, at = 8, "/v1/clusters/night/vm-types/small"
	each, clashes := many(5, 100), atomic.Int64{}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < each; {
				read := s.ask(s.admin, "GET", at, nil).want(t, 200)
				var v inputs.VMType
				read.into(t, &v)
				*v.Quota++
				switch a := s.ask(s.admin, "PUT", at, v, "If-Match", read.etag()); a.StatusCode {
				case 200:
					done++
				case 412:
					clashes.Add(1)
				default:
					t.Errorf("got %d: %s", a.StatusCode, a.text)
					return
				}
			}
		})
	}
	wg.Wait()
	var v inputs.VMType
	s.ask(s.admin, "GET", at, nil).want(t, 200).into(t, &v)
	if *v.Quota != int64(writers*each) || v.Version != int64(writers*each)+1 {
		t.Errorf("%d writes left %d at version %d", writers*each, *v.Quota, v.Version)
	}
	t.Logf("%d writes, %d refused as outdated", writers*each, clashes.Load())
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const at = "/v1/clusters/night/document"
	document := s.ask(s.admin, "GET", at, nil).want(t, 200)
	s.ask(s.admin, "GET", at, nil, "If-None-Match", document.etag()).want(t, 304)
	var a struct {
		Created bool
		Changes []inputs.Change
		Version int64 `json:"inputs_version"`
	}
	s.ask(s.admin, "PUT", at, document.text, "If-Match", document.etag()).want(t, 200).into(t, &a)
	if len(a.Changes) != 0 || a.Created {
		t.Errorf("the exported document changes %+v", a)
	}
	changed := bytes.Replace(document.text, []byte(`"quota":100`), []byte(`"quota":101`), 1)
	s.ask(s.admin, "PUT", at+"?dry_run=true", changed).want(t, 200).into(t, &a)
	if len(a.Changes) != 1 || a.Changes[0].Kind != "vm_type" {
		t.Errorf("a dry run tells %+v", a)
	}
	s.ask(s.admin, "PUT", at, changed).want(t, 428)
	s.ask(s.admin, "PUT", at, changed, "If-None-Match", "*").want(t, 412)
	s.ask(s.admin, "PUT", at, changed, "If-None-Match", `"1"`).want(t, 400)
	s.ask(s.admin, "PUT", at, changed, "If-None-Match", "*", "If-Match", document.etag()).want(t, 400)
	s.ask(s.admin, "PUT", at, changed, "If-Match", `"999"`).want(t, 412)
	made := s.ask(s.admin, "PUT", at, changed, "If-Match", document.etag()).want(t, 200)
	if made.etag() == document.etag() || made.etag() != s.ask(s.admin, "GET", at, nil, "Accept-Encoding", "identity").etag() {
		t.Errorf("the document's ETag was %s and is %s", document.etag(), made.etag())
	}
	if p := s.ask(s.admin, "PUT", "/v1/clusters/day/document", changed, "If-None-Match", "*").want(t, 422).problem(t); p.at() != "/cluster/name" {
		t.Errorf("another cluster's document is refused with %+v", p)
	}
	day := bytes.Replace(changed, []byte(`"name":"night"`), []byte(`"name":"day"`), 1)
	s.ask(s.admin, "PUT", "/v1/clusters/day/document?dry_run=true", day).want(t, 200).into(t, &a)
	if !a.Created {
		t.Error("a dry run of a new cluster's document does not say that it makes one")
	}
	s.ask(s.admin, "GET", "/v1/clusters/day", nil).want(t, 404)
	s.ask(s.admin, "PUT", "/v1/clusters/day/document", day, "If-Match", `"1"`).want(t, 404)
	s.ask(s.admin, "PUT", "/v1/clusters/day/document", day, "If-None-Match", "*").want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/day/plans", nil).want(t, 201)
}
