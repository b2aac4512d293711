package inputs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// The checks of stored things on their own. The store checks what concerns others (whether the profile exists,
// whether periods overlap). Each answer is an *InputError or nil.

// ClusterNameLength is the maximum length of a cluster's name, which is a label of addresses and metrics.
const ClusterNameLength = 63

// maxMachine is the maximum of vCPUs, GiB of memory or GPUs of one machine.
const maxMachine = 1_000_000

// maxForecastRows is the maximum number of rows written at once.
const maxForecastRows = 100_000

// MaxHoldSeconds is the longest time that a decrease of VMs can be held back.
const MaxHoldSeconds = 24 * 3600

// NewCluster returns a cluster with a name and defaults.
func NewCluster(name string) Cluster {
	return Cluster{Name: name, Currency: "USD", PeriodSeconds: 3600, TimeZone: "UTC", Options: capacity.DefaultOptions()}
}

// UnmarshalJSON fills in defaults.
func (c *Cluster) UnmarshalJSON(text []byte) error {
	type members Cluster
	*c = NewCluster("")
	return json.Unmarshal(text, (*members)(c))
}

// UnmarshalJSON fills in defaults: a new type is in use.
func (v *VMType) UnmarshalJSON(text []byte) error {
	type members VMType
	*v = VMType{InUse: true}
	return json.Unmarshal(text, (*members)(v))
}

// UnmarshalJSON fills in defaults.
func (p *PricePeriod) UnmarshalJSON(text []byte) error {
	type members PricePeriod
	*p = PricePeriod{Purchase: capacity.PurchaseOnDemand}
	return json.Unmarshal(text, (*members)(p))
}

// UnmarshalJSON fills in defaults.
func (s *SignedContract) UnmarshalJSON(text []byte) error {
	type members SignedContract
	*s = SignedContract{Billing: capacity.BilledUsed}
	return json.Unmarshal(text, (*members)(s))
}

// Validate checks the cluster's settings.
func (c Cluster) Validate() error { return strict.Check(c.check) }

func (c Cluster) check(k *strict.Checker) {
	if detail := ClusterNameFault(c.Name); detail != "" {
		k.Refuse("name", "text", "%s", detail)
	}
	k.Description("description", c.Description)
	money.CheckCurrency(k, c.Currency)
	k.Whole("period_s", "The period", "seconds", c.PeriodSeconds, 1, capacity.MaxPeriodSeconds)
	k.Whole("hold_s", "The hold", "seconds", c.HoldSeconds, 0, MaxHoldSeconds)
	if _, err := time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "" || c.TimeZone == "Local" {
		k.Found("time_zone", "choice", fmt.Sprintf("%q is no time zone; give an IANA name such as \"Europe/Berlin\".", fault.Clip(c.TimeZone)),
			k.Hint("time_zone", "UTC", "\"UTC\" is always one."))
	}
	if c.Budget != nil {
		k.Enter("budget")
		c.Budget.Check(k)
		k.Leave()
	}
	k.Enter("options")
	if c.Options.Near != nil {
		k.Refuse("near", "not_here", "The previous plan is not a setting: it is taken from the cluster's last plan. Leave \"near\" out.")
	} else {
		c.Options.Check(k, nil)
	}
	k.Leave()
}

// Zone returns the cluster's time zone. It is a conflict if this server does not know it.
func (c Cluster) Zone() (*time.Location, error) {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("the time zone %q of the cluster is not known to this server; give the cluster another: %w", c.TimeZone, fault.Conflict)
	}
	return zone, nil
}

// ClusterNameFault explains why a name is no slug; it returns "" for a slug.
func ClusterNameFault(name string) string {
	const small = "abcdefghijklmnopqrstuvwxyz0123456789"
	switch {
	case name == "":
		return fmt.Sprintf("The name is empty; give one of 1 to %d small letters, digits and hyphens.", ClusterNameLength)
	case len(name) > ClusterNameLength:
		return fmt.Sprintf("The name %q has %d characters; a cluster's has %d at most.", fault.Clip(name), len([]rune(name)), ClusterNameLength)
	case strings.Trim(name, small+"-") != "" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return fmt.Sprintf("%q is no cluster name; use small letters, digits and hyphens inside, such as \"night-batch\".", fault.Clip(name))
	}
	return ""
}

// Validate checks the type.
func (v VMType) Validate() error { return strict.Check(v.check) }

