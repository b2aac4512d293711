package runs

import (
	"encoding/json"
	"time"

	"headroom/internal/core/fault"
)

// RunState is where a run of background work stands.
type RunState string

// The states. The last three are final.
const (
	RunQueued    RunState = "queued"
	RunRunning   RunState = "running"
	RunSucceeded RunState = "succeeded"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
)

// Over says that the state is final.
func (s RunState) Over() bool { return s == RunSucceeded || s == RunFailed || s == RunCancelled }

// Progress is how far a run is: Done of Total units; a Total of 0 is not known.
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
	Cancelling bool            `json:"cancelling"` // somebody has asked for its end
	Result     json.RawMessage `json:"result"`     // null where there is none, or it is no JSON, or a large one
	ResultURL  *string         `json:"result_url"` // null where there is none
	Partial    bool            `json:"partial"`    // the result is what a run had that did not succeed
	Error      *RunError       `json:"error"`

	Version int64  `json:"-"` // counts its changes
	Role    string `json:"-"` // that ending and repeating it needs
}

// RunError is why a run failed.
type RunError struct {
	Detail    string          `json:"detail"`
	Kind      string          `json:"kind"` // that of an error (see Kind), or one of the words below
	Errors    []fault.Finding `json:"errors,omitempty"`
	Conflicts []fault.Finding `json:"conflicts,omitempty"`
}

// What else a run can fail of.
const (
	RunInternal = "internal" // a mistake of ours
	RunTimedOut = "timeout"
	RunLost     = "lost" // the servers that worked on it died
	RunTooLarge = "too large"
)

// ResultAddress is where a run's result is read.
func ResultAddress(id string) string { return "/v1/runs/" + id + "/result" }

// InlineResult is the size of a JSON result at most that stands in the run itself.
const InlineResult = 64 << 10

// Estimate is how long a run will go on, which is elapsed old; nil is not known. What others of its kind
// took says little: the same cluster may be planned in a moment today and not in a minute tomorrow.
func (p Progress) Estimate(elapsed time.Duration) *float64 {
	if p.Done <= 0 || p.Total <= 0 {
		return nil
	}
	return new(elapsed.Seconds() * float64(max(p.Total-p.Done, 0)) / float64(p.Done))
}
