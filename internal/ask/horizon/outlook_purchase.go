package horizon

import (
	"fmt"
	"slices"
	"strings"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/data/inputs"
)

// Purchase returns a cluster's purchase question about its outlook: the offers of one VM type, beside the classes
// that run on it, as if they ran on nothing else. Purchases do not consider spot VMs and a budget. The question must
// exclude these explicitly, and a warning names them.
func (o Outlook) Purchase(q ClusterPurchaseQuestion) (PurchaseQuestion, []capacity.Warning, error) {
	vmType, err := o.typeNamed(q.VMType)
	if err != nil {
		return PurchaseQuestion{}, nil, err
	}
	var left []capacity.Warning
	if left, err = o.leftOut(q.LeaveOut, vmType); err != nil {
		return PurchaseQuestion{}, nil, err
	}
	asItIs := o
	if o.Scenario.Changes, err = o.weighable(q.LeaveOut, vmType.Name); err != nil {
		return PurchaseQuestion{}, nil, o.Scenario.Place(err)
	}
	o, others := o.onType(vmType.Name)
	left = append(left, others...)
	h, warnings, err := o.Horizon()
	if err != nil {
		return PurchaseQuestion{}, nil, err
	}
	alone(&h, vmType.Name)
	h.Problem.Options.Gap = DefaultPurchaseGap
	if q.Gap != nil {
		h.Problem.Options.Gap = *q.Gap
	}
	asked := PurchaseQuestion{Horizon: h, Offers: q.Offers, Assume: q.Assume, Factors: q.Factors, LeaveOut: q.LeaveOut, Detail: q.Detail}
	asked.LeaveOut = asked.leftOut()
	if slices.ContainsFunc(asItIs.VMTypes, func(v inputs.VMType) bool { return v.InUse && v.Name != vmType.Name }) {
		whole, _, err := asItIs.Horizon()
		if err != nil {
			return PurchaseQuestion{}, nil, err
		}
		asked.Whole = &WholeCluster{whole, vmType.Name}
	}
	return asked, append(left, warnings...), nil
}

// TypeToBuy returns the name of the VM type that a question is about: the named one, or the only one in use.
func (o *Outlook) TypeToBuy(name string) (string, error) {
	t, err := o.typeNamed(name)
	return t.Name, err
}

func (o *Outlook) typeNamed(name string) (inputs.VMType, error) {
	var used []inputs.VMType
	var names []string
	for _, v := range o.VMTypes {
		if v.InUse {
			used, names = append(used, v), append(names, v.Name)
		}
	}
	at := slices.Index(names, name)
	switch {
	case name == "" && len(used) == 1:
		return used[0], nil
	case at >= 0:
		return used[at], nil
	case len(used) == 0: // which Problem has a sentence for
		_, err := o.Snapshot.Problem(o.From)
		return inputs.VMType{}, err
	case name == "":
		return inputs.VMType{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/vm_type", Code: "missing",
			Detail: fmt.Sprintf("The cluster has %d VM types in use: %s. Offers are weighed for one of them, with the classes that run on it as if they ran on nothing else; say which.", len(used), fault.Clip(strings.Join(names, ", "))),
			Hint:   &fault.Hint{Detail: fmt.Sprintf("Name %q, for instance.", fault.Clip(names[0])), Pointer: "/vm_type", Value: names[0]}}}}
	}
	var k strict.Checker
	strict.UnknownName(&k, "vm_type", "VM type in use", name, names)
	return inputs.VMType{}, fault.Refusal(k.Findings, k.Unlisted)
}

// Standing returns the cluster's own offers of a VM type for a question: those it names, or all. An offer with the
// name of a contract gets another name.
func (o *Outlook) Standing(all []inputs.StandingOffer, q ClusterPurchaseQuestion) ([]capacity.Offer, error) {
	var k strict.Checker
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	chosen := all
	if q.Named != nil {
		chosen = nil
		k.Enter("named")
		for i, name := range q.Named {
			at := slices.Index(names, name)
			if at >= 0 {
				chosen = append(chosen, all[at])
				continue
			}
			k.Element(i)
			strict.UnknownName(&k, "", fmt.Sprintf("offer of the VM type %q", fault.Clip(q.VMType)), name, names)
			k.Leave()
		}
		k.Leave()
	}
	switch n := len(chosen); {
	case len(k.Findings) > 0:
	case n == 0:
		k.Refuse("offers", "missing", "The cluster %q has no offer of the VM type %q; give offers in the question, or add some to the cluster.", fault.Clip(o.Cluster.Name), fault.Clip(q.VMType))
	case n > MaxOffers:
		k.Found("named", "too_many", fmt.Sprintf("The cluster %q has %d offers of the VM type %q; %d are weighed at once at most. Name those that matter.", fault.Clip(o.Cluster.Name), n, fault.Clip(q.VMType), MaxOffers),
			k.Hint("named", names[:MaxOffers], "Name up to %d of them.", MaxOffers))
	}
	if err := fault.Refusal(k.Findings, k.Unlisted); err != nil {
		return nil, err
	}
	offers := make([]capacity.Offer, len(chosen))
	for i := range chosen {
		offers[i] = chosen[i].Offer(nil)
		for slices.ContainsFunc(o.Contracts, func(c inputs.SignedContract) bool { return c.Name == offers[i].Name }) {
			offers[i].Name += " (offer)"
		}
	}
	return offers, nil
}

