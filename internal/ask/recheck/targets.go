package recheck

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
)

var targetsNotChecked = []string{"how many executions ended in time, in the search and the checks: the simulation says that, ask again with the seed",
	"whether a smaller factor keeps a target too", "limits of shares that are wider than those of as many independent executions",
	"the slots, and the VMs where contracts, types or spot stand beside their cost", "warnings"}

// targets checks the promises found for the targets of a problem: what they say of the executions that were judged, and the
// plans with them and without.
func (c *checking) targets(q trial.TargetQuestion, a trial.TargetAnswer, got any) {
	c.NotChecked = targetsNotChecked
	promised := q.Problem
	promised.Classes = slices.Clone(q.Problem.Classes)
	rows, certain, unshown := a.Classes, 0, ""
	for i := range promised.Classes {
		class := &promised.Classes[i]
		if class.Promise = nil; class.Target == 0 {
			continue
		}
		at := at(len(a.Classes)-len(rows), "classes")
		if len(rows) == 0 || rows[0].Name != class.Name {
			c.wrong(at, "is not of class %q, whose turn it is", class.Name)
			break
		}
		if jobs := rows[0].Jobs; jobs != math.Trunc(jobs) && q.Problem.Options.Integrality != capacity.Relaxed {
			c.wrong(at+"/jobs", "are %v, and no part of a job runs", jobs)
		}
		c.promiseOf(at, class, &q.Options, &a, &rows[0])
		if class.Promise = rows[0].Promise; rows[0].Certain {
			certain++
		}
		if class.Promise == nil && rows[0].Jobs == 0 && class.Jobs.Max > 0 {
			unshown = class.Name
		}
		rows = rows[1:]
	}
	if len(rows) > 0 {
		c.wrong("/classes", "tell of more classes than have a target")
	}
	if len(c.faults) == 0 {
		c.differ("", got, map[string]any{"options": carriedOut(&q), "searched_seed": exact(whole(q.Options.Seed)), "sentence": toldTargets(&a, certain)})
		for _, w := range proof.PromiseWarnings(promised) {
			if w.Code != words.NoPromise {
				c.wrong("/problem"+w.Pointer, "is out of its own range: %s", w.Detail)
			}
		}
		said := promised // but for who plans
		if a.Problem != nil {
			said = *a.Problem
			said.Options.Engine, said.Options.MaxSolveMs = promised.Options.Engine, promised.Options.MaxSolveMs
		}
		if a.Problem == nil || !reflect.DeepEqual(tree(marshalled(said)), tree(marshalled(promised))) {
			c.wrong("/problem", "is not the problem of the question with the promises of its classes")
		}
		if a.Events < 0 {
			c.wrong("/events", "are %d", a.Events)
		}
	}
	c.end(SumsCheck, "Every promise says what its executions show, and speaks of its class as it is. %d of %d are certain.", certain, len(a.Classes))
	c.targetPlan("", &promised, &a.Cost, a.VMs, unshown)
	c.withJobs(&promised, &a)
	alone := promised
	alone.Classes = slices.Clone(promised.Classes)
	for i := range alone.Classes {
		alone.Classes[i].Promise = nil
	}
	if a.Without == nil {
		c.nowhere("/without", &alone)
	} else {
		c.targetPlan("/without", &alone, &a.Without.Cost, a.Without.VMs, "")
	}
	c.end(PlansCheck, "There are such plans with the promises and without, and none that is cheaper by more than its gap.")
}

// carriedOut returns the options that an answer names. Unless the question says another rule idle slots are lent as the VMs are shared.
func carriedOut(q *trial.TargetQuestion) any {
	o := q.Options
	switch {
	case o.Lending != "":
	case q.Problem.Options.Sharing == capacity.Dedicated:
		o.Lending = trial.LendClass
	default:
		o.Lending = trial.LendAll
	}
	return tree(marshalled(o))
}

// toldTargets is the sentence of an answer.
func toldTargets(a *trial.TargetAnswer, certain int) string {
	of := "1 target"
	if n := len(a.Classes); n != 1 {
		of = fmt.Sprintf("%d targets", n)
	}
	without := ""
	if a.Without != nil {
		without = "; at the bounds alone the plan has " + fault.Plain(a.Without.VMs)
	}
	return fmt.Sprintf("%d of %s shown with their confidence, on %s VMs%s.", certain, of, fault.Plain(a.VMs), without)
}

// targetPlan checks a plan of which the cost and the VMs are known. Where no job of a class ran, nothing shows its factor, and its
// promise is missing.
func (c *checking) targetPlan(at string, p *capacity.Problem, cost *capacity.Cost, vms float64, unshown string) {
	want, _, refusing, near := billed(p, cost)
	total := cost.Total.Rat()
	if s := &p.Supply; len(s.VMTypes) == 0 && len(s.Contracts) == 0 && s.Spot == nil {
		want["on_demand"] = near(mul(mul(s.OnDemand.Price.Rat(), number(vms)), big.NewRat(p.PeriodSeconds, 3600)), 1)
	}
	c.differ(at+"/cost", tree(marshalled(cost)), want)
	_, gap := spread(p.Options.Gap, total, refusing, cost.Bill.Rat())
	before := len(c.faults)
	c.holds(at+"/cost/total", p, total, gap, near(total, 5).off)
	if unshown != "" && len(c.faults) > before {
		c.faults = c.faults[:before]
		c.doubt(at+"/cost/total", "is of a plan without jobs of class %q, and the factor that refuses them is not told: there may be a cheaper one with some", fault.Clip(unshown))
	}
}

