package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// What clients do in the soak. The cluster demo is looked at and edited, tasks are handed out in another, a pool
// of machines is planned in a third.

const (
	soakDemo = "/v1/clusters/demo"
	soakLive = "/v1/clusters/live"
	soakPool = "/v1/clusters/pool"

	soakNodes = 20
)

// soakSettings makes the clusters and settings of the visits; receiver is the address for webhooks.
func soakSettings(t *testing.T, k *load, receiver string) {
	t.Helper()
	c := &caller{load: k, ctx: t.Context()}
	measured := strings.ReplaceAll(`{"measurements":[{"job":"JOB","kind":"power","vms":6,"seconds":870},{"job":"JOB","kind":"power","vms":22,"seconds":301},{"job":"JOB","kind":"usage","vms":6,"cpu_percent":35,"io_mb_s":240}]}`, "JOB", "nightly-etl")
	host, port, _ := strings.Cut(strings.TrimPrefix(receiver, "http://"), ":")
	for _, s := range [][3]string{
		{"POST", soakDemo + "/measurements", measured},
		{"POST", soakDemo + "/profiles", `{"name":"maps","source":{"job":"nightly etl"},"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61,"overhead_s":11}}`},
		{"POST", soakDemo + "/classes", `{"name":"calibrated","profile":{"name":"maps"},"deadline_s":600,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"min":0,"max":1},"penalty":"5.00"}`},
		{"POST", soakDemo + "/executions", soakExecution(0)},
		{"POST", soakDemo + "/observations", `{"vms":46,"slots":{"map":60,"reduce":20}}`},
		{"PUT", soakDemo + "/forecasts", soakForecast(0)},
		{"POST", soakDemo + "/scenarios", `{"name":"kept","changes":[{"what":"deadline","factor":0.9}]}`},
		{"POST", soakDemo + "/report-schedules", `{"name":"kept","every":"month","enabled":false}`},
		{"POST", soakDemo + "/offers", `{"name":"kept","vm_type":"m-8cpu-32gb","price":"0.141","term_years":1,"max":20}`},
		{"POST", soakDemo + "/plans", `{}`},
		{"POST", "/v1/clusters", `{"name":"live"}`},
		{"PUT", soakLive + "/live", `{"policy":{"kind":"learned"},"heartbeat_s":5}`},
		{"POST", "/v1/clusters", `{"name":"pool"}`},
		{"PUT", soakPool + "/pool", `{"hours":4,"rounds":3,"types":[{"name":"a","per_hour":"0.34","disk_gb":850,"compute_units":4,"accelerator":false},{"name":"b","per_hour":"0.17","compute_units":5,"core":false}],"jobs":[{"name":"j","submissions":1,"work":30,"deadline_hours":3}],"storage":{"replication":1}}`},
		{"POST", "/v1/allowed-hosts", fmt.Sprintf(`{"host":%q,"port":%s,"http":true,"networks":["127.0.0.0/8"]}`, host, port)},
		{"POST", "/v1/webhooks", fmt.Sprintf(`{"name":"kept","url":%q,"events":["plan.changed","run.finished","report.made"]}`, receiver)},
	} {
		headers := []string{}
		switch {
		case strings.HasSuffix(s[1], "/live"):
			headers = []string{"If-Match", c.get(s[1]).etag()}
		case strings.HasSuffix(s[1], "/pool"):
			headers = []string{"If-None-Match", "*"}
		}
		c.send(s[0], s[1], s[2], []int{200, 201}, headers...)
	}
	for i := range soakNodes {
		c.send("PUT", fmt.Sprintf("%s/nodes/n-%d", soakLive, i), fmt.Sprintf(`{"type":"type-%d","cores":4,"slots":{"map":3,"reduce":1},"dedicated":%v}`, i%3, i%2 == 0), []int{200})
	}
	for last := range await.Tries(time.Minute) { // the pool's first plan
		if a, err := c.perform("GET", soakPool+"/pool/plans/current", "", nil); err == nil && a.status == 200 {
			break
		}
		if last {
			t.Fatal("the pool is not planned")
		}
	}
}

func soakExecution(n int) string {
	at := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC).Add(time.Duration(n%500) * time.Hour)
	return fmt.Sprintf(`{"executions":[{"job":"nightly etl","execution":"job_%d","user":"ann","queue":"prod","submitted_at":%q,"finished_at":%q,"sample":{"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61,"overhead_s":11},"seconds":560,"map":{"count":120,"mean":24.5,"max":61,"p50":23,"p95":48},"map_slots":8}}]}`,
		n%500, at.Format(time.RFC3339), at.Add(9*time.Minute).Format(time.RFC3339))
}