func (v VMType) check(k *strict.Checker) {
	k.StoredName(v.Name)
	k.Description("description", v.Description)
	if v.Quota != nil {
		k.Whole("quota", "The quota", "VMs, or null for no limit", *v.Quota, 0, capacity.MaxVMs)
	}
	if v.Spot != nil {
		k.Enter("spot")
		k.Number("max_share", "The share of spot VMs", "", v.Spot.MaxShare, 1)
		k.Leave()
	}
	if v.StartPrice != nil {
		money.Check(k, "start_price", "The price of a start", *v.StartPrice)
	}
	if v.StartLeadSeconds != nil {
		k.Whole("start_lead_s", "The lead of a start", "seconds", *v.StartLeadSeconds, 0, capacity.MostStartSeconds)
	}
	machine := func(member, what string, x *float64) {
		if x != nil {
			k.Number(member, what, "", *x, maxMachine)
		}
	}
	machine("vcpu", "The number of vCPUs", v.VCPU)
	machine("memory_gib", "The memory", v.MemoryGiB)
	if v.GPUs != nil {
		k.Whole("gpus", "The number of GPUs", "GPUs, or null where it is not known", *v.GPUs, 0, maxMachine)
	}
}

// Validate checks the period.
func (p PricePeriod) Validate() error { return strict.Check(p.check) }

func (p PricePeriod) check(k *strict.Checker) {
	if p.VMType == "" {
		k.Refuse("vm_type", "missing", "The VM type is empty; name the one that has this price.")
	}
	strict.OneOf(k, "purchase", cmp.Or(p.Purchase, capacity.PurchaseOnDemand), capacity.Purchases)
	money.Check(k, "price", "The price", p.Price)
	if k.Moment("from", p.From) && p.Until != nil && k.Moment("until", *p.Until) {
		k.Term("The period", p.From, *p.Until)
	}
}

// Validate checks the contract.
func (s SignedContract) Validate() error { return strict.Check(s.check) }

func (s SignedContract) check(k *strict.Checker) {
	k.StoredName(s.Name)
	if s.VMType == "" {
		k.Refuse("vm_type", "missing", "The VM type is empty; name the one the contract is for.")
	}
	k.Whole("vms", "The number of VMs", "VMs", s.VMs, 0, capacity.MaxVMs)
	money.Check(k, "price", "The price", s.Price)
	money.Check(k, "upfront", "The upfront payment", s.Upfront)
	strict.OneOf(k, "billing", s.Billing, capacity.Billings)
	if k.Moment("from", s.From) && k.Moment("until", s.Until) {
		k.Term("The contract", s.From, s.Until)
	}
}

// Validate checks the version.
func (p ProfileVersion) Validate() error { return strict.Check(p.check) }

func (p ProfileVersion) check(k *strict.Checker) {
	k.StoredName(p.Name)
	k.Description("note", p.Note)
	k.Enter("profile")
	p.Profile.Check(k)
	k.Leave()
	p.checkSource(k)
}

// Validate checks the class for a cluster planned with this integrality.
func (p PlannedClass) Validate(integrality capacity.Integrality) error {
	return strict.Check(func(k *strict.Checker) { p.check(k, integrality) })
}

func (p PlannedClass) check(k *strict.Checker, integrality capacity.Integrality) {
	k.StoredName(p.Name)
	class := p.Class(nil)
	if p.Profile != nil {
		k.Enter("profile")
		k.StoredName(p.Profile.Name)
		if p.Profile.Version < 0 {
			k.Refuse("version", "range", "The version is %d; versions count from 1, and none is the latest.", p.Profile.Version)
		}
		k.Leave()
		class.Profile = &capacity.Profile{MapTasks: 1} // the version itself was checked when it was stored
	}
	class.Check(k, integrality)
	if p.Due != "" {
		due := capacity.Class{Due: p.Due, DueSeconds: p.DueSeconds, DeadlineSeconds: p.DeadlineSeconds}
		due.CheckDue(k)
	}
	k.Number("due_s", "The time until an execution must have ended", "seconds", p.DueSeconds, capacity.MaxSeconds)
	if by := class.SlotsPerVM.ByType; by != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(by)), class.RunsOn) {
		k.Refuse("speed", "no_type", "The speed is 0 on every VM type that \"slots_per_vm\" names, so that the class runs on none; give one a speed above 0.")
	}
}

