package postgres

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// A VM type is looked up by its name. An unknown name yields 0, which violates the reference and is then explained.
const vmTypeID = `coalesce((SELECT v.id FROM vm_types v WHERE v.cluster_id = @cluster AND v.name = @vm_type), 0)`

// priceType is the type in the column of a price's purchase.
const priceType = `coalesce(p.vm_type_id, p.spot_vm_type_id)`

func byName() ([]any, []string) { return []any{new(string)}, []string{"after"} }

var vmTypes = kind[inputs.VMType]{
	word: inputs.VMTypeKind,
	noun: "VM type",
	selects: `
		SELECT name, description, quota, in_use, CASE WHEN spot_max_share IS NOT NULL THEN json_build_object('max_share', spot_max_share) END AS spot, start_price, start_lead_seconds, vcpu, memory_gib, gpus, version, created_at, updated_at
		FROM vm_types WHERE cluster_id = @cluster`,
	named: ` AND name = @name`,
	after: ` AND name > @after ORDER BY name`,
	insert: `
		INSERT INTO vm_types (cluster_id, name, description, quota, in_use, spot_max_share, start_price, start_lead_seconds, vcpu, memory_gib, gpus)
		VALUES (@cluster, @name, @description, @quota, @in_use, @spot_max_share, @start_price, @start_lead_seconds, @vcpu, @memory_gib, @gpus)`,
	update: `
		UPDATE vm_types SET description = @description, quota = @quota, in_use = @in_use, spot_max_share = @spot_max_share, start_price = @start_price, start_lead_seconds = @start_lead_seconds,
		       vcpu = @vcpu, memory_gib = @memory_gib, gpus = @gpus, version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND name = @name`,
	remove: `DELETE FROM vm_types WHERE cluster_id = @cluster AND name = @name`,
	args: func(v inputs.VMType) pgx.NamedArgs {
		args := pgx.NamedArgs{"name": v.Name, "description": v.Description, "quota": v.Quota, "in_use": v.InUse, "start_price": v.StartPrice, "start_lead_seconds": v.StartLeadSeconds, "vcpu": v.VCPU, "memory_gib": v.MemoryGiB, "gpus": v.GPUs}
		if v.Spot != nil {
			args["spot_max_share"] = v.Spot.MaxShare
		}
		return args
	},
	collect: pgx.RowToStructByName[inputs.VMType],
	name:    func(v inputs.VMType) string { return v.Name },
	label:   func(v inputs.VMType) string { return v.Name },
	sortKey: func(v inputs.VMType) []any { return []any{v.Name} },
	start:   byName,
	prepare: func(v inputs.VMType, name string) inputs.VMType { v.Name = cmp.Or(name, v.Name); return v },
}

var prices = kind[inputs.PricePeriod]{
	word: inputs.PriceKind,
	noun: "price period",
	selects: `
		SELECT p.id, v.name AS vm_type, CASE WHEN p.vm_type_id IS NULL THEN 'spot' ELSE 'on_demand' END AS purchase, p.price, lower(p.during) AS "from", upper(p.during) AS until, p.version, p.created_at, p.updated_at
		FROM prices p JOIN vm_types v ON v.id = ` + priceType + ` WHERE p.cluster_id = @cluster`,
	named: ` AND p.id = @name`,
	after: ` AND (v.name, lower(p.during), p.vm_type_id IS NULL) > (@after_type, @after_start, @after_spot) ORDER BY v.name, lower(p.during), p.vm_type_id IS NULL`,
	insert: `
		INSERT INTO prices (id, cluster_id, vm_type_id, spot_vm_type_id, price, during)
		VALUES (@id, @cluster, CASE WHEN NOT @spot THEN ` + vmTypeID + ` END, CASE WHEN @spot THEN ` + vmTypeID + ` END, @price, tstzrange(@from, @until))`,
	update: `
		UPDATE prices SET vm_type_id = CASE WHEN NOT @spot THEN ` + vmTypeID + ` END, spot_vm_type_id = CASE WHEN @spot THEN ` + vmTypeID + ` END, price = @price, during = tstzrange(@from, @until), version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND id = @name`,
	remove: `DELETE FROM prices WHERE cluster_id = @cluster AND id = @name`,
	args: func(p inputs.PricePeriod) pgx.NamedArgs {
		return pgx.NamedArgs{"id": p.ID, "vm_type": p.VMType, "spot": p.Purchase == capacity.PurchaseSpot, "price": p.Price, "from": p.From, "until": p.Until}
	},
	collect: pgx.RowToStructByName[inputs.PricePeriod],
	name:    func(p inputs.PricePeriod) string { return p.ID },
	label:   inputs.PricePeriod.Label,
	sortKey: func(p inputs.PricePeriod) []any {
		return []any{p.VMType, p.From, p.Purchase == capacity.PurchaseSpot}
	},
	start: func() ([]any, []string) {
		return []any{new(string), new(time.Time), new(bool)}, []string{"after_type", "after_start", "after_spot"}
	},
	prepare: func(p inputs.PricePeriod, name string) inputs.PricePeriod {
		p.ID = name
		if name == "" {
			p.ID = newID()
		}
		return p
	},
}

