package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/study"
)

// soakWork returns the visits that compute: solves, scenarios, runs, simulations, heartbeats, admissions.
func soakWork(k *load) []visit {
	var visits []visit
	add := func(perSecond float64, name string, does func(c *caller)) {
		visits = append(visits, visit{name, perSecond, does})
	}
	solve := func(family string, classes int) string {
		instance, err := study.Generate(family, classes, 7)
		if err != nil {
			panic(err)
		}
		text, err := json.Marshal(instance.Problem())
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	small, large := solve("mixed", 20), solve("hard", 1000)
	add(5, "solve 20 classes", func(c *caller) { c.post("/v1/solve", small) })
	add(0.5, "solve 1,000 classes", func(c *caller) { c.post("/v1/solve", large) })

	// The contract's own examples of everything that is computed without a cluster.
	var paths []string
	for _, known := range k.doc.Paths {
		path, item := known.Name, known.Of
		if item.Post == nil || item.Post.RequestBody == nil || strings.Contains(path, "{") || slices.Contains([]string{"/v1/keys", "/v1/session", "/v1/webhooks", "/v1/allowed-hosts", "/v1/clusters", "/v1/solve"}, path) {
			continue
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		text, err := json.Marshal(k.doc.Paths.Get(path).Post.RequestBody.Content["application/json"].Example)
		if err != nil {
			panic(err)
		}
		if path == "/v1/pools/vm-types" {
			path += "?reference=m1.large"
		}
		add(0.25, "compute "+path, func(c *caller) { c.post(path, string(text)) })
	}
	hours := func(n int) string {
		from := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		return fmt.Sprintf(`"from":%q,"until":%q`, from.Format(time.RFC3339), from.Add(time.Duration(24*(1+n%3))*time.Hour).Format(time.RFC3339))
	}
	for path, text := range map[string]func(n int) string{
		"/what-if": func(n int) string {
			return fmt.Sprintf(`{"scenarios":[{"name":"shorter","changes":[{"what":"deadline","factor":0.%d}]},{"name":"dearer","changes":[{"what":"price","factor":1.2}]}]}`, 70+n%30)
		},
		"/questions": func(n int) string {
			return fmt.Sprintf(`{"question":"most_for_budget","budget":{"amount":"%d","per":"month"}}`, 20000+n%1000)
		},
		"/sweeps?format=xlsx": func(n int) string { return `{"vary":[{"what":"demand","from":"0.5","to":"2","steps":31}]}` },
		"/simulations": func(n int) string {
			return fmt.Sprintf(`{"scenario":{"changes":[{"what":"demand","factor":1.1}]},"options":{"hours":1,"replications":2,"seed":%d}}`, n)
		},
		"/horizons?format=xlsx": func(n int) string { return "{" + hours(n) + "}" },
		"/schedules":            func(n int) string { return "{" + hours(0) + "}" },
		"/purchases": func(n int) string {
			from := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1) // the demo forecasts from today on
			return fmt.Sprintf(`{"from":%q,"until":%q`, from.Format(time.RFC3339), from.AddDate(0, 0, 1+n%3).Format(time.RFC3339)) + `,"offers":[{"name":"day","price":"0.10","term_hours":24,"billing":"always","max":3}]}`
		},
		"/class-packings": func(n int) string {
			return `{"machines":{"count":11,"disks":2,"hosts_per_extra":2,"penalty":1.1},"jobs":[{"class":"nightly-etl","count":3}]}`
		},
		"/forecasts/weekly": func(n int) string {
			return `{"class":"nightly-etl","from":"2026-01-01T00:00:00Z","until":"2027-01-01T00:00:00Z","week":"mon-fri 8-18: 40; sat 8-12: 20; else 5","dry_run":true}`
		},
		"/profiles/from-history": func(n int) string { return `{"job":"nightly etl","profile":"etl","dry_run":true}` },
		"/classes/from-history": func(n int) string {
			return `{"jobs":[{"job":"nightly etl","name":"nightly-of-runs"}],"slots":2,"dry_run":true}`
		},
		"/forecasts/from-history": func(n int) string {
			return `{"class":"nightly-etl","job":"nightly etl","repeat":"none","dry_run":true}`
		},
		"/plans/1/verify": func(n int) string { return "" },
		"/observations":   func(n int) string { return fmt.Sprintf(`{"vms":%d,"slots":{"map":60,"reduce":20}}`, 40+n%10) },
		"/executions":     soakExecution,
		"/measurements": func(n int) string {
			return fmt.Sprintf(`{"measurements":[{"job":"sort","kind":"power","vms":%d,"seconds":870}]}`, 2+n%20)
		},
		"/plans": func(n int) string { return `{}` },
	} {
		perSecond := 0.4
		if path == "/what-if" {
			perSecond = 3
		}
		add(perSecond, "cluster "+path, func(c *caller) { c.post(soakDemo+path, text(c.n)) })
	}
	add(0.4, "pools of a cluster", func(c *caller) {
		c.post(soakPool+"/pools", `{"hours":4,"types":[{"name":"a","per_hour":"0.34","compute_units":4}],"jobs":[{"name":"j","work":8}]}`)
		c.send("PUT", soakPool+"/pool/machines", fmt.Sprintf(`{"machines":[{"type":"a","count":%d}]}`, 1+c.n%3), []int{200})
		c.post(soakPool+"/pool/storage-samples", fmt.Sprintf(`{"samples":[{"data_gb":%d}]}`, 100+c.n%10))
		c.send("PUT", soakPool+"/pool", fmt.Sprintf(`{"hours":4,"rounds":3,"types":[{"name":"a","per_hour":"0.34","disk_gb":850,"compute_units":4,"accelerator":false},{"name":"b","per_hour":"0.17","compute_units":5,"core":false}],"jobs":[{"name":"j","submissions":1,"work":%d,"deadline_hours":3}],"storage":{"replication":1}}`, 30+c.n%5), []int{200, 412}, "If-Match", c.get(soakPool+"/pool").etag())
	})
	add(0.2, "forecasts and documents", func(c *caller) {
		c.send("PUT", soakDemo+"/forecasts", soakForecast(c.n), []int{200})
		c.send("DELETE", soakDemo+"/forecasts?class=ad-hoc-queries", "", []int{200})
		c.send("DELETE", soakDemo+"/measurements?job=none", "", []int{200})
		c.send("DELETE", soakDemo+"/executions?job=none", "", []int{200})
		c.send("PUT", soakDemo+"/document?dry_run=true", `{"cluster":{"name":"demo"}}`, []int{200})
		c.post(soakDemo+"/price-imports?dry_run=true", "vm_type,price_per_hour\nlarge,0.38\n", "Content-Type", "text/csv")
		c.post(soakDemo+"/history-imports?dry_run=true", "job,execution,task,kind,duration_s\nnightly,1,m1,map,3.5\n", "Content-Type", "text/csv")
		var list struct{ Items []struct{ ID string } }
		if json.Unmarshal(c.get(soakDemo+"/executions").text, &list) == nil && len(list.Items) > 0 {
			c.get(soakDemo + "/executions/" + list.Items[0].ID)
		}
	})
	add(0.1, "targets", func(c *caller) { // 422: no class has one
		c.send("POST", soakDemo+"/targets", fmt.Sprintf(`{"options":{"executions":20,"replications":2,"seed":%d}}`, c.n), []int{200, 202, 422})
	})
	add(0.05, "a pin", func(c *caller) {
		c.send("PUT", soakDemo+"/plans/pin", `{"number":1,"until":"2099-01-01T00:00:00Z"}`, []int{200})
		c.send("GET", soakDemo+"/plans/pin", "", []int{200, 404})
		c.send("DELETE", soakDemo+"/plans/pin", "", []int{204})
	})
	add(0.2, "a packing", func(c *caller) {
		a := c.post(soakDemo+"/packings", `{"machines":{"count":4,"disks":2,"hosts_per_extra":2,"penalty":1.1},"jobs":[{"name":"sort","count":2,"role":"host","min_vms":2,"model":{"a":2000,"b":-0.7}},{"name":"k-means","min_vms":1,"usage":{"cpu_percent":90,"io_mb_s":5},"measurements":[{"vms":2,"seconds":900},{"vms":4,"seconds":520}]}]}`)
		if a.status == 201 {
			at := soakDemo + "/packings/" + a.field("id")
			c.get(at)
			c.send("DELETE", at, "", []int{204})
		}
	})
	add(4, "a job's place", func(c *caller) {
		a := c.post(soakDemo+"/admissions", fmt.Sprintf(`{"class":%q,"holder":"soak %d","ttl_s":30}`, []string{"nightly-etl", "dashboards", "ad-hoc-queries"}[c.n%3], c.n))
		if id := a.field("id"); id != "" {
			c.post(soakDemo+"/admissions/"+id+"/heartbeat", `{"ttl_s":60}`)
			c.get(soakDemo + "/admissions/" + id)
			c.send("DELETE", soakDemo+"/admissions/"+id, "", []int{204})
		}
	})
	add(0.5, "a run", func(c *caller) {
		c.background(soakDemo+"/sweeps", `{"vary":[{"what":"demand","from":"0.5","to":"2","steps":31}]}`, c.n%7 == 0)
	})
	add(0.2, "a planning run", func(c *caller) { c.background(soakDemo+"/plans", `{}`, false) })
	add(0.1, "a report", func(c *caller) {
		c.background(soakDemo+"/reports", fmt.Sprintf(`{"every":"day","covers":"behind","format":%q}`, []string{"csv", "xlsx"}[c.n%2]), false)
		var list struct{ Items []struct{ ID string } }
		if json.Unmarshal(c.get(soakDemo+"/reports").text, &list) == nil && len(list.Items) > 0 {
			at := soakDemo + "/reports/" + list.Items[0].ID
			c.get(at)
			c.get(at + "/file")
		}
	})
	visits = append(visits, soakTasks()...)
	return visits
}

// background asks for work as a run, follows it and takes its result; or takes it back.
func (c *caller) background(path, body string, cancel bool) {
	a := c.send("POST", path, body, []int{202}, "Prefer", "respond-async")
	if a.status != 202 {
		return
	}
	at := a.header.Get("Location")
	if cancel {
		c.send("DELETE", at, "", []int{202, 204})
	}
	c.watch(at+"/events", 10*time.Second)
	state := ""
	for next, end := time.Tick(200*time.Millisecond), time.Now().Add(time.Minute); time.Now().Before(end) && c.ctx.Err() == nil; <-next {
		if state = c.get(at).field("state"); slices.Contains([]string{"succeeded", "failed", "cancelled"}, state) {
			break
		}
	}
	switch {
	case state == "succeeded":
		c.send("GET", at+"/result", "", []int{200, 303})
	case state == "cancelled" && cancel:
		c.send("POST", at+"/retry", "", []int{202, 409})
	case c.ctx.Err() == nil && !cancel:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.complain(fmt.Sprintf("the run of %s is %q", path, state))
	}
}

// soakTasks are the nodes of the live cluster, which tell of themselves, and the jobs they are given.
func soakTasks() []visit {
	all := &soakBeats{random: rand.New(rand.NewPCG(1, 1))}
	for i := range all.nodes {
		all.nodes[i].at = fmt.Sprintf("%s/nodes/n-%d", soakLive, i)
	}
	beat := func(c *caller) {
		i := c.n % soakNodes
		all.mu[i].Lock()
		defer all.mu[i].Unlock()
		node := &all.nodes[i]
		text := node.next(rand.New(rand.NewPCG(uint64(node.seq), uint64(i))))
		a := c.post(node.at+"/heartbeats", string(text))
		if a.status == 200 {
			if err := node.hear(a.text); err != nil && !strings.Contains(err.Error(), `"stop"`) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.complain(fmt.Sprintf("heartbeat %s: %v", text, err))
			}
		}
	}
	return []visit{
		{"heartbeat", 20, beat},
		{"a live job", 0.2, func(c *caller) {
			a := c.post(soakLive+"/jobs", fmt.Sprintf(`{"name":"job %d","class":"class-%d","maps":60,"reduces":6,"deadline_s":600}`, c.n, c.n%5))
			if number := a.field("number"); a.status == 201 && c.n%10 == 0 {
				c.get(soakLive + "/jobs/" + number)
				c.send("DELETE", soakLive+"/jobs/"+number, "", []int{204})
			}
		}},
		{"a node that goes", 0.1, func(c *caller) {
			at := fmt.Sprintf("%s/nodes/gone-%d", soakLive, c.n)
			c.send("PUT", at, `{"type":"type-1","cores":4,"slots":{"map":3,"reduce":1}}`, []int{200})
			c.send("DELETE", at, "", []int{204})
			c.post(soakLive+"/live/dry-run", `{"policy":{"kind":"edf"},"window_s":60}`)
			c.send("GET", soakLive+"/classifier", "", []int{200, 404, 409})
			c.send("POST", soakLive+"/relearn", "", []int{200, 404, 409})
		}},
	}
}
