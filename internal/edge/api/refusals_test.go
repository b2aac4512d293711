package api

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
)

// Common mistakes, with the place in the refusal and a word of the helpful sentence.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"empty"}`).want(t, 201)
	const at = "/v1/clusters/night"
	class := func(change ...string) string {
		return strings.NewReplacer(append(change, "nightly", "other")...).Replace(someClass)
	}
	for _, c := range []struct {
		what, method, path, body string
		status                   int
		where, says              string
	}{
		{"unknown cluster", "GET", "/v1/clusters/absent/classes", "", 404, "", `"absent"`},
		{"unknown cluster, plan", "POST", "/v1/clusters/absent/plans", "", 404, "", `"absent"`},
		{"unknown class", "GET", at + "/classes/absent", "", 404, "", `"absent"`},
		{"no cluster name", "POST", "/v1/clusters", `{"name":"Night Batch"}`, 400, "/name", "Small letters"},
		{"time zone", "POST", "/v1/clusters", `{"name":"a","time_zone":"Mars/Base"}`, 422, "/time_zone", "IANA"},
		{"currency", "POST", "/v1/clusters", `{"name":"a","currency":"eur"}`, 400, "/currency", "capital"},
		{"the name again", "POST", at + "/classes", someClass, 409, "", "nightly"},
		{"profile version that is gone", "POST", at + "/classes", class(`{"name":"etl"}`, `{"name":"etl","version":7}`), 422, "/profile/version", "latest"},
		{"unknown profile", "POST", at + "/classes", class(`{"name":"etl"}`, `{"name":"elt"}`), 422, "/profile/name", "etl"},
		{"deadline nothing meets", "POST", at + "/classes", class("2700", "10"), 422, "/deadline_s", "deadline"},
		{"no way to say what a job needs", "POST", at + "/classes", `{"name":"x","jobs":{"min":0,"max":1},"penalty":1}`, 422, "", "profile"},
		{"more promised than wanted", "POST", at + "/classes", class(`"min":2`, `"min":20`), 422, "/jobs/min", "20"},
		{"fraction of a job", "POST", at + "/classes", class(`"max":10`, `"max":10.5`), 422, "/jobs/max", "10.5"},
		{"negative penalty", "POST", at + "/classes", class(`"5.00"`, `"-5.00"`), 400, "/penalty", "negative"},
		{"decimal comma", "POST", at + "/classes", class(`"5.00"`, `"5,00"`), 400, "/penalty", "decimal"},
		{"ten places", "POST", at + "/classes", class(`"5.00"`, `0.1234567891`), 400, "/penalty", "9"},
		{"string for number", "POST", at + "/classes", class("2700", `"2700"`), 400, "/deadline_s", "a number"},
		{"null for object", "POST", at + "/classes", class(`{"min":2,"max":10}`, "null"), 400, "/jobs", "null"},
		{"missing member", "POST", at + "/classes", class(`"penalty":"5.00"`, `"deadline_s":2700`), 400, "/deadline_s", "twice"},
		{"misspelt member", "POST", at + "/classes", class("deadline_s", "dedline_s"), 400, "/dedline_s", "dedline_s"},
		{"overlapping prices", "POST", at + "/prices", somePrice, 422, "/from", "overlaps"},
		{"price of an unknown type", "POST", at + "/prices", strings.Replace(somePrice, "small", "smal", 1), 422, "/vm_type", "small"},
		{"price that ends before it starts", "POST", at + "/prices", strings.Replace(somePrice, "null", `"2019-01-01T00:00:00Z"`, 1), 422, "/until", "before"},
		{"price without a time", "POST", at + "/prices", strings.Replace(somePrice, "2020-01-01T00:00:00Z", "2020-02-30T00:00:00Z", 1), 400, "/from", "no time"},
		{"contract that ends before it starts", "POST", at + "/contracts", strings.NewReplacer("2199", "2019", "three-year", "x").Replace(someContract), 422, "/until", "swapped"},
		{"whole number with an exponent", "POST", at + "/contracts", strings.NewReplacer(`"vms":30`, `"vms":3e1`, "three-year", "x").Replace(someContract), 400, "/vms", "whole number"},
		{"half a VM", "POST", at + "/contracts", strings.NewReplacer(`"vms":30`, `"vms":2.5`, "three-year", "x").Replace(someContract), 400, "/vms", "whole number"},
		{"reduce tasks without shuffles", "POST", at + "/profiles", `{"name":"x","profile":{"map_tasks":3,"reduce_tasks":2,"map_avg_s":1,"map_max_s":2,"overhead_s":-1}}`, 400, "/profile/first_shuffle_avg_s", "reduce tasks"},
		{"longest shorter than the mean", "POST", at + "/profiles", `{"name":"x","profile":{"map_tasks":3,"reduce_tasks":0,"map_avg_s":3,"map_max_s":2}}`, 422, "/profile/map_max_s", "mean"},
		{"forecast for half an hour", "PUT", at + "/forecasts", `{"rows":[{"class":"nightly","hour":"2026-01-01T00:30:00Z","jobs":1}]}`, 422, "/rows/0/hour", "whole hour"},
		{"forecast for no class", "PUT", at + "/forecasts", `{"rows":[{"class":"nihgtly","hour":"2026-01-01T00:00:00Z","jobs":1}]}`, 422, "/rows/0/class", "nightly"},
		{"forecast twice", "PUT", at + "/forecasts", `{"rows":[{"class":"nightly","hour":"2026-01-01T00:00:00Z","jobs":1},{"class":"nightly","hour":"2026-01-01T01:00:00+01:00","jobs":1}]}`, 422, "/rows/1", "same class and hour"},
		{"plan of an empty cluster", "POST", "/v1/clusters/empty/plans", "", 422, "/vm_types", "create one"},
		{"plan without a price", "POST", at + "/plans", `{"at":"2019-01-01T00:00:00Z"}`, 422, "/prices", "price period"},
		{"type still used", "DELETE", at + "/vm-types/small", "", 409, "", "still has prices"},
		{"plan for no time", "POST", at + "/plans", `{"at":"0001-01-01T00:00:00Z"}`, 400, "/at", "no time"},
		{"problem at no time", "GET", at + "/problem?at=0001-01-01T00:00:00Z", "", 400, "at", "no time"},
		{"a + that is not escaped", "GET", at + "/problem?at=2026-03-01T22:00:00+01:00", "", 400, "at", "2026-03-01T22%3A00%3A00%2B01%3A00"},
		{"null for a word", "POST", at + "/contracts", strings.NewReplacer(`"vms":30`, `"vms":30,"billing":null`, "three-year", "x").Replace(someContract), 400, "/billing", "not null"},
		{"minus nothing", "POST", at + "/classes", class(`"5.00"`, `"-0"`), 400, "/penalty", "negative"},
		{"key without a role", "POST", "/v1/keys", `{"name":"x"}`, 400, "/role", "missing"},
		{"key of no role", "POST", "/v1/keys", `{"name":"x","role":"veiwer"}`, 400, "/role", "viewer"},
		{"key that is over", "POST", "/v1/keys", `{"name":"x","role":"viewer","expires_at":"2020-01-01T00:00:00Z"}`, 422, "/expires_at", "past"},
		{"no JSON", "POST", "/v1/clusters", `{"name":"a",}`, 400, "", "Line 1, column 13"},
		{"nothing", "POST", "/v1/clusters", ``, 400, "", "empty"},
		{"NUL", "POST", at + "/vm-types", `{"name":"a` + `\u0000` + `b"}`, 400, "/name", "NUL"},
		{"control character in a name", "POST", at + "/vm-types", `{"name":"a` + `\u0007` + `b"}`, 422, "/name", "control"},
		{"question of no kind", "POST", "/v1/bounds", `{"tasks":1}`, 400, "/kind", "kind"},
		{"share of nothing", "POST", "/v1/bounds", `{"kind":"shared_phase","tasks":1,"mean_s":1,"max_s":1,"slots":1,"share":0,"jobs":1}`, 422, "/share", "share"},
	} {
		headers := []string{}
		if c.method == "DELETE" {
			headers = []string{"If-Match", `"1"`}
		}
		var body any
		if c.body != "" || c.what == "nothing" {
			body = c.body
		}
		a := s.ask(s.admin, c.method, c.path, body, headers...)
		p := a.problem(t)
		if a.StatusCode != c.status || p.at() != c.where || !strings.Contains(p.Detail+hintOf(p), c.says) {
			t.Errorf("%s: got %d at %q: %s%s\nwant %d at %q with %q", c.what, a.StatusCode, p.at(), p.Detail, hintOf(p), c.status, c.where, c.says)
		}
	}
	// A deadline that nothing meets is no error if no job is promised, but gives a warning.
	late := strings.NewReplacer("nightly", "late", "2700", "10", `"min":2`, `"min":0`).Replace(someClass)
	if a := s.ask(s.admin, "POST", at+"/classes", late).want(t, 201); !strings.Contains(string(a.text), `"warnings":[{`) {
		t.Errorf("an impossible deadline without promised jobs gives no warning: %s", a.text)
	}
}

