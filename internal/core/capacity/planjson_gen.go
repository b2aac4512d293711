// Code generated from the tags of structs by scripts/planjson. DO NOT EDIT.

package capacity

import (
	"strconv"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

var planCapacityPriceShape = strict.NewShape("a price", []string{"low", "high"})

func (r *planReader) readCapacityPrice(x *CapacityPrice) {
	r.Object(planCapacityPriceShape, func(name string) {
		switch name {
		case "low":
			r.money(&x.Low)
		case "high":
			x.High = r.optionalMoney()
		}
	})
}

func appendCapacityPrice(dst []byte, x *CapacityPrice) []byte {
	dst = money.AppendMoney(append(dst, `{"low":`...), x.Low)
	dst = append(dst, `,"high":`...)
	if x.High == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.High)
	}
	return append(dst, '}')
}

var planClassOnTypeShape = strict.NewShape("a class's part on a type", []string{"vm_type", "admitted", "vms", "vms_per_job", "slots", "time_s"})

func (r *planReader) readClassOnType(x *ClassOnType) {
	r.Object(planClassOnTypeShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&x.VMType)
		case "admitted":
			r.Float(&x.Admitted)
		case "vms":
			r.Float(&x.VMs)
		case "vms_per_job":
			r.Float(&x.VMsPerJob)
		case "slots":
			x.Slots = orNull(r, &r.roomOfSlots, r.readSlots)
		case "time_s":
			x.Time = orNull(r, &r.roomOfTimes, r.readTimes)
		}
	})
}

func appendClassOnType(dst []byte, x *ClassOnType) []byte {
	dst = strict.AppendText(append(dst, `{"vm_type":`...), x.VMType)
	dst = strict.AppendNumber(append(dst, `,"admitted":`...), x.Admitted)
	dst = strict.AppendNumber(append(dst, `,"vms":`...), x.VMs)
	dst = strict.AppendNumber(append(dst, `,"vms_per_job":`...), x.VMsPerJob)
	dst = appendOrNull(append(dst, `,"slots":`...), x.Slots, appendSlots)
	dst = appendOrNull(append(dst, `,"time_s":`...), x.Time, appendTimes)
	return append(dst, '}')
}

var planClassPlanShape = strict.NewShape("a class's part", []string{"name", "admitted", "refused", "vms", "vms_per_job", "slots", "time_s", "verdict", "reason", "break_even_penalty", "flips"}, "one_more", "one_less", "stays", "promise", "types")

func (r *planReader) readClassPlan(x *ClassPlan) {
	r.Object(planClassPlanShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "admitted":
			r.Float(&x.Admitted)
		case "refused":
			r.Float(&x.Refused)
		case "vms":
			r.Float(&x.VMs)
		case "vms_per_job":
			r.Float(&x.VMsPerJob)
		case "slots":
			x.Slots = orNull(r, &r.roomOfSlots, r.readSlots)
		case "time_s":
			x.Time = orNull(r, &r.roomOfTimes, r.readTimes)
		case "verdict":
			known(r.Reader, &x.Verdict, "verdict", allVerdict)
		case "reason":
			r.string(&x.Reason)
		case "break_even_penalty":
			x.BreakEvenPenalty = r.optionalMoney()
		case "flips":
			r.readFlips(&x.Flips)
		case "one_more":
			x.OneMore = new(JobChange)
			r.readJobChange(x.OneMore)
		case "one_less":
			x.OneLess = new(JobChange)
			r.readJobChange(x.OneLess)
		case "stays":
			x.Stays = new(Stays)
			r.readStays(x.Stays)
		case "promise":
			x.Promise = new(Promise)
			r.readPromise(x.Promise)
		case "types":
			x.Types = listOrNull(r.Reader, r.readClassOnType)
		}
	})
}

