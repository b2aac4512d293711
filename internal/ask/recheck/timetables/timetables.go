// Package timetables checks schedules again, and that a plan follows one, by code of its own.
package timetables

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/proof/supply"
)

// Check checks a schedule against its question: it pairs starts with arrivals, adds the hours up, and finds the bound of the
// prices itself. An empty result means that it is right.
func Check(q timetable.Question, a timetable.Answer) []fault.Finding {
	s := &scheduled{question: &q, answer: &a, hours: int(q.End().Sub(q.Start()) / time.Hour)}
	if s.prepare(); len(s.findings) == 0 {
		s.check()
	}
	return s.findings
}

// ErrWrong says that a schedule does not pass its check.
var ErrWrong = errors.New("the schedule is wrong")

// Fault returns an error for a schedule that is wrong.
func Fault(q timetable.Question, a *timetable.Answer) error {
	found := Check(q, *a)
	if len(found) > 0 {
		return fmt.Errorf("%w: %s: %s", ErrWrong, found[0].Pointer, found[0].Detail)
	}
	a.Proof.Checked = true
	return nil
}

// scheduled compares a schedule with its question.
type scheduled struct {
	question      *timetable.Question
	answer        *timetable.Answer
	hours         int
	table         proof.Timetable
	waiting       map[arrivedBefore]int // classes of the table
	index         map[string]int        // of classes, by name
	starts        []proof.TimedStart    // of the answer
	atOnce        []proof.TimedStart    // of the plan in which nothing waits
	earlier       []int                 // by class, the type of VMs of executions that arrived earlier
	atOnceEarlier []int
	clocks        *clocks // nil where the question names no place that is known
	findings      []fault.Finding
}

func (s *scheduled) wrong(at, detail string, values ...any) {
	if len(s.findings) < fault.MaxFindings {
		s.findings = append(s.findings, fault.Finding{Pointer: at, Code: "schedule", Detail: fmt.Sprintf(detail, values...)})
	}
}

// prepare reads question and answer as a timetable.
func (s *scheduled) prepare() {
	if s.prepareTable(); len(s.answer.Hours) != s.hours {
		s.wrong("/hours", "There are %d hours, of %d.", len(s.answer.Hours), s.hours)
		return
	}
	for h := range s.answer.Hours {
		x, at := &s.answer.Hours[h], fmt.Sprintf("/hours/%d", h)
		if !x.Start.Equal(s.at(h)) {
			s.wrong(at, "It begins at %s.", x.Start)
		}
		for v, rented := range s.rented(x, at) {
			if s.table.Types[v].Hours[h].VMs, s.table.Types[v].Hours[h].Price = rented.VMs, rented.Price.Decimal; rented.VMs < 0 || rented.Price.IsNegative() {
				s.wrong(at, "It has %d VMs at %s.", rented.VMs, rented.Price)
			}
		}
	}
	s.prepareBudgets()
	s.starts, s.earlier = s.timed("", s.answer.Schedule, s.answer.Refused), s.heldOn("/earlier", s.answer.Earlier)
	s.atOnce, s.atOnceEarlier = s.timed("/at_once", s.answer.AtOnce.Schedule, s.answer.AtOnce.Refused), s.heldOn("/at_once/earlier", s.answer.AtOnce.Earlier)
}

// prepareBudgets reads the budgets with what they are worth. Those of the answer are the question's.
func (s *scheduled) prepareBudgets() {
	if len(s.answer.Budgets) != len(s.question.Budgets) {
		s.wrong("/budgets", "There are %d budgets, of %d.", len(s.answer.Budgets), len(s.question.Budgets))
		return
	}
	for i := range s.answer.Budgets {
		of, told := &s.question.Budgets[i], &s.answer.Budgets[i]
		if told.Price.IsNegative() || !told.From.Equal(of.From) || !told.Until.Equal(of.Until) || !told.VMCost.Equal(of.VMCost.Decimal) {
			s.wrong(fmt.Sprintf("/budgets/%d", i), "It is not the question's, or its price is negative.")
		}
		s.addBudget(of, told.Price.Rat())
	}
}

