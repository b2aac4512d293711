package postgres

import "headroom/internal/service/app"

// Stores returns the database as the stores that the service asks for, one a subject.
func (s *Store) Stores() app.Stores {
	return app.Stores{
		Inputs: s, Profiles: s, Forecasts: s, Plans: s, Access: s, Database: s, Admissions: s, Calibrations: s, Executions: s, Fits: s,
		Live: s, Observations: s, Packings: s, Reports: s, Runs: s, StoredPools: s, Webhooks: s,
	}
}
