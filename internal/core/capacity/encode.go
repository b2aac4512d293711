package capacity

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"headroom/internal/core/fault"
	"headroom/internal/core/money"
	"headroom/internal/core/strict"
)

// AppendPlan appends a plan's JSON: byte for byte what encoding/json writes with SetEscapeHTML(false),
// in a fraction of the time, because a service does hardly anything else with a plan. Every number
// of a plan is finite; one that is not would be written as null.
func AppendPlan(dst []byte, p Plan) []byte {
	t := planText{text: slices.Grow(dst, 2048+512*len(p.Classes)+80*len(p.Layout))} // about what it takes: growing copies
	t.plan(&p)
	return t.text
}

// WritePlan writes what AppendPlan appends, in pieces: the text of a million classes need never be in
// memory all at once.
func WritePlan(w io.Writer, p Plan) error {
	t := planText{text: make([]byte, 0, 2*pieceSize), out: w}
	t.plan(&p)
	t.flush()
	return t.err
}

// pieceSize is the length at which a text is handed on.
const pieceSize = 32 << 10

// planText is the text of a plan as it grows, or what of it has not been written to out yet.
type planText struct {
	text []byte
	out  io.Writer // nil: all of it is kept
	err  error
}

func (t *planText) flush() {
	if t.err == nil {
		_, t.err = t.out.Write(t.text)
	}
	t.text = t.text[:0]
}

func (t *planText) plan(p *Plan) {
	t.text = strict.AppendText(append(t.text, `{"status":`...), string(p.Status))
	t.text = money.AppendMoney(append(t.text, `,"objective":`...), p.Objective)
	t.text = appendCost(append(t.text, `,"cost":`...), &p.Cost)
	t.text = appendVMs(append(t.text, `,"vms":`...), &p.VMs)
	writeList(t, `,"classes":`, p.Classes, appendClassPlan)
	if p.Stays != nil {
		t.text = appendMoneyRange(append(t.text, `,"stays":{"on_demand_price":`...), p.Stays.OnDemandPrice)
		t.text = appendRange(append(t.text, `,"quota":`...), p.Stays.Quota)
		if len(p.Stays.Types) > 0 {
			t.text = appendList(append(t.text, `,"types":`...), p.Stays.Types, appendTypeStays)
		}
		t.text = append(t.text, '}')
	}
	if p.Prices != nil {
		t.text = appendPrices(append(t.text, `,"prices":`...), p.Prices)
	}
	if p.Relaxed != nil {
		t.relaxed(p.Relaxed)
	}
	if p.Integer != nil {
		t.text = appendInteger(append(t.text, `,"integer":`...), p.Integer)
	}
	if len(p.Layout) > 0 {
		writeList(t, `,"layout":`, p.Layout, appendVMLayout)
	}
	if p.Proof != nil {
		t.text = appendProof(append(t.text, `,"proof":`...), p.Proof)
	}
	if len(p.Facts) > 0 {
		writeList(t, `,"facts":`, p.Facts, appendFact)
	}
	writeList(t, `,"warnings":`, p.Warnings, appendWarning)
	writeList(t, `,"conflicts":`, p.Conflicts, appendFinding)
	t.text = append(t.text, '}')
}

func (t *planText) relaxed(r *RelaxedPlan) {
	t.text = money.AppendMoney(append(t.text, `,"relaxed":{"objective":`...), r.Objective)
	t.text = strict.AppendNumber(append(t.text, `,"capacity":`...), r.Capacity)
	writeList(t, `,"jobs":`, r.Jobs, func(dst []byte, x *float64) []byte { return strict.AppendNumber(dst, *x) })
	t.text = append(t.text, '}')
}

// writeList writes a member that is a list of any length: null where there is none.
func writeList[T any](t *planText, name string, items []T, item func([]byte, *T) []byte) {
	t.text = append(t.text, name...)
	if items == nil {
		t.text = append(t.text, "null"...)
		return
	}
	t.text = append(t.text, '[')
	for i := range items {
		if i > 0 {
			t.text = append(t.text, ',')
		}
		if t.text = item(t.text, &items[i]); t.out != nil && len(t.text) >= pieceSize {
			t.flush()
		}
	}
	t.text = append(t.text, ']')
}

