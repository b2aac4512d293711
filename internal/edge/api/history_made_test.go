package api

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/clusters"
)

// nightly returns executions of a job: for each of some days from Monday, 5 January 2026, one from 22:00 to 23:30 of
// UTC, on Fridays three, with maps of 10 + day seconds.
func nightly(days int) (all []history.Record) {
	monday := time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)
	for day := range days {
		at := monday.AddDate(0, 0, day)
		times := 1
		if at.Weekday() == time.Friday {
			times = 3
		}
		for n := range times {
			mean := 10 + float64(day)
			d := history.Durations{Count: 4, Mean: mean, Max: 2 * mean, Median: mean, P95: 2 * mean}
			all = append(all, history.Record{Facts: history.Facts{Job: "Nightly ETL (v2)", Execution: fmt.Sprintf("job_%d_%d", day, n), SubmittedAt: new(at), FinishedAt: new(at.Add(90 * time.Minute))},
				Sample: &history.Sample{Seconds: new(5400.0), Map: d, MapSlots: 2, Profile: capacity.Profile{MapTasks: 4, MapAvgSeconds: mean, MapMaxSeconds: 2 * mean, OverheadSeconds: 7}}})
		}
	}
	for i := range all {
		if err := all[i].Check(); err != nil {
			panic(err)
		}
	}
	return all
}

func TestProfilesAreMadeOfHistories(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", executionBatch{nightly(10)}).want(t, 200)
	const at = "/v1/clusters/mine/profiles/from-history"
	ask := func(body string) (made clusters.ProfileMade) {
		t.Helper()
		s.ask(s.admin, "POST", at, body).want(t, 200).into(t, &made)
		return made
	}
	made := ask(`{"job":"Nightly ETL (v2)","dry_run":true}`)
	s.ask(s.admin, "GET", "/v1/clusters/mine/profiles/nightly-etl-v2", nil).want(t, 404)
	if !made.DryRun || !made.Changed || made.Profile.Name != "nightly-etl-v2" || made.Profile.Version != 1 || made.Merged.Executions != 12 {
		t.Errorf("a dry run says %+v", made)
	}
	made = ask(`{"job":"Nightly ETL (v2)"}`)
	// Days 0 … 9, of which day 4, a Friday, counts three times: (145 + 2·14) / 12.
	if p := made.Profile; !made.Changed || p.Version != 1 || math.Abs(p.Profile.MapAvgSeconds-173.0/12) > 1e-12 || p.Profile.MapMaxSeconds != 38 || p.Profile.OverheadSeconds != 7 || p.CreatedAt.IsZero() {
		t.Errorf("made %+v", p)
	}
	var source struct {
		Kind, Job  string
		Executions int64
		Spread     map[string]history.Numbers
		First      time.Time `json:"first_submitted_at"`
	}
	if err := json.Unmarshal(made.Profile.Source, &source); err != nil || source.Kind != "history" || source.Job != "Nightly ETL (v2)" || source.Executions != 12 || source.Spread["map_avg_s"].Max != 19 || source.First.Day() != 5 {
		t.Errorf("its source is %s (%v)", made.Profile.Source, err)
	}
	// Again nothing is added; of other executions another version is, and a name can be given.
	if made = ask(`{"job":"Nightly ETL (v2)"}`); made.Changed || made.Profile.Version != 1 {
		t.Errorf("again: %+v", made)
	}
	if made = ask(`{"job":"Nightly ETL (v2)","last":2}`); !made.Changed || made.Profile.Version != 2 || made.Profile.Profile.MapAvgSeconds != 18.5 {
		t.Errorf("of the last two: %+v", made.Profile)
	}
	if made = ask(`{"job":"Nightly ETL (v2)","until":"2026-01-06T00:00:00Z","profile":"first"}`); made.Profile.Name != "first" || made.Profile.Profile.MapAvgSeconds != 10 {
		t.Errorf("of the first: %+v", made.Profile)
	}
	s.ask(s.admin, "GET", "/v1/clusters/mine/profiles/from-history", nil).want(t, 404)

	// Nothing to merge, a name in other use, and chains.
	for body, want := range map[string]string{
		`{"job":"none"}`:                        "There is no execution of the job \"none\"",
		`{"job":"Nightly ETL (v2)","user":"x"}`: "There is no execution",
		`{"job":"nightly.etl.v2"}`:              "was not made of the job",
	} {
		s.ask(s.admin, "POST", "/v1/clusters/mine/executions", strings.Replace(someExecution, `"nightly etl","execution":"job_1"`, `"nightly.etl.v2","execution":"other"`, 1)).want(t, 200)
		if p := s.ask(s.admin, "POST", at, body).want(t, 422).problem(t); !strings.Contains(fmt.Sprint(p), want) {
			t.Errorf("%s is refused with %+v, want %q", body, p, want)
		}
	}
	chains := `{"executions":[` + strings.Join([]string{chainText("a", "scan,join", 10), chainText("b", "scan,join", 20), chainText("c", "scan", 30)}, ",") + `]}`
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", chains).want(t, 200)
	made = ask(`{"job":"report"}`)
	if p := made.Profile.Profile; len(p.Stages) != 2 || p.Stages[1].Name != "join" || p.Stages[0].AvgSeconds != 15 || p.Stages[0].MaxSeconds != 20 || p.OverheadSeconds != 3 {
		t.Errorf("of chains: %+v", p)
	}
	if len(made.Merged.Refused) != 1 || made.Merged.Refused[0].Where != "c" {
		t.Errorf("refused %+v", made.Merged.Refused)
	}
	if made = ask(`{"job":"report"}`); made.Changed {
		t.Errorf("chains again: %+v", made)
	}
}