// Class returns the class for a problem, with the profile that it refers to.
func (p PlannedClass) Class(profile *capacity.Profile) capacity.Class {
	if p.DueSeconds > 0 && p.VMsPerJob == nil { // it has ended by then, and so runs for less
		p.DeadlineSeconds = min(p.DeadlineSeconds, p.DueSeconds)
	}
	return capacity.Class{
		Name: p.Name, Profile: profile, Demand: p.Demand, VMsPerJob: p.VMsPerJob, Calibration: p.Calibration,
		DeadlineSeconds: p.DeadlineSeconds, Target: p.Target, Confidence: p.Confidence, Promise: p.Promise, SlotsPerVM: p.SlotsPerVM, Speed: p.Speed, Jobs: p.Jobs, Penalty: p.Penalty,
	}
}

// ValidateForecasts checks rows that are written together, below /rows.
func ValidateForecasts(rows []Forecast) error {
	return strict.Check(func(k *strict.Checker) {
		k.Enter("rows")
		defer k.Leave()
		if len(rows) > maxForecastRows {
			k.Refuse("", "too_large", "There are %d rows; at most %d are written at once. Send them in parts.", len(rows), maxForecastRows)
			return
		}
		checkForecasts(k, rows)
	})
}

func checkForecasts(k *strict.Checker, rows []Forecast) {
	type place struct {
		class string
		hour  int64
	}
	seen := make(map[place]int, len(rows))
	for i, f := range rows {
		k.Element(i)
		if f.Class == "" {
			k.Refuse("class", "missing", "The class is empty; name the one that is forecast.")
		}
		if k.Moment("hour", f.Hour) && !f.Hour.Equal(f.Hour.UTC().Truncate(time.Hour)) {
			whole := f.Hour.UTC().Truncate(time.Hour)
			k.Found("hour", "not_whole", fmt.Sprintf("%s is not a whole hour of UTC.", f.Hour.Format(time.RFC3339)),
				k.Hint("hour", whole, "The hour it lies in began at %s.", whole.Format(time.RFC3339)))
		}
		if f.Arrivals != nil {
			if f.Jobs != 0 {
				k.Refuse("jobs", "one_of", "Here are jobs that run at once, and beside them \"arrivals\" of the same hour; give one of the two.")
			}
			k.Number("arrivals", "The number of arrivals", "", *f.Arrivals, capacity.MaxArrivals)
		} else {
			k.Number("jobs", "The number of jobs", "", f.Jobs, capacity.MaxJobs)
		}
		at := place{f.Class, f.Hour.Unix()}
		if j, twice := seen[at]; twice {
			if (rows[j].Arrivals == nil) != (f.Arrivals == nil) {
				k.Refuse("", "one_of", "The row with index %d is for the same class and hour; one tells arrivals and one the jobs that run at once. Keep one of the two.", j)
			} else {
				k.Refuse("", "duplicate", "The row with index %d is for the same class and hour; keep one.", j)
			}
		}
		seen[at] = i
		k.Leave()
	}
}

// Validate checks the document on its own, with pointers into it.
func (d Document) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		k.Enter("cluster")
		d.Cluster.check(k)
		k.Leave()
		checkList(k, "vm_types", "VM type", d.VMTypes, func(v VMType) string { return v.Name }, VMType.check)
		checkList(k, "prices", "price period", d.Prices, PricePeriod.Label, PricePeriod.check)
		checkList(k, "contracts", "contract", d.Contracts, func(s SignedContract) string { return s.Name }, SignedContract.check)
		checkList(k, "offers", "offer", d.Offers, func(o StandingOffer) string { return o.Name }, StandingOffer.check)
		checkList(k, "profiles", "profile version", d.Profiles, ProfileVersion.Label, func(p ProfileVersion, k *strict.Checker) {
			p.check(k)
			if p.Version < 1 {
				k.Refuse("version", "range", "The version is %d; in a document every version has its number, 1, 2, 3, …", p.Version)
			}
		})
		checkList(k, "classes", "class", d.Classes, func(c PlannedClass) string { return c.Name }, func(c PlannedClass, k *strict.Checker) {
			c.check(k, d.Cluster.Options.Integrality)
		})
		k.Enter("forecasts")
		checkForecasts(k, d.Forecasts)
		k.Leave()
	})
}

func checkList[T any](k *strict.Checker, member, kind string, items []T, label func(T) string, check func(T, *strict.Checker)) {
	k.Enter(member)
	defer k.Leave()
	seen := make(map[string]int, len(items))
	for i, item := range items {
		k.Element(i)
		check(item, k)
		name := label(item)
		if j, twice := seen[name]; twice {
			k.Refuse("", "duplicate_name", "The %s with index %d is %q as well; keep one.", kind, j, fault.Clip(name))
		}
		seen[name] = i
		k.Leave()
	}
}