func soakForecast(n int) string {
	return fmt.Sprintf(`{"rows":[{"class":"nightly-etl","hour":%q,"jobs":%d}]}`, time.Now().UTC().Truncate(time.Hour).Add(time.Duration(24+n%100)*time.Hour).Format(time.RFC3339), 8+n%5)
}

// soakVisits are about 200 requests a second.
func soakVisits(k *load, receiver string) []visit {
	var visits []visit
	add := func(perSecond float64, name string, does func(c *caller)) {
		visits = append(visits, visit{name, perSecond, does})
	}

	// Autoscalers and dashboards ask the same again and again, mostly with the ETag they have.
	for path, perSecond := range map[string]float64{
		soakDemo + "/plans/current/scaling": 50, soakDemo + "/plans/current": 20, soakPool + "/pool/plans/current/scaling": 5,
		soakDemo + "/observations/latest": 4, soakDemo + "/document": 2, "/metrics": 0.5, "/readyz": 2,
	} {
		var tag atomic.Pointer[string]
		add(perSecond, "poll "+path, func(c *caller) {
			var headers []string
			if last := tag.Load(); last != nil && *last != "" && c.n%5 != 0 {
				headers = []string{"If-None-Match", *last}
			}
			if etag := c.get(path, headers...).etag(); etag != "" {
				tag.Store(&etag)
			}
		})
	}
	add(2, "figures as JSON numbers", func(c *caller) { c.get(soakDemo + "/plans?numbers=float") })
	add(2, "plans in force", func(c *caller) { c.get(soakDemo + "/plans?in_force=true&limit=20") })
	add(2, "a long poll", func(c *caller) {
		c.get(soakDemo+"/plans/current", "If-None-Match", c.get(soakDemo+"/plans/current").etag(), "Prefer", "wait=1")
	})

	// Every other reading, one after the other.
	reads := soakReads(k)
	add(25, "reads", func(c *caller) {
		if c.n == 0 {
			for _, path := range reads {
				c.get(path)
			}
			return
		}
		c.get(reads[c.n%len(reads)])
	})
	var files []string
	for _, path := range reads {
		item := k.doc.Paths.Get(strings.TrimPrefix(k.operation("GET", path), "GET "))
		if item == nil {
			continue
		}
		for _, p := range item.Get.Parameters {
			for _, format := range []string{"csv", "xlsx"} {
				if p.Value.In == "query" && p.Value.Name == "format" && slices.Contains(p.Value.Schema.Value.Enum, any(format)) {
					files = append(files, path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+"format="+format)
				}
			}
		}
	}
	add(0.2, "a sign-in at an issuer's page", func(c *caller) { // the server has none, and says so
		for _, path := range []string{"/sign-in/issuer", "/sign-in/back"} {
			c.send("GET", path, "", []int{303})
		}
	})
	add(4, "tables and spreadsheets", func(c *caller) { c.get(files[c.n%len(files)]) })

	// Things by their versions.
	edit := func(perSecond float64, path string, text func(n int) string) {
		add(perSecond, "edit "+path, func(c *caller) {
			tag := c.get(path).etag()
			want := []int{200, 412} // others edit it, too
			if c.n%5 == 4 {
				tag, want = `"1000000"`, []int{412}
			}
			c.send("PUT", path, text(c.n), want, "If-Match", tag)
		})
	}
	edit(1, soakDemo+"/classes/ad-hoc-queries", func(n int) string {
		return fmt.Sprintf(`{"name":"ad-hoc-queries","profile":{"name":"query","version":1},"deadline_s":240,"slots_per_vm":{"map":8,"reduce":8},"jobs":{"min":4,"max":%d},"penalty":"0.9%d"}`, 10+n%5, n%10)
	})
	edit(0.5, soakDemo+"/contracts/one-year", func(n int) string {
		return fmt.Sprintf(`{"name":"one-year","vm_type":"m-8cpu-32gb","vms":%d,"price":"0.242","billing":"used","upfront":"0","from":"2026-03-01T00:00:00Z","until":"2027-03-01T00:00:00Z"}`, 18+n%4)
	})
	edit(0.5, soakDemo+"/vm-types/m-8cpu-32gb", func(n int) string {
		return fmt.Sprintf(`{"name":"m-8cpu-32gb","description":"8 processors, 32 GB","quota":%d,"in_use":true}`, 60+n%3)
	})
	edit(0.5, soakDemo+"/scenarios/kept", func(n int) string {
		return fmt.Sprintf(`{"name":"kept","changes":[{"what":"deadline","factor":0.%d}]}`, 5+n%5)
	})
	edit(0.2, soakDemo+"/offers/kept", func(n int) string {
		return fmt.Sprintf(`{"name":"kept","vm_type":"m-8cpu-32gb","price":"0.14%d","term_years":1,"max":20}`, n%10)
	})
	edit(0.2, soakDemo+"/report-schedules/kept", func(n int) string {
		return fmt.Sprintf(`{"name":"kept","every":"month","hour":%d,"enabled":false}`, n%20)
	})
	edit(0.1, soakDemo, func(n int) string {
		return fmt.Sprintf(`{"name":"demo","description":"edited %d times","currency":"USD","period_s":3600,"time_zone":"UTC"}`, n)
	})
	edit(0.2, soakLive+"/live", func(n int) string {
		return fmt.Sprintf(`{"policy":{"kind":%q},"heartbeat_s":5}`, []string{"learned", "fair", "max-progress"}[n%3])
	})
	add(0.1, "calibrate", func(c *caller) {
		const class = soakDemo + "/classes/calibrated"
		c.send("PUT", class+"/calibration", `{"job":"nightly etl"}`, []int{200, 412, 422}, "If-Match", c.get(class).etag()) // 422: nothing is new
	})
	add(0.5, "edit a price", func(c *caller) {
		var list struct{ Items []struct{ ID string } }
		if json.Unmarshal(c.get(soakDemo+"/prices").text, &list) != nil || len(list.Items) == 0 {
			return
		}
		at := soakDemo + "/prices/" + list.Items[len(list.Items)-1].ID
		c.send("PUT", at, fmt.Sprintf(`{"vm_type":"m-8cpu-32gb","price":"0.38%d","from":"2026-01-01T00:00:00Z","until":null}`, c.n%10), []int{200, 412}, "If-Match", c.get(at).etag())
	})
	for collection, text := range map[string]string{
		"": `{"name":"NAME"}`, "demo/vm-types": `{"name":"NAME","in_use":false}`, "demo/profiles": `{"name":"NAME","profile":{"map_tasks":300,"reduce_tasks":0,"map_avg_s":30,"map_max_s":60}}`,
		"demo/classes":          `{"name":"NAME","vms_per_job":"1.5","jobs":{"min":0,"max":2},"penalty":"0.40"}`,
		"demo/contracts":        `{"name":"NAME","vm_type":"m-8cpu-32gb","vms":1,"price":"0.10","from":"2026-01-01T00:00:00Z","until":"2029-01-01T00:00:00Z"}`,
		"demo/offers":           `{"name":"NAME","vm_type":"m-8cpu-32gb","price":"0.2","term_years":1}`,
		"demo/scenarios":        `{"name":"NAME","changes":[{"what":"demand","factor":1.2}]}`,
		"demo/report-schedules": `{"name":"NAME","every":"month","enabled":false}`,
	} {
		path := strings.TrimSuffix("/v1/clusters/"+collection, "/")
		add(0.2, "make and delete in "+path, func(c *caller) {
			a := c.post(path, strings.Replace(text, "NAME", fmt.Sprintf("soak-%d", c.n), 1))
			if a.status != 201 {
				return
			}
			at := a.header.Get("Location")
			if strings.HasSuffix(path, "/profiles") {
				c.post(at+"/versions", strings.Replace(text, "NAME", fmt.Sprintf("soak-%d", c.n), 1))
			}
			c.send("DELETE", at, "", []int{204}, "If-Match", c.get(at).etag())
		})
	}
	add(0.2, "make and delete a price", func(c *caller) {
		c.post(soakDemo+"/vm-types", `{"name":"old","in_use":false}`, "Idempotency-Key", "old")
		a := c.post(soakDemo+"/prices", fmt.Sprintf(`{"vm_type":"old","price":"1","from":"%d-01-01T00:00:00Z","until":"%d-01-01T00:00:00Z"}`, 2000+c.n, 2001+c.n))
		if at := a.header.Get("Location"); a.status == 201 {
			c.send("DELETE", at, "", []int{204}, "If-Match", a.etag())
		}
	})
	visits = append(visits, soakWork(k)...)
	visits = append(visits, soakPeople(k, receiver)...)
	return visits
}