func (s *scheduled) addBudget(b *timetable.SpanBudget, worth *big.Rat) {
	from, until := int(b.From.Sub(s.at(0))/time.Hour), int(b.Until.Sub(s.at(0))/time.Hour)
	s.table.Budgets = append(s.table.Budgets, proof.TimedBudget{From: from, Until: until, Most: b.VMCost.Rat(), Worth: worth})
}

// checkBudgets adds up the hours of each budget.
func (s *scheduled) checkBudgets(same func(at string, got, want *big.Rat)) {
	for i := range s.table.Budgets {
		b, sum := &s.table.Budgets[i], new(big.Rat)
		for h := b.From; h < b.Until; h++ {
			for v := range s.table.Types {
				cost, _, _ := s.table.Types[v].Hours[h].Lines()
				sum.Add(sum, cost)
			}
		}
		same(fmt.Sprintf("/budgets/%d/bill", i), s.answer.Budgets[i].Bill.Rat(), sum)
	}
}

// prepareTable reads the question as a timetable.
func (s *scheduled) prepareTable() {
	p := &s.question.Problem
	if c, err := newClocks(s.question.TimeZone); err == nil {
		s.clocks = c
	}
	s.table.Options = p.Options
	s.index = map[string]int{}
	for k := range p.Classes {
		c := p.Classes[k]
		penalty := new(big.Rat).Mul(c.Penalty.Rat(), ratio(c.DeadlineSeconds))
		penalty.Quo(penalty, new(big.Rat).SetInt64(p.PeriodSeconds))
		s.index[c.Name] = k
		s.table.Classes = append(s.table.Classes, proof.TimedClass{Class: c, Window: int(math.Floor(c.DueSeconds / 3600)), Windows: s.windows(&c), Penalty: penalty, Arrivals: s.arrivals(k),
			Placed: s.question.PlaceAll && len(s.answer.Refused) == 0})
	}
	for _, t := range p.Supply.Types() {
		of := proof.TimedType{Name: t.Name}
		if t.Start != nil {
			of.Starts = &supply.Starts{}
			if b := s.question.Before; b != nil && len(s.table.Types) < len(b.VMs) {
				of.Starts.Before = b.VMs[len(s.table.Types)]
			}
		}
		before := onDemandPrice(&t, &s.question.Periods[0])
		for i := range s.question.Periods {
			for range s.question.Periods[i].End().Sub(s.question.Periods[i].Start) / time.Hour {
				of.Hours = append(of.Hours, s.sources(&t, &s.question.Periods[i], len(of.Hours)))
				if of.Starts != nil {
					of.Starts.Prices = append(of.Starts.Prices, startPrice(t.Start, before))
				}
				before = onDemandPrice(&t, &s.question.Periods[i])
			}
		}
		s.table.Types = append(s.table.Types, of)
	}
	s.prepareBefore()
	s.checkLeases()
}

// rented returns what an hour has of each type of VMs. Where there is one kind, those are the figures of the hour.
func (s *scheduled) rented(x *timetable.Hour, at string) (all []timetable.Rented) {
	if len(s.question.Problem.Supply.VMTypes) == 0 {
		if len(x.ByType) > 0 {
			s.wrong(at+"/by_type", "The problem has one kind of VM, which has no name.")
		}
		return []timetable.Rented{x.Rented}
	}
	if len(x.ByType) != len(s.table.Types) {
		s.wrong(at+"/by_type", "There are %d types of VMs, of %d.", len(x.ByType), len(s.table.Types))
		return nil
	}
	for v := range x.ByType {
		if x.ByType[v].Type != s.table.Types[v].Name {
			s.wrong(fmt.Sprintf("%s/by_type/%d/type", at, v), "It is %q, and the problem has %q here.", fault.Clip(x.ByType[v].Type), s.table.Types[v].Name)
		}
		all = append(all, x.ByType[v].Rented)
	}
	return all
}

