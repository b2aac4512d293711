package capacity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// What is wrong with stored things on their own; what only others can tell (does the profile exist,
// do periods overlap) the store says. Each answer is an *InputError or nil.

// ClusterNameLength is how long a cluster's name may be: it is a label of addresses and metrics.
const ClusterNameLength = 63

// MaxMachine is the most vCPUs, GiB of memory or GPUs that one machine may have.
const MaxMachine = 1_000_000

// MaxForecastRows is how many rows are written at once.
const MaxForecastRows = 100_000

// NewCluster is a cluster of which nothing but the name is said.
func NewCluster(name string) Cluster {
	return Cluster{Name: name, Currency: "USD", PeriodSeconds: 3600, TimeZone: "UTC", Options: DefaultOptions()}
}

// UnmarshalJSON fills in what is left out.
func (c *Cluster) UnmarshalJSON(text []byte) error {
	type members Cluster
	m := members(NewCluster(""))
	err := json.Unmarshal(text, &m)
	*c = Cluster(m)
	return err
}

// UnmarshalJSON fills in what is left out: a new type is meant to be used.
func (v *VMType) UnmarshalJSON(text []byte) error {
	type members VMType
	m := members{InUse: true}
	err := json.Unmarshal(text, &m)
	*v = VMType(m)
	return err
}

// UnmarshalJSON fills in what is left out.
func (p *PricePeriod) UnmarshalJSON(text []byte) error {
	type members PricePeriod
	m := members{Purchase: PurchaseOnDemand}
	err := json.Unmarshal(text, &m)
	*p = PricePeriod(m)
	return err
}

// UnmarshalJSON fills in what is left out.
func (s *SignedContract) UnmarshalJSON(text []byte) error {
	type members SignedContract
	m := members{Billing: BilledUsed}
	err := json.Unmarshal(text, &m)
	*s = SignedContract(m)
	return err
}

// Validate says what is wrong with the cluster's settings.
func (c Cluster) Validate() error { return findingsOf(c.check) }

func (c Cluster) check(k *checker) {
	if detail := clusterNameFault(c.Name); detail != "" {
		k.refuse("name", "text", "%s", detail)
	}
	k.description("description", c.Description)
	checkCurrency(k, c.Currency)
	k.whole("period_s", "The period", "seconds", c.PeriodSeconds, 1, MaxPeriodSeconds)
	k.whole("hold_s", "The hold", "seconds", c.HoldSeconds, 0, MaxHoldSeconds)
	if _, err := time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "" || c.TimeZone == "Local" {
		k.found("time_zone", "choice", fmt.Sprintf("%q is no time zone; give an IANA name such as \"Europe/Berlin\".", clip(c.TimeZone)),
			k.hint("time_zone", "UTC", "\"UTC\" is always one."))
	}
	if c.Budget != nil {
		k.enter("budget")
		c.Budget.check(k)
		k.leave()
	}
	k.enter("options")
	if c.Options.Near != nil {
		k.refuse("near", "not_here", "The previous plan is not a setting: it is taken from the cluster's last plan. Leave \"near\" out.")
	} else {
		c.Options.check(k, nil)
	}
	k.leave()
}

// clusterNameFault says why a name is no slug; "" when it is one.
func clusterNameFault(name string) string {
	const small = "abcdefghijklmnopqrstuvwxyz0123456789"
	switch {
	case name == "":
		return fmt.Sprintf("The name is empty; give one of 1 to %d small letters, digits and hyphens.", ClusterNameLength)
	case len(name) > ClusterNameLength:
		return fmt.Sprintf("The name %q has %d characters; a cluster's has %d at most.", clip(name), len([]rune(name)), ClusterNameLength)
	case strings.Trim(name, small+"-") != "" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return fmt.Sprintf("%q is no cluster name; use small letters, digits and hyphens inside, such as \"night-batch\".", clip(name))
	}
	return ""
}

// Validate says what is wrong with the type.
func (v VMType) Validate() error { return findingsOf(v.check) }

func (v VMType) check(k *checker) {
	k.storedName(v.Name)
	k.description("description", v.Description)
	if v.Quota != nil {
		k.whole("quota", "The quota", "VMs, or null for no limit", *v.Quota, 0, MaxVMs)
	}
	if v.Spot != nil {
		k.enter("spot")
		k.number("max_share", "The share of spot VMs", "", v.Spot.MaxShare, 1)
		k.leave()
	}
	machine := func(member, what string, x *float64) {
		if x != nil {
			k.number(member, what, "", *x, MaxMachine)
		}
	}
	machine("vcpu", "The number of vCPUs", v.VCPU)
	machine("memory_gib", "The memory", v.MemoryGiB)
	if v.GPUs != nil {
		k.whole("gpus", "The number of GPUs", "GPUs, or null where it is not known", *v.GPUs, 0, MaxMachine)
	}
}

