// Package study holds the seeded families of problems that Headroom is tested and measured with. These are the
// paper's own experiment, variations of it that give admission a real choice, and families that are hard for knapsack
// solvers. A family, a size and a seed name the same instance for ever.
//
// It also holds the papers' experiments with their published results; the caller provides the planner, the solver and
// the clock.
package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
)

// Instance is P2 in plain numbers. Prices are per VM-hour and the period is an hour, so every amount is in the same
// unit. The paper's cents are read unchanged as the problem's currency.
type Instance struct {
	Family  string
	Seed    uint64
	Gamma   []float64 // VMs one job takes
	Penalty []float64 // per refused job
	Low     []int64   // promised jobs
	High    []int64   // wanted jobs
	Supply  []Tier    // contracts in order of signing, then on-demand
}

// Tier is a number of VMs at one price.
type Tier struct {
	VMs   int64
	Price float64
}

// Unlimited is the size of a tier that never runs out.
const Unlimited = int64(1) << 52

// MostClasses is the largest instance Generate makes: about a gigabyte.
const MostClasses = 10_000_000

// reservedShare is the reserved part of the VMs for the whole demand.
const reservedShare = 0.5

// promisedShare is the promised part of a class's jobs, in families with promises. The slack keeps 0.9·10 from
// becoming 10 (E12).
const promisedShare, promisedSlack = 0.9, 1e-9

func Promised(jobs int64) int64 {
	return int64(math.Ceil(promisedShare*float64(jobs) - promisedSlack))
}

// Generate draws the instance of a family with this many classes.
func Generate(name string, classes int, seed uint64) (Instance, error) {
	f, err := familyNamed(name)
	if err != nil {
		return Instance{}, err
	}
	if classes < 1 || classes > MostClasses {
		return Instance{}, fmt.Errorf("an instance has 1 to %d classes, not %d: %w", MostClasses, classes, fault.Invalid)
	}
	s := &Stream{State: seed}
	m := DrawMarket(s)
	in := Instance{
		Family: name, Seed: seed,
		Gamma: make([]float64, classes), Penalty: make([]float64, classes),
		Low: make([]int64, classes), High: make([]int64, classes),
	}
	demand := 0.0
	for i := range classes {
		drawn := DrawClass(s, UsualAverages)
		in.Gamma[i], in.Penalty[i] = f.class(m, drawn, i)
		in.High[i] = drawn.High
		if f.single {
			in.High[i] = 1
		}
		if f.promised {
			in.Low[i] = Promised(drawn.High)
		}
		demand += float64(in.Gamma[i] * float64(in.High[i]))
	}
	reserved := int64(math.Floor(reservedShare * demand))
	if f.odd {
		reserved |= 1
	}
	in.Supply = []Tier{{VMs: reserved, Price: m.reserved}, {VMs: Unlimited, Price: m.OnDemand}}
	return in, nil
}

// DrawMarket draws the two prices. The on-demand price is drawn again until it is the higher one:
// the paper's ranges overlap (E12).
func DrawMarket(s *Stream) market {
	m := market{reserved: Places(s.Between(5, 20), pricePlaces)}
	for m.OnDemand <= m.reserved {
		m.OnDemand = Places(s.Between(5, 40), pricePlaces)
	}
	m.middle = Places((m.reserved+m.OnDemand)/2, pricePlaces)
	return m
}

// Problem states the instance with given gammas, as the paper's integer program. Every figure is the decimal that the
// instance's float64 stands for.
func (in Instance) Problem() capacity.Problem {
	p := capacity.Problem{
		Currency: "USD", PeriodSeconds: 3600,
		Supply:  in.supply(),
		Classes: make([]capacity.Class, len(in.Gamma)),
		Options: capacity.DefaultOptions(),
	}
	p.Options.Integrality = capacity.Integer
	for i := range in.Gamma {
		gamma := decimal.NewFromFloat(in.Gamma[i])
		p.Classes[i] = in.class(i)
		p.Classes[i].VMsPerJob = &gamma
	}
	return p
}

