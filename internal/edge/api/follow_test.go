package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// waiting is a cluster whose reports may wait for six hours, and whose web may not.
func (s *service) waiting(name string) {
	s.Helper()
	at := "/v1/clusters/" + name
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"`+name+`","currency":"EUR","options":{"engine":"exact"}}`).want(s, 201)
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"m","start_lead_s":0}`}, // so that the cheapest hours can be told by hand
		{"/prices", `{"vm_type":"m","price":"4","from":"2026-03-02T00:00:00Z","until":"2026-03-02T03:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"1","from":"2026-03-02T03:00:00Z","until":"2026-03-02T04:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"3","from":"2026-03-02T04:00:00Z","until":null}`},
		{"/classes", `{"name":"reports","vms_per_job":"2","deadline_s":3600,"due_s":21600,"jobs":{"min":0,"max":0},"penalty":"50"}`},
		{"/classes", `{"name":"web","vms_per_job":"1","deadline_s":7200,"jobs":{"min":0,"max":0},"penalty":"50"}`},
	} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(s, 201)
	}
	rows := ""
	for hour := range 12 {
		rows += fmt.Sprintf(`,{"class":"reports","hour":"2026-03-02T%02d:00:00Z","arrivals":%d},{"class":"web","hour":"2026-03-02T%02d:00:00Z","arrivals":2}`, hour, []int{3, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0}[hour], hour)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[`+rows[1:]+`]}`).want(s, 200)
}

// Plans follow a schedule from hour to hour: what may wait runs in the cheapest hours, once, and with its VMs until it ends.
// What comes is told ahead, changes of inputs start from what runs, and verify finds every schedule right.
func TestPlansFollowASchedule(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	at := func(hour, minute int) { clock.Store(time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC).Unix()) }
	at(0, 10)
	s := newService(t, func(c *app.Config) { c.Clock = now })
	s.waiting("lab")
	follows := true
	plan := func() (admitted map[string]float64, vms float64) {
		t.Helper()
		var made struct {
			Number int64
			Plan   struct {
				VMs     struct{ Total float64 }
				Classes []struct {
					Name     string
					Admitted float64
				}
			}
		}
		s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201).into(t, &made)
		admitted = map[string]float64{}
		for _, c := range made.Plan.Classes {
			admitted[c.Name] = c.Admitted
		}
		var report proof.Report
		s.ask(s.admin, "POST", fmt.Sprintf("/v1/clusters/lab/plans/%d/verify", made.Number), nil).want(t, 200).into(t, &report)
		if c, has := report.Find(timetables.FollowedCheck); report.Outcome != proof.OK || has != follows || c.Outcome != proof.OK && has {
			t.Errorf("verify says %q of plan %d, and %v", report.Outcome, made.Number, c)
		}
		return admitted, made.Plan.VMs.Total
	}
	following := func() (f plans.Following) {
		t.Helper()
		s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f)
		if f.Question == nil {
			t.Fatalf("nothing is followed: %s", f.Without)
		}
		for _, wrong := range timetables.Check(*f.Question, *f.Answer) {
			t.Errorf("%s: %s", wrong.Pointer, wrong.Detail)
		}
		return f
	}
	// The price is lowest from 3 to 4: what arrives until then runs there, and what arrives at 4 runs at 5.
	want := []float64{0, 0, 0, 4, 0, 2, 0, 0}
	for hour := range want {
		if at(hour, 10); hour == 3 {
			at(hour, 0)
		}
		admitted, vms := plan()
		if admitted["reports"] != want[hour] || vms != 2*want[hour]+admitted["web"] {
			t.Errorf("at %d %g reports run and %g of web, on %g VMs; want %g reports", hour, admitted["reports"], admitted["web"], vms, want[hour])
		}
		if f := following(); !f.Question.Start().Equal(now().Truncate(time.Hour)) {
			t.Errorf("at %d the schedule begins at %s", hour, f.Question.Start())
		}
		if hour == 1 { // what comes is told ahead
			var got plans.Scaling
			await.Until(t, 10*time.Second, "a day ahead is known", func() bool {
				got = plans.Scaling{}
				s.ask(s.admin, "GET", "/v1/clusters/lab/plans/current/scaling?lead=60", nil).want(t, 200).into(t, &got)
				return got.NextProblem != "" || !got.NextUntil.Before(now().Add(plans.LongestLead))
			})
			next := map[string]int64{}
			for _, m := range got.Next {
				next[m.At.Format("15:04")] = m.VMs
			}
			for at, vms := range map[string]int64{"03:00": 12, "04:00": 4, "05:00": 8, "06:00": 4} {
				if next[at] != vms {
					t.Errorf("at %s %d VMs are to come of %v, want %d", at, next[at], next, vms)
				}
			}
		}
		if hour == 3 { // what has started keeps its VMs, whatever the price becomes, and is not started again
			at(3, 30)
			s.ask(s.admin, "POST", "/v1/clusters/lab/classes", `{"name":"etl","vms_per_job":"1","deadline_s":3600,"jobs":{"min":0,"max":1},"penalty":"50"}`).want(t, 201)
			if admitted, _ := plan(); admitted["reports"] != 4 || admitted["etl"] != 1 {
				t.Errorf("within the hour %v are admitted", admitted)
			}
			if f := following(); len(f.Question.Before.Running) == 0 || len(f.Question.Before.Waiting) > 0 {
				t.Errorf("what started is %+v", f.Question.Before)
			}
			etl := s.ask(s.admin, "GET", "/v1/clusters/lab/classes/etl", nil).want(t, 200)
			s.ask(s.admin, "DELETE", "/v1/clusters/lab/classes/etl", nil, "If-Match", etl.etag()).want(t, 204)
		}
	}

	// A class is due by a time of day too: it keeps it, and the schedule knows the cluster's clocks.
	first := s.ask(s.admin, "GET", "/v1/clusters/lab/classes/reports", nil).want(t, 200)
	byMorning := strings.Replace(string(first.text), `"due_s":21600`, `"due":"06:30"`, 1)
	s.ask(s.admin, "PUT", "/v1/clusters/lab/classes/reports", strings.Replace(byMorning, "06:30", "6:30", 1), "If-Match", first.etag()).want(t, 422)
	s.ask(s.admin, "PUT", "/v1/clusters/lab/classes/reports", byMorning, "If-Match", first.etag()).want(t, 200)
	plan()
	if f := following(); f.Question.Problem.Classes[0].Due != "06:30" || f.Question.TimeZone != "UTC" {
		t.Errorf("it is due by %q in %q", f.Question.Problem.Classes[0].Due, f.Question.TimeZone)
	}

	// A window of months counts as three days, so that a schedule can be made.
	reports := s.ask(s.admin, "GET", "/v1/clusters/lab/classes/reports", nil).want(t, 200)
	s.ask(s.admin, "PUT", "/v1/clusters/lab/classes/reports", strings.Replace(string(reports.text), `"due":"06:30"`, `"due_s":9999999`, 1), "If-Match", reports.etag()).want(t, 200)
	plan()
	if f := following(); f.Question.Problem.Classes[0].DueSeconds != 72*3600 {
		t.Errorf("the window has %g s", f.Question.Problem.Classes[0].DueSeconds)
	}

	// Beside what schedules do not take, hours are planned alone, and that is said.
	var prices struct{ Items []struct{ ID, Price string } }
	s.ask(s.admin, "GET", "/v1/clusters/lab/prices", nil).want(t, 200).into(t, &prices)
	for _, p := range prices.Items {
		if price := "/v1/clusters/lab/prices/" + p.ID; p.Price == "3.00" || p.Price == "3" {
			s.ask(s.admin, "DELETE", price, nil, "If-Match", s.ask(s.admin, "GET", price, nil).want(t, 200).etag()).want(t, 204)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/lab/prices", `{"vm_type":"m","price":"3","from":"2026-03-02T04:00:00Z","until":"2026-03-02T12:30:00Z"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/lab/prices", `{"vm_type":"m","price":"2","from":"2026-03-02T12:30:00Z","until":null}`).want(t, 201)
	follows = false
	if admitted, _ := plan(); admitted["web"] == 0 {
		t.Errorf("%v are admitted", admitted)
	}
	var f plans.Following
	s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f)
	if f.Answer != nil || !strings.Contains(f.Without, "A price changes at 2026-03-02T12:30:00Z, within an hour") {
		t.Errorf("got %+v", f)
	}
	s.cluster("night")
	f = plans.Following{}
	if s.ask(s.admin, "GET", "/v1/clusters/night/schedules/current", nil).want(t, 200).into(t, &f); f.MayWait || f.Without != "No class has a due_s or a due, so that nothing waits." {
		t.Errorf("got %+v", f)
	}
}

