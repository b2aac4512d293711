package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

var (
	planShape          = newShape("a plan", []string{"status", "objective", "cost", "vms", "classes", "warnings", "conflicts"}, "prices", "relaxed", "integer", "layout", "proof")
	costShape          = newShape("a cost", []string{"total", "on_demand", "reserved", "reserved_idle", "penalties", "currency", "period_s", "per_hour", "per_month"}, "spot")
	vmsShape           = newShape("what is rented", []string{"total", "reserved", "on_demand", "contracts", "rounding"}, "spot", "types")
	typeVMsShape       = newShape("what is rented of a type", []string{"name", "total", "reserved", "on_demand", "rounding"}, "spot")
	contractUseShape   = newShape("a contract's use", []string{"name", "vms", "used"}, "vm_type")
	classPlanShape     = newShape("a class's part", []string{"name", "admitted", "refused", "vms", "vms_per_job", "slots", "time_s", "verdict", "reason", "break_even_penalty", "flips"}, "types")
	classOnTypeShape   = newShape("a class's part on a type", []string{"vm_type", "admitted", "vms", "vms_per_job", "slots", "time_s"})
	planSlotsShape     = newShape("a number of slots", []string{"map", "reduce"})
	timesShape         = newShape("a predicted time", []string{"lower", "average", "upper"}, "calibrated")
	flipsShape         = newShape("what would change a decision", []string{"penalty", "deadline_s", "on_demand_price"})
	pricesShape        = newShape("the list of prices", []string{"capacity", "contracts"}, "types", "budget")
	capacityPriceShape = newShape("a price", []string{"low", "high"})
	typePriceShape     = newShape("a type's price", []string{"name", "low", "high"})
	contractWorthShape = newShape("a contract's worth", []string{"name", "worth"})
	relaxedShape       = newShape("the linear program's answer", []string{"objective", "capacity", "jobs"})
	integerShape       = newShape("the integer program's answer", []string{"objective", "vms", "executable", "short_vms"})
	vmLayoutShape      = newShape("a part of the layout", []string{"vms", "slots"}, "vm_type")
	classSlotsShape    = newShape("a class's slots", []string{"class"}, "map", "reduce")
	proofShape         = newShape("a proof", []string{"bound", "gap", "method", "engine", "agreed", "checked", "solve_ms"})
	warningShape       = newShape("a warning", []string{"code", "detail"}, "pointer")
	conflictShape      = newShape("a conflict", []string{"pointer", "detail", "code"}, "line", "column", "hint")
	hintShape          = newShape("a hint", []string{"detail"}, "pointer", "value")

	statuses = []Status{Optimal, Feasible, InfeasibleStatus}
	verdicts = []Verdict{VerdictImpossible, VerdictFull, VerdictNone, VerdictMinimum, VerdictPartial}
)

// planReader reads a plan, a multiple faster than encoding/json and more strictly.
type planReader struct {
	reader
	slots   room[Slots]
	times   room[Times]
	figures room[float64]
	amounts room[Money]
}

// room is where values that are pointed at stand, many to an allocation.
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
	r.object(planShape, func(name string) {
		switch name {
		case "status":
			known(&r.reader, &p.Status, "status", statuses)
		case "objective":
			r.money(&p.Objective)
		case "cost":
			r.cost(&p.Cost)
		case "vms":
			r.vms(&p.VMs)
		case "classes":
			p.Classes = listOrNull(&r.reader, r.classPlan)
		case "prices":
			p.Prices = orNull(r, new(Prices), r.prices)
		case "relaxed":
			p.Relaxed = orNull(r, new(RelaxedPlan), r.relaxed)
		case "integer":
			p.Integer = orNull(r, new(IntegerPlan), r.integer)
		case "layout":
			p.Layout = listOrNull(&r.reader, r.vmLayout)
		case "proof":
			p.Proof = orNull(r, new(Proof), r.proof)
		case "warnings":
			p.Warnings = listOrNull(&r.reader, r.warning)
		case "conflicts":
			p.Conflicts = listOrNull(&r.reader, r.conflict)
		}
	})
}

func (r *reader) null() bool {
	if r.space(); !r.sees("null") {
		return false
	}
	r.at += len("null")
	return true
}

// listOrNull reads an array, which need not be there.
func listOrNull[T any](r *reader, read func(*T)) []T {
	if r.null() {
		return nil
	}
	items, from := []T{}, r.at
	r.array("a list", func(int) {
		items = another(r, items, from, 0)
		read(&items[len(items)-1])
	})
	return items
}

