package proof

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/core/words"
)

// conflicting checks what conflicts say, for one type of VMs or for a fleet: each sentence is told again from figures that
// the problem gives, or that stand in it and are right.
type conflicting struct {
	faults
	m      *model
	f      *fleet // nil for one type
	s      shortage
	o      Options
	doubts []string
	seen   map[string]bool
	needs  []float64 // VMs of the promises named, as they stand there
}

// conflictsMost is the number of classes whose promises are named at most, those that take most.
const conflictsMost = 10

// conflicts checks the sentences, codes and places of the conflicts, and that none is missing.
func (r *Report) conflicts(m *model, f *fleet, pl capacity.Plan, o Options) {
	k := conflicting{m: m, f: f, o: o, seen: map[string]bool{}}
	if f == nil {
		k.s = m.shortage()
	}
	for i, c := range pl.Conflicts {
		if k.seen[c.Pointer] {
			k.addf("Two conflicts are at %s.", c.Pointer)
		}
		if k.seen[c.Pointer] = true; c.Line != 0 || c.Column != 0 {
			k.addf("The conflict at %s has a line or a column.", c.Pointer)
		}
		k.one(i, c)
	}
	k.complete(pl.Conflicts)
	if len(k.faults) == 0 && len(k.doubts) > 0 {
		r.note(ConflictsCheck, NotProved, listed(k.doubts))
		return
	}
	r.add(ConflictsCheck, k.faults, "Each conflict says what the figures of the problem say.")
}

// says compares a conflict with its code and sentences; the cure's sentence follows from its value.
func (k *conflicting) says(c fault.Finding, code, cure string, details ...string) {
	detail, cut := c.Detail, -1
	if c.Hint == nil && k.m.limited() && code != words.CodeOverBudget {
		if cut = strings.LastIndex(detail[:max(0, strings.LastIndex(detail, fitsHere))], " With "); cut >= 0 {
			detail = detail[:cut]
		}
	}
	if c.Code != code || !slices.Contains(details, detail) {
		k.addf("The conflict at %s is %s, %.200q, and the problem says %s, %.200q.", c.Pointer, c.Code, c.Detail, code, details[0])
	} else if cut >= 0 {
		k.fitsWith(c.Pointer, c.Detail[cut:])
	}
	if h := c.Hint; h != nil && (h.Pointer != c.Pointer || h.Detail != cure || cure == "") {
		k.addf("The cure at %s is %.100q at %s, and its value says %.100q.", c.Pointer, h.Detail, h.Pointer, cure)
	}
}

// one checks one conflict.
func (k *conflicting) one(at int, c fault.Finding) {
	p := &k.m.problem
	steps := strings.Split(c.Pointer, "/")
	var x *exact.Rat // the cure's value
	if c.Hint != nil {
		x, _ = value(c.Hint.Value)
	}
	text, isText := "", false
	if c.Hint != nil {
		text, isText = c.Hint.Value.(string)
	}
	cure := func(amounts bool, said func() string) string {
		if x == nil || amounts != isText {
			return ""
		}
		return said()
	}
	raised := cure(true, func() string { return words.RaiseBudget(money.Amount{Decimal: amountOf(x).Decimal}) })
	switch i, ofClass := classOf(fault.Finding{Pointer: c.Pointer}, len(k.m.classes)); {
	case c.Pointer == totalPointer && k.m.limited():
		k.overTotal(c, text, raised)
	case c.Pointer == "/budget/vm_cost" && p.Budget != nil && p.Budget.VMCost != nil:
		k.overVMCost(c, raised)
	case strings.HasSuffix(c.Pointer, "/on_demand/quota"):
		v := 0
		if k.f != nil && k.f.named {
			if _, err := fmt.Sscanf(c.Pointer, "/supply/vm_types/%d/on_demand/quota", &v); err != nil {
				v = -1
			}
		}
		if v < 0 || v >= len(p.Supply.Types()) || c.Pointer != k.quotaPointer(v) || p.Supply.Types()[v].OnDemand.Quota == nil {
			k.addf("A conflict is at %.100q, where no quota is.", c.Pointer)
			return
		}
		k.overQuota(c, v, cure(false, func() string {
			if !x.IsInt() {
				return ""
			}
			return words.RaiseQuota(p.Supply.Types()[v].Name, x.Floor().Int64())
		}))
	case ofClass && strings.Join(steps[3:], "/") == "jobs/max" && p.Classes[i].Jobs.All && promisedOf(&p.Classes[i]) > 0:
		k.promised(c, i, cure(false, func() string { return words.AskAtMost(float(x)) }))
	case ofClass && strings.Join(steps[3:], "/") == "jobs/min" && !p.Classes[i].Jobs.All && promisedOf(&p.Classes[i]) > 0:
		k.promised(c, i, cure(false, func() string { return words.PromiseAtMost(float(x)) }))
	case ofClass && strings.Join(steps[3:], "/") == "deadline_s" && promisedOf(&p.Classes[i]) > 0 && p.Classes[i].VMsPerJob == nil:
		allow := cure(false, func() string { return words.AllowSeconds(float(x)) })
		if k.m.classes[i].impossible {
			k.impossible(c, i, allow)
		} else {
			k.says(c, words.CodeShortage, allow, words.MustFinish(p.Classes[i].Name, p.Classes[i].DeadlineSeconds))
		}
	default:
		k.addf("Conflict %d is at %.100q, where none can be.", at+1, c.Pointer)
	}
}

