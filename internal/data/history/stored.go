package history

import "time"

// StoredExecution is an execution without its sample.
type StoredExecution struct {
	ID string `json:"id"`
	Facts
	MapSlots    *int64    `json:"map_slots"` // largest number of concurrent attempts, of all stages together; null means unknown
	ReduceSlots *int64    `json:"reduce_slots"`
	ImportedAt  time.Time `json:"imported_at"`
	ImportedBy  string    `json:"imported_by"` // the key's name
	RunID       *string   `json:"run_id"`      // of the run that imported it; null if it was sent
}

// SampledExecution is an execution with its sample or chain.
type SampledExecution struct {
	StoredExecution
	Sample *Sample `json:"sample"`
	Chain  *Chain  `json:"chain"`
}

// RecordedJob is a job that has executions.
type RecordedJob struct {
	Job        string     `json:"job"`
	Executions int64      `json:"executions"`
	Usable     int64      `json:"usable"`   // executions that give profiles
	Refused    int64      `json:"refused"`  // the others
	FirstAt    *time.Time `json:"first_at"` // submitted; null if none is dated
	LastAt     *time.Time `json:"last_at"`
	Seconds    *float64   `json:"median_seconds"` // of the usable ones; null means unknown
}
