package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/test/await"
)

const someWebhook = `{"name":"pager","url":"https://hooks.example.com/","events":["plan.failed"]}`

// webhookCell prepares an operation of webhooks.
func (s *service) webhookCell(name, operation, path string) (at string, body any, headers []string) {
	s.Helper()
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`) // once
	hook := strings.Replace(someWebhook, "pager", name, 1)
	if operation == "createWebhook" {
		return path, hook, nil
	}
	if !strings.Contains(path, "{id}") {
		return path, nil, nil
	}
	var w hooks.Webhook
	a := s.ask(s.admin, "POST", "/v1/webhooks", hook).want(s, 201)
	a.into(s, &w)
	at = strings.Replace(path, "{id}", w.ID, 1)
	switch operation {
	case "replaceWebhook":
		return at, hook, []string{"If-Match", a.etag()}
	case "deleteWebhook":
		return at, nil, []string{"If-Match", a.etag()}
	case "retryDelivery":
		var d hooks.Delivery
		s.ask(s.admin, "POST", "/v1/webhooks/"+w.ID+"/test", nil).want(s, 200).into(s, &d)
		return strings.Replace(at, "{delivery}", d.ID, 1), nil, nil
	}
	return at, nil, nil
}

// audited waits for an entry of the audit log, which lists an entry only when no older transaction can precede it,
// and returns the whole log.
func (s *service) audited(entry string) string {
	s.Helper()
	for range await.Tries(10 * time.Second) {
		if text := string(s.ask(s.admin, "GET", "/v1/audit", nil).want(s, 200).text); strings.Contains(text, entry) {
			return text
		}
	}
	s.Fatalf("the audit log has no %s", entry)
	return ""
}

func TestAllowedHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var h fetch.AllowedHost
	a := s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com","networks":["10.1.0.0/16"]}`).want(t, 201)
	a.into(t, &h)
	if h.Port != 443 || h.HTTP || h.CreatedBy != "root" || len(h.Networks) != 1 || a.Header.Get("Location") != "/v1/allowed-hosts/"+h.ID {
		t.Errorf("got %+v %v", h, a.Header)
	}
	if p := s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`).want(t, 409).problem(t); !strings.Contains(p.Detail, "hooks.example.com:443") || !strings.Contains(p.Detail, "deny that host first") {
		t.Errorf("got %q", p.Detail)
	}
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com","port":8443}`).want(t, 201)
	for body, pointer := range map[string]string{
		`{"host":"*.example.com"}`: "/host", `{"host":"EXAMPLE.com"}`: "/host", `{"host":"0x7f.1"}`: "/host", `{"host":"a.example","networks":["0.0.0.0/0"]}`: "/networks/0",
		`{"host":"https://a.example"}`: "/host",
	} {
		if p := s.ask(s.admin, "POST", "/v1/allowed-hosts", body).want(t, 422).problem(t); p.at() != pointer {
			t.Errorf("%s: got %+v", body, p)
		}
	}
	for _, body := range []string{`{}`, `{"host":""}`, `{"host":"a.example","port":0}`, `{"host":"a.example","port":70000}`, `{"host":"a.example","networks":null}`, `{"hosts":"a.example"}`} {
		s.ask(s.admin, "POST", "/v1/allowed-hosts", body).want(t, 400)
	}
	var l list[fetch.AllowedHost]
	s.ask(s.admin, "GET", "/v1/allowed-hosts?limit=1", nil).want(t, 200).into(t, &l)
	if len(l.Items) != 1 || l.Next == nil || l.Items[0].Port != 443 {
		t.Fatalf("got %+v", l)
	}
	s.ask(s.admin, "GET", "/v1/allowed-hosts?limit=1&cursor="+*l.Next, nil).want(t, 200).into(t, &l)
	if len(l.Items) != 1 || l.Items[0].Port != 8443 {
		t.Errorf("got %+v", l)
	}
	s.ask(s.admin, "DELETE", "/v1/allowed-hosts/"+h.ID, nil).want(t, 204)
	s.ask(s.admin, "DELETE", "/v1/allowed-hosts/"+h.ID, nil).want(t, 404)
	s.ask(s.admin, "DELETE", "/v1/allowed-hosts/nobody", nil).want(t, 404)
	s.audited(`"action":"delete","kind":"allowed_host"`)
}

