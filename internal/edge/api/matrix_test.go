package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/live"
)

// asker is a caller in the matrix, with the clusters it sees among "mine" and "other".
type asker struct {
	role     auth.Role // "" is nobody
	clusters []string
	token    string
}

// cell returns the required answer of the matrix: the status, or 0 for any success. It shares nothing with the
// service's decision.
func cell(who asker, role, path string, allClusters, agent bool) int {
	switch {
	case role == "open":
		return 0
	case who.role == "":
		return http.StatusUnauthorized
	case role == "any":
		return 0
	}
	rank := map[string]int{"viewer": 1, "planner": 2, "operator": 3, "admin": 4}
	if rank[string(who.role)] < rank[role] && !(agent && who.role == "agent") {
		return http.StatusForbidden
	}
	if allClusters && who.clusters != nil {
		return http.StatusForbidden
	}
	if (strings.Contains(path, "{cluster}") || strings.HasPrefix(path, "/v1/runs/")) && who.clusters != nil && who.clusters[0] != "mine" {
		return http.StatusNotFound
	}
	return 0
}

// computing lists the operations that plan a cluster, which takes longer for each class and VM type that others create.
var computing = []string{"answerScenario", "askCluster", "clusterScheduleSimulation", "clusterSimulation", "clusterSweep", "clusterWaiting", "clusterWhatIf", "compareScenarios", "createPlan"}

// Every role, with and without a limit to clusters, calls every operation.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	askers := []asker{{}}
	for _, role := range auth.Roles {
		for _, clusters := range [][]string{nil, {"mine"}, {"other"}} {
			askers = append(askers, asker{role, clusters, s.key(fmt.Sprintf("%s of %v", role, clusters), role, clusters)})
		}
	}
	s.cluster("mine")
	s.ask(s.admin, "POST", "/v1/clusters/mine/plans", nil).want(t, 201)
	cells, allowed := 0, 0
	for _, first := range [...]bool{true, false} { // what computes comes while the cluster is small
		each(s.doc, func(method, path string, _ *openapi3.PathItem, op *openapi3.Operation) {
			if slices.Contains(computing, op.OperationID) != first {
				return
			}
			for i, who := range askers {
				role, _ := op.Extensions["x-role"].(string)
				allClusters, _ := op.Extensions["x-all-clusters"].(bool)
				agent, _ := op.Extensions["x-agent"].(bool)
				want := cell(who, role, path, allClusters, agent)
				if op.OperationID == "createCluster" && want == 0 && who.clusters != nil {
					want = http.StatusForbidden // the names below are on no list
				}
				a := s.perform(who.token, op.OperationID, method, path, i)
				cells++
				switch {
				case want == 0 && a.StatusCode < 400:
					allowed++
				case a.StatusCode != want:
					t.Errorf("%s asked by %q limited to %v: got %d, want %d: %.300s", op.OperationID, who.role, who.clusters, a.StatusCode, want, a.text)
				}
			}
		})
	}
	t.Logf("%d cells, %d of them allowed", cells, allowed)
	t.Attr("S1", fmt.Sprintf("%d cells as the contract says, %d of them allowed", cells, allowed))
	if allowed < 200 {
		t.Errorf("only %d of %d cells were allowed", allowed, cells)
	}
}

const smallBatch = `{"machines":{"count":4,"disks":2,"hosts_per_extra":2,"penalty":1.1},"jobs":[{"name":"sort","count":2,"role":"host","min_vms":2,"model":{"a":2000,"b":-0.7}},{"name":"k-means","min_vms":1,"usage":{"cpu_percent":90,"io_mb_s":5},"measurements":[{"vms":2,"seconds":900},{"vms":4,"seconds":520}]}]}`

const smallProblem = `{"currency":"USD","supply":{"on_demand":{"price":"1"}},"classes":[{"name":"a","vms_per_job":1,"jobs":{"min":0,"max":1},"penalty":2}],"options":{"engine":"exact"}}`