// Plans of a cluster with several types of VMs follow a schedule too, of which a class has one type at a time. What has started keeps
// its VMs of that type, however cheap another one becomes.
func TestPlansFollowASchedulesTypes(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	at := func(hour, minute int) { clock.Store(time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC).Unix()) }
	at(0, 10)
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return time.Unix(clock.Load(), 0).UTC() } })
	s.waiting("lab")
	edit := func(path string, replace ...string) {
		t.Helper()
		old := s.ask(s.admin, "GET", path, nil).want(t, 200)
		s.ask(s.admin, "PUT", path, strings.NewReplacer(replace...).Replace(string(old.text)), "If-Match", old.etag()).want(t, 200)
	}
	s.ask(s.admin, "POST", "/v1/clusters/lab/vm-types", `{"name":"fast","start_lead_s":0}`).want(t, 201)
	var price struct{ ID string }
	s.ask(s.admin, "POST", "/v1/clusters/lab/prices", `{"vm_type":"fast","price":"3","from":"2026-03-02T00:00:00Z","until":null}`).want(t, 201).into(t, &price)
	edit("/v1/clusters/lab/classes/reports", `"vms_per_job":"2"`, `"vms_per_job":"2","speed":{"fast":2}`)
	plan := func(what string, want map[string]float64) {
		t.Helper()
		var made struct {
			Number int64
			Plan   struct {
				VMs struct {
					Types []struct {
						Name  string
						Total float64
					}
				}
				Classes []struct {
					Name  string
					Types []struct {
						VMType   string `json:"vm_type"`
						Admitted float64
					}
				}
			}
		}
		s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201).into(t, &made)
		got, vms := map[string]float64{}, map[string]float64{}
		for _, of := range made.Plan.Classes[0].Types {
			if of.Admitted > 0 {
				got[of.VMType] = of.Admitted
			}
		}
		for _, of := range made.Plan.VMs.Types {
			vms[of.Name] = of.Total
		}
		if made.Plan.Classes[0].Name != "reports" || !maps.Equal(got, want) || vms["m"] < 2*want["m"] || vms["fast"] < want["fast"] {
			t.Errorf("%s: %v reports run on %v VMs, want %v", what, got, vms, want)
		}
		var report proof.Report
		s.ask(s.admin, "POST", fmt.Sprintf("/v1/clusters/lab/plans/%d/verify", made.Number), nil).want(t, 200).into(t, &report)
		if c, has := report.Find(timetables.FollowedCheck); report.Outcome != proof.OK || !has || c.Outcome != proof.OK {
			t.Errorf("%s: verify says %q, and %v", what, report.Outcome, c)
		}
	}
	for hour, want := range []map[string]float64{{}, {}, {}, {"m": 4}, {}, {"fast": 2}, {}} {
		at(hour, 5)
		plan(fmt.Sprintf("at %d", hour), want)
		if hour == 2 { // what comes is told by type
			var got plans.Scaling
			await.Until(t, 10*time.Second, "a day ahead is known", func() bool {
				got = plans.Scaling{}
				s.ask(s.admin, "GET", "/v1/clusters/lab/plans/current/scaling?lead=60", nil).want(t, 200).into(t, &got)
				return got.NextProblem != "" || len(got.Next) > 0
			})
			if n := got.Next[0]; n.At.Hour() != 3 || n.Types["m"] < 8 {
				t.Errorf("next come %+v", n)
			}
		}
		if hour == 3 {
			at(3, 30)
			edit("/v1/clusters/lab/prices/"+price.ID, `"price":"3.00"`, `"price":"0.10"`)
			plan("within the hour in which they started", want)
			edit("/v1/clusters/lab/prices/"+price.ID, `"price":"0.10"`, `"price":"3.00"`)
		}
	}
	var f plans.Following
	s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f)
	if f.Question == nil || !f.Question.OneType || len(f.Answer.Hours[0].ByType) != 2 {
		t.Errorf("it follows %+v, without: %s", f.Question, f.Without)
	}
	edit("/v1/clusters/lab/vm-types/fast", `"in_use":true`, `"in_use":false`)
	plan("on one type again", map[string]float64{})
}

