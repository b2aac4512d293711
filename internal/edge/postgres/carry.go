package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
)

// carryOut makes the changes of a document in their order, in one round trip, and returns the entries to record.
func carryOut(ctx context.Context, q querier, id int64, before, after inputs.Document, changes []inputs.Change) ([]entry, error) {
	w := work{id: id}
	vmType := pairs(&vmTypes, before.VMTypes, after.VMTypes)
	price := pairs(&prices, before.Prices, after.Prices)
	contract := pairs(&contracts, before.Contracts, after.Contracts)
	offer := pairs(&offers, before.Offers, after.Offers)
	class := pairs(&classes, before.Classes, after.Classes)
	profile := labelled(after.Profiles, inputs.ProfileVersion.Label)
	forecast := map[string]bool{}
	for _, c := range changes {
		e := entry{Cluster: after.Cluster.Name, Action: c.Action, Kind: c.Kind, Name: c.Name}
		switch c.Kind {
		case inputs.ClusterKind:
			e.After = after.Cluster
			if c.Action == inputs.Update { // a new one is there already
				args := clusterArgs(after.Cluster)
				args["id"] = id
				w.queue(updateCluster, args, after.Cluster)
				e.Before = before.Cluster
			}
		case inputs.VMTypeKind:
			e.Before, e.After = vmType.carry(&w, c)
		case inputs.PriceKind:
			e.Before, e.After = price.carry(&w, c)
		case inputs.ContractKind:
			e.Before, e.After = contract.carry(&w, c)
		case inputs.OfferKind:
			e.Before, e.After = offer.carry(&w, c)
		case inputs.ClassKind:
			e.Before, e.After = class.carry(&w, c)
		case inputs.ProfileKind:
			p := profile[c.Name]
			w.queue(insertProfile, profileArgs(id, p), p)
			e.After = p
		case inputs.ForecastKind:
			forecast[c.Name] = true
		}
		w.entries = append(w.entries, e)
	}
	w.forecasts(forecast, before.Forecasts, after.Forecasts)
	results := q.SendBatch(ctx, &w.batch)
	for _, item := range w.items {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return nil, at(after.Cluster.Name, item, err)
		}
	}
	return w.entries, results.Close()
}

// work holds the statements of an Apply, their objects, and the entries to record.
type work struct {
	id      int64
	batch   pgx.Batch
	items   []any
	entries []entry
}

func (w *work) queue(sql string, args pgx.NamedArgs, item any) {
	w.batch.Queue(sql, args)
	w.items = append(w.items, item)
}

// pair holds the things of a kind before and after, by label.
type pair[T any] struct {
	k             *kind[T]
	before, after map[string]T
}

func pairs[T any](k *kind[T], before, after []T) pair[T] {
	return pair[T]{k, labelled(before, k.label), labelled(after, k.label)}
}

func labelled[T any](items []T, label func(T) string) map[string]T {
	all := make(map[string]T, len(items))
	for _, x := range items {
		all[label(x)] = x
	}
	return all
}

// carry queues one change and answers the thing before and after it.
func (p pair[T]) carry(w *work, c inputs.Change) (was, is any) {
	old, item := p.before[c.Name], p.after[c.Name]
	switch c.Action {
	case inputs.Create:
		item = p.k.prepare(item, "")
		w.queue(p.k.insert, p.k.allArgs(w.id, item, nil), item)
		return nil, item
	case inputs.Update:
		item = p.k.prepare(item, p.k.name(old))
		w.queue(p.k.update, p.k.allArgs(w.id, item, pgx.NamedArgs{"name": p.k.name(old)}), item)
		return old, item
	default:
		w.queue(p.k.remove, pgx.NamedArgs{"cluster": w.id, "name": p.k.name(old)}, old)
		return old, nil
	}
}

// forecasts replaces the rows of some classes, and counts them before and after in the entries.
func (w *work) forecasts(of map[string]bool, before, after []inputs.Forecast) {
	if len(of) == 0 {
		return
	}
	changed := make([]string, 0, len(of))
	for name := range of {
		changed = append(changed, name)
	}
	was, is := byClass(before), byClass(after)
	for i := range w.entries {
		if e := &w.entries[i]; e.Kind == inputs.ForecastKind {
			if rows := was[e.Name]; rows != nil {
				e.Before = extentOf(rows)
			}
			if rows := is[e.Name]; rows != nil {
				e.After = extentOf(rows)
			}
		}
	}
	w.queue(`DELETE FROM forecasts USING classes c WHERE c.id = class_id AND c.cluster_id = @cluster AND c.name = ANY(@changed)`,
		pgx.NamedArgs{"cluster": w.id, "changed": changed}, nil)
	rows := slices.DeleteFunc(slices.Clone(after), func(f inputs.Forecast) bool { return !of[f.Class] })
	if len(rows) > 0 {
		w.queue(upsertForecasts, forecastArgs(w.id, rows), rows)
	}
}

func byClass(rows []inputs.Forecast) map[string][]inputs.Forecast {
	by := map[string][]inputs.Forecast{}
	for _, r := range rows {
		by[r.Class] = append(by[r.Class], r)
	}
	return by
}