// perform calls an operation in a way that works if it is allowed. The things it changes are created for each cell,
// so that no cell depends on another.
func (s *service) perform(token, operation, method, path string, i int) answered {
	s.Helper()
	name := fmt.Sprintf("%s-%d", strings.ToLower(operation), i)
	path = strings.Replace(path, "{cluster}", "mine", 1)
	body, headers, plan := any(nil), []string{}, cmp.Or(s.known, "1")
	create := func(collection, text string) answered {
		a := s.ask(s.admin, "POST", "/v1/clusters/mine/"+collection, text).want(s, 201)
		headers = append(headers, "If-Match", a.etag())
		return a
	}
	thing := func(collection, text string) { // a thing of this cell's own
		switch {
		case strings.HasPrefix(operation, "create"):
			body = text
		case strings.HasPrefix(operation, "replace"), strings.HasPrefix(operation, "delete"):
			a := create(collection, text)
			at := a.Header.Get("Location")
			path = "/v1/clusters/mine/" + collection + at[strings.LastIndex(at, "/"):]
			if method == "PUT" {
				body = text
			}
		}
	}
	switch {
	case strings.HasPrefix(path+"/", "/v1/clusters/mine/pool/"):
		s.planned("mine")
		switch operation {
		case "replacePoolSettings":
			body, headers = strings.Replace(pooled, `"work":30`, `"submissions":1,"work":30`, 1), []string{"If-Match", s.ask(s.admin, "GET", path, nil).etag()}
		case "deletePoolSettings": // a wrong version shows the right as well as a correct one
			a := s.ask(token, method, path, nil, "If-Match", `"999"`)
			if a.StatusCode == http.StatusPreconditionFailed {
				a.StatusCode = http.StatusNoContent
			}
			return a
		case "replacePoolMachines":
			body = `{"machines":[{"type":"a","count":1}]}`
		case "addStorageSamples":
			body = `{"samples":[{"data_gb":1}]}`
		}
		path = strings.Replace(path, "{number}", "1", 1)
	case operation == "planPool", operation == "poolVMTypes":
		body = smallPool
		if operation == "poolVMTypes" {
			path += "?reference=a"
		}
	case operation == "evaluatePool":
		body = strings.Replace(smallPool, `"hours"`, `"mix":{"core":[{"type":"a","count":2}]},"hours"`, 1)
	case operation == "schedule":
		body = smallSchedule
	case operation == "planPoolRounds":
		body = smallRounds
	case operation == "planClusterPool":
		body = `{"hours":4,"types":[{"name":"a","per_hour":"0.34","compute_units":4}],"jobs":[{"name":"j","work":8}]}`
	case operation == "planShares":
		body = `{"types":[{"name":"a","slots":2}],"jobs":[{"name":"j","rates":{"a":1}}]}`
	case strings.Contains(path, "/vm-types"):
		thing("vm-types", fmt.Sprintf(`{"name":%q,"in_use":false}`, name))
		path = strings.Replace(path, "{name}", "small", 1)
	case strings.Contains(path, "/prices"):
		year := 1970 + 3*i
		if operation != "createPrice" {
			year++
		}
		if operation == "deletePrice" {
			year++
		}
		if method != "GET" {
			s.ask(s.admin, "POST", "/v1/clusters/mine/vm-types", `{"name":"old","in_use":false}`)
		}
		thing("prices", fmt.Sprintf(`{"vm_type":"old","price":"1","from":"%d-01-01T00:00:00Z","until":"%d-01-01T00:00:00Z"}`, year, year+1))
		if strings.Contains(path, "{id}") {
			var l list[struct{ ID string }]
			s.ask(s.admin, "GET", "/v1/clusters/mine/prices", nil).want(s, 200).into(s, &l)
			path = strings.Replace(path, "{id}", l.Items[0].ID, 1)
		}
	case strings.Contains(path, "/contracts"):
		thing("contracts", strings.Replace(someContract, "three-year", name, 1))
		path = strings.Replace(path, "{name}", "three-year", 1)
	case operation == "importPrices":
		body, headers = "vm_type,price_per_hour\nlarge,0.38\n", []string{"Content-Type", "text/csv"}
	case operation == "fetchPrices":
		s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"prices.example"}`) // is there after the first cell
		body = `{"url":"https://prices.example/sheet.csv"}`
	case operation == "fetchHistory":
		s.ask(s.admin, "POST", "/v1/allowed-hosts", `{"host":"history.example"}`) // is there after the first cell
		body = `{"url":"https://history.example/"}`
	case operation == "profileFromHistory", operation == "forecastFromHistory":
		s.ask(s.admin, "POST", "/v1/clusters/mine/executions", someExecution).want(s, 200)
		if body = `{"job":"nightly etl"}`; operation == "forecastFromHistory" {
			body = `{"job":"nightly etl","class":"nightly","repeat":"none"}`
		}
	case operation == "classesFromHistory":
		s.ask(s.admin, "POST", "/v1/clusters/mine/executions", someExecution).want(s, 200)
		body = fmt.Sprintf(`{"jobs":[{"job":"nightly etl","name":%q,"deadline_s":86400}],"slots":2}`, name)
	case operation == "importHistory":
		body, headers = "job,execution,task,kind,duration_s\nnightly,1,m1,map,3.5\n", []string{"Content-Type", "text/csv"}
	case strings.Contains(path, "/executions"):
		switch operation {
		case "importExecutions":
			body = someExecution
		case "deleteExecutions":
			path += "?job=none"
		case "getExecution":
			path = strings.Replace(path, "{execution}", s.executionInMine(), 1)
		}
	case strings.Contains(path, "/offers"):
		const some = `{"name":"some","vm_type":"small","price":"0.1","term_years":1}`
		s.ask(s.admin, "POST", "/v1/clusters/mine/offers", some) // is there after the first cell
		thing("offers", strings.Replace(some, "some", name, 1))
		path = strings.Replace(path, "{name}", "some", 1)
	case strings.Contains(path, "/report-schedules"):
		const some = `{"name":"some","every":"day"}`
		s.ask(s.admin, "POST", "/v1/clusters/mine/report-schedules", strings.Replace(some, "}", `,"enabled":false}`, 1)) // is there after the first cell
		thing("report-schedules", strings.Replace(some, `"some"`, fmt.Sprintf("%q", name), 1))
		path = strings.Replace(path, "{name}", "some", 1)
	case strings.Contains(path, "/clusters/{cluster}/packings"), strings.Contains(path, "/clusters/mine/packings"):
		if operation == "createPacking" {
			body = smallBatch
		}
		if strings.Contains(path, "{packing}") {
			var k pack.KeptPacking
			s.ask(s.admin, "POST", "/v1/clusters/mine/packings", smallBatch).want(s, 201).into(s, &k)
			path = strings.Replace(path, "{packing}", k.ID, 1)
		}
	case operation == "packClasses":
		s.ask(s.admin, "POST", "/v1/clusters/mine/measurements", strings.ReplaceAll(someMeasurements, "sort", "nightly")).want(s, 200)
		body = `{"machines":{"count":6,"disks":4},"jobs":[{"class":"nightly"}]}`
	case strings.HasSuffix(path, "/measurements"):
		switch operation {
		case "addMeasurements":
			body = someMeasurements
		case "deleteMeasurements":
			path += "?job=none"
		}
	case strings.Contains(path, "/fits/"):
		s.ask(s.admin, "POST", "/v1/clusters/mine/measurements", someMeasurements).want(s, 200)
		path = strings.NewReplacer("{job}", "sort", "{kind}", "power").Replace(path)
	case operation == "dryRunPolicy":
		body = `{"policy":{"kind":"edf"}}`
	case operation == "getClassifier", operation == "relearn":
		const at = "/v1/clusters/mine/live"
		s.ask(s.admin, "PUT", at, `{"policy":{"kind":"learned"}}`, "If-Match", s.ask(s.admin, "GET", at, nil).etag()).want(s, 200)
	case operation == "replaceLiveSettings":
		body, headers = `{"policy":{"kind":"edf"}}`, []string{"If-Match", s.ask(s.admin, "GET", path, nil).etag()}
	case strings.Contains(path, "/nodes"), strings.HasSuffix(path, "/decisions"):
		node := "node"
		if operation == "removeLiveNode" {
			node = name
		}
		s.ask(s.admin, "PUT", "/v1/clusters/mine/nodes/"+node, someNode).want(s, 200)
		switch operation {
		case "putLiveNode":
			body = someNode
		case "sendHeartbeat":
			body = fmt.Sprintf(`{"seq":1,"boot":%q,"running":[]}`, name)
		}
		path = strings.Replace(path, "{node}", node, 1)
	case strings.Contains(path, "/jobs"):
		const some = `{"name":"etl","maps":1}`
		if operation == "createLiveJob" {
			body = some
		}
		if strings.Contains(path, "{job}") {
			var j live.LiveJob
			s.ask(s.admin, "POST", "/v1/clusters/mine/jobs", some).want(s, 201).into(s, &j)
			path = strings.Replace(path, "{job}", fmt.Sprint(j.Number), 1)
		}
	case strings.Contains(path, "/reports"):
		if operation == "createReport" {
			body = `{"every":"day","covers":"behind","format":"csv"}`
		}
		path = strings.Replace(path, "{report}", s.reportInMine(), 1)
	case strings.Contains(path, "/calibration"):
		if body = nil; method == "PUT" {
			body = `{"job":"nightly etl"}`
			headers = append(headers, "If-Match", s.calibratedInMine().etag())
		} else {
			s.calibratedInMine()
			path += "?job=nightly%20etl"
		}
		path = strings.Replace(path, "{name}", "calibrated", 1)
	case strings.Contains(path, "/classes"):
		thing("classes", strings.Replace(adHoc, "ad-hoc", name, 1))
		path = strings.Replace(path, "{name}", "ad-hoc", 1)
	case strings.Contains(path, "/scenarios"):
		const some = `{"name":"some","changes":[{"what":"deadline","factor":2}]}`
		s.ask(s.admin, "POST", "/v1/clusters/mine/scenarios", some) // is there after the first cell
		thing("scenarios", strings.Replace(some, "some", name, 1))
		path = strings.Replace(path, "{name}", "some", 1)
		if operation == "compareScenarios" {
			path += "?name=some"
		}
	case operation == "clusterWhatIf":
		body = `{"scenarios":[{"changes":[{"what":"deadline","factor":2}]}]}`
	case operation == "clusterScheduleSimulation":
		s.ask(s.admin, "POST", "/v1/clusters/mine/classes", promisedClass) // is there after the first cell
		body = `{"from":"2026-03-01T22:00:00Z","until":"2026-03-02T00:00:00Z","options":{"replications":2},"scenario":{"changes":[{"what":"demand","value":0},{"what":"demand","class":"promised","value":3}]}}`
	case operation == "scheduleSimulation":
		body = strings.Replace(smallTimed, `"periods"`, `"options":{"replications":2},"periods"`, 1)
	case operation == "clusterWaiting":
		body = `{"from":"2026-03-01T22:00:00Z","until":"2026-03-02T00:00:00Z","scenario":{"changes":[{"what":"demand","value":0}]},"vary":[{"what":"price","values":[2]}]}`
	case operation == "waiting":
		body = strings.Replace(smallSchedule, `"periods"`, `"vary":[{"what":"price","values":[2]}],"periods"`, 1)
	case operation == "clusterSweep":
		body = `{"vary":[{"what":"deadline","values":[2]}]}`
	case operation == "sweep":
		body = `{"problem":` + smallProblem + `,"vary":[{"what":"price","values":[2]}]}`
	case operation == "clusterSimulation":
		body = `{"scenario":{"changes":[{"what":"deadline","factor":2}]},"options":{"hours":1,"replications":1}}`
	case operation == "workloadSimulation":
		body = `{"nodes":[{"type":"a","slots":{"shared":2}}],"classes":[{"name":"etl","profile":{"map_tasks":4,"map_avg_s":5,"map_max_s":9,"reduce_tasks":0},"load":{"kind":"batch","jobs":2}}]}`
	case operation == "targets":
		body = `{"problem":` + strings.Replace(profiledProblem, `"deadline_s"`, `"target":0.9,"deadline_s"`, 1) + `,"options":{"executions":20,"replications":2}}`
	case operation == "clusterTargets":
		s.ask(s.admin, "POST", "/v1/clusters/mine/classes", promisedClass) // is there after the first cell
		body = `{"options":{"executions":20,"replications":2}}`
	case operation == "simulation":
		body = `{"problem":` + profiledProblem + `,"options":{"hours":1,"replications":1}}`
	case operation == "askCluster":
		body = `{"question":"most_for_budget","budget":{"amount":"1000"}}`
	case operation == "ask":
		body = `{"problem":` + smallProblem + `,"question":"one_more_job","class":"a"}`
	case operation == "clusterHorizon":
		body = `{"from":"2026-03-01T22:00:00Z","until":"2026-03-02T00:00:00Z"}`
	case operation == "clusterSchedule":
		body = `{"from":"2026-03-01T22:00:00Z","until":"2026-03-02T00:00:00Z","scenario":{"changes":[{"what":"demand","value":0}]}}`
	case operation == "clusterPurchase":
		body = `{"from":"2026-03-01T22:00:00Z","until":"2026-03-02T00:00:00Z","assume":"flat","offers":[` + someOffer + `]}`
	case operation == "horizon":
		body = `{"problem":` + smallProblem + `,"periods":` + somePeriods + `}`
	case operation == "purchase":
		body = `{"problem":` + smallProblem + `,"periods":` + somePeriods + `,"offers":[` + someOffer + `]}`
	case operation == "pack":
		body = smallBatch
	case operation == "whatIf":
		body = `{"problem":` + smallProblem + `,"scenarios":[{"changes":[{"what":"price","factor":2}]}]}`
	case strings.Contains(path, "/observations"):
		if operation == "createObservation" {
			body = `{"vms":3}`
		}
		s.ask(s.admin, "POST", "/v1/clusters/mine/observations", `{"vms":3}`).want(s, 201)
		path = strings.Replace(path, "{observation}", "latest", 1)
	case strings.HasPrefix(path, "/v1/allowed-hosts"):
		if method == "GET" {
			break
		}
		body = fmt.Sprintf(`{"host":"%s.example"}`, name)
		if operation == "deleteAllowedHost" {
			var h fetch.AllowedHost
			s.ask(s.admin, "POST", "/v1/allowed-hosts", body).want(s, 201).into(s, &h)
			path, body = strings.Replace(path, "{id}", h.ID, 1), nil
		}
	case strings.HasPrefix(path, "/v1/webhooks"):
		path, body, headers = s.webhookCell(name, operation, path)
	case operation == "holdDriver":
		path, body = strings.Replace(path, "{engine}", "slurm", 1), `{"holder":"a","ttl_s":1}`
	case strings.Contains(path, "/admissions"):
		if operation == "createAdmission" {
			body = `{"class":"nightly"}`
		}
		if strings.Contains(path, "{id}") {
			var a live.Admission
			s.ask(s.admin, "POST", "/v1/clusters/mine/admissions", `{"class":"ad-hoc"}`).want(s, 201).into(s, &a)
			defer s.ask(s.admin, "DELETE", "/v1/clusters/mine/admissions/"+a.ID, nil)
			path = strings.Replace(path, "{id}", a.ID, 1)
		}
	case strings.HasPrefix(path, "/v1/runs/"):
		id := s.runInMine()
		defer s.ask(s.admin, "DELETE", "/v1/runs/"+id, nil)
		switch operation {
		case "retryRun":
			s.ask(s.admin, "DELETE", "/v1/runs/"+id, nil).want(s, 204)
		case "getRunResult":
			s.finishRun(id)
		}
		path = strings.Replace(path, "{id}", id, 1)
	case strings.Contains(path, "/profiles"):
		thing("profiles", strings.Replace(someProfile, `"etl"`, fmt.Sprintf("%q", name), 1))
		path = strings.NewReplacer("{name}", "etl", "{version}", "1").Replace(path)
		if operation == "addProfileVersion" {
			body = someProfile
		}
	case operation == "createCluster":
		body = fmt.Sprintf(`{"name":%q}`, name)
	case operation == "replaceCluster":
		body, headers = `{"name":"mine","options":{"engine":"exact"}}`, []string{"If-Match", s.ask(s.admin, "GET", "/v1/clusters/mine", nil).etag()}
	case operation == "deleteCluster": // its own cluster; a wrong version shows the right as well as a correct one
		headers = []string{"If-Match", `"999"`}
		a := s.ask(token, method, path, nil, headers...)
		if a.StatusCode == http.StatusPreconditionFailed {
			a.StatusCode = http.StatusNoContent
		}
		return a
	case operation == "putForecasts":
		body = `{"rows":[{"class":"nightly","hour":"2026-03-01T22:00:00Z","jobs":3}]}`
	case operation == "putWeeklyForecast":
		body = `{"class":"nightly","from":"2026-03-01T22:00:00Z","until":"2026-03-02T22:00:00Z","week":"else 3"}`
	case operation == "getForecastPattern":
		s.ask(s.admin, "PUT", "/v1/clusters/mine/forecasts", `{"rows":[{"class":"ad-hoc","hour":"2026-03-01T22:00:00Z","jobs":3}]}`).want(s, 200)
		path += "?class=ad-hoc"
	case operation == "deleteForecasts":
		path += "?class=ad-hoc"
	case operation == "applyDocument":
		path, body = path+"?dry_run=true", `{"cluster":{"name":"mine"}}`
	case operation == "pinPlan", operation == "getPin":
		body = fmt.Sprintf(`{"number":%s,"until":"2099-01-01T00:00:00Z"}`, plan)
		if operation == "getPin" {
			s.ask(s.admin, "PUT", path, body).want(s, 200)
			body = nil
		}
	case operation == "diffPlans":
		path += "?from=" + plan + "&to=" + plan
	case operation == "solve":
		body = smallProblem
	case operation == "bounds":
		body = `{"kind":"phase","tasks":3,"mean_s":1,"max_s":2,"slots":2}`
	case operation == "estimateInterference":
		body = smallInterference
	case ruleQuestions[operation] != "":
		body = ruleQuestions[operation]
	case operation == "createKey":
		body = fmt.Sprintf(`{"name":%q,"role":"viewer"}`, name)
	case operation == "revokeKey":
		var k struct{ ID string }
		s.ask(s.admin, "POST", "/v1/keys", fmt.Sprintf(`{"name":%q,"role":"viewer"}`, name)).want(s, 201).into(s, &k)
		path = strings.Replace(path, "{id}", k.ID, 1)
	case operation == "createSession":
		body = fmt.Sprintf(`{"token":%q}`, s.admin)
	}
	path = strings.NewReplacer("{plan}", plan, "{kind}", "infeasible", "{file}", "style.css", "{chapter}", "how-to", "{page}", "get-started").Replace(path)
	return s.ask(token, method, path, body, headers...)
}

// A key limited to clusters cannot distinguish a cluster that it may not see from one that does not exist.
func TestUnseenClustersDoNotExist(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"secret"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine"}`).want(t, 201)
	limited := s.key("limited", auth.Operator, []string{"mine", "later"})
	for _, at := range []string{"", "/classes", "/plans/current", "/document", "/problem"} {
		unseen := s.ask(limited, "GET", "/v1/clusters/secret"+at, nil).want(t, 404).problem(t)
		absent := s.ask(s.admin, "GET", "/v1/clusters/absent"+at, nil).want(t, 404).problem(t)
		unseen.Instance, absent.Instance = "", ""
		if got, want := unseen.Detail, strings.Replace(absent.Detail, "absent", "secret", 1); got != want || unseen.Type != absent.Type || unseen.Title != absent.Title {
			t.Errorf("of a cluster that cannot be seen GET %s says %q, of an absent one %q", at, got, want)
		}
	}
	var l list[struct{ Name string }]
	s.ask(limited, "GET", "/v1/clusters", nil).want(t, 200).into(t, &l)
	if len(l.Items) != 1 || l.Items[0].Name != "mine" {
		t.Errorf("a limited key lists %v", l.Items)
	}
	s.ask(limited, "POST", "/v1/clusters", `{"name":"other"}`).want(t, 403)
	s.ask(limited, "PUT", "/v1/clusters/other/document", `{"cluster":{"name":"other"}}`, "If-None-Match", "*").want(t, 404)
	s.ask(limited, "POST", "/v1/clusters", `{"name":"later"}`).want(t, 201)
	limitedAdmin := s.key("limited admin", auth.Admin, []string{"mine"})
	s.ask(limitedAdmin, "GET", "/v1/keys", nil).want(t, 403)
	audit := s.ask(limitedAdmin, "GET", "/v1/audit", nil).want(t, 200)
	if strings.Contains(string(audit.text), "secret") || !strings.Contains(string(audit.text), "mine") {
		t.Errorf("a limited admin's audit log is %s", audit.text)
	}
	s.ask(limitedAdmin, "GET", "/v1/audit?cluster=secret", nil).want(t, 404)
}

// Operations without a cluster's name reveal nothing of other clusters to a key that is limited to one.
func TestLimitedKeysReadNothingOfOtherClusters(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.cluster("elsewhere")
	for _, cluster := range []string{"mine", "elsewhere"} {
		s.ask(s.admin, "POST", "/v1/clusters/"+cluster+"/plans", nil).want(t, 201)
	}
	read := 0
	for _, role := range auth.Roles {
		limited := s.key("limited "+string(role), role, []string{"mine"})
		each(s.doc, func(method, path string, item *openapi3.PathItem, op *openapi3.Operation) {
			if method != "GET" || strings.Contains(path, "{") || op.Extensions["x-role"] == "open" {
				return
			}
			a := s.ask(limited, method, path, nil)
			if strings.Contains(string(a.text), "elsewhere") {
				t.Errorf("%s %s tells a key of the role %s that is limited to another cluster: %.300s", method, path, role, a.text)
			}
			if a.StatusCode == 200 {
				read++
			}
		})
	}
	if read < 10 {
		t.Errorf("only %d answers were looked at", read)
	}
}