// Where one type of VMs at a time costs more than waiting saves, no schedule is begun, and that is said.
func TestNoScheduleThatCostsMoreIsFollowed(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return time.Date(2026, 3, 2, 0, 5, 0, 0, time.UTC) } })
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"lab","currency":"EUR","options":{"engine":"exact"}}`).want(t, 201)
	parts := [][2]string{{"/classes", `{"name":"reports","vms_per_job":"1","deadline_s":3600,"due_s":21600,"jobs":{"min":0,"max":0},"penalty":"50"}`}}
	for _, vmType := range []string{"m", "n"} {
		parts = append(parts, [2]string{"/vm-types", `{"name":"` + vmType + `","quota":3}`}, [2]string{"/prices", `{"vm_type":"` + vmType + `","price":"1","from":"2026-03-02T00:00:00Z","until":null}`})
	}
	for _, part := range parts {
		s.ask(s.admin, "POST", "/v1/clusters/lab"+part[0], part[1]).want(t, 201)
	}
	rows := ""
	for hour := range 12 {
		rows += fmt.Sprintf(`,{"class":"reports","hour":"2026-03-02T%02d:00:00Z","arrivals":6}`, hour)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/lab/forecasts", `{"rows":[`+rows[1:]+`]}`).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201)
	var f plans.Following
	s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f)
	if f.Answer != nil || !strings.Contains(f.Without, "a class runs on one VM type at a time, and here that costs more than waiting saves") {
		t.Errorf("got %+v", f)
	}
}

// What waits and what runs is not lost where hours are planned alone for a while, where a class is given a due_s, or loses it.
func TestChangesBetweenSchedulesLoseNothing(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	at := func(hour int) { clock.Store(time.Date(2026, 3, 2, hour, 10, 0, 0, time.UTC).Unix()) }
	at(0)
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return time.Unix(clock.Load(), 0).UTC() } })
	plan := func(cluster string, hour int, want float64, what string) {
		t.Helper()
		at(hour)
		var made struct {
			Number int64
			Plan   struct{ Classes []struct{ Admitted float64 } }
		}
		s.ask(s.admin, "POST", "/v1/clusters/"+cluster+"/plans", nil).want(t, 201).into(t, &made)
		if got := made.Plan.Classes[0].Admitted; got != want {
			t.Errorf("%s at %d, %s: %g reports run, want %g", cluster, hour, what, got, want)
		}
		var report proof.Report
		if s.ask(s.admin, "POST", fmt.Sprintf("/v1/clusters/%s/plans/%d/verify", cluster, made.Number), nil).want(t, 200).into(t, &report); report.Outcome != proof.OK {
			t.Errorf("%s at %d, %s: verify says %+v", cluster, hour, what, report)
		}
	}
	edit := func(path, was, is string) {
		t.Helper()
		old := s.ask(s.admin, "GET", path, nil).want(t, 200)
		if !strings.Contains(string(old.text), was) {
			t.Fatalf("no %s in %s", was, old.text)
		}
		s.ask(s.admin, "PUT", path, strings.Replace(string(old.text), was, is, 1), "If-Match", old.etag()).want(t, 200)
	}

	s.waiting("pause") // 3 arrive at 0, 1 at 2 and 2 at 4
	plan("pause", 0, 0, "first")
	plan("pause", 1, 0, "they wait for the price from 3 to 4")
	s.ask(s.admin, "POST", "/v1/clusters/pause/vm-types", `{"name":"other"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/pause/prices", `{"vm_type":"other","price":"9","from":"2026-03-02T00:00:00Z","until":"2026-03-02T12:30:00Z"}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/pause/prices", `{"vm_type":"other","price":"8","from":"2026-03-02T12:30:00Z","until":null}`).want(t, 201)
	plan("pause", 2, 1, "a price that changes within an hour, so that what arrives starts")
	edit("/v1/clusters/pause/vm-types/other", `"in_use":true`, `"in_use":false`)
	plan("pause", 2, 0, "whole hours again")
	plan("pause", 3, 4, "all run that waited")
	edit("/v1/clusters/pause/vm-types/other", `"in_use":false`, `"in_use":true`)
	plan("pause", 3, 5, "what started keeps its VMs, beside what runs of the forecast")
	plan("pause", 4, 1, "what arrives starts, one of two on the mean of the hour")
	edit("/v1/clusters/pause/vm-types/other", `"in_use":true`, `"in_use":false`)
	edit("/v1/clusters/pause/classes/reports", `"deadline_s":3600`, `"deadline_s":7200`)
	plan("pause", 5, 2, "what started as it arrived runs on")
	plan("pause", 6, 2, "and to the end of the hour in which the last of it may end")

	s.waiting("given")
	edit("/v1/clusters/given/classes/reports", `"deadline_s":3600,"due_s":21600`, `"deadline_s":14400`)
	plan("given", 0, 2, "the mean of three that arrive in the hour")
	plan("given", 2, 4, "they run on")
	edit("/v1/clusters/given/classes/reports", `"deadline_s":14400`, `"deadline_s":14400,"due_s":28800`)
	plan("given", 2, 3, "they keep their VMs, and what arrives now may wait")

	s.waiting("taken")
	s.ask(s.admin, "POST", "/v1/clusters/taken/classes", `{"name":"zip","vms_per_job":"1","deadline_s":3600,"due_s":21600,"jobs":{"min":0,"max":0},"penalty":"50"}`).want(t, 201)
	plan("taken", 0, 0, "first")
	edit("/v1/clusters/taken/classes/reports", `"deadline_s":3600`, `"deadline_s":10800`)
	for hour := 1; hour < 4; hour++ {
		plan("taken", hour, []float64{0, 0, 0, 4}[hour], "they wait, and start at 3")
	}
	edit("/v1/clusters/taken/classes/reports", `"due_s":21600,`, ``)
	plan("taken", 4, 6, "they run, beside what arrived since")
}

