package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"headroom/internal/core/fault"
	"headroom/internal/core/money"
	"headroom/internal/core/strict"
)

var (
	planShape          = strict.NewShape("a plan", []string{"status", "objective", "cost", "vms", "classes", "warnings", "conflicts"}, "stays", "prices", "relaxed", "integer", "layout", "proof", "facts")
	costShape          = strict.NewShape("a cost", []string{"total", "on_demand", "reserved", "reserved_idle", "penalties", "currency", "period_s", "per_hour", "per_month"}, "bill", "spot")
	vmsShape           = strict.NewShape("what is rented", []string{"total", "reserved", "on_demand", "contracts", "rounding"}, "spot", "types")
	typeVMsShape       = strict.NewShape("what is rented of a type", []string{"name", "total", "reserved", "on_demand", "rounding"}, "spot")
	contractUseShape   = strict.NewShape("a contract's use", []string{"name", "vms", "used"}, "vm_type")
	classPlanShape     = strict.NewShape("a class's part", []string{"name", "admitted", "refused", "vms", "vms_per_job", "slots", "time_s", "verdict", "reason", "break_even_penalty", "flips"}, "one_more", "one_less", "stays", "types")
	classOnTypeShape   = strict.NewShape("a class's part on a type", []string{"vm_type", "admitted", "vms", "vms_per_job", "slots", "time_s"})
	planSlotsShape     = strict.NewShape("a number of slots", []string{"map", "reduce"})
	timesShape         = strict.NewShape("a predicted time", []string{"lower", "average", "upper"}, "calibrated")
	flipsShape         = strict.NewShape("what would change a decision", []string{"penalty", "deadline_s", "on_demand_price"})
	jobChangeShape     = strict.NewShape("what a job more or less changes", []string{"exact", "fits", "amount"}, "bill", "value_refused", "vms", "budget", "jobs", "low", "high")
	staysShape         = strict.NewShape("where the plan stays the best", []string{"penalty", "deadline_s"})
	planStaysShape     = strict.NewShape("where the plan stays the best", []string{"on_demand_price", "quota"}, "types")
	typeStaysShape     = strict.NewShape("where the plan stays the best by a VM type", []string{"vm_type", "on_demand_price", "quota"})
	rangeShape         = strict.NewShape("a range", []string{"low", "high"})
	pricesShape        = strict.NewShape("the list of prices", []string{"capacity", "contracts"}, "types", "budget")
	capacityPriceShape = strict.NewShape("a price", []string{"low", "high"})
	typePriceShape     = strict.NewShape("a type's price", []string{"name", "low", "high"})
	contractWorthShape = strict.NewShape("a contract's worth", []string{"name", "worth"})
	relaxedShape       = strict.NewShape("the linear program's answer", []string{"objective", "capacity", "jobs"})
	integerShape       = strict.NewShape("the integer program's answer", []string{"objective", "vms", "executable", "short_vms"})
	vmLayoutShape      = strict.NewShape("a part of the layout", []string{"vms", "slots"}, "vm_type")
	classSlotsShape    = strict.NewShape("a class's slots", []string{"class"}, "map", "reduce")
	proofShape         = strict.NewShape("a proof", []string{"bound", "gap", "method", "engine", "agreed", "checked", "solve_ms"})
	warningShape       = strict.NewShape("a warning", []string{"code", "detail"}, "pointer")
	conflictShape      = strict.NewShape("a conflict", []string{"pointer", "detail", "code"}, "line", "column", "hint")
	hintShape          = strict.NewShape("a hint", []string{"detail"}, "pointer", "value")

	statuses = []Status{Optimal, Feasible, InfeasibleStatus}
	verdicts = []Verdict{VerdictImpossible, VerdictFull, VerdictNone, VerdictMinimum, VerdictPartial}
)