func appendClassPlan(dst []byte, x *ClassPlan) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
	dst = strict.AppendNumber(append(dst, `,"admitted":`...), x.Admitted)
	dst = strict.AppendNumber(append(dst, `,"refused":`...), x.Refused)
	dst = strict.AppendNumber(append(dst, `,"vms":`...), x.VMs)
	dst = strict.AppendNumber(append(dst, `,"vms_per_job":`...), x.VMsPerJob)
	dst = appendOrNull(append(dst, `,"slots":`...), x.Slots, appendSlots)
	dst = appendOrNull(append(dst, `,"time_s":`...), x.Time, appendTimes)
	dst = strict.AppendText(append(dst, `,"verdict":`...), string(x.Verdict))
	dst = strict.AppendText(append(dst, `,"reason":`...), x.Reason)
	dst = append(dst, `,"break_even_penalty":`...)
	if x.BreakEvenPenalty == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.BreakEvenPenalty)
	}
	dst = appendFlips(append(dst, `,"flips":`...), &x.Flips)
	if x.OneMore != nil {
		dst = appendJobChange(append(dst, `,"one_more":`...), x.OneMore)
	}
	if x.OneLess != nil {
		dst = appendJobChange(append(dst, `,"one_less":`...), x.OneLess)
	}
	if x.Stays != nil {
		dst = appendStays(append(dst, `,"stays":`...), x.Stays)
	}
	if x.Promise != nil {
		dst = appendPromise(append(dst, `,"promise":`...), x.Promise)
	}
	if len(x.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), x.Types, appendClassOnType)
	}
	return append(dst, '}')
}

var planClassSlotsShape = strict.NewShape("a class's slots", []string{"class"}, "map", "reduce")

func (r *planReader) readClassSlots(x *ClassSlots) {
	r.Object(planClassSlotsShape, func(name string) {
		switch name {
		case "class":
			r.string(&x.Class)
		case "map":
			r.plainWhole(&x.Map)
		case "reduce":
			r.plainWhole(&x.Reduce)
		}
	})
}

func appendClassSlots(dst []byte, x *ClassSlots) []byte {
	dst = strict.AppendText(append(dst, `{"class":`...), x.Class)
	if x.Map != 0 {
		dst = strconv.AppendInt(append(dst, `,"map":`...), x.Map, 10)
	}
	if x.Reduce != 0 {
		dst = strconv.AppendInt(append(dst, `,"reduce":`...), x.Reduce, 10)
	}
	return append(dst, '}')
}

var planContractUseShape = strict.NewShape("a contract's use", []string{"name", "vms", "used"}, "vm_type")

func (r *planReader) readContractUse(x *ContractUse) {
	r.Object(planContractUseShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "vm_type":
			r.string(&x.VMType)
		case "vms":
			r.Float(&x.VMs)
		case "used":
			r.Float(&x.Used)
		}
	})
}

func appendContractUse(dst []byte, x *ContractUse) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
	if x.VMType != "" {
		dst = strict.AppendText(append(dst, `,"vm_type":`...), x.VMType)
	}
	dst = strict.AppendNumber(append(dst, `,"vms":`...), x.VMs)
	dst = strict.AppendNumber(append(dst, `,"used":`...), x.Used)
	return append(dst, '}')
}

var planContractWorthShape = strict.NewShape("a contract's worth", []string{"name", "worth"})

func (r *planReader) readContractWorth(x *ContractWorth) {
	r.Object(planContractWorthShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "worth":
			r.money(&x.Worth)
		}
	})
}

func appendContractWorth(dst []byte, x *ContractWorth) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
	dst = money.AppendMoney(append(dst, `,"worth":`...), x.Worth)
	return append(dst, '}')
}

var planCostShape = strict.NewShape("a cost", []string{"total", "on_demand", "reserved", "reserved_idle", "penalties", "currency", "period_s", "per_hour", "per_month"}, "bill", "spot")

func (r *planReader) readCost(x *Cost) {
	given := r.Object(planCostShape, func(name string) {
		switch name {
		case "total":
			r.money(&x.Total)
		case "bill":
			r.money(&x.Bill)
		case "on_demand":
			r.money(&x.OnDemand)
		case "spot":
			r.money(&x.Spot)
		case "reserved":
			r.money(&x.Reserved)
		case "reserved_idle":
			r.money(&x.ReservedIdle)
		case "penalties":
			r.money(&x.Penalties)
		case "currency":
			r.string(&x.Currency)
		case "period_s":
			r.plainWhole(&x.PeriodSeconds)
		case "per_hour":
			r.money(&x.PerHour)
		case "per_month":
			r.money(&x.PerMonth)
		}
	})
	r.billed(x, given)
}

func appendCost(dst []byte, x *Cost) []byte {
	dst = money.AppendMoney(append(dst, `{"total":`...), x.Total)
	dst = money.AppendMoney(append(dst, `,"bill":`...), x.Bill)
	dst = money.AppendMoney(append(dst, `,"on_demand":`...), x.OnDemand)
	if !x.Spot.IsZero() {
		dst = money.AppendMoney(append(dst, `,"spot":`...), x.Spot)
	}
	dst = money.AppendMoney(append(dst, `,"reserved":`...), x.Reserved)
	dst = money.AppendMoney(append(dst, `,"reserved_idle":`...), x.ReservedIdle)
	dst = money.AppendMoney(append(dst, `,"penalties":`...), x.Penalties)
	dst = strict.AppendText(append(dst, `,"currency":`...), x.Currency)
	dst = strconv.AppendInt(append(dst, `,"period_s":`...), x.PeriodSeconds, 10)
	dst = money.AppendMoney(append(dst, `,"per_hour":`...), x.PerHour)
	dst = money.AppendMoney(append(dst, `,"per_month":`...), x.PerMonth)
	return append(dst, '}')
}