// orNull reads what may be null into its place.
func orNull[T any](r *planReader, into *T, read func(*T)) *T {
	if r.null() {
		return nil
	}
	read(into)
	return into
}

func (r *planReader) optionalFloat() *float64 {
	if r.null() {
		return nil
	}
	x := r.figures.next()
	r.float(x)
	return x
}

func (r *planReader) optionalMoney() *Money {
	if r.null() {
		return nil
	}
	m := r.amounts.next()
	r.money(m)
	return m
}

func (r *planReader) string(into *string) { *into, _ = r.text() }

func (r *planReader) cost(c *Cost) {
	r.object(costShape, func(name string) {
		switch name {
		case "total":
			r.money(&c.Total)
		case "on_demand":
			r.money(&c.OnDemand)
		case "spot":
			r.money(&c.Spot)
		case "reserved":
			r.money(&c.Reserved)
		case "reserved_idle":
			r.money(&c.ReservedIdle)
		case "penalties":
			r.money(&c.Penalties)
		case "currency":
			r.string(&c.Currency)
		case "period_s":
			r.plainWhole(&c.PeriodSeconds)
		case "per_hour":
			r.money(&c.PerHour)
		case "per_month":
			r.money(&c.PerMonth)
		}
	})
}

// plainWhole reads a whole number that is written as one.
func (r *planReader) plainWhole(into *int64) {
	from := r.at
	if r.whole(into); bytes.ContainsAny(r.data[from:r.at], ".eE") {
		r.found("not_whole", "Whole numbers of a plan are written without a point.", nil)
	}
}

func (r *planReader) vms(v *VMs) {
	r.object(vmsShape, func(name string) {
		switch name {
		case "total":
			r.float(&v.Total)
		case "reserved":
			r.float(&v.Reserved)
		case "on_demand":
			r.float(&v.OnDemand)
		case "spot":
			r.float(&v.Spot)
		case "contracts":
			v.Contracts = listOrNull(&r.reader, r.contractUse)
		case "rounding":
			r.float(&v.Rounding)
		case "types":
			v.Types = listOrNull(&r.reader, r.typeVMs)
		}
	})
}

func (r *planReader) typeVMs(v *TypeVMs) {
	r.object(typeVMsShape, func(name string) {
		switch name {
		case "name":
			r.string(&v.Name)
		case "total":
			r.float(&v.Total)
		case "reserved":
			r.float(&v.Reserved)
		case "on_demand":
			r.float(&v.OnDemand)
		case "spot":
			r.float(&v.Spot)
		case "rounding":
			r.float(&v.Rounding)
		}
	})
}

func (r *planReader) contractUse(c *ContractUse) {
	r.object(contractUseShape, func(name string) {
		switch name {
		case "name":
			r.string(&c.Name)
		case "vm_type":
			r.string(&c.VMType)
		case "vms":
			r.float(&c.VMs)
		case "used":
			r.float(&c.Used)
		}
	})
}

func (r *planReader) classPlan(c *ClassPlan) {
	r.object(classPlanShape, func(name string) {
		switch name {
		case "name":
			r.string(&c.Name)
		case "admitted":
			r.float(&c.Admitted)
		case "refused":
			r.float(&c.Refused)
		case "vms":
			r.float(&c.VMs)
		case "vms_per_job":
			r.float(&c.VMsPerJob)
		case "slots":
			c.Slots = r.optionalSlots()
		case "time_s":
			c.Time = r.optionalTimes()
		case "verdict":
			known(&r.reader, &c.Verdict, "verdict", verdicts)
		case "reason":
			r.string(&c.Reason)
		case "break_even_penalty":
			c.BreakEvenPenalty = r.optionalMoney()
		case "flips":
			r.flips(&c.Flips)
		case "types":
			c.Types = listOrNull(&r.reader, r.classOnType)
		}
	})
}

func (r *planReader) flips(f *Flips) {
	r.object(flipsShape, func(name string) {
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

func (r *planReader) classOnType(c *ClassOnType) {
	r.object(classOnTypeShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&c.VMType)
		case "admitted":
			r.float(&c.Admitted)
		case "vms":
			r.float(&c.VMs)
		case "vms_per_job":
			r.float(&c.VMsPerJob)
		case "slots":
			c.Slots = r.optionalSlots()
		case "time_s":
			c.Time = r.optionalTimes()
		}
	})
}