// planReader reads a plan, a multiple faster than encoding/json and more strictly.
type planReader struct {
	*strict.Reader
	slots    room[Slots]
	times    room[Times]
	figures  room[float64]
	amounts  room[money.Amount]
	unbilled bool // the plan's cost has no bill
}

// room holds values that are pointed at, many to an allocation.
type room[T any] []T

func (r *room[T]) next() *T {
	if len(*r) == 0 {
		*r = make([]T, 256)
	}
	x := &(*r)[0]
	*r = (*r)[1:]
	return x
}

func (r *planReader) plan(p *Plan) {
	r.Object(planShape, func(name string) {
		switch name {
		case "status":
			known(r.Reader, &p.Status, "status", statuses)
		case "objective":
			money.Read(r.Reader, &p.Objective)
		case "cost":
			r.cost(&p.Cost)
		case "vms":
			r.vms(&p.VMs)
		case "classes":
			p.Classes = listOrNull(r.Reader, r.classPlan)
		case "stays":
			p.Stays = new(PlanStays)
			r.planStays(p.Stays)
		case "prices":
			p.Prices = new(Prices)
			r.prices(p.Prices)
		case "relaxed":
			p.Relaxed = new(RelaxedPlan)
			r.relaxed(p.Relaxed)
		case "integer":
			p.Integer = new(IntegerPlan)
			r.integer(p.Integer)
		case "layout":
			p.Layout = listOrNull(r.Reader, r.vmLayout)
		case "proof":
			p.Proof = new(Proof)
			r.proof(p.Proof)
		case "facts":
			p.Facts = listOrNull(r.Reader, r.fact)
		case "warnings":
			p.Warnings = listOrNull(r.Reader, r.warning)
		case "conflicts":
			p.Conflicts = listOrNull(r.Reader, r.conflict)
		}
	})
	if r.unbilled && len(p.Facts) > 0 {
		r.Enter("cost")
		r.Found("missing", `The member "bill" is missing; a plan that lists facts has it.`, nil)
		r.Leave()
	}
}

// listOrNull reads an array, which need not be there.
func listOrNull[T any](r *strict.Reader, read func(*T)) []T {
	if r.Null() {
		return nil
	}
	return strict.Elements(r, read)
}

// orNull reads what may be null into its place.
func orNull[T any](r *planReader, into *T, read func(*T)) *T {
	if r.Null() {
		return nil
	}
	read(into)
	return into
}

func (r *planReader) optionalFloat() *float64 {
	if r.Null() {
		return nil
	}
	x := r.figures.next()
	r.Float(x)
	return x
}

func (r *planReader) optionalMoney() *money.Amount {
	if r.Null() {
		return nil
	}
	m := r.amounts.next()
	money.Read(r.Reader, m)
	return m
}

func (r *planReader) string(into *string) { *into, _ = r.Text() }

func (r *planReader) cost(c *Cost) {
	told := false
	r.Object(costShape, func(name string) {
		switch name {
		case "total":
			money.Read(r.Reader, &c.Total)
		case "bill":
			told = true
			money.Read(r.Reader, &c.Bill)
		case "on_demand":
			money.Read(r.Reader, &c.OnDemand)
		case "spot":
			money.Read(r.Reader, &c.Spot)
		case "reserved":
			money.Read(r.Reader, &c.Reserved)
		case "reserved_idle":
			money.Read(r.Reader, &c.ReservedIdle)
		case "penalties":
			money.Read(r.Reader, &c.Penalties)
		case "currency":
			r.string(&c.Currency)
		case "period_s":
			r.plainWhole(&c.PeriodSeconds)
		case "per_hour":
			money.Read(r.Reader, &c.PerHour)
		case "per_month":
			money.Read(r.Reader, &c.PerMonth)
		}
	})
	if !told { // a plan that was stored before there was this member, and before it listed facts
		r.unbilled = true
		c.Bill.Decimal = c.Total.Sub(c.Penalties.Decimal)
	}
}