// heldOn reads the types of VMs that executions hold which arrived earlier, by class.
func (s *scheduled) heldOn(at string, rows []timetable.OnType) []int {
	on := slices.Repeat([]int{-1}, len(s.question.Problem.Classes))
	for i, x := range rows {
		k, known := s.index[x.Class]
		if !known || on[k] >= 0 {
			s.wrong(fmt.Sprintf("%s/%d/class", at, i), "There is no class %q, or it stands here twice.", fault.Clip(x.Class))
			continue
		}
		on[k] = s.typeNamed(x.Type)
	}
	return on
}

// typeNamed returns the type of VMs of a name, or -1.
func (s *scheduled) typeNamed(name string) int {
	return slices.IndexFunc(s.table.Types, func(t proof.TimedType) bool { return t.Name == name })
}

// prepareBefore adds what the time before leaves: executions that wait, as classes after those of the problem, those that still
// run, and what arrived earlier of classes that do not wait.
func (s *scheduled) prepareBefore() {
	for i := range s.question.Earlier {
		p := &s.question.Earlier[i]
		hours := int64(p.End().Sub(p.Start) / time.Hour)
		for k, n := range p.Arrivals {
			each := new(big.Rat).Quo(ratio(n), new(big.Rat).SetInt64(hours))
			for h := range hours {
				ago, of := int(s.at(0).Sub(p.Start)/time.Hour)-int(h), &s.table.Classes[k]
				for len(of.Earlier) < ago {
					of.Earlier = append(of.Earlier, new(big.Rat))
				}
				of.Earlier[ago-1].Add(of.Earlier[ago-1], each)
			}
		}
	}
	b := s.question.Before
	if b == nil {
		return
	}
	s.waiting = map[arrivedBefore]int{}
	for _, w := range b.Waiting {
		c := s.table.Classes[s.index[w.Class]]
		ago := int(s.at(0).Sub(w.Arrived) / time.Hour)
		s.waiting[arrivedBefore{s.index[w.Class], -ago}] = len(s.table.Classes)
		s.table.Classes = append(s.table.Classes, proof.TimedClass{Class: c.Class, Window: s.window(&c.Class, w.Arrived, c.Window) - ago, Waited: true, Placed: c.Placed, Penalty: c.Penalty, Arrivals: []int64{w.Jobs}})
	}
	for v := range s.table.Types {
		for range s.hours { // first of executions of which an hour is the last
			s.table.Types[v].Held = append(s.table.Types[v].Held, new(big.Rat))
		}
	}
	for _, r := range b.Running {
		c := &s.question.Problem.Classes[s.index[r.Class]]
		held := s.table.Types[s.typeNamed(r.Type)].Held
		vms := new(big.Rat)
		if c.VMsPerJob != nil {
			vms.Quo(c.VMsPerJob.Rat(), ratio(c.Speed.On(r.Type)))
		} else {
			slots := c.SlotsPerVM.On(r.Type)
			vms.Add(big.NewRat(r.MapSlots, max(1, slots.Map)), big.NewRat(r.ReduceSlots, max(1, slots.Reduce)))
		}
		vms.Mul(vms, new(big.Rat).SetInt64(r.Jobs))
		vms.Quo(vms, turns(r.RunSeconds))
		ends := r.Start.Add(time.Duration(math.Ceil(r.RunSeconds/3600)) * time.Hour)
		if last := min(s.hours, int(ends.Sub(s.at(0))/time.Hour)) - 1; last >= 0 {
			held[last].Add(held[last], vms)
		}
	}
	for v := range s.table.Types {
		held := s.table.Types[v].Held
		for h := s.hours - 1; h > 0; h-- {
			held[h-1].Add(held[h-1], held[h])
		}
	}
}

