package clusters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
)

// VMTypes returns the cluster's kinds of machines.
func (d *Desk) VMTypes() storage.Collection[inputs.VMType] {
	return storage.Checked[inputs.VMType]{Collection: d.inputs.VMTypes(),
		Check: func(_ context.Context, _ string, v *inputs.VMType) error { return v.Validate() }}
}

// Prices returns the cluster's price periods.
func (d *Desk) Prices() storage.Collection[inputs.PricePeriod] {
	return storage.Checked[inputs.PricePeriod]{Collection: d.inputs.Prices(),
		Check: func(_ context.Context, _ string, p *inputs.PricePeriod) error { return p.Validate() }}
}

// Contracts returns the cluster's contracts.
func (d *Desk) Contracts() storage.Collection[inputs.SignedContract] {
	return storage.Checked[inputs.SignedContract]{Collection: d.inputs.Contracts(),
		Check: func(_ context.Context, _ string, s *inputs.SignedContract) error { return s.Validate() }}
}

// Offers returns the contracts that the cluster may buy.
func (d *Desk) Offers() storage.Collection[inputs.StandingOffer] {
	return storage.Checked[inputs.StandingOffer]{Collection: d.inputs.Offers(),
		Check: func(_ context.Context, _ string, o *inputs.StandingOffer) error { return o.Validate() }}
}

// Classes returns the cluster's classes. One whose deadline no number of slots meets is refused if it promises jobs,
// and otherwise carries a warning.
func (d *Desk) Classes() storage.Collection[inputs.PlannedClass] {
	return fitting{drifts: d.calibrations.ClassDrifts, Checked: storage.Checked[inputs.PlannedClass]{Collection: d.inputs.Classes(), Check: d.checkClass,
		Keep: func(stored *inputs.PlannedClass, c inputs.PlannedClass) { stored.Warnings = c.Warnings }}}
}

func (d *Desk) checkClass(ctx context.Context, cluster string, c *inputs.PlannedClass) error {
	of, err := d.inputs.Cluster(ctx, cluster)
	if err != nil {
		return err
	}
	if err := c.Validate(of.Options.Integrality); err != nil {
		return err
	}
	var profile *capacity.Profile
	if c.Profile != nil {
		version, err := d.profiles.Profile(ctx, cluster, c.Profile.Name, c.Profile.Version)
		if errors.Is(err, fault.NotFound) {
			return nil // the store reports it, with the existing versions
		}
		if err != nil {
			return err
		}
		profile = &version.Profile
	}
	if err := giveWarnings(of, c, profile); err != nil {
		return err
	}
	return d.warnOfForecast(ctx, cluster, c)
}

// warnOfForecast warns of another number of jobs where a forecast tells it for this hour.
func (d *Desk) warnOfForecast(ctx context.Context, cluster string, c *inputs.PlannedClass) error {
	stored, err := d.inputs.Classes().Get(ctx, cluster, c.Name)
	if errors.Is(err, fault.NotFound) || err == nil && stored.Jobs == c.Jobs {
		return nil
	}
	if err != nil {
		return err
	}
	told, err := d.forecastNow(ctx, cluster, c.Name)
	if told {
		c.Warnings = append(c.Warnings, words.Forecast("/jobs"))
	}
	return err
}

// forecastNow reports whether a class has a forecast of this hour.
func (d *Desk) forecastNow(ctx context.Context, cluster, class string) (bool, error) {
	hour := d.now().UTC().Truncate(time.Hour)
	rows, err := d.forecasts.Forecasts(ctx, cluster, ForecastFilter{Class: class, From: hour, Until: hour.Add(time.Hour)}, storage.Page{Limit: 1})
	return len(rows.Items) > 0, err
}

// checkPlanned checks a class with its profile, before either is stored.
func checkPlanned(of inputs.Cluster, c *inputs.PlannedClass, profile *capacity.Profile) error {
	if err := c.Validate(of.Options.Integrality); err != nil {
		return err
	}
	return giveWarnings(of, c, profile)
}

