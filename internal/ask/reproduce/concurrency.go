package reproduce

import (
	"context"
	"fmt"
	"math"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

var concurrency = Experiment{
	Name:   "concurrency",
	About:  "whether the cost of a job depends on how many run at once",
	Source: capacityPaper + ", section 5.4.2",
	Claim:  "From 10 to 30 concurrent jobs the cost of a job varies by less than 0.002 %.",
	Method: "One class of Table 2, all of whose 10, 11, … 30 jobs must be admitted, no reserved VMs. Each number of jobs is planned as the linear program and " +
		"with whole VMs, and both optima are proved. The spread is (highest - lowest) / mean cost of a job; CV² is the variance over the mean squared.",
	run: runConcurrency,
}

const fewestJobs, maxJobs = 10, 30

// rounding lists the effect of whole VMs on the cost of a job: the median spread and the median CV² over classes with
// these averages, in percent.
var rounding = []struct {
	study.Averages
	spread, cv known
}{
	{study.Averages{Lowest: 0.05, Highest: 0.15}, known{2.204, 2.27}, known{0.003534, 0.0064}},
	{study.UsualAverages, known{0.4121, 0.371}, known{0.0001217, 0.0002}},
}

// claimedVariation is the paper's figure, in percent.
const claimedVariation = 0.002

func runConcurrency(ctx context.Context, b *bench) error {
	classes := b.instances(500, 100)
	b.total = classes * len(rounding)
	b.Columns = []string{"averages", "program", "classes", "spread_median_percent", "spread_most_percent", "cv2_median_percent", "cv2_mean_percent", "cv2_below_claim_percent"}
	paper := fmt.Sprintf("< %g %%", claimedVariation)
	for _, e := range rounding {
		var linear, whole variations
		b.drawn = 0
		for range classes {
			t := drawTable2(b.nextSeed(), 1, e.Averages)
			if err := b.vary(ctx, t, capacity.Relaxed, &linear); err != nil {
				return err
			}
			if err := b.vary(ctx, t, capacity.Integer, &whole); err != nil {
				return err
			}
			b.step()
		}
		name := e.Averages.String()
		b.row(linear.row(name, "linear")...)
		b.row(whole.row(name, "whole VMs")...)
		b.within("linear: largest spread, averages "+name, paper, quantile(linear.spread, 1), "%", 0, claimedVariation)
		spread := b.near("whole VMs: median spread, averages "+name, paper, median(whole.spread), "%", e.spread, classes)
		spread.remark("below it for the linear program only")
		if e.Averages == study.UsualAverages {
			b.judge(spread, printed{name: "same-cost", says: "From 10 to 30 concurrent jobs the cost of a job varies by less than 0.002 %.",
				least: -noLimit, most: claimedVariation, direction: anywhere,
				protocol: "One class of Table 2, 10 to 30 jobs. Average times are not printed, and section 5.4.2 does not say which program was solved.",
				ours:     "The same with whole VMs, median of the classes; averages of 0.3 to 0.7 of the longest times, which come nearest.",
				departs:  "Average times are not printed.",
				reason:   "Rounding up to whole VMs alone moves the cost by more. The figure comes out for the linear program, and for CV² of large jobs."})
		}
		c := b.near("whole VMs: median CV², averages "+name, paper, median(whole.cv), "%", e.cv, classes)
		if e.cv.value > claimedVariation {
			c.remark("below it for the linear program only")
		} else {
			c.Remark = "if variation is read as CV²"
		}
	}
	b.note("The figure comes out for the linear program alone, whichever the paper solved: there the cost of a job is VMs per job times the price, whatever the number of jobs.")
	b.note("With whole VMs up to one VM is rounded up, so that the cost of a job spreads by about 1 / (VMs of all jobs). " +
		"Below 0.002 % it stays only if variation is read as CV² (the variance over the mean squared) and jobs are large.")
	return nil
}

// variations holds the variation of a job's cost, in percent, class by class.
type variations struct{ spread, cv []float64 }

func (v *variations) row(averages, program string) []any {
	below := 0
	for _, x := range v.cv {
		if x < claimedVariation {
			below++
		}
	}
	return []any{averages, program, len(v.spread), median(v.spread), quantile(v.spread, 1), median(v.cv), mean(v.cv), percent(float64(below) / float64(len(v.cv)))}
}

// vary plans a class with every number of jobs.
func (b *bench) vary(ctx context.Context, t table2, program capacity.Integrality, v *variations) error {
	p := t.problem(1)
	p.Options.Integrality = program
	var costs []float64
	for jobs := fewestJobs; jobs <= maxJobs; jobs++ {
		p.Classes[0].Jobs = capacity.JobRange{Min: float64(jobs), Max: float64(jobs)}
		pl, err := b.solved(ctx, p)
		if err != nil {
			return err
		}
		costs = append(costs, totalCost(pl)/float64(jobs))
	}
	spread, cv := variation(costs)
	v.spread, v.cv = append(v.spread, percent(spread)), append(v.cv, percent(cv))
	return nil
}

// variation returns (highest - lowest) / mean, and the variance over the mean squared.
func variation(x []float64) (spread, cv float64) {
	average := mean(x)
	var squares money.Sum
	for _, v := range x {
		squares.Add(math.Pow(v-average, 2))
	}
	return (quantile(x, 1) - quantile(x, 0)) / average, squares.Value() / float64(len(x)) / (average * average)
}
