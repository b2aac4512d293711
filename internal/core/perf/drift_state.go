package perf

import (
	"time"

	"example.org/headroom/internal/core/words"
)

// DriftState tells whether a class's executions still fit its calibration.
type DriftState string

// The states. Slower executions miss the calibrated time too often; Faster ones show that it is far too long.
const (
	Unchanged DriftState = "unchanged"
	Slower    DriftState = "slower"
	Faster    DriftState = "faster"
)

// Drift compares the executions after a calibration with it.
type Drift struct {
	State      DriftState `json:"state"`
	Since      *time.Time `json:"since"`      // when the change probably began; null while unchanged
	Executions int64      `json:"executions"` // later ones, or those since the change
	Exceeded   int64      `json:"exceeded"`   // of them, those over the calibrated time
	Expected   float64    `json:"expected"`   // that would have exceeded it by the calibration
	Detail     string     `json:"detail"`
	// Facts holds the sentence of the detail with its figures; none before an execution was compared.
	Facts words.Facts `json:"facts,omitempty"`
}