// windows returns the hours that the executions of each hour have, of a class that is due by a time of day.
func (s *scheduled) windows(c *capacity.Class) (all []int) {
	if c.Due == "" {
		return nil
	}
	for h := range s.hours {
		all = append(all, s.window(c, s.at(h), 0))
	}
	return all
}

// turns returns how many executions run one after the other in an hour on the same VMs.
func turns(seconds float64) *big.Rat {
	n := new(big.Rat).Quo(big.NewRat(3600, 1), ratio(seconds))
	return new(big.Rat).SetInt64(max(1, new(big.Int).Div(n.Num(), n.Denom()).Int64()))
}

// arrivedBefore names executions of a class that arrived in an hour before the first, which is negative.
type arrivedBefore struct{ class, hour int }

// timed reads rows of starts and refusals.
func (s *scheduled) timed(under string, rows []timetable.Start, refused []timetable.RefusedArrivals) (starts []proof.TimedStart) {
	add := func(at, class string, arrived time.Time, start proof.TimedStart) {
		k, known := s.index[class]
		if start.Class, start.Arrived = k, s.hour(arrived); !known {
			s.wrong(at, "There is no class %q.", fault.Clip(class))
		}
		if since := arrived.Sub(s.at(0)); since < 0 && since%time.Hour == 0 {
			if w, waits := s.waiting[arrivedBefore{k, int(since / time.Hour)}]; waits {
				start.Class, start.Arrived = w, 0
			}
		}
		starts = append(starts, start)
	}
	for i, x := range rows {
		at := fmt.Sprintf("%s/schedule/%d", under, i)
		hours := max(1, math.Ceil(x.RunSeconds/3600))
		if k, known := s.index[x.Class]; known && x.RunSeconds != min(3600*hours, s.question.Problem.Classes[k].DeadlineSeconds) && x.Start.After(x.Arrived) || !(hours <= float64(s.hours)+1) {
			s.wrong(at, "A run of %g s is no whole number of hours, and not the longest.", x.RunSeconds)
			continue
		}
		add(at, x.Class, x.Arrived, proof.TimedStart{At: s.hour(x.Start), Hours: int(hours), On: s.typeNamed(x.Type), Jobs: x.Jobs, Map: x.MapSlots, Reduce: x.ReduceSlots})
	}
	for i, x := range refused {
		add(fmt.Sprintf("%s/refused/%d", under, i), x.Class, x.Arrived, proof.TimedStart{Jobs: x.Jobs})
	}
	return starts
}

func (s *scheduled) at(hour int) time.Time {
	return s.question.Start().Add(time.Duration(hour) * time.Hour)
}

// hour returns the hour that begins at a moment, or -1.
func (s *scheduled) hour(t time.Time) int {
	since := t.Sub(s.question.Start())
	if since%time.Hour != 0 || since < 0 || since >= time.Duration(s.hours)*time.Hour {
		return -1
	}
	return int(since / time.Hour)
}

// arrivals returns the whole executions of a class by hour: a forecast's sum is rounded up as it grows.
func (s *scheduled) arrivals(class int) (all []int64) {
	noise := big.NewRat(1, 1e9)
	sum, told := new(big.Rat), int64(0)
	if b := s.question.Before; b != nil && class < len(b.Counted) {
		sum.Sub(sum, ratio(b.Counted[class]))
	}
	for i := range s.question.Periods {
		p := &s.question.Periods[i]
		hours := int64(p.End().Sub(p.Start) / time.Hour)
		each := new(big.Rat).Quo(ratio(p.Arrivals[class]), new(big.Rat).SetInt64(hours))
		for range hours {
			sum.Add(sum, each)
			less := new(big.Rat).Sub(sum, noise)
			up := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(less.Num()), less.Denom())).Int64()
			all = append(all, max(0, up)-told)
			told = max(0, up)
		}
	}
	return all
}

