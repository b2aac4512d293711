package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/clusters"
)

var errDryRun = errors.New("a dry run changes nothing")

// Apply turns a cluster into a document's state, in one transaction.
func (s *Store) Apply(ctx context.Context, version int64, d inputs.Document, dryRun bool) (done clusters.Applied, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		done, err = apply(ctx, q, version, d, dryRun)
		if err == nil && dryRun {
			return errDryRun
		}
		return err
	})
	if errors.Is(err, errDryRun) {
		return done, nil
	}
	return done, err
}

// Revise changes a cluster's document by a function, in one transaction.
func (s *Store) Revise(ctx context.Context, cluster string, revise func(inputs.Document) (inputs.Document, error), dryRun bool) (done clusters.Applied, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		before, version, err := document(ctx, q, id, false)
		if err != nil {
			return err
		}
		after, err := revise(before)
		if err != nil {
			return err
		}
		done.Version = version
		if done, err = become(ctx, q, id, before, after, done, dryRun); err == nil && dryRun {
			return errDryRun
		}
		return err
	})
	if errors.Is(err, errDryRun) {
		return done, nil
	}
	return done, err
}

// Together does changes of a cluster in one transaction.
func (s *Store) Together(ctx context.Context, cluster string, changes func(ctx context.Context) error) error {
	return s.writeMuch(ctx, joining(func(ctx context.Context, q querier) error {
		if _, err := lockCluster(ctx, q, cluster); err != nil {
			return err
		}
		return changes(ctx)
	}))
}

func apply(ctx context.Context, q querier, version int64, d inputs.Document, dryRun bool) (done clusters.Applied, err error) {
	id, err := lockCluster(ctx, q, d.Cluster.Name)
	done.Created = errors.Is(err, fault.NotFound) && (version == 0 || dryRun)
	if err != nil && !done.Created {
		return done, err
	}
	var before inputs.Document
	if !done.Created {
		if before, done.Version, err = document(ctx, q, id, d.Forecasts != nil); err != nil {
			return done, err
		}
		if done.Version != version && !(dryRun && version == 0) {
			return done, outdated(ctx, q, done.Version, d.Cluster.Name, "", inputKinds...)
		}
		if len(before.Forecasts) > MaxForecasts {
			return done, conflict("the cluster has more than %d forecast rows, the limit of a document; leave \"forecasts\" out of the document and send them as CSV (PUT /v1/clusters/%s/forecasts, or headroom class forecast edit), or delete past ones", MaxForecasts, d.Cluster.Name)
		}
	}
	return become(ctx, q, id, before, d, done, dryRun)
}

// become turns a locked cluster into a document's state.
func become(ctx context.Context, q querier, id int64, before, d inputs.Document, done clusters.Applied, dryRun bool) (clusters.Applied, error) {
	d, err := settle(before, d)
	if err != nil {
		return done, err
	}
	if done.Changes = inputs.Changes(before, d); len(done.Changes) == 0 || dryRun {
		return done, nil
	}
	if done.Created {
		if id, err = insertCluster(ctx, q, d.Cluster); err != nil {
			return done, at(d.Cluster.Name, d.Cluster, err)
		}
	}
	entries, err := carryOut(ctx, q, id, before, d, done.Changes)
	if err != nil {
		return done, err
	}
	if done.Created {
		done.Version++
	} else if slices.ContainsFunc(done.Changes, func(c inputs.Change) bool { return c.Kind != inputs.OfferKind }) {
		if err := bump(ctx, q, id); err != nil {
			return done, err
		}
		done.Version++
	}
	return done, record(ctx, q, entries...)
}

