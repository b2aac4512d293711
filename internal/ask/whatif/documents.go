package whatif

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Scenario is a list of changes laid over a problem without saving them. They are carried out in their
// order.
type Scenario struct {
	Name    string           `json:"name"`
	Note    string           `json:"note"`
	Changes []ScenarioChange `json:"changes"`
	capacity.Stamp
}

// maxScenarioChanges is the maximum number of changes of a scenario.
const maxScenarioChanges = 100

// ScenarioChange is one change of a problem. Which members it takes depends on What; see the constants.
// A number is changed by exactly one of Factor and Value; what counts jobs, VMs or a quota is then
// rounded to the nearest whole number, jobs of a relaxed problem excepted. Where a class says how many jobs arrive, its jobs at
// once are counted anew by what changes their time or number, and rounded up.
type ScenarioChange struct {
	What     What              `json:"what"`
	Class    string            `json:"class,omitempty"`    // "": every class
	VMType   string            `json:"vm_type,omitempty"`  // "": every type
	Contract string            `json:"contract,omitempty"` // of prices: "" is not a contract's but that of the purchase
	Purchase capacity.Purchase `json:"purchase,omitempty"` // of prices: on_demand (the default) or spot
	Bound    capacity.Bound    `json:"bound,omitempty"`
	Factor   *float64          `json:"factor,omitempty"`
	Value    *money.Amount     `json:"value,omitempty"` // in the unit of what is changed

	Add *AddedSupply `json:"add,omitempty"`
}

// What a change of a scenario changes.
type What string

// The changes of a scenario.
const (
	ChangeDeadline  What = "deadline"   // deadline_s of a class
	ChangeDemand    What = "demand"     // jobs.max of a class; jobs.min follows down
	ChangePromised  What = "promised"   // jobs.min of a class
	ChangePenalty   What = "penalty"    // of a class
	ChangePrice     What = "price"      // per VM-hour: on demand, spot or of a contract
	ChangeQuota     What = "quota"      // of on-demand VMs; without factor and value: no limit
	ChangeContract  What = "contract"   // the number of VMs in a contract
	ChangeBudget    What = "budget"     // budget.vm_cost per period; without factor and value: none
	ChangeTotal     What = "total"      // budget.total likewise
	ChangeSpotShare What = "spot_share" // spot.max_share of a type
	ChangeDue       What = "due"        // due_s of a class, over time; a value of 0 lets nothing wait
	ChangeBound     What = "bound"      // options.bound: which time of a job is planned with
	AddContract     What = "add_contract"
	DropContract    What = "drop_contract"
	AddVMType       What = "add_vm_type"
	DropVMType      What = "drop_vm_type"
)

// AddedSupply holds the supply that add_contract and add_vm_type add.
type AddedSupply struct {
	Contract *capacity.Contract     `json:"contract,omitempty"` // to the type named in vm_type
	VMType   *capacity.VMTypeSupply `json:"vm_type,omitempty"`

	// SlotsPerVM and Speed say how every class, or those named, runs on an added type. A class that is
	// not named runs on it as on other types; where its slots are given by type, it does not run on it.
	SlotsPerVM map[string]capacity.SlotsPerVM `json:"slots_per_vm,omitempty"` // by class
	Speed      map[string]float64             `json:"speed,omitempty"`        // by class
}

// SoleVMType names the machines of a problem without VM types once a scenario adds a type.
const SoleVMType = "current"
