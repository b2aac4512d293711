package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/report/reporting"
)

func (s *server) ListReportSchedules(ctx context.Context, r ListReportSchedulesRequest) (reply[ReportScheduleList], error) {
	return listInputs(ctx, s, s.app.Reports.Schedules(), r.Cluster, "report-schedules", paging(r.Params), report.ReportSchedules)
}

func (s *server) CreateReportSchedule(ctx context.Context, r CreateReportScheduleRequest) (reply[ReportSchedule], error) {
	return createInput(ctx, s.app.Reports.Schedules(), r.Cluster, r.Body)
}

func (s *server) GetReportSchedule(ctx context.Context, r GetReportScheduleRequest) (reply[ReportSchedule], error) {
	return getInput(ctx, s.app.Reports.Schedules(), r.Cluster, r.Name)
}

func (s *server) ReplaceReportSchedule(ctx context.Context, r ReplaceReportScheduleRequest) (reply[ReportSchedule], error) {
	return replaceInput(ctx, s.app.Reports.Schedules(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteReportSchedule(ctx context.Context, r DeleteReportScheduleRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Reports.Schedules(), r.Cluster, r.Name, r.Params.IfMatch)
}

func (s *server) ListReports(ctx context.Context, r ListReportsRequest) (reply[ClusterReportList], error) {
	var of reporting.Filter
	if r.Params.Schedule != nil {
		of.Schedule = *r.Params.Schedule
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-reports", report.Reports, func(ctx context.Context, p storage.Page) (storage.Listed[reporting.Report], error) {
		return s.app.Stores.Reports.Reports(ctx, r.Cluster, of, p)
	})
}

func (s *server) CreateReport(ctx context.Context, r CreateReportRequest) (reply[Run], error) {
	return startedRun[Run](s.app.Reports.Start(ctx, r.Cluster, *r.Body))
}

func (s *server) GetReport(ctx context.Context, r GetReportRequest) (reply[ClusterReport], error) {
	made, err := s.app.Stores.Reports.Report(ctx, r.Cluster, r.Report)
	return reply[ClusterReport]{body: made, hashed: true}, err
}

// getReportFile sends a report's file, a part of it at a time. So it takes no memory for any size and speed of
// reading, and holds no connection to the database.
func (s *server) getReportFile(w http.ResponseWriter, r *http.Request) {
	made, err := s.app.Reports.File(r.Context(), pathValue(r, "cluster"), pathValue(r, "report"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	switch from, known := rangeFrom(r.Header.Get("Range")); {
	case !known:
		r.Header.Del("Range") // the whole file is an answer too
	case from >= made.File.Size && r.Header.Get("If-Range") == "":
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", made.File.Size))
		s.refuse(w, r, beyondEnd.problem(fmt.Sprintf("The file has %d bytes, and the header Range asks for those from %d on.", made.File.Size, from)))
		return
	}
	sendAsIs(w, r) // parts of it can be requested
	h.Set("ETag", quoted(made.File.SHA256))
	h.Set("Content-Type", made.File.MediaType)
	h.Set("Content-Disposition", `attachment; filename="`+made.File.Name+`"`)
	file := &reporting.Reader{Size: made.File.Size, Part: func(part int64) ([]byte, error) { return s.app.Stores.Reports.ReportPart(r.Context(), made.ID, part) }}
	http.ServeContent(w, r, "", time.Time{}, file) // a broken answer is shorter than announced, which clients see
}

// rangeFrom returns the start of the one range in a header; it does not know other forms of the header.
func rangeFrom(header string) (from int64, known bool) {
	text, bytes := strings.CutPrefix(header, "bytes=")
	first, last, one := strings.Cut(text, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	if last != "" && err == nil {
		var until int64
		until, err = strconv.ParseInt(last, 10, 64)
		one = one && until >= from
	}
	return from, bytes && one && err == nil && from >= 0
}