// soakReads are addresses of the contract's readings that answer at once and that no other visit makes.
func soakReads(k *load) (reads []string) {
	cluster := strings.NewReplacer("{cluster}", "demo", "{plan}", "1", "{observation}", "latest", "{job}", "nightly-etl", "{kind}", "power", "{version}", "1", "{chapter}", "how-to", "{page}", "get-started")
	var paths []string
	for _, path := range k.doc.Paths {
		if path.Of.Get != nil {
			paths = append(paths, path.Name)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		at := path
		switch {
		case strings.HasSuffix(path, "/events"), strings.Contains(path, "{id}"), strings.Contains(path, "{execution}"), strings.Contains(path, "{packing}"), strings.Contains(path, "{report}"), strings.HasSuffix(path, "/plans/pin"), strings.HasPrefix(path, "/sign-in/"):
			continue // others ask for these
		case strings.Contains(path, "/pool"):
			at = strings.NewReplacer("{cluster}", "pool", "{number}", "1").Replace(path)
		case strings.Contains(path, "/nodes"), strings.Contains(path, "{cluster}/jobs"), strings.HasSuffix(path, "/decisions"), strings.HasSuffix(path, "/live"), strings.HasSuffix(path, "/classifier"):
			at = strings.NewReplacer("{cluster}", "live", "{node}", "n-1", "{job}", "1").Replace(path)
			if strings.HasSuffix(path, "/classifier") || strings.Contains(path, "{job}") {
				continue // only while the policy learns; while the job is kept
			}
		case strings.HasPrefix(path, "/v1/clusters/{cluster}/plans/diff"):
			at += "?from=1"
		case strings.HasSuffix(path, "/forecasts/pattern"):
			at += "?class=nightly-etl"
		case strings.HasSuffix(path, "/calibration"), strings.HasSuffix(path, "/calibration/question"):
			at += "?job=nightly%20etl"
		case strings.HasSuffix(path, "/scenarios/compare"):
			at += "?name=kept"
		case path == "/problems/{kind}":
			at = "/problems/infeasible"
		case path == "/assets/{file}":
			at = "/assets/style.css"
		}
		for collection, name := range map[string]string{"vm-types": "m-8cpu-32gb", "contracts": "one-year", "offers": "kept", "profiles": "etl", "classes": "nightly-etl", "scenarios": "kept", "report-schedules": "kept"} {
			at = strings.Replace(at, collection+"/{name}", collection+"/"+name, 1)
		}
		reads = append(reads, cluster.Replace(at))
	}
	return reads
}

// soakBeats are the nodes of the live cluster and what they run; a node sends one heartbeat at a time.
type soakBeats struct {
	mu     [soakNodes]sync.Mutex
	nodes  [soakNodes]beating
	random *rand.Rand
}

// soakPeople sign in, watch, are told and make mistakes.
func soakPeople(k *load, receiver string) []visit {
	var visits []visit
	add := func(perSecond float64, name string, does func(c *caller)) {
		visits = append(visits, visit{name, perSecond, does})
	}
	add(1, "sign in and out", func(c *caller) {
		a := c.send("POST", "/v1/session", fmt.Sprintf(`{"token":%q}`, c.key), []int{201}, "Authorization", "none")
		cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
		if cookie == "" {
			return
		}
		c.get("/v1/session", "Cookie", cookie)
		c.get(soakDemo+"/plans/current", "Cookie", cookie)
		c.send("DELETE", "/v1/session", "", []int{403}, "Cookie", cookie, "Origin", "http://elsewhere.example")
		c.send("DELETE", "/v1/session", "", []int{204}, "Cookie", cookie, "Origin", "http://"+c.s.address)
		c.send("GET", "/v1/session", "", []int{401, 429}, "Cookie", cookie)
	})
	add(0.5, "a key and its end", func(c *caller) {
		a := c.post("/v1/keys", fmt.Sprintf(`{"name":"soak %d","role":"viewer"}`, c.n))
		if a.status != 201 {
			return
		}
		of := "Bearer " + a.field("token")
		c.get(soakDemo+"/classes", "Authorization", of)
		c.send("POST", soakDemo+"/plans", `{}`, []int{403}, "Authorization", of)
		c.send("DELETE", "/v1/keys/"+a.field("id"), "", []int{204})
	})
	add(2, "watch plans", func(c *caller) { c.watch(soakDemo+"/plans/events", time.Duration(1+c.n%6)*time.Second/2) })
	for what, wrong := range map[string]struct {
		method, path, body string
		want               int
		headers            []string
	}{
		"no JSON":            {"POST", "/v1/solve", "{", 400, nil},
		"unknown member":     {"POST", "/v1/solve", `{"clases":[]}`, 400, nil},
		"no sense":           {"POST", "/v1/bounds", `{"kind":"phase","tasks":-3,"mean_s":1,"max_s":2,"slots":2}`, 422, nil},
		"no key":             {"GET", soakDemo, "", 401, []string{"Authorization", "Bearer hrk_0000000000000000000000000000000000000000000"}},
		"no such cluster":    {"GET", "/v1/clusters/none/plans/current", "", 404, nil},
		"no such page":       {"GET", "/v1/nothing/of/that/kind", "", 404, nil},
		"no version":         {"PUT", soakDemo + "/vm-types/m-8cpu-32gb", `{"name":"m-8cpu-32gb"}`, 428, nil},
		"another type":       {"POST", "/v1/solve", "a,b\n", 415, []string{"Content-Type", "text/csv"}},
		"exists":             {"POST", "/v1/clusters", `{"name":"demo"}`, 409, nil},
		"infeasible":         {"POST", "/v1/solve", `{"currency":"USD","supply":{"on_demand":{"price":"1","quota":1}},"classes":[{"name":"a","vms_per_job":5,"jobs":{"min":3,"max":3},"penalty":2}]}`, 422, nil},
		"no session":         {"GET", soakDemo, "", 401, []string{"Cookie", "headroom_session=hrs_nobody"}},
		"a method too many":  {"DELETE", soakDemo + "/plans", "", 405, nil},
		"a page that is not": {"GET", soakDemo + "/plans?cursor=none", "", 400, nil},
	} {
		add(0.6, "wrong: "+what, func(c *caller) {
			want := []int{wrong.want}
			if wrong.want == 401 {
				want = append(want, 429) // so many that they are taken for guesses
			}
			c.send(wrong.method, wrong.path, wrong.body, want, wrong.headers...)
		})
	}
	add(0.2, "a host and a webhook that go again", func(c *caller) {
		if host := c.post("/v1/allowed-hosts", fmt.Sprintf(`{"host":"soak-%d.example"}`, c.n)).field("id"); host != "" {
			c.send("DELETE", "/v1/allowed-hosts/"+host, "", []int{204})
		}
		text := fmt.Sprintf(`{"name":"soak %d","url":%q,"events":["plan.failed"]}`, c.n, receiver)
		a := c.post("/v1/webhooks", text)
		at := "/v1/webhooks/" + a.field("id")
		if a.status != 201 {
			return
		}
		c.send("PUT", at, text, []int{200}, "If-Match", c.get(at).etag())
		c.post(at+"/secret", `{}`)
		sent := c.post(at+"/test", `{}`)
		c.get(at + "/deliveries")
		if id := sent.field("id"); id != "" {
			c.send("POST", at+"/deliveries/"+id+"/retry", "", []int{200, 404, 409})
		}
		c.send("DELETE", at, "", []int{204}, "If-Match", c.get(at).etag())
	})
	return visits
}

// watch listens to events for a while and goes away in the middle, as browsers do.
func (c *caller) watch(path string, lasts time.Duration) {
	r, err := http.NewRequestWithContext(c.ctx, "GET", "http://"+c.s.address+path, nil)
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	began := time.Now()
	got, err := c.client.Do(r)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx.Err() == nil {
			c.complain(fmt.Sprintf("watch %s: %v", path, err))
		}
		return
	}
	defer got.Body.Close()
	took := time.Since(began)
	timer := time.AfterFunc(lasts, func() { got.Body.Close() })
	defer timer.Stop()
	events := 0
	for lines := bufio.NewScanner(got.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") {
			events++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if name := c.operation("GET", path); name != "" {
		c.took[name] = append(c.took[name], took)
	}
	if c.ctx.Err() == nil && (got.StatusCode != 200 && got.StatusCode != 204 || events == 0 && got.StatusCode == 200) {
		c.complain(fmt.Sprintf("watch %s: %s and %d events in %v", path, got.Status, events, lasts))
	}
}