func appendCost(dst []byte, c *Cost) []byte {
	dst = money.AppendMoney(append(dst, `{"total":`...), c.Total)
	dst = money.AppendMoney(append(dst, `,"bill":`...), c.Bill)
	dst = money.AppendMoney(append(dst, `,"on_demand":`...), c.OnDemand)
	if !c.Spot.IsZero() {
		dst = money.AppendMoney(append(dst, `,"spot":`...), c.Spot)
	}
	dst = money.AppendMoney(append(dst, `,"reserved":`...), c.Reserved)
	dst = money.AppendMoney(append(dst, `,"reserved_idle":`...), c.ReservedIdle)
	dst = money.AppendMoney(append(dst, `,"penalties":`...), c.Penalties)
	dst = strict.AppendText(append(dst, `,"currency":`...), c.Currency)
	dst = strconv.AppendInt(append(dst, `,"period_s":`...), c.PeriodSeconds, 10)
	dst = money.AppendMoney(append(dst, `,"per_hour":`...), c.PerHour)
	dst = money.AppendMoney(append(dst, `,"per_month":`...), c.PerMonth)
	return append(dst, '}')
}

func appendVMs(dst []byte, v *VMs) []byte {
	dst = strict.AppendNumber(append(dst, `{"total":`...), v.Total)
	dst = strict.AppendNumber(append(dst, `,"reserved":`...), v.Reserved)
	dst = strict.AppendNumber(append(dst, `,"on_demand":`...), v.OnDemand)
	if v.Spot != 0 {
		dst = strict.AppendNumber(append(dst, `,"spot":`...), v.Spot)
	}
	dst = appendList(append(dst, `,"contracts":`...), v.Contracts, appendContractUse)
	dst = strict.AppendNumber(append(dst, `,"rounding":`...), v.Rounding)
	if len(v.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), v.Types, appendTypeVMs)
	}
	return append(dst, '}')
}

func appendTypeVMs(dst []byte, v *TypeVMs) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), v.Name)
	dst = strict.AppendNumber(append(dst, `,"total":`...), v.Total)
	dst = strict.AppendNumber(append(dst, `,"reserved":`...), v.Reserved)
	dst = strict.AppendNumber(append(dst, `,"on_demand":`...), v.OnDemand)
	if v.Spot != 0 {
		dst = strict.AppendNumber(append(dst, `,"spot":`...), v.Spot)
	}
	dst = strict.AppendNumber(append(dst, `,"rounding":`...), v.Rounding)
	return append(dst, '}')
}

func appendContractUse(dst []byte, c *ContractUse) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), c.Name)
	if c.VMType != "" {
		dst = strict.AppendText(append(dst, `,"vm_type":`...), c.VMType)
	}
	dst = strict.AppendNumber(append(dst, `,"vms":`...), c.VMs)
	dst = strict.AppendNumber(append(dst, `,"used":`...), c.Used)
	return append(dst, '}')
}

func appendClassPlan(dst []byte, c *ClassPlan) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), c.Name)
	dst = strict.AppendNumber(append(dst, `,"admitted":`...), c.Admitted)
	dst = strict.AppendNumber(append(dst, `,"refused":`...), c.Refused)
	dst = strict.AppendNumber(append(dst, `,"vms":`...), c.VMs)
	dst = strict.AppendNumber(append(dst, `,"vms_per_job":`...), c.VMsPerJob)
	dst = appendNeed(dst, c.Slots, c.Time)
	dst = strict.AppendText(append(dst, `,"verdict":`...), string(c.Verdict))
	dst = strict.AppendText(append(dst, `,"reason":`...), c.Reason)
	dst = appendOptionalMoney(append(dst, `,"break_even_penalty":`...), c.BreakEvenPenalty)
	dst = appendOptionalMoney(append(dst, `,"flips":{"penalty":`...), c.Flips.Penalty)
	dst = appendOptional(append(dst, `,"deadline_s":`...), c.Flips.DeadlineSeconds)
	dst = appendOptionalMoney(append(dst, `,"on_demand_price":`...), c.Flips.OnDemandPrice)
	dst = append(dst, '}')
	if c.OneMore != nil {
		dst = appendJobChange(append(dst, `,"one_more":`...), c.OneMore)
	}
	if c.OneLess != nil {
		dst = appendJobChange(append(dst, `,"one_less":`...), c.OneLess)
	}
	if c.Stays != nil {
		dst = appendMoneyRange(append(dst, `,"stays":{"penalty":`...), c.Stays.Penalty)
		dst = appendRange(append(dst, `,"deadline_s":`...), c.Stays.DeadlineSeconds)
		dst = append(dst, '}')
	}
	if len(c.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), c.Types, appendClassOnType)
	}
	return append(dst, '}')
}

