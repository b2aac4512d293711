package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// A change is a change to a problem that does not make its plan worse.
type change struct {
	name string
	// of answers the changed problem; false where it does not apply. Its objective must be the old one
	// times factor where equal is set, and at most that otherwise.
	of    func(r *rand.Rand, p *capacity.Problem) (factor float64, ok bool)
	equal bool
}

var changes = []change{
	{"other order", reorder, true},
	{"other unit of money", otherUnit, true},
	{"more VMs in a contract", moreContract, false},
	{"more jobs wanted or fewer promised", widerBounds, false},
	{"later deadline", laterDeadline, false},
	{"larger quota", largerQuota, false},
}

func reorder(r *rand.Rand, p *capacity.Problem) (float64, bool) {
	r.Shuffle(len(p.Classes), func(i, j int) { p.Classes[i], p.Classes[j] = p.Classes[j], p.Classes[i] })
	k := p.Supply.Contracts
	r.Shuffle(len(k), func(i, j int) { k[i], k[j] = k[j], k[i] })
	return 1, len(p.Classes) > 1
}

func otherUnit(r *rand.Rand, p *capacity.Problem) (float64, bool) {
	unit := []decimal.Decimal{decimal.New(1, 2), decimal.New(7, 0), decimal.New(1, -2), decimal.New(15624, -4), decimal.New(4, 0)}[r.IntN(5)]
	scale := func(m *money.Amount) { m.Decimal = m.Mul(unit) }
	scale(&p.Supply.OnDemand.Price)
	for k := range p.Supply.Contracts {
		scale(&p.Supply.Contracts[k].Price)
	}
	for i := range p.Classes {
		scale(&p.Classes[i].Penalty)
	}
	return unit.InexactFloat64(), p.Validate() == nil // more than nine places are refused
}

// moreContract enlarges contracts that are billed when used: those billed always cost more.
func moreContract(r *rand.Rand, p *capacity.Problem) (float64, bool) {
	for _, k := range r.Perm(len(p.Supply.Contracts)) {
		if c := &p.Supply.Contracts[k]; c.Billing == capacity.BilledUsed {
			c.VMs += 1 + r.Int64N(10)
			return 1, true
		}
	}
	return 1, false
}

func widerBounds(r *rand.Rand, p *capacity.Problem) (float64, bool) {
	jobs := &p.Classes[r.IntN(len(p.Classes))].Jobs
	if r.IntN(2) == 0 && jobs.Min > 0 {
		jobs.Min = max(0, jobs.Min-float64(1+r.IntN(3)))
	} else {
		jobs.Max += float64(1 + r.IntN(3))
	}
	return 1, true
}

func laterDeadline(r *rand.Rand, p *capacity.Problem) (float64, bool) {
	for _, i := range r.Perm(len(p.Classes)) {
		if c := &p.Classes[i]; c.VMsPerJob == nil {
			c.DeadlineSeconds *= 1 + r.Float64()*r.Float64()
			return 1, true
		}
	}
	return 1, false
}

func largerQuota(r *rand.Rand, p *capacity.Problem) (float64, bool) {
	if p.Supply.OnDemand.Quota == nil {
		return 1, false
	}
	quota := *p.Supply.OnDemand.Quota + 1 + r.Int64N(5)
	p.Supply.OnDemand.Quota = &quota
	return 1, true
}

