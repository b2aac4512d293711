package live

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/slots/dispatch"
)

// Lease is a running job's place, held until the job ends or heartbeats stop. It belongs to a cluster and a class,
// not to a plan: a plan that admits fewer jobs takes no lease away.
type Lease struct {
	ID         string    `json:"id"` // UUID version 7
	Class      string    `json:"class"`
	Holder     string    `json:"holder"`      // the job's own id
	AdmittedBy string    `json:"admitted_by"` // the key's name
	PlanNumber int64     `json:"plan_number"` // the plan it was admitted under
	TTLSeconds float64   `json:"ttl_s"`       // lifetime from admission or heartbeat
	AdmittedAt time.Time `json:"admitted_at"` // all times are the database's
	// ExpiresAt is null for a live job's lease, which ends with the job.
	ExpiresAt *time.Time `json:"expires_at"`
	Job       *int64     `json:"job,omitempty"` // the live job's number

	// For a job with a promised deadline. Its tasks are those that its holder has not yet reported as done.
	DeadlineAt *time.Time `json:"deadline_at,omitempty"`
	Maps       int64      `json:"maps,omitempty"`
	Reduces    int64      `json:"reduces,omitempty"`
}

// Admission answers a job that asks for a place. A refusal is an answer too.
type Admission struct {
	Admitted   bool   `json:"admitted"`
	Class      string `json:"class"`
	PlanNumber int64  `json:"plan_number"` // the plan that decided
	Running    int64  `json:"running"`     // including this one if admitted
	Limit      int64  `json:"limit"`       // concurrent jobs that the plan admits

	// Of the lease, if admitted.
	ID         string     `json:"id,omitempty"`
	Holder     string     `json:"holder,omitempty"`
	AdmittedBy string     `json:"admitted_by,omitempty"`
	TTLSeconds float64    `json:"ttl_s,omitempty"`
	AdmittedAt *time.Time `json:"admitted_at,omitempty"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`

	// If the job has a deadline.
	DeadlineAt *time.Time                `json:"deadline_at,omitempty"`
	Deadline   *dispatch.DeadlineVerdict `json:"deadline,omitempty"`

	// If refused.
	Code              dispatch.RefusalReason `json:"code,omitempty"`
	Reason            string                 `json:"reason,omitempty"`
	Facts             words.Facts            `json:"facts,omitempty"` // the sentences of the reason
	RetryAfterSeconds int64                  `json:"retry_after_s,omitempty"`
	WaitUntil         *time.Time             `json:"wait_until,omitempty"` // a plan foreseen from then on admits one more
}

// ClassAdmissions counts the jobs of a class that run and that may run.
type ClassAdmissions struct {
	Class      string     `json:"class"`
	Running    int64      `json:"running"`
	Limit      int64      `json:"limit"`       // by the current plan; 0 for a class it does not know
	Free       int64      `json:"free"`        // 0 if more run than may
	PlanNumber int64      `json:"plan_number"` // the current plan; 0 without one
	NextExpiry *time.Time `json:"next_expiry"` // of the running ones; null if none runs
}

// AdmissionRequest asks for a place. Zero values stand for the defaults.
type AdmissionRequest struct {
	Class      string  `json:"class"`
	Holder     string  `json:"holder"` // free text, such as the job's own id
	TTLSeconds float64 `json:"ttl_s"`  // default DefaultLeaseSeconds

	// DeadlineSeconds is the time from now until the job must be done; 0 is no deadline. It counts from now so that
	// no clock of another machine matters.
	DeadlineSeconds float64 `json:"deadline_s"`
	Maps            int64   `json:"maps"` // of a job with a deadline; default those of the class's profile
	Reduces         int64   `json:"reduces"`

	Job int64 `json:"-"` // the live job behind the lease, which ends with it; 0 without one
}

// A lease lives so long without a heartbeat.
const (
	DefaultLeaseSeconds = 120
	ShortestLease       = 10
	LongestLease        = 3600
)

// Validate checks what the contract's rules for a request leave open.
func (r AdmissionRequest) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		if !utf8.ValidString(r.Holder) || strings.ContainsFunc(r.Holder, unicode.IsControl) {
			k.Refuse("holder", "text", "The holder has a control character in it, or is no UTF-8; remove it.")
		}
		switch {
		case r.DeadlineSeconds == 0 && r.Maps+r.Reduces > 0:
			k.Refuse("deadline_s", "missing", "The tasks are counted for a deadline, and there is none; give one, or leave the tasks out.")
		case r.Maps == 0 && r.Reduces > 0:
			k.Refuse("maps", "missing", "The reduces are given without the maps; give both, or neither where the class has a profile.")
		}
	})
}