// Profiled states the same instance with full profiles and deadlines instead of gammas. Only
// families whose gammas are those of drawn profiles can: table2, mixed and hard.
func (in Instance) Profiled() (capacity.Problem, error) {
	f, err := familyNamed(in.Family)
	if err != nil {
		return capacity.Problem{}, err
	}
	if !f.profiled {
		return capacity.Problem{}, fmt.Errorf("family %s has no profiles behind its gammas; table2, mixed and hard have: %w",
			in.Family, fault.Invalid)
	}
	p := in.Problem()
	s := &Stream{State: in.Seed}
	DrawMarket(s)
	for i := range p.Classes {
		drawn := DrawClass(s, UsualAverages)
		c := &p.Classes[i]
		c.VMsPerJob = nil
		c.Profile = &drawn.Profile
		c.DeadlineSeconds = drawn.Deadline
		c.SlotsPerVM = drawn.Slots
	}
	return p, nil
}

func (in Instance) class(i int) capacity.Class {
	width := len(fmt.Sprint(len(in.Gamma)))
	return capacity.Class{
		Name:    fmt.Sprintf("class-%0*d", width, i+1),
		Jobs:    capacity.JobRange{Min: float64(in.Low[i]), Max: float64(in.High[i])},
		Penalty: AmountOf(in.Penalty[i]),
	}
}

func (in Instance) supply() capacity.Supply {
	last := len(in.Supply) - 1
	s := capacity.Supply{OnDemand: capacity.OnDemand{Price: AmountOf(in.Supply[last].Price)}}
	if quota := in.Supply[last].VMs; quota != Unlimited {
		s.OnDemand.Quota = &quota
	}
	for i, t := range in.Supply[:last] {
		s.Contracts = append(s.Contracts, capacity.Contract{
			Name: fmt.Sprintf("contract-%d", i+1), VMs: t.VMs, Price: AmountOf(t.Price), Billing: capacity.BilledUsed,
		})
	}
	return s
}

func AmountOf(x float64) money.Amount { return money.Amount{Decimal: decimal.NewFromFloat(x)} }

// Objective returns the cost of the VMs for these jobs of each class, minus the penalties avoided (paper P2). Every
// VM is taken from the cheapest tier that has one left. It is infinite if the tiers do not suffice. Sums are
// compensated, and a load that exceeds a whole number of VMs by less than loadNoise counts as that number.
func (in Instance) Objective(jobs []int64) float64 {
	var load, avoided money.Sum
	for i, h := range jobs {
		load.Add(in.Gamma[i] * float64(h))
		avoided.Add(in.Penalty[i] * float64(h))
	}
	need := int64(math.Ceil(load.Value() - LoadNoise))
	tiers := slices.Clone(in.Supply)
	slices.SortFunc(tiers, func(a, b Tier) int { return cmp.Compare(a.Price, b.Price) })
	var cost money.Sum
	for _, t := range tiers {
		taken := min(need, t.VMs)
		cost.Add(t.Price * float64(taken))
		need -= taken
	}
	if need > 0 {
		return math.Inf(1)
	}
	cost.Add(-avoided.Value())
	return cost.Value()
}

// Program returns the instance as a mixed-integer program: its tiers first, then its classes.
func (in Instance) Program() *lp.Program {
	var p lp.Program
	load := p.Row(math.Inf(-1), 0)
	for _, t := range in.Supply {
		highest := math.Inf(1)
		if t.VMs != Unlimited {
			highest = float64(t.VMs)
		}
		p.Column(t.Price, 0, highest, true, lp.Entry{Row: load, Coefficient: -1})
	}
	for i := range in.Gamma {
		p.Column(-in.Penalty[i], float64(in.Low[i]), float64(in.High[i]), true, lp.Entry{Row: load, Coefficient: in.Gamma[i]})
	}
	return &p
}

// LoadNoise is in VMs: the float64 rounding error of decimals in the loads of a million classes.
const LoadNoise = 1e-7
