package server

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/whatif"
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
	"example.org/headroom/internal/service/question"
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

// demoWord says which demonstration is made; "" is none.
type demoWord string

const (
	demoTour  demoWord = "tour"
	demoStill demoWord = "still" // nothing in it changes by itself
)

// moreDemo is demoMore.
type moreDemo struct {
	Measurements []perf.MeasurementRequest
	Weeks        map[string]string // jobs at once, by class
	Before       struct {
		Class string
		Max   float64 // its jobs in the first plan, so that there is a plan to compare with
	}
	Batch    json.RawMessage
	Scenario whatif.Scenario
	Live     liveDemo
	Pool     json.RawMessage // settings of a pool
	Second   inputs.Document
	Days     map[string]money.Amount // prices from 6 to 22 o'clock, by cluster
	Nights   map[string]money.Amount
	Written  time.Time // the day that the dates of contracts are told from
}

// readDemo reads both files.
func readDemo() (d inputs.Document, more moreDemo, err error) {
	if err := errors.Join(json.Unmarshal(demoCluster, &d), json.Unmarshal(demoMore, &more)); err != nil {
		return d, more, fmt.Errorf("read the demonstration: %w", err)
	}
	return d, more, nil
}

// makeDemo makes the demonstration clusters and the first plan unless they are there. What somebody
// has changed since stays as it is.
func makeDemo(ctx context.Context, a *app.App, d inputs.Document, more moreDemo, which demoWord) (plans.PlanRecord, error) {
	ctx = auth.With(ctx, auth.Principal{ID: auth.LocalID, Name: "headroom serve --demo", Role: auth.Admin})
	name := d.Cluster.Name
	switch _, err := a.Stores.Inputs.Cluster(ctx, name); {
	case errors.Is(err, fault.NotFound):
		if err := layDemo(ctx, a, d, more, which); err != nil {
			return plans.PlanRecord{}, fmt.Errorf("make the demonstration: %w", err)
		}
		return a.Plans.Create(ctx, name, time.Time{})
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
func layDemo(ctx context.Context, a *app.App, d inputs.Document, more moreDemo, which demoWord) error {
	now := a.Now().Truncate(time.Hour)
	today := now.Truncate(24 * time.Hour)
	name := d.Cluster.Name
	datedToday(d, today.Sub(more.Written))
	second := more.Second.Cluster.Name
	more.Second.Prices = pricesByHour(more.Second.VMTypes[0].Name, more.Days[second], more.Nights[second], today.AddDate(0, 0, -1))
	before := d
	of := slices.IndexFunc(d.Classes, func(c inputs.PlannedClass) bool { return c.Name == more.Before.Class })
	if which == demoTour { // the first plan is of a smaller demand
		before.Prices = append(d.Prices, pricesByHour(d.VMTypes[0].Name, more.Days[name], more.Nights[name], today.AddDate(0, 0, 2))...)
		before.Prices[0].Until = &before.Prices[1].From
		before.Classes = slices.Clone(d.Classes)
		before.Classes[of].Jobs.Max = more.Before.Max
	}
	for _, d := range []inputs.Document{before, more.Second} {
		if _, err := a.Clusters.Apply(ctx, 0, d, false); errors.Is(err, fault.Conflict) {
			return nil // another server, or somebody, was faster
		} else if err != nil {
			return err
		}
	}
	if which == demoTour {
		if _, err := a.Plans.Create(ctx, name, time.Time{}); err != nil {
			return err
		}
		if err := editClass(ctx, a, name, d.Classes[of]); err != nil {
			return err
		}
	}
	if _, err := a.Clusters.Measure(ctx, name, more.Measurements); err != nil {
		return err
	}
	if err := pastOfDemo(ctx, a, d, today); err != nil {
		return err
	}
	if err := forecastDemo(ctx, a, d, more.Weeks, now); err != nil {
		return err
	}
	if err := askDemo(ctx, a, name, more); err != nil {
		return err
	}
	if which == demoTour {
		if err := poolDemo(ctx, a, name, more.Pool, today); err != nil {
			return err
		}
	}
	return addDemoNodes(ctx, a, name, more.Live)
}

// datedToday moves the terms of contracts by a time, so that they end as long from now as the document says.
func datedToday(d inputs.Document, by time.Duration) {
	for i, c := range d.Contracts {
		d.Contracts[i].From, d.Contracts[i].Until = c.From.Add(by), c.Until.Add(by)
	}
}

func editClass(ctx context.Context, a *app.App, cluster string, to inputs.PlannedClass) error {
	was, err := a.Clusters.Classes().Get(ctx, cluster, to.Name)
	if err == nil {
		_, err = a.Clusters.Classes().Replace(ctx, cluster, to.Name, was.Version, to)
	}
	return err
}

// pastOfDemo imports past executions, and calibrates every class by them.
func pastOfDemo(ctx context.Context, a *app.App, d inputs.Document, today time.Time) error {
	name := d.Cluster.Name
	if _, err := a.Clusters.TakeExecutions(ctx, name, demoHistory(d, today), clusters.TakeOptions{}); err != nil {
		return err
	}
	for _, class := range d.Classes {
		now, err := a.Clusters.Classes().Get(ctx, name, class.Name)
		if err != nil {
			return err
		}
		if _, err := a.Clusters.AdoptCalibration(ctx, name, class.Name, now.Version, clusters.CalibrationAsk{}); err != nil {
			return err
		}
	}
	return nil
}

// askDemo keeps a scenario, and a packing of a night's jobs.
func askDemo(ctx context.Context, a *app.App, cluster string, more moreDemo) error {
	if _, err := a.Stores.Inputs.Scenarios().Create(ctx, cluster, more.Scenario); err != nil {
		return err
	}
	_, _, err := question.KeptPacking.Ask(ctx, a.Questions, question.KeptPacking.Addresses()[0],
		question.Request{Body: more.Batch, Limits: capacity.DefaultLimits(), Cluster: cluster})
	return err
}

// poolDemo keeps the settings of a pool of different machines, and how its data grew in the last days.
func poolDemo(ctx context.Context, a *app.App, cluster string, settings json.RawMessage, today time.Time) error {
	var s pool.PoolSettings
	if err := json.Unmarshal(settings, &s); err != nil {
		return fmt.Errorf("read the demonstration's pool: %w", err)
	}
	var samples []pool.StorageSampleRequest
	for day := range 4 {
		at := today.AddDate(0, 0, day-4)
		samples = append(samples, pool.StorageSampleRequest{At: &at, DataGB: 3600 + 180*float64(day)})
	}
	if _, err := a.Pools.SampleStorage(ctx, cluster, samples); err != nil {
		return err
	}
	_, err := a.Pools.SetSettings(ctx, cluster, 0, s)
	return err
}

// forecastDemo forecasts the first day as the classes have it, so that the first plan is the same whenever it is made,
// and half a year after that by the week.
func forecastDemo(ctx context.Context, a *app.App, d inputs.Document, weeks map[string]string, now time.Time) error {
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

const demoWeeks = 26

// pricesByHour are two weeks from a midnight on, cheap from 22 to 6 o'clock; after them the price of days stays.
func pricesByHour(vmType string, day, night money.Amount, begin time.Time) (prices []inputs.PricePeriod) {
	for i := range 15 {
		midnight := begin.AddDate(0, 0, i)
		prices = append(prices, inputs.PricePeriod{VMType: vmType, Price: night, From: midnight.Add(-2 * time.Hour)},
			inputs.PricePeriod{VMType: vmType, Price: day, From: midnight.Add(6 * time.Hour)})
	}
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

// addDemoNodes sets up the live cluster, whose nodes are simulated.
func addDemoNodes(ctx context.Context, a *app.App, cluster string, demo liveDemo) error {
	before, err := a.Stores.Live.LiveSettings(ctx, cluster)
	if err != nil {
		return err
	}
	if _, err := a.Live.SetSettings(ctx, cluster, before.Version, demo.Settings); err != nil {
		return err
	}
	for _, name := range demo.Nodes {
		node := demo.Node
		node.Name = name
		if _, err := a.Live.PutNode(ctx, cluster, node); err != nil {
			return err
		}
	}
	return nil
}