// plainWhole reads a whole number that is written as one.
func (r *planReader) plainWhole(into *int64) {
	from := r.At
	if r.Whole(into); bytes.ContainsAny(r.Since(from), ".eE") {
		r.Found("not_whole", "Whole numbers of a plan are written without a point.", nil)
	}
}

func (r *planReader) vms(v *VMs) {
	r.Object(vmsShape, func(name string) {
		switch name {
		case "total":
			r.Float(&v.Total)
		case "reserved":
			r.Float(&v.Reserved)
		case "on_demand":
			r.Float(&v.OnDemand)
		case "spot":
			r.Float(&v.Spot)
		case "contracts":
			v.Contracts = listOrNull(r.Reader, r.contractUse)
		case "rounding":
			r.Float(&v.Rounding)
		case "types":
			v.Types = listOrNull(r.Reader, r.typeVMs)
		}
	})
}

func (r *planReader) typeVMs(v *TypeVMs) {
	r.Object(typeVMsShape, func(name string) {
		switch name {
		case "name":
			r.string(&v.Name)
		case "total":
			r.Float(&v.Total)
		case "reserved":
			r.Float(&v.Reserved)
		case "on_demand":
			r.Float(&v.OnDemand)
		case "spot":
			r.Float(&v.Spot)
		case "rounding":
			r.Float(&v.Rounding)
		}
	})
}

func (r *planReader) contractUse(c *ContractUse) {
	r.Object(contractUseShape, func(name string) {
		switch name {
		case "name":
			r.string(&c.Name)
		case "vm_type":
			r.string(&c.VMType)
		case "vms":
			r.Float(&c.VMs)
		case "used":
			r.Float(&c.Used)
		}
	})
}

func (r *planReader) classPlan(c *ClassPlan) {
	r.Object(classPlanShape, func(name string) {
		switch name {
		case "name":
			r.string(&c.Name)
		case "admitted":
			r.Float(&c.Admitted)
		case "refused":
			r.Float(&c.Refused)
		case "vms":
			r.Float(&c.VMs)
		case "vms_per_job":
			r.Float(&c.VMsPerJob)
		case "slots":
			c.Slots = r.optionalSlots()
		case "time_s":
			c.Time = r.optionalTimes()
		case "verdict":
			known(r.Reader, &c.Verdict, "verdict", verdicts)
		case "reason":
			r.string(&c.Reason)
		case "break_even_penalty":
			c.BreakEvenPenalty = r.optionalMoney()
		case "flips":
			r.flips(&c.Flips)
		case "one_more":
			c.OneMore = new(JobChange)
			r.jobChange(c.OneMore)
		case "one_less":
			c.OneLess = new(JobChange)
			r.jobChange(c.OneLess)
		case "stays":
			c.Stays = new(Stays)
			r.stays(c.Stays)
		case "types":
			c.Types = listOrNull(r.Reader, r.classOnType)
		}
	})
}

func (r *planReader) flips(f *Flips) {
	r.Object(flipsShape, func(name string) {
		switch name {
		case "penalty":
			f.Penalty = r.optionalMoney()
		case "deadline_s":
			f.DeadlineSeconds = r.optionalFloat()
		case "on_demand_price":
			f.OnDemandPrice = r.optionalMoney()
		}
	})
}

func (r *planReader) jobChange(c *JobChange) {
	r.Object(jobChangeShape, func(name string) {
		switch name {
		case "exact":
			r.Flag(&c.Exact)
		case "fits":
			r.Flag(&c.Fits)
		case "amount":
			c.Amount = r.optionalMoney()
		case "bill":
			c.Bill = r.optionalMoney()
		case "value_refused":
			c.ValueRefused = r.optionalMoney()
		case "vms":
			c.VMs = r.optionalFloat()
		case "budget":
			c.Budget = r.optionalMoney()
		case "jobs":
			c.Jobs = r.optionalFloat()
		case "low":
			c.Low = r.optionalMoney()
		case "high":
			c.High = r.optionalMoney()
		}
	})
}

