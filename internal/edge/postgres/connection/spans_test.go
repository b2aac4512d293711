package connection

import "testing"

func TestNamesOfStatements(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT name FROM clusters WHERE name = @name":                  "SELECT clusters",
		"\n\t\tINSERT INTO audit (era) VALUES (1)":                      "INSERT audit",
		"update ONLY  Plans SET x = 'from secrets'":                     "UPDATE plans",
		"DELETE FROM sessions WHERE expires_at <= now()":                "DELETE sessions",
		"-- name: JobGet :many\n/* of River */ SELECT * FROM river_job": "SELECT river_job",
		"WITH due AS (SELECT id FROM runs) UPDATE runs SET x = 1":       "WITH runs",
		"begin isolation level repeatable read":                         "BEGIN", "SELECT set_config('a', $1, true)": "SELECT", "commit": "COMMIT",
		"": "OTHER", "  ": "OTHER", "hunter2": "OTHER", "ALTER ROLE x PASSWORD 'y'": "OTHER",
	} {
		if got := statementName(sql); got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
}