// A class may change while its executions run, so that they could not end any more. They keep their VMs, and verify agrees.
func TestClassesThatChangeWhileTheyRun(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	at := func(hour int) { clock.Store(time.Date(2026, 3, 2, hour, 10, 0, 0, time.UTC).Unix()) }
	at(0)
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return time.Unix(clock.Load(), 0).UTC() } })
	profile := func(mapSeconds, overhead int) string {
		return fmt.Sprintf(`{"name":"p","profile":{"map_tasks":100,"map_avg_s":%d,"map_max_s":%d,"reduce_tasks":20,"first_shuffle_avg_s":10,"first_shuffle_max_s":10,"shuffle_avg_s":10,"shuffle_max_s":10,"reduce_avg_s":100,"reduce_max_s":150,"overhead_s":%d}}`, mapSeconds, 2*mapSeconds, overhead)
	}
	for i, changed := range []string{profile(100, 3700), profile(150, 60)} {
		name := fmt.Sprintf("lab-%d", i)
		at(0)
		s.waiting(name)
		s.ask(s.admin, "POST", "/v1/clusters/"+name+"/profiles", profile(100, 60)).want(t, 201)
		reports := "/v1/clusters/" + name + "/classes/reports"
		edit := func(replace ...string) {
			old := s.ask(s.admin, "GET", reports, nil).want(t, 200)
			s.ask(s.admin, "PUT", reports, strings.NewReplacer(replace...).Replace(string(old.text)), "If-Match", old.etag()).want(t, 200)
		}
		edit(`"vms_per_job":"2"`, `"profile":{"name":"p"},"slots_per_vm":{"map":4,"reduce":2}`, `"deadline_s":3600`, `"deadline_s":10800`)
		before := 0.0
		for hour := range 4 {
			at(hour)
			for _, change := range []bool{false, true} {
				if change && hour < 3 {
					continue
				}
				if change {
					s.ask(s.admin, "POST", "/v1/clusters/"+name+"/profiles/p/versions", changed).want(t, 201)
					edit(`"version":1}`, `"version":2}`)
				}
				var made struct {
					Number int64
					Plan   struct {
						VMs     struct{ Total float64 }
						Classes []struct{ Admitted float64 }
					}
				}
				s.ask(s.admin, "POST", "/v1/clusters/"+name+"/plans", nil).want(t, 201).into(t, &made)
				if hour == 3 && made.Plan.Classes[0].Admitted != 4 || change && (made.Plan.VMs.Total < before || made.Plan.VMs.Total > before+1) {
					t.Errorf("%s, changed: %t: %+v, and %g VMs before", name, change, made.Plan, before)
				}
				before = made.Plan.VMs.Total
				var report proof.Report
				if s.ask(s.admin, "POST", fmt.Sprintf("/v1/clusters/%s/plans/%d/verify", name, made.Number), nil).want(t, 200).into(t, &report); report.Outcome != proof.OK {
					t.Errorf("%s at %d: verify says %+v", name, hour, report)
				}
			}
		}
	}
}

