package whatif

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// maxFactor is the largest factor of a change: beyond it somebody has mistaken a value for a factor.
const maxFactor = 1000

// member is a set of members of a change.
type member uint8

const (
	classMember member = 1 << iota
	typeMember
	contractMember
	purchaseMember
	numberMember // factor or value
	addMember
	boundMember
)

// kindOfChange lists the members that a kind of change may and must have, and names it in messages.
type kindOfChange struct {
	what        What
	may, must   member
	description string
}

var kindsOfChange = []kindOfChange{
	{ChangeDeadline, classMember | numberMember, numberMember, "a change of deadlines"},
	{ChangeDemand, classMember | numberMember, numberMember, "a change of the demand"},
	{ChangePromised, classMember | numberMember, numberMember, "a change of the promised jobs"},
	{ChangePenalty, classMember | numberMember, numberMember, "a change of penalties"},
	{ChangePrice, typeMember | contractMember | purchaseMember | numberMember, numberMember, "a change of prices"},
	{ChangeQuota, typeMember | numberMember, 0, "a change of quotas"},
	{ChangeContract, typeMember | contractMember | numberMember, contractMember | numberMember, "a change of a contract's VMs"},
	{ChangeBudget, numberMember, 0, "a change of the budget for VMs"},
	{ChangeTotal, numberMember, 0, "a change of the total budget"},
	{ChangeSpotShare, typeMember | numberMember, numberMember, "a change of the share of spot VMs"},
	{ChangeDue, classMember | numberMember, numberMember, "a change of how long jobs may wait"},
	{ChangeBound, boundMember, boundMember, "a change of the bound"},
	{AddContract, typeMember | addMember, addMember, "a change that adds a contract"},
	{DropContract, typeMember | contractMember, contractMember, "a change that drops a contract"},
	{AddVMType, addMember, addMember, "a change that adds a VM type"},
	{DropVMType, typeMember, typeMember, "a change that drops a VM type"},
}

var (
	whatWords = func() (all []What) {
		for _, k := range kindsOfChange {
			all = append(all, k.what)
		}
		return all
	}()
)

// Validate says what is wrong with a scenario that is to be kept, whatever it is laid over.
func (s Scenario) Validate() error {
	return strict.Check(func(c *strict.Checker) {
		c.StoredName(s.Name)
		if s.Name == reservedByAddress {
			c.Refuse("name", "text", "The name %q means something else in addresses; give another.", s.Name)
		}
		c.Description("note", s.Note)
		s.check(c)
	})
}

// check looks at the changes by themselves.
func (s Scenario) check(c *strict.Checker) {
	if len(s.Changes) > maxScenarioChanges {
		c.Refuse("changes", "too_many", "Here are %d changes; a scenario may have %d at most.", len(s.Changes), maxScenarioChanges)
		return
	}
	c.Enter("changes")
	for i := range s.Changes {
		c.Element(i)
		s.Changes[i].check(c)
		c.Leave()
	}
	c.Leave()
}

func (ch *ScenarioChange) check(c *strict.Checker) {
	at := slices.IndexFunc(kindsOfChange, func(k kindOfChange) bool { return k.what == ch.What })
	if at < 0 {
		strict.OneOf(c, "what", ch.What, whatWords)
		return
	}
	kind := kindsOfChange[at]
	for _, m := range []struct {
		of   member
		name string
		is   bool
	}{
		{classMember, "class", ch.Class != ""}, {typeMember, "vm_type", ch.VMType != ""}, {contractMember, "contract", ch.Contract != ""},
		{purchaseMember, "purchase", ch.Purchase != ""}, {numberMember, "factor", ch.Factor != nil}, {numberMember, "value", ch.Value != nil},
		{addMember, "add", ch.Add != nil}, {boundMember, "bound", ch.Bound != ""},
	} {
		switch {
		case m.is && kind.may&m.of == 0:
			c.Refuse(m.name, "not_taken", "%s has no member %q; leave it out.", fault.Capital(kind.description), m.name)
		case !m.is && kind.must&m.of != 0 && m.of != numberMember:
			c.Refuse(m.name, "missing", "The member %q is missing; %s needs it.", m.name, kind.description)
		}
	}
	if kind.may&numberMember != 0 {
		ch.checkNumber(c, kind.must&numberMember != 0, kind.description)
	}
	if ch.Purchase != "" && kind.may&purchaseMember != 0 {
		strict.OneOf(c, "purchase", ch.Purchase, capacity.Purchases)
		if ch.Contract != "" {
			c.Refuse("purchase", "one_of", "A contract has one price; leave the purchase out.")
		}
	}
	if ch.Bound != "" && kind.may&boundMember != 0 {
		strict.OneOf(c, "bound", ch.Bound, capacity.Bounds)
	}
	if ch.Add != nil && kind.may&addMember != 0 {
		c.Enter("add")
		ch.Add.check(c, ch.What)
		c.Leave()
	}
}

