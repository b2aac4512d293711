package app

import (
	"context"

	"headroom/internal/core/capacity"
	"headroom/internal/data/storage"
	"headroom/internal/slots/live"
)

// Admissions is what the store keeps of running jobs. Leases are judged by the database's clock alone,
// and are not written to the audit log: each stands in the list of leases with the key it came by.
type Admissions interface {
	// Admit gives a job a place, or says why not. Never more jobs of a class run at once than the
	// current plan admits, unless the plan before admitted more: then nobody is admitted until fewer
	// run. A cluster without a plan is a Conflict.
	Admit(ctx context.Context, cluster string, r live.AdmissionRequest) (live.Admission, error)
	// Unadmit takes a lease back within the transaction that admitted it, as if it had never been.
	Unadmit(ctx context.Context, id string) error
	// Promised are the leases with deadlines that no live job has, by id.
	Promised(ctx context.Context, cluster string) ([]PromisedLease, error)
	// ClassProfiles are the profiles of those of the classes that have one.
	ClassProfiles(ctx context.Context, cluster string, classes []string) (map[string]capacity.Profile, error)
	// KeepLease is a heartbeat: the lease lives for another while from now (0: as long as it was asked
	// for last). It makes no lease shorter and no job larger. One that is over is capacity.ErrLeaseOver.
	KeepLease(ctx context.Context, cluster, id string, b live.LeaseBeat) (live.Lease, error)
	// EndLease frees the place. It does nothing to a lease that is over.
	EndLease(ctx context.Context, cluster, id string) error
	// Lease is a running one; one that is over is capacity.ErrLeaseOver. Leases are forgotten a day
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

// Admit asks for a place for one job. One with a deadline gets it only if nobody's deadline is missed for it.
func (a *App) Admit(ctx context.Context, cluster string, r live.AdmissionRequest) (answer live.Admission, err error) {
	if err := r.Validate(); err != nil {
		return answer, err
	}
	if r.DeadlineSeconds == 0 {
		answer, err = a.Stores.Admissions.Admit(ctx, cluster, r)
	} else {
		answer, err = a.admitPromised(ctx, cluster, r)
	}
	if err == nil {
		a.countAdmission(answer)
	}
	return answer, err
}

func (a *App) countAdmission(answer live.Admission) {
	if t := a.config.Telemetry; t != nil {
		outcome := "admitted"
		if !answer.Admitted {
			outcome = string(answer.Code)
		}
		t.Admitted(outcome)
	}
}

// KeepLease lets a running job's lease live on.
func (a *App) KeepLease(ctx context.Context, cluster, id string, b live.LeaseBeat) (live.Lease, error) {
	if err := b.Validate(); err != nil {
		return live.Lease{}, err
	}
	return a.Stores.Admissions.KeepLease(ctx, cluster, id, b)
}
