package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// class is a class of the problem as planning sees it.
type class struct {
	*capacity.Class
	index      int              // in the problem
	demands    *perf.JobDemands // of a profile
	shape      shape
	slotted    bool    // its slots are known: it was given by a profile or a demand
	long       bool    // its gamma is given with more places than are counted exactly
	impossible bool    // no number of slots meets the deadline
	gamma      float64 // VMs one job takes; 0 where impossible
	penalty    float64
	low, high  float64 // jobs that may be admitted; both 0 where impossible
}

// model is a problem made ready for planning: every class has its gamma and supply is tiers.
type model struct {
	*capacity.Problem
	classes  []class        // by name, so that ties fall the same whatever the order of the problem's classes
	tiers    []integer.Tier // in the order they are used; price per VM and period
	source   []int          // contract index of a tier, onDemand for the last
	hours    float64        // in a period
	warnings []capacity.Warning

	known *prepared // of a series: the plan is made in brief

	budgeted  bool // the budget for VMs has cut the tiers
	overspent bool // it does not even pay for the contracts billed always
}

const onDemand = -1

func newModel(p *capacity.Problem) (*model, error) { return newModelFrom(p, nil) }

// newModelFrom is newModel with what is known of like problems, if anything is.
func newModelFrom(p *capacity.Problem, known *prepared) (*model, error) {
	m := &model{Problem: p, known: known, hours: float64(p.PeriodSeconds) / 3600, classes: known.classesOf(len(p.Classes))}
	m.addSupply()
	if p.Budget != nil {
		m.keepWithin(p.Budget)
	}
	var findings []fault.Finding
	total := 0.0
	var demands []perf.JobDemands
	if known == nil {
		demands = make([]perf.JobDemands, 0, len(p.Classes))
	}
	for i, index := range known.orderOf(p.Classes) {
		c := &m.classes[i]
		m.addClass(c, index, &demands)
		if !m.brief() {
			m.warnings = append(m.warnings, promiseWarnings(c, &m.Options)...)
		}
		if need := c.gamma * c.high; need > integer.MostVMs {
			findings = append(findings, tooLarge(c, need))
		}
		total += c.gamma * c.high
	}
	if len(findings) == 0 && total > integer.MostVMs {
		findings = append(findings, fault.Finding{
			Pointer: "/classes", Code: "range",
			Detail: fmt.Sprintf("All classes together need %.3g VMs; a problem may need at most %.0g. Plan parts of it separately.", total, integer.MostVMs),
		})
	}
	if len(findings) > 0 {
		return nil, fault.Refusal(findings, 0)
	}
	return m, nil
}

// byName is the order of the classes by name.
func byName(classes []capacity.Class) []int {
	order := make([]int, len(classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(classes[a].Name, classes[b].Name) })
	return order
}

// tooLarge refuses a class that no cluster could carry, most often one whose deadline leaves
// hardly any time.
func tooLarge(c *class, need float64) fault.Finding {
	f := fault.Finding{
		Pointer: c.pointer("jobs/max"), Code: "range",
		Detail: fmt.Sprintf("Class %q needs %.3g VMs for %g jobs; a problem may need at most %.0g.", c.Name, need, c.high, integer.MostVMs),
	}
	if c.slotted {
		later := math.Ceil(c.shape.work.FixedSeconds + c.shape.slack*need/integer.MostVMs*1.01)
		f.Pointer = c.pointer("deadline_s")
		f.Detail = fmt.Sprintf("The deadline of class %q leaves %.3g s for the work itself, which would need %.3g VMs.", c.Name, c.shape.slack, need)
		f.Hint = &fault.Hint{Detail: fmt.Sprintf("Allow %g s or more.", later), Pointer: f.Pointer, Value: later}
	}
	return f
}

// pointer is the JSON pointer to a member of the class.
func (c *class) pointer(member string) string {
	return "/classes/" + strconv.Itoa(c.index) + "/" + member
}

