// Package migrations holds the database's schema as numbered steps (goose, SQL). A step is never
// edited after it is merged, and the previous release must keep working after it has run.
package migrations

import "embed"

// Files are the steps.
//
//go:embed *.sql
var Files embed.FS
