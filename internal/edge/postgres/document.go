package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/core/capacity"
	"headroom/internal/data/inputs"
)

// MostForecasts is how many forecast rows a document holds.
const MostForecasts = 200_000

// Document is a whole cluster as people write it: without stamps and ids.
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
			if len(d.Forecasts) > MostForecasts {
				return conflict("the cluster %q has more than %d forecast rows, the most a document holds; keep them as CSV (GET /v1/clusters/%[1]s/forecasts?format=csv, or headroom forecast list %[1]s -o csv), delete those that the document need not have, such as those of past hours, and ask again", name, MostForecasts)
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
	args := pgx.NamedArgs{"cluster": id, "limit": MostForecasts + 1}
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
			SELECT c.name AS class, f.hour, f.jobs FROM forecasts f JOIN classes c ON c.id = f.class_id
			WHERE c.cluster_id = @cluster ORDER BY c.name, f.hour LIMIT @limit`, args).Query(all(&d.Forecasts, pgx.RowToStructByName))
	}
	b.Queue(`SELECT inputs_version FROM clusters WHERE id = @cluster`, args).QueryRow(func(row pgx.Row) error { return row.Scan(&version) })
	err = q.SendBatch(ctx, &b).Close()
	return d, version, err
}

// bare takes out what people do not write.
func bare(d *inputs.Document) {
	d.Cluster.Stamp, d.Cluster.InputsVersion = capacity.Stamp{}, 0
	for i := range d.VMTypes {
		d.VMTypes[i].Stamp = capacity.Stamp{}
	}
	for i := range d.Prices {
		d.Prices[i].Stamp, d.Prices[i].ID = capacity.Stamp{}, ""
		if d.Prices[i].Purchase == capacity.PurchaseOnDemand {
			d.Prices[i].Purchase = "" // goes without saying
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
