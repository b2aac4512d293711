// Package reproduce runs the experiments of the papers again, and compares the results with what was published.
package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/sim"
)

// Experiment is a published experiment that can be run again.
type Experiment struct {
	Name   string `json:"name"`
	About  string `json:"about"`  // in a few words
	Source string `json:"source"` // place of publication
	Claim  string `json:"claim"`  // the published result
	Method string `json:"method"` // method of the reproduction
	// NeedsSolver marks experiments that need Tools.Solver.
	NeedsSolver bool `json:"needs_solver"`

	run func(ctx context.Context, t *bench) error
}

// experiments lists every experiment, in the order shown to people.
var experiments = []Experiment{accuracy, scalability, sharing, concurrency, deadlines, packing, learning, progressShare, mimp, admission, pools, interference}

// Experiments lists the experiments, in the order shown to people.
func Experiments() []Experiment { return slices.Clone(experiments) }

// Tools holds an experiment's tools from outside this package.
type Tools struct {
	Plan func(context.Context, capacity.Problem) (capacity.Plan, error) // proves and checks its plans
	Pack func(context.Context, pack.PackingProblem) (pack.Packing, error)
	// Pool plans a pool, and EvaluatePool evaluates a given one; both check their answers.
	Pool         func(context.Context, pool.PoolProblem) (pool.PoolPlan, error)
	EvaluatePool func(context.Context, pool.PoolProblem) (pool.PoolEvaluation, error)
	Solver       lp.Solver // CBC
	Clock        func() time.Time
	Progress     func(done, total int) // called after every step; may be nil
	// Simulate runs a simulated cluster, and Interfere a simulated core; nil: package sim does.
	Simulate  func(context.Context, sim.Input, int) (sim.Report, error)
	Interfere func(context.Context, sim.InterferenceQuestion) (sim.InterferenceAnswer, error)

	node func(loaded) borne // runs a node that learns; nil: run does
}

// Setting selects the instances of an experiment. The instances of a seed are the same for ever.
type Setting struct {
	Seed      uint64 `json:"seed"`      // of the first instance; the others' follow it
	Instances int    `json:"instances"` // for every point of the experiment; 0: its own number
	Quick     bool   `json:"quick"`     // fewer points and instances: seconds
}

// MostInstances bounds the instances of one point.
const MostInstances = 10_000

// Reproduction holds the results of an experiment.
type Reproduction struct {
	Experiment
	Setting
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // a string, an int, a float64 or nil for every column
	Checks  []Check  `json:"checks"`
	Notes   []string `json:"notes"`
	// Holds tells that every verdict is the recorded one, and every figure inside its band. It says nothing of the paper.
	Holds   bool   `json:"holds"`
	Verdict string `json:"verdict"` // the numbers of verdicts and of figures, in words
}

// Check is a figure of ours with our own band of regression: Least and Most, if set, bound it.
type Check struct {
	Figure  string   `json:"figure"`
	Paper   string   `json:"paper"`
	Ours    *float64 `json:"ours"` // nil if there was nothing to compute it from
	Unit    string   `json:"unit"`
	Least   *float64 `json:"least"`
	Most    *float64 `json:"most"`
	Band    Band     `json:"band"`
	Claim   *Claim   `json:"claim"`   // nil: the paper claims nothing of this figure
	Verdict Verdict  `json:"verdict"` // on the claim, or noClaim
	Remark  string   `json:"remark"`
}

// Band tells where a figure lies in its band of regression.
type Band string

const (
	Inside    Band = "inside"
	Outside   Band = "outside"
	Uncertain Band = "not known" // no instance covers it
)

// Run runs an experiment. An error means that nothing is known.
func (e Experiment) Run(ctx context.Context, t Tools, s Setting) (Reproduction, error) {
	if e.NeedsSolver && t.Solver == nil {
		return Reproduction{}, fmt.Errorf("%s compares with CBC: %w", e.Name, lp.ErrUnavailable)
	}
	if t.Simulate == nil {
		t.Simulate = sim.Run
	}
	if t.Interfere == nil {
		t.Interfere = sim.EstimateInterference
	}
	if t.node == nil {
		t.node = loaded.run
	}
	b := &bench{Tools: t, Reproduction: Reproduction{Experiment: e, Setting: s, Rows: [][]any{}, Checks: []Check{}, Notes: []string{}}}
	if err := e.run(ctx, b); err != nil {
		return Reproduction{}, fmt.Errorf("reproduce %s: %w", e.Name, err)
	}
	b.conclude()
	return b.Reproduction, nil
}

