package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// heartbeat is the agent's report on its machine and tasks.
type heartbeat struct {
	Seq      int64          `json:"seq"`
	Boot     string         `json:"boot"`
	At       time.Time      `json:"at"`
	State    Report         `json:"state"`
	Running  []int64        `json:"running"`
	Finished []FinishedTask `json:"finished,omitempty"`
	Failed   []FailedTask   `json:"failed,omitempty"`
	// Leaving is set when the agent is about to end and takes no more tasks.
	Leaving bool `json:"leaving,omitempty"`
}

// Report is the load of the machine; absent figures are unknown.
type Report struct {
	Load1         *float64 `json:"load1,omitempty"`
	CPUPercent    *float64 `json:"cpu_percent,omitempty"`
	MemoryPercent *float64 `json:"memory_percent,omitempty"`
	NetMBPerS     *float64 `json:"net_mb_s,omitempty"`
	DiskMBPerS    *float64 `json:"disk_mb_s,omitempty"`
	Residual      *float64 `json:"residual,omitempty"` // part of its processors that others leave to tasks
}

// FinishedTask is an assignment that succeeded.
type FinishedTask struct {
	Assignment int64   `json:"assignment"`
	Seconds    float64 `json:"seconds"`
}

// FailedTask is an assignment that failed.
type FailedTask struct {
	Assignment int64  `json:"assignment"`
	Reason     string `json:"reason"`
}

// Answer holds the server's orders.
type Answer struct {
	Seq         int64        `json:"seq"`
	Assignments []Assignment `json:"assignments"`
	Stop        []struct {
		Assignment int64  `json:"assignment"`
		Reason     string `json:"reason"`
	} `json:"stop"`
	Notes []struct {
		Assignment int64  `json:"assignment"`
		Code       string `json:"code"`
		Detail     string `json:"detail"`
	} `json:"notes"`
	HeartbeatSeconds float64 `json:"heartbeat_s"`
}

// Assignment is a task to run.
type Assignment struct {
	Assignment int64  `json:"assignment"`
	Job        int64  `json:"job"`
	JobName    string `json:"job_name"`
	Class      string `json:"class"` // the job's class; servers of earlier versions send none
	Kind       string `json:"kind"`
	Task       int64  `json:"task"`
	Attempt    int64  `json:"attempt"`
}

const (
	maxAnswer      = 4 << 20
	maxAssignments = 1000
)

// Refused is an error that repeating does not mend.
type Refused struct{ Err error }

func (r Refused) Error() string { return r.Err.Error() }
func (r Refused) Unwrap() error { return r.Err }

// trouble is an error without a usable answer.
type trouble struct {
	status int // 0: no answer
	code   string
	after  time.Duration // the wait that the server asks for; 0: none
	err    error
}

func (t *trouble) Error() string { return t.err.Error() }
func (t *trouble) Unwrap() error { return t.err }

// final reports whether repeating gets the same refusal.
func (t *trouble) final() bool {
	return t.status >= 400 && t.status < 500 && t.status != http.StatusTooManyRequests && t.status != http.StatusRequestTimeout
}

// readAnswer reads the server's answer to a heartbeat.
func readAnswer(r *http.Response, seq int64) (a Answer, err error) {
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err != nil {
		return a, &trouble{err: fmt.Errorf("the answer broke off: %w", err)}
	}
	nonsense := func(why string) (Answer, error) {
		return Answer{}, &trouble{err: fmt.Errorf("the answer (status %d) makes no sense: %s; is the address that of a Headroom server, and is it of the same version?", r.StatusCode, why)}
	}
	if r.StatusCode != http.StatusOK {
		var problem struct {
			Title, Detail, Code string
		}
		broken := json.Unmarshal(text, &problem) != nil
		why := oneOf(strings.TrimSuffix(problem.Detail, "."), strings.TrimSuffix(problem.Title, "."))
		if broken || why == "" {
			if r.StatusCode < 500 {
				return nonsense("it is no problem document")
			}
			why = "The server answers " + r.Status
		}
		t := &trouble{status: r.StatusCode, code: problem.Code, err: errors.New(why)}
		if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds > 0 {
			t.after = time.Duration(seconds) * time.Second
		}
		return a, t
	}
	if len(text) > maxAnswer {
		return nonsense("it is too long")
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return nonsense(err.Error())
	}
	if a.Seq != seq {
		return nonsense(fmt.Sprintf("it is to heartbeat %d, and this is %d", a.Seq, seq))
	}
	if len(a.Assignments) > maxAssignments {
		return nonsense(fmt.Sprintf("it has %d assignments", len(a.Assignments)))
	}
	for _, x := range a.Assignments {
		if x.Assignment < 1 || x.JobName == "" || x.Task < 0 || x.Kind != "map" && x.Kind != "reduce" {
			return nonsense("it has an assignment without a number, a job, a task or a kind")
		}
	}
	return a, nil
}

func oneOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