var planFactShape = strict.NewShape("a fact", []string{"kind", "figures"}, "subject", "claim")

func (r *planReader) readFact(x *Fact) {
	r.Object(planFactShape, func(name string) {
		switch name {
		case "kind":
			r.string(&x.Kind)
		case "subject":
			r.string(&x.Subject)
		case "figures":
			x.Figures = listOrNull(r.Reader, r.readFigure)
		case "claim":
			r.string(&x.Claim)
		}
	})
}

func appendFact(dst []byte, x *Fact) []byte {
	dst = strict.AppendText(append(dst, `{"kind":`...), x.Kind)
	if x.Subject != "" {
		dst = strict.AppendText(append(dst, `,"subject":`...), x.Subject)
	}
	dst = appendList(append(dst, `,"figures":`...), x.Figures, appendFigure)
	if x.Claim != "" {
		dst = strict.AppendText(append(dst, `,"claim":`...), x.Claim)
	}
	return append(dst, '}')
}

var planFigureShape = strict.NewShape("a figure", []string{"name", "value", "unit"})

func (r *planReader) readFigure(x *Figure) {
	r.Object(planFigureShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "value":
			r.string(&x.Value)
		case "unit":
			r.string(&x.Unit)
		}
	})
}

func appendFigure(dst []byte, x *Figure) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
	dst = strict.AppendText(append(dst, `,"value":`...), x.Value)
	dst = strict.AppendText(append(dst, `,"unit":`...), x.Unit)
	return append(dst, '}')
}

var planFlipsShape = strict.NewShape("what would change a decision", []string{"penalty", "deadline_s", "on_demand_price"})

func (r *planReader) readFlips(x *Flips) {
	r.Object(planFlipsShape, func(name string) {
		switch name {
		case "penalty":
			x.Penalty = r.optionalMoney()
		case "deadline_s":
			x.DeadlineSeconds = r.optionalFloat()
		case "on_demand_price":
			x.OnDemandPrice = r.optionalMoney()
		}
	})
}

func appendFlips(dst []byte, x *Flips) []byte {
	dst = append(dst, `{"penalty":`...)
	if x.Penalty == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.Penalty)
	}
	dst = append(dst, `,"deadline_s":`...)
	if x.DeadlineSeconds == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(dst, *x.DeadlineSeconds)
	}
	dst = append(dst, `,"on_demand_price":`...)
	if x.OnDemandPrice == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.OnDemandPrice)
	}
	return append(dst, '}')
}

var planIntegerPlanShape = strict.NewShape("the integer program's answer", []string{"objective", "vms", "executable", "short_vms"})

func (r *planReader) readIntegerPlan(x *IntegerPlan) {
	r.Object(planIntegerPlanShape, func(name string) {
		switch name {
		case "objective":
			r.money(&x.Objective)
		case "vms":
			r.Float(&x.VMs)
		case "executable":
			r.Flag(&x.Executable)
		case "short_vms":
			r.Float(&x.ShortVMs)
		}
	})
}

func appendIntegerPlan(dst []byte, x *IntegerPlan) []byte {
	dst = money.AppendMoney(append(dst, `{"objective":`...), x.Objective)
	dst = strict.AppendNumber(append(dst, `,"vms":`...), x.VMs)
	dst = strconv.AppendBool(append(dst, `,"executable":`...), x.Executable)
	dst = strict.AppendNumber(append(dst, `,"short_vms":`...), x.ShortVMs)
	return append(dst, '}')
}

var planJobChangeShape = strict.NewShape("what a job more or less changes", []string{"exact", "fits", "amount"}, "bill", "value_refused", "vms", "budget", "jobs", "low", "high")

func (r *planReader) readJobChange(x *JobChange) {
	r.Object(planJobChangeShape, func(name string) {
		switch name {
		case "exact":
			r.Flag(&x.Exact)
		case "fits":
			r.Flag(&x.Fits)
		case "amount":
			x.Amount = r.optionalMoney()
		case "bill":
			x.Bill = r.optionalMoney()
		case "value_refused":
			x.ValueRefused = r.optionalMoney()
		case "vms":
			x.VMs = r.optionalFloat()
		case "budget":
			x.Budget = r.optionalMoney()
		case "jobs":
			x.Jobs = r.optionalFloat()
		case "low":
			x.Low = r.optionalMoney()
		case "high":
			x.High = r.optionalMoney()
		}
	})
}

