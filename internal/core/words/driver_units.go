package words

import "example.org/headroom/internal/core/capacity"

// DriverFact is a fact about what drives a cost with its claim, made anew: the figures of its kind in their order, with
// their units.
func DriverFact(p *capacity.Problem, f *capacity.Fact, claim string) capacity.Fact {
	vmHour, job := p.Currency+" per VM and hour", p.Currency+" per job "+PerPeriod(p.PeriodSeconds)
	units := map[string]string{"worth": vmHour, "low": vmHour, "high": vmHour, "penalty": job, "one_more": job, "vms_per_job": "VMs", "quota": "VMs"}
	var names []string
	subject := f.Subject
	switch f.Kind {
	case "contract_that_binds":
		names = []string{"worth"}
	case QuotaBinds:
		names, subject = []string{"quota"}, "on_demand"
	case "budget_worth":
		subject = ""
		names, units["worth"] = []string{"worth"}, p.Currency+" worth of one "+p.Currency
	case "no_more_vms":
		names = []string{"low"}
	case "vm_price", "vm_worth":
		names = []string{"low", "high"}
	case "next_to_be_refused", "next_to_be_served":
		if names = []string{"penalty", "vms_per_job", "worth"}; FigureOf(f, "one_more") != "" {
			names = []string{"penalty", "one_more"}
		}
	}
	again := capacity.Fact{Kind: f.Kind, Subject: subject, Claim: claim}
	for _, name := range names {
		again.Figures = append(again.Figures, capacity.Figure{Name: name, Value: FigureOf(f, name), Unit: units[name]})
	}
	return again
}