// The secret is in the answer that creates it and nowhere else: in no other answer, repetition, audit entry or line
// of the log.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := s.ask(s.admin, "POST", "/v1/webhooks", someWebhook).want(t, 422).problem(t)
	if p.at() != "/url" || !strings.Contains(p.Errors[0].Detail, `"headroom server host allow hooks.example.com:443"`) {
		t.Errorf("a host that is not allowed: got %+v", p)
	}
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`).want(t, 201)
	var made createdWebhook
	a := s.ask(s.admin, "POST", "/v1/webhooks", someWebhook, "Idempotency-Key", "once").want(t, 201)
	a.into(t, &made.Webhook)
	var secrets []string
	read := func(a answered) string {
		t.Helper()
		var with struct{ Secret string }
		a.into(t, &with)
		return with.Secret
	}
	secrets = append(secrets, read(a))
	if len(secrets[0]) < 38 || !strings.HasPrefix(secrets[0], "whsec_") || !made.Enabled || made.Version != 1 || a.etag() != `"1"` || a.Header.Get("Location") != "/v1/webhooks/"+made.ID {
		t.Errorf("got %s %v", a.text, a.Header)
	}
	if again := s.ask(s.admin, "POST", "/v1/webhooks", someWebhook, "Idempotency-Key", "once").want(t, 201); read(again) != "" || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the repetition says %s", again.text)
	}
	s.ask(s.admin, "POST", "/v1/webhooks", someWebhook).want(t, 409)
	at := "/v1/webhooks/" + made.ID
	var others []string // all other answers
	keep := func(a answered) answered { others = append(others, string(a.text)); return a }

	now := keep(s.ask(s.admin, "GET", at, nil).want(t, 200))
	s.ask(s.admin, "GET", at, nil, "If-None-Match", now.etag()).want(t, 304)
	changed := strings.Replace(string(now.text), `"pager"`, `"pager duty"`, 1) // an answer can be sent back
	s.ask(s.admin, "PUT", at, changed).want(t, 428)
	s.ask(s.admin, "PUT", at, changed, "If-Match", `"9"`).want(t, 412)
	if after := keep(s.ask(s.admin, "PUT", at, changed, "If-Match", now.etag()).want(t, 200)); after.etag() != `"2"` || !strings.Contains(string(after.text), "pager duty") {
		t.Errorf("got %s", after.text)
	}
	s.ask(s.admin, "PUT", at, `{"name":"a","url":"https://elsewhere.example/","events":["plan.failed"]}`, "If-Match", `"2"`).want(t, 422)
	s.ask(s.admin, "PUT", at, `{"name":"a","url":"http://hooks.example.com:443/","events":["plan.failed"]}`, "If-Match", `"2"`).want(t, 422)
	s.ask(s.admin, "PUT", at, `{"name":"a","url":"https://hooks.example.com/","events":["plan.failed"],"secret":"whsec_x"}`, "If-Match", `"2"`).want(t, 400)

	for _, body := range []any{nil, `{}`, fmt.Sprintf(`{"secret":%q}`, hooks.NewSecret(make([]byte, 32)))} {
		a := s.ask(s.admin, "POST", at+"/secret", body).want(t, 200)
		secrets = append(secrets, read(a))
	}
	if s.ask(s.admin, "POST", at+"/secret", `{"secret":"whsec_abc"}`).want(t, 422).problem(t).at() != "/secret" {
		t.Error("a short secret is not named")
	}
	rotated := s.ask(s.admin, "POST", at+"/secret", nil, "Idempotency-Key", "turn").want(t, 200)
	secrets = append(secrets, read(rotated))
	keep(s.ask(s.admin, "POST", at+"/secret", nil, "Idempotency-Key", "turn").want(t, 200))

	keep(s.ask(s.admin, "POST", at+"/test", nil).want(t, 200))
	keep(s.ask(s.admin, "POST", at+"/test", `{}`).want(t, 200))
	for _, body := range []string{`{"event":"plan.changed"}`, `[]`, `null`, `7`, `{`} {
		s.ask(s.admin, "POST", at+"/test", body).want(t, 400)
	}
	keep(s.ask(s.admin, "GET", at+"/deliveries", nil).want(t, 200))
	keep(s.ask(s.admin, "GET", at+"/deliveries?format=csv", nil).want(t, 200))
	keep(s.ask(s.admin, "GET", "/v1/webhooks", nil).want(t, 200))
	keep(s.ask(s.admin, "GET", "/v1/webhooks?format=csv", nil).want(t, 200))
	s.ask(s.admin, "POST", at+"/deliveries/nothing/retry", nil).want(t, 404)
	s.ask(s.admin, "DELETE", at, nil, "If-Match", `"1"`).want(t, 412)
	s.ask(s.admin, "DELETE", at, nil, "If-Match", `"2"`).want(t, 204)
	s.ask(s.admin, "GET", at, nil).want(t, 404)
	s.ask(s.admin, "GET", at+"/deliveries", nil).want(t, 404)
	s.ask(s.admin, "POST", at+"/test", nil).want(t, 404)

	others = append(others, s.log.String(), s.audited(`"action":"delete","kind":"webhook"`))
	for i, secret := range secrets {
		if len(secret) < 38 {
			t.Errorf("secret %d is %q", i, secret)
		}
		for _, text := range others {
			if strings.Contains(text, strings.TrimPrefix(secret, "whsec_")) {
				t.Errorf("secret %d stands in %.300s", i, text)
			}
		}
	}
}

func TestWebhooksThatMakeNoSense(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"night"}`).want(t, 201)
	with := func(member string, value any) string {
		var all map[string]any
		if err := json.Unmarshal([]byte(someWebhook), &all); err != nil {
			t.Fatal(err)
		}
		all[member] = value
		text, _ := json.Marshal(all)
		return string(text)
	}
	for _, c := range []struct {
		body    string
		status  int
		pointer string
	}{
		{with("url", "https://hooks.example.com@127.0.0.1/"), 422, "/url"},
		{with("url", "https://2130706433/"), 422, "/url"},
		{with("url", "https://hooks.example.com./"), 422, "/url"},
		{with("url", "https://hooks.example.com:8443/"), 422, "/url"},
		{with("url", "https://127.0.0.1/"), 422, "/url"},
		{with("url", "file:///etc/passwd"), 422, "/url"},
		{with("url", 7), 400, "/url"},
		{with("events", []string{}), 400, "/events"},
		{with("events", []string{"ping"}), 400, "/events/0"},
		{with("events", []string{"plan.changedd"}), 400, "/events/0"},
		{with("events", []string{"plan.changed", "plan.changed"}), 422, "/events/1"},
		{with("clusters", []string{}), 400, "/clusters"},
		{with("clusters", []string{"No Cluster"}), 422, "/clusters/0"},
		{with("clusters", []string{"night", "nihgt"}), 422, "/clusters/1"},
		{with("name", " a"), 422, "/name"},
		{with("secret", "whsec_"), 422, "/secret"},
		{with("secret", 5), 400, "/secret"},
		{with("seecret", "a"), 400, "/seecret"},
	} {
		if p := s.ask(s.admin, "POST", "/v1/webhooks", c.body).want(t, c.status).problem(t); p.at() != c.pointer {
			t.Errorf("%s: got %+v", c.body, p)
		}
	}
	if p := s.ask(s.admin, "POST", "/v1/webhooks", with("clusters", []string{"nihgt"})).want(t, 422).problem(t); p.Errors[0].Hint == nil || !strings.Contains(p.Errors[0].Hint.Detail, `"night"`) {
		t.Errorf("a slip in a cluster's name: got %+v", p.Errors)
	}
	if l := s.ask(s.admin, "GET", "/v1/webhooks", nil).want(t, 200); !strings.Contains(string(l.text), `"items":[]`) {
		t.Errorf("something was written: %s", l.text)
	}
	limited := s.key("limited", auth.Admin, []string{"mine"})
	for _, path := range []string{"/v1/webhooks", "/v1/allowed-hosts"} {
		s.ask(limited, http.MethodGet, path, nil).want(t, 403)
	}
}