func appendJobChange(dst []byte, x *JobChange) []byte {
	dst = strconv.AppendBool(append(dst, `{"exact":`...), x.Exact)
	dst = strconv.AppendBool(append(dst, `,"fits":`...), x.Fits)
	dst = append(dst, `,"amount":`...)
	if x.Amount == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.Amount)
	}
	if x.Bill != nil {
		dst = money.AppendMoney(append(dst, `,"bill":`...), *x.Bill)
	}
	if x.ValueRefused != nil {
		dst = money.AppendMoney(append(dst, `,"value_refused":`...), *x.ValueRefused)
	}
	if x.VMs != nil {
		dst = strict.AppendNumber(append(dst, `,"vms":`...), *x.VMs)
	}
	if x.Budget != nil {
		dst = money.AppendMoney(append(dst, `,"budget":`...), *x.Budget)
	}
	if x.Jobs != nil {
		dst = strict.AppendNumber(append(dst, `,"jobs":`...), *x.Jobs)
	}
	if x.Low != nil {
		dst = money.AppendMoney(append(dst, `,"low":`...), *x.Low)
	}
	if x.High != nil {
		dst = money.AppendMoney(append(dst, `,"high":`...), *x.High)
	}
	return append(dst, '}')
}

var planMoneyRangeShape = strict.NewShape("a range", []string{"low", "high"})

func (r *planReader) readMoneyRange(x *MoneyRange) {
	r.Object(planMoneyRangeShape, func(name string) {
		switch name {
		case "low":
			x.Low = r.optionalMoney()
		case "high":
			x.High = r.optionalMoney()
		}
	})
}

func appendMoneyRange(dst []byte, x *MoneyRange) []byte {
	dst = append(dst, `{"low":`...)
	if x.Low == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.Low)
	}
	dst = append(dst, `,"high":`...)
	if x.High == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.High)
	}
	return append(dst, '}')
}

var planPlanShape = strict.NewShape("a plan", []string{"status", "objective", "cost", "vms", "classes", "warnings", "conflicts"}, "stays", "prices", "relaxed", "integer", "layout", "proof", "facts")

func (r *planReader) readPlan(x *Plan) {
	given := r.Object(planPlanShape, func(name string) {
		switch name {
		case "status":
			known(r.Reader, &x.Status, "status", allStatus)
		case "objective":
			r.money(&x.Objective)
		case "cost":
			r.readCost(&x.Cost)
		case "vms":
			r.readVMs(&x.VMs)
		case "classes":
			x.Classes = listOrNull(r.Reader, r.readClassPlan)
		case "stays":
			x.Stays = new(PlanStays)
			r.readPlanStays(x.Stays)
		case "prices":
			x.Prices = new(Prices)
			r.readPrices(x.Prices)
		case "relaxed":
			x.Relaxed = new(RelaxedPlan)
			r.readRelaxedPlan(x.Relaxed)
		case "integer":
			x.Integer = new(IntegerPlan)
			r.readIntegerPlan(x.Integer)
		case "layout":
			x.Layout = listOrNull(r.Reader, r.readVMLayout)
		case "proof":
			x.Proof = new(Proof)
			r.readProof(x.Proof)
		case "facts":
			x.Facts = listOrNull(r.Reader, r.readFact)
		case "warnings":
			x.Warnings = listOrNull(r.Reader, r.readWarning)
		case "conflicts":
			x.Conflicts = listOrNull(r.Reader, r.finding)
		}
	})
	r.complete(x, given)
}

