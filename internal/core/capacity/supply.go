package capacity

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// Supply lists the sources of virtual machines: contracts already signed, on-demand, and spot. A problem with one
// kind of machine gives them directly; one with several gives VMTypes instead, and then nothing else.
type Supply struct {
	Contracts []Contract     `json:"contracts,omitempty"`
	OnDemand  OnDemand       `json:"on_demand"` // left out with VMTypes
	Spot      *Spot          `json:"spot,omitempty"`
	Start     *VMStart       `json:"start,omitempty"`
	VMTypes   []VMTypeSupply `json:"vm_types,omitempty"`
}

// VMTypeSupply lists the sources of the VMs of one type. Names of contracts differ across types.
type VMTypeSupply struct {
	Name      string     `json:"name"`
	Contracts []Contract `json:"contracts,omitempty"`
	OnDemand  OnDemand   `json:"on_demand"`
	Spot      *Spot      `json:"spot,omitempty"`
	Start     *VMStart   `json:"start,omitempty"`
}

// Types is the supply as a list of types: one without a name where the problem has a single kind.
func (s Supply) Types() []VMTypeSupply {
	if len(s.VMTypes) > 0 {
		return s.VMTypes
	}
	return []VMTypeSupply{{Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot, Start: s.Start}}
}

// MarshalJSON leaves on_demand out of a supply of several types.
func (s Supply) MarshalJSON() ([]byte, error) {
	if len(s.VMTypes) > 0 {
		return json.Marshal(struct {
			VMTypes []VMTypeSupply `json:"vm_types"`
		}{s.VMTypes})
	}
	type plain Supply
	return json.Marshal(plain(s))
}

// Contract is a number of reserved VMs at a price per VM-hour.
type Contract struct {
	Name    string       `json:"name"`
	VMs     int64        `json:"vms"`
	Price   money.Amount `json:"price"`
	Billing Billing      `json:"billing"`
}

// Billing says when a contract's VM-hour is paid.
type Billing string

const (
	BilledUsed   Billing = "used"   // every hour used (the paper's reading)
	BilledAlways Billing = "always" // every hour, so that one more used costs nothing
)

// OnDemand is the supply of VMs by the hour. Quota, if any, limits the VMs rented at once.
type OnDemand struct {
	Price money.Amount `json:"price"`
	Quota *int64       `json:"quota"`
}

// Spot is the supply of cheap VMs that can be taken away. At most MaxShare of all VMs of a type may be spot. No
// interruption is modelled, and a warning says so.
type Spot struct {
	Price    money.Amount `json:"price"`
	MaxShare float64      `json:"max_share"` // 0 to 1
}

// VMStart says what it costs to start a VM. Only schedules plan with it.
type VMStart struct {
	Price money.Amount `json:"price"`
	// LeadSeconds is how long before its hour a VM is asked for. It is paid from then on, at the price on demand.
	LeadSeconds float64 `json:"lead_s,omitzero"`
	// MinBilledSeconds is for how long a VM is billed at least. Schedules bill whole hours, so that up to one changes nothing.
	MinBilledSeconds float64 `json:"min_billed_s,omitzero"`
}

// Costs reports whether starting a VM costs something, at some price of VMs.
func (s *VMStart) Costs() bool {
	return s != nil && (s.Price.IsPositive() || s.LeadSeconds > 0)
}

// MostStartSeconds is the longest time for which a VM may be asked for ahead of its hour, and the longest least time for which it is
// billed: schedules plan whole hours.
const MostStartSeconds = 3600

// Budget is the most that may be spent per period; nil limits nothing.
type Budget struct {
	VMCost *money.Amount `json:"vm_cost"` // on VMs, idle contracts included
	Total  *money.Amount `json:"total"`   // with the penalties of refused jobs
}

// BillRounding is the most that a bill may be below what its VMs cost: each of its four lines is rounded to money's places.
var BillRounding = decimal.New(4*5, -money.Places-1)

// MostForVMs returns the most that VMs may cost. Fractions of VMs keep to the budget itself.
func (b *Budget) MostForVMs(i Integrality) decimal.Decimal {
	if i == Relaxed {
		return b.VMCost.Decimal
	}
	return b.VMCost.Add(BillRounding)
}

// PaysForVMs reports whether the budget pays for VMs that cost so much an hour, exactly. A bill that was copied as a budget
// pays for its own VMs.
func (b *Budget) PaysForVMs(hourly decimal.Decimal, periodSeconds int64) bool {
	if b == nil || b.VMCost == nil {
		return true
	}
	return hourly.Mul(decimal.NewFromInt(periodSeconds)).LessThanOrEqual(b.VMCost.Add(BillRounding).Mul(decimal.NewFromInt(3600)))
}

// SlotsPerVM counts the map slots or reduce slots of one VM. A VM's share is one or the other: a map slot takes 1/Map
// of a VM and a reduce slot 1/Reduce (erratum E16). With several VM types it may be given for each by name; the class
// then runs on those alone.
type SlotsPerVM struct {
	Map    int64
	Reduce int64
	ByType map[string]SlotsPerVM // without a ByType of their own; nil: Map and Reduce hold for every type
}

// IsZero says that nothing is given.
func (s SlotsPerVM) IsZero() bool { return s.Map == 0 && s.Reduce == 0 && s.ByType == nil }

// On returns the slots of a VM of a type; zero if the class does not run on it.
func (s SlotsPerVM) On(vmType string) SlotsPerVM {
	if s.ByType != nil {
		return s.ByType[vmType]
	}
	return s
}

// MarshalJSON writes {"map", "reduce"}, or one such object for each type.
func (s SlotsPerVM) MarshalJSON() ([]byte, error) {
	if s.ByType != nil {
		return json.Marshal(s.ByType)
	}
	return json.Marshal(struct {
		Map    int64 `json:"map"`
		Reduce int64 `json:"reduce"`
	}{s.Map, s.Reduce})
}

// Speed gives the speed of a class's tasks on VMs of each type: at 2 they take half their time. A type that is not
// named has speed 1; at 0 the class does not run on it. All of a demand and all of a profile but its overhead_s is
// divided by it, and so are VMs per job.
type Speed map[string]float64

// On is the speed on a type.
func (s Speed) On(vmType string) float64 {
	if speed, named := s[vmType]; named {
		return speed
	}
	return 1
}

// RunsOn says whether jobs of the class can run on VMs of a type.
func (class *Class) RunsOn(vmType string) bool {
	return class.Speed.On(vmType) > 0 && (class.VMsPerJob != nil && class.SlotsPerVM.IsZero() || !class.SlotsPerVM.On(vmType).IsZero())
}
