// Package runs is the desk of background runs: who sees, ends and repeats them.
package runs

import (
	"encoding/json"
	"time"

	"example.org/headroom/internal/core/fault"
)

// RunState names a stage of a run of background work.
type RunState string

// The states. The last three are final.
const (
	RunQueued    RunState = "queued"
	RunRunning   RunState = "running"
	RunSucceeded RunState = "succeeded"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
)

// Over reports whether the state is final.
func (s RunState) Over() bool { return s == RunSucceeded || s == RunFailed || s == RunCancelled }

// Progress counts a run's work: Done of Total units; a Total of 0 is unknown.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Unit  string `json:"unit"`
}

// Run is a piece of background work.
type Run struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Cluster    *string         `json:"cluster"` // null: of none
	State      RunState        `json:"state"`
	Progress   Progress        `json:"progress"`
	ETASeconds *float64        `json:"eta_s"` // from updated_at on; null: not known, or over
	Attempt    int64           `json:"attempt"`
	By         string          `json:"by"` // the key's name
	CreatedAt  time.Time       `json:"created_at"`
	StartedAt  *time.Time      `json:"started_at"` // the last attempt
	FinishedAt *time.Time      `json:"finished_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	Cancelling bool            `json:"cancelling"` // somebody has asked to cancel it
	Result     json.RawMessage `json:"result"`     // null without a result, or if it is large or no JSON
	ResultURL  *string         `json:"result_url"` // null without a result
	Partial    bool            `json:"partial"`    // the partial result of a run that did not succeed
	Error      *RunError       `json:"error"`

	Version int64  `json:"-"` // counts its changes
	Role    string `json:"-"` // that ending and repeating it needs
}

// RunError holds the reason why a run failed.
type RunError struct {
	Detail    string          `json:"detail"`
	Kind      string          `json:"kind"` // that of an error (see Kind), or one of the words below
	Errors    []fault.Finding `json:"errors,omitempty"`
	Conflicts []fault.Finding `json:"conflicts,omitempty"`
}

// Further kinds of a run's errors.
const (
	RunInternal = "internal" // a fault of the server
	RunTimedOut = "timeout"
	RunLost     = "lost" // the servers that worked on it died
	RunTooLarge = "too large"
)

// ResultAddress returns the path to a run's result.
func ResultAddress(id string) string { return "/v1/runs/" + id + "/result" }

// InlineResult is the maximum size of a JSON result within the run itself.
const InlineResult = 64 << 10

// Estimate returns the remaining seconds of a run that is elapsed old; nil is unknown. The times of other runs of its
// kind predict little: the same cluster may be planned in a moment today and take minutes tomorrow.
func (p Progress) Estimate(elapsed time.Duration) *float64 {
	if p.Done <= 0 || p.Total <= 0 {
		return nil
	}
	return new(elapsed.Seconds() * float64(max(p.Total-p.Done, 0)) / float64(p.Done))
}