// settle checks a document against the present state, and resolves the versions that its classes leave open.
func settle(before, d inputs.Document) (inputs.Document, error) {
	var findings []fault.Finding
	found := func(pointer string, some ...*fault.Finding) {
		for _, f := range some {
			if f != nil {
				findings = append(findings, f.Move(fault.Under(pointer)))
			}
		}
	}
	after := d // with the lists that stay as they are
	if d.VMTypes == nil {
		after.VMTypes = before.VMTypes
	}
	if d.Classes == nil {
		after.Classes = before.Classes
	}
	latest := newVersions(before, d, found)
	d.Prices, d.Contracts, d.Classes = slices.Clone(d.Prices), slices.Clone(d.Contracts), slices.Clone(d.Classes)
	for i, p := range d.Prices {
		d.Prices[i].From = stored(p.From)
		if p.Until != nil {
			until := stored(*p.Until)
			d.Prices[i].Until = &until
		}
	}
	for i, c := range d.Contracts {
		d.Contracts[i].From, d.Contracts[i].Until = stored(c.From), stored(c.Until)
	}
	for i, c := range d.Classes {
		found(fmt.Sprintf("/classes/%d", i), unknownTypesOf(c, after.VMTypes)...)
		if c.Profile == nil {
			continue
		}
		ref := *c.Profile
		if ref.Version == 0 {
			ref.Version = max(latest[ref.Name], 1)
		}
		found(fmt.Sprintf("/classes/%d", i), unknownProfile(ref, latest))
		d.Classes[i].Profile = &ref
	}
	for i, p := range d.Prices {
		found(fmt.Sprintf("/prices/%d", i), unknownVMType(p.VMType, after.VMTypes))
	}
	overlaps(d.Prices, found)
	for i, c := range d.Contracts {
		found(fmt.Sprintf("/contracts/%d", i), unknownVMType(c.VMType, after.VMTypes))
	}
	for i, o := range d.Offers {
		found(fmt.Sprintf("/offers/%d", i), unknownVMType(o.VMType, after.VMTypes))
	}
	found("/forecasts", unknownClasses(d.Forecasts, after.Classes)...)
	found("/vm_types", stillReferred(before, d)...)
	return d, fault.Refusal(findings, 0)
}

// stored returns a time in the precision of the database.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// overlaps finds the periods of a list that begin before the one before them ends.
func overlaps(periods []inputs.PricePeriod, found func(string, ...*fault.Finding)) {
	order := make([]int, len(periods))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(periods[a].VMType, periods[b].VMType), cmp.Compare(periods[a].Purchase, periods[b].Purchase), periods[a].From.Compare(periods[b].From))
	})
	for n := 1; n < len(order); n++ {
		p, previous := periods[order[n]], periods[order[n-1]]
		p.ID, previous.ID = "", ""
		found(fmt.Sprintf("/prices/%d", order[n]), overlap(p, []inputs.PricePeriod{previous}))
	}
}

// newVersions checks a document's profile versions: an existing one must be the same, a new one the next. It returns
// the latest of each afterwards.
func newVersions(before, d inputs.Document, found func(string, ...*fault.Finding)) map[string]int64 {
	latest := map[string]int64{}
	known := map[inputs.ProfileRef]inputs.ProfileVersion{}
	for _, p := range before.Profiles {
		known[inputs.ProfileRef{Name: p.Name, Version: p.Version}] = p
		latest[p.Name] = max(latest[p.Name], p.Version)
	}
	order := make([]int, len(d.Profiles))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.Profiles[a].Version, d.Profiles[b].Version) })
	for _, i := range order {
		p := d.Profiles[i]
		at := fmt.Sprintf("/profiles/%d", i)
		next := latest[p.Name] + 1
		hint := &fault.Hint{Detail: fmt.Sprintf("Give it the next number, %d.", next), Pointer: "/version", Value: next}
		was, exists := known[inputs.ProfileRef{Name: p.Name, Version: p.Version}]
		switch {
		case exists && (!was.Says(p)):
			found(at, &fault.Finding{Pointer: "/version", Code: "fixed", Hint: hint,
				Detail: fmt.Sprintf("Version %d of the profile %q is there already and says something else; a version never changes.", p.Version, p.Name)})
		case exists:
		case p.Version != next:
			found(at, &fault.Finding{Pointer: "/version", Code: "order", Hint: hint,
				Detail: fmt.Sprintf("Version %d of the profile %q would leave a gap.", p.Version, p.Name)})
		default:
			latest[p.Name] = p.Version
		}
	}
	return latest
}