// Promises of other classes may leave no room for what runs. There is a plan in any case, now, at another time and ahead.
func TestPromisesBesideWhatRuns(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	at := func(hour int) { clock.Store(time.Date(2026, 3, 2, hour, 10, 0, 0, time.UTC).Unix()) }
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return time.Unix(clock.Load(), 0).UTC() } })
	for _, all := range []string{"false", "true"} {
		at(0)
		name := "all-" + all
		s.waiting(name)
		for path, replace := range map[string][]string{
			"/classes/reports": {`"jobs":{`, `"jobs":{"all":` + all + `,`},
			"/classes/web":     {`"min":0`, `"min":4`, `"max":0`, `"max":4`, `"50.00"`, `"0.01"`},
			"/vm-types/m":      {`"quota":null`, `"quota":8`},
		} {
			old := s.ask(s.admin, "GET", "/v1/clusters/"+name+path, nil).want(t, 200)
			s.ask(s.admin, "PUT", "/v1/clusters/"+name+path, strings.NewReplacer(replace...).Replace(string(old.text)), "If-Match", old.etag()).want(t, 200)
		}
		plan := func(asked any, want float64) {
			t.Helper()
			var made struct {
				Plan struct{ Classes []struct{ Admitted float64 } }
			}
			s.ask(s.admin, "POST", "/v1/clusters/"+name+"/plans", asked).want(t, 201).into(t, &made)
			if got := made.Plan.Classes; got[0].Admitted != want {
				t.Errorf("%s: %+v are admitted, want %g reports", name, got, want)
			}
		}
		plan(nil, 0)
		at(2)
		plan(nil, 0)
		plan(`{"at":"2026-03-02T03:10:00Z"}`, 2)
		var got plans.Scaling
		await.Until(t, 10*time.Second, "the next hour is known", func() bool {
			got = plans.Scaling{}
			s.ask(s.admin, "GET", "/v1/clusters/"+name+"/plans/current/scaling?lead=60", nil).want(t, 200).into(t, &got)
			return got.NextProblem != "" || len(got.Next) > 0
		})
		if got.NextProblem != "" || got.Next[0].VMs != 8 {
			t.Errorf("%s: ahead are %+v, %q", name, got.Next, got.NextProblem)
		}
		at(3)
		plan(nil, 2)
	}
}