// quotaPointer is the place of a type's quota.
func (k *conflicting) quotaPointer(v int) string {
	if k.f != nil && k.f.named {
		return fmt.Sprintf("/supply/vm_types/%d/on_demand/quota", v)
	}
	return "/supply/on_demand/quota"
}

// saidBetween returns the number that stands in a sentence between two texts.
func saidBetween(sentence, before, after string) (x *exact.Rat, text string) {
	_, rest, found := strings.Cut(sentence, before)
	if text, _, there := strings.Cut(rest, after); found && there {
		x, _ = value(text)
		return x, text
	}
	return nil, ""
}

// overTotal checks that the cheapest plan costs what is said.
func (k *conflicting) overTotal(c fault.Finding, text, raised string) {
	x, said := saidBetween(c.Detail, "Bill and value refused together come to ", " in the cheapest plan")
	if x == nil || c.Hint != nil && text != said {
		k.addf("The cure at %s is %.60q, and the cheapest plan costs %.60q.", c.Pointer, text, said)
		return
	}
	k.costs(&k.m.problem, x)
	k.says(c, words.CodeOverBudget, raised, words.TotalOverBudget(amountOf(x), *k.m.problem.Budget.Total))
}

// costs checks what the cheapest plan costs without the budget for everything.
func (k *conflicting) costs(in *capacity.Problem, cost *exact.Rat) {
	p := *in
	b := *p.Budget
	b.Total, p.Budget = nil, &b
	objective := abs(cost)
	for i := range p.Classes {
		objective = smaller(objective, abs(sub(cost, mul(number(p.Classes[i].Jobs.Max), amount(p.Classes[i].Penalty.Decimal)))))
	}
	gap := mul(number(max(p.Options.Gap, 1e-9)), objective)
	l := Cheapest(p, cost.Rat(), gap.Rat(), Options{Nodes: k.o.Nodes, Pause: k.m.pause})
	l.Slack = add(exact.Of(l.Slack), roundings).Rat()
	switch l.Holds(cost.Rat(), gap.Rat()) {
	case Failed:
		k.addf("The cheapest plan does not cost %s.", amountOf(cost))
	case NotProved:
		k.doubts = append(k.doubts, fmt.Sprintf("Whether the cheapest plan costs %s is not known.", amountOf(cost)))
	}
}

// fitsHere stands in sentences about cures that are none.
const fitsHere = " here the promised jobs fit. "

// fitsWith checks the sentence about a cure that is none, since the cheapest plan then costs too much.
func (k *conflicting) fitsWith(pointer, sentence string) {
	x, text := saidBetween(sentence, " With ", " here")
	cost, _ := saidBetween(sentence, "Bill and value refused together come to ", " in the cheapest plan")
	if x == nil || cost == nil || sentence != words.FitsWith(text)+words.TotalOverBudget(amountOf(cost), *k.m.problem.Budget.Total) {
		k.addf("The conflict at %s ends with %.200q, which is no sentence about a cure.", pointer, sentence)
		return
	}
	cured, ok := apply(k.m.problem, fault.Hint{Pointer: pointer, Value: json.Number(text)})
	if !ok || len(readable(cured)) > 0 || !less(amount(k.m.problem.Budget.Total.Decimal), cost) {
		k.addf("%s at %s cannot be tried, or the plan for %s keeps the budget.", text, pointer, amountOf(cost))
		return
	}
	k.costs(&cured, cost)
}

// need checks a number of VMs that the promised jobs are said to need.
func (k *conflicting) need(c fault.Finding, x *exact.Rat) {
	low, high := k.s.low, k.s.high
	if k.m.integrality != capacity.Relaxed {
		low, high = upTo(low, zero()), upTo(high, zero())
	}
	half := add(exact.New(1, 2000), mul(relative, high)) // of the last place said
	switch {
	case less(x, sub(low, half)) || k.s.packed && k.s.known && less(add(high, half), x):
		k.addf("The promised jobs need from %s to %s VMs, not %s.", short(low), short(high), short(x))
	case !k.s.known || !k.s.packed && less(add(high, half), x):
		k.doubts = append(k.doubts, fmt.Sprintf("Whether the promised jobs need %s VMs hangs on how slots pack.", short(x)))
	}
	if k.s.vms == nil || !less(k.s.vms, x) {
		k.addf("The promised jobs do not lack VMs, and %s says that they do.", c.Pointer)
	}
}