// stillReferred finds types that the document omits although parts it leaves as they are refer to them.
func stillReferred(before, d inputs.Document) (findings []*fault.Finding) {
	if d.VMTypes == nil {
		return nil
	}
	missing := map[string]string{}
	refer := func(vmType, by string) {
		if !slices.ContainsFunc(d.VMTypes, func(v inputs.VMType) bool { return v.Name == vmType }) {
			missing[vmType] = by
		}
	}
	if d.Prices == nil {
		for _, p := range before.Prices {
			refer(p.VMType, "the price period "+p.Label())
		}
	}
	if d.Contracts == nil {
		for _, c := range before.Contracts {
			refer(c.VMType, "the contract "+c.Name)
		}
	}
	if d.Offers == nil {
		for _, o := range before.Offers {
			refer(o.VMType, "the offer "+o.Name)
		}
	}
	if d.Classes == nil {
		for _, c := range before.Classes {
			for vmType := range c.SlotsPerVM.ByType {
				refer(vmType, "the class "+c.Name)
			}
			for vmType := range c.Speed {
				refer(vmType, "the class "+c.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		findings = append(findings, &fault.Finding{Code: "in_use",
			Detail: fmt.Sprintf("The VM type %q is left out, but %s names it; keep the type, or give the lists of prices, contracts, offers and classes as well.", name, missing[name])})
	}
	return findings
}

// MaxForecasts is the maximum number of forecast rows in a document.
const MaxForecasts = 200_000

// Document returns a whole cluster as people write it: without stamps and ids.
func (s *Store) Document(ctx context.Context, name string) (d inputs.Document, err error) {
	err = s.readAll(ctx, func(ctx context.Context, q querier) error {
		return s.slowly(ctx, q, func(ctx context.Context, q querier) error {
			id, err := clusterID(ctx, q, name)
			if err != nil {
				return err
			}
			const tries = 5
			for range tries {
				var version int64
				if d, version, err = document(ctx, q, id, true); err != nil || version == d.Cluster.InputsVersion {
					break
				}
			}
			if len(d.Forecasts) > MaxForecasts {
				return conflict("the cluster %q has more than %d forecast rows, which is the limit of a document. Save them as CSV (GET /v1/clusters/%[1]s/forecasts?format=csv, or headroom class forecast list %[1]s -o csv), delete those of past hours, and ask again", name, MaxForecasts)
			}
			return err
		})
	})
	if err != nil {
		return inputs.Document{}, err
	}
	bare(&d)
	return d, nil
}

// document reads a cluster, and its inputs' version once more afterwards.
func document(ctx context.Context, q querier, id int64, forecasts bool) (d inputs.Document, version int64, err error) {
	args := pgx.NamedArgs{"cluster": id, "limit": MaxForecasts + 1}
	var b pgx.Batch
	b.Queue(`SELECT `+clusterColumns+` FROM clusters WHERE id = @cluster`, args).Query(exactlyOne(&d.Cluster, pgx.RowToStructByName))
	b.Queue(vmTypes.selects+` ORDER BY name`, args).Query(all(&d.VMTypes, vmTypes.collect))
	b.Queue(prices.selects+` ORDER BY v.name, lower(p.during), p.vm_type_id IS NULL`, args).Query(all(&d.Prices, prices.collect))
	b.Queue(contracts.selects+` ORDER BY c.name`, args).Query(all(&d.Contracts, contracts.collect))
	b.Queue(offers.selects+` ORDER BY o.name`, args).Query(all(&d.Offers, offers.collect))
	b.Queue(`SELECT `+profileColumns+` FROM profile_versions p WHERE p.cluster_id = @cluster ORDER BY p.name, p.version`, args).Query(all(&d.Profiles, profileOf))
	b.Queue(classes.selects+` ORDER BY name`, args).Query(all(&d.Classes, classes.collect))
	if forecasts {
		b.Queue(`
			SELECT c.name AS class, f.hour, CASE WHEN f.arrivals IS NULL THEN f.jobs ELSE 0 END AS jobs, f.arrivals FROM forecasts f JOIN classes c ON c.id = f.class_id
			WHERE c.cluster_id = @cluster ORDER BY c.name, f.hour LIMIT @limit`, args).Query(all(&d.Forecasts, pgx.RowToStructByName))
	}
	b.Queue(`SELECT inputs_version FROM clusters WHERE id = @cluster`, args).QueryRow(func(row pgx.Row) error { return row.Scan(&version) })
	err = q.SendBatch(ctx, &b).Close()
	return d, version, err
}

// bare clears the members that people do not write.
func bare(d *inputs.Document) {
	d.Cluster.Stamp, d.Cluster.InputsVersion = capacity.Stamp{}, 0
	for i := range d.VMTypes {
		d.VMTypes[i].Stamp = capacity.Stamp{}
	}
	for i := range d.Prices {
		d.Prices[i].Stamp, d.Prices[i].ID = capacity.Stamp{}, ""
		if d.Prices[i].Purchase == capacity.PurchaseOnDemand {
			d.Prices[i].Purchase = "" // the default
		}
	}
	for i := range d.Contracts {
		d.Contracts[i].Stamp = capacity.Stamp{}
	}
	for i := range d.Offers {
		d.Offers[i].Stamp = capacity.Stamp{}
	}
	for i := range d.Profiles {
		d.Profiles[i].CreatedAt = time.Time{}
	}
	for i := range d.Classes {
		d.Classes[i].Stamp = capacity.Stamp{}
	}
}