// newID draws an identifier that sorts by the time it was drawn.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

var contracts = kind[inputs.SignedContract]{
	word: inputs.ContractKind,
	noun: "contract",
	selects: `
		SELECT c.name, v.name AS vm_type, c.vms, c.price, c.billing, c.upfront, c.starts AS "from", c.ends AS until, c.version, c.created_at, c.updated_at
		FROM contracts c JOIN vm_types v ON v.id = c.vm_type_id WHERE c.cluster_id = @cluster`,
	named: ` AND c.name = @name`,
	after: ` AND c.name > @after ORDER BY c.name`,
	insert: `
		INSERT INTO contracts (cluster_id, name, vm_type_id, vms, price, billing, upfront, starts, ends)
		VALUES (@cluster, @name, ` + vmTypeID + `, @vms, @price, @billing, @upfront, @from, @until)`,
	update: `
		UPDATE contracts SET vm_type_id = ` + vmTypeID + `, vms = @vms, price = @price, billing = @billing, upfront = @upfront,
		       starts = @from, ends = @until, version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND name = @name`,
	remove: `DELETE FROM contracts WHERE cluster_id = @cluster AND name = @name`,
	args: func(c inputs.SignedContract) pgx.NamedArgs {
		return pgx.NamedArgs{"name": c.Name, "vm_type": c.VMType, "vms": c.VMs, "price": c.Price, "billing": c.Billing,
			"upfront": c.Upfront, "from": c.From, "until": c.Until}
	},
	collect: pgx.RowToStructByName[inputs.SignedContract],
	name:    func(c inputs.SignedContract) string { return c.Name },
	label:   func(c inputs.SignedContract) string { return c.Name },
	sortKey: func(c inputs.SignedContract) []any { return []any{c.Name} },
	start:   byName,
	prepare: func(c inputs.SignedContract, name string) inputs.SignedContract {
		c.Name = cmp.Or(name, c.Name)
		return c
	},
}

// The version of a profile that a class names; without one it is the latest. A name without versions yields 1, which
// violates the reference and is then explained.
const profileVersion = `
	CASE WHEN @profile::text IS NULL THEN NULL
	     WHEN @profile_version::bigint > 0 THEN @profile_version
	     ELSE coalesce((SELECT max(p.version) FROM profile_versions p WHERE p.cluster_id = @cluster AND p.name = @profile), 1) END`

var classes = kind[inputs.PlannedClass]{
	word: inputs.ClassKind,
	noun: "class",
	selects: `
		SELECT name, profile, profile_version, map_work_seconds, reduce_work_seconds, fixed_seconds, vms_per_job,
		       calibration_bound, calibration_factor, deadline_seconds, due_seconds, due, target, confidence, promise, slots_map, slots_reduce, slots_by_type, speed, jobs_min, jobs_max, jobs_all, penalty, version, created_at, updated_at
		FROM classes WHERE cluster_id = @cluster`,
	named: ` AND name = @name`,
	after: ` AND name > @after ORDER BY name`,
	insert: `
		INSERT INTO classes (cluster_id, name, profile, profile_version, map_work_seconds, reduce_work_seconds, fixed_seconds, vms_per_job,
		                     calibration_bound, calibration_factor, deadline_seconds, due_seconds, due, target, confidence, promise, slots_map, slots_reduce, slots_by_type, speed, jobs_min, jobs_max, jobs_all, penalty)
		VALUES (@cluster, @name, @profile, ` + profileVersion + `, @map_work, @reduce_work, @fixed, @vms_per_job,
		        @calibration_bound, @calibration_factor, @deadline, @due, @due_by, @target, @confidence, @promise, @slots_map, @slots_reduce, @slots_by_type, @speed, @jobs_min, @jobs_max, @jobs_all, @penalty)`,
	update: `
		UPDATE classes SET profile = @profile, profile_version = ` + profileVersion + `, map_work_seconds = @map_work, reduce_work_seconds = @reduce_work,
		       fixed_seconds = @fixed, vms_per_job = @vms_per_job, calibration_bound = @calibration_bound, calibration_factor = @calibration_factor, deadline_seconds = @deadline, due_seconds = @due, due = @due_by, target = @target, confidence = @confidence, promise = @promise, slots_map = @slots_map,
		       slots_reduce = @slots_reduce, slots_by_type = @slots_by_type, speed = @speed, jobs_min = @jobs_min, jobs_max = @jobs_max, jobs_all = @jobs_all, penalty = @penalty, version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND name = @name`,
	remove:  `DELETE FROM classes WHERE cluster_id = @cluster AND name = @name`,
	args:    classArgs,
	collect: classOf,
	name:    func(c inputs.PlannedClass) string { return c.Name },
	label:   func(c inputs.PlannedClass) string { return c.Name },
	sortKey: func(c inputs.PlannedClass) []any { return []any{c.Name} },
	start:   byName,
	prepare: func(c inputs.PlannedClass, name string) inputs.PlannedClass {
		c.Name = cmp.Or(name, c.Name)
		return c
	},
}