func appendJobChange(dst []byte, c *JobChange) []byte {
	dst = strconv.AppendBool(append(dst, `{"exact":`...), c.Exact)
	dst = strconv.AppendBool(append(dst, `,"fits":`...), c.Fits)
	dst = appendOptionalMoney(append(dst, `,"amount":`...), c.Amount)
	if c.Bill != nil {
		dst = money.AppendMoney(append(dst, `,"bill":`...), *c.Bill)
	}
	if c.ValueRefused != nil {
		dst = money.AppendMoney(append(dst, `,"value_refused":`...), *c.ValueRefused)
	}
	if c.VMs != nil {
		dst = strict.AppendNumber(append(dst, `,"vms":`...), *c.VMs)
	}
	if c.Budget != nil {
		dst = money.AppendMoney(append(dst, `,"budget":`...), *c.Budget)
	}
	if c.Jobs != nil {
		dst = strict.AppendNumber(append(dst, `,"jobs":`...), *c.Jobs)
	}
	if c.Low != nil {
		dst = money.AppendMoney(append(dst, `,"low":`...), *c.Low)
	}
	if c.High != nil {
		dst = money.AppendMoney(append(dst, `,"high":`...), *c.High)
	}
	return append(dst, '}')
}

func appendTypeStays(dst []byte, s *TypeStays) []byte {
	dst = strict.AppendText(append(dst, `{"vm_type":`...), s.VMType)
	dst = appendMoneyRange(append(dst, `,"on_demand_price":`...), s.OnDemandPrice)
	dst = appendRange(append(dst, `,"quota":`...), s.Quota)
	return append(dst, '}')
}

func appendRange(dst []byte, r *Range) []byte {
	if r == nil {
		return append(dst, "null"...)
	}
	dst = appendOptional(append(dst, `{"low":`...), r.Low)
	dst = appendOptional(append(dst, `,"high":`...), r.High)
	return append(dst, '}')
}

func appendMoneyRange(dst []byte, r *MoneyRange) []byte {
	if r == nil {
		return append(dst, "null"...)
	}
	dst = appendOptionalMoney(append(dst, `{"low":`...), r.Low)
	dst = appendOptionalMoney(append(dst, `,"high":`...), r.High)
	return append(dst, '}')
}

func appendClassOnType(dst []byte, c *ClassOnType) []byte {
	dst = strict.AppendText(append(dst, `{"vm_type":`...), c.VMType)
	dst = strict.AppendNumber(append(dst, `,"admitted":`...), c.Admitted)
	dst = strict.AppendNumber(append(dst, `,"vms":`...), c.VMs)
	dst = strict.AppendNumber(append(dst, `,"vms_per_job":`...), c.VMsPerJob)
	dst = appendNeed(dst, c.Slots, c.Time)
	return append(dst, '}')
}

// appendNeed writes the slots of some jobs and the time they take with them.
func appendNeed(dst []byte, slots *Slots, time *Times) []byte {
	dst = append(dst, `,"slots":`...)
	if slots == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strict.AppendNumber(append(dst, `{"map":`...), slots.Map)
		dst = strict.AppendNumber(append(dst, `,"reduce":`...), slots.Reduce)
		dst = append(dst, '}')
	}
	dst = append(dst, `,"time_s":`...)
	if time == nil {
		return append(dst, "null"...)
	}
	dst = appendOptional(append(dst, `{"lower":`...), time.Lower)
	dst = appendOptional(append(dst, `,"average":`...), time.Average)
	dst = appendOptional(append(dst, `,"upper":`...), time.Upper)
	if time.Calibrated != nil {
		dst = appendOptional(append(dst, `,"calibrated":`...), time.Calibrated)
	}
	return append(dst, '}')
}