func (r *planReader) planStays(s *PlanStays) {
	r.Object(planStaysShape, func(name string) {
		switch name {
		case "on_demand_price":
			s.OnDemandPrice = orNull(r, new(MoneyRange), r.moneyRange)
		case "quota":
			s.Quota = orNull(r, new(Range), r.numberRange)
		case "types":
			s.Types = listOrNull(r.Reader, r.typeStays)
		}
	})
}

func (r *planReader) typeStays(s *TypeStays) {
	r.Object(typeStaysShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&s.VMType)
		case "on_demand_price":
			s.OnDemandPrice = orNull(r, new(MoneyRange), r.moneyRange)
		case "quota":
			s.Quota = orNull(r, new(Range), r.numberRange)
		}
	})
}

func (r *planReader) stays(s *Stays) {
	r.Object(staysShape, func(name string) {
		if name == "penalty" {
			s.Penalty = orNull(r, new(MoneyRange), r.moneyRange)
		} else {
			s.DeadlineSeconds = orNull(r, new(Range), r.numberRange)
		}
	})
}

func (r *planReader) moneyRange(m *MoneyRange) {
	r.Object(rangeShape, func(name string) {
		if name == "low" {
			m.Low = r.optionalMoney()
		} else {
			m.High = r.optionalMoney()
		}
	})
}

func (r *planReader) numberRange(m *Range) {
	r.Object(rangeShape, func(name string) {
		if name == "low" {
			m.Low = r.optionalFloat()
		} else {
			m.High = r.optionalFloat()
		}
	})
}

func (r *planReader) classOnType(c *ClassOnType) {
	r.Object(classOnTypeShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&c.VMType)
		case "admitted":
			r.Float(&c.Admitted)
		case "vms":
			r.Float(&c.VMs)
		case "vms_per_job":
			r.Float(&c.VMsPerJob)
		case "slots":
			c.Slots = r.optionalSlots()
		case "time_s":
			c.Time = r.optionalTimes()
		}
	})
}

func (r *planReader) optionalSlots() *Slots {
	if r.Null() {
		return nil
	}
	s := r.slots.next()
	r.Object(planSlotsShape, func(name string) {
		if name == "map" {
			r.Float(&s.Map)
		} else {
			r.Float(&s.Reduce)
		}
	})
	return s
}

func (r *planReader) optionalTimes() *Times {
	if r.Null() {
		return nil
	}
	t := r.times.next()
	r.Object(timesShape, func(name string) {
		switch name {
		case "lower":
			t.Lower = r.optionalFloat()
		case "average":
			t.Average = r.optionalFloat()
		case "upper":
			t.Upper = r.optionalFloat()
		case "calibrated":
			t.Calibrated = r.optionalFloat()
		}
	})
	return t
}

func (r *planReader) prices(p *Prices) {
	r.Object(pricesShape, func(name string) {
		switch name {
		case "capacity":
			r.Object(capacityPriceShape, func(name string) { r.price(&p.Capacity, name) })
		case "contracts":
			p.Contracts = listOrNull(r.Reader, r.contractWorth)
		case "types":
			p.Types = listOrNull(r.Reader, r.typePrice)
		case "budget":
			p.Budget = r.optionalMoney()
		}
	})
}

func (r *planReader) price(p *CapacityPrice, name string) {
	if name == "low" {
		money.Read(r.Reader, &p.Low)
	} else {
		p.High = r.optionalMoney()
	}
}

func (r *planReader) typePrice(p *TypePrice) {
	r.Object(typePriceShape, func(name string) {
		if name == "name" {
			r.string(&p.Name)
		} else {
			r.price(&p.CapacityPrice, name)
		}
	})
}

func (r *planReader) contractWorth(c *ContractWorth) {
	r.Object(contractWorthShape, func(name string) {
		if name == "name" {
			r.string(&c.Name)
		} else {
			money.Read(r.Reader, &c.Worth)
		}
	})
}

