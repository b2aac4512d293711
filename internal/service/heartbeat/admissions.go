package heartbeat

import (
	"context"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// Admissions stores the leases of running jobs. Only the database's clock decides on leases. They are not in the
// audit log: the list of leases has each with its key.
type Admissions interface {
	// Admit gives a job a place, or the reason of a refusal. Never more jobs of a class run at once than the current
	// plan admits, unless the plan before admitted more: then nobody is admitted until fewer run. A cluster without a
	// plan is a Conflict.
	Admit(ctx context.Context, cluster string, r live.AdmissionRequest) (live.Admission, error)
	// KeepWait records that a job asked for a place and found none, where its class may wait: from when on it is expected to
	// find one, if that is known. Its first call counts as its arrival. It is no part of a transaction that refuses a job.
	KeepWait(ctx context.Context, cluster, class, holder string, from *time.Time) error
	// Unadmit takes a lease back within the transaction that admitted it, as if it had never been.
	Unadmit(ctx context.Context, id string) error
	// Promised returns the leases with deadlines that belong to no live job, by id.
	Promised(ctx context.Context, cluster string) ([]PromisedLease, error)
	// ClassProfiles returns the profiles of those classes that have one.
	ClassProfiles(ctx context.Context, cluster string, classes []string) (map[string]capacity.Profile, error)
	// KeepLease records a heartbeat: the lease lives for another while from now (0: as long as last requested). It
	// makes no lease shorter and no job larger. For one that is over it returns live.ErrLeaseOver.
	KeepLease(ctx context.Context, cluster, id string, b live.LeaseBeat) (live.Lease, error)
	// EndLease frees the place. It does nothing to a lease that is over.
	EndLease(ctx context.Context, cluster, id string) error
	// Lease returns a running lease; for one that is over it returns live.ErrLeaseOver. Leases are deleted a day
	// after they ended.
	Lease(ctx context.Context, cluster, id string) (live.Lease, error)
	// Leases lists the running ones, the oldest first; of one class, unless it is "".
	Leases(ctx context.Context, cluster, class string, page storage.Page) (storage.Listed[live.Lease], error)
	// AdmissionsByClass counts them, for every class that the current plan knows or that runs, by name.
	AdmissionsByClass(ctx context.Context, cluster string, page storage.Page) (storage.Listed[live.ClassAdmissions], error)
}

// PromisedLease is a lease with a deadline.
type PromisedLease struct {
	live.Lease
	DueSeconds float64 // from now, by the database's clock
}

// Admit asks for a place for one job. A job with a deadline gets it only if it makes nobody miss a deadline.
func (d *Desk) Admit(ctx context.Context, cluster string, r live.AdmissionRequest) (answer live.Admission, err error) {
	if err := r.Validate(); err != nil {
		return answer, err
	}
	if r.DeadlineSeconds == 0 {
		answer, err = d.admissions.Admit(ctx, cluster, r)
	} else {
		answer, err = d.admitPromised(ctx, cluster, r)
	}
	if err != nil {
		return answer, err
	}
	d.foretell(cluster, &answer)
	d.countAdmission(answer)
	if answer.Code == dispatch.Full || answer.Code == dispatch.NoneAdmitted {
		err = d.admissions.KeepWait(ctx, cluster, r.Class, r.Holder, answer.WaitUntil)
	}
	return answer, err
}

// foretell says when a job that finds no place is expected to find one.
func (d *Desk) foretell(cluster string, a *live.Admission) {
	if a.Code != dispatch.Full && a.Code != dispatch.NoneAdmitted {
		return
	}
	if at, jobs := d.ahead.AdmitsMore(cluster, a.Class, max(a.Running, a.Limit)); !at.IsZero() {
		a.Foretell(at, jobs)
	}
}

func (d *Desk) countAdmission(answer live.Admission) {
	if t := d.telemetry; t != nil {
		outcome := "admitted"
		if !answer.Admitted {
			outcome = string(answer.Code)
		}
		t.Admitted(outcome)
	}
}

// KeepLease extends a running job's lease.
func (d *Desk) KeepLease(ctx context.Context, cluster, id string, b live.LeaseBeat) (live.Lease, error) {
	return d.admissions.KeepLease(ctx, cluster, id, b)
}
