package api

import (
	"context"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/slots/live"
)

func (s *server) ListAdmissions(ctx context.Context, r ListAdmissionsRequest) (reply[LeaseList], error) {
	class := ""
	if r.Params.Class != nil {
		class = *r.Params.Class
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-admissions", report.Leases, func(ctx context.Context, p storage.Page) (storage.Listed[live.Lease], error) {
		return s.app.Stores.Admissions.Leases(ctx, r.Cluster, class, p)
	})
}

func (s *server) ListAdmissionCounts(ctx context.Context, r ListAdmissionCountsRequest) (reply[ClassAdmissionsList], error) {
	return listed(ctx, s, paging(r.Params), r.Cluster+"-admissions-by-class", report.AdmissionsByClass, func(ctx context.Context, p storage.Page) (storage.Listed[live.ClassAdmissions], error) {
		return s.app.Stores.Admissions.AdmissionsByClass(ctx, r.Cluster, p)
	})
}

// CreateAdmission answers 201 with a lease, or 200 with the time to ask again.
func (s *server) CreateAdmission(ctx context.Context, r CreateAdmissionRequest) (reply[Admission], error) {
	a, err := s.app.Live.Admit(ctx, r.Cluster, *r.Body)
	return reply[Admission]{body: a, created: a.ID, retry: a.RetryAfterSeconds}, err
}

func (s *server) GetAdmission(ctx context.Context, r GetAdmissionRequest) (reply[Lease], error) {
	return plain(s.app.Stores.Admissions.Lease(ctx, r.Cluster, r.Id))
}

func (s *server) KeepAdmission(ctx context.Context, r KeepAdmissionRequest) (reply[Lease], error) {
	return plain(s.app.Live.KeepLease(ctx, r.Cluster, r.Id, *r.Body))
}

func (s *server) EndAdmission(ctx context.Context, r EndAdmissionRequest) (reply[nothing], error) {
	return done(s.app.Stores.Admissions.EndLease(ctx, r.Cluster, r.Id))
}