// giveWarnings gives a class its warnings, and refuses one that promises jobs by a deadline that nothing meets.
func giveWarnings(of inputs.Cluster, c *inputs.PlannedClass, profile *capacity.Profile) error {
	findings, warnings, err := deadlines(of, []capacity.Class{c.Class(profile)})
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return fault.Move(&fault.InputError{Findings: findings}, ofClass(""))
	}
	c.Warnings = warnings
	for i := range c.Warnings {
		c.Warnings[i].Pointer = ofClass("")(c.Warnings[i].Pointer)
	}
	return nil
}

// deadlines finds the classes with a deadline that nothing meets.
func deadlines(of inputs.Cluster, classes []capacity.Class) ([]fault.Finding, []capacity.Warning, error) {
	p := capacity.Problem{Currency: of.Currency, PeriodSeconds: of.PeriodSeconds, Supply: supplyOf(classes), Classes: classes, Options: of.Options}
	if err := p.Validate(); err != nil {
		return nil, nil, fmt.Errorf("check the deadlines of cluster %s: %w", of.Name, err)
	}
	return plan.ImpossibleDeadlines(p)
}

// supplyOf returns a supply of the VM types that the classes name, and of one more, because rules for unnamed types
// apply there too. If they name none it is of one kind.
func supplyOf(classes []capacity.Class) (s capacity.Supply) {
	named := map[string]bool{}
	for _, c := range classes {
		for name := range c.SlotsPerVM.ByType {
			named[name] = true
		}
		for name := range c.Speed {
			named[name] = true
		}
	}
	if len(named) == 0 {
		return s
	}
	other := "any other"
	for named[other] {
		other += "+"
	}
	named[other] = true
	for _, name := range slices.Sorted(maps.Keys(named)) {
		s.VMTypes = append(s.VMTypes, capacity.VMTypeSupply{Name: name})
	}
	return s
}

// ofClass returns a function that changes the pointer /classes/3/deadline_s to the same member below another pointer.
func ofClass(to string) func(pointer string) string {
	return func(pointer string) string {
		rest := strings.TrimPrefix(pointer, "/classes/")
		if i := strings.IndexByte(rest, '/'); rest != pointer && i >= 0 {
			return to + rest[i:]
		}
		return pointer
	}
}

// Create creates a cluster without inputs.
func (d *Desk) Create(ctx context.Context, c inputs.Cluster) (inputs.Cluster, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	if err := mayName(ctx, c.Name); err != nil {
		return c, err
	}
	defer d.plans.Changing(ctx, c.Name)()
	return d.inputs.CreateCluster(ctx, c)
}

// mayName refuses a name that the caller could not see afterwards.
func mayName(ctx context.Context, cluster string) error {
	who := auth.From(ctx)
	if who.Sees(cluster) {
		return nil
	}
	return fmt.Errorf("the key %q is limited to the clusters %s and cannot make %q: %w",
		who.Name, strings.Join(who.Clusters, ", "), cluster, fault.Forbidden)
}

// Replace changes a cluster's settings.
func (d *Desk) Replace(ctx context.Context, version int64, c inputs.Cluster) (inputs.Cluster, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	if err := d.checkWholeJobs(ctx, c, ""); err != nil {
		return c, err
	}
	defer d.plans.Changing(ctx, c.Name)()
	return d.inputs.ReplaceCluster(ctx, version, c)
}

// checkWholeJobs refuses planning in whole jobs for a cluster whose classes stay and have fractions of them.
func (d *Desk) checkWholeJobs(ctx context.Context, c inputs.Cluster, pointer string) error {
	if c.Options.Integrality == capacity.Relaxed {
		return nil
	}
	stored, err := d.inputs.Snapshot(ctx, c.Name, d.now())
	if errors.Is(err, fault.NotFound) {
		return nil // the store reports it
	}
	if err != nil {
		return err
	}
	var findings []fault.Finding
	for _, class := range stored.Classes {
		if class.Validate(c.Options.Integrality) == nil {
			continue
		}
		findings = append(findings, fault.Finding{Pointer: pointer + "/options/integrality", Code: "not_whole",
			Detail: fmt.Sprintf("Class %.60q has fractions of jobs (from %v to %v), which only a relaxed cluster plans; give it whole numbers first.", class.Name, class.Jobs.Min, class.Jobs.Max),
			Hint:   &fault.Hint{Detail: "Or keep the cluster relaxed.", Pointer: pointer + "/options/integrality", Value: capacity.Relaxed}})
	}
	return fault.Refusal(findings, 0)
}

