package yarn

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/internal/test/engines/yarntest"
)

// sensible holds the answers of a YARN with two queues.
var sensible = map[string]string{
	"info":           `{"clusterInfo":{"state":"STARTED","haState":"ACTIVE"}}`,
	"scheduler":      `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queues":{"queue":[{"queueName":"default","capacity":60,"maxCapacity":100,"maxParallelApps":2147483647},{"queueName":"etl","capacity":40,"maxCapacity":40,"maxParallelApps":5}]}}}}`,
	"scheduler-conf": `{"property":[{"name":"yarn.scheduler.capacity.root.queues","value":"default,etl"},{"name":"yarn.scheduler.capacity.root.etl.maximum-applications","value":"9"}]}`,
	"metrics":        `{"clusterMetrics":{"activeNodes":10,"allocatedVirtualCores":3}}`,
}

// answers starts a server with these answers in the place of sensible ones. "503 text" has that status.
func answers(t *testing.T, instead map[string]string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := strings.TrimPrefix(r.URL.Path, "/ws/v1/cluster/")
		answer, given := instead[what]
		if !given {
			answer = sensible[what]
		}
		for status, code := range map[string]int{"307 ": 307, "401 ": 401, "403 ": 403, "404 ": 404, "503 ": 503} {
			if text, has := strings.CutPrefix(answer, status); has {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(code)
				answer = text
			}
		}
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A YARN that is away, of another kind or talks nonsense is told of in a sentence, and nothing is changed.
func TestNonsenseIsRefused(t *testing.T) {
	plan := drive.Plan{Places: map[string]int64{"etl": 2}, Shares: map[string]float64{"etl": 3}, Total: 3}
	for says, instead := range map[string]map[string]string{
		"cannot be read: \"<html>\"; is it the resource manager of YARN?": {"info": "<html>"},
		"cannot be read: \"no state\"":                                    {"info": "{}"},
		`is "STARTED" and "STANDBY"; it must be active`:                   {"info": `{"clusterInfo":{"state":"STARTED","haState":"STANDBY"}}`},
		"answers 307": {"info": "307 elsewhere"},
		"answers 503: no reason; look into the log": {"metrics": "503 "},
		"answers 503: busy":                         {"metrics": "503 busy"},
		"no ticket of Kerberos":                     {"info": "401 Authentication required"},
		"name a user with --user":                   {"scheduler-conf": "403 only admins"},
		`the scheduler "fairScheduler"`:             {"scheduler": `{"scheduler":{"schedulerInfo":{"type":"fairScheduler"}}}`},
		"no queue":                                  {"scheduler": `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler"}}}`},
		`the queue \"etl\"`:                         {"scheduler": strings.Replace(sensible["scheduler"], `"capacity":40`, `"capacity":-40`, 1)},
		"no limit of applications at once":          {"scheduler": strings.ReplaceAll(sensible["scheduler"], "maxParallelApps", "other")},
		"YARN has no queue root.default":            {"scheduler": strings.ReplaceAll(sensible["scheduler"], `"default"`, `"main"`)},
		"has queues below it":                       {"scheduler": strings.ReplaceAll(sensible["scheduler"], `"etl",`, `"etl","queues":{"queue":[{}]},`)},
		"has no interface to change its":            {"scheduler-conf": "404 not found"},
		`no yarn.scheduler.capacity.root.qu`:        {"scheduler-conf": "{}"},
		"needs per cents":                           {"scheduler-conf": strings.Replace(sensible["scheduler-conf"], `}]`, `},{"name":"yarn.scheduler.capacity.root.etl.capacity","value":"3w"}]`, 1)},
		"no number of nodes":                        {"metrics": `{"clusterMetrics":{"activeNodes":-1}}`},
		"it is too long":                            {"metrics": strings.Repeat(" ", longest+1)},
	} {
		y := Yarn{Addresses: []string{answers(t, instead)}, Rest: "root.default"}
		if _, err := y.Observe(t.Context(), plan); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v, want %q", err, says)
		}
		if _, again := y.Observe(t.Context(), plan); again == nil {
			t.Errorf("a second time it has nothing against %q", says)
		}
	}
	for says, y := range map[string]Yarn{
		"YARN does not answer":                         {Addresses: []string{"http://127.0.0.1:1"}},
		`the classes "etl" and "sql" have the queue`:   {Addresses: []string{answers(t, nil)}, Queues: map[string]string{"sql": "root.etl"}, Rest: "root.default"},
		`"etl" has the queue root.etl, which also has`: {Addresses: []string{answers(t, nil)}, Rest: "root.etl"},
	} {
		plan := drive.Plan{Places: map[string]int64{"etl": 2, "sql": 1}}
		if _, err := y.Observe(t.Context(), plan); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v, want %q", err, says)
		}
	}
}

// Of a pair the active one is asked, and the share of a class is of the nodes or of the plan, whichever are more.
func TestSharesNeverExceedThePlan(t *testing.T) {
	standby := answers(t, map[string]string{"info": `{"clusterInfo":{"state":"STARTED","haState":"STANDBY"}}`})
	for _, c := range []struct {
		etl, sql, total float64
		fixed, room     string
	}{
		{3, 0, 3, "0", "30 % of the cluster"},            // of 10 nodes
		{3, 0, 30, "0", "10 % of the cluster"},           // more VMs than nodes: the cluster is starting, or small
		{2, 4, 6, "0", "20 % of the cluster"},            //
		{1, 0, 3, "0", "10 % of the cluster"},            //
		{0, 0, 0, "0", "nothing of the cluster"},         //
		{10.0 / 3, 0, 3, "0", "33.333 % of the cluster"}, // never more than the plan
		{8, 0, 8, "50", "50 to 80 % of the cluster"},     // another queue has half
		{30, 0, 30, "100", "0 to 100 % of the cluster"},  //
	} {
		scheduler := strings.Replace(sensible["scheduler"], `{"queueName":"etl"`, `{"queueName":"fixed","capacity":`+c.fixed+`,"maxCapacity":100,"maxParallelApps":7},{"queueName":"etl"`, 1)
		y := Yarn{Addresses: []string{standby, answers(t, map[string]string{"scheduler": scheduler})}, Rest: "root.default"}
		s, err := y.Observe(t.Context(), drive.Plan{Places: map[string]int64{"etl": 2}, Shares: map[string]float64{"etl": c.etl, "sql": c.sql}, Total: c.total})
		if got := s.Limits["etl"]; err != nil || got.PlanRoom != c.room || got.Room != "40 % of the cluster" || got.Places != 5 {
			t.Errorf("%g of %g VMs: %+v %v, want %s", c.etl, c.total, got, err, c.room)
		}
	}
}

// A real YARN that takes no changes, and one with another scheduler, are told apart.
func TestYarnThatCannotBeDriven(t *testing.T) {
	for says, setup := range map[string]yarntest.Setup{
		"set yarn.scheduler.configuration.store.class in yarn-site.xml to fs": {ReadOnly: true, Queues: map[string]string{"default": "60", "etl": "40"}},
		`YARN has the scheduler "fairScheduler"`:                              {Scheduler: "fair.FairScheduler"},
	} {
		y := yarntest.Start(t, setup)
		e := Yarn{Addresses: []string{y.Address}, Rest: "root.default"}
		if _, err := e.Observe(t.Context(), drive.Plan{Places: map[string]int64{"etl": 2}}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v, want %q", err, says)
		}
	}
}