// A schedule on record may be one that this version of the program does not read. It costs what it left, and no plan.
func TestSchedulesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 0, 10, 0, 0, time.UTC)
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return at } })
	s.waiting("lab")
	s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201)
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `UPDATE cluster_schedules SET followed = convert_to('{"question": {"some": "thing"}, "answer": {}}', 'UTF8')`); err != nil {
		t.Fatal(err)
	}
	s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201)
	var f plans.Following
	if s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f); f.Answer == nil {
		t.Errorf("got %+v", f)
	}
}

// Schedules that plans follow count what starting VMs costs. They start fewer, and begin with the VMs of the hour before. Beside spot VMs
// the price is left out, and a warning says so.
func TestFollowedSchedulesCountStarts(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 3, 2, 0, 10, 0, 0, time.UTC).Unix())
	s := newService(t, func(c *app.Config) { c.Clock = func() time.Time { return time.Unix(clock.Load(), 0).UTC() } })
	s.waiting("lab")
	starts := func() (f plans.Following, n int64) {
		t.Helper()
		s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201)
		s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f)
		if f.Question == nil {
			t.Fatalf("nothing is followed: %s", f.Without)
		}
		for _, wrong := range timetables.Check(*f.Question, *f.Answer) {
			t.Errorf("%s: %s", wrong.Pointer, wrong.Detail)
		}
		was := int64(0)
		for _, h := range f.Answer.Hours {
			n += max(0, h.VMs-was)
			was = h.VMs
		}
		return f, n
	}
	f, before := starts()
	if f.Question.Problem.Supply.Start != nil {
		t.Errorf("VMs that are there at once cost %+v to start", f.Question.Problem.Supply.Start)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/lab/vm-types/m", `{"name":"m"}`, "If-Match", `"1"`).want(t, 200)
	f, assumed := starts()
	if start := f.Question.Problem.Supply.Start; start == nil || start.LeadSeconds != 300 || !strings.Contains(f.Answer.Explanation, "paid from 300 s before their hour") || assumed > before {
		t.Errorf("nobody said when VMs are asked for, and a start costs %+v. VMs start %d times, and %d times for nothing: %s", start, assumed, before, f.Answer.Explanation)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/lab/vm-types/m", `{"name":"m","start_price":"2.5","start_lead_s":600}`, "If-Match", `"2"`).want(t, 200)
	f, after := starts()
	if start := f.Question.Problem.Supply.Start; start == nil || start.Price.String() != "2.50" || start.LeadSeconds != 600 || after >= before || len(f.Question.Before.VMs) != 1 || f.Answer.Hours[0].Started != max(0, f.Answer.Hours[0].VMs-f.Question.Before.VMs[0]) {
		t.Errorf("a start costs %v, and VMs are started %d times, of %d before: %+v", start, after, before, f.Answer.Hours[0])
	}
	clock.Add(3600)
	next, _ := starts()
	if vms := next.Question.Before.VMs; len(vms) != 1 || vms[0] != f.Answer.Hours[0].VMs {
		t.Errorf("an hour later %v VMs are there before, and %d were planned", vms, f.Answer.Hours[0].VMs)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/lab/vm-types/m", `{"name":"m","start_price":"2.5","spot":{"max_share":0.5}}`, "If-Match", `"3"`).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/lab/prices", `{"vm_type":"m","purchase":"spot","price":"1","from":"2026-03-02T00:00:00Z","until":null}`).want(t, 201)
	var asked timetable.Answer
	s.ask(s.admin, "POST", "/v1/clusters/lab/schedules", `{"from":"2026-03-02T02:00:00Z","until":"2026-03-02T06:00:00Z"}`).want(t, 200).into(t, &asked)
	if !slices.ContainsFunc(asked.Warnings, func(w capacity.Warning) bool { return w.Code == "starts_left_out" }) {
		t.Errorf("beside spot VMs nothing says that starts are left out: %v", asked.Warnings)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/lab/vm-types/m", `{"name":"m","start_price":"-1"}`, "If-Match", `"4"`).want(t, 400)
	s.ask(s.admin, "PUT", "/v1/clusters/lab/vm-types/m", `{"name":"m","start_lead_s":3601}`, "If-Match", `"4"`).want(t, 400)
}