// withJobs checks that the plan has the jobs that are said of the classes with a target.
func (c *checking) withJobs(p *capacity.Problem, a *trial.TargetAnswer) {
	pinned, refused, all := *p, new(big.Rat), true
	pinned.Classes = slices.Clone(p.Classes)
	for i, n := 0, 0; i < len(pinned.Classes); i++ {
		class := &pinned.Classes[i]
		if class.Target == 0 || n >= len(a.Classes) {
			all = false
			continue
		}
		jobs := a.Classes[n].Jobs
		n++
		refused.Add(refused, mul(class.Penalty.Rat(), sub(number(class.Jobs.Max), number(jobs))))
		class.Jobs.Min = min(jobs, class.Jobs.Max)
	}
	said, off := a.Cost.Penalties.Rat(), big.NewRat(1, 1e6)
	if said.Cmp(sub(refused, off)) < 0 || all && said.Cmp(add(refused, off)) > 0 {
		c.wrong("/cost/penalties", "are %s, and the refused jobs of the classes with a target are worth %s", a.Cost.Penalties, trimmed(refused))
	}
	if l, looked := c.cheapest(&pinned, a.Cost.Total.Rat(), new(big.Rat)); looked && l.Holds(add(a.Cost.Total.Rat(), off), nil) == proof.Failed {
		c.wrong("/cost/total", "is %s, and its VMs do not carry the jobs of the classes", a.Cost.Total)
	}
}

// promiseOf checks what is said of a class.
func (c *checking) promiseOf(at string, class *capacity.Class, asked *trial.TargetOptions, a *trial.TargetAnswer, row *trial.PromisedClass) {
	if row.Jobs < class.Jobs.Min-1e-6 || row.Jobs > class.Jobs.Max+1e-6 {
		c.wrong(at+"/jobs", "are %v, and may be from %v to %v", row.Jobs, class.Jobs.Min, class.Jobs.Max)
	}
	if row.Searched < 0 || row.Searched > 1 {
		c.wrong(at+"/searched", "is no share: %v", row.Searched)
	}
	p := row.Promise
	if certain := p != nil && p.Low >= class.Target; certain != row.Certain {
		c.wrong(at+"/certain", "is %v, and the promise says %v", row.Certain, certain)
	}
	if p == nil {
		if row.Jobs >= 1 {
			c.wrong(at+"/promise", "is missing, though %v jobs run", row.Jobs)
		}
		return
	}
	at += "/promise"
	c.differ(at, tree(marshalled(p)), map[string]any{"target": about(number(class.Target)), "confidence": about(number(class.TargetConfidence())),
		"deadline_s": about(number(class.DeadlineSeconds)), "lending": string(a.Options.Lending), "jobs_until": about(number(class.Jobs.Max))})
	switch {
	case !(p.Factor > 0) || p.Executions <= 0 || p.Missed < 0 || p.Missed > p.Executions:
		c.wrong(at, "speaks of no executions")
		return
	case p.Executions > asked.MaxEvents: // each takes some
		c.wrong(at+"/executions", "are %d, and at most %d events were asked for", p.Executions, asked.MaxEvents)
		return
	case p.Replications < 2 || p.Replications > asked.Replications:
		c.wrong(at+"/replications", "are %d, and at most %d were asked for", p.Replications, asked.Replications)
	case p.Seed == a.Seed:
		c.wrong(at+"/seed", "is that of the executions that the search saw")
	case !(p.JobsFrom > 0) || p.JobsFrom > class.Jobs.Max:
		c.wrong(at+"/jobs_from", "is %v, and the class has at most %v jobs", p.JobsFrom, class.Jobs.Max)
	}
	n, met := p.Executions, p.Executions-p.Missed
	c.differ(at, tree(marshalled(p)), map[string]any{"expected": about(big.NewRat(met, n))})
	share, doubt := float64(met)/float64(n), 1-p.Confidence
	if p.Low < 0 || p.Low > share+hair || met > 0 && p.Low > 0 && atLeast(met, n, p.Low) > doubt+1e-6 {
		c.wrong(at+"/low", "is %v: of %d independent executions %d ending in time do not show it with confidence %v", p.Low, n, met, p.Confidence)
	}
	if p.High > 1 || p.High < share-hair || p.Missed > 0 && p.High < 1 && atLeast(p.Missed, n, 1-p.High) > doubt+1e-6 {
		c.wrong(at+"/high", "is %v: of %d independent executions %d ending in time do not show it with confidence %v", p.High, n, met, p.Confidence)
	}
}

// atLeast is the probability of k or more of n independent events that happen with probability p each. k is no less than
// their mean, from which on the binomial's terms get smaller.
func atLeast(k, n int64, p float64) float64 {
	if p >= 1 {
		return 1
	}
	logFactorial := func(x int64) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	sum := 0.0
	for i := k; i <= n; i++ {
		term := math.Exp(logFactorial(n) - logFactorial(i) - logFactorial(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if sum += term; term < 1e-15 {
			break
		}
	}
	return sum
}