// overVMCost checks the conflict with a budget for VMs.
func (k *conflicting) overVMCost(c fault.Finding, raised string) {
	budget := *k.m.problem.Budget.VMCost
	switch {
	case k.f != nil:
		k.lacks(c)
		if c.Hint == nil && !strings.Contains(c.Detail, fitsHere) {
			k.noQuotaHelps(c)
		}
		k.says(c, words.CodeShortage, raised, words.VMsOverBudget(budget))
	case k.m.overspent:
		k.says(c, words.CodeShortage, raised, words.FixedOverBudget(budget))
	default:
		x, _ := saidBetween(c.Detail, "The promised jobs need ", " VM")
		if x == nil || k.s.vms == nil {
			k.addf("The conflict at %s does not say how many VMs are needed.", c.Pointer)
			return
		}
		k.need(c, x)
		k.says(c, words.CodeShortage, raised, words.NeedsBudget(float(x), budget, k.s.vms.Floor().Int64()))
	}
}

// overQuota checks the conflict with a quota.
func (k *conflicting) overQuota(c fault.Finding, v int, cure string) {
	if k.f == nil {
		x, _ := saidBetween(c.Detail, "The promised jobs need ", " VM")
		if x == nil || k.s.vms == nil {
			k.addf("The conflict at %s does not say how many VMs are needed.", c.Pointer)
			return
		}
		k.need(c, x)
		k.says(c, words.CodeShortage, cure, words.NeedsVMs(float(x), k.s.vms.Floor().Int64()))
		return
	}
	k.lacks(c)
	t := &k.f.types[v]
	none := whole(capacity.MaxVMs)
	most := *t.model
	most.integrality = capacity.Integer // no part of a VM can be had
	had := (&vmType{model: &most, name: t.name, spot: t.spot}).limit(none)
	k.says(c, words.CodeShortage, cure, words.DoesNotFitInto(float(had), had.Cmp(none) >= 0, t.name, *k.m.problem.Supply.Types()[v].OnDemand.Quota))
}

// noQuotaHelps checks that a budget alone keeps the promised jobs of a fleet out, where no larger one is offered.
func (k *conflicting) noQuotaHelps(c fault.Finding) {
	p := k.m.problem
	p.Supply.OnDemand.Quota = nil
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	for v := range p.Supply.VMTypes {
		p.Supply.VMTypes[v].OnDemand.Quota = nil
	}
	if there, _ := newFleet(p, k.m.pause).promised(k.o.Nodes, true); there == yes {
		k.addf("Without quotas the promised jobs fit into the budget, and %s says that they cost more.", c.Pointer)
	}
}

// lacks checks that the promised jobs of a fleet do not fit.
func (k *conflicting) lacks(c fault.Finding) {
	if there, _ := k.f.promised(k.o.Nodes, true); there == yes {
		k.addf("The promised jobs fit, and %s says that they do not.", c.Pointer)
	}
}

// promised checks what a class's promise takes, and that promises stand in the order of that.
func (k *conflicting) promised(c fault.Finding, i int, cure string) {
	in := &k.m.problem.Classes[i]
	jobs := promisedOf(in)
	var said []string
	needs := k.needsOf(i)
	for _, each := range needs[:len(needs):len(needs)] { // and a hair beside, where the last place said is a half
		needs = append(needs, each*(1-1e-12), each*(1+1e-12))
	}
	for _, each := range needs {
		if k.f != nil {
			said = append(said, words.PromisedAtLeast(in.Name, jobs, each*jobs))
		} else {
			said = append(said, words.PromisedAlone(in.Name, jobs, each))
		}
	}
	k.says(c, words.CodeShortage, cure, said...)
	if last := len(k.needs) - 1; last >= 0 && needs[0]*jobs > k.needs[last]*(1+1e-9) {
		k.addf("%s takes more than the one before it.", in.Name)
	}
	k.needs = append(k.needs, needs[0]*jobs)
}

// needsOf is the VMs of a job of a class on the type where they are fewest. A demand without work in a phase leaves open
// whether it is there; both are told.
func (k *conflicting) needsOf(i int) (each []float64) {
	of := []*class{k.m.classes[i]}
	if k.f != nil {
		of = of[:0]
		for v := range k.f.types {
			of = append(of, k.f.types[v].classes[i])
		}
	}
	least := func(phases bool) float64 {
		lowest := math.Inf(1)
		for _, c := range of {
			if c.impossible {
				continue
			}
			if phases && !c.given {
				other := *c
				other.hasMap, other.hasReduce = true, true
				other.convert()
				c = &other
			}
			lowest = min(lowest, float(c.low))
		}
		return lowest
	}
	each = append(each, least(false))
	if !k.m.classes[i].given && !k.m.classes[i].profiled {
		each = append(each, least(true))
	}
	return each
}

