package server

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/live"
)

// demoCluster is a cluster that is small, realistic and not trivial: one contract billed always, one
// by use, some jobs not worth their machines.
//
//go:embed demo.json
var demoCluster []byte

// demoMore holds what the cluster has besides its document, and a second cluster.
//
//go:embed demo-more.json
var demoMore []byte

// moreDemo is demoMore.
type moreDemo struct {
	Measurements []perf.MeasurementRequest
	Weeks        map[string]string // jobs at once, by class
	Live         struct {
		Settings live.LiveSettings
		Node     live.LiveNode
		Loads    map[string]float64 // by node
		Jobs     []live.LiveJobRequest
	}
	Second     inputs.Document
	DayPrice   money.Amount `json:"day_price"`
	NightPrice money.Amount `json:"night_price"`
}

// makeDemo makes the demonstration clusters and the first plan unless they are there. What somebody
// has changed since stays as it is.
func makeDemo(ctx context.Context, a *app.App) (plans.PlanRecord, error) {
	ctx = auth.With(ctx, auth.Principal{ID: auth.LocalID, Name: "headroom serve --demo", Role: auth.Admin})
	var d inputs.Document
	var more moreDemo
	if err := errors.Join(json.Unmarshal(demoCluster, &d), json.Unmarshal(demoMore, &more)); err != nil {
		return plans.PlanRecord{}, fmt.Errorf("read the demonstration: %w", err)
	}
	name := d.Cluster.Name
	switch _, err := a.Stores.Inputs.Cluster(ctx, name); {
	case errors.Is(err, fault.NotFound):
		if err := layDemo(ctx, a, d, more); err != nil {
			return plans.PlanRecord{}, fmt.Errorf("make the demonstration: %w", err)
		}
	case err != nil:
		return plans.PlanRecord{}, err
	}
	switch record, err := a.Stores.Plans.Plan(ctx, name, plans.PlanRef{}); {
	case err == nil:
		return record, nil
	case !errors.Is(err, fault.NotFound):
		return record, err
	}
	return a.Plans.Create(ctx, name, time.Time{})
}

// layDemo makes both clusters, the first one with all that its pages show.
func layDemo(ctx context.Context, a *app.App, d inputs.Document, more moreDemo) error {
	today := a.Now().Truncate(24 * time.Hour)
	more.Second.Prices = pricesByHour(more, today)
	for _, d := range []inputs.Document{d, more.Second} {
		if _, err := a.Clusters.Apply(ctx, 0, d, false); errors.Is(err, fault.Conflict) {
			return nil // another server, or somebody, was faster
		} else if err != nil {
			return err
		}
	}
	name := d.Cluster.Name
	if _, err := a.Clusters.Measure(ctx, name, more.Measurements); err != nil {
		return err
	}
	if _, err := a.Clusters.TakeExecutions(ctx, name, demoHistory(d, today), clusters.TakeOptions{}); err != nil {
		return err
	}
	if err := forecastDemo(ctx, a, d, more.Weeks); err != nil {
		return err
	}
	return startDemoNodes(ctx, a, name, more)
}

// forecastDemo forecasts the first day as the classes have it, so that the first plan is the same whenever it is made,
// and a quarter of a year after that by the week.
func forecastDemo(ctx context.Context, a *app.App, d inputs.Document, weeks map[string]string) error {
	now := a.Now().Truncate(time.Hour)
	next := now.Add(25 * time.Hour)
	for _, class := range d.Classes {
		week, err := inputs.ParseWeek(weeks[class.Name])
		if err != nil {
			return err
		}
		var same inputs.Week
		for hour := range same {
			same[hour] = float64(class.Jobs.Max)
		}
		for _, w := range []inputs.WeeklyForecast{
			{Class: class.Name, From: now, Until: next, Week: same},
			{Class: class.Name, From: next, Until: next.AddDate(0, 0, 7*demoWeeks), Week: week, GrowthPerYear: 0.2},
		} {
			if _, err := a.Clusters.PutWeekly(ctx, d.Cluster.Name, w); err != nil {
				return err
			}
		}
	}
	return nil
}

const demoWeeks = 13