// sources lists where the VMs of a type come from in an hour.
func (s *scheduled) sources(of *capacity.VMTypeSupply, p *horizon.HorizonPeriod, hour int) (x supply.Hour) {
	from, until := s.at(hour), s.at(hour+1)
	add := func(c *capacity.Contract) {
		x.Supply = append(x.Supply, supply.Source{VMs: c.VMs, Price: c.Price.Decimal, Always: c.Billing == capacity.BilledAlways})
	}
	for i := range of.Contracts {
		add(&of.Contracts[i])
	}
	for i := range s.question.Contracts {
		c := &s.question.Contracts[i]
		switch seconds := overlap(c.From, c.Until, from, until); {
		case c.VMType != of.Name:
		case seconds == 3600:
			add(&c.Contract)
		case seconds > 0 && c.Billing == capacity.BilledAlways: // paid, and of no use
			if x.Paid == nil {
				x.Paid = new(big.Rat)
			}
			x.Paid.Add(x.Paid, new(big.Rat).Mul(c.Price.Rat(), big.NewRat(c.VMs*seconds, 3600)))
		}
	}
	rented := supply.Source{Unlimited: true, Price: onDemandPrice(of, p)}
	if of.OnDemand.Quota != nil {
		rented.VMs, rented.Unlimited = *of.OnDemand.Quota, false
	}
	x.Supply = append(x.Supply, rented)
	if b := s.question.Problem.Budget; b != nil && b.VMCost != nil {
		withinBudget(&x, b.VMCost.Rat())
	}
	if spot := of.Spot; spot != nil {
		price := spot.Price
		if p.SpotPrice != nil {
			price = *p.SpotPrice
		}
		if of := p.Prices[of.Name].Spot; of != nil {
			price = *of
		}
		decimals := decimal.NewFromFloat(spot.MaxShare).Truncate(17)
		x.Spot = &supply.Spot{Price: price.Rat(), Share: decimals.Rat()}
	}
	return x
}

// withinBudget takes away the VMs that the budget of an hour does not pay for: the dearest ones.
func withinBudget(x *supply.Hour, budget *big.Rat) {
	left := new(big.Rat).Set(budget)
	if x.Paid != nil {
		left.Sub(left, x.Paid)
	}
	cost := func(of *supply.Source, vms int64) *big.Rat {
		return new(big.Rat).Mul(of.Price.Rat(), new(big.Rat).SetInt64(vms))
	}
	var bought []*supply.Source // by the hour, the cheapest first
	for i := range x.Supply {
		if of := &x.Supply[i]; of.Always {
			left.Sub(left, cost(of, of.VMs))
		} else if of.Price.IsPositive() {
			bought = append(bought, of)
		}
	}
	slices.SortStableFunc(bought, func(a, b *supply.Source) int { return a.Price.Cmp(b.Price) })
	for _, of := range bought {
		share := new(big.Rat).Quo(left, of.Price.Rat())
		vms := new(big.Int).Div(share.Num(), share.Denom()) // down
		if left.Sign() < 0 {
			vms.SetInt64(0)
		}
		if !vms.IsInt64() { // more than anybody rents
			break
		}
		if of.Unlimited || vms.Cmp(big.NewInt(of.VMs)) < 0 {
			of.VMs, of.Unlimited = vms.Int64(), false
		}
		left.Sub(left, cost(of, of.VMs))
	}
}

// overlap returns the seconds that two times share.
func overlap(from, until, begin, end time.Time) int64 {
	return max(0, min(until.Unix(), end.Unix())-max(from.Unix(), begin.Unix()))
}