func (r *planReader) optionalSlots() *Slots {
	if r.null() {
		return nil
	}
	s := r.slots.next()
	r.object(planSlotsShape, func(name string) {
		if name == "map" {
			r.float(&s.Map)
		} else {
			r.float(&s.Reduce)
		}
	})
	return s
}

func (r *planReader) optionalTimes() *Times {
	if r.null() {
		return nil
	}
	t := r.times.next()
	r.object(timesShape, func(name string) {
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
	r.object(pricesShape, func(name string) {
		switch name {
		case "capacity":
			r.object(capacityPriceShape, func(name string) { r.price(&p.Capacity, name) })
		case "contracts":
			p.Contracts = listOrNull(&r.reader, r.contractWorth)
		case "types":
			p.Types = listOrNull(&r.reader, r.typePrice)
		case "budget":
			p.Budget = r.optionalMoney()
		}
	})
}

func (r *planReader) price(p *CapacityPrice, name string) {
	if name == "low" {
		r.money(&p.Low)
	} else {
		p.High = r.optionalMoney()
	}
}

func (r *planReader) typePrice(p *TypePrice) {
	r.object(typePriceShape, func(name string) {
		if name == "name" {
			r.string(&p.Name)
		} else {
			r.price(&p.CapacityPrice, name)
		}
	})
}

func (r *planReader) contractWorth(c *ContractWorth) {
	r.object(contractWorthShape, func(name string) {
		if name == "name" {
			r.string(&c.Name)
		} else {
			r.money(&c.Worth)
		}
	})
}

func (r *planReader) relaxed(p *RelaxedPlan) {
	r.object(relaxedShape, func(name string) {
		switch name {
		case "objective":
			r.money(&p.Objective)
		case "capacity":
			r.float(&p.Capacity)
		case "jobs":
			p.Jobs = listOrNull(&r.reader, r.float)
		}
	})
}

func (r *planReader) integer(p *IntegerPlan) {
	r.object(integerShape, func(name string) {
		switch name {
		case "objective":
			r.money(&p.Objective)
		case "vms":
			r.float(&p.VMs)
		case "executable":
			r.flag(&p.Executable)
		case "short_vms":
			r.float(&p.ShortVMs)
		}
	})
}

func (r *planReader) vmLayout(v *VMLayout) {
	r.object(vmLayoutShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&v.VMType)
		case "vms":
			r.plainWhole(&v.VMs)
		case "slots":
			v.Slots = listOrNull(&r.reader, r.classSlots)
		}
	})
}

func (r *planReader) classSlots(s *ClassSlots) {
	r.object(classSlotsShape, func(name string) {
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
	r.object(proofShape, func(name string) {
		switch name {
		case "bound":
			r.money(&p.Bound)
		case "gap":
			r.float(&p.Gap)
		case "method":
			r.string(&p.Method)
		case "engine":
			r.string(&p.Engine)
		case "agreed":
			p.Agreed = orNull(r, new(bool), r.flag)
		case "checked":
			r.flag(&p.Checked)
		case "solve_ms":
			r.float(&p.SolveMs)
		}
	})
}

func (r *planReader) warning(w *Warning) {
	r.object(warningShape, func(name string) {
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

func (r *planReader) conflict(f *Finding) {
	r.object(conflictShape, func(name string) {
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
			f.Hint = orNull(r, new(Hint), r.hint)
		}
	})
}

func (r *planReader) position(into *int) {
	var n int64
	r.plainWhole(&n)
	*into = int(n)
}

func (r *planReader) hint(h *Hint) {
	r.object(hintShape, func(name string) {
		switch name {
		case "detail":
			r.string(&h.Detail)
		case "pointer":
			r.string(&h.Pointer)
		case "value": // whatever the member it is for may hold
			from := r.at
			if r.value(); r.failure != nil || len(r.findings) > 0 {
				return
			}
			if err := json.Unmarshal(r.data[from:r.at], &h.Value); err != nil {
				r.found("type", "This value cannot be read.", nil)
			}
		}
	})
}

// known reads one of a few words; any other is a finding.
func known[T ~string](r *reader, into *T, what string, words []T) {
	if r.space() != '"' {
		r.wrongType("a string")
		return
	}
	b, ok := r.quoted()
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
	r.found("choice", fmt.Sprintf("%q is no %s; there are %s.", clip(string(b)), what, strings.Join(list, ", ")), didYouMean(string(b), list))
}