// A webhook whose cluster is gone can still be changed, and accepts no other missing one.
func TestWebhooksOutliveTheirClusters(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`).want(t, 201)
	made := s.ask(s.admin, "POST", "/v1/clusters", `{"name":"night"}`).want(t, 201)
	hook := strings.Replace(someWebhook, `}`, `,"clusters":["night"]}`, 1)
	var w hooks.Webhook
	a := s.ask(s.admin, "POST", "/v1/webhooks", hook).want(t, 201)
	a.into(t, &w)
	s.ask(s.admin, "DELETE", "/v1/clusters/night", nil, "If-Match", made.etag()).want(t, 204)
	at := "/v1/webhooks/" + w.ID
	a = s.ask(s.admin, "PUT", at, strings.Replace(hook, `}`, `,"enabled":false}`, 1), "If-Match", a.etag()).want(t, 200)
	if p := s.ask(s.admin, "PUT", at, strings.Replace(hook, `"night"`, `"night","day"`, 1), "If-Match", a.etag()).want(t, 422).problem(t); p.at() != "/clusters/1" {
		t.Errorf("got %+v", p)
	}
}

// Events match openapi.yaml, without additional members.
func TestEventsAreAsDescribed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"hooks.example.com"}`).want(t, 201)
	var w hooks.Webhook
	s.ask(s.admin, "POST", "/v1/webhooks", `{"name":"all","url":"https://hooks.example.com/","events":["plan.changed","plan.failed","run.finished","report.made"]}`).want(t, 201).into(t, &w)
	at := "/v1/webhooks/" + w.ID
	s.ask(s.admin, "POST", at+"/test", nil).want(t, 200)
	s.cluster("night")
	for range 2 {
		s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	}
	run := s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil, "Prefer", "respond-async").want(t, 202).Header.Get("Location")
	s.ask(s.admin, "DELETE", run, nil).want(t, 204)
	s.makeReport("night", `{"every":"day","covers":"behind","format":"csv"}`)
	a := s.ask(s.admin, "GET", "/v1/clusters/night/classes/nightly", nil).want(t, 200)
	var class map[string]any
	a.into(t, &class)
	class["jobs"] = map[string]int{"min": 5000, "max": 5000} // more than the quota has room for
	for _, computed := range []string{"version", "created_at", "updated_at", "warnings"} {
		delete(class, computed)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/night/classes/nightly", class, "If-Match", a.etag()).want(t, 200)
	planning, stop := context.WithCancel(t.Context())
	done := s.app.StartPlanner(planning)
	defer func() { stop(); <-done }()

	schemas := map[hooks.Event]string{hooks.PlanChanged: "PlanChangedEvent", hooks.PlanFailed: "PlanFailedEvent", hooks.RunFinished: "RunFinishedEvent", hooks.ReportMade: "ReportMadeEvent", hooks.Ping: "PingEvent"}
	came := map[hooks.Event]int{}
	seen := map[string]bool{}
	for range await.Tries(20 * time.Second) {
		if len(came) == len(schemas) {
			break
		}
		var l list[hooks.Delivery]
		s.ask(s.admin, "GET", at+"/deliveries", nil).want(t, 200).into(t, &l)
		for _, d := range l.Items {
			if seen[d.ID] {
				continue
			}
			seen[d.ID] = true
			claim, err := s.store.ClaimDelivery(t.Context(), d.ID, 100, time.Minute)
			if err != nil || claim == nil {
				t.Fatalf("got %v, %v", claim, err)
			}
			came[d.Event]++
			var body map[string]any
			if err := json.Unmarshal([]byte(claim.Body), &body); err != nil {
				t.Fatal(err)
			}
			checkEvent(t, s.doc.Components.Schemas[schemas[d.Event]].Value, body, claim.Body)
		}
	}
	if len(came) != len(schemas) || came[hooks.PlanChanged] != 2 {
		t.Errorf("told were %v", came)
	}
	for event, name := range schemas {
		checkEvent(t, s.doc.Components.Schemas[name].Value, s.doc.Components.Schemas[name].Value.Example, "the example of "+string(event))
	}
}

// checkEvent checks a body against its schema, and allows no other members.
func checkEvent(t *testing.T, schema *openapi3.Schema, body any, text string) {
	t.Helper()
	if err := schema.VisitJSON(body, formats); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	described := membersIn(schema)
	for name, value := range body.(map[string]any) {
		if described[name] == nil {
			t.Errorf("%s: the member %q is not described", text, name)
		} else if member, ok := value.(map[string]any); ok {
			checkEvent(t, described[name], member, text)
		}
	}
}

// membersIn gathers the properties of an object and of the shapes it consists of.
func membersIn(s *openapi3.Schema) map[string]*openapi3.Schema {
	all := map[string]*openapi3.Schema{}
	for _, part := range s.AllOf {
		maps.Copy(all, membersIn(part.Value))
	}
	for name, ref := range s.Properties {
		all[name] = ref.Value
	}
	return all
}
