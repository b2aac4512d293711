package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// A Place is a job's request to start.
type Place struct {
	Class     string  `json:"class"`
	Holder    string  `json:"holder,omitempty"`     // the job's own id, for people
	TTLS      float64 `json:"ttl_s,omitempty"`      // the seconds that the lease lives without a heartbeat; 0 is 120
	DeadlineS float64 `json:"deadline_s,omitempty"` // within how many seconds it must be done; 0 is whenever
	Maps      int64   `json:"maps,omitempty"`
	Reduces   int64   `json:"reduces,omitempty"`
}

// An Admission answers a job that asked to start.
type Admission struct {
	Admitted   bool      `json:"admitted"`
	ID         string    `json:"id"` // of the lease, where admitted
	ExpiresAt  time.Time `json:"expires_at"`
	PlanNumber int64     `json:"plan_number"`
	Running    int64     `json:"running"`
	Limit      int64     `json:"limit"` // jobs of the class that the plan admits at once
	Code       string    `json:"code"`  // why not: full, none_admitted, not_planned, deadline_missed, no_slots or unmeasured
	Reason     string    `json:"reason"`

	RetryAfterS int64 `json:"retry_after_s"` // when to ask again
}

// Ask asks for a place for one job. A job that is not admitted is an answer, not an error.
func (c *Client) Ask(ctx context.Context, cluster string, place Place) (Admission, error) {
	var a Admission
	r, err := asJSON(http.MethodPost, path("clusters", cluster, "admissions"), place)
	if err == nil {
		r.once = true
		err = c.send(ctx, r, &a)
	}
	return a, err
}

// A Heartbeat keeps a lease. Maps and Reduces say how many tasks are left of a job that was promised a deadline.
type Heartbeat struct {
	TTLS    float64 `json:"ttl_s,omitempty"` // 0 is as long as it was asked for last
	Maps    *int64  `json:"maps,omitempty"`
	Reduces *int64  `json:"reduces,omitempty"`
}

// A Lease is the place of a job that runs.
type Lease struct {
	ID        string    `json:"id"`
	Class     string    `json:"class"`
	Holder    string    `json:"holder"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Keep says that a job still runs. A lease that is over is a *Problem of the kind gone: stop the job.
func (c *Client) Keep(ctx context.Context, cluster, lease string, beat Heartbeat) (Lease, error) {
	var l Lease
	r, err := asJSON(http.MethodPost, path("clusters", cluster, "admissions", lease, "heartbeat"), beat)
	if err == nil {
		err = c.send(ctx, r, &l)
	}
	return l, err
}

// End frees the place of a job that is done. To end it twice is no error.
func (c *Client) End(ctx context.Context, cluster, lease string) error {
	return c.send(ctx, request{method: http.MethodDelete, path: path("clusters", cluster, "admissions", lease)}, nil)
}

// An Import says how to take a history.
type Import struct {
	Job    string // the name of the job, of executions whose history names none
	DryRun bool   // only say what would come of it
}

// An Imported says what came of an import.
type Imported struct {
	Executions int64         `json:"executions"`
	Created    int64         `json:"created"`
	Updated    int64         `json:"updated"`
	Unchanged  int64         `json:"unchanged"`
	Unusable   Refusals      `json:"unusable"` // kept, but no profile can be made of them
	Refused    Refusals      `json:"refused"`  // not kept
	Jobs       []ImportedJob `json:"jobs"`
}

// Refusals counts executions and tells the first of them.
type Refusals struct {
	Count int64 `json:"count"`
	First []struct {
		Where  string `json:"where"`
		Detail string `json:"detail"`
	} `json:"first"`
}

// An ImportedJob says what came of the executions of one job.
type ImportedJob struct {
	Job        string `json:"job"`
	Executions int64  `json:"executions"`
	Unusable   int64  `json:"unusable"`
}

// ImportHistory sends past runs: a .jhist, a trace of Rumen, an event log of Spark, a list of sacct, or CSV, plain or
// packed, from its beginning. The server knows it by its content, and the same again makes no doubles.
func (c *Client) ImportHistory(ctx context.Context, cluster string, history io.ReadSeeker, how Import) (Imported, error) {
	query := url.Values{}
	if how.Job != "" {
		query.Set("job", how.Job)
	}
	if how.DryRun {
		query.Set("dry_run", "true")
	}
	address := path("clusters", cluster, "history-imports")
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var done Imported
	err := c.send(ctx, request{method: http.MethodPost, path: address, body: history, media: "application/octet-stream"}, &done)
	return done, err
}
