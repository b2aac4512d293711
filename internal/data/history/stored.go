package history

import "time"

// StoredExecution is an execution without its sample.
type StoredExecution struct {
	ID string `json:"id"`
	Facts
	MapSlots    *int64    `json:"map_slots"` // the most attempts at once, of stages all together; null is not on record
	ReduceSlots *int64    `json:"reduce_slots"`
	ImportedAt  time.Time `json:"imported_at"`
	ImportedBy  string    `json:"imported_by"` // the key's name
	RunID       *string   `json:"run_id"`      // of the run that imported it; null where it was sent
}

// SampledExecution is one with its sample or chain.
type SampledExecution struct {
	StoredExecution
	Sample *Sample `json:"sample"`
	Chain  *Chain  `json:"chain"`
}

// RecordedJob is a job that has executions.
type RecordedJob struct {
	Job        string     `json:"job"`
	Executions int64      `json:"executions"`
	Usable     int64      `json:"usable"`   // of which profiles can be made
	Refused    int64      `json:"refused"`  // the others
	FirstAt    *time.Time `json:"first_at"` // submitted; null where none is dated
	LastAt     *time.Time `json:"last_at"`
	Seconds    *float64   `json:"median_seconds"` // of the usable ones; null is not on record
}