func hintOf(p problem) string {
	if p.Hint == nil {
		return ""
	}
	return " " + p.Hint.Detail
}

func TestEveryFaultIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	p := s.ask(s.admin, "POST", "/v1/clusters/night/classes", `{"nmae":"x","demand":{"map_work_s":-1,"reduce_work_s":"a"},"deadline_s":null,"jobs":{"min":1,"max":2e6},"penalty":true}`).want(t, 400).problem(t)
	got := map[string]string{}
	for _, f := range p.Errors {
		got[*f.Pointer] = f.Code
	}
	for pointer, code := range map[string]string{"/nmae": "unknown_member", "/name": "missing", "/demand/map_work_s": "range", "/demand/reduce_work_s": "type", "/demand/fixed_s": "missing",
		"/deadline_s": "null", "/jobs/max": "range", "/penalty": "type"} {
		if got[pointer] != code {
			t.Errorf("%s: got %q, want %q (of %v)", pointer, got[pointer], code, got)
		}
	}
	rows := strings.Repeat(`{"class":"nightly","hour":"x","jobs":-1},`, 200)
	if p := s.ask(s.admin, "PUT", "/v1/clusters/night/forecasts", `{"rows":[`+rows[:len(rows)-1]+`]}`).want(t, 400).problem(t); len(p.Errors) != 50 {
		t.Errorf("%d errors are listed of 400", len(p.Errors))
	}
	for _, value := range []string{`{"max":2}`, `["spot"]`} { // in the place of a word
		p := s.ask(s.admin, "POST", "/v1/clusters/night/scenarios", `{"name":"s","changes":[{"what":"price","purchase":`+value+`,"factor":2}]}`).want(t, 400).problem(t)
		if e := p.Errors[0]; e.Code != "type" || !strings.HasPrefix(e.Detail, "Here one of the words on_demand, ") || strings.Contains(e.Detail, "map[") {
			t.Errorf("%s: got %+v", value, e)
		}
	}
}

func TestBodiesThatAreNotTaken(t *testing.T) {
	t.Parallel()
	s := newService(t)
	post := func(body []byte, headers ...string) answered {
		return s.ask(s.admin, "POST", "/v1/clusters", body, headers...)
	}
	small := []byte(`{"name":"night"}`)
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/json, text/plain", "nonsense", "application/yaml"} {
		post(small, "Content-Type", kind).want(t, 415)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/clusters", bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-KEY", s.admin)
	s.send(r).want(t, 415)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(small)
	_ = z.Close()
	post(zipped.Bytes(), "Content-Encoding", "gzip").want(t, 415)
	huge := append([]byte(`{"name":"`), bytes.Repeat([]byte("x"), 8<<20)...)
	for _, path := range []string{"/v1/clusters", "/v1/solve"} {
		if a := s.ask(s.admin, "POST", path, huge); a.StatusCode != 413 {
			t.Errorf("%d bytes to %s: got %d", len(huge), path, a.StatusCode)
		}
	}
	deep := []byte(strings.Repeat("[", 100_000))
	post(deep).want(t, 400)
	s.ask(s.admin, "POST", "/v1/solve", deep).want(t, 400)
	post(small, "Content-Type", "application/json; charset=UTF-8").want(t, 201)
}