func (r *planReader) relaxed(p *RelaxedPlan) {
	r.Object(relaxedShape, func(name string) {
		switch name {
		case "objective":
			money.Read(r.Reader, &p.Objective)
		case "capacity":
			r.Float(&p.Capacity)
		case "jobs":
			p.Jobs = listOrNull(r.Reader, r.Float)
		}
	})
}

func (r *planReader) integer(p *IntegerPlan) {
	r.Object(integerShape, func(name string) {
		switch name {
		case "objective":
			money.Read(r.Reader, &p.Objective)
		case "vms":
			r.Float(&p.VMs)
		case "executable":
			r.Flag(&p.Executable)
		case "short_vms":
			r.Float(&p.ShortVMs)
		}
	})
}

func (r *planReader) vmLayout(v *VMLayout) {
	r.Object(vmLayoutShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&v.VMType)
		case "vms":
			r.plainWhole(&v.VMs)
		case "slots":
			v.Slots = listOrNull(r.Reader, r.classSlots)
		}
	})
}

func (r *planReader) classSlots(s *ClassSlots) {
	r.Object(classSlotsShape, func(name string) {
		switch name {
		case "class":
			r.string(&s.Class)
		case "map":
			r.plainWhole(&s.Map)
		case "reduce":
			r.plainWhole(&s.Reduce)
		}
	})
}

func (r *planReader) proof(p *Proof) {
	r.Object(proofShape, func(name string) {
		switch name {
		case "bound":
			money.Read(r.Reader, &p.Bound)
		case "gap":
			r.Float(&p.Gap)
		case "method":
			r.string(&p.Method)
		case "engine":
			r.string(&p.Engine)
		case "agreed":
			p.Agreed = orNull(r, new(bool), r.Flag)
		case "checked":
			r.Flag(&p.Checked)
		case "solve_ms":
			r.Float(&p.SolveMs)
		}
	})
}

func (r *planReader) warning(w *Warning) {
	r.Object(warningShape, func(name string) {
		switch name {
		case "code":
			r.string(&w.Code)
		case "pointer":
			r.string(&w.Pointer)
		case "detail":
			r.string(&w.Detail)
		}
	})
}

func (r *planReader) conflict(f *fault.Finding) {
	r.Object(conflictShape, func(name string) {
		switch name {
		case "pointer":
			r.string(&f.Pointer)
		case "detail":
			r.string(&f.Detail)
		case "code":
			r.string(&f.Code)
		case "line":
			r.position(&f.Line)
		case "column":
			r.position(&f.Column)
		case "hint":
			f.Hint = orNull(r, new(fault.Hint), r.hint)
		}
	})
}

func (r *planReader) position(into *int) {
	var n int64
	r.plainWhole(&n)
	*into = int(n)
}

func (r *planReader) hint(h *fault.Hint) {
	r.Object(hintShape, func(name string) {
		switch name {
		case "detail":
			r.string(&h.Detail)
		case "pointer":
			r.string(&h.Pointer)
		case "value": // of any type
			from := r.At
			if r.Value(); r.Failure != nil || len(r.Findings) > 0 {
				return
			}
			if err := json.Unmarshal(r.Since(from), &h.Value); err != nil {
				r.Found("type", "This value cannot be read.", nil)
			}
		}
	})
}

// known reads one of a few words; any other is a finding.
func known[T ~string](r *strict.Reader, into *T, what string, words []T) {
	if r.Space() != '"' {
		r.WrongType("a string")
		return
	}
	b, ok := r.Quoted()
	if !ok {
		return
	}
	for _, w := range words {
		if string(b) == string(w) {
			*into = w
			return
		}
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	r.Found("choice", fmt.Sprintf("%q is no %s; there are %s.", fault.Clip(string(b)), what, strings.Join(list, ", ")), fault.DidYouMean(string(b), list))
}
