package proof

import (
	"math"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// This file is a planner for tests: brute force over all jobs of a few small classes, in plain floating point and
// without the package under test, so that a right plan comes from outside.

// kind holds the planner's figures of a class.
type kind struct {
	in        *capacity.Class
	coef      [4][3]float64 // lower, average, upper, calibrated: A, B, C
	plan      [3]float64
	slack     float64
	gamma     float64
	possible  bool
	hasReduce bool
}

func kindOf(in *capacity.Class, o capacity.Options) kind {
	k := kind{in: in, possible: true}
	if in.VMsPerJob != nil {
		k.gamma = in.VMsPerJob.InexactFloat64()
		return k
	}
	if p := in.Profile; p != nil {
		w, l := float64(p.MapTasks)*p.MapAvgSeconds, 2*p.MapMaxSeconds
		var v, n, low, first float64
		if p.ReduceTasks > 0 {
			v, n = float64(p.ReduceTasks)*(p.ShuffleAvgSeconds+p.ReduceAvgSeconds), 2*(p.ShuffleMaxSeconds+p.ReduceMaxSeconds)
			low, first = p.FirstShuffleAvgSeconds-p.ShuffleAvgSeconds, p.FirstShuffleMaxSeconds
		}
		o := p.OverheadSeconds
		k.coef[0] = [3]float64{w, v, low + o}
		k.coef[2] = [3]float64{math.Max(0, w-l), math.Max(0, v-n), math.Min(w, l) + math.Min(v, n) + first + o}
		for i := range 3 {
			k.coef[1][i] = (k.coef[0][i] + k.coef[2][i]) / 2
		}
		k.hasReduce = p.ReduceTasks > 0
		if p.Stages != nil {
			k.coef = chainCoefficients(p)
		}
	} else {
		d := in.Demand
		k.coef[1] = [3]float64{d.MapWorkSeconds, d.ReduceWorkSeconds, d.FixedSeconds}
		k.hasReduce = d.ReduceWorkSeconds > 0
	}
	k.plan = k.coef[1]
	if in.Profile != nil {
		number := map[capacity.Bound]int{capacity.LowerBound: 0, capacity.AverageBound: 1, capacity.UpperBound: 2, capacity.CalibratedBound: 1}
		if c := in.Calibration; c != nil {
			for i, x := range k.coef[number[c.Bound]] {
				k.coef[3][i] = x * c.Factor
			}
			number[capacity.CalibratedBound] = 3
		}
		k.plan = k.coef[number[o.Bound]]
	}
	k.slack = in.DeadlineSeconds - k.plan[2]
	if k.possible = k.slack > 0; k.possible {
		x, y := k.perJob(o)
		k.gamma = x/float64(in.SlotsPerVM.Map) + y/float64(in.SlotsPerVM.Reduce)
	}
	return k
}

// chainCoefficients returns the coefficients of a chain, stage by stage from the slope and the start of its bound.
func chainCoefficients(p *capacity.Profile) (coef [4][3]float64) {
	for _, s := range p.Stages {
		on := func(slots float64) float64 { // the upper bound of the stage alone, clamped
			w := float64(s.Tasks) * s.AvgSeconds
			return math.Min(w, (w-2*s.MaxSeconds)/slots+2*s.MaxSeconds)
		}
		coef[0][0] += float64(s.Tasks) * s.AvgSeconds
		coef[2][0] += 2 * (on(1) - on(2)) // T(1) - T(2) is half of the shrinking part
		coef[2][2] += 2*on(2) - on(1)
	}
	coef[0][2], coef[2][2] = p.OverheadSeconds, coef[2][2]+p.OverheadSeconds
	for i := range 3 {
		coef[1][i] = (coef[0][i] + coef[2][i]) / 2
	}
	return coef
}

// perJob returns the fractional slots of one job.
func (k kind) perJob(o capacity.Options) (x, y float64) {
	a, b, m, r := k.plan[0], k.plan[1], float64(k.in.SlotsPerVM.Map), float64(k.in.SlotsPerVM.Reduce)
	x, y = (a+math.Sqrt(a*b*m/r))/k.slack, (b+math.Sqrt(a*b*r/m))/k.slack
	if !o.OneSlotPerJob {
		return x, y
	}
	lowest := 0.0
	if k.hasReduce {
		lowest = 1
	}
	if x < 1 {
		return 1, math.Max(lowest, b/(k.slack-a))
	}
	if y < lowest {
		return math.Max(1, a/(k.slack-b)), lowest
	}
	return x, y
}

// wholeSlots tries every number of map slots that could be worth it.
func (k kind) wholeSlots(h int64, o capacity.Options) (maps, reduces int64, size float64) {
	if h == 0 {
		return 0, 0, 0
	}
	minMap, minReduce := int64(1), int64(0)
	if k.hasReduce {
		minReduce = 1
	}
	if o.OneSlotPerJob {
		minMap *= h
		minReduce *= h
	}
	a, b := k.plan[0]*float64(h)/k.slack, k.plan[1]*float64(h)/k.slack
	size = math.Inf(1)
	for s := max(minMap, int64(math.Ceil(a))); float64(s)/float64(k.in.SlotsPerVM.Map) < size; s++ {
		if b > 0 && float64(s) <= a*(1+1e-12) {
			continue
		}
		r := minReduce
		if b > 0 {
			r = max(r, int64(math.Ceil(b*float64(s)/(float64(s)-a)-1e-9)))
		}
		if w := float64(s)/float64(k.in.SlotsPerVM.Map) + float64(r)/float64(k.in.SlotsPerVM.Reduce); w < size-1e-9 {
			maps, reduces, size = s, r, w
		}
	}
	return maps, reduces, size
}

// planner enumerates.
type planner struct {
	p     capacity.Problem
	kinds []kind
	order []int // sources by price at the margin; len(contracts) is on-demand
	best  []int64
	cost  float64
	vms   int64
}

func planFor(t testing.TB, p capacity.Problem) capacity.Plan {
	t.Helper()
	pl, ok := tryPlan(p)
	if !ok {
		t.Fatalf("the test's planner finds no plan for %+v", p)
	}
	return pl
}

func tryPlan(p capacity.Problem) (capacity.Plan, bool) {
	b := &planner{p: p, cost: math.Inf(1)}
	for i := range p.Classes {
		b.kinds = append(b.kinds, kindOf(&p.Classes[i], p.Options))
	}
	for k := range len(p.Supply.Contracts) + 1 {
		b.order = append(b.order, k)
	}
	slices.SortStableFunc(b.order, func(x, y int) int { return int(math.Copysign(1, b.price(x)-b.price(y)-1e-15)) })
	if p.Options.Integrality == capacity.Relaxed {
		return b.relaxedPlan()
	}
	b.enumerate(0, 0, 0, nil)
	if math.IsInf(b.cost, 1) {
		return capacity.Plan{}, false
	}
	jobs := make([]float64, len(b.best))
	for i, h := range b.best {
		jobs[i] = float64(h)
	}
	return b.fill(jobs, float64(b.vms)), true
}

// price returns a source's price at the margin, an hour.
func (b *planner) price(k int) float64 {
	c := b.p.Supply.Contracts
	switch {
	case k == len(c):
		return b.p.Supply.OnDemand.Price.Float()
	case c[k].Billing == capacity.BilledAlways:
		return 0
	}
	return c[k].Price.Float()
}

func (b *planner) count(k int) float64 {
	if k < len(b.p.Supply.Contracts) {
		return float64(b.p.Supply.Contracts[k].VMs)
	}
	if q := b.p.Supply.OnDemand.Quota; q != nil {
		return float64(*q)
	}
	return math.Inf(1)
}

func (b *planner) rent(n float64) (cost float64, taken []float64) {
	taken = make([]float64, len(b.order))
	for _, k := range b.order {
		taken[k] = math.Min(n, b.count(k))
		cost += taken[k] * b.price(k) * float64(b.p.PeriodSeconds) / 3600
		n -= taken[k]
	}
	if n > 1e-9 {
		return math.Inf(1), taken
	}
	return cost, taken
}

func (b *planner) need(k kind, h int64) float64 {
	w := k.gamma * float64(h)
	if b.p.Options.Integrality == capacity.Executable && k.in.VMsPerJob == nil {
		_, _, w = k.wholeSlots(h, b.p.Options)
	}
	if b.p.Options.Sharing == capacity.Dedicated {
		w = math.Ceil(w - 1e-9)
	}
	return w
}

func (b *planner) enumerate(i int, load, avoided float64, jobs []int64) {
	if i == len(b.kinds) {
		n := math.Ceil(load - 1e-9)
		cost, _ := b.rent(n)
		if cost -= avoided; cost < b.cost-1e-9 {
			b.cost, b.vms, b.best = cost, int64(n), slices.Clone(jobs)
		}
		return
	}
	k := b.kinds[i]
	for h := int64(k.in.Jobs.Min); h <= int64(k.in.Jobs.Max); h++ {
		if h > 0 && !k.possible {
			return
		}
		b.enumerate(i+1, load+b.need(k, h), avoided+k.in.Penalty.Float()*float64(h), append(jobs, h))
	}
}

// dual returns the linear program's bound at a price of capacity.
func (b *planner) dual(nu float64) float64 {
	sum := 0.0
	for _, k := range b.kinds {
		h := k.in.Jobs.Min
		if k.possible && nu*k.gamma < k.in.Penalty.Float() {
			h = k.in.Jobs.Max
		}
		sum += (nu*k.gamma - k.in.Penalty.Float()) * h
	}
	for _, s := range b.order {
		if price := b.perPeriod(s); price < nu {
			sum -= (nu - price) * b.count(s)
		}
	}
	return sum
}

func (b *planner) perPeriod(k int) float64 { return b.price(k) * float64(b.p.PeriodSeconds) / 3600 }

// relaxation solves the linear program by its dual, which has its kinks at the prices and the penalties a VM.
func (b *planner) relaxation() (jobs []float64, load, low, high, objective float64) {
	kinks := []float64{0}
	for _, s := range b.order {
		kinks = append(kinks, b.perPeriod(s))
	}
	for _, k := range b.kinds {
		if k.gamma > 0 {
			kinks = append(kinks, k.in.Penalty.Float()/k.gamma)
		}
	}
	slices.Sort(kinks)
	best := math.Inf(-1)
	for _, nu := range kinks {
		if v := b.dual(nu); v > best+1e-9*(1+math.Abs(v)) {
			best, low, high = v, nu, nu
		} else if v > best-1e-9*(1+math.Abs(v)) {
			high = nu
		}
	}
	if v := b.dual(2*high + 1); v > best-1e-9*(1+math.Abs(v)) {
		high = math.Inf(1)
	}
	if high-low < 1e-9*low {
		high = low // penalties a VM that tie, up to rounding
	}
	room := 0.0 // of the sources cheaper than the price
	for _, s := range b.order {
		if b.perPeriod(s) < high {
			room += b.count(s)
		}
	}
	var tied []int // classes at the price
	for i, k := range b.kinds {
		h, worth := k.in.Jobs.Min, k.in.Penalty.Float()/k.gamma
		if k.possible && worth > low*(1+1e-9) {
			h = k.in.Jobs.Max
		} else if k.possible && math.Abs(worth-low) <= 1e-9*low && low == high {
			tied = append(tied, i)
		}
		jobs = append(jobs, h)
		load += h * k.gamma
	}
	for _, i := range tied { // they take the rest of the cheaper sources
		k := b.kinds[i]
		more := math.Max(0, math.Min(k.in.Jobs.Max-k.in.Jobs.Min, (room-load)/k.gamma))
		jobs[i] += more
		load += more * k.gamma
	}
	return jobs, load, low, high, best + b.idleAlways()
}

func (b *planner) idleAlways() float64 {
	sum := 0.0
	for _, c := range b.p.Supply.Contracts {
		if c.Billing == capacity.BilledAlways {
			sum += c.Price.Float() * float64(c.VMs) * float64(b.p.PeriodSeconds) / 3600
		}
	}
	return sum
}

func (b *planner) relaxedPlan() (capacity.Plan, bool) {
	if slices.ContainsFunc(b.kinds, func(k kind) bool { return !k.possible && k.in.Jobs.Min > 0 }) {
		return capacity.Plan{}, false
	}
	jobs, load, _, _, _ := b.relaxation()
	if cost, _ := b.rent(load); math.IsInf(cost, 1) {
		return capacity.Plan{}, false
	}
	return b.fill(jobs, load), true
}

func dec(f float64) decimal.Decimal { return decimal.NewFromFloat(f) }

// fill writes the plan for these jobs and VMs.
func (b *planner) fill(jobs []float64, vms float64) capacity.Plan {
	p, pl := b.p, b.fillCounts(jobs, vms)
	c := &pl.Cost
	c.Currency, c.PeriodSeconds = p.Currency, p.PeriodSeconds
	rented := c.OnDemand.Add(c.Reserved.Decimal).Add(c.ReservedIdle.Decimal)
	c.Bill.Decimal, c.Total.Decimal = rented, rented.Add(c.Penalties.Decimal)
	pl.Objective.Decimal = pl.Objective.Add(rented)
	c.PerHour.Decimal = c.Total.Div(decimal.NewFromInt(p.PeriodSeconds).Div(decimal.NewFromInt(3600)))
	c.PerMonth.Decimal = c.PerHour.Mul(decimal.NewFromInt(730))
	pl.Proof = &capacity.Proof{Bound: pl.Objective, Method: "core", Checked: true}
	switch p.Options.Integrality {
	case capacity.Executable:
		pl.Layout = layOut(p, pl)
	case capacity.Relaxed:
		pl.Proof.Method = "lp"
	}
	b.fillPrices(&pl)
	return pl
}

// fillCounts writes everything but the sums.
func (b *planner) fillCounts(jobs []float64, vms float64) capacity.Plan {
	p := b.p
	pl := capacity.Plan{Status: capacity.Optimal, Warnings: []capacity.Warning{}, Conflicts: []fault.Finding{}}
	_, taken := b.rent(vms)
	hours := decimal.NewFromInt(p.PeriodSeconds).Div(decimal.NewFromInt(3600))
	od := len(p.Supply.Contracts)
	pl.VMs.Total, pl.VMs.OnDemand = vms, taken[od]
	pl.Cost.OnDemand = money.Amount{Decimal: p.Supply.OnDemand.Price.Mul(dec(taken[od])).Mul(hours)}
	for i, c := range p.Supply.Contracts {
		pl.VMs.Contracts = append(pl.VMs.Contracts, capacity.ContractUse{Name: c.Name, VMs: float64(c.VMs), Used: taken[i]})
		pl.VMs.Reserved += taken[i]
		pl.Cost.Reserved.Decimal = pl.Cost.Reserved.Add(c.Price.Mul(dec(taken[i])).Mul(hours))
		if c.Billing == capacity.BilledAlways {
			pl.Cost.ReservedIdle.Decimal = pl.Cost.ReservedIdle.Add(c.Price.Mul(dec(float64(c.VMs) - taken[i])).Mul(hours))
		}
	}
	pl.VMs.Rounding = vms
	for i, k := range b.kinds {
		c := b.fillClass(k, jobs[i])
		pl.Classes = append(pl.Classes, c)
		pl.VMs.Rounding -= c.VMs
		pl.Cost.Penalties.Decimal = pl.Cost.Penalties.Add(k.in.Penalty.Mul(dec(c.Refused)))
		pl.Objective.Decimal = pl.Objective.Sub(k.in.Penalty.Mul(dec(jobs[i])))
	}
	return pl
}

func (b *planner) fillPrices(pl *capacity.Plan) {
	jobs, load, low, high, objective := b.relaxation()
	pl.Relaxed = &capacity.RelaxedPlan{Objective: money.Round(objective), Capacity: load, Jobs: jobs}
	pl.Prices = &capacity.Prices{Capacity: capacity.CapacityPrice{Low: money.Round(low)}}
	if !math.IsInf(high, 1) {
		m := money.Round(high)
		pl.Prices.Capacity.High = &m
	}
	for i, k := range b.kinds {
		if c := &pl.Classes[i]; k.possible && !math.IsInf(high, 1) {
			c.BreakEvenPenalty = new(money.Round(high * k.gamma))
		}
		pl.Classes[i].Flips = b.flips(i, jobs[i])
	}
	if budget := b.p.Budget; budget != nil && budget.VMCost != nil {
		pl.Prices.Budget = new(money.Round(0))
	}
	for _, c := range b.p.Supply.Contracts {
		worth := low - c.Price.Float()*float64(b.p.PeriodSeconds)/3600
		if c.Billing != capacity.BilledAlways {
			worth = math.Max(0, worth)
		}
		pl.Prices.Contracts = append(pl.Prices.Contracts, capacity.ContractWorth{Name: c.Name, Worth: money.Round(worth)})
	}
}

func (b *planner) fillClass(k kind, jobs float64) capacity.ClassPlan {
	c := capacity.ClassPlan{Name: k.in.Name, Admitted: jobs, Refused: k.in.Jobs.Max - jobs, VMsPerJob: k.gamma, VMs: k.gamma * jobs}
	switch {
	case !k.possible:
		c.Verdict = capacity.VerdictImpossible
	case c.Refused == 0:
		c.Verdict = capacity.VerdictFull
	case jobs == 0:
		c.Verdict = capacity.VerdictNone
	case jobs == k.in.Jobs.Min:
		c.Verdict = capacity.VerdictMinimum
	default:
		c.Verdict = capacity.VerdictPartial
	}
	if k.in.VMsPerJob != nil {
		return c
	}
	c.Slots = &capacity.Slots{}
	if jobs == 0 {
		return c
	}
	if b.p.Options.Integrality == capacity.Executable {
		maps, reduces, size := k.wholeSlots(int64(jobs), b.p.Options)
		*c.Slots, c.VMs = capacity.Slots{Map: float64(maps), Reduce: float64(reduces)}, size
	} else {
		x, y := k.perJob(b.p.Options)
		*c.Slots = capacity.Slots{Map: x * jobs, Reduce: y * jobs}
	}
	time := func(d [3]float64) *float64 {
		t := d[2]
		if d[0] > 0 {
			t += d[0] * jobs / c.Slots.Map
		}
		if d[1] > 0 {
			t += d[1] * jobs / c.Slots.Reduce
		}
		if math.IsInf(t, 1) {
			return nil
		}
		return &t
	}
	c.Time = &capacity.Times{Average: time(k.coef[1])}
	if k.in.Profile != nil {
		c.Time.Lower, c.Time.Upper = time(k.coef[0]), time(k.coef[2])
		if k.in.Calibration != nil {
			c.Time.Calibrated = time(k.coef[3])
		}
	}
	return c
}
