package app

import (
	"context"

	"headroom/internal/capacity"
)

// Admissions is what the store keeps of running jobs. Leases are judged by the database's clock alone,
// and are not written to the audit log: each stands in the list of leases with the key it came by.
type Admissions interface {
	// Admit gives a job a place, or says why not. Never more jobs of a class run at once than the
	// current plan admits, unless the plan before admitted more: then nobody is admitted until fewer
	// run. A cluster without a plan is a Conflict.
	Admit(ctx context.Context, cluster string, r capacity.AdmissionRequest) (capacity.Admission, error)
	// KeepLease is a heartbeat: the lease lives for another seconds from now (0: as long as it was asked
	// for last). It makes no lease shorter. One that is over is capacity.ErrLeaseOver.
	KeepLease(ctx context.Context, cluster, id string, seconds float64) (capacity.Lease, error)
	// EndLease frees the place. It does nothing to a lease that is over.
	EndLease(ctx context.Context, cluster, id string) error
	// Lease is a running one; one that is over is capacity.ErrLeaseOver. Leases are forgotten a day
	// after they ended.
	Lease(ctx context.Context, cluster, id string) (capacity.Lease, error)
	// Leases lists the running ones, the oldest first; of one class, unless it is "".
	Leases(ctx context.Context, cluster, class string, page Page) (Listed[capacity.Lease], error)
	// AdmissionsByClass counts them, for every class that the current plan knows or that runs, by name.
	AdmissionsByClass(ctx context.Context, cluster string, page Page) (Listed[capacity.ClassAdmissions], error)
}

// Admit asks for a place for one job.
func (a *App) Admit(ctx context.Context, cluster string, r capacity.AdmissionRequest) (capacity.Admission, error) {
	if err := r.Validate(); err != nil {
		return capacity.Admission{}, err
	}
	answer, err := a.Store.Admit(ctx, cluster, r)
	if t := a.config.Telemetry; t != nil && err == nil {
		outcome := "admitted"
		if !answer.Admitted {
			outcome = string(answer.Code)
		}
		t.Admitted(outcome)
	}
	return answer, err
}

// KeepLease lets a running job's lease live on.
func (a *App) KeepLease(ctx context.Context, cluster, id string, seconds float64) (capacity.Lease, error) {
	if err := capacity.CheckLease(seconds); err != nil {
		return capacity.Lease{}, err
	}
	return a.Store.KeepLease(ctx, cluster, id, seconds)
}
