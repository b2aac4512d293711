package postgres

import (
	"cmp"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"headroom/internal/core/capacity"
	"headroom/internal/data/inputs"
	"headroom/internal/data/storage"
)

// Scenarios are kept by name. They are no inputs: no plan depends on one.
func (s *Store) Scenarios() storage.Collection[capacity.Scenario] {
	return inputStore[capacity.Scenario]{s, &scenarios}
}

var scenarios = kind[capacity.Scenario]{
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
	args: func(s capacity.Scenario) pgx.NamedArgs {
		if s.Changes == nil {
			s.Changes = []capacity.ScenarioChange{}
		}
		changes, _ := json.Marshal(s.Changes) // of checked figures and texts
		return pgx.NamedArgs{"name": s.Name, "note": s.Note, "changes": string(changes)}
	},
	collect: pgx.RowToStructByName[capacity.Scenario],
	name:    func(s capacity.Scenario) string { return s.Name },
	label:   func(s capacity.Scenario) string { return s.Name },
	sortKey: func(s capacity.Scenario) []any { return []any{s.Name} },
	start:   byName,
	prepare: func(s capacity.Scenario, name string) capacity.Scenario { s.Name = cmp.Or(name, s.Name); return s },
}