// check holds the answer against what its timetable comes to.
func (s *scheduled) check() {
	a := s.answer
	sum, faults := s.table.Check(s.starts, s.earlier)
	for _, sentence := range faults {
		s.wrong("/schedule", "%s.", sentence)
	}
	same := func(at string, got, want *big.Rat) {
		if far := new(big.Rat).Sub(got, want); far.Abs(far).Cmp(big.NewRat(1, 1e8)) > 0 {
			s.wrong(at, "It is %s, and follows as %s.", got.FloatString(9), want.FloatString(9))
		}
	}
	same("/cost/bill", a.Cost.Bill.Rat(), sum.Rented)
	same("/cost/value_refused", a.Cost.ValueRefused.Rat(), sum.Refused)
	same("/cost/total", a.Cost.Total.Rat(), new(big.Rat).Add(sum.Rented, sum.Refused))
	s.checkAtOnce(same)
	same("/saved", a.Saved.Rat(), new(big.Rat).Sub(a.AtOnce.Total.Rat(), a.Cost.Total.Rat()))
	bound, total := a.Proof.Bound.Rat(), a.Cost.Total.Rat()
	if above := new(big.Rat).Sub(bound, sum.Bound); above.Cmp(big.NewRat(1, 1e8)) > 0 || bound.Cmp(total) > 0 {
		s.wrong("/proof/bound", "It is %s; the prices prove %s, and the total is %s.", a.Proof.Bound, sum.Bound.FloatString(9), a.Cost.Total)
	}
	gap := 0.0
	if total.Sign() > 0 {
		gap, _ = new(big.Rat).Quo(new(big.Rat).Sub(total, bound), total).Float64()
	}
	if math.Abs(gap-a.Proof.Gap) > 1e-12*gap {
		s.wrong("/proof/gap", "It is %g, and follows as %g.", a.Proof.Gap, gap)
	}
	want := capacity.Feasible
	if a.Proof.Gap <= s.question.Problem.Options.Gap {
		want = capacity.Optimal
	}
	if a.Status != want {
		s.wrong("/status", "It is %s, and follows as %s.", a.Status, want)
	}
	s.checkRows("/schedule", a.Schedule, a.Refused, s.starts)
	s.checkHours(same)
	s.checkBudgets(same)
	s.checkClasses()
	s.checkOneType()
}

// checkOneType says which executions of a class that waits run on another type of VMs than others of it do in the same hour.
func (s *scheduled) checkOneType() {
	if !s.question.OneType {
		return
	}
	type hourOf struct {
		class string
		hour  int64 // since 1970
	}
	on := map[hourOf]string{}
	hold := func(at string, x *timetable.Start) {
		begins := x.Start.Unix() / 3600
		for hour := begins; float64(hour-begins)*3600 < x.RunSeconds; hour++ {
			other, held := on[hourOf{x.Class, hour}]
			if held && other != x.Type {
				s.wrong(at+"/type", "It is %q, and other executions of %q run on %q in the hour from %s.", fault.Clip(x.Type), fault.Clip(x.Class), other, time.Unix(hour*3600, 0).UTC().Format(time.RFC3339))
				return
			}
			on[hourOf{x.Class, hour}] = x.Type
		}
	}
	if b := s.question.Before; b != nil {
		for i := range b.Running {
			hold(fmt.Sprintf("/before/running/%d", i), &b.Running[i])
		}
	}
	for i := range s.answer.Schedule {
		x := &s.answer.Schedule[i]
		if c := &s.table.Classes[s.index[x.Class]]; c.Window > 0 || c.Windows != nil {
			hold(fmt.Sprintf("/schedule/%d", i), x)
		}
	}
}