// checkNumber looks at the factor or the value.
func (ch *ScenarioChange) checkNumber(c *strict.Checker, needed bool, description string) {
	switch {
	case ch.Factor != nil && ch.Value != nil:
		c.Refuse("value", "one_of", `Here are a factor and a value; keep one: "factor" multiplies what there is, "value" takes its place.`)
		return
	case ch.Factor == nil && ch.Value == nil:
		if needed {
			c.Refuse("", "one_of", `%s needs a number; give "factor" to multiply what there is, or "value" to take its place.`, fault.Capital(description))
		}
		return
	case ch.Factor != nil:
		if f := *ch.Factor; f > maxFactor && !math.IsInf(f, 0) {
			c.Refuse("factor", "range", `The factor is %s; it can be %d at most. If this is the new figure itself, give it as "value".`, fault.Plain(f), maxFactor)
		} else {
			c.Number("factor", "The factor", "", f, maxFactor)
		}
		return
	}
	money.Check(c, "value", "The value", *ch.Value)
}

func (a *AddedSupply) check(c *strict.Checker, what What) {
	if what == AddContract {
		if a.VMType != nil || a.SlotsPerVM != nil || a.Speed != nil {
			c.Refuse("", "not_taken", `Here a contract is added; give "contract" alone.`)
		}
		if a.Contract == nil {
			c.Refuse("contract", "missing", "The contract to add is missing.")
		}
		return
	}
	if a.Contract != nil {
		c.Refuse("contract", "not_taken", `Here a VM type is added; give its contracts in "vm_type".`)
	}
	if a.VMType == nil {
		c.Refuse("vm_type", "missing", "The VM type to add is missing.")
	}
}

// concerns says whether a change may be what is wrong at a member of the problem it has made.
func (ch *ScenarioChange) concerns(p *capacity.Problem, pointer string) bool {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	under := func(names ...string) bool {
		return slices.ContainsFunc(steps, func(s string) bool { return slices.Contains(names, s) })
	}
	switch steps[0] {
	case "options":
		return ch.What == ChangeBound
	case "budget":
		return ch.What == ChangeBudget && !under("total") || ch.What == ChangeTotal && !under("vm_cost")
	case "supply":
		switch ch.What {
		case ChangePrice:
			return under("price") && (ch.Contract == "" || under("contracts"))
		case ChangeQuota:
			return under("quota")
		case ChangeContract:
			return under("vms")
		case ChangeSpotShare:
			return under("max_share")
		}
		return ch.Add != nil || ch.What == DropContract || ch.What == DropVMType
	case "classes":
		if i := slices.IndexFunc(p.Classes, func(class capacity.Class) bool { return class.Name == ch.Class }); ch.Class != "" && len(steps) > 1 && steps[1] != strconv.Itoa(i) {
			return false
		}
		switch ch.What {
		case ChangeDeadline:
			return under("deadline_s")
		case ChangeDemand, ChangePromised:
			return under("jobs", "vms_per_job")
		case ChangePenalty:
			return under("penalty")
		case ChangeDue:
			return under("due_s", "due")
		}
		return ch.What == AddVMType || ch.What == DropVMType
	}
	return false
}