func classArgs(c inputs.PlannedClass) pgx.NamedArgs {
	args := pgx.NamedArgs{"name": c.Name, "vms_per_job": c.VMsPerJob, "deadline": c.DeadlineSeconds, "slots_map": c.SlotsPerVM.Map,
		"slots_reduce": c.SlotsPerVM.Reduce, "jobs_min": c.Jobs.Min, "jobs_max": c.Jobs.Max, "jobs_all": c.Jobs.All, "penalty": c.Penalty}
	if by := c.SlotsPerVM.ByType; len(by) > 0 {
		first := by[slices.Min(slices.Collect(maps.Keys(by)))]
		args["slots_map"], args["slots_reduce"], args["slots_by_type"] = first.Map, first.Reduce, by
	}
	if len(c.Speed) > 0 {
		args["speed"] = c.Speed
	}
	if c.Profile != nil {
		args["profile"], args["profile_version"] = c.Profile.Name, c.Profile.Version
	}
	if c.DueSeconds != 0 {
		args["due"] = c.DueSeconds
	}
	if c.Due != "" {
		args["due_by"] = c.Due
	}
	if c.Target != 0 {
		args["target"] = c.Target
	}
	if c.Confidence != 0 {
		args["confidence"] = c.Confidence
	}
	if c.Promise != nil {
		args["promise"] = c.Promise
	}
	if c.Calibration != nil {
		args["calibration_bound"], args["calibration_factor"] = c.Calibration.Bound, c.Calibration.Factor
	}
	if c.Demand != nil {
		args["map_work"], args["reduce_work"], args["fixed"] = c.Demand.MapWorkSeconds, c.Demand.ReduceWorkSeconds, c.Demand.FixedSeconds
	}
	return args
}

func classOf(row pgx.CollectableRow) (inputs.PlannedClass, error) {
	type columns struct {
		Name                                            string
		Profile                                         *string
		ProfileVersion                                  *int64
		MapWorkSeconds, ReduceWorkSeconds, FixedSeconds *float64
		VMsPerJob                                       *decimal.Decimal
		CalibrationBound                                *capacity.Bound
		CalibrationFactor                               *float64
		DeadlineSeconds                                 float64
		DueSeconds, Target, Confidence                  *float64
		Due                                             *string
		Promise                                         *capacity.Promise
		SlotsMap, SlotsReduce                           int64
		SlotsByType                                     map[string]capacity.SlotsPerVM
		Speed                                           capacity.Speed
		JobsMin, JobsMax                                float64
		JobsAll                                         bool
		Penalty                                         money.Amount
		capacity.Stamp
	}
	r, err := pgx.RowToStructByName[columns](row)
	c := inputs.PlannedClass{
		Name: r.Name, VMsPerJob: r.VMsPerJob, DeadlineSeconds: r.DeadlineSeconds,
		SlotsPerVM: capacity.SlotsPerVM{Map: r.SlotsMap, Reduce: r.SlotsReduce}, Speed: r.Speed,
		Jobs: capacity.JobRange{Min: r.JobsMin, All: r.JobsAll}.Of(r.JobsMax), Penalty: r.Penalty, Promise: r.Promise, Stamp: r.Stamp,
	}
	for into, from := range map[*float64]*float64{&c.DueSeconds: r.DueSeconds, &c.Target: r.Target, &c.Confidence: r.Confidence} {
		if from != nil {
			*into = *from
		}
	}
	if r.Due != nil {
		c.Due = *r.Due
	}
	if r.SlotsByType != nil {
		c.SlotsPerVM = capacity.SlotsPerVM{ByType: r.SlotsByType}
	}
	if r.Profile != nil && r.ProfileVersion != nil {
		c.Profile = &inputs.ProfileRef{Name: *r.Profile, Version: *r.ProfileVersion}
	}
	if r.CalibrationBound != nil && r.CalibrationFactor != nil {
		c.Calibration = &capacity.Calibration{Bound: *r.CalibrationBound, Factor: *r.CalibrationFactor}
	}
	if r.MapWorkSeconds != nil && r.ReduceWorkSeconds != nil && r.FixedSeconds != nil {
		c.Demand = &capacity.Demand{MapWorkSeconds: *r.MapWorkSeconds, ReduceWorkSeconds: *r.ReduceWorkSeconds, FixedSeconds: *r.FixedSeconds}
	}
	return c, err
}