func (t *planText) writePlan(x *Plan) {
	t.text = strict.AppendText(append(t.text, `{"status":`...), string(x.Status))
	t.text = money.AppendMoney(append(t.text, `,"objective":`...), x.Objective)
	t.text = appendCost(append(t.text, `,"cost":`...), &x.Cost)
	t.text = appendVMs(append(t.text, `,"vms":`...), &x.VMs)
	t.text = append(t.text, `,"classes":`...)
	writeList(t, x.Classes, appendClassPlan)
	if x.Stays != nil {
		t.text = appendPlanStays(append(t.text, `,"stays":`...), x.Stays)
	}
	if x.Prices != nil {
		t.text = appendPrices(append(t.text, `,"prices":`...), x.Prices)
	}
	if x.Relaxed != nil {
		t.text = append(t.text, `,"relaxed":`...)
		t.writeRelaxedPlan(x.Relaxed)
	}
	if x.Integer != nil {
		t.text = appendIntegerPlan(append(t.text, `,"integer":`...), x.Integer)
	}
	if len(x.Layout) > 0 {
		t.text = append(t.text, `,"layout":`...)
		writeList(t, x.Layout, appendVMLayout)
	}
	if x.Proof != nil {
		t.text = appendProof(append(t.text, `,"proof":`...), x.Proof)
	}
	if len(x.Facts) > 0 {
		t.text = append(t.text, `,"facts":`...)
		writeList(t, x.Facts, appendFact)
	}
	t.text = append(t.text, `,"warnings":`...)
	writeList(t, x.Warnings, appendWarning)
	t.text = append(t.text, `,"conflicts":`...)
	writeList(t, x.Conflicts, appendFinding)
	t.text = append(t.text, '}')
}

var planPlanStaysShape = strict.NewShape("where the plan stays the best", []string{"on_demand_price", "quota"}, "types")

func (r *planReader) readPlanStays(x *PlanStays) {
	r.Object(planPlanStaysShape, func(name string) {
		switch name {
		case "on_demand_price":
			x.OnDemandPrice = orNull(r, &r.roomOfMoneyRange, r.readMoneyRange)
		case "quota":
			x.Quota = orNull(r, &r.roomOfRange, r.readRange)
		case "types":
			x.Types = listOrNull(r.Reader, r.readTypeStays)
		}
	})
}

func appendPlanStays(dst []byte, x *PlanStays) []byte {
	dst = appendOrNull(append(dst, `{"on_demand_price":`...), x.OnDemandPrice, appendMoneyRange)
	dst = appendOrNull(append(dst, `,"quota":`...), x.Quota, appendRange)
	if len(x.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), x.Types, appendTypeStays)
	}
	return append(dst, '}')
}

var planPricesShape = strict.NewShape("the list of prices", []string{"capacity", "contracts"}, "types", "budget")

func (r *planReader) readPrices(x *Prices) {
	r.Object(planPricesShape, func(name string) {
		switch name {
		case "capacity":
			r.readCapacityPrice(&x.Capacity)
		case "contracts":
			x.Contracts = listOrNull(r.Reader, r.readContractWorth)
		case "types":
			x.Types = listOrNull(r.Reader, r.readTypePrice)
		case "budget":
			x.Budget = r.optionalMoney()
		}
	})
}

func appendPrices(dst []byte, x *Prices) []byte {
	dst = appendCapacityPrice(append(dst, `{"capacity":`...), &x.Capacity)
	dst = appendList(append(dst, `,"contracts":`...), x.Contracts, appendContractWorth)
	if len(x.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), x.Types, appendTypePrice)
	}
	if x.Budget != nil {
		dst = money.AppendMoney(append(dst, `,"budget":`...), *x.Budget)
	}
	return append(dst, '}')
}

var planPromiseShape = strict.NewShape("a promise", []string{"factor", "target", "confidence", "expected", "low", "high", "executions", "missed", "replications", "seed", "lending", "deadline_s", "map_work_s", "reduce_work_s", "fixed_s", "jobs_from", "jobs_until"})

func (r *planReader) readPromise(x *Promise) {
	r.Object(planPromiseShape, func(name string) {
		switch name {
		case "factor":
			r.Float(&x.Factor)
		case "target":
			r.Float(&x.Target)
		case "confidence":
			r.Float(&x.Confidence)
		case "expected":
			r.Float(&x.Expected)
		case "low":
			r.Float(&x.Low)
		case "high":
			r.Float(&x.High)
		case "executions":
			r.plainWhole(&x.Executions)
		case "missed":
			r.plainWhole(&x.Missed)
		case "replications":
			r.plainWhole(&x.Replications)
		case "seed":
			r.plainWhole(&x.Seed)
		case "lending":
			r.string(&x.Lending)
		case "deadline_s":
			r.Float(&x.DeadlineSeconds)
		case "map_work_s":
			r.Float(&x.MapWorkSeconds)
		case "reduce_work_s":
			r.Float(&x.ReduceWorkSeconds)
		case "fixed_s":
			r.Float(&x.FixedSeconds)
		case "jobs_from":
			r.Float(&x.JobsFrom)
		case "jobs_until":
			r.Float(&x.JobsUntil)
		}
	})
}