// chainText returns an execution whose stages have two tasks of some seconds each.
func chainText(id, stages string, seconds float64) string {
	var phases []string
	for _, name := range strings.Split(stages, ",") {
		phases = append(phases, fmt.Sprintf(`{"name":%q,"tasks":2,"task":{"count":2,"mean":%g,"max":%g}}`, name, seconds, seconds))
	}
	return fmt.Sprintf(`{"job":"report","execution":%q,"chain":{"phases":[%s],"overhead_s":3,"seconds":100}}`, id, strings.Join(phases, ","))
}

func TestForecastsAreMadeOfHistories(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", executionBatch{nightly(15)}).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", `{"executions":[{"job":"Nightly ETL (v2)","execution":"undated","outcome":"failed"}]}`).want(t, 200)
	const at = "/v1/clusters/mine/forecasts/from-history"
	ask := func(body string) (made clusters.ForecastMade) {
		t.Helper()
		s.ask(s.admin, "POST", at, body).want(t, 200).into(t, &made)
		return made
	}
	const weekly = `{"class":"nightly","job":"Nightly ETL (v2)","measured_from":"2026-01-05T00:00:00Z","measured_until":"2026-01-19T00:00:00Z","from":"2026-03-02T00:00:00Z","until":"2026-03-16T00:00:00Z"`
	const running = weekly + `,"counts":"running"`
	made := ask(running + `,"dry_run":true}`)
	if made.Hours != 336 || made.Executions != 18 || made.Undated != 1 || made.Peak != 3 || made.PeakAt.Weekday() != time.Friday || made.Written.Added != 336 || !made.Written.DryRun || len(made.Warnings) != 2 {
		t.Errorf("a dry run says %+v", made)
	}
	made = ask(running + `}`)
	if made.Written.Written != 336 || made.Written.Added != 336 || *made.Week.Fri[22] != 3 || *made.Week.Fri[23] != 3 || *made.Week.Sat[23] != 1 || *made.Week.Sat[0] != 0 {
		t.Errorf("the most %+v, week %+v", made, made.Week)
	}
	var l list[inputs.Forecast]
	s.ask(s.admin, "GET", "/v1/clusters/mine/forecasts?class=nightly&from=2026-03-06T21:00:00Z&until=2026-03-07T01:00:00Z", nil).want(t, 200).into(t, &l)
	if got := fmt.Sprint(l.Items[0].Jobs, l.Items[1].Jobs, l.Items[2].Jobs, l.Items[3].Jobs); got != "0 3 3 0" {
		t.Errorf("forecast of a Friday night: %s", got)
	}
	made = ask(running + `,"statistic":"average"}`)
	if *made.Week.Fri[22] != 3 || *made.Week.Fri[23] != 1.5 || *made.Week.Mon[23] != 0.5 || made.Written.Changed != 14 {
		t.Errorf("the average %+v, week %+v", made.Written, made.Week)
	}
	// Arrivals are counted in the hour in which they come, and stay what they are when jobs get slower.
	made = ask(weekly + `}`)
	if made.Counts != inputs.CountsArrivals || made.Statistic != "average" || *made.Week.Fri[22] != 3 || *made.Week.Fri[23] != 0 || *made.Week.Mon[22] != 1 || made.Written.FromArrivals != 336 {
		t.Errorf("arrivals: %+v, Friday %v and %v", made.Written, *made.Week.Fri[22], *made.Week.Fri[23])
	}
	s.ask(s.admin, "GET", "/v1/clusters/mine/forecasts?class=nightly&from=2026-03-06T22:00:00Z&until=2026-03-06T23:00:00Z", nil).want(t, 200).into(t, &l)
	if len(l.Items) != 1 || l.Items[0].Arrivals == nil || *l.Items[0].Arrivals != 3 {
		t.Errorf("got %+v", l.Items)
	}
	// By default the measured time is from the first to the last: two weeks and 90 minutes.
	if made = ask(`{"class":"nightly","job":"Nightly ETL (v2)","repeat":"none"}`); made.Week != nil || made.Hours != 338 || made.Written.Written != 338 || made.MeasuredFrom.Hour() != 22 {
		t.Errorf("as it was: %+v", made)
	}
	for body, want := range map[string]string{
		`{"class":"nightly","job":"none","repeat":"none"}`:                                                                                                  "There is no execution of the job",
		`{"class":"nightly","job":"Nightly ETL (v2)"}`:                                                                                                      "Say until when",
		`{"class":"nightly","job":"Nightly ETL (v2)","repeat":"none","until":"2026-03-16T00:00:00Z"}`:                                                       "leave from and until out",
		`{"class":"x","job":"Nightly ETL (v2)","repeat":"none"}`:                                                                                            "/class",
		`{"class":"nightly","job":"Nightly ETL (v2)","from":"2026-03-02T00:00:00Z","until":"2026-03-16T00:00:00Z","measured_until":"2026-01-07T00:00:00Z"}`: "less than a week",
		`{"class":"nightly","job":"Nightly ETL (v2)","until":"2020-01-01T00:00:00Z"}`:                                                                       "The forecast",
		`{"class":"nightly","job":"Nightly ETL (v2)","until":"2199-01-01T00:00:00Z"}`:                                                                       "are made at once",
		`{"class":"nightly","job":"Nightly ETL (v2)","from":"2026-03-02T00:30:00Z","until":"2026-03-16T00:00:00Z"}`:                                         "not a whole hour",
		`{"class":"nightly","job":"Nightly ETL (v2)","repeat":"none","measured_from":"2026-01-05T00:30:00Z"}`:                                               "beginning of one",
		`{"class":"nightly","job":"Nightly ETL (v2)","repeat":"none","measured_from":"1991-01-05T00:00:00Z"}`:                                               "at most 88000",
	} {
		a := s.ask(s.admin, "POST", at, body).want(t, 422)
		if !strings.Contains(string(a.text), want) {
			t.Errorf("%s is refused with %s, want %q", body, a.text, want)
		}
	}
}
