package reproduce

import (
	"context"
	"fmt"
	"math"

	"example.org/headroom/internal/ask/pool"
)

const poolPaper = "Heterogeneity-Aware Resource Allocation and Scheduling in the Cloud, HotCloud 2011"

// sumRounding bounds the difference of equal sums.
const sumRounding = 1e-9

var pools = Experiment{
	Name:   "pools",
	About:  "what accelerators beside the core instances save",
	Source: poolPaper,
	Claim:  "Five core instances that hold the data and a few accelerators for some hours meet every deadline for less than core instances alone. More accelerators need not cost more, because they are kept for fewer hours.",
	Method: "The paper does not print its model. Ours is explicit: an instance works at the rate of its compute units, work can be divided at will, core instances are billed for the round of four hours and accelerators for whole hours. " +
		"With 90 hours of work at rate 1 all that the paper says of its configurations holds, and no other amount of work from 80 hours down or from 100 up does. " +
		"Every configuration is evaluated, and for five deadlines the cheapest pool is planned and proved.",
	NeedsSolver: true,
	run:         runPools,
}

// poolCase returns the case study with this much work, due by deadline hours.
func poolCase(work, deadline float64) pool.PoolProblem {
	p := pool.DefaultPool()
	p.Currency, p.Hours = "USD", 4
	for _, t := range pool.ExampleEC22011().Types {
		switch t.Name {
		case "m1.large":
			t.Accelerator = false
		case "c1.medium":
			t.Core = false
		default:
			continue
		}
		p.Types = append(p.Types, t.PoolType)
	}
	p.Jobs = []pool.PoolJob{{Name: "case", Work: work, DeadlineHours: deadline}}
	p.Storage = pool.PoolStorage{DataGB: 4250, Replication: 1, Fill: 1}
	return p
}

// poolConfiguration is a configuration of the paper with its statement.
type poolConfiguration struct {
	core, accelerators int64
	says               string
	more, less         float64 // hours, both not included
	hours, cost        float64 // results of the model
}

var poolConfigurations = []poolConfiguration{
	{5, 0, "more than 4 h, late", 4, math.Inf(1), 4.5, 6.80},
	{9, 0, "2 to 3 h", 2, 3, 2.5, 12.24},
	{5, 4, "2 to 3 h", 2, 3, 2.25, 8.84},
	{5, 5, "", 0, math.Inf(1), 2, 8.50},
	{5, 6, "less than 2 h", 0, 2, 1.8, 8.84},
	{5, 8, "less than 2 h", 0, 2, 1.5, 9.52},
	{5, 12, "less than 2 h", 0, 2, 1.125, 10.88},
	{5, 15, "less than 2 h", 0, 2, 90.0 / 95, 9.35},
}

// poolOptima lists the cost of the cheapest pool for each deadline.
var poolOptima = []struct{ deadline, cost float64 }{{4, 7.14}, {3, 7.82}, {2, 8.50}, {1.5, 8.84}, {1, 9.18}}