func appendPromise(dst []byte, x *Promise) []byte {
	dst = strict.AppendNumber(append(dst, `{"factor":`...), x.Factor)
	dst = strict.AppendNumber(append(dst, `,"target":`...), x.Target)
	dst = strict.AppendNumber(append(dst, `,"confidence":`...), x.Confidence)
	dst = strict.AppendNumber(append(dst, `,"expected":`...), x.Expected)
	dst = strict.AppendNumber(append(dst, `,"low":`...), x.Low)
	dst = strict.AppendNumber(append(dst, `,"high":`...), x.High)
	dst = strconv.AppendInt(append(dst, `,"executions":`...), x.Executions, 10)
	dst = strconv.AppendInt(append(dst, `,"missed":`...), x.Missed, 10)
	dst = strconv.AppendInt(append(dst, `,"replications":`...), x.Replications, 10)
	dst = strconv.AppendInt(append(dst, `,"seed":`...), x.Seed, 10)
	dst = strict.AppendText(append(dst, `,"lending":`...), x.Lending)
	dst = strict.AppendNumber(append(dst, `,"deadline_s":`...), x.DeadlineSeconds)
	dst = strict.AppendNumber(append(dst, `,"map_work_s":`...), x.MapWorkSeconds)
	dst = strict.AppendNumber(append(dst, `,"reduce_work_s":`...), x.ReduceWorkSeconds)
	dst = strict.AppendNumber(append(dst, `,"fixed_s":`...), x.FixedSeconds)
	dst = strict.AppendNumber(append(dst, `,"jobs_from":`...), x.JobsFrom)
	dst = strict.AppendNumber(append(dst, `,"jobs_until":`...), x.JobsUntil)
	return append(dst, '}')
}

var planProofShape = strict.NewShape("a proof", []string{"bound", "gap", "method", "engine", "agreed", "checked", "solve_ms"}, "limited")

func (r *planReader) readProof(x *Proof) {
	r.Object(planProofShape, func(name string) {
		switch name {
		case "bound":
			r.money(&x.Bound)
		case "gap":
			r.Float(&x.Gap)
		case "limited":
			known(r.Reader, &x.Limited, "cutoff", allCutoff)
		case "method":
			r.string(&x.Method)
		case "engine":
			r.string(&x.Engine)
		case "agreed":
			x.Agreed = orNull(r, &room[bool]{}, r.Flag)
		case "checked":
			r.Flag(&x.Checked)
		case "solve_ms":
			r.Float(&x.SolveMs)
		}
	})
}

func appendProof(dst []byte, x *Proof) []byte {
	dst = money.AppendMoney(append(dst, `{"bound":`...), x.Bound)
	dst = strict.AppendNumber(append(dst, `,"gap":`...), x.Gap)
	if x.Limited != "" {
		dst = strict.AppendText(append(dst, `,"limited":`...), string(x.Limited))
	}
	dst = strict.AppendText(append(dst, `,"method":`...), x.Method)
	dst = strict.AppendText(append(dst, `,"engine":`...), x.Engine)
	dst = append(dst, `,"agreed":`...)
	if x.Agreed == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendBool(dst, *x.Agreed)
	}
	dst = strconv.AppendBool(append(dst, `,"checked":`...), x.Checked)
	dst = strict.AppendNumber(append(dst, `,"solve_ms":`...), x.SolveMs)
	return append(dst, '}')
}

var planRangeShape = strict.NewShape("a range", []string{"low", "high"})

func (r *planReader) readRange(x *Range) {
	r.Object(planRangeShape, func(name string) {
		switch name {
		case "low":
			x.Low = r.optionalFloat()
		case "high":
			x.High = r.optionalFloat()
		}
	})
}

func appendRange(dst []byte, x *Range) []byte {
	dst = append(dst, `{"low":`...)
	if x.Low == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(dst, *x.Low)
	}
	dst = append(dst, `,"high":`...)
	if x.High == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(dst, *x.High)
	}
	return append(dst, '}')
}

var planRelaxedPlanShape = strict.NewShape("the linear program's answer", []string{"objective", "capacity", "jobs"})

func (r *planReader) readRelaxedPlan(x *RelaxedPlan) {
	r.Object(planRelaxedPlanShape, func(name string) {
		switch name {
		case "objective":
			r.money(&x.Objective)
		case "capacity":
			r.Float(&x.Capacity)
		case "jobs":
			x.Jobs = listOrNull(r.Reader, r.Float)
		}
	})
}