// bench holds an experiment's tools and its results so far.
type bench struct {
	Tools
	Reproduction
	total, done int // steps
	drawn       uint64
}

// points chooses between the full and the quick points of an experiment.
func points[T any](b *bench, all, quick T) T {
	if b.Quick {
		return quick
	}
	return all
}

// instances returns the number of instances of a point.
func (b *bench) instances(all, quick int) int {
	if b.Instances > 0 {
		return b.Instances
	}
	return points(b, all, quick)
}

// nextSeed returns the seed of another instance.
func (b *bench) nextSeed() uint64 {
	b.drawn++
	return b.Seed + b.drawn - 1
}

// step counts one step of the work as done.
func (b *bench) step() {
	b.done++
	if b.Progress != nil {
		b.Progress(b.done, b.total)
	}
}

// ran lets the method say what runs instead of the usual number.
func (b *bench) ran(usual, is string) { b.Method = strings.Replace(b.Method, usual, is, 1) }

func (b *bench) row(cells ...any) { b.Rows = append(b.Rows, cells) }

func (b *bench) note(sentences string) { b.Notes = append(b.Notes, sentences) }

// within records a check that our figure lies from lowest to limit; an infinite end sets no bound.
func (b *bench) within(figure, paper string, ours float64, unit string, lowest, limit float64) *Check {
	c := Check{Figure: figure, Paper: paper, Unit: unit, Band: Inside, Verdict: noClaim,
		Least: finite(lowest), Most: finite(limit), Ours: finite(ours)}
	switch {
	case c.Ours == nil:
		c.Band, c.Remark = Uncertain, "no instance to compute it from"
	case ours < lowest || ours > limit:
		c.Band = Outside
	}
	b.Checks = append(b.Checks, c)
	return &b.Checks[len(b.Checks)-1]
}

// known is a figure from a much larger sample, with the deviation of one instance's figure. The figure of n instances
// deviates by the square root of n less.
type known struct{ value, deviation float64 }

// farOff is the number of deviations beyond chance.
const farOff = 4

// near records a check that our figure from some instances is the known one, but for chance. The tolerance is a
// factor, because the figures are positive and stray further upwards.
func (b *bench) near(figure, paper string, ours float64, unit string, k known, instances int) *Check {
	chance := math.Exp(farOff * k.deviation / k.value / math.Sqrt(float64(instances)))
	return b.within(figure, paper, ours, unit, k.value/chance, k.value*chance)
}

// share records a check that the share of instances, in percent, is the known one, but for chance.
func (b *bench) share(figure, paper string, ours, known float64, instances int) *Check {
	chance := farOff * math.Sqrt(known*(100-known)/float64(instances))
	return b.within(figure, paper, ours, "%", max(0, known-chance), min(100, known+chance))
}

// remark says more of a figure.
func (c *Check) remark(words string) {
	if c.Ours != nil {
		c.Remark = words
	}
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// solved returns a proved optimum, or infeasible.
func (b *bench) solved(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	pl, err := b.Plan(ctx, p)
	switch {
	case err != nil:
		return pl, err
	case pl.Status == capacity.InfeasibleStatus:
		return pl, nil
	case pl.Status != capacity.Optimal || pl.Proof == nil || !pl.Proof.Checked || pl.Proof.Gap > p.Options.Gap:
		return pl, errNotProved
	}
	return pl, nil
}

var errNotProved = errors.New("a plan could not be proved to be the cheapest, so that nothing can be said")

// mean returns the mean, or NaN for none, like quantile.
func mean(x []float64) float64 {
	var s money.Sum
	for _, v := range x {
		s.Add(v)
	}
	return s.Value() / float64(len(x))
}

// median returns the median, or NaN for none, like quantile.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return perf.Median(slices.Sorted(slices.Values(x)))
}

// quantile interpolates between the sorted values on both sides.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	at := q * float64(len(x)-1)
	low := int(at)
	if low == len(x)-1 {
		return sorted[low]
	}
	return sorted[low] + float64((at-float64(low))*(sorted[low+1]-sorted[low]))
}