// Offers stores offers by name. They are no inputs: no plan depends on one.
func (s *Store) Offers() storage.Collection[inputs.StandingOffer] {
	return inputStore[inputs.StandingOffer]{s, &offers}
}

var offers = kind[inputs.StandingOffer]{
	word:  inputs.OfferKind,
	noun:  "offer",
	aside: true,
	selects: `
		SELECT o.name, v.name AS vm_type, o.price, o.upfront, o.billing, o.term_hours, o.term_years, o.max, o.note, o.version, o.created_at, o.updated_at
		FROM offers o JOIN vm_types v ON v.id = o.vm_type_id WHERE o.cluster_id = @cluster`,
	named: ` AND o.name = @name`,
	after: ` AND o.name > @after ORDER BY o.name`,
	insert: `
		INSERT INTO offers (cluster_id, name, vm_type_id, price, upfront, billing, term_hours, term_years, max, note)
		VALUES (@cluster, @name, ` + vmTypeID + `, @price, @upfront, @billing, @term_hours, @term_years, @max, @note)`,
	update: `
		UPDATE offers SET vm_type_id = ` + vmTypeID + `, price = @price, upfront = @upfront, billing = @billing, term_hours = @term_hours,
		       term_years = @term_years, max = @max, note = @note, version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND name = @name`,
	remove: `DELETE FROM offers WHERE cluster_id = @cluster AND name = @name`,
	args: func(o inputs.StandingOffer) pgx.NamedArgs {
		return pgx.NamedArgs{"name": o.Name, "vm_type": o.VMType, "price": o.Price, "upfront": o.Upfront, "billing": o.Billing,
			"term_hours": o.TermHours, "term_years": o.TermYears, "max": o.Max, "note": o.Note}
	},
	collect: pgx.RowToStructByName[inputs.StandingOffer],
	name:    func(o inputs.StandingOffer) string { return o.Name },
	label:   func(o inputs.StandingOffer) string { return o.Name },
	sortKey: func(o inputs.StandingOffer) []any { return []any{o.Name} },
	start:   byName,
	prepare: func(o inputs.StandingOffer, name string) inputs.StandingOffer {
		o.Name = cmp.Or(name, o.Name)
		return o
	},
}

// Scenarios stores scenarios by name. They are no inputs: no plan depends on one.
func (s *Store) Scenarios() storage.Collection[whatif.Scenario] {
	return inputStore[whatif.Scenario]{s, &scenarios}
}

var scenarios = kind[whatif.Scenario]{
	word:  inputs.ScenarioKind,
	noun:  "scenario",
	aside: true,
	selects: `
		SELECT name, note, changes, version, created_at, updated_at
		FROM scenarios WHERE cluster_id = @cluster`,
	named: ` AND name = @name`,
	after: ` AND name > @after ORDER BY name`,
	insert: `
		INSERT INTO scenarios (cluster_id, name, note, changes)
		VALUES (@cluster, @name, @note, @changes)`,
	update: `
		UPDATE scenarios SET note = @note, changes = @changes, version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND name = @name`,
	remove: `DELETE FROM scenarios WHERE cluster_id = @cluster AND name = @name`,
	args: func(s whatif.Scenario) pgx.NamedArgs {
		if s.Changes == nil {
			s.Changes = []whatif.ScenarioChange{}
		}
		changes, _ := json.Marshal(s.Changes) // of checked figures and texts
		return pgx.NamedArgs{"name": s.Name, "note": s.Note, "changes": string(changes)}
	},
	collect: pgx.RowToStructByName[whatif.Scenario],
	name:    func(s whatif.Scenario) string { return s.Name },
	label:   func(s whatif.Scenario) string { return s.Name },
	sortKey: func(s whatif.Scenario) []any { return []any{s.Name} },
	start:   byName,
	prepare: func(s whatif.Scenario, name string) whatif.Scenario { s.Name = cmp.Or(name, s.Name); return s },
}