func (t *planText) writeRelaxedPlan(x *RelaxedPlan) {
	t.text = money.AppendMoney(append(t.text, `{"objective":`...), x.Objective)
	t.text = strict.AppendNumber(append(t.text, `,"capacity":`...), x.Capacity)
	t.text = append(t.text, `,"jobs":`...)
	writeList(t, x.Jobs, appendFloat)
	t.text = append(t.text, '}')
}

var planSlotsShape = strict.NewShape("a number of slots", []string{"map", "reduce"})

func (r *planReader) readSlots(x *Slots) {
	r.Object(planSlotsShape, func(name string) {
		switch name {
		case "map":
			r.Float(&x.Map)
		case "reduce":
			r.Float(&x.Reduce)
		}
	})
}

func appendSlots(dst []byte, x *Slots) []byte {
	dst = strict.AppendNumber(append(dst, `{"map":`...), x.Map)
	dst = strict.AppendNumber(append(dst, `,"reduce":`...), x.Reduce)
	return append(dst, '}')
}

var planStaysShape = strict.NewShape("where the plan stays the best", []string{"penalty", "deadline_s"})

func (r *planReader) readStays(x *Stays) {
	r.Object(planStaysShape, func(name string) {
		switch name {
		case "penalty":
			x.Penalty = orNull(r, &r.roomOfMoneyRange, r.readMoneyRange)
		case "deadline_s":
			x.DeadlineSeconds = orNull(r, &r.roomOfRange, r.readRange)
		}
	})
}

func appendStays(dst []byte, x *Stays) []byte {
	dst = appendOrNull(append(dst, `{"penalty":`...), x.Penalty, appendMoneyRange)
	dst = appendOrNull(append(dst, `,"deadline_s":`...), x.DeadlineSeconds, appendRange)
	return append(dst, '}')
}

var planTimesShape = strict.NewShape("a predicted time", []string{"lower", "average", "upper"}, "calibrated", "promised")

func (r *planReader) readTimes(x *Times) {
	r.Object(planTimesShape, func(name string) {
		switch name {
		case "lower":
			x.Lower = r.optionalFloat()
		case "average":
			x.Average = r.optionalFloat()
		case "upper":
			x.Upper = r.optionalFloat()
		case "calibrated":
			x.Calibrated = r.optionalFloat()
		case "promised":
			x.Promised = r.optionalFloat()
		}
	})
}

func appendTimes(dst []byte, x *Times) []byte {
	dst = append(dst, `{"lower":`...)
	if x.Lower == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(dst, *x.Lower)
	}
	dst = append(dst, `,"average":`...)
	if x.Average == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(dst, *x.Average)
	}
	dst = append(dst, `,"upper":`...)
	if x.Upper == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(dst, *x.Upper)
	}
	if x.Calibrated != nil {
		dst = strict.AppendNumber(append(dst, `,"calibrated":`...), *x.Calibrated)
	}
	if x.Promised != nil {
		dst = strict.AppendNumber(append(dst, `,"promised":`...), *x.Promised)
	}
	return append(dst, '}')
}

var planTypePriceShape = strict.NewShape("a type's price", []string{"name", "low", "high"})

func (r *planReader) readTypePrice(x *TypePrice) {
	r.Object(planTypePriceShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "low":
			r.money(&x.Low)
		case "high":
			x.High = r.optionalMoney()
		}
	})
}

func appendTypePrice(dst []byte, x *TypePrice) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
	dst = money.AppendMoney(append(dst, `,"low":`...), x.Low)
	dst = append(dst, `,"high":`...)
	if x.High == nil {
		dst = append(dst, "null"...)
	} else {
		dst = money.AppendMoney(dst, *x.High)
	}
	return append(dst, '}')
}

var planTypeStaysShape = strict.NewShape("where the plan stays the best by a VM type", []string{"vm_type", "on_demand_price", "quota"})

func (r *planReader) readTypeStays(x *TypeStays) {
	r.Object(planTypeStaysShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&x.VMType)
		case "on_demand_price":
			x.OnDemandPrice = orNull(r, &r.roomOfMoneyRange, r.readMoneyRange)
		case "quota":
			x.Quota = orNull(r, &r.roomOfRange, r.readRange)
		}
	})
}

func appendTypeStays(dst []byte, x *TypeStays) []byte {
	dst = strict.AppendText(append(dst, `{"vm_type":`...), x.VMType)
	dst = appendOrNull(append(dst, `,"on_demand_price":`...), x.OnDemandPrice, appendMoneyRange)
	dst = appendOrNull(append(dst, `,"quota":`...), x.Quota, appendRange)
	return append(dst, '}')
}

var planTypeVMsShape = strict.NewShape("what is rented of a type", []string{"name", "total", "reserved", "on_demand", "rounding"}, "spot")