// pricesByHour are two weeks from yesterday on, cheap from 22 to 6 o'clock; by then the last one stays.
func pricesByHour(more moreDemo, today time.Time) (prices []inputs.PricePeriod) {
	begin := today.AddDate(0, 0, -1)
	for day := range 15 {
		midnight := begin.AddDate(0, 0, day)
		for hour, price := range map[int]money.Amount{6: more.DayPrice, 22: more.NightPrice} {
			prices = append(prices, inputs.PricePeriod{VMType: more.Second.VMTypes[0].Name, Price: price,
				From: midnight.Add(time.Duration(hour) * time.Hour)})
		}
	}
	slices.SortFunc(prices, func(a, b inputs.PricePeriod) int { return a.From.Compare(b.From) })
	for i := range prices[1:] {
		prices[i].Until = &prices[i+1].From
	}
	return prices
}

// demoHistory are thirty nights of every class's job, each as long as its profile predicts for its slots, more or
// less an eighth.
func demoHistory(d inputs.Document, today time.Time) (records []history.Record) {
	profiles := map[string]capacity.Profile{}
	for _, p := range d.Profiles {
		profiles[p.Name] = p.Profile
	}
	for i, class := range d.Classes {
		profile := profiles[class.Profile.Name]
		for night := range 30 {
			slots := int64(16 + 8*((night+i)%5))
			reduces := int64(0)
			if profile.ReduceTasks > 0 {
				reduces = slots / 2
			}
			seconds := perf.Time(perf.Demands(profile).Average, 1, float64(slots), max(1, float64(reduces))) + profile.OverheadSeconds
			seconds = math.Round(seconds * (1 + float64((night*37+i*11)%26-13)/104))
			began := today.AddDate(0, 0, night-31).Add(time.Duration(i) * 20 * time.Minute)
			ended := began.Add(time.Duration(seconds) * time.Second)
			sample := &history.Sample{Profile: profile, Seconds: &seconds, MapSlots: slots, ReduceSlots: reduces,
				Map:     durations(profile.MapTasks, profile.MapAvgSeconds, profile.MapMaxSeconds),
				First:   durations(profile.ReduceTasks, profile.FirstShuffleAvgSeconds, profile.FirstShuffleMaxSeconds),
				Shuffle: durations(profile.ReduceTasks, profile.ShuffleAvgSeconds, profile.ShuffleMaxSeconds),
				Reduce:  durations(profile.ReduceTasks, profile.ReduceAvgSeconds, profile.ReduceMaxSeconds)}
			records = append(records, history.Record{Sample: sample,
				Facts: history.Facts{Job: class.Name, Execution: fmt.Sprintf("demo_%s_%d", class.Name, began.Unix()), User: "demo", Queue: "demo",
					SubmittedAt: &began, FinishedAt: &ended, Seconds: &seconds, Outcome: "succeeded", Form: history.MapReduce}})
		}
	}
	return records
}

func durations(tasks int64, mean, longest float64) history.Durations {
	if tasks == 0 {
		return history.Durations{}
	}
	return history.Durations{Count: tasks, Mean: mean, Max: longest, Median: mean, P95: (mean + longest) / 2}
}

// startDemoNodes has nodes tell of themselves twice: they are given tasks of jobs, end some of these, and are given
// others. They count as alive for a day.
func startDemoNodes(ctx context.Context, a *app.App, cluster string, more moreDemo) error {
	before, err := a.Stores.Live.LiveSettings(ctx, cluster)
	if err != nil {
		return err
	}
	if _, err := a.Live.SetSettings(ctx, cluster, before.Version, more.Live.Settings); err != nil {
		return err
	}
	nodes := slices.Sorted(maps.Keys(more.Live.Loads))
	for _, name := range nodes {
		node := more.Live.Node
		node.Name = name
		if _, err := a.Live.PutNode(ctx, cluster, node); err != nil {
			return err
		}
	}
	for _, job := range more.Live.Jobs {
		if _, err := a.Live.SubmitJob(ctx, cluster, job); err != nil {
			return err
		}
	}
	for _, name := range nodes {
		beat := live.Heartbeat{Running: []int64{}, State: &live.NodeReport{Load1: new(more.Live.Loads[name])}}
		for beat.Seq = 1; beat.Seq <= 2; beat.Seq++ {
			text, err := json.Marshal(beat)
			if err != nil {
				return err
			}
			if text, err = a.Live.Heartbeat(ctx, cluster, name, beat, text); err != nil {
				return err
			}
			var told live.HeartbeatAnswer
			if err := json.Unmarshal(text, &told); err != nil {
				return err
			}
			for i, given := range told.Assignments {
				if i%2 == 0 {
					beat.Finished = append(beat.Finished, live.FinishedTask{Assignment: given.Assignment})
				} else {
					beat.Running = append(beat.Running, given.Assignment)
				}
			}
		}
	}
	return nil
}