// checkAtOnce holds the plan in which nothing waits against what its starts come to.
func (s *scheduled) checkAtOnce(same func(at string, got, want *big.Rat)) {
	a := &s.answer.AtOnce
	sum, faults := s.table.CheckAtOnce(s.atOnce, s.atOnceEarlier)
	for _, sentence := range faults {
		s.wrong("/at_once/schedule", "%s.", sentence)
	}
	vms := make([]int64, s.hours)
	for v := range sum.VMs {
		for h, n := range sum.VMs[v] {
			vms[h] += n
		}
	}
	if !slices.Equal(a.VMs, vms) {
		s.wrong("/at_once/vms", "They are not the fewest of each hour for its starts.")
	}
	same("/at_once/bill", a.Bill.Rat(), sum.Rented)
	same("/at_once/value_refused", a.ValueRefused.Rat(), sum.Refused)
	same("/at_once/total", a.Total.Rat(), new(big.Rat).Add(sum.Rented, sum.Refused))
	s.checkRows("/at_once/schedule", a.Schedule, a.Refused, s.atOnce)
}

// checkRows says which rows of starts do not stand in their order, or run for another time than jobs that start as they arrive.
func (s *scheduled) checkRows(at string, rows []timetable.Start, refused []timetable.RefusedArrivals, starts []proof.TimedStart) {
	arrived := func(i int) (class int, at time.Time) {
		if i < len(rows) {
			return s.index[rows[i].Class], rows[i].Arrived
		}
		return s.index[refused[i-len(rows)].Class], refused[i-len(rows)].Arrived
	}
	for i := 1; i < len(starts); i++ {
		x, y := &starts[i-1], &starts[i]
		class, from := arrived(i - 1)
		next, then := arrived(i)
		if i != len(rows) && cmp.Or(cmp.Compare(class, next), from.Compare(then), cmp.Compare(x.Hours, y.Hours), cmp.Compare(x.At, y.At), cmp.Compare(x.On, y.On)) >= 0 {
			s.wrong(at, "Row %d of starts and refusals does not stand in its order.", i)
		}
	}
	for i, x := range rows {
		if k := starts[i].Class; s.table.Classes[k].Window == 0 && !s.table.Classes[k].Waited && s.table.Classes[k].Windows == nil {
			if want := s.table.RunSeconds(k, starts[i].On); math.Abs(x.RunSeconds-want) > 1e-9*want {
				s.wrong(fmt.Sprintf("%s/%d/run_s", at, i), "It is %g, and follows as %g.", x.RunSeconds, want)
			}
		}
	}
}

// checkHours compares the lines of each hour with its VMs, contracts and price on demand, of each type and of all together.
func (s *scheduled) checkHours(same func(at string, got, want *big.Rat)) {
	for h := range s.answer.Hours {
		x, at := &s.answer.Hours[h], fmt.Sprintf("/hours/%d", h)
		var vms, onDemand, spot, started int64
		cost, startings, least := new(big.Rat), new(big.Rat), x.Price
		for v := range s.table.Types {
			sum, rented, cheap := s.table.Types[v].Hours[h].Lines()
			vms, onDemand, spot = vms+s.table.Types[v].Hours[h].VMs, onDemand+rented, spot+cheap
			begun, starting := s.startedIn(v, h)
			started += begun
			startings.Add(startings, starting)
			if cost.Add(cost, sum.Add(sum, starting)); len(x.ByType) == 0 {
				continue
			}
			of := fmt.Sprintf("%s/by_type/%d", at, v)
			s.checkLines(of, &x.ByType[v].Rented, x.ByType[v].VMs, rented, cheap, begun)
			same(of+"/start_cost", startCost(&x.ByType[v].Rented), starting)
			if same(of+"/cost", x.ByType[v].Cost.Rat(), sum); v == 0 || x.ByType[v].Price.LessThan(least.Decimal) {
				least = x.ByType[v].Price
			}
		}
		s.checkLines(at, &x.Rented, vms, onDemand, spot, started)
		same(at+"/start_cost", startCost(&x.Rented), startings)
		same(at+"/price", x.Price.Rat(), least.Rat())
		same(at+"/cost", x.Cost.Rat(), cost)
	}
}

