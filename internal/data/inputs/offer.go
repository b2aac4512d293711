package inputs

import (
	"encoding/json"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// StandingOffer stores a contract of a VM type that may be bought: an Offer without a day. No plan depends on one.
type StandingOffer struct {
	Name      string           `json:"name"`
	VMType    string           `json:"vm_type"`
	Price     money.Amount     `json:"price"`   // per VM-hour
	Upfront   money.Amount     `json:"upfront"` // per VM
	Billing   capacity.Billing `json:"billing"`
	TermHours int64            `json:"term_hours,omitzero"` // exactly one of the two
	TermYears int64            `json:"term_years,omitzero"` // calendar years
	Max       int64            `json:"max"`                 // VMs; left out: MaxOfferVMs
	Note      string           `json:"note"`                // its source
	capacity.Stamp
}

// UnmarshalJSON fills in defaults.
func (o *StandingOffer) UnmarshalJSON(text []byte) error {
	type members StandingOffer
	*o = StandingOffer{Billing: capacity.BilledUsed, Max: capacity.MaxOfferVMs}
	return json.Unmarshal(text, (*members)(o))
}

// Offer returns the offer for a question about purchases; without a from it is bought when the horizon starts.
func (o StandingOffer) Offer(from *time.Time) capacity.Offer {
	return capacity.Offer{Name: o.Name, Price: o.Price, Upfront: o.Upfront, Billing: o.Billing, From: from, TermHours: o.TermHours, TermYears: o.TermYears, Max: o.Max}
}

// Validate checks the offer.
func (o StandingOffer) Validate() error { return strict.Check(o.check) }

func (o StandingOffer) check(k *strict.Checker) {
	k.StoredName(o.Name)
	if o.VMType == "" {
		k.Refuse("vm_type", "missing", "The VM type is empty; name the one the offer is for.")
	}
	o.Offer(nil).CheckTerms(k)
	k.Description("note", o.Note)
}