// LeaseBeat is a heartbeat of a job that holds a lease.
type LeaseBeat struct {
	TTLSeconds float64 `json:"ttl_s,omitzero"`    // zero keeps the present one
	Maps       *int64  `json:"maps,omitempty"`    // that are not done, of a job that was promised a deadline
	Reduces    *int64  `json:"reduces,omitempty"` // likewise
}

// RefuseDeadline fills in that the deadline cannot be promised.
func (a *Admission) RefuseDeadline(v dispatch.DeadlineVerdict) {
	a.Code, a.Facts, a.RetryAfterSeconds = v.Code(), v.Facts(a.Class), retryForPlace
	a.Reason = a.Facts.Text()
	if a.Code != dispatch.DeadlineMissed {
		a.RetryAfterSeconds = retryForPlan
	}
}

// ErrLeaseOver marks errors about leases that have ended or expired. Such a lease never comes back.
var ErrLeaseOver = errors.New("the lease is over")

// Longest pauses in seconds before a refused job asks again. The first waits for a place, because most jobs end long
// before their lease does; the second for another plan.
const (
	retryForPlace = 10
	retryForPlan  = 60
)

// Refuse fills in the reason why a job may not start now, and the time to ask again. known reports whether the plan
// knows the class, and others lists the known classes. nextFree is the number of seconds until the next place is free
// unless its holder stays (negative if unknown).
func (a *Admission) Refuse(cluster string, known bool, others []string, nextFree float64) {
	a.RetryAfterSeconds = retryForPlan
	say := func(kind, claim string, figures ...capacity.Figure) {
		a.Facts.Say(kind, a.Class, claim, append(figures, words.Count("plan_number", float64(a.PlanNumber), ""))...)
	}
	running, limit := words.Count("running", float64(a.Running), "jobs"), words.Count("limit", float64(a.Limit), "jobs")
	switch {
	case !known:
		a.Code = dispatch.NotPlanned
		say("not_planned", fmt.Sprintf("Plan %d of cluster %q does not know a class %q.", a.PlanNumber, cluster, fault.Clip(a.Class)),
			capacity.Figure{Name: "cluster", Value: cluster, Unit: "name"})
		if best := fault.Nearest(a.Class, others); best != "" {
			a.Facts.Say("class_of_like_name", best, fmt.Sprintf("Did you mean %q?", best))
		} else {
			a.Facts.Say("class_to_create", a.Class, "Create the class and make a new plan.")
		}
	case a.Limit == 0:
		a.Code = dispatch.NoneAdmitted
		say("none_admitted", fmt.Sprintf("Plan %d admits no job of class %q; \"plan explain\" says why.", a.PlanNumber, fault.Clip(a.Class)))
	case a.Running > a.Limit:
		a.Code = dispatch.Full
		say("more_than_full", fmt.Sprintf("%s of class %q run, and plan %d admits %d at once; those that run may go on.",
			fault.Plural(a.Running, "job"), fault.Clip(a.Class), a.PlanNumber, a.Limit), running, limit)
	default:
		verb := "run"
		if a.Running == 1 {
			verb = "runs"
		}
		a.Code = dispatch.Full
		say("full", fmt.Sprintf("%s of class %q %s, as many as plan %d admits at once.", fault.Plural(a.Running, "job"), fault.Clip(a.Class), verb,
			a.PlanNumber), running, limit)
	}
	a.Reason = a.Facts.Text()
	if a.Code == dispatch.Full {
		a.RetryAfterSeconds = retryForPlace
		if nextFree >= 0 && nextFree < retryForPlace {
			a.RetryAfterSeconds = int64(nextFree) + 1
		}
	}
}

// Foretell says from when on plans are expected to admit so many jobs of the class.
func (a *Admission) Foretell(at time.Time, jobs int64) {
	at = at.UTC()
	a.WaitUntil = &at
	a.Facts.Say("more_later", a.Class, fmt.Sprintf("From %s on plans are expected to admit %s at once.", at.Format("2006-01-02 15:04 UTC"), fault.Plural(jobs, "job")),
		words.Count("limit_later", float64(jobs), "jobs"), capacity.Figure{Name: "wait_until", Value: at.Format(time.RFC3339), Unit: "time"})
	a.Reason = a.Facts.Text()
}