// leftOut warns of the parts that purchases do not consider. It refuses those that the question did not exclude.
func (o *Outlook) leftOut(out []LeftOut, vmType inputs.VMType) ([]capacity.Warning, error) {
	var has []LeftOut
	var said []string
	warnings := []capacity.Warning{}
	if vmType.Spot != nil {
		has = append(has, WithoutSpot)
		said = append(said, fmt.Sprintf("the spot VMs of %q", fault.Clip(vmType.Name)))
		warnings = append(warnings, capacity.Warning{Code: "spot_left_out", Detail: fmt.Sprintf("Spot VMs of %q are left out: offers are weighed against VMs on demand. What is best then is planned with spot VMs as well, and dropped where it costs more.", fault.Clip(vmType.Name))})
	}
	if b := o.Cluster.Budget; b != nil && (b.VMCost != nil || b.Total != nil) {
		has = append(has, WithoutBudget)
		said = append(said, "the cluster's budget")
		warnings = append(warnings, capacity.Warning{Code: "budget_left_out", Detail: "The cluster's budget is left out: see what the recommendation costs. It is planned within the budget as well, and dropped where it costs more."})
	}
	for _, what := range has {
		if !slices.Contains(out, what) {
			return nil, &fault.InputError{Findings: []fault.Finding{{Pointer: "/leave_out", Code: "not_taken",
				Detail: fmt.Sprintf("Offers are weighed for VMs on demand and contracts without a limit of money, so not with %s.", strings.Join(said, " and ")),
				Hint:   &fault.Hint{Detail: "Leave that out of the question, or ask for the horizon, which counts it.", Pointer: "/leave_out", Value: has}}}}
		}
	}
	return warnings, nil
}

// weighable returns the changes of the scenario without those of what is left out: other VM types, their classes
// and contracts. It refuses changes with which offers cannot be weighed.
func (o *Outlook) weighable(out []LeftOut, vmType string) (changes []whatif.ScenarioChange, err error) {
	var k strict.Checker
	k.Enter("changes")
	for i, ch := range o.Scenario.Changes {
		k.Element(i)
		switch budget := ch.What == whatif.ChangeBudget || ch.What == whatif.ChangeTotal; {
		case ch.What == whatif.AddVMType || ch.What == whatif.DropVMType:
			k.Refuse("what", "not_taken", "Offers are weighed for one VM type; leave this change out, or ask for the horizon.")
		case budget && !slices.Contains(out, WithoutBudget):
			k.Refuse("what", "not_taken", "Offers are weighed without a budget; leave this change out, or ask for the horizon.")
		case !o.elsewhere(&ch, vmType):
			if ch.VMType == vmType { // the only one that is left
				ch.VMType = ""
			}
			changes = append(changes, ch)
		}
		k.Leave()
	}
	k.Leave()
	return changes, fault.Refusal(k.Findings, k.Unlisted)
}

// elsewhere reports whether a change is about a VM type in use other than the named one, a contract of such a type, or
// a class that does not run on the named one.
func (o *Outlook) elsewhere(ch *whatif.ScenarioChange, vmType string) bool {
	other := func(name string) bool {
		return name != vmType && slices.ContainsFunc(o.VMTypes, func(v inputs.VMType) bool { return v.InUse && v.Name == name })
	}
	return other(ch.VMType) ||
		slices.ContainsFunc(o.Contracts, func(c inputs.SignedContract) bool { return c.Name == ch.Contract && other(c.VMType) }) ||
		slices.ContainsFunc(o.Classes, func(c inputs.PlannedClass) bool { return c.Name == ch.Class && !o.runsOn(c, vmType) })
}

// runsOn reports whether a class runs on a VM type.
func (o *Outlook) runsOn(c inputs.PlannedClass, vmType string) bool {
	class, err := o.Class(c)
	return err != nil || !class.ByType() || class.RunsOn(vmType)
}

// onType returns the outlook with one VM type in use, and the classes that run on it.
func (o Outlook) onType(name string) (Outlook, []capacity.Warning) {
	o.VMTypes = slices.Clone(o.VMTypes)
	several := 0
	for i := range o.VMTypes {
		if o.VMTypes[i].InUse {
			several++
		}
		o.VMTypes[i].InUse = o.VMTypes[i].Name == name
	}
	var classes []inputs.PlannedClass
	var left []string
	for _, c := range o.Classes {
		if !o.runsOn(c, name) {
			left = append(left, fmt.Sprintf("%q", fault.Clip(c.Name)))
			continue
		}
		classes = append(classes, c)
	}
	o.Classes = classes
	var warnings []capacity.Warning
	if several > 1 {
		warnings = append(warnings, capacity.Warning{Code: "one_vm_type", Detail: fmt.Sprintf("Weighed for VMs of %q alone: the classes that can run on it count as if they ran on nothing else.", fault.Clip(name))})
	}
	if len(left) > 0 {
		warnings = append(warnings, capacity.Warning{Code: "classes_left_out", Detail: fmt.Sprintf("Classes that do not run on VMs of %q are left out: %s.", fault.Clip(name), words.Some(left))})
	}
	return o, warnings
}

// alone turns a horizon of one VM type, which classes may name, into one with a single kind of VM.
func alone(h *Horizon, vmType string) {
	s := &h.Problem.Supply
	if len(s.VMTypes) == 0 {
		return
	}
	t := s.VMTypes[0]
	*s = capacity.Supply{Contracts: t.Contracts, OnDemand: t.OnDemand, Spot: t.Spot}
	for i := range h.Problem.Classes {
		h.Problem.Classes[i] = h.Problem.Classes[i].OnType(vmType)
	}
	for i := range h.Contracts {
		h.Contracts[i].VMType = ""
	}
	for i := range h.Periods {
		p := &h.Periods[i]
		p.OnDemandPrice, p.SpotPrice, p.Prices = p.Prices[vmType].OnDemand, p.Prices[vmType].Spot, nil
	}
}