// CreateProfile stores version 1 of a new profile.
func (d *Desk) CreateProfile(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	return d.profiles.CreateProfile(ctx, cluster, p)
}

// AddProfileVersion stores the next version of a profile. Classes keep the version they name.
func (d *Desk) AddProfileVersion(ctx context.Context, cluster string, p inputs.ProfileVersion) (inputs.ProfileVersion, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	return d.profiles.AddProfileVersion(ctx, cluster, p)
}

// Apply turns a cluster into a document's state; a dry run only returns the changes.
func (d *Desk) Apply(ctx context.Context, version int64, doc inputs.Document, dryRun bool) (Applied, error) {
	if err := doc.Validate(); err != nil {
		return Applied{}, err
	}
	if err := mayName(ctx, doc.Cluster.Name); err != nil {
		return Applied{}, err
	}
	if err := d.checkDocument(ctx, doc); err != nil {
		return Applied{}, err
	}
	if doc.Classes == nil {
		if err := d.checkWholeJobs(ctx, doc.Cluster, "/cluster"); err != nil {
			return Applied{}, err
		}
	}
	if !dryRun {
		defer d.plans.Changing(ctx, doc.Cluster.Name)()
	}
	done, err := d.inputs.Apply(ctx, version, doc, dryRun)
	if err == nil {
		err = d.warnOfForecasts(ctx, doc, &done)
	}
	return done, err
}

// warnOfForecasts warns of other numbers of jobs where a forecast tells them for this hour.
func (d *Desk) warnOfForecasts(ctx context.Context, doc inputs.Document, done *Applied) error {
	for _, change := range done.Changes {
		changed := slices.ContainsFunc(change.Fields, func(f capacity.FieldChange) bool { return strings.HasPrefix(f.Pointer+"/", "/jobs/") })
		at := slices.IndexFunc(doc.Classes, func(c inputs.PlannedClass) bool { return c.Name == change.Name })
		if change.Kind != "class" || !changed || at < 0 {
			continue
		}
		if told, err := d.forecastNow(ctx, doc.Cluster.Name, change.Name); err != nil {
			return err
		} else if told {
			done.Warnings = append(done.Warnings, words.Forecast(fmt.Sprintf("/classes/%d/jobs", at)))
		}
	}
	return nil
}

// checkDocument refuses promised deadlines that nothing meets, as checkClass does.
func (d *Desk) checkDocument(ctx context.Context, doc inputs.Document) error {
	versions := map[inputs.ProfileRef]*capacity.Profile{}
	latest := map[string]int64{}
	for i, p := range doc.Profiles {
		versions[inputs.ProfileRef{Name: p.Name, Version: p.Version}] = &doc.Profiles[i].Profile
		latest[p.Name] = max(latest[p.Name], p.Version)
	}
	var classes []capacity.Class
	var index []int
	for i, c := range doc.Classes {
		var profile *capacity.Profile
		if c.Profile != nil {
			ref := *c.Profile
			if ref.Version == 0 {
				ref.Version = latest[ref.Name]
			}
			if profile = versions[ref]; profile == nil {
				stored, err := d.profiles.Profile(ctx, doc.Cluster.Name, ref.Name, ref.Version)
				if errors.Is(err, fault.NotFound) {
					continue // the store reports it, with the existing versions
				}
				if err != nil {
					return err
				}
				profile = &stored.Profile
				versions[ref] = profile
			}
		}
		classes, index = append(classes, c.Class(profile)), append(index, i)
	}
	if len(classes) == 0 {
		return nil
	}
	findings, _, err := deadlines(doc.Cluster, classes)
	if err != nil || len(findings) == 0 {
		return err
	}
	for i := range findings {
		position, _, _ := strings.Cut(strings.TrimPrefix(findings[i].Pointer, "/classes/"), "/")
		if n, err := strconv.Atoi(position); err == nil && n < len(index) {
			findings[i] = findings[i].Move(ofClass("/classes/" + strconv.Itoa(index[n])))
		}
	}
	return fault.Refusal(findings, 0)
}

// Delete hides a cluster and its inputs; its plans stay on record for ever.
func (d *Desk) Delete(ctx context.Context, name string, version int64) error {
	defer d.plans.Changing(ctx, name)()
	return d.inputs.DeleteCluster(ctx, name, version)
}