// drawAny is a drawn problem, one of the small coincidental ones, or one of a family with the profiles
// of the paper's Table 2.
func drawAny(t *testing.T, r *rand.Rand, integrality capacity.Integrality) capacity.Problem {
	t.Helper()
	var p capacity.Problem
	switch r.IntN(4) {
	case 0:
		p = study.Small(r.Uint64()).Problem()
	case 1:
		in, err := study.Generate([]string{"table2", "mixed", "hard"}[r.IntN(3)], 1+r.IntN(12), r.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		if p, err = in.Profiled(); err != nil {
			t.Fatal(err)
		}
	default:
		p = plantest.DrawProblem(t, r, 1+r.IntN(8), integrality)
	}
	p.Options.Integrality, p.Options.Engine, p.Options.Gap = integrality, capacity.EngineExact, 1e-9
	if integrality != capacity.Relaxed && r.IntN(5) == 0 {
		p.Options.Sharing = capacity.Dedicated
	}
	return p
}

func TestChangesThatCannotHurt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	type tally struct{ pairs, better, unproved int }
	seen := map[string]*tally{}
	for trial := range plantest.Trials(300, 30_000) {
		integrality := []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable}[trial%3]
		p := drawAny(t, r, integrality)
		before := solved(t, p)
		for _, c := range changes {
			q := plantest.Copied(p)
			factor, ok := c.of(r, &q)
			if !ok {
				continue
			}
			name := fmt.Sprintf("%s, %s", c.name, integrality)
			if seen[name] == nil {
				seen[name] = new(tally)
			}
			seen[name].pairs++
			after := solved(t, q)
			if before.Status == capacity.InfeasibleStatus {
				if c.equal && after.Status != before.Status {
					t.Fatalf("trial %d, %s: infeasible, then %s", trial, name, after.Status)
				}
				continue
			}
			if after.Status == capacity.InfeasibleStatus {
				t.Fatalf("trial %d, %s: %s, then infeasible: %v", trial, name, before.Status, after.Conflicts)
			}
			was, is := before.Objective.Float()*factor, after.Objective.Float()
			// Either answer may be as far from its optimum as it says itself, and is rounded to money.
			tolerance := 1e-8*max(math.Abs(was), factor, 1) + before.Proof.Gap*math.Abs(was) + after.Proof.Gap*math.Abs(is)
			if before.Status != capacity.Optimal || after.Status != capacity.Optimal {
				seen[name].unproved++
			}
			if is > was+tolerance || c.equal && is < was-tolerance {
				t.Fatalf("trial %d, %s (%s): objective %.9f, then %.9f (gaps %g and %g)\n%s\nthen\n%s", trial, name, p.Options.Sharing,
					was, is, before.Proof.Gap, after.Proof.Gap, described(p, before), described(q, after))
			}
			if is < was-tolerance {
				seen[name].better++
			}
		}
	}
	pairs := 0
	for _, c := range changes {
		for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
			name := fmt.Sprintf("%s, %s", c.name, integrality)
			n := seen[name]
			pairs += n.pairs
			t.Logf("%s: %d pairs, %d better, %d unproved", name, n.pairs, n.better, n.unproved)
			if n.pairs < plantest.Trials(15, 50) || !c.equal && n.better < plantest.Trials(2, 5) || n.unproved*100 > n.pairs {
				t.Errorf("%s: too few pairs, too few better, or too many unproved", name)
			}
		}
	}
	t.Attr("R7", fmt.Sprintf("0 of %d pairs worse", pairs))
}

// described is a problem and its plan for a failure's message.
func described(p capacity.Problem, pl capacity.Plan) string {
	text := fmt.Sprintf("supply %+v\n", p.Supply)
	if p.Supply.OnDemand.Quota != nil {
		text += fmt.Sprintf("quota %d\n", *p.Supply.OnDemand.Quota)
	}
	for i, c := range p.Classes {
		text += fmt.Sprintf("%s jobs %v penalty %s deadline %.17g slots per VM %v gamma %.17g: %g jobs, slots %v\n",
			c.Name, c.Jobs, c.Penalty, c.DeadlineSeconds, c.SlotsPerVM, pl.Classes[i].VMsPerJob, pl.Classes[i].Admitted, pl.Classes[i].Slots)
		if c.Demand != nil {
			text += fmt.Sprintf("    demand %.17g %.17g %.17g\n", c.Demand.MapWorkSeconds, c.Demand.ReduceWorkSeconds, c.Demand.FixedSeconds)
		}
	}
	return text + fmt.Sprintf("VMs %+v", pl.VMs)
}

// The order of classes and contracts, and a unit of money that float64 scales without rounding, change
// nothing in the relaxation, which breaks ties by name.
func TestOrderAndUnitChangeNoRelaxedJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for trial := range plantest.Trials(600, 12_000) {
		p := drawAny(t, r, capacity.Relaxed)
		q := plantest.Copied(p)
		reorder(r, &q)
		four := decimal.New(4, 0)
		q.Supply.OnDemand.Price.Decimal = q.Supply.OnDemand.Price.Mul(four)
		for k := range q.Supply.Contracts {
			q.Supply.Contracts[k].Price.Decimal = q.Supply.Contracts[k].Price.Mul(four)
		}
		for i := range q.Classes {
			q.Classes[i].Penalty.Decimal = q.Classes[i].Penalty.Mul(four)
		}
		before, after := solved(t, p), solved(t, q)
		if before.Status != after.Status || !plantest.Near(before.VMs.Total, after.VMs.Total, 1e-9) {
			t.Fatalf("trial %d: %s on %g VMs, then %s on %g\n%s\nthen\n%s", trial,
				before.Status, before.VMs.Total, after.Status, after.VMs.Total, described(p, before), described(q, after))
		}
		jobs := map[string]float64{}
		for _, c := range before.Classes {
			jobs[c.Name] = c.Admitted
		}
		for _, c := range after.Classes {
			if !plantest.Near(c.Admitted, jobs[c.Name], 1e-9) {
				t.Fatalf("trial %d: %s gets %g jobs, then %g\n%s\nthen\n%s", trial, c.Name, jobs[c.Name], c.Admitted,
					described(p, before), described(q, after))
			}
		}
	}
}