// impossible checks the conflict of a class whose deadline no slots meet.
func (k *conflicting) impossible(c fault.Finding, i int, cure string) {
	in := &k.m.problem.Classes[i]
	if k.f == nil {
		k.says(c, words.CodeImpossible, cure, words.TooLongAlone(in.Name, float(k.m.classes[i].plan.c), in.DeadlineSeconds))
		return
	}
	possible := func(seconds float64) bool {
		g := k.f.with(i, func(c *capacity.Class) { c.DeadlineSeconds = seconds })
		return slices.ContainsFunc(g.types, func(t vmType) bool { return !t.classes[i].impossible })
	}
	from := 0.0
	if x, _ := saidBetween(c.Detail, "From ", " s on one can."); x != nil {
		from = float(x)
	}
	if from == 0 && possible(capacity.MaxSeconds) || from > 0 && (!possible(from) || from-1 >= in.DeadlineSeconds && possible(from-1)) {
		k.addf("%s: an execution cannot end just from a deadline of %v s on.", in.Name, from)
	}
	k.says(c, words.CodeImpossible, cure, words.TooLongEverywhere(in.Name, in.DeadlineSeconds, from))
}

// ConflictFaults lists what is wrong with the sentence of a conflict of a problem without a plan, wherever it may be.
func ConflictFaults(p capacity.Problem, sentence string, o Options) []string {
	k := conflicting{o: o, seen: map[string]bool{}}
	if isFleet(p) {
		k.f = newFleet(p, o.Pause)
		k.m = k.f.model
	} else {
		k.m = newModel(p, o.Pause)
		k.s = k.m.shortage()
	}
	places := []string{totalPointer, "/budget/vm_cost"}
	for v, s := range p.Supply.Types() {
		if s.OnDemand.Quota != nil {
			places = append(places, k.quotaPointer(v))
		}
	}
	for i := range k.m.classes {
		if k.m.classes[i].impossible {
			places = append(places, fmt.Sprintf("/classes/%d/deadline_s", i))
		}
	}
	for _, at := range places {
		code := words.CodeShortage
		if at == totalPointer {
			code = words.CodeOverBudget
		} else if strings.HasPrefix(at, "/classes/") {
			code = words.CodeImpossible
		}
		k.faults = nil
		if k.one(0, fault.Finding{Pointer: at, Code: code, Detail: sentence}); len(k.faults) == 0 {
			return nil
		}
	}
	return []string{fmt.Sprintf("The problem does not say %.200q.", sentence)}
}

// complete checks that no conflict is missing: the largest promises, and what they do not fit into.
func (k *conflicting) complete(stated []fault.Finding) {
	p := &k.m.problem
	if k.seen[totalPointer] {
		if len(stated) != 1 {
			k.addf("Beside the budget for everything there are other conflicts.")
		}
		return
	}
	alone := k.f == nil && k.m.overspent && len(k.s.impossible) == 0 || len(stated) > 0 && !slices.ContainsFunc(stated, func(c fault.Finding) bool { return c.Code != words.CodeImpossible })
	if alone {
		return
	}
	var needs []float64
	for i := range k.m.classes {
		if c := k.m.classes[i]; !c.impossible && c.min.Sign() > 0 {
			if x := k.needsOf(i)[0] * promisedOf(&p.Classes[i]); x > 0 {
				needs = append(needs, x)
			}
		}
	}
	slices.SortFunc(needs, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	needs = needs[:min(len(needs), conflictsMost)]
	if len(k.needs) != len(needs) && !(k.f == nil && k.m.overspent) || len(needs) > 0 && len(k.needs) > 0 && k.needs[len(k.needs)-1] < needs[len(needs)-1]*(1-1e-9) {
		k.addf("There are conflicts of %d promises, and %d take most.", len(k.needs), len(needs))
	}
	limits, budget := 0, p.Budget != nil && p.Budget.VMCost != nil
	for v, s := range p.Supply.Types() {
		at := k.quotaPointer(v)
		if k.seen[at] {
			limits++
		} else if s.OnDemand.Quota != nil && !budget {
			k.addf("No conflict is at %s.", at)
		}
	}
	if budget && k.seen["/budget/vm_cost"] {
		limits++
	}
	if limits == 0 {
		k.addf("No conflict names what the promised jobs do not fit into.")
	}
}