func runPools(ctx context.Context, b *bench) error {
	b.total = len(poolConfigurations)*6 + 2*len(poolOptima)
	b.Columns = []string{"pool", "deadline_hours", "core", "accelerators", "hours", "cost", "lower_bound", "status"}
	var cost = map[int64]float64{}
	claim := func(c *Check, p printed) {
		p.protocol = "Five m1.large that hold 4,250 GB, with and without c1.medium. How work turns into hours is not printed."
		p.ours = "The same with divisible work of 90 hours, at the rate of the compute units."
		p.departs = "The model is ours, and its work was chosen so that all that is said of hours holds."
		b.judge(c, p)
	}
	for _, c := range poolConfigurations {
		e, err := b.configured(ctx, 90, c)
		if err != nil {
			return err
		}
		hours, bill := poolHours(e), e.Cost.Float()
		cost[c.accelerators] = bill
		name := fmt.Sprintf("%d m1.large and %d c1.medium", c.core, c.accelerators)
		b.row("configuration", nil, int(c.core), int(c.accelerators), hours, bill, nil, "evaluated")
		b.within(name+": hours by the model", "not printed", hours, "h", c.hours-sumRounding, c.hours+sumRounding)
		b.within(name+": cost by the model", "not printed", bill, "USD", c.cost-sumRounding, c.cost+sumRounding)
		if c.says != "" {
			lowest, highest := c.more+sumRounding, c.less-sumRounding
			if c.more == 0 {
				lowest = math.Inf(-1)
			}
			claim(b.within(name+": hours", c.says, hours, "h", lowest, highest), printed{name: fmt.Sprintf("hours-%d-%d", c.core, c.accelerators),
				says: fmt.Sprintf("%d m1.large and %d c1.medium take %s.", c.core, c.accelerators, c.says), least: lowest, most: highest})
		}
	}
	claim(b.within("what 15 accelerators cost less than 12", "less", cost[12]-cost[15], "USD", 0.01, math.Inf(1)),
		printed{name: "15-cost-less", says: "15 accelerators cost less than 12.", least: 0, most: noLimit})
	claim(b.within("what 6 accelerators cost more than 4", "the same, and faster", cost[6]-cost[4], "USD", -sumRounding, sumRounding),
		printed{name: "6-cost-the-same", says: "6 accelerators cost as much as 4.", least: -sumRounding, most: sumRounding})
	outside := 0
	for _, c := range []struct {
		work float64
		all  bool
	}{{80, false}, {81, true}, {95, true}, {99, true}, {100, false}} {
		all, err := b.saysAll(ctx, c.work)
		if err != nil {
			return err
		}
		if all != c.all {
			outside++
		}
	}
	b.within("amounts of work, from 80 to 100 h, for which what the paper says of hours holds or not, otherwise than between the two", "none", float64(outside), "", 0, 0)
	for _, o := range poolOptima {
		a, err := b.Pool(ctx, poolCase(90, o.deadline))
		if err != nil {
			return err
		}
		b.step()
		b.planned("cheapest", o.deadline, a)
		name := fmt.Sprintf("cheapest pool by a deadline of %g h", o.deadline)
		b.within(name, "not printed", a.Cost.Float(), "USD", o.cost-sumRounding, o.cost+sumRounding)
		b.within(name+": gap of its proof", "none", 100*a.Gap, "%", 0, 0)
	}
	saved := 0.0
	for _, o := range poolOptima {
		p := poolCase(90, o.deadline)
		for i := range p.Types {
			p.Types[i].Core, p.Types[i].Accelerator = true, true
		}
		a, err := b.Pool(ctx, p)
		if err != nil {
			return err
		}
		b.step()
		b.planned("cheapest, data on any type", o.deadline, a)
		saved = max(saved, o.cost-a.Cost.Float())
	}
	b.within("what it saves at most that c1.medium may hold data as well, and m1.large be an accelerator", "not looked at", saved, "USD", 0, math.Inf(1)).
		remark("the paper keeps data on m1.large alone; its pools are the cheapest of that kind")
	b.note("\"6 accelerators finish in less than 2 hours\" stands in the text, but not among the three configurations that it lists as such (8, 12 and 15). \"15 cost less than 12\" needs 95 hours of work or less.")
	b.note("Because work can be divided, an accelerator does as much in its first hour as in any other: without a start-up the cheapest pools keep accelerators for one hour, and more of them.")
	for _, t := range pool.ExampleEC22011().Types {
		if t.Name == "m2.2xlarge" {
			b.judge(b.within("Table 1: what a GB and month costs on m2.2xlarge", "0.80", t.PerGBMonth.Float(), "USD", 0.847-sumRounding, 0.847+sumRounding), printed{
				name: "gb-month", says: "A GB costs 0.80 a month on m2.2xlarge.", least: 0.795, most: 0.805, direction: anywhere,
				protocol: "Price and disk of Table 1, 720 hours a month.",
				reason:   "It does not follow from the table's own price and disk: 720 hours of 1.00 for 850 GB are 0.847."})
		}
	}
	return nil
}

// configured evaluates a configuration.
func (b *bench) configured(ctx context.Context, work float64, c poolConfiguration) (pool.PoolEvaluation, error) {
	p := poolCase(work, 4)
	p.Mix = &pool.PoolMix{Core: []pool.PoolCore{{Type: "m1.large", Count: c.core}}}
	if c.accelerators > 0 {
		p.Mix.Accelerators = []pool.PoolAccelerator{{Type: "c1.medium", Count: c.accelerators}}
	}
	e, err := b.EvaluatePool(ctx, p)
	if err == nil {
		b.step()
	}
	return e, err
}

// saysAll reports whether all of the paper's statements on hours hold for this much work.
func (b *bench) saysAll(ctx context.Context, work float64) (bool, error) {
	all := true
	for _, c := range poolConfigurations {
		e, err := b.configured(ctx, work, c)
		if err != nil {
			return false, err
		}
		all = all && poolHours(e) > c.more && poolHours(e) < c.less
	}
	return all, nil
}

func poolHours(e pool.PoolEvaluation) float64 {
	if e.Hours == nil {
		return math.Inf(1)
	}
	return *e.Hours
}

func (b *bench) planned(pool string, deadline float64, a pool.PoolPlan) {
	core, accelerators := 0, 0
	for _, x := range a.Mix.Core {
		core += int(x.Count)
	}
	for _, x := range a.Mix.Accelerators {
		accelerators += int(x.Count)
	}
	hours := math.Inf(1)
	if a.Hours != nil {
		hours = *a.Hours
	}
	b.row(pool, deadline, core, accelerators, hours, a.Cost.Float(), a.LowerBound.Float(), string(a.Status))
}