func (m *model) addSupply() {
	contracts := m.Supply.Contracts
	order := make([]int, len(contracts))
	for i := range order {
		order[i] = i
	}
	price := func(i int) float64 { // at the margin
		if contracts[i].Billing == capacity.BilledAlways {
			return 0
		}
		return contracts[i].Price.Float() * m.hours
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(price(a), price(b)), cmp.Compare(contracts[a].Name, contracts[b].Name))
	})
	for _, i := range order {
		m.tiers = append(m.tiers, integer.Tier{VMs: contracts[i].VMs, Price: price(i)})
		m.source = append(m.source, i)
	}
	rent := integer.Tier{VMs: integer.Unlimited, Price: m.Supply.OnDemand.Price.Float() * m.hours}
	if m.Supply.OnDemand.Quota != nil {
		rent.VMs = *m.Supply.OnDemand.Quota
	}
	at := len(m.tiers) // on-demand comes before dearer contracts and after equally dear ones
	for at > 0 && m.tiers[at-1].Price > rent.Price {
		at--
	}
	m.tiers = slices.Insert(m.tiers, at, rent)
	m.source = slices.Insert(m.source, at, onDemand)
}

func (m *model) addClass(c *class, index int, demands *[]perf.JobDemands) {
	c.Class, c.index = &m.Classes[index], index
	c.low, c.high = c.Jobs.Min, c.Jobs.Max
	known := m.known.class(c.Class, index, &m.Options)
	if known != nil && c.Penalty == known.price {
		c.penalty = known.penalty
	} else {
		c.penalty = c.Penalty.Float()
	}
	var work capacity.Demand
	switch {
	case known != nil:
		work = known.work
		if c.Profile != nil {
			c.demands = &known.demands
		}
	case c.VMsPerJob != nil:
		c.gamma = money.Amount{Decimal: *c.VMsPerJob}.Float()
		c.long = c.VMsPerJob.Exponent() < -integer.MaxGridDigits && !c.VMsPerJob.Equal(c.VMsPerJob.Round(integer.MaxGridDigits))
		return
	case c.Profile != nil:
		c.demands = keep(demands, perf.Demands(*c.Profile))
		work = c.demands.Planned(m.Options.Bound, c.Class)
		if m.Options.Bound == capacity.CalibratedBound && c.Calibration == nil {
			m.warnings = append(m.warnings, words.Uncalibrated(c.Name, c.pointer("calibration")))
		}
		for _, w := range c.demands.Warnings {
			w.Pointer = c.pointer("profile") + w.Pointer
			m.warnings = append(m.warnings, w)
		}
	default:
		work = *c.Demand
	}
	c.slotted = true
	possible, same := false, known != nil && known.same(c.Class)
	if same {
		c.shape, possible = known.shape, known.possible
	} else {
		c.shape, possible = newShape(c.Class, work, m.Options.OneSlotPerJob)
	}
	if !possible {
		c.impossible = true
		c.high = 0
		if c.low > 0 { // reported as a conflict; nothing of it is planned
			c.low = 0
		}
		return
	}
	if same {
		c.gamma = known.gamma
	} else {
		c.gamma = c.shape.gamma()
	}
}

// rounded says that the gammas of loads are computed, or given with more places than are counted exactly. Where slots
// are whole (exact), only classes without slots have a load of their own gamma.
func (m *model) rounded(exact bool) bool {
	for i := range m.classes {
		if c := &m.classes[i]; c.long || c.slotted && !exact {
			return true
		}
	}
	return false
}

// lack returns the excess over so many VMs that a sum of loads may have, with whole slots if exact.
func (m *model) lack(vms float64, exact bool) float64 {
	switch {
	case m.Options.Integrality == capacity.Relaxed:
		return realNoise(vms) / 2
	case m.rounded(exact):
		return integer.LoadSlack
	}
	return sumNoise * vms
}

// sumNoise is the relative float error of a sum of loads that are exact.
const sumNoise = 1e-15

// instance is the paper's integer program of the model.
func (m *model) instance() integer.Instance {
	n := len(m.classes)
	in := integer.Instance{
		Gamma: make([]float64, n), Penalty: make([]float64, n), Low: make([]int64, n), High: make([]int64, n), Supply: m.tiers,
		Rounded: m.rounded(false),
	}
	for i := range m.classes {
		c := &m.classes[i]
		in.Gamma[i], in.Penalty[i], in.Low[i], in.High[i] = c.gamma, c.penalty, int64(c.low), int64(c.high)
	}
	return in
}