func (r *planReader) readTypeVMs(x *TypeVMs) {
	r.Object(planTypeVMsShape, func(name string) {
		switch name {
		case "name":
			r.string(&x.Name)
		case "total":
			r.Float(&x.Total)
		case "reserved":
			r.Float(&x.Reserved)
		case "on_demand":
			r.Float(&x.OnDemand)
		case "spot":
			r.Float(&x.Spot)
		case "rounding":
			r.Float(&x.Rounding)
		}
	})
}

func appendTypeVMs(dst []byte, x *TypeVMs) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), x.Name)
	dst = strict.AppendNumber(append(dst, `,"total":`...), x.Total)
	dst = strict.AppendNumber(append(dst, `,"reserved":`...), x.Reserved)
	dst = strict.AppendNumber(append(dst, `,"on_demand":`...), x.OnDemand)
	if x.Spot != 0 {
		dst = strict.AppendNumber(append(dst, `,"spot":`...), x.Spot)
	}
	dst = strict.AppendNumber(append(dst, `,"rounding":`...), x.Rounding)
	return append(dst, '}')
}

var planVMLayoutShape = strict.NewShape("a part of the layout", []string{"vms", "slots"}, "vm_type")

func (r *planReader) readVMLayout(x *VMLayout) {
	r.Object(planVMLayoutShape, func(name string) {
		switch name {
		case "vm_type":
			r.string(&x.VMType)
		case "vms":
			r.plainWhole(&x.VMs)
		case "slots":
			x.Slots = listOrNull(r.Reader, r.readClassSlots)
		}
	})
}

func appendVMLayout(dst []byte, x *VMLayout) []byte {
	dst = append(dst, '{')
	if x.VMType != "" {
		dst = strict.AppendText(append(dst, `"vm_type":`...), x.VMType)
		dst = append(dst, ',')
	}
	dst = strconv.AppendInt(append(dst, `"vms":`...), x.VMs, 10)
	dst = appendList(append(dst, `,"slots":`...), x.Slots, appendClassSlots)
	return append(dst, '}')
}

var planVMsShape = strict.NewShape("what is rented", []string{"total", "reserved", "on_demand", "contracts", "rounding"}, "spot", "types")

func (r *planReader) readVMs(x *VMs) {
	r.Object(planVMsShape, func(name string) {
		switch name {
		case "total":
			r.Float(&x.Total)
		case "reserved":
			r.Float(&x.Reserved)
		case "on_demand":
			r.Float(&x.OnDemand)
		case "spot":
			r.Float(&x.Spot)
		case "contracts":
			x.Contracts = listOrNull(r.Reader, r.readContractUse)
		case "rounding":
			r.Float(&x.Rounding)
		case "types":
			x.Types = listOrNull(r.Reader, r.readTypeVMs)
		}
	})
}

func appendVMs(dst []byte, x *VMs) []byte {
	dst = strict.AppendNumber(append(dst, `{"total":`...), x.Total)
	dst = strict.AppendNumber(append(dst, `,"reserved":`...), x.Reserved)
	dst = strict.AppendNumber(append(dst, `,"on_demand":`...), x.OnDemand)
	if x.Spot != 0 {
		dst = strict.AppendNumber(append(dst, `,"spot":`...), x.Spot)
	}
	dst = appendList(append(dst, `,"contracts":`...), x.Contracts, appendContractUse)
	dst = strict.AppendNumber(append(dst, `,"rounding":`...), x.Rounding)
	if len(x.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), x.Types, appendTypeVMs)
	}
	return append(dst, '}')
}

var planWarningShape = strict.NewShape("a warning", []string{"code", "detail"}, "pointer")

func (r *planReader) readWarning(x *Warning) {
	r.Object(planWarningShape, func(name string) {
		switch name {
		case "code":
			r.string(&x.Code)
		case "pointer":
			r.string(&x.Pointer)
		case "detail":
			r.string(&x.Detail)
		}
	})
}

func appendWarning(dst []byte, x *Warning) []byte {
	dst = strict.AppendText(append(dst, `{"code":`...), x.Code)
	if x.Pointer != "" {
		dst = strict.AppendText(append(dst, `,"pointer":`...), x.Pointer)
	}
	dst = strict.AppendText(append(dst, `,"detail":`...), x.Detail)
	return append(dst, '}')
}

type planRooms struct {
	roomOfMoneyRange room[MoneyRange]
	roomOfRange      room[Range]
	roomOfSlots      room[Slots]
	roomOfTimes      room[Times]
}