func appendPrices(dst []byte, p *Prices) []byte {
	dst = appendCapacityPrice(append(dst, `{"capacity":{`...), p.Capacity)
	dst = appendList(append(dst, `},"contracts":`...), p.Contracts, appendContractWorth)
	if len(p.Types) > 0 {
		dst = appendList(append(dst, `,"types":`...), p.Types, appendTypePrice)
	}
	if p.Budget != nil {
		dst = money.AppendMoney(append(dst, `,"budget":`...), *p.Budget)
	}
	return append(dst, '}')
}

// appendCapacityPrice writes the members alone.
func appendCapacityPrice(dst []byte, p CapacityPrice) []byte {
	dst = money.AppendMoney(append(dst, `"low":`...), p.Low)
	return appendOptionalMoney(append(dst, `,"high":`...), p.High)
}

func appendTypePrice(dst []byte, p *TypePrice) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), p.Name)
	dst = appendCapacityPrice(append(dst, ','), p.CapacityPrice)
	return append(dst, '}')
}

func appendContractWorth(dst []byte, c *ContractWorth) []byte {
	dst = strict.AppendText(append(dst, `{"name":`...), c.Name)
	dst = money.AppendMoney(append(dst, `,"worth":`...), c.Worth)
	return append(dst, '}')
}

func appendInteger(dst []byte, p *IntegerPlan) []byte {
	dst = money.AppendMoney(append(dst, `{"objective":`...), p.Objective)
	dst = strict.AppendNumber(append(dst, `,"vms":`...), p.VMs)
	dst = strconv.AppendBool(append(dst, `,"executable":`...), p.Executable)
	dst = strict.AppendNumber(append(dst, `,"short_vms":`...), p.ShortVMs)
	return append(dst, '}')
}

func appendVMLayout(dst []byte, v *VMLayout) []byte {
	dst = append(dst, '{')
	if v.VMType != "" {
		dst = append(strict.AppendText(append(dst, `"vm_type":`...), v.VMType), ',')
	}
	dst = strconv.AppendInt(append(dst, `"vms":`...), v.VMs, 10)
	dst = appendList(append(dst, `,"slots":`...), v.Slots, appendClassSlots)
	return append(dst, '}')
}

func appendClassSlots(dst []byte, s *ClassSlots) []byte {
	dst = strict.AppendText(append(dst, `{"class":`...), s.Class)
	if s.Map != 0 {
		dst = strconv.AppendInt(append(dst, `,"map":`...), s.Map, 10)
	}
	if s.Reduce != 0 {
		dst = strconv.AppendInt(append(dst, `,"reduce":`...), s.Reduce, 10)
	}
	return append(dst, '}')
}

func appendProof(dst []byte, p *Proof) []byte {
	dst = money.AppendMoney(append(dst, `{"bound":`...), p.Bound)
	dst = strict.AppendNumber(append(dst, `,"gap":`...), p.Gap)
	dst = strict.AppendText(append(dst, `,"method":`...), p.Method)
	dst = strict.AppendText(append(dst, `,"engine":`...), p.Engine)
	dst = append(dst, `,"agreed":`...)
	if p.Agreed == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendBool(dst, *p.Agreed)
	}
	dst = strconv.AppendBool(append(dst, `,"checked":`...), p.Checked)
	dst = strict.AppendNumber(append(dst, `,"solve_ms":`...), p.SolveMs)
	return append(dst, '}')
}

func appendWarning(dst []byte, w *Warning) []byte {
	dst = strict.AppendText(append(dst, `{"code":`...), w.Code)
	if w.Pointer != "" {
		dst = strict.AppendText(append(dst, `,"pointer":`...), w.Pointer)
	}
	dst = strict.AppendText(append(dst, `,"detail":`...), w.Detail)
	return append(dst, '}')
}

// appendFinding leaves the writing to encoding/json: findings are few, and a hint's value can be
// anything.
func appendFinding(dst []byte, f *fault.Finding) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		return append(dst, "null"...)
	}
	return append(dst, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

// appendList writes an array: null where there is none.
func appendList[T any](dst []byte, items []T, item func([]byte, *T) []byte) []byte {
	if items == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, &items[i])
	}
	return append(dst, ']')
}

func appendOptional(dst []byte, x *float64) []byte {
	if x == nil {
		return append(dst, "null"...)
	}
	return strict.AppendNumber(dst, *x)
}

func appendOptionalMoney(dst []byte, m *money.Amount) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	return money.AppendMoney(dst, *m)
}
