package postgres

import (
	"cmp"

	"github.com/jackc/pgx/v5"

	"headroom/internal/data/inputs"
	"headroom/internal/data/storage"
)

// Offers are kept by name. They are no inputs: no plan depends on one.
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