// Validate says what is wrong with the period.
func (p PricePeriod) Validate() error { return findingsOf(p.check) }

func (p PricePeriod) check(k *checker) {
	if p.VMType == "" {
		k.refuse("vm_type", "missing", "The VM type is empty; name the one that has this price.")
	}
	oneOf(k, "purchase", cmp.Or(p.Purchase, PurchaseOnDemand), purchases)
	k.money("price", "The price", p.Price)
	if k.moment("from", p.From) && p.Until != nil && k.moment("until", *p.Until) {
		k.term("The period", p.From, *p.Until)
	}
}

// Validate says what is wrong with the contract.
func (s SignedContract) Validate() error { return findingsOf(s.check) }

func (s SignedContract) check(k *checker) {
	k.storedName(s.Name)
	if s.VMType == "" {
		k.refuse("vm_type", "missing", "The VM type is empty; name the one the contract is for.")
	}
	k.whole("vms", "The number of VMs", "VMs", s.VMs, 0, MaxVMs)
	k.money("price", "The price", s.Price)
	k.money("upfront", "The upfront payment", s.Upfront)
	oneOf(k, "billing", s.Billing, billings)
	if k.moment("from", s.From) && k.moment("until", s.Until) {
		k.term("The contract", s.From, s.Until)
	}
}

// Validate says what is wrong with the version.
func (p ProfileVersion) Validate() error { return findingsOf(p.check) }

func (p ProfileVersion) check(k *checker) {
	k.storedName(p.Name)
	k.description("note", p.Note)
	k.enter("profile")
	p.Profile.check(k)
	k.leave()
	p.checkSource(k)
}

// Validate says what is wrong with the class in a cluster planned with this integrality.
func (p PlannedClass) Validate(integrality Integrality) error {
	return findingsOf(func(k *checker) { p.check(k, integrality) })
}

func (p PlannedClass) check(k *checker, integrality Integrality) {
	k.storedName(p.Name)
	class := p.Class(nil)
	if p.Profile != nil {
		k.enter("profile")
		k.storedName(p.Profile.Name)
		if p.Profile.Version < 0 {
			k.refuse("version", "range", "The version is %d; versions count from 1, and none is the latest.", p.Profile.Version)
		}
		k.leave()
		class.Profile = &Profile{MapTasks: 1} // the version itself was checked when it was stored
	}
	class.check(k, integrality)
	if by := class.SlotsPerVM.ByType; by != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(by)), class.RunsOn) {
		k.refuse("speed", "no_type", "The speed is 0 on every VM type that \"slots_per_vm\" names, so that the class runs on none; give one a speed above 0.")
	}
}

// Class is the class as a problem has it, with the profile its reference stands for.
func (p PlannedClass) Class(profile *Profile) Class {
	return Class{
		Name: p.Name, Profile: profile, Demand: p.Demand, VMsPerJob: p.VMsPerJob, Calibration: p.Calibration,
		DeadlineSeconds: p.DeadlineSeconds, SlotsPerVM: p.SlotsPerVM, Speed: p.Speed, Jobs: p.Jobs, Penalty: p.Penalty,
	}
}

// ValidateForecasts says what is wrong with rows that are to be written together, below /rows.
func ValidateForecasts(rows []Forecast) error {
	return findingsOf(func(k *checker) {
		k.enter("rows")
		defer k.leave()
		if len(rows) > MaxForecastRows {
			k.refuse("", "too_large", "There are %d rows; at most %d are written at once. Send them in parts.", len(rows), MaxForecastRows)
			return
		}
		checkForecasts(k, rows)
	})
}

func checkForecasts(k *checker, rows []Forecast) {
	type place struct {
		class string
		hour  int64
	}
	seen := make(map[place]int, len(rows))
	for i, f := range rows {
		k.element(i)
		if f.Class == "" {
			k.refuse("class", "missing", "The class is empty; name the one that is forecast.")
		}
		if k.moment("hour", f.Hour) && !f.Hour.Equal(f.Hour.UTC().Truncate(time.Hour)) {
			whole := f.Hour.UTC().Truncate(time.Hour)
			k.found("hour", "not_whole", fmt.Sprintf("%s is not a whole hour of UTC.", f.Hour.Format(time.RFC3339)),
				k.hint("hour", whole, "The hour it lies in began at %s.", whole.Format(time.RFC3339)))
		}
		k.number("jobs", "The number of jobs", "", f.Jobs, MaxJobs)
		at := place{f.Class, f.Hour.Unix()}
		if j, twice := seen[at]; twice {
			k.refuse("", "duplicate", "The row with index %d is for the same class and hour; keep one.", j)
		}
		seen[at] = i
		k.leave()
	}
}

