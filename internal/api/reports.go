package api

import (
	"context"
	"net/http"
	"time"

	"headroom/internal/app"
	"headroom/internal/capacity"
	"headroom/internal/report"
)

func (s *server) ListReportSchedules(ctx context.Context, r ListReportSchedulesRequest) (reply[ReportScheduleList], error) {
	return listInputs(ctx, s, s.app.ReportSchedules(), r.Cluster, "report-schedules", paging(r.Params), report.ReportSchedules)
}

func (s *server) CreateReportSchedule(ctx context.Context, r CreateReportScheduleRequest) (reply[ReportSchedule], error) {
	return createInput(ctx, s.app.ReportSchedules(), r.Cluster, r.Body)
}

func (s *server) GetReportSchedule(ctx context.Context, r GetReportScheduleRequest) (reply[ReportSchedule], error) {
	return getInput(ctx, s.app.ReportSchedules(), r.Cluster, r.Name)
}

func (s *server) ReplaceReportSchedule(ctx context.Context, r ReplaceReportScheduleRequest) (reply[ReportSchedule], error) {
	return replaceInput(ctx, s.app.ReportSchedules(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteReportSchedule(ctx context.Context, r DeleteReportScheduleRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.ReportSchedules(), r.Cluster, r.Name, r.Params.IfMatch)
}

func (s *server) ListReports(ctx context.Context, r ListReportsRequest) (reply[ClusterReportList], error) {
	var of app.ReportFilter
	if r.Params.Schedule != nil {
		of.Schedule = *r.Params.Schedule
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-reports", report.Reports, func(ctx context.Context, p app.Page) (app.Listed[capacity.Report], error) {
		return s.app.Reports(ctx, r.Cluster, of, p)
	})
}

func (s *server) CreateReport(ctx context.Context, r CreateReportRequest) (reply[Run], error) {
	return startedRun[Run](s.app.StartReport(ctx, r.Cluster, *r.Body))
}

func (s *server) GetReport(ctx context.Context, r GetReportRequest) (reply[ClusterReport], error) {
	made, err := s.app.Report(ctx, r.Cluster, r.Report)
	return reply[ClusterReport]{body: made, hashed: true}, err
}

// getReportFile sends a report's file, a part of it at a time: so that it takes no memory, however large it is and
// however slowly it is read, and keeps no connection of the database.
func (s *server) getReportFile(w http.ResponseWriter, r *http.Request) {
	made, err := s.app.ReportFile(r.Context(), pathValue(r, "cluster"), pathValue(r, "report"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("ETag", quoted(made.File.SHA256))
	h.Set("Content-Type", made.File.MediaType)
	h.Set("Content-Disposition", `attachment; filename="`+made.File.Name+`"`)
	file := &app.ReportReader{Size: made.File.Size, Part: func(part int64) ([]byte, error) { return s.app.ReportPart(r.Context(), made.ID, part) }}
	http.ServeContent(w, r, "", time.Time{}, file) // what breaks off is shorter than was said, which clients see
}