// startedIn returns the VMs of a type that are started for an hour, and what that costs. They are none where it costs nothing.
func (s *scheduled) startedIn(v, h int) (n int64, cost *big.Rat) {
	of := &s.table.Types[v]
	if of.Starts == nil {
		return 0, new(big.Rat)
	}
	return of.Starts.Cost(h, of.Hours[max(0, h-1)].VMs, of.Hours[h].VMs)
}

// onDemandPrice returns the price of a VM on demand in a period.
func onDemandPrice(of *capacity.VMTypeSupply, p *horizon.HorizonPeriod) decimal.Decimal {
	switch price := p.Prices[of.Name].OnDemand; {
	case price != nil:
		return price.Decimal
	case p.OnDemandPrice != nil:
		return p.OnDemandPrice.Decimal
	}
	return of.OnDemand.Price.Decimal
}

// startPrice returns what starting a VM costs after an hour with a price on demand, in whole billionths.
func startPrice(s *capacity.VMStart, before decimal.Decimal) *big.Rat {
	sum := new(big.Rat).Mul(before.Rat(), ratio(s.LeadSeconds/3600))
	sum.SetString(sum.FloatString(money.Places))
	return sum.Add(sum, s.Price.Rat())
}

// startCost returns what the starts of an hour are said to cost.
func startCost(x *timetable.Rented) *big.Rat {
	if x.StartCost == nil {
		return new(big.Rat)
	}
	return x.StartCost.Rat()
}

func (s *scheduled) checkLines(at string, x *timetable.Rented, vms, onDemand, spot, started int64) {
	if x.Started != started {
		s.wrong(at+"/started", "It is %d, and follows as %d.", x.Started, started)
	}
	if x.VMs != vms || x.OnDemand != onDemand || x.Spot != spot || x.Reserved != vms-onDemand-spot {
		s.wrong(at, "Of %d VMs %d are on demand, %d of contracts and %d spot; %d are, %d of them on demand and %d spot.", x.VMs, x.OnDemand, x.Reserved, x.Spot, vms, onDemand, spot)
	}
}

// checkClasses counts the executions of each class again.
func (s *scheduled) checkClasses() {
	classes := len(s.question.Problem.Classes)
	if len(s.answer.Classes) != classes {
		s.wrong("/classes", "There are %d classes, of %d.", len(s.answer.Classes), classes)
		return
	}
	want := make([]timetable.Class, classes)
	hours := make([]int64, classes)
	ago := make([]int, len(s.table.Classes)) // hours
	of := make([]int, len(s.table.Classes))
	for k := range s.table.Classes {
		if of[k] = k; k < classes {
			want[k].Name, want[k].Waits = s.table.Classes[k].Class.Name, s.table.Classes[k].Window > 0 || s.table.Classes[k].Windows != nil
		}
	}
	for w, k := range s.waiting {
		of[k], ago[k] = w.class, -w.hour
	}
	for k := range s.table.Classes {
		for _, n := range s.table.Classes[k].Arrivals {
			want[of[k]].Arrived += n
		}
	}
	for _, x := range s.starts {
		w := &want[of[x.Class]]
		if x.Hours == 0 {
			w.Refused += x.Jobs
		} else if late := int64(x.At - x.Arrived + ago[x.Class] - 1); (w.Waits || ago[x.Class] > 0) && late > 0 {
			w.Later += x.Jobs
			hours[of[x.Class]] += late * x.Jobs
		}
	}
	for k := range want {
		if n := want[k].Arrived - want[k].Refused; n > 0 {
			want[k].MeanWaitSeconds = math.Round(3600 * float64(hours[k]) / float64(n))
		}
		if s.answer.Classes[k] != want[k] {
			s.wrong(fmt.Sprintf("/classes/%d", k), "It says %+v, and it follows as %+v.", s.answer.Classes[k], want[k])
		}
	}
}

// ratio returns a number as the shortest decimal that names it.
func ratio(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}