// Validate says what is wrong with the document on its own, with pointers into it.
func (d Document) Validate() error {
	return findingsOf(func(k *checker) {
		k.enter("cluster")
		d.Cluster.check(k)
		k.leave()
		checkList(k, "vm_types", "VM type", d.VMTypes, func(v VMType) string { return v.Name }, VMType.check)
		checkList(k, "prices", "price period", d.Prices, PricePeriod.Label, PricePeriod.check)
		checkList(k, "contracts", "contract", d.Contracts, func(s SignedContract) string { return s.Name }, SignedContract.check)
		checkList(k, "offers", "offer", d.Offers, func(o StandingOffer) string { return o.Name }, StandingOffer.check)
		checkList(k, "profiles", "profile version", d.Profiles, ProfileVersion.Label, func(p ProfileVersion, k *checker) {
			p.check(k)
			if p.Version < 1 {
				k.refuse("version", "range", "The version is %d; in a document every version has its number, 1, 2, 3, …", p.Version)
			}
		})
		checkList(k, "classes", "class", d.Classes, func(c PlannedClass) string { return c.Name }, func(c PlannedClass, k *checker) {
			c.check(k, d.Cluster.Options.Integrality)
		})
		k.enter("forecasts")
		checkForecasts(k, d.Forecasts)
		k.leave()
	})
}

func checkList[T any](k *checker, member, kind string, items []T, label func(T) string, check func(T, *checker)) {
	k.enter(member)
	defer k.leave()
	seen := make(map[string]int, len(items))
	for i, item := range items {
		k.element(i)
		check(item, k)
		name := label(item)
		if j, twice := seen[name]; twice {
			k.refuse("", "duplicate_name", "The %s with index %d is %q as well; keep one.", kind, j, clip(name))
		}
		seen[name] = i
		k.leave()
	}
}

func findingsOf(check func(*checker)) error {
	var k checker
	check(&k)
	return Refusal(k.findings, k.unlisted)
}

// storedName is a name that can be part of an address.
func (c *checker) storedName(name string) {
	switch {
	case name == "." || name == "..":
		c.refuse("name", "text", "The name %q means something else in addresses; give another.", name)
	case name != strings.TrimSpace(name):
		c.found("name", "text", fmt.Sprintf("The name %q begins or ends with a space.", clip(name)), c.hint("name", strings.TrimSpace(name), "Write it without."))
	default:
		c.name(name)
	}
}

// MaxDescription is how many bytes a description or note may have.
const MaxDescription = 2000

func (c *checker) description(member, text string) {
	switch {
	case len(text) > MaxDescription:
		c.refuse(member, "too_long", "The text has %d bytes; at most %d are kept.", len(text), MaxDescription)
	case strings.ContainsRune(text, 0):
		c.refuse(member, "text", "The text has a NUL character in it; remove it.")
	}
}

// moment is a point in time that calendars and the database agree on.
func (c *checker) moment(member string, t time.Time) bool {
	switch year := t.UTC().Year(); {
	case t.IsZero():
		c.refuse(member, "missing", "The time is missing; give one such as \"2026-01-01T00:00:00Z\".")
	case year < 1970 || year > 2200:
		c.refuse(member, "range", "The year is %d; times from 1970 to 2200 can be planned.", year)
	default:
		return true
	}
	return false
}

// term refuses what ends before it has lasted a microsecond, the least that is kept.
func (c *checker) term(what string, from, until time.Time) {
	from, until = from.Truncate(time.Microsecond), until.Truncate(time.Microsecond)
	switch {
	case until.Equal(from):
		c.refuse("until", "order", "%s ends the moment it starts, %s; give a later end.", what, from.UTC().Format(time.RFC3339Nano))
	case until.Before(from):
		c.refuse("until", "order", "%s ends at %s, before it starts at %s; perhaps the two are swapped.", what, until.UTC().Format(time.RFC3339), from.UTC().Format(time.RFC3339))
	}
}

// wholeJobs is a forecast as a bound on whole jobs: nobody expected is left out.
func wholeJobs(jobs float64) float64 { return math.Ceil(jobs - 1e-9) }
